"""The exercises of "Pointers and memory"."""

from __future__ import annotations

import math

import numpy as np

from course_utils.exercises import Cases, HostExercise, kinds, mutant

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


def matrix(rows: int, columns: int, values: list[float], of: float = 4) -> str:
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
    return f"{n} of {n} elements lie row after row\n2 blocks of memory"


SWAPPED_SIZES = 0, 1, 2, 3, 7, 64, 100, 255, 300, 4099, 65537, 1_050_001


def swapped(case: str) -> str:
    a, b = map(int, case.split())
    lines = [f"{b} {a} d c {b / 8:g} {a / 8:g}", f"{b} 3 4", f"{a} 1 2"]
    return "\n".join([*lines, *(f"size {n}: 0 bytes are wrong" for n in SWAPPED_SIZES)])


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
    id="02.min_max",
    title="two results through pointers",
    task="""
A C function returns one value. Here it has two results, so its caller hands over the addresses of
two variables, and the function stores through them.
""",
    source="02_c_and_cpp/exercises/min_max.c",
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
    promises=Cases(
        drawn_numbers,
        large=lambda: (
            listed(range(-35_000, 35_000)),
            listed(range(35_000, -35_000, -1)),
        ),
        tried="n from 1 to 70,000, any ints",
    ),
    hints=(
        "`*low` is the variable that low points to: it can be read and assigned.",
        "Begin with x[0] in both, so that no made-up number gets in.",
        "`*low = x[0];`, and in a loop from 1: `if (x[i] < *low) *low = x[i];`",
    ),
    explanation="""
`min_max(x, n, &low, &high)` passes copies of two addresses. The copies point to the caller's
variables all the same. A kernel hands its results over in the same way: it gets the address of
the output.
""",
    mutants=(
        mutant("begins at zero", kinds.WRONG_OUTPUT, ("*low = x[0];", "*low = 0;")),
        mutant("begins at a million", kinds.WRONG_OUTPUT, ("*low = x[0];", "*low = 1000000;")),
        mutant(
            "what its caller had counts",
            kinds.WRONG_OUTPUT,
            ("*low = x[0];", "if (x[0] < *low) *low = x[0];"),
        ),
        mutant("one too many", kinds.OUT_OF_BOUNDS, ("int i = 1; i < n", "int i = 1; i <= n")),
        mutant("one result", kinds.WRONG_OUTPUT, ("if (x[i] > *high) *high = x[i];", "")),
        mutant("the pointer changed", kinds.WRONG_OUTPUT, ("*high = x[i]", "high = (int *)&x[i]")),
        mutant(
            "a number for an address",
            kinds.NULL_POINTER,
            ("*low = x[0];", "low = 0;\n*low = x[0];"),
        ),
        mutant("a pointer for a number", kinds.WRONG_OUTPUT, ("x[i] < *low", "x[i] < 0")),
        mutant(
            "kept from call to call",
            kinds.WRONG_OUTPUT,
            (
                "*low = x[0];\n    *high = x[0];",
                "static int least, most, calls;\n    if (calls++ == 0) least = most = x[0];",
            ),
            (
                "if (x[i] < *low) *low = x[i];\n        if (x[i] > *high) *high = x[i];\n    }",
                "if (x[i] < least) least = x[i];\n        if (x[i] > most) most = x[i];\n    }\n"
                "    *low = least;\n    *high = most;",
            ),
        ),
        mutant("a difference", kinds.UNDEFINED, ("x[i] < *low", "x[i] - *low < 0")),
        mutant(
            "the last one moved to the front",
            kinds.WRONG_OUTPUT,
            ("*low = x[0];", "((int *)x)[0] = x[n - 1];\n    *low = x[0];"),
        ),
        mutant(
            "done by main",
            kinds.WRONG_OUTPUT,
            ("*low = x[0];\n    *high = x[0];", "*low = *high = 0;\n    return;"),
            ('printf("%d %d\\n", low, high);', 'printf("-1 7\\n");'),
        ),
    ),
)

