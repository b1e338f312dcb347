"""The project of the chapter: one launch updates all parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch, floats
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import Worked

COUNTED = 2000, 100  # elements, arrays
FULL = 1 << 24


def state(rng: np.random.Generator, size: tuple[int, int]) -> dict[str, Any]:
    """n parameters in that many arrays. The first are short or empty, the last long."""
    n, arrays = size
    ends = np.sort((n + 1) * rng.random(arrays) ** 4).astype(np.int32)
    ends[-1] = n
    return {
        "w": floats(rng, n),
        "v": floats(rng, n),
        "g": floats(rng, n),
        "ends": ends,
        "rates": (rng.integers(1, 33, arrays) / 64).astype(np.float32),
        "arrays": np.int32(arrays),
        "momentum": np.float32(0.75),
        "n": np.int32(n),
    }


def updated(given: dict[str, Any]) -> dict[str, np.ndarray]:
    lengths = np.diff(given["ends"], prepend=0)
    v = given["momentum"].astype(np.float64) * given["v"] + given["g"]
    return {"v": v, "w": given["w"] - np.repeat(given["rates"], lengths) * v}


def up_to_the_end(given: dict[str, Any]) -> dict[str, np.ndarray]:
    ends = np.minimum(given["ends"], given["n"])
    ends[-1] = given["n"]
    return {"ends": ends}


def looked_up(stats: LaunchStats) -> float:
    read = (each.loaded_from.get(name, 0) for each in stats.threads for name in ("ends", "rates"))
    return sum(read) / 4 / COUNTED[0]


MOMENTUM = KernelExercise(
    inputs=state,
    reference=updated,
    launch=lambda size: Launch((3 if size[0] < FULL else 528,), (256,)),
    small=((500, 5), COUNTED, (1, 1)),
    full=(FULL, 100),
    contract=Domain(
        sizes=domain.shapes(n=domain.extents(3000), arrays=domain.extents(300)).with_outlier(
            arrays=1029
        ),
        launches=domain.grids((1, 256), (7, 256)),
        values=(
            domain.data("g", *domain.ORDINARY),
            domain.scalars("momentum", 0, 1, 0.5),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(3.0, size=COUNTED),
        Requirement(
            "numbers of ends and rates that are read for each element",
            looked_up,
            at_most=14,
            advice="The ends rise, so a binary search finds the array of an element.",
            size=COUNTED,
        ),
        method.reads(
            "g", 4 * COUNTED[0], 4 * COUNTED[0], advice="Read each gradient once.", size=COUNTED
        ),
        method.reads(
            "v", 4 * COUNTED[0], 4 * COUNTED[0], advice="Read each velocity once.", size=COUNTED
        ),
    ),
    worked=Worked(
        size=(5, 3),
        values={
            "w": (10, 20, 30, 40, 50),
            "v": (4, 0, 8, 4, 0),
            "g": (1, 2, 3, 1, 5),
            "ends": (2, 2, 5),
            "rates": (1, 5, 2),
            "momentum": 0.5,
        },
        derived=up_to_the_end,
    ),
)
