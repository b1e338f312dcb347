"""The exercises of "A GEMM in three levels of tiles"."""

from __future__ import annotations

from math import prod

import numpy as np

from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

from .common import by_cute, bytes_a_copy

# --- The order of stages ---


def played(steps: int, stages: int) -> list[tuple[int, int, int]]:
    """By a queue of the steps whose copies have begun."""
    queue = list(range(min(stages - 1, steps)))
    plan, held = [], {step: step for step in queue}
    free = set(range(stages)) - set(queue)
    for step in range(steps):
        fetched = step + stages - 1 if step + stages - 1 < steps else -1
        if fetched >= 0:
            queue.append(fetched)
            held[fetched] = free.pop()  # there is one
        queue.pop(0)
        plan.append((held.pop(step), fetched, len(queue)))
        free.add(plan[-1][0])
    return plan


STAGE_PLAN = PythonExercise(
    cases=((6, 3), (6, 2), (3, 4), (1, 2), (0, 3), (9, 5), (5, 6), (40, 17), (300, 4)),
    reference=played,
    contract=DrawnCases(
        lambda rng: (int(rng.integers(0, 24)), int(rng.integers(2, 9))),
        large=lambda: ((2100, 1024), (1500, 2000), (5000, 300)),
    ),
)

# --- What follows the product ---


def operands(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    m, n, k = size

    def halves(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)

    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {
        "A": halves(m, k),
        "B": halves(n, k),
        "bias": floats(rng, n),
        "C": empty((m, n)),
    } | sizes


def biased(given: Given) -> dict[str, np.ndarray]:
    return {"C": np.maximum(exact_product(given["A"], given["B"].T) + given["bias"], 0)}


def products_by_mma(size: tuple[int, int, int], advice: str) -> Requirement:
    """The tensor cores make all products, once."""
    return Requirement(
        "part of the products that the tensor cores make",
        lambda stats: stats.counts.flops_by_type.get("f16 (tensor cores)", 0) / (2 * prod(size)),
        at_least=1.0,
        at_most=2.0,
        advice=advice,
        size=size,
    )


BIAS_AND_RELU = KernelExercise(
    inputs=operands,
    reference=biased,
    launch=lambda size: Launch((size[1] // 32, size[0] // 32), (128,)),
    small=((64, 96, 48), (32, 32, 16)),
    worked=Worked(why_not="the warps of a block have 32 x 32 elements"),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2] + 1,
    contract=Domain(
        sizes=domain.shapes(M=(32, 64), N=(32, 96, 160), K=(16, 48)).with_outlier(
            M=1056, N=1056, K=1040
        ),
        values=(
            domain.data("A", *domain.ORDINARY),
            domain.data("B", *domain.ORDINARY),
            (
                *domain.data("bias", *domain.ORDINARY, domain.LARGE, domain.SOME_INFINITE),
                *domain.data("A bias", domain.VERY_SMALL)[1:],
            ),
        ),
    ),
    method=(
        products_by_mma(
            (64, 96, 48), "The products are made already: only what follows them is missing."
        ),
        method.one_store_per_result(),
        method.balanced_work(2.0),
    ),
)

# --- A GEMM of one's own ---


def factors(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    return {name: value for name, value in operands(rng, size).items() if name != "bias"}


GEMM_BY_LAYOUTS = KernelExercise(
    inputs=factors,
    reference=lambda given: {"C": exact_product(given["A"], given["B"].T)},
    launch=lambda size: Launch((size[1] // 64, size[0] // 64), (128,)),
    small=((64, 128, 96), (64, 64, 32)),
    worked=Worked(why_not="a block has a tile of 64 x 64 elements"),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    contract=Domain(
        sizes=domain.shapes(M=(64, 128), N=(64, 192), K=(32, 96)).with_outlier(M=320, N=256, K=544),
        values=(domain.data("A", *domain.ORDINARY), domain.data("B", *domain.ORDINARY)),
    ),
    method=(
        products_by_mma((64, 128, 96), "Let `gemm` make all products, each once."),
        method.instructions(
            "threads that begin a copy",
            "cp.async.c",
            at_least=2 * 3 * 2 * 256,  # blocks, steps, operands, pieces of 16 bytes
            advice="Both tiles come to shared memory by cp.async.",
            size=(64, 128, 96),
        ),
        bytes_a_copy(size=(64, 128, 96)),
        by_cute("cute/", "Let local_tile, make_tiled_copy and make_tiled_mma do the work."),
        method.one_store_per_result(),
    ),
)

# --- A stage too early ---


def ring_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    steps, n = size
    return {"x": floats(rng, (steps, n)), "y": empty(n), **int32s(n=n, steps=steps)}


def summed_up(given: Given) -> dict[str, np.ndarray]:
    return {"y": given["x"].astype(np.float64).sum(axis=0)}


RING_OF_STAGES = KernelExercise(
    inputs=ring_inputs,
    reference=summed_up,
    launch=lambda size: Launch((size[1] // 128,), (128,)),
    small=((7, 256), (1, 128), (2, 128)),
    worked=Worked(why_not="a stage has 128 elements"),
    full=(4096, 1 << 14),
    reduction=lambda size: size[0],
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(steps=(1, 2, 3, 4, 9, 31), n=(128, 256, 640)).with_outlier(
            steps=259, n=16512
        ),
        values=(
            domain.data("x", *domain.ORDINARY, domain.FAINT, domain.SOME_INFINITE, domain.SOME_NAN),
        ),
    ),
    method=(
        method.instructions(
            "threads that begin a copy",
            "cp.async.c",
            at_least=7 * 2 * 32,
            advice="The rows come by cp.async, as in the starter.",
            size=(7, 256),
        ),
        method.shared_memory_limit(3 * 128 * 4, advice="Three stages are enough.", size=(7, 256)),
        method.instructions(
            "loads from global memory into registers",
            "ld.global",
            at_most=0,
            advice="A thread reads from the ring what it adds.",
            size=(7, 256),
        ),
        method.overlap(
            0.1,  # one warp of four copies, and adds while its copies are in flight
            advice="The next row is to be on its way while this one is added: begin its copy "
            "before, and wait for no more than you need.",
            size=(7, 256),
        ),
    ),
)
