"""The project of the chapter: a separable filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.worked import Worked

COUNTED = 96, 64, 8  # width, height, radius


def picture(rng: np.random.Generator, size: tuple[int, int, int]) -> dict[str, Any]:
    width, height, radius = size
    return {
        "in": floats(rng, (height, width)),
        "out": empty((height, width)),
        "taps": rng.uniform(0.1, 1, 2 * radius + 1).astype(np.float32),
        "width": np.int32(width),
        "height": np.int32(height),
        "radius": np.int32(radius),
    }


def blurred(given: dict[str, Any]) -> dict[str, np.ndarray]:
    taps, radius = given["taps"].astype(np.float64), int(given["radius"])
    height, width = given["in"].shape
    padded = np.pad(given["in"].astype(np.float64), radius, mode="edge")
    rows = sum(tap * padded[:, k : k + width] for k, tap in enumerate(taps))
    return {"out": sum(tap * rows[k : k + height] for k, tap in enumerate(taps))}


def multiplications(counts: Counts) -> float:
    width, height, radius = COUNTED
    return counts.flops / 2 / (width * height * (2 * radius + 1))


SOFT_FOCUS = KernelExercise(
    inputs=picture,
    reference=blurred,
    launch=lambda size: Launch((ceil_div(size[0], 32), ceil_div(size[1], 32)), (32, 8)),
    small=((37, 70, 3), COUNTED, (33, 31, 0), (1, 1, 1)),
    full=(8192, 8192, 8),
    reduction=lambda size: (2 * size[2] + 1) ** 2,
    contract=Domain(
        sizes=domain.shapes(
            width=domain.extents(150), height=domain.extents(150), radius=(0, 1, 2, 5, 7, 8)
        ),
        values=(domain.data("in", *domain.ORDINARY),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(3.0, size=COUNTED),
        method.reads(
            "in",
            0,
            2.5 * 4 * COUNTED[0] * COUNTED[1],
            advice="Load a tile with its halo into shared memory, once.",
            size=COUNTED,
        ),
    ),
    target=Target(
        label="multiplications for each pixel and tap of a row",
        measure=multiplications,
        at_most=3,
        advice="The picture is right. Filter the rows of the tile first, keep them in shared "
        "memory, and filter their columns.",
        size=COUNTED,
    ),
    worked=Worked(
        size=(4, 3, 1),
        values={"in": (0, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 1), "taps": (1, 2, 3)},
    ),
)
