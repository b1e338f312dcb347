"""The exercises of "Swizzles"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from course_utils import layouts
from course_utils.errors import LessonError
from course_utils.exercises import (
    Ask,
    Cases,
    Exercise,
    Launch,
    Means,
    NumberExercise,
    Promises,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

FOLDER = "08_cute_tma_blackwell/exercises"

# --- The function itself ---


def any_swizzle(rng: np.random.Generator) -> tuple:
    bits = int(rng.integers(0, 10))
    base, shift = int(rng.integers(0, 6)), bits + int(rng.choice((0, 1, 2, 3, 20)))
    return int(rng.integers(0, 1 << int(rng.integers(1, 50)))), bits, base, shift


def bit_by_bit(offset: int, bits: int, base: int, shift: int) -> int:
    digits = [offset >> place & 1 for place in range(64)]
    for place in range(base, base + bits):
        digits[place] = int(digits[place] != (offset >> place + shift & 1))
    return sum(digit << place for place, digit in enumerate(digits))


def without_swizzles(function: Callable, *arguments: int) -> Any:
    """What ``function`` says while the course's own swizzle refuses to answer."""

    def refused(*_: Any, **__: Any) -> None:
        raise LessonError("the course's Swizzle does not answer here: compute it yourself.")

    with patch.object(layouts.Swizzle, "__call__", refused):
        return function(*arguments)


OFFSET = PythonExercise(
    id="08.swizzled_offset",
    title="the function that a swizzle is",
    task="""
Write `swizzled(offset, bits, base, shift)`: what `Swizzle<bits, base, shift>` makes of an offset.
`bits` is at most `shift`, and may be 0. The course's own `Swizzle` does not answer here.
""",
    source=f"{FOLDER}/swizzled_offset.py",
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
    promises=Cases(any_swizzle, 32),
    means="Any way to the number is right.",
    hints=(
        "Cut the upper bits out with a mask, move them down, and XOR them onto the offset.",
        "`(1 << bits) - 1` is `bits` ones; moved up by base + shift they cover the upper bits.",
        "`offset ^ ((offset & mask) >> shift)`.",
    ),
    explanation="""
A few instructions, often fewer: where the compiler knows the upper bits, or where a thread's
never change, one exclusive or is left, or none. Applied twice a swizzle
gives the offset back, since the upper bits do not change: nothing is lost, and no two offsets
meet.
""",
    mutants=(
        mutant("the mask at the base", kinds.WRONG, ("<< base + shift", "<< base")),
        mutant("added", kinds.WRONG, ("offset ^ (", "offset + (")),
        mutant("not moved down", kinds.WRONG, (" >> shift", "")),
        mutant(
            "all upper bits",
            kinds.WRONG,
            ("(offset & mask)", "(offset >> base + shift << base + shift)"),
        ),
        mutant("three bits always", kinds.WRONG, ("(1 << bits)", "(1 << 3)")),
        mutant("six bits at most", kinds.WRONG, ("(1 << bits)", "(1 << min(bits, 6))")),
        mutant("offsets of 32 bits", kinds.WRONG, ("offset & mask", "offset & mask & 0xFFFFFFFF")),
        mutant("base forgotten", kinds.WRONG, ("<< base + shift", "<< shift")),
        mutant(
            "the course's swizzle",
            kinds.EXCEPTION,
            (
                "    mask =",
                "    from course_utils import layouts\n\n"
                "    return layouts.Swizzle(bits, base, shift)(offset)\n    mask =",
            ),
        ),
        mutant(
            "the course's swizzle, made by the back door",
            kinds.EXCEPTION,
            (
                "    mask =",
                "    from course_utils import layouts\n\n"
                "    made = object.__new__(layouts.Swizzle)\n"
                "    made.__dict__.update(bits=bits, base=base, shift=shift)\n"
                "    return made(offset)\n    mask =",
            ),
        ),
    ),
)

# --- How many wavefronts? ---


def loaded(counts) -> float:
    return counts.shared_load_wavefronts


