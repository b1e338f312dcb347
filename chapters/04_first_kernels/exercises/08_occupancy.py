"""The exercises of "Occupancy"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import PythonExercise
from course_utils.observing.occupancy_calculator import Occupancy, Resources


def resident_blocks(threads: int, registers: int, shared: int) -> int:
    """The blocks that fit, by the course's own ``occupancy``."""
    needs = Resources(registers)
    return Occupancy("kernel", "sm_90a", threads, shared, needs).blocks_per_sm


def any_block(rng: np.random.Generator) -> tuple[int, int, int]:
    """A block that is limited by its warps, its registers or its shared memory, or by any."""
    registers = int(rng.integers(1, rng.choice([33, 65, 256])))
    threads = int(rng.integers(1, rng.choice([65, 400, 1025])))
    shared = int(rng.integers(rng.choice([2000, 60_000, 227 * 1024 + 1])))
    if rng.integers(2):  # just at, below or above a size at which one block more fits
        room = 228 * 1024 // int(rng.integers(1, 33)) // 128 * 128 - 1024
        shared = max(room + int(rng.integers(-128, 129)), 0)
    return threads, registers, shared


BLOCKS_PER_SM = PythonExercise(
    cases=(
        (256, 40, 0),
        (256, 41, 0),
        (1024, 32, 0),
        (32, 16, 0),
        (100, 32, 4096),
        (32, 80, 0),
        (128, 24, 227 * 1024),
        (256, 16, 28 * 1024),
        (64, 255, 1000),
        (192, 40, 20_000),
    ),
    reference=resident_blocks,
    contract=DrawnCases(any_block, 150),
)
