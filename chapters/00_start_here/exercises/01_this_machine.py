"""The exercises of "This machine"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import empty, floats
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.vectors import BLOCK, one_thread_each, spare_blocks


def doubled(given: Given) -> dict[str, np.ndarray]:
    """Twice x, which may be past the largest float."""
    return {"y": 2 * given["x"]}


DOUBLE_IT = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=doubled,
    exact=True,  # a factor of two rounds nothing
    launch=one_thread_each,
    small=(1000, 257, 1),
    full=1 << 24,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(domain.data("x", *domain.ANY_FLOAT, domain.ZEROS, domain.SMALLEST_NORMAL),),
    ),
    method=(
        method.one_store_per_result(2),  # y[i] = x[i]; y[i] += x[i];
        method.no_redundant_work(),
        method.balanced_work(size=20 * BLOCK),
        method.a_thread_each(size=20 * BLOCK),
        method.no_surplus_threads(),
    ),
)