ROW_POINTERS = HostExercise(
    id="02.row_pointers",
    title="a pointer for each row",
    task="""
`table[row][column]` works for an `int **`: `table[row]` is a pointer to a row. Build such a table
over one block of elements, and free it.
""",
    source="02_c_and_cpp/exercises/row_pointers.c",
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
    promises=Cases(
        lambda rng: "{} {}".format(*drawn_shape(rng)),
        tried="rows and columns from 1 to 70,000, up to 100,000 elements, two tables at a time",
    ),
    hints=(
        "Two calls of malloc: `sizeof(int) * rows * columns` bytes, and `sizeof(int *) * rows`.",
        "Row `row` begins `row * columns` elements behind the first: `elements + row * columns`.",
        "table[0] is the address of the block of elements. Free it while you can still read it.",
    ),
    explanation="""
Two blocks, whatever the number of rows. One malloc a row would do as well, but then the rows lie
anywhere, and no single copy moves the matrix to a GPU. Kernels take the one block and compute the
index themselves. (`sizeof` comes first in the product: from there on it is computed in a size_t,
and cannot overflow as `rows * columns` in ints could.)
""",
    mutants=(
        mutant("elements kept", kinds.MEMORY_LEAK, ("free(table[0]);", "")),
        mutant("pointers kept", kinds.MEMORY_LEAK, ("free(table);", "")),
        mutant(
            "pointers freed first",
            kinds.USE_AFTER_FREE,
            ("free(table[0]);\n    free(table);", "free(table);\n    free(table[0]);"),
        ),
        mutant(
            "bytes, not elements",
            kinds.OUT_OF_BOUNDS,
            ("sizeof *elements * rows * columns", "rows * columns"),
        ),
        mutant(
            "room for ints", kinds.OUT_OF_BOUNDS, ("sizeof *table * rows", "sizeof(int) * rows")
        ),
        mutant(
            "room for a thousand",
            kinds.OUT_OF_BOUNDS,
            ("sizeof *elements * rows * columns", "sizeof *elements * 1000"),
        ),
        mutant("rows overlap", kinds.WRONG_OUTPUT, ("row * columns;", "row;")),
        mutant(
            "one block for both",
            kinds.WRONG_OUTPUT,
            (
                "int *elements = malloc(sizeof *elements * rows * columns);\n"
                "    int **table = malloc(sizeof *table * rows);",
                "int **table = malloc(sizeof *table * rows + sizeof(int) * rows * columns);\n"
                "    int *elements = (int *)(table + rows);",
            ),
            ("free(table[0]);\n", ""),
        ),
        mutant(
            "no allocation",
            kinds.WRONG_OUTPUT,
            (
                "int *elements = malloc(sizeof *elements * rows * columns);",
                "static int elements[100000];",
            ),
            ("free(table[0]);\n", ""),
        ),
        mutant(
            "rows and columns", kinds.OUT_OF_BOUNDS, ("row * columns;", "row * rows + columns;")
        ),
    ),
)

