"""The exercises of "Occupancy"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
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


SLOTS = 64 // (256 // 32)  # blocks of 256 threads on an SM


def first_loads(rows: int, columns: int) -> tuple[str, int, int]:
    """The kernel with more bytes in flight, and the bytes of both, block by block."""
    blocks = {"warp": ceil_div(rows, 8), "block": rows}
    started = {name: min(count, 132 * SLOTS) for name, count in blocks.items()}
    busy = {"warp": min(8 * started["warp"], rows), "block": started["block"]}
    wide = {"warp": 32, "block": 256}
    found = {name: 4 * busy[name] * min(columns, wide[name]) for name in blocks}
    better = "block" if found["block"] > found["warp"] else "warp"
    return better, found["warp"], found["block"]


def any_matrix(rng: np.random.Generator) -> tuple[int, int]:
    """Few rows or many, short or long, around the blocks that fit at once and a block's columns."""
    rows = int(rng.choice([1, 7, 64, 1055, 1056, 1057, 8447, 8448, 8449, 100_000]))
    columns = int(rng.choice([1, 31, 32, 33, 255, 256, 257, 4096, 1_000_000]))
    return max(rows + int(rng.integers(-1, 2)), 1), max(columns + int(rng.integers(-1, 2)), 1)


WARP_OR_BLOCK = PythonExercise(
    cases=(
        (64, 1_000_000),
        (100_000, 32),
        (8448, 1024),
        (4096, 1024),
        (3, 5),
        (1057, 256),
        (8449, 64),
        (1, 1),
    ),
    reference=first_loads,
    contract=DrawnCases(any_matrix, 60),
    start="Work out for each kernel how many rows are busy at once, and how many threads of a "
    "busy row have an element.",
)
