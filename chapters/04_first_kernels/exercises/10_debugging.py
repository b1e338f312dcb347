"""The exercises of "Debugging"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import empty, floats
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.vectors import BLOCK, FULL, SMALL, one_thread_each
from course_utils.exercises.authoring.worked import Worked


def smoothed(given: dict) -> dict[str, np.ndarray]:
    """The mean of three neighbours, with the ends repeated."""
    x = np.pad(given["x"].astype(np.float64), 1, mode="edge")
    return {"y": (x[:-2] + x[1:-1] + x[2:]) / 3}


FIND_THE_EDGE = KernelExercise(
    source="04_first_kernels/exercises/smooth.cu",
    kernel="smooth",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=smoothed,
    launch=one_thread_each,
    small=SMALL,
    worked=Worked(size=5, values={"x": (3, 6, -3, 9, 12)}),  # means 4, 2, 4, 6 and 11
    full=FULL,
    bug=kinds.OUT_OF_BOUNDS,
    contract=Domain(
        sizes=domain.lengths(),
        values=(domain.data("x", *domain.ANY_FINITE, domain.SOME_NAN, domain.LAST_INFINITE),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=1024),
        method.balanced_loads(size=1024),
    ),
)


FIND_THE_GARBAGE = KernelExercise(
    source="04_first_kernels/exercises/block_sums.cu",
    kernel="block_sums",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "sums": empty(ceil_div(n, BLOCK)),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "sums": np.add.reduceat(given["x"].astype(np.float64), np.arange(0, len(given["x"]), BLOCK))
    },
    launch=one_thread_each,
    small=(1000, 257, 255, 1),
    full=FULL + 1,
    reduction=lambda n: BLOCK,
    bug=kinds.UNINITIALISED,
    contract=Domain(
        sizes=domain.lengths(),
        # Not rising or falling: those sums cancel.
        values=(
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.POSITIVE,
                domain.EQUAL,
                domain.TIES,
                domain.MIDDLING,
                domain.SMALL,
                domain.FAINT,
                domain.LARGE,
                domain.ZEROS,
                domain.SOME_NAN,
                domain.LAST_INFINITE,
            ),
        ),
    ),
    method=(
        method.balanced_loads(size=1024),
        method.reads_each_once(4 * 1024, size=1024),
        # In a tree, thread 0 does six times the work of the others.
        method.balanced_work(20.0, size=1024),
    ),
)