APPEND = HostExercise(
    id="02.append",
    title="an array that grows",
    task="""
Write what is behind Python's `append`: a block that moves to a larger place when it is full. The
function changes three variables of its caller, and one of them is a pointer.
""",
    source="02_c_and_cpp/exercises/append.c",
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
    promises=Cases(
        lambda rng: " ".join(map(str, small_or_any(rng, some_length(rng, least=0)))),
        large=lambda: (" ".join(map(str, range(70_000))),),
        tried="up to 70,000 values, when realloc is asked for which room, and two arrays in turns, "
        "one of which came with room for 3",
    ),
    hints=(
        "`*values` is the caller's pointer, `(*values)[i]` an element of its array.",
        "The room doubles: `*capacity > 0 ? 2 * *capacity : 1`; realloc counts bytes: multiply by "
        "`sizeof **values`.",
        "`*values = realloc(*values, …);` stores the new place where the caller will find it.",
        "`(*values)[*count] = value; *count += 1;`",
    ),
    explanation="""
An `int **` because the function changes an `int *`; cudaMalloc takes a `void **` for the same
reason. Since the room doubles, n appends copy fewer than 2 n elements in all. (Where there is no
memory left, realloc returns NULL and keeps the old block. A program that must survive that stores
the result in a variable of its own first: `*values = realloc(*values, …)` would lose the block.)
""",
    mutants=(
        mutant(
            "new place forgotten",
            kinds.USE_AFTER_FREE,
            ("*values = realloc(*values,", "int *moved = realloc(*values,"),
            (
                "sizeof **values);\n",
                "sizeof **values);\n        if (*values == NULL) *values = moved;\n",
            ),
        ),
        mutant("bytes, not elements", kinds.OUT_OF_BOUNDS, (" * sizeof **values", "")),
        mutant(
            "room for a thousand",
            kinds.WRONG_OUTPUT,
            ("*capacity * sizeof **values", "1000 * sizeof **values"),
        ),
        mutant("by way of a float", kinds.WRONG_OUTPUT, ("= value;", "= (int)(0.5f * value) * 2;")),
        mutant("never counted", kinds.WRONG_OUTPUT, ("*count += 1;", "")),
        mutant("the pointer counted", kinds.WRONG_OUTPUT, ("*count += 1;", "count += 1;")),
        mutant("one more each time", kinds.WRONG_OUTPUT, ("2 * *capacity", "1 + *capacity")),
        mutant(
            "asked each time",
            kinds.WRONG_OUTPUT,
            (
                "    }\n    (*values)[*count] = value;",
                "    }\n    *values = realloc(*values, *capacity * sizeof **values);\n"
                "    (*values)[*count] = value;",
            ),
        ),
        mutant(
            "full too late",
            kinds.OUT_OF_BOUNDS,
            ("*count == *capacity", "*count > *capacity || !*values"),
        ),
        mutant(
            "all afresh",
            kinds.MEMORY_LEAK,
            (
                "realloc(*values, *capacity * sizeof **values)",
                "malloc(*capacity * sizeof **values)",
            ),
        ),
    ),
)

