"""The exercises of "This machine"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Promises,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.vectors import BLOCK, one_thread_each, spare_blocks


def doubled(given) -> dict:
    """Twice x, which may be past the largest float."""
    return {"y": 2 * given["x"]}


DOUBLE_IT = Exercise(
    id="00.double_it",
    title="your first line of CUDA",
    task="""
Every thread owns one element `i`. Fill in the one line that is missing: store two times `x[i]` in
`y[i]`. Run the cell as it is first, then with your line, then with a mistake in it, and read what
the checker says each time.
""",
    source="00_start_here/exercises/double_it.cu",
    kernel="double_it",
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
    hints=(
        "Arrays are indexed as in Python: `x[i]` is element `i` of `x`.",
        "An assignment has the place on the left: `y[i] = ...`",
        "`y[i] = 2.0f * x[i];` The `f` makes the 2 a float; the semicolon ends the line.",
    ),
    explanation="""
The line is written once, and every thread runs it with its own `i`. `2.0f` is a float; a plain
`2.0` is a double, and C++ then computes in double precision, which is slower on a GPU. (For a
factor of 2 the compiler sees that it makes no difference; for `0.1` it could not.) So write `f`.
""",
    mutants=(
        mutant(
            "the last element once more by each surplus thread",
            kinds.MEANS_MISSING,
            (
                "if (i < n) {\n        y[i] = 2.0f * x[i];",
                "{\n        const int j = min(i, n - 1);\n        y[j] = 2.0f * x[j];",
            ),
        ),
        mutant("left out", kinds.NOTHING_WRITTEN, ("y[i] = 2.0f * x[i];", "")),
        mutant("not doubled", kinds.SCALED, ("2.0f * x[i]", "x[i]")),
        mutant("zeros", kinds.ALL_ZEROS, ("2.0f * x[i]", "0.0f")),
        mutant("next element", kinds.OUT_OF_BOUNDS, ("2.0f * x[i]", "2.0f * x[i + 1]")),
        mutant("no semicolon", kinds.COMPILE_ERROR, ("x[i];", "x[i]")),
        mutant(
            "every thread does it all",
            kinds.MEANS_MISSING,
            ("y[i] = 2.0f * x[i];", "for (int k = 0; k < n; ++k) y[k] = 2.0f * x[k];"),
        ),
        mutant(
            "a short index",
            kinds.OUT_OF_BOUNDS,
            ("y[i] = 2.0f * x[i];", "short k = i; y[k] = 2.0f * x[k];"),
        ),
        mutant("nearly two", kinds.PRECISION, ("2.0f * x[i]", "2.000001f * x[i]")),
        mutant("NaN lost", kinds.WRONG, ("2.0f * x[i]", "x[i] == x[i] ? 2.0f * x[i] : 0.0f")),
        mutant(
            "zero for what is tiny",
            kinds.ALL_ZEROS,
            ("2.0f * x[i]", "(fabsf(x[i]) < 1e-30f ? 0.0f * x[i] : 2.0f * x[i])"),
        ),
        mutant("plus zero", kinds.WRONG, ("2.0f * x[i]", "2.0f * x[i] + 0.0f")),
        mutant(
            "the last of a block idles",
            kinds.MEANS_MISSING,
            (
                "y[i] = 2.0f * x[i];",
                "if (threadIdx.x == 255) return;\n        y[i] = 2.0f * x[i];\n"
                "        if (threadIdx.x == 254 && i + 1 < n) y[i + 1] = 2.0f * x[i + 1];",
            ),
        ),
        mutant("reads y", kinds.UNINITIALISED, ("2.0f * x[i]", "2.0f * y[i]")),
    ),
)