WAVEFRONTS = NumberExercise(
    id="08.wavefronts_of_swizzles",
    title="wavefronts, before you measure",
    task="""
How many wavefronts does the load in the last line take? A lane loads 16 bytes, so 8 lanes are
served at a time, and 32 lanes take at least 4 wavefronts.
""",
    source=f"{FOLDER}/wavefronts_of_swizzles.cu",
    kernel="wavefronts_of_swizzles",
    inputs=lambda rng, size: {
        "x": floats(rng, 32 * 12 * 4).reshape(-1, 4),
        "y": empty((32, 4)),
        "pitch": np.int32(size[0]),
        "bits": np.int32(size[1]),
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
    hints=(
        "A chunk covers four banks, and there are eight such groups of banks: count the places "
        "modulo 8 of lanes 0 to 7.",
        "pitch 8 with 2 bits: lane & 3 is 0, 1, 2, 3, 0, 1, 2, 3, so two lanes meet in each place.",
        "As many lanes as meet in one place, times four groups of eight lanes.",
    ),
    explanation="""
The largest number of lanes that meet in one place is what a group of eight pays: 8, 2, 4, 2 and 1.
Padding by one chunk is as good as three bits of XOR; padding by two is not.
""",
    mutants=(
        mutant("one group only", kinds.WRONG_NUMBER, ("pitch_8_bits_0 = 32", "pitch_8_bits_0 = 8")),
        mutant(
            "two bits suffice", kinds.WRONG_NUMBER, ("pitch_8_bits_2 = 8", "pitch_8_bits_2 = 4")
        ),
        mutant("one bit", kinds.WRONG_NUMBER, ("pitch_8_bits_2 = 8", "pitch_8_bits_2 = 16")),
        mutant(
            "short rows are free", kinds.WRONG_NUMBER, ("pitch_4_bits_0 = 16", "pitch_4_bits_0 = 4")
        ),
        mutant(
            "any padding helps", kinds.WRONG_NUMBER, ("pitch_10_bits_0 = 8", "pitch_10_bits_0 = 4")
        ),
        mutant(
            "no padding helps", kinds.WRONG_NUMBER, ("pitch_9_bits_0 = 4", "pitch_9_bits_0 = 32")
        ),
    ),
)

# --- Which swizzle fits? ---


def any_rows(rng: np.random.Generator) -> tuple:
    return 1 << int(rng.integers(5, 12)), 1 << int(rng.integers(0, 5))


def by_trial(row_bytes: int, element_bytes: int) -> tuple[int, int, int]:
    """All swizzles that keep 16 bytes together, the smallest first, tried on the rows."""
    base = (16 // element_bytes).bit_length() - 1
    tile = np.arange(8)[:, None] * row_bytes + np.arange(0, row_bytes, 16)
    for bits in range(4):
        for shift in range(max(bits, 1), 12):
            banks = layouts.Swizzle(bits, base, shift)(tile // element_bytes) * element_bytes // 16
            if all(len(set((column % 8).tolist())) == 8 for column in banks.T):
                return bits, base, shift
    raise AssertionError("no swizzle fits")


FITTING = PythonExercise(
    id="08.fitting_swizzle",
    title="the swizzle that fits",
    task="""
Rows of `row_bytes` bytes (a power of two from 32 to 2,048) lie one after the other, without
padding, the first at a multiple of 8 rows and of 1,024 bytes. Write `fitting_swizzle(row_bytes,
element_bytes)`: the `(bits, base, shift)`, counted in elements of 1, 2, 4, 8 or 16 bytes, with
which 16 bytes stay together, and the same chunk of eight rows that follow one another,
`8 k` to `8 k + 7`, lies in eight different groups of four banks. Take the fewest bits, and with
those the least shift.
""",
    source=f"{FOLDER}/fitting_swizzle.py",
    function="fitting_swizzle",
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
    promises=Cases(any_rows),
    means="Trying all swizzles is as right as a formula.",
    hints=(
        "base: how many bits count the elements of 16 bytes?",
        "A row has row_bytes / 16 chunks. Where it has eight or more, three bits of the row go "
        "onto the last three of the chunk. How far above them do the row's bits begin?",
        "Rows of 64 bytes: two of them lie side by side in the 32 banks, so the last bit of the "
        "row already tells banks apart. Two more bits are needed, and they begin three above "
        "the base.",
        "`bits = min(3, log2(chunks))`, `shift = max(3, log2(chunks))`.",
    ),
    explanation="""
Rows of 128 bytes and 16-bit elements: (3, 3, 3), the one you meet most. Rows of 64 bytes: (2, 3,
3), of 32 bytes: (1, 3, 3). The copy engine of Hopper has these three and no other; their names
there are the 128-, 64- and 32-byte swizzle. In longer rows a stride from row to row is more than
the 32 banks, so the bits of the row begin further up.
""",
    mutants=(
        mutant("three bits always", kinds.WRONG, ("min(3, chunk_bits)", "3")),
        mutant("shift three always", kinds.WRONG, ("max(3, chunk_bits)", "3")),
        mutant("base in bytes", kinds.WRONG, ("(16 // element_bytes).bit_length() - 1", "4")),
        mutant(
            "base of 2-byte elements", kinds.WRONG, ("(16 // element_bytes).bit_length() - 1", "3")
        ),
        mutant("all the chunk's bits", kinds.WRONG, ("min(3, chunk_bits)", "chunk_bits")),
        mutant("shift by the row alone", kinds.WRONG, ("max(3, chunk_bits)", "chunk_bits")),
    ),
)

# --- Write the layout ---


def tile_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "y": empty((columns, rows)),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def per_request(counts) -> float:
    requests = counts.shared_load_requests + counts.shared_store_requests
    wavefronts = counts.shared_load_wavefronts + counts.shared_store_wavefronts
    return wavefronts / max(requests, 1)


ONE_LANE = (
    "    for (int n = lane ? 1024 : 0; n < 1024; ++n) {\n"
    "        const int i = n / 32, j = n % 32;\n"
)
LAYOUT = Exercise(
    id="08.transposed_tile",
    title="write the layout that leaves no conflict",
    task="""
The transposition is right, but each load takes 32 wavefronts: a column of the tile lies in one
bank. Change `place` alone, without a byte more of shared memory, until every store and every load
takes one wavefront. Elements have 4 bytes, and a lane moves one at a time.
""",
    source=f"{FOLDER}/transposed_tile.cu",
    kernel="transposed_tile",
    inputs=tile_inputs,
    reference=lambda given: {"y": given["x"].T},
    launch=lambda size: Launch((size[1] // 32, size[0] // 32), (32,)),
    small=((32, 64), (32, 32)),
    full=(8192, 8192),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(32, 64, 96, 160), columns=(32, 64, 128, 224)).with_longest(
            rows=288, columns=32800
        ),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    target=Target(
        label="wavefronts per access of shared memory",
        measure=per_request,
        at_most=1.0,
        advice="32 rows follow one another: the number of the row has to go onto the column, all "
        "five bits of it.",
        size=(32, 32),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        Means(
            "bytes stored to shared memory",
            lambda work: work.counts.shared_store_bytes,
            at_least=4096,
            advice="The tile goes through shared memory: only where its elements lie there is new.",
            size=(32, 32),
        ),
        means.room_in_shared_memory(
            4096, advice="No padding: the tile has 4,096 bytes.", size=(32, 32)
        ),
    ),
    hints=(
        "`composition(Swizzle<bits, base, shift>{}, layout)`: how many banks, and how many "
        "elements stay together?",
        "A lane moves 4 bytes, so no two elements need to stay together: base 0. All 32 rows must "
        "differ: five bits.",
        "The bits of the row begin five above those of the column: `Swizzle<5, 0, 5>{}`.",
    ),
    explanation="""
Element (i, j) lies at column i ^ j of row i. For a fixed i that is a permutation of the columns,
for a fixed j one as well, so rows and columns both meet every bank once. Chapter 04 wrote the XOR
into each of the two statements; here it is in the layout, and the statements did not change.
""",
    mutants=(
        mutant(
            "one lane moves it all",
            kinds.MEANS_MISSING,
            ("    for (int i = 0; i < 32; ++i) {\n        tile", f"{ONE_LANE}        tile"),
            ("    for (int i = 0; i < 32; ++i) {\n        y[", f"{ONE_LANE}        y["),
            ("place(i, lane)] = x[(size_t)(row + i)", "place(i, j)] = x[(size_t)(row + i)"),
            ("columns + column + lane]", "columns + column + j]"),
            ("rows + row + lane] = tile[place(lane, i)]", "rows + row + j] = tile[place(j, i)]"),
        ),
        mutant("three bits", kinds.TARGET_MISSED, ("Swizzle<5, 0, 5>", "Swizzle<3, 0, 5>")),
        mutant("16 bytes together", kinds.TARGET_MISSED, ("Swizzle<5, 0, 5>", "Swizzle<3, 2, 5>")),
        mutant("the wrong row bits", kinds.TARGET_MISSED, ("Swizzle<5, 0, 5>", "Swizzle<5, 0, 6>")),
        mutant(
            "padding",
            kinds.OUT_OF_BOUNDS,
            ("composition(Swizzle<5, 0, 5>{},", "("),
            ("make_stride(_32{}, _1{})", "make_stride(Int<33>{}, _1{})"),
        ),
    ),
)

EXERCISES = (OFFSET, WAVEFRONTS, FITTING, LAYOUT)
