"""The exercises of "Matmul: from Python to C"."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import HostExercise, PythonExercise

WORK_AND_BYTES = PythonExercise(
    cases=((2, 2, 1), (2, 2, 2), (1000, 1000, 1000), (1, 512, 4096), (7, 5, 3)),
    reference=lambda M, N, K: (
        2 * M * N * K,
        4 * (M * K + K * N + M * N),
        2 * M * N * K / (4 * (M * K + K * N + M * N)),
    ),
    contract=DrawnCases(lambda rng: tuple(int(n) for n in 10 ** rng.uniform(0, 8, 3))),
)


def lines_of_b(order: str, K: int, N: int, line: int) -> int:
    """Fetches of B's lines for one row of C, by walking through the reads."""
    held, fetched = None, 0
    pairs = np.ndindex(N, K) if order == "jk" else np.ndindex(K, N)
    for outer, inner in pairs:
        k, j = (inner, outer) if order == "jk" else (outer, inner)
        fetched += (k * N + j) // line != held
        held = (k * N + j) // line
    return fetched


def reads_of_b(rng: np.random.Generator) -> tuple[str, int, int, int]:
    """An order, and a B with whole lines in each row."""
    K, line = int(rng.choice([1, 2, int(rng.integers(3, 60))])), int(rng.choice([1, 2, 8, 16, 32]))
    return str(rng.choice(["jk", "kj"])), K, line * int(rng.integers(1, 8)), line


LINES_OF_B = PythonExercise(
    cases=(
        ("kj", 8, 32, 16),
        ("kj", 8, 32, 8),
        ("jk", 8, 32, 16),
        ("kj", 5, 48, 16),
        ("jk", 5, 48, 16),
        ("jk", 1, 32, 16),
        ("kj", 3, 8, 8),
        ("jk", 2, 4, 1),
        ("kj", 1, 16, 16),
        ("kj", 50, 224, 32),
        ("jk", 50, 224, 32),
    ),
    reference=lines_of_b,
    contract=DrawnCases(reads_of_b, large=lambda: [("jk", 2, 9216, 16), ("kj", 9001, 16, 8)]),
)


def shape(rng: np.random.Generator, of_m: int = 1, of_n: int = 1) -> str:
    """M N K for the main function: one of them may be large. M and N are multiples."""
    m, n, k = rng.integers(1, 48, 3)
    large = rng.integers(6)
    if large < 3:
        m, n, k = np.where(np.arange(3) == large, rng.integers(130, 1100), (m, n, k))
    return f"{ceil_div(m, of_m) * of_m} {ceil_div(n, of_n) * of_n} {k}"


def runs(limit: str, *shapes: str) -> tuple[str, ...]:
    """Cases for the main function, each with a number that only it and the checker know."""
    return tuple(f"{limit} {mnk} {crc32(f'{limit} {mnk}'.encode()) % 10000}" for mnk in shapes)


def is_right(limit: str) -> Any:
    """The output of a C exercise's main function for a right product."""
    return lambda case: f"C is right\n{limit}: within the limit in run {case.split()[-1]}\n"


# M N K; the last C has more elements than 16 bits can count.
LARGEST = "1100 2 3", "2 1100 3", "3 2 1100", "1 1100 1100", "257 259 2"


LOOP_ORDER = HostExercise(
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=runs(
        "lines",
        "2 4 2",
        "3 37 7",
        "5 48 9",
        "2 16 1",
        "1 1 1",
        "2 3 0",
        "5 9 6",
        "4 17 5",
        *LARGEST,
    ),
    reference=is_right("lines"),
    contract=DrawnCases(lambda rng: runs("lines", shape(rng))[0]),
)


BLOCKS = HostExercise(
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=runs(
        "blocks",
        *("3 4 2", "1 1 9", "1 17 1"),  # small enough to be printed: one block, two in k, two in j
        *("5 37 19", "3 16 8", "2 1 9", "1 1 1", "2 3 0", "5 9 6", "4 17 5"),
        *LARGEST,
    ),
    reference=is_right("blocks"),
    contract=DrawnCases(lambda rng: runs("blocks", shape(rng))[0]),
)


REGISTER_TILE = HostExercise(
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=runs(
        "reads",
        *("4 8 2", "8 8 1"),  # small enough to be printed: one tile, two of them
        *("8 24 5", "4 8 1", "12 8 33", "4 8 0", "1100 8 3", "4 1096 2", "4 1096 1100"),
    ),
    reference=is_right("reads"),
    contract=DrawnCases(lambda rng: runs("reads", shape(rng, 4, 8))[0]),
)
