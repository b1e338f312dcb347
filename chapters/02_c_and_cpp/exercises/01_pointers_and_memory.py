"""The exercises of "Pointers and memory"."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import HostExercise

from .common import (
    LARGEST,
    LARGEST_EXACT,
    PARTS,
    driver,
    listed,
    shown,
    some_length,
    values_of,
    whole,
)


def last_positive(case: str) -> str:
    values = values_of(case)
    return str(max((i for i, x in enumerate(values) if x > 0), default=len(values)))


def matrix(rows: int, columns: int, values: Sequence[float], of: float = 4) -> str:
    """A shape, and a matrix of quarters, or of other parts, which floats hold exactly."""
    return f"{rows} {columns}\n{' '.join(str(x / of) for x in values)}\n"


def column_sums(case: str) -> str:
    rows, columns, *values = map(float, case.split())
    with np.errstate(invalid="ignore"):  # infinity less infinity
        sums = np.array(values).reshape(int(rows), int(columns)).sum(axis=0)
    return "\n".join(shown(sums))


def drawn_matrix(rng: np.random.Generator) -> str:
    rows, columns = drawn_shape(rng)
    return matrix(rows, columns, whole(rng, rows * columns), of=float(rng.choice(PARTS)))


def drawn_shape(rng: np.random.Generator) -> tuple[int, int]:
    """Two sides of which one may be long."""
    sides = [int(n) for n in rng.integers(1, 12, 2)]
    sides[rng.integers(2)] = some_length(rng, most=9000)
    return sides[0], sides[1]


def drawn_numbers(rng: np.random.Generator) -> str:
    """Some ints, small ones or any."""
    return listed(small_or_any(rng, some_length(rng)))


def small_or_any(rng: np.random.Generator, n: int) -> list[int]:
    """n ints, of which none is large, or any may be."""
    return whole(rng, n, -LARGEST - 1, LARGEST) if rng.integers(2) else whole(rng, n)


def mostly_negative(rng: np.random.Generator) -> str:
    """Numbers of which few are above 0, or only those before a place anywhere."""
    values = np.array(whole(rng, some_length(rng, least=0), -9, 3), int)
    if rng.integers(2):
        values[values > 0] = whole(rng, int(sum(values > 0)), 1, LARGEST)
        return listed(values)
    if rng.integers(2) and len(values):
        values[int(rng.integers(len(values))) :] = -1
    return listed(values << rng.choice([0, 0, 8, 16, 24], len(values)))


def table(case: str) -> str:
    rows, columns = map(int, case.split())
    n = rows * columns
    return f"{n} of {n} elements are row after row\n2 blocks of memory"


SWAPPED_SIZES = 0, 1, 2, 3, 7, 64, 100, 255, 300, 4099, 65537, 1_050_001


def swapped(case: str) -> str:
    a, b = map(int, case.split())
    lines = [f"{b} {a} d c {b / 8:g} {a / 8:g}", f"{b} 3 4", f"{a} 1 2"]
    return "\n".join([*lines, *(f"two blocks of {n}: 0 bytes are wrong" for n in SWAPPED_SIZES)])


def words(rng: np.random.Generator) -> str:
    """One to five words of any letters."""
    lengths = [some_length(rng) for _ in range(rng.integers(1, 6))]
    return " ".join("".join(map(chr, whole(rng, n, ord("!"), ord("~")))) for n in lengths)


SENTENCE = "  two words, a\ttab,\n 100 %d and é\t "

WATCHED = """
#include <stdlib.h>
void *watched_malloc(size_t bytes);
void *watched_calloc(size_t n, size_t bytes);
void *watched_aligned_alloc(size_t alignment, size_t bytes);
void *watched_realloc(void *block, size_t bytes);
void watched_free(void *block);
"""


# AddressSanitizer lets a program use the first byte of a block of 0 bytes.
EMPTY_BLOCKS = """
#include <stdlib.h>
void *noted_malloc(size_t bytes);
void *noted_calloc(size_t n, size_t bytes);
#define malloc noted_malloc
#define calloc noted_calloc
"""


def grown(case: str) -> str:
    values = case.split()
    room = 1 << (len(values) - 1).bit_length() if values else 0
    return "\n".join([f"{len(values)} values, room for {room}", *shown(map(int, values))])


MIN_MAX = HostExercise(
    driver=driver("min_max"),
    probe="""
