"""The kinds of verdict, and the next step each one suggests."""

from __future__ import annotations

from ..emulator import UNINITIALISED as UNINITIALISED  # exported: a kind of verdict, too

PASS = "pass"

# What the numbers say.
WRONG_SHAPE = "wrong shape"
WRONG_DTYPE = "wrong dtype"
NOTHING_WRITTEN = "nothing written"
PARTLY_WRITTEN = "partly written"
ALL_ZEROS = "all zeros"
NOT_A_NUMBER = "not a number"
EDGES = "wrong at the edges only"
FIRST_BLOCK = "only the beginning is right"  # one block of several, or some of many
TRANSPOSED = "transposed"
OFF_BY_ONE = "off by one"
REVERSED = "reversed"
SCALED = "scaled"
PRECISION = "precision only"
WRONG = "wrong values"

NEXT_STEP: dict[str, str] = {
    WRONG_SHAPE: "Print both shapes and compare them with the sizes you meant.",
    WRONG_DTYPE: "Give the output the dtype that is expected when you create it.",
    NOTHING_WRITTEN: "Look for the line that stores the result: does any thread reach it?",
    PARTLY_WRITTEN: "Write down which index each thread computes: some index belongs to no thread.",
    UNINITIALISED: "Give every variable and every shared element a value before it is read; "
    "an output array holds nothing useful before you write it.",
    NOT_A_NUMBER: "NaN comes from 0 / 0, from inf - inf, from the root or logarithm of a negative "
    "number, in a kernel from past the end of a thread's own array, and from every operation on "
    "another NaN: find the first of them.",
    ALL_ZEROS: "Check that the inputs are read at all, that the sum is stored after it is "
    "complete, and that no factor of it has become 0.",
    EDGES: "Only elements at the edge are wrong: look at the bounds guard, at whether the grid is "
    "rounded up, and at what a thread at the edge reads.",
    FIRST_BLOCK: "Is blockIdx in every index that needs it, and is the grid large enough? In a "
    "loop, is the stride the number of all threads? Does anything end at that number? Where later "
    "elements are made from earlier ones, look at what the second takes from the first.",
    TRANSPOSED: "Rows and columns are swapped: x goes along a row (columns), y down the rows; "
    "element (row, column) lies at row * width + column.",
    OFF_BY_ONE: "Count from 0: check the first index, the last index, and < against <=.",
    REVERSED: "Check which end the index starts from.",
    SCALED: "One factor is missing or applied twice.",
    PRECISION: "Nearly right. Look for a narrower type, an integer division, a divisor that is one "
    "off, a rounding step that does not belong, a constant with too few digits, or a small term "
    "left out.",
    WRONG: "Work out the first wrong element by hand and follow its thread through the kernel.",
}
