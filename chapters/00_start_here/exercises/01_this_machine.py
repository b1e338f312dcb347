"""The exercises of "This machine"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Promises,
    empty,
    floats,
    means,
    promises,
)
from course_utils.exercises.authoring.vectors import BLOCK, one_thread_each, spare_blocks


def doubled(given) -> dict:
    """Twice x, which may be past the largest float."""
    return {"y": 2 * given["x"]}


DOUBLE_IT = Exercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=doubled,
    exact=True,  # a factor of two rounds nothing
    launch=one_thread_each,
    small=(1000, 257, 1),
    full=1 << 24,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(promises.data("x", *promises.ANY_FLOAT, promises.ZEROS, promises.SMALLEST_NORMAL),),
    ),
    means=(
        means.one_store_each(2),  # y[i] = x[i]; y[i] += x[i];
        means.no_extra_work(),
        means.work_shared_out(size=20 * BLOCK),
        means.a_thread_each(size=20 * BLOCK),
        means.no_surplus_threads(),
    ),
)