void try_min_max(const int *x, int n, int *low, int *high) { min_max(x, n, low, high); }
""",
    cases=(
        listed([3, -1, 7, 2]),
        listed([5]),
        listed([-4, -9, -2]),
        listed([8, 8]),
        listed([20_000, 30_000]),
        listed([-20_000, -30_000]),
        listed([LARGEST, LARGEST]),
        listed([LARGEST, 5, 6]),
        listed([-LARGEST - 1, -5, -6]),
        listed([-LARGEST - 1, -LARGEST - 1]),
        listed([2_000_000_000, -2_000_000_000]),
        listed([-2_000_000_000, 2_000_000_000]),
        listed(range(1000, 0, -1)),
        listed([16_777_217, 16_777_216, 16_777_218, 16_777_217]),
    ),
    reference=lambda case: f"{min(values_of(case))} {max(values_of(case))}",
    contract=DrawnCases(
        drawn_numbers,
        large=lambda: (listed(range(-35_000, 35_000)), listed(range(35_000, -35_000, -1))),
        tried="n from 1 to 70,000, any ints",
    ),
)

ROW_POINTERS = HostExercise(
    driver=driver("row_pointers"),
    probe="""
int **try_make_table(int rows, int columns) { return make_table(rows, columns); }
void try_free_table(int **table) { free_table(table); }
""",
    before=WATCHED
    + """
#define malloc watched_malloc
#define calloc watched_calloc
#define aligned_alloc watched_aligned_alloc
#define realloc watched_realloc
#define free watched_free
""",
    cases=("2 3", "1 1", "5 1", "1 6", "40 70", "101 100", "70000 1", "1 70000", "300 300"),
    reference=table,
    contract=DrawnCases(
        lambda rng: "{} {}".format(*drawn_shape(rng)),
        tried="rows and columns from 1 to 70,000, up to 100,000 elements, two tables at a time",
    ),
)

APPEND = HostExercise(
    driver=driver("append"),
    probe="""
void try_append(int **values, size_t *count, size_t *capacity, int value)
{
    append(values, count, capacity, value);
}
""",
    before=WATCHED + "#define realloc watched_realloc\n",
    cases=(
        "4 8 15 16 23",
        "7",
        "",
        "1 2 3 4",
        f"{LARGEST} {-LARGEST - 1} 16777217 65536",
        " ".join(map(str, range(1500))),
    ),
    reference=grown,
    contract=DrawnCases(
        lambda rng: " ".join(map(str, small_or_any(rng, some_length(rng, least=0)))),
        large=lambda: (" ".join(map(str, range(70_000))),),
        tried="up to 70,000 values, every capacity that realloc is asked for, and two arrays "
        "filled alternately, one of which starts with a capacity of 3",
    ),
)

LAST_POSITIVE = HostExercise(
    driver=driver("last_positive"),
    probe="""
size_t try_last_positive(const int *x, size_t n) { return last_positive(x, n); }
""",
    cases=(
        listed([1, -2, 3, 0, -4]),
        listed([2, 0]),
        listed([0, -1]),
        listed([]),
        listed([9]),
        listed([LARGEST, -LARGEST - 1]),
        listed([5, 1 << 24, -1]),
    ),
    reference=last_positive,
    contract=DrawnCases(
        mostly_negative,
        large=lambda: (
            listed([1] * 70_000),
            listed([1] + [0] * 69_999),
            listed([0] * 70_000),
            listed([-1] * 40_000 + [5] + [-1] * 29_999),
        ),
        tried="n from 0 to 70,000, any ints, and that a walk from the end stops, at most 32 "
        "numbers past the answer",
    ),
)

COLUMN_SUMS = HostExercise(
    driver=driver("column_sums"),
    probe="""