LAST_POSITIVE = HostExercise(
    id="02.last_positive",
    title="backwards with a size_t",
    task="""
Find the last number above 0. The loop runs backwards, and its counter cannot go below zero.
""",
    source="02_c_and_cpp/exercises/last_positive.c",
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
    promises=Cases(
        mostly_negative,
        large=lambda: (
            listed([1] * 70_000),
            listed([1] + [0] * 69_999),
            listed([0] * 70_000),
            listed([-1] * 40_000 + [5] + [-1] * 29_999),
        ),
        tried="n from 0 to 70,000, any ints, and that a walk from the end reads no further (what "
        "lies more than 32 numbers before the one it looks for)",
    ),
    hints=(
        "`i >= 0` is always true for a size_t: below 0 comes the largest number there is.",
        "Let i count how many elements are left, from n down to 1; the element is then x[i - 1].",
        "`for (size_t i = n; i > 0; --i)` and inside `if (x[i - 1] > 0) return i - 1;`",
    ),
    explanation="""
The counter says how many elements are left and not which one is next, so it stops at 0 and never
has to go below. With n = 0 the loop does not run at all. An `int i` may go below 0 and passes here:
it breaks where n is more than an int holds, which no test with a small array can show.
""",
    mutants=(
        mutant("one too far", kinds.OUT_OF_BOUNDS, ("if (x[i - 1] > 0)", "if (x[i] > 0)")),
        mutant("zero counts", kinds.WRONG_OUTPUT, ("x[i - 1] > 0", "x[i - 1] >= 0")),
        mutant("off by one", kinds.WRONG_OUTPUT, ("return i - 1;", "return i;")),
        mutant("first one missed", kinds.WRONG_OUTPUT, ("i > 0; --i", "i > 1; --i")),
        mutant("in 16 bits", kinds.WRONG_OUTPUT, ("x[i - 1] > 0", "x[i - 1] % 65536 > 0")),
        mutant(
            "forwards",
            kinds.WRONG_OUTPUT,
            (
                "for (size_t i = n; i > 0; --i) {\n        if (x[i - 1] > 0) return i - 1;\n    }",
                "size_t last = n;\n    for (size_t i = 0; i < n; ++i) {\n"
                "        if (x[i] > 0) last = i;\n    }\n    return last;",
            ),
        ),
        mutant(
            "forwards where it is short",
            kinds.WRONG_OUTPUT,
            (
                "for (size_t i = n; i > 0; --i) {",
                "size_t last = n;\n    for (size_t i = 0; i < n && n <= 1000; ++i) {\n"
                "        if (x[i] > 0) last = i;\n    }\n    if (n <= 1000) return last;\n"
                "    for (size_t i = n; i > 0; --i) {",
            ),
        ),
        mutant(
            "the number is rubbed out",
            kinds.WRONG_OUTPUT,
            (
                "if (x[i - 1] > 0) return i - 1;",
                "if (x[i - 1] > 0) return ((int *)x)[i - 1] = 0, i - 1;",
            ),
        ),
        mutant(
            "small ones and the largest",
            kinds.WRONG_OUTPUT,
            ("x[i - 1] > 0", "x[i - 1] > 0 && (x[i - 1] < 1 << 26 || x[i - 1] == 2147483647)"),
        ),
        mutant(
            "an index of 16 bits", kinds.WRONG_OUTPUT, ("size_t i = n;", "unsigned short i = n;")
        ),
        mutant(
            "never below zero",
            kinds.OUT_OF_BOUNDS,
            ("size_t i = n; i > 0; --i", "size_t i = n - 1; i + 1 > 0 || 1; --i"),
            ("if (x[i - 1] > 0) return i - 1;", "if (x[i] > 0) return i;"),
        ),
    ),
)

