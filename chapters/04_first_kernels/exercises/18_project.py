"""The project of the chapter: a histogram of mostly equal bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.vectors import BLOCK, FULL
from course_utils.exercises.authoring.worked import Worked

BINS = 256
COUNTED = 4099  # bytes of the picture whose launch is counted
BLOCKS = 1


def night_sky(rng: np.random.Generator, n: int) -> np.ndarray:
    """n bytes, of which about one in sixteen is a star, and all others are the camera's black. The
    first one and the last one are stars, so neither says which byte is black."""
    black, stars = rng.integers(0, BINS), rng.integers(0, BINS, n)
    bright = rng.random(n) < 1 / 16
    bright[[0, -1]] = True
    return np.where(bright, stars, black).astype(np.uint8)


def pictures(label: str, picture: Any) -> domain.InputClass:
    return domain.InputClass(label, lambda given, rng: {"bytes": picture(given["bytes"], rng)})


def atomic_wavefronts(counts: Counts) -> float:
    return counts.shared_atomic_wavefronts / COUNTED


NIGHT_HISTOGRAM = KernelExercise(
    inputs=lambda rng, n: {
        "bytes": night_sky(rng, n),
        "counts": np.zeros(BINS, np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "counts": np.bincount(given["bytes"], minlength=BINS).astype(np.int32)
    },
    launch=lambda n: Launch((BLOCKS if n < FULL else 528,), (BLOCK,)),
    small=(COUNTED, 257, 1),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=domain.grids(*((blocks, BLOCK) for blocks in (1, 3, 7, 131))),
        values=(
            (
                domain.AS_GIVEN,
                pictures("every byte = 255", lambda bytes, rng: np.full_like(bytes, 255)),
                pictures("bytes rising", lambda bytes, rng: np.sort(bytes)),
                pictures(
                    "any bytes", lambda bytes, rng: rng.integers(0, BINS, len(bytes), np.uint8)
                ),
            ),
        ),
    ),
    method=(
        method.reads_each_once(COUNTED, at_most=1.5, size=COUNTED),
        method.balanced_loads(at_most=2, size=COUNTED),
        method.atomics(
            "global",
            at_most=BLOCKS * BINS,
            advice="Count into shared memory first, then add each value's count once.",
            size=COUNTED,
        ),
    ),
    target=Target(
        label="wavefronts of shared atomics per byte",
        measure=atomic_wavefronts,
        at_most=0.2,
        advice="The counts are right. How many lanes of a warp meet in the counter of the sky, and "
        "could one of them add for all?",
        size=COUNTED,
    ),
    worked=Worked(whole=("bytes",), why_not="its result has 256 numbers"),
)
