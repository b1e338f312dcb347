"""The exercises of "The roofline"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)


def work_and_machine(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """FLOPs, bytes and two rates of any size; every fourth is a tie and every fourth nearly one,
    in numbers that are exact."""
    if rng.integers(2) == 0:
        bandwidth, intensity, moved = (2.0 ** int(n) for n in rng.integers(1, 30, 3))
        beside = float(rng.choice([-1, 0, 0, 1])) * 2.0 ** -int(rng.integers(4, 45))
        return moved * intensity * (1 - beside), moved, bandwidth * intensity, bandwidth
    moved, bandwidth = float(10 ** rng.uniform(0, 15)), float(10 ** rng.uniform(9, 13))
    ridge, beside = float(10 ** rng.uniform(-1, 3)), float(10 ** rng.uniform(-1.5, 1.5))
    return moved * ridge * beside, moved, bandwidth * ridge, bandwidth


LEAST_TIME = PythonExercise(
    cases=(
        (40.0, 60.0, 20.0, 10.0),
        (1e9, 12e9, 60e12, 4e12),
        (2e12, 1e9, 60e12, 4e12),
        (15e12, 1e12, 60e12, 4e12),
        (1.0, 1.0, 2.0, 1.0),
        (0.0, 4e9, 60e12, 4e12),
        (4e9, 0.0, 60e12, 4e12),
        (0.0, 0.0, 60e12, 4e12),
        (1e18, 1e9, 7e12, 4e12),
        (1.0, 0.0, 60e12, 4e12),
        (1.0, 4.0, 60e12, 4e12),
        (1e30, 1e9, 60e12, 4e12),
        (14.0, 1.0, 15e15, 1e15),  # less than 1e-16 s apart
    ),
    reference=lambda flops, moved, peak, bandwidth: (
        max(flops / peak, moved / bandwidth),
        "memory" if moved / bandwidth > flops / peak else "compute",
    ),
    contract=DrawnCases(work_and_machine, 24),
)


POLYNOMIAL = NumberExercise(
    inputs=lambda rng, blocks: {
        "x": floats(rng, 32 * blocks),
        "c": floats(rng, 9),
        "y": empty(32 * blocks),
    },
    launch=lambda blocks: Launch((blocks,), (32,)),
    asks={
        "flops": Ask(
            "FLOPs of the whole launch",
            4,
            lambda counts: counts.flops,
            {
                8 * 128: "A multiply-add counts as two.",
                2 * 9 * 128: "The loop begins at k = 7: how many iterations are that?",
                16: "That is one thread. 128 are running.",
            },
        ),
        "sectors_read": Ask(
            "sectors of 32 bytes that one warp's loads touch: x once, and each of c[0] to c[8]",
            1,
            lambda counts: counts.global_load_sectors,
            {
                6: "The nine coefficients share two sectors, but each of the nine loads asks anew.",
                10: "One sector for each request is right for c. For x, 32 floats are 128 bytes.",
                36: "All 32 threads ask for the same c[k]: one sector serves them all.",
                40: "All 32 threads ask for the same c[k]: one sector serves them all.",
            },
        ),
        "asked_intensity": Ask(
            "FLOPs for each byte that is asked for, loads and stores, in sectors of 32 bytes",
            4,
            lambda counts: (
                counts.flops / (32 * (counts.global_load_sectors + counts.global_store_sectors))
            ),
            {
                2.0: "That is for x and y alone. The coefficients are asked for, too.",
                16 * 32 / (32 * 13): "y is written: four sectors more for each warp.",
            },
        ),
        "best_intensity": Ask(
            "FLOPs for each byte when x is read once, y written once, and c comes from a cache",
            4,
            lambda counts: counts.flops / (2 * counts.global_store_bytes),
            {
                4.0: "x is read and y is written: eight bytes for each element.",
                1.0: "A multiply-add counts as two.",
            },
        ),
    },
)


def layer_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": floats(rng, size),
        "bias": floats(rng, columns),
        "r": floats(rng, size),
        "y": empty(size),
        **int32s(rows=rows, columns=columns),
    }


def layer_outputs(given: Given) -> dict[str, np.ndarray]:
    """relu(x + bias) + r, where relu is 0 for NaN too."""
    shifted = given["x"] + given["bias"]
    return {"y": np.where(shifted > 0, shifted, np.float32(0)) + given["r"]}


LAYER = (20 * 4, 64)  # rows and columns, where the requirements are counted: 20 blocks
ELEMENTS = LAYER[0] * LAYER[1]


def opposite_infinities(given: Given, rng: np.random.Generator) -> Given:
    """x is +inf where r is -inf, in about half of all places: their sum is no number."""
    where = rng.random(given["x"].shape) < 0.5
    return {"x": np.where(where, np.inf, given["x"]), "r": np.where(where, -np.inf, given["r"])}


FUSED_LAYER = KernelExercise(
    inputs=layer_inputs,
    reference=layer_outputs,
    launch=lambda size: Launch((ceil_div(size[0] * size[1], 256),), (256,)),
    small=((37, 45), (16, 64), (3, 1), (2, 12_301), (1, 1)),  # more than 48 KiB of bias
    full=(8192, 8192),
    contract=Domain(
        sizes=domain.shapes(rows=(1, 2, 7, 33, 131, 301), columns=(1, 3, 31, 65, 257, 521)),
        values=(
            domain.data(
                "x",
                *domain.ORDINARY,
                domain.LARGE,
                domain.HUGE,
                domain.SOME_INFINITE,
                domain.SOME_NAN,
            ),
            domain.data(
                "bias",
                *domain.ORDINARY,
                domain.ZEROS,
                domain.LARGE,
                domain.SOME_INFINITE,
                domain.SOME_NAN,
            ),
            domain.data(
                "r",
                *domain.ORDINARY,
                domain.LARGE,
                domain.HUGE,
                domain.SOME_INFINITE,
                domain.SOME_NAN,
            )
            + (domain.InputClass("x +inf and r -inf in places", opposite_infinities),),
        ),
    ),
    method=(
        Requirement(
            "bytes of local memory written for each element",
            lambda stats: stats.counts.local_store_bytes / ELEMENTS,
            at_most=1,  # printf in one thread writes some
            advice="A step in a thread's own array goes through memory, too.",
            size=LAYER,
        ),
        # What is in between may not go this way; a bias that the block shares may.
        method.shared_memory(
            0,
            3 * ELEMENTS,
            advice="Keep what is in between in a variable: no other thread wants it.",
            size=LAYER,
        ),
        method.atomics(
            "global", at_most=0, advice="Store the result once; nothing else is stored.", size=LAYER
        ),
        method.no_redundant_work(size=LAYER),
        method.a_thread_each(size=LAYER),
        method.no_surplus_threads(),
        method.balanced_work(size=LAYER),
    ),
    target=Target(
        label="bytes loaded and stored by the threads for each element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / ELEMENTS,
        at_most=16.5,  # a printf may read some again
        advice="Each of x, bias, r and y needs to be touched once: four times four bytes. Keep "
        "what is in between in a variable.",
        size=LAYER,
    ),
)
