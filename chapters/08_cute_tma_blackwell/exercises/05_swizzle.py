"""The exercises of "Swizzles"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from course_utils import layouts
from course_utils.emulator import Counts
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.versions import Version, told_apart
from course_utils.exercises.authoring.worked import Worked

# --- The function itself ---


def any_swizzle(rng: np.random.Generator) -> tuple[Any, ...]:
    bits = int(rng.integers(0, 10))
    base, shift = int(rng.integers(0, 6)), bits + int(rng.choice((0, 1, 2, 3, 20)))
    return int(rng.integers(0, 1 << int(rng.integers(1, 50)))), bits, base, shift


def bit_by_bit(offset: int, bits: int, base: int, shift: int) -> int:
    digits = [offset >> place & 1 for place in range(64)]
    for place in range(base, base + bits):
        digits[place] = int(digits[place] != (offset >> place + shift & 1))
    return sum(digit << place for place, digit in enumerate(digits))


def without_swizzles(function: Callable[..., Any], *arguments: int) -> Any:
    """The result of ``function`` while the course's own swizzle refuses to answer."""

    def refused(*_: Any, **__: Any) -> None:
        raise LessonError("the course's Swizzle does not answer here: compute it yourself.")

    with patch.object(layouts.Swizzle, "__call__", refused):
        return function(*arguments)


SWIZZLED_OFFSET = PythonExercise(
    function="swizzled",
    cases=(
        (64, 3, 3, 3),
        (72, 3, 3, 3),
        (511, 3, 3, 3),
        (512, 3, 3, 3),
        (1023, 5, 0, 5),
        (300, 2, 3, 3),
        (4095, 2, 0, 5),
        (77, 0, 3, 3),
        (0, 3, 4, 3),
        (16256, 7, 0, 7),
        (5 << 40 | 3 << 32, 3, 4, 28),
        (1 << 45 | 77, 4, 3, 40),
        (1 << 19, 2, 16, 3),
    ),
    call=without_swizzles,
    reference=bit_by_bit,
    contract=DrawnCases(any_swizzle, 32),
)

# --- How many wavefronts? ---


def loaded(counts: Counts) -> float:
    return counts.shared_load_wavefronts


WAVEFRONTS_OF_SWIZZLES = NumberExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, 32 * 12 * 4).reshape(-1, 4),
        "y": empty((32, 4)),
        **int32s(pitch=size[0], bits=size[1]),
    },
    launch=lambda size: Launch((1,), (32,)),
    asks={
        "pitch_8_bits_0": Ask(
            "pitch 8, 0 bits",
            (8, 0),
            loaded,
            {
                8: "All lanes of a group of eight meet in the same four banks: each has its own "
                "wavefront, and there are four groups.",
                4: "That would need no conflict at all; rows of 128 bytes all begin at bank 0.",
            },
        ),
        "pitch_8_bits_2": Ask(
            "pitch 8, 2 bits",
            (8, 2),
            loaded,
            {
                4: "Two bits make four places, and eight lanes are served at a time.",
                2: "That is for one group of eight lanes; there are four.",
                16: "That is one bit: two bits make four places.",
            },
        ),
        "pitch_4_bits_0": Ask(
            "pitch 4, 0 bits",
            (4, 0),
            loaded,
            {
                32: "Rows of 64 bytes begin at bank 0 and at bank 16 in turn.",
                4: "Rows 0, 2, 4 and 6 begin at the same bank.",
            },
        ),
        "pitch_10_bits_0": Ask(
            "pitch 10, 0 bits",
            (10, 0),
            loaded,
            {
                4: "10 r modulo 8 is 2 r modulo 8: 0, 2, 4, 6, and again 0.",
                32: "The rows do not all begin at the same bank: 160 bytes are five quarters of "
                "all banks.",
            },
        ),
        "pitch_9_bits_0": Ask(
            "pitch 9, 0 bits",
            (9, 0),
            loaded,
            {32: "9 r modulo 8 is r modulo 8: eight different places. That is padding."},
        ),
    },
)

# --- Which swizzle fits? ---


def any_rows(rng: np.random.Generator) -> tuple[Any, ...]:
    return 1 << int(rng.integers(5, 12)), 1 << int(rng.integers(0, 5))