COLUMN_SUMS = HostExercise(
    id="02.column_sums",
    title="columns of a row-major matrix",
    task="""
A matrix is a pointer and two sizes. Add up its columns; the formula for element (i, j) is all you
need.
""",
    source="02_c_and_cpp/exercises/column_sums.c",
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
    ),
    reference=column_sums,
    promises=Cases(
        drawn_matrix,
        large=lambda: (
            matrix(69_999, 1, [i % 23 - 11 for i in range(69_999)]),
            matrix(1, 69_999, [i % 29 - 14 for i in range(69_999)]),
            matrix(300, 301, [i % 31 - 15 for i in range(300 * 301)]),
        ),
        tried="rows and columns from 0 to 70,000, numbers from 1e-30 to 1e30, infinities and nan",
    ),
    hints=(
        "Element (i, j) is A[i * columns + j].",
        "sums comes with anything in it, so set it to 0.0f first.",
        "Two loops, and inside `sums[j] += A[i * columns + j];`",
    ),
    explanation="""
With j in the inner loop A is read from its first element to its last. The other order gives the
same sums and jumps a whole row with each read; chapter 06 shows what that costs.
""",
    mutants=(
        mutant("cleared by a product", kinds.WRONG_OUTPUT, ("sums[j] = 0.0f", "sums[j] *= 0.0f")),
        mutant("column-major", kinds.WRONG_OUTPUT, ("A[i * columns + j]", "A[j * rows + i]")),
        mutant("rows as the stride", kinds.WRONG_OUTPUT, ("A[i * columns + j]", "A[i * rows + j]")),
        mutant("never set to zero", kinds.WRONG_OUTPUT, ("sums[j] = 0.0f;", "(void)j;")),
        mutant(
            "a list of 256", kinds.WRONG_OUTPUT, ("i < rows; ++i", "i < rows && columns < 256; ++i")
        ),
        mutant("last row only", kinds.WRONG_OUTPUT, ("sums[j] +=", "sums[j] =")),
        mutant("a row too many", kinds.OUT_OF_BOUNDS, ("i < rows; ++i", "i <= rows; ++i")),
        mutant(
            "set to zero by main",
            kinds.WRONG_OUTPUT,
            ("for (size_t j = 0; j < columns; ++j) sums[j] = 0.0f;\n", ""),
            ("sums[j] = -7.0f;", "sums[j] = 0.0f;"),
        ),
        mutant(
            "sums kept from call to call",
            kinds.WRONG_OUTPUT,
            ("sums[j] = 0.0f;", "sums[j] = 0.0f;\n    static float kept[70000];"),
            ("sums[j] += A", "sums[j] = kept[j] += A"),
        ),
        mutant(
            "in quarters",
            kinds.WRONG_OUTPUT,
            ("sums[j] += A[i * columns + j];", "sums[j] += (int)(4 * A[i * columns + j]) / 4.0f;"),
        ),
        mutant(
            "in fixed point",
            kinds.WRONG_OUTPUT,
            (
                "sums[j] += A[i * columns + j];",
                "sums[j] += rintf(4096 * A[i * columns + j]) / 4096;",
            ),
            ("#include <stdio.h>", "#include <math.h>\n#include <stdio.h>"),
        ),
        mutant(
            "no nan",
            kinds.WRONG_OUTPUT,
            (
                "sums[j] += A[i * columns + j];",
                "{\n            const float x = A[i * columns + j];\n"
                "            if (x == x) sums[j] += x;\n        }",
            ),
        ),
        mutant(
            "nothing infinite",
            kinds.WRONG_OUTPUT,
            (
                "sums[j] += A[i * columns + j];",
                "{\n            const float x = A[i * columns + j];\n"
                "            if (x - x == 0 || x != x) sums[j] += x;\n        }",
            ),
        ),
        mutant("row sums", kinds.WRONG_OUTPUT, ("sums[j] += A", "sums[i % columns] += A")),
    ),
)

SWAP_ANY = HostExercise(
    id="02.swap_any",
    title="two things of any type",
    task="""
`void *` takes any address, and knows neither the type nor the size. Swap two things whose size
you are told.
""",
    source="02_c_and_cpp/exercises/swap_any.c",
    driver=driver("swap_any"),
    probe="""
void try_swap_any(void *a, void *b, size_t size) { swap_any(a, b, size); }
""",
    cases=("1 2", "-5 70000", "0 0"),
    reference=swapped,
    promises=Cases(
        lambda rng: " ".join(map(str, whole(rng, 2, -100_000, 100_000))),
        tried="sizes from 0 to 1,050,001 bytes, every byte, odd addresses, a thing with itself",
    ),
    hints=(
        "A `void *` can be neither followed nor indexed. Assign it to an `unsigned char *` first.",
        "`unsigned char *x = a, *y = b;`, and then a loop over the bytes.",
        "Keep x[i] in a variable, store y[i] in x[i], and the variable in y[i].",
    ),
    explanation="""
Every object is a row of bytes, and an `unsigned char *` may look at those of any. memcpy and
cudaMemcpy take `void *` for the same reason: they move bytes and need no type.
""",
    mutants=(
        mutant(
            "a byte of nothing",
            kinds.WRONG_OUTPUT,
            ("for (size_t i = 0; i < size; ++i)", "for (size_t i = 0; i == 0 || i < size; ++i)"),
        ),
        mutant("the first byte", kinds.WRONG_OUTPUT, ("i < size; ++i", "i < 1; ++i")),
        mutant("a buffer of 64", kinds.WRONG_OUTPUT, ("i < size; ++i", "i < size && i < 64; ++i")),
        mutant(
            "first and last",
            kinds.WRONG_OUTPUT,
            ("++i) {", "i += 1 + (size > 100) * (size - 2)) {"),
        ),
        mutant("one too many", kinds.OUT_OF_BOUNDS, ("i < size; ++i", "i <= size; ++i")),
        mutant("the pointers swapped", kinds.WRONG_OUTPUT, ("x[i] = y[i];\n", "")),
        mutant("sums", kinds.WRONG_OUTPUT, ("y[i] = byte", "y[i] = byte ^ y[i] ^ x[i] ^ 1")),
        mutant(
            "ints only",
            kinds.OUT_OF_BOUNDS,
            ("unsigned char *x = a, *y = b", "int *x = a, *y = b"),
            ("const unsigned char byte", "const int byte"),
        ),
        mutant("a void read", kinds.COMPILE_ERROR, ("byte = x[i]", "byte = a[i]")),
    ),
)

