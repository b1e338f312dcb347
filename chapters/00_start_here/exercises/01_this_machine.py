"""The exercises of "This machine"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import Exercise, empty, floats, kinds, mutant
from course_utils.exercises.vectors import one_thread_each

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
    reference=lambda given: {"y": 2 * given["x"]},
    launch=one_thread_each,
    small=(1000, 257, 1),
    full=1 << 24,
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
        mutant("left out", kinds.NOTHING_WRITTEN, ("y[i] = 2.0f * x[i];", "")),
        mutant("not doubled", kinds.SCALED, ("2.0f * x[i]", "x[i]")),
        mutant("zeros", kinds.ALL_ZEROS, ("2.0f * x[i]", "0.0f")),
        mutant("next element", kinds.OUT_OF_BOUNDS, ("2.0f * x[i]", "2.0f * x[i + 1]")),
        mutant("no semicolon", kinds.COMPILE_ERROR, ("x[i];", "x[i]")),
        mutant("reads y", kinds.UNINITIALISED, ("2.0f * x[i]", "2.0f * y[i]")),
    ),
)
