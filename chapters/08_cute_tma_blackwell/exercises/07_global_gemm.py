"""The exercises of "A GEMM in three levels of tiles"."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np

from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

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

# --- The tile that fits ---


def any_tiles(rng: np.random.Generator) -> tuple:
    sides = range(16, 272, 16)
    tiles = [
        (int(rng.choice(sides)), int(rng.choice(sides))) for _ in range(int(rng.integers(1, 7)))
    ]
    return (
        tiles,
        int(rng.integers(2, 6)),
        int(rng.integers(1, 4)),
        int(rng.choice((49152, 65536, 101376, 166912, 232448))),
    )


def compared(tiles: list, stages: int, blocks: int, room: int) -> tuple | None:
    """By exact fractions, one tile after the other."""
    best, most = None, Fraction(0)
    for m, n in tiles:
        rate = Fraction(2 * m * n * 64, (m + n) * 64 * 2)
        if stages * (m + n) * 128 * blocks <= room and rate > most:
            best, most = (m, n), rate
    return best


BEST_TILE = PythonExercise(
    cases=(
        ([(128, 128), (128, 256), (256, 256)], 3, 2, 232448),
        ([(128, 128), (128, 256), (256, 256)], 4, 1, 232448),
        ([(256, 128), (128, 256)], 4, 1, 232448),
        ([(128, 256), (256, 128)], 4, 1, 232448),
        ([(144, 176), (128, 208)], 3, 1, 232448),
        ([(64, 64), (32, 256)], 3, 1, 232448),
        ([(256, 256)], 4, 1, 232448),
        ([(128, 128), (64, 64)], 4, 1, 65536),
        ([(128, 128)], 2, 1, 65536),
        ([(48, 48), (32, 112)], 4, 1, 232448),
        ([(32, 32)] * 20 + [(64, 32)], 2, 3, 232448),
    ),
    reference=compared,
    contract=DrawnCases(any_tiles),
)

# --- What follows the product ---


def operands(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
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


def biased(given: dict) -> dict:
    product = given["A"].astype(np.float64) @ given["B"].astype(np.float64).T
    return {"C": np.maximum(product + given["bias"], 0)}


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
        Requirement(
            "part of the products that the tensor cores make",
            lambda stats: (
                stats.counts.flops_by_type.get("f16 (tensor cores)", 0) / (2 * prod((64, 96, 48)))
            ),
            at_least=1.0,
            at_most=2.0,
            advice="The products are made already: only what follows them is missing.",
            size=(64, 96, 48),
        ),
        method.one_store_per_result(),
        method.balanced_work(2.0),
    ),
)

# --- A stage too early ---


def ring_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    steps, n = size
    return {"x": floats(rng, (steps, n)), "y": empty(n), **int32s(n=n, steps=steps)}


def summed_up(given: dict) -> dict:
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
            advice="What a thread adds it reads from the ring.",
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
