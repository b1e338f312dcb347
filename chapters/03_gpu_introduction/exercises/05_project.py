"""The project of the chapter: which kernel to work on."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import PythonExercise


def worth_the_work(kernels: list[Any], peak: float, bandwidth: float) -> tuple[str | None, float]:
    lost = [took - max(flops / peak, moved / bandwidth) for _, took, flops, moved in kernels]
    most = max([0.0, *lost])
    name = kernels[lost.index(most)][0] if most > 0 else None
    return name, sum(took for _, took, _, _ in kernels) - most


def program(rng: np.random.Generator) -> tuple[Any, ...]:
    """Whole numbers, so that equal losses are equal."""
    peak, bandwidth = int(rng.choice([20, 60])), int(rng.choice([1, 4]))
    kernels = []
    for place in range(int(rng.integers(1, 7))):
        flops, moved = peak * int(rng.integers(0, 20)), bandwidth * int(rng.integers(0, 20))
        floor = max(flops // peak, moved // bandwidth)
        kernels.append((f"kernel {place}", max(1, floor + int(rng.integers(-1, 9))), flops, moved))
    return kernels, peak, bandwidth


WORTH_THE_WORK = PythonExercise(
    cases=(
        ([("a", 50, 60, 200), ("b", 30, 600, 40)], 60, 4),
        ([("only", 5, 0, 20)], 60, 4),
        ([("slow", 100, 0, 396), ("small", 3, 60, 4)], 60, 4),
        ([("x", 10, 60, 4), ("y", 10, 4, 4)], 60, 1),
        ([("first", 9, 60, 4), ("second", 9, 60, 4)], 60, 4),
        ([("sums", 21, 600, 40)], 60, 4),
        ([("from a cache", 4, 60, 60), ("from memory", 12, 60, 40)], 60, 4),
        ([("done", 10, 600, 40), ("done too", 5, 0, 20)], 60, 4),
        (
            [("gemm", 700.0, 4e10, 2e8), ("norm", 90.0, 1e8, 2.1e8), ("add", 75.0, 1e8, 3e8)],
            6e7,
            4e6,
        ),
    ),
    reference=worth_the_work,
    contract=DrawnCases(program, 24),
)