void try_column_sums(const float *A, size_t rows, size_t columns, float *sums)
{
    column_sums(A, rows, columns, sums);
}
""",
    cases=(
        matrix(2, 3, [1, 2, 3, 4, 5, 6]),
        matrix(3, 2, [1, -2, 3, 9, 5, 6]),
        matrix(1, 4, [1, 2, 3, 4]),
        matrix(2, 2, [1, -2001, 3007, 900], of=1024),
        matrix(4, 1, [1, 2, 3, 4]),
        matrix(0, 3, []),
        matrix(2, 300, [i % 17 for i in range(600)]),
        matrix(3, 0, []),
        matrix(3, 2, [LARGEST_EXACT - 1, -LARGEST_EXACT, 1, 1, 0, 0]),
        matrix(2, 4, [math.inf, 1, -math.inf, 3, 5, -math.inf, -math.inf, math.nan]),
        matrix(3, 3, [math.inf, 2, 1, 1, math.nan, -math.inf, -math.inf, 3, 4]),
        matrix(2, 1, [math.inf, 3]),
    ),
    reference=column_sums,
    contract=DrawnCases(
        drawn_matrix,
        large=lambda: (
            matrix(69_999, 1, [i % 23 - 11 for i in range(69_999)]),
            matrix(1, 69_999, [i % 29 - 14 for i in range(69_999)]),
            matrix(300, 301, [i % 31 - 15 for i in range(300 * 301)]),
        ),
        tried="rows and columns from 0 to 70,000, numbers from 1e-30 to 1e30, infinities and nan",
    ),
)

SWAP_ANY = HostExercise(
    driver=driver("swap_any"),
    probe="""
void try_swap_any(void *a, void *b, size_t size) { swap_any(a, b, size); }
""",
    cases=("1 2", "-5 70000", "0 0"),
    reference=swapped,
    contract=DrawnCases(
        lambda rng: " ".join(map(str, whole(rng, 2, -100_000, 100_000))),
        tried="sizes from 0 to 1,050,001 bytes, every byte, odd addresses, a thing with itself",
    ),
)

COPY_TEXT = HostExercise(
    driver=driver("copy_text"),
    before=EMPTY_BLOCKS,
    probe="""
char *try_copy_of(const char *text) { return copy_of(text); }
""",
    cases=(
        "kernel grid block",
        "a",
        "pneumonoultramicroscopicsilicovolcanoconiosis",
        f"{'y' * 79} {'z' * 80}",
        "x" * 70_000,
    ),
    reference=lambda case: "\n".join(f"[{word}]" for word in ["", SENTENCE, *case.split()]),
    contract=DrawnCases(
        words,
        tried="strings of 0 to 70,000 characters, any characters, blanks anywhere, several copies "
        "at a time",
    ),
    bug=kinds.OUT_OF_BOUNDS,
)

REVERSALS = {
    "swaps pairs": "accepted",
    "calls itself": "accepted",
    "does nothing": "refused",
    "stops a pair early": "refused",
    "swaps each pair twice": "refused",
    "loses the middle": "refused",
    "sorts downwards": "refused",
    "counts in a byte": "refused",
    "swaps the ends alone": "refused",
    "has room for 512": "refused",
    "keeps 16 bits": "refused",
    "works once": "refused",
}

TEST_REVERSE = HostExercise(
    driver=driver("test_reverse"),
    probe="""
int try_passes(Reverse *reverse) { return passes(reverse); }
""",
    cases=tuple(REVERSALS),
    reference=lambda case: REVERSALS[case.strip()],
    contract="The test is for these twelve functions.",
)