COPY_TEXT = HostExercise(
    id="02.copy_text",
    title="find the bug: a copy",
    task="""
This function copies a text into memory of its own. It prints the right words on many machines,
and it is wrong. Run it first, and read the verdict.
""",
    source="02_c_and_cpp/exercises/copy_text.c",
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
    promises=Cases(
        words,
        tried="texts of 0 to 70,000 characters, any characters, blanks anywhere, several copies at "
        "a time",
    ),
    bug=kinds.OUT_OF_BOUNDS,
    hints=(
        "How many bytes does the text `a` take in memory, and how many does strlen count?",
        "strcpy copies up to the zero at the end, and the zero itself.",
        "`malloc(strlen(text) + 1)`",
    ),
    explanation="""
A text of n characters takes n + 1 bytes. Without the sanitizer the zero lands behind the block,
where malloc often leaves a few bytes free: the bug waits for the text that just fills them.
""",
    mutants=(
        mutant("room for a pointer", kinds.OUT_OF_BOUNDS, ("strlen(text) + 1", "sizeof text")),
        mutant(
            "one in the wrong place", kinds.OUT_OF_BOUNDS, ("strlen(text) + 1", "strlen(text + 1)")
        ),
        mutant(
            "a second block",
            kinds.MEMORY_LEAK,
            ("strcpy(copy, text);", "copy = malloc(strlen(text) + 1);\n    strcpy(copy, text);"),
        ),
        mutant(
            "no byte for an empty text",
            kinds.WRONG_OUTPUT,
            ("strlen(text) + 1", "*text ? strlen(text) + 1 : 0"),
        ),
        mutant(
            "an empty text from calloc",
            kinds.WRONG_OUTPUT,
            ("char *copy = malloc", "if (!*text) return calloc(1, 0);\n    char *copy = malloc"),
        ),
        mutant("room for 80", kinds.OUT_OF_BOUNDS, ("strlen(text) + 1", "80")),
        mutant(
            "freed too early",
            kinds.USE_AFTER_FREE,
            ("return copy;", "free(copy);\n    return copy;"),
        ),
        mutant(
            "up to the first letter that is no ASCII",
            kinds.WRONG_OUTPUT,
            (
                "strcpy(copy, text);",
                "size_t i = 0;\n    for (; text[i] > 0; ++i) copy[i] = text[i];\n    copy[i] = 0;",
            ),
        ),
        mutant(
            "without the blanks at its end",
            kinds.WRONG_OUTPUT,
            (
                "strcpy(copy, text);",
                "size_t end = strlen(text);\n    while (end > 0 && text[end - 1] == ' ') --end;\n"
                "    memcpy(copy, text, end);\n    copy[end] = 0;",
            ),
        ),
        mutant(
            "no control characters",
            kinds.WRONG_OUTPUT,
            (
                "strcpy(copy, text);",
                "strcpy(copy, text);\n    for (char *c = copy; *c; ++c) {\n"
                "        if (*c == '\\r' || *c == 7) *c = ' ';\n    }",
            ),
        ),
        mutant("no copy", kinds.WRONG_OUTPUT, ("strcpy(copy, text);", 'strcpy(copy, "");')),
    ),
)