def by_trial(row_bytes: int, element_bytes: int) -> tuple[int, int, int]:
    """All swizzles that keep 16 bytes together, the smallest first, tried on the rows."""
    base = (16 // element_bytes).bit_length() - 1
    tile = np.arange(8)[:, None] * row_bytes + np.arange(0, row_bytes, 16)
    for bits in range(4):
        for shift in range(max(bits, 1), 12):
            swizzled = np.asarray(layouts.Swizzle(bits, base, shift)(tile // element_bytes))
            banks = swizzled * element_bytes // 16
            if all(len(set((column % 8).tolist())) == 8 for column in banks.T):
                return bits, base, shift
    raise AssertionError("no swizzle fits")


FITTING_SWIZZLE = PythonExercise(
    cases=(
        (128, 2),
        (64, 2),
        (32, 2),
        (256, 2),
        (128, 4),
        (128, 1),
        (1024, 8),
        (64, 16),
        (2048, 4),
    ),
    reference=by_trial,
    contract=DrawnCases(any_rows),
)

# --- Write the layout ---


def tile_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "y": empty((columns, rows)),
        **int32s(rows=rows, columns=columns),
    }


def per_request(counts: Counts) -> float:
    requests = counts.shared_load_requests + counts.shared_store_requests
    wavefronts = counts.shared_load_wavefronts + counts.shared_store_wavefronts
    return wavefronts / max(requests, 1)


TRANSPOSED_TILE = KernelExercise(
    inputs=tile_inputs,
    reference=lambda given: {"y": given["x"].T},
    launch=lambda size: Launch((size[1] // 32, size[0] // 32), (32,)),
    small=((32, 64), (32, 32)),
    worked=Worked(why_not="a tile has 32 x 32 elements"),
    full=(8192, 8192),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(32, 64, 96, 160), columns=(32, 64, 128, 224)).with_outlier(
            rows=288, columns=32800
        ),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    target=Target(
        label="wavefronts per access of shared memory",
        measure=per_request,
        at_most=1.0,
        advice="32 rows follow one another: the number of the row has to go onto the column, all "
        "five bits of it.",
        size=(32, 32),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        Requirement(
            "bytes stored to shared memory",
            lambda stats: stats.counts.shared_store_bytes,
            at_least=4096,
            advice="The tile goes through shared memory: only where its elements lie there is new.",
            size=(32, 32),
        ),
        method.shared_memory_limit(
            4096, advice="No padding: the tile has 4,096 bytes.", size=(32, 32)
        ),
    ),
)


# --- A test of places in a tile ---


def flipped(column: int) -> int:
    """The five bits of a column from back to front."""
    return int(f"{column:05b}"[::-1], 2)


def element(row: int, column: int) -> None:
    """Refuses a row or a column outside the tile."""
    if not (0 <= row < 32 and 0 <= column < 32):
        raise LessonError(f"place({row}, {column}) is outside the tile of 32 x 32.")


TEST_SWIZZLE = told_apart(
    (
        Version("a right one: row ^ column", lambda r, c: 32 * r + (r ^ c), right=True),
        Version("leaves the elements where they were", lambda r, c: 32 * r + c),
        Version("stores the transpose", lambda r, c: 32 * c + r),
        Version("pads each row by a word", lambda r, c: 33 * r + c),
        Version("takes three bits of the row", lambda r, c: 32 * r + (r & 7 ^ c)),
        Version("takes the upper four bits of the row", lambda r, c: 32 * r + (r >> 1 ^ c)),
        Version("a right one: rotated rows", lambda r, c: 32 * r + (r + c) % 32, right=True),
        Version("rotates by two words a row", lambda r, c: 32 * r + (2 * r + c) % 32),
        Version(
            "a right one: rotated by three", lambda r, c: 32 * r + (3 * r + c) % 32, right=True
        ),
        Version("rotates without a modulo", lambda r, c: 32 * r + r + c),
        Version("takes the modulo of 31", lambda r, c: 32 * r + (r + c) % 31),
        Version("has room for 16 rows", lambda r, c: 32 * (r % 16) + (r ^ c)),
        Version("subtracts the row", lambda r, c: 32 * r + c - r),
        Version("counts words from 1 on", lambda r, c: 32 * r + (r ^ c) + 1),
        Version(
            "loses a bit of the row in the last two columns",
            lambda r, c: 32 * r + (r ^ c if c < 30 else r & 30 ^ c),
        ),
        Version("multiplies row and column", lambda r, c: 32 * r + r * c % 32),
        Version("a right one: the transpose, by XOR", lambda r, c: 32 * c + (r ^ c), right=True),
        Version(
            "a right one: columns from back to front",
            lambda r, c: 32 * (31 - r) + (flipped(c) ^ r),
            right=True,
        ),
    ),
    "Where does it put the elements of each row and of each column? And which words are used "
    "twice, or not at all?",
    element,
)
