"""The exercises of "Other languages"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.language_spec import (
    NUMBA,
    TRITON,
    KernelCase,
    LanguageExercise,
)

THREADS = 128  # of a block of sums_of_blocks
PER_REQUEST = 6.0  # sectors: 4 where neighbours are read together, and more at the edges


def integers(n: int, seed: int) -> np.ndarray:
    """n small integers as float32, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, n).astype(np.float32)


def to_add(n: int, programs: int, block: int = 128, seed: int = 0) -> tuple[KernelCase]:
    """n floats for some programs of ``block`` offsets each."""
    args = {"x": integers(n, seed), "total": np.zeros(1, np.float32), "n": n}
    sizes = f"n = {n:,}, grid {programs}, BLOCK = {block}"
    return (KernelCase(programs, args, ("total",), sizes, meta={"BLOCK": block}),)


def drawn_sum(rng: np.random.Generator) -> tuple[KernelCase]:
    """Any length up to 3,000, any grid up to 7 programs."""
    n, programs = int(rng.integers(1, 3000)), int(rng.integers(1, 8))
    return to_add(n, programs, int(rng.choice([64, 128])), int(rng.integers(1 << 30)))


def one_atomic(counts: Counts, case: KernelCase) -> str:
    """That a program adds to the total more than once."""
    assert isinstance(case.grid, int)
    if counts.global_atomic_requests <= case.grid:
        return ""
    return (
        f"{case.grid} programs made {counts.global_atomic_requests} atomic additions. Let each "
        "keep its own sum in its loop, and add it to total[0] once."
    )


SUM_IN_PROGRAMS = LanguageExercise(
    kernel_language=TRITON,
    cases=(to_add(5, 2, 2), to_add(1000, 3), to_add(64, 1, 64), to_add(700, 8), to_add(1, 2)),
    reference=lambda case: case.args["x"].sum(keepdims=True),
    contract=DrawnCases(drawn_sum),
    counted=one_atomic,
)


def to_sum(n: int, seed: int = 1) -> tuple[KernelCase]:
    """n floats for blocks of 128."""
    blocks = ceil_div(n, THREADS)
    args = {"x": integers(n, seed), "sums": np.full(blocks, np.nan, np.float32)}
    sizes = f"n = {n:,}, grid {blocks}, block {THREADS}"
    return (KernelCase(blocks, args, ("sums",), sizes, block=THREADS),)


def sums_of_128(case: KernelCase) -> np.ndarray:
    """The sum of each 128 elements."""
    x = case.args["x"]
    return np.add.reduceat(x, np.arange(0, len(x), THREADS))


def in_shared_memory(counts: Counts, case: KernelCase) -> str:
    """That the sums don't go through shared memory, or that elements are loaded again."""
    blocks = len(case.args["sums"])
    if not counts.shared_load_requests:
        return "No element was loaded from shared memory: cuda.shared.array(THREADS, np.float32)."
    if counts.global_load_bytes > 4 * len(case.args["x"]):
        return (
            f"{counts.global_load_bytes:,} bytes were loaded from x, which has "
            f"{4 * len(case.args['x']):,}. Let each thread load its own element, once."
        )
    if counts.global_store_requests > blocks:
        return "More than one thread of a block stores: if t == 0."
    return ""


SUMS_OF_BLOCKS = LanguageExercise(
    kernel_language=NUMBA,
    cases=(to_sum(5), to_sum(130), to_sum(128), to_sum(1000), to_sum(1)),
    reference=sums_of_128,
    contract=DrawnCases(lambda rng: to_sum(int(rng.integers(1, 2000)), int(rng.integers(1 << 30)))),
    counted=in_shared_memory,
)


def to_weigh(rows: int, columns: int, seed: int = 2) -> tuple[KernelCase]:
    """A matrix, and a grid that is large enough for either order of its dimensions."""
    most = max(rows, columns)
    args = {
        "x": integers(rows * columns, seed).reshape(rows, columns),
        "w": integers(columns, seed + 1),
        "y": np.full((rows, columns), np.nan, np.float32),
    }
    grid = ceil_div(most, 32), ceil_div(most, 8)
    return (KernelCase(grid, args, ("y",), f"{rows} rows, {columns} columns", block=(32, 8)),)


def few_sectors(counts: Counts, case: KernelCase) -> str:
    """That the requests of a large matrix ask for too many sectors."""
    requests = counts.global_load_requests + counts.global_store_requests
    sectors = counts.global_load_sectors + counts.global_store_sectors
    if min(case.args["y"].shape) < 32 or sectors <= PER_REQUEST * requests:
        return ""
    return (
        f"{sectors:,} sectors in {requests:,} requests are {sectors / requests:.1f} for each. 32 "
        "neighbouring floats are in 4 sectors: which index should differ between the threads of a "
        "warp?"
    )


WEIGHTED_COLUMNS = LanguageExercise(
    kernel_language=NUMBA,
    bug=kinds.METHOD_MISSING,
    cases=(to_weigh(3, 4), to_weigh(64, 96), to_weigh(33, 70), to_weigh(70, 1)),
    reference=lambda case: case.args["x"] * case.args["w"],
    contract=DrawnCases(
        lambda rng: to_weigh(
            int(rng.integers(1, 100)), int(rng.integers(1, 100)), seed=int(rng.integers(1 << 30))
        )
    ),
    counted=few_sectors,
    axes=("row", "column"),
)
