"""The exercises of "Small and skinny products"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Given, Values

from .common import ORDINARY, chosen, product_of_rows, strange


def time_of(slices: int, tiles: int, steps: int, slots: int) -> int:
    """What the task says that a number of slices takes, in steps along K."""
    waves = -(-tiles * slices // slots)
    return waves * (-(-steps // slices) + 4) + (slices if slices > 1 else 0)


def how_many_slices(tiles: int, steps: int, slots: int) -> int:
    """The number of slices with the least time."""
    return min(range(1, steps + 1), key=lambda s: time_of(s, tiles, steps, slots))


def few_tiles(rng: np.random.Generator) -> tuple[int, int, int]:
    """Few tiles or more than fit, and a K from one step to many."""
    return (
        int(rng.integers(1, 400)),
        int(rng.integers(1, 600)),
        int(rng.choice([20, 132, 264, 528])),
    )


HOW_MANY_SLICES = PythonExercise(
    id="06.how_many_slices",
    title="choose the split",
    task="""
More slices give every multiprocessor work, and more partial sums to add up. Write the function that
chooses: of all numbers of slices the one that takes the least time.
`how_many_slices(16, 1024, 528)` is 32.
""",
    source="06_matmul_and_fft/exercises/how_many_slices.py",
    function="how_many_slices",
    cases=(
        (16, 1024, 528),
        (1, 1, 132),
        (1, 512, 132),
        (128, 64, 132),
        (100, 64, 132),
        (133, 256, 132),
        (512, 256, 132),
        (7, 3, 20),
        (199, 5, 528),  # 2 slices are as good as 1, if 1 were to pay for a second pass
        (1, 9000, 132),
        (1, 300_000, 100_000),
    ),
    reference=how_many_slices,
    promises=Cases(few_tiles),
    means="Any way to the right number is a good one.",
    hints=(
        "How many blocks are there with s slices, and how many waves of `slots` are that?",
        "Rounded up: `-(-tiles * s // slots)` waves, `-(-steps // s)` steps for a block.",
        "`min(range(1, steps + 1), key=time)` gives the first of the smallest.",
    ),
    explanation="""
16 tiles fill 528 slots with 33 slices, which take 32 steps each; 32 slices take 32 steps, too, and
make less to add up. The 4 and the s stand for what a block and a second pass cost; without them
the model would split as far as it goes. On a GPU you would measure them. Look at 133 tiles on 132
slots: whatever fits evenly into the waves beats a second wave with one tile in it.
""",
    mutants=(
        mutant(
            "rounds waves down",
            kinds.WRONG,
            ("-(-tiles * s // slots)", "tiles * s // slots + 0"),
        ),
        mutant(
            "as many as fit",
            kinds.WRONG,
            ("min(range(1, steps + 1), key=time)", "max(1, min(steps, slots // tiles))"),
        ),
        mutant("no second pass", kinds.WRONG, (" + (s if s > 1 else 0)", "")),
        mutant("a second pass for one slice", kinds.WRONG, ("(s if s > 1 else 0)", "s")),
        mutant("no beginning and end", kinds.WRONG, (" + 4)", " + 0)")),
        mutant("never all steps", kinds.EXCEPTION, ("range(1, steps + 1)", "range(1, steps)")),
        mutant(
            "powers of two alone",
            kinds.WRONG,
            ("range(1, steps + 1)", "[2**i for i in range(11) if 2**i <= steps]"),
        ),
        mutant(
            "64 slices at most",
            kinds.WRONG,
            ("range(1, steps + 1)", "range(1, min(steps, 64) + 1)"),
        ),
        mutant(
            "the time itself",
            kinds.WRONG,
            ("min(range(1, steps + 1), key=time)", "min(map(time, range(1, steps + 1)))"),
        ),
    ),
)


def to_finish(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """Slices of partial sums, what C held before, and a bias."""
    slices, m, n = size
    return {
        "sums": floats(rng, (slices, m, n)),
        "C": floats(rng, (m, n)),
        "bias": floats(rng, n),
        "alpha": np.float32(rng.uniform(0.5, 2.0)),
        "beta": np.float32(0 if size == WITHOUT_C else rng.uniform(1.5, 2.0)),
        "slices": np.int32(slices),
        "M": np.int32(m),
        "N": np.int32(n),
    }


def cancelling(sums: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The second slice takes back the first, next to which the others are rounding: their sum is
    exact in the order of the slices, and lost in another."""
    if len(sums) < 3:
        return sums
    large = 2.0**27 * rng.choice((-1, 1), sums.shape[1:])
    return np.stack([large, -large, *sums[2:]])


def finished(given: Given) -> dict:
    """alpha P + beta C + bias in float64, an eighth of it where it is negative."""
    value = float(given["alpha"]) * given["sums"].astype(np.float64).sum(axis=0) + given["bias"]
    if given["beta"] != 0:
        value += float(given["beta"]) * given["C"]
    return {"C": np.where(value < 0, value / 8, value)}


NAN_IN_C = Values(
    "beta = 0, C all NaN", lambda given, rng: {"beta": 0, "C": np.full_like(given["C"], np.nan)}
)
NOTHING_IN_C = Values(
    "beta = 0, C never written", lambda given, rng: {"beta": 0, "C": empty(given["C"].shape)}
)
INF_IN_C = Values(
    "beta = 0, C all infinite",
    lambda given, rng: {"beta": 0, "C": np.full_like(given["C"], np.inf)},
)
FIVE_SLICES = 5, 16, 48
WITHOUT_C = 5, 16, 47  # beta is 0

SECOND_PASS = Exercise(
    id="06.second_pass",
    title="the second pass, with all that is left to do",
    task="""
The slices of a split product lie one after the other. Add them up in their order, and do the rest
while the sum is in a register: scale it, add beta C and the bias, and divide what is negative by 8
(a leaky ReLU). Any number of slices, any M and N; where beta is 0, C may hold anything, and is not
read.
""",
    source="06_matmul_and_fft/exercises/second_pass.cu",
    kernel="second_pass",
    inputs=to_finish,
    reference=finished,
    launch=lambda size: Launch((-(-size[1] * size[2] // 256),), (256,)),
    small=((5, 19, 33), (2, 4, 64), (1, 5, 7), (1, 1, 1)),
    full=(8, 1024, 4096),
    reduction=lambda size: size[0],
    promises=Promises(
        sizes=chosen(
            *((1, 1, 1), (2, 1, 1), (3, 2, 5), (5, 16, 16), (1, 17, 31), (33, 3, 7), (2, 1, 257)),
            *((2, 257, 1), (7, 13, 61), (301, 1, 3), (2, 32771, 1), (1, 3, 32771)),
            names=("slices", "M", "N"),
        ),
        values=(
            promises.data(
                "sums", *ORDINARY, promises.LARGE, ("that cancel in their order", cancelling)
            ),
            (
                *promises.scalars("beta", 0, 1, -1.5),
                *promises.data("C", promises.LARGE, promises.FAINT, promises.SOME_INFINITE)[1:],
                NAN_IN_C,
                INF_IN_C,
                NOTHING_IN_C,
            ),
            promises.scalars("alpha", 0, 1, -2),
            promises.data("bias", promises.NEGATIVE, promises.POSITIVE, promises.LARGE),
        ),
    ),
    means=(
        means.one_store_each(),
        means.atomics(
            "global",
            at_most=0,
            advice="Atomics add up in the order in which threads come. A thread that has its "
            "element of all slices needs none.",
            size=FIVE_SLICES,
        ),
        means.work_shared_out(1.5, size=FIVE_SLICES),
        Means(
            "bytes read from sums, over its size",
            lambda work: _read(work, "sums") / (4 * 5 * 16 * 48),
            at_most=1.0,
            advice="Each partial sum is needed once.",
            size=FIVE_SLICES,
        ),
        Means(
            "bytes read from C, over its size",
            lambda work: _read(work, "C") / (4 * 16 * 48),
            at_most=1.0,
            advice="C is read once, before its new value is stored.",
            size=FIVE_SLICES,
        ),
        Means(
            "bytes read from C where beta is 0",
            lambda work: _read(work, "C"),
            at_most=0,
            advice="Where beta is 0, C is not read: put the load behind the test.",
            size=WITHOUT_C,
        ),
    ),
    within=2.0,
    hints=(
        "`if (i >= M * N) return;`, then a loop over the slices: slice s begins at s M N.",
        "The bias of element i is that of its column, `bias[i % N]`.",
        "0 times NaN is NaN. So it takes a branch: `if (beta != 0.0f) value += beta * C[i];`",
        "`C[i] = value < 0.0f ? value / 8 : value;`",
    ),
    explanation="""
One thread adds up an element in one order, so the sum has the same bits in every run. With beta = 0
the convention of BLAS is that C is not read, and callers rely on it: they hand over memory that
nobody has written yet. Whatever is done here costs no more than its own bytes, since the sum is in
a register already; a kernel of its own would read and write all of C once more.
""",
    mutants=(
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("    if (i >= elements) return;\n", "")),
        mutant("C is always read", kinds.MEANS_MISSING, ("if (beta != 0.0f) value", "value")),
        mutant(
            "C is read in any case",
            kinds.MEANS_MISSING,
            ("if (beta != 0.0f) value", "if (beta != 0.0f || C[i] == 1.5f) value"),
        ),
        mutant(
            "C is read for nothing",
            kinds.MEANS_MISSING,
            (
                "if (beta != 0.0f) value += beta * C[i]",
                "const float old = beta * ((volatile float*)C)[i];\n"
                "    value += beta != 0.0f ? old : 0.0f",
            ),
        ),
        mutant(
            "C no larger than 1e30",
            kinds.WRONG,
            ("beta * C[i]", "fminf(fmaxf(beta * C[i], -1e30f), 1e30f)"),
        ),
        mutant(
            "the last slice first",
            kinds.WRONG,
            (
                "int slice = 0; slice < slices; ++slice",
                "int slice = slices - 1; slice >= 0; --slice",
            ),
        ),
        mutant(
            "a sum of its own for every other slice",
            kinds.WRONG,
            ("float sum = 0.0f;", "float sum = 0.0f, odd = 0.0f;"),
            ("        sum +=", "        (slice % 2 ? odd : sum) +="),
            ("alpha * sum", "alpha * (sum + odd)"),
        ),
        mutant("the first slice alone", kinds.WRONG, ("slice < slices", "slice < 1")),
        mutant("the last slice missed", kinds.WRONG, ("slice < slices", "slice < slices - 1")),
        mutant("a bias for each row", kinds.WRONG, ("bias[i % N]", "bias[i / N]")),
        mutant(
            "alpha for all",
            kinds.WRONG,
            ("alpha * sum + bias[i % N]", "alpha * (sum + bias[i % N])"),
        ),
        mutant("alpha forgotten", kinds.WRONG, ("alpha * sum", "sum")),
        mutant("beta forgotten", kinds.WRONG, ("value += beta * C[i]", "value += C[i]")),
        mutant(
            "the ReLU too early",
            kinds.WRONG,
            (
                "float value = alpha * sum + bias[i % N];",
                "float value = alpha * sum; value /= value < 0 ? 8 : 1; value += bias[i % N];",
            ),
        ),
        mutant("no ReLU", kinds.WRONG, ("value < 0.0f ? value / 8 : value", "value")),
        mutant("the ReLU of all", kinds.WRONG, ("value < 0.0f ? value / 8 : value", "value / 8")),
        mutant(
            "by atomics",
            kinds.MEANS_MISSING,
            ("    C[i] = value <", "    C[i] = 0.0f;\n    const float result = value <"),
            ("value / 8 : value;", "value / 8 : value;\n    atomicAdd(&C[i], result);"),
        ),
        mutant(
            "by way of C",
            kinds.MEANS_MISSING,
            (
                "    C[i] = value <",
                "    C[i] = value;\n    value = ((volatile float*)C)[i];\n    C[i] = value <",
            ),
        ),
    ),
)


def _read(work, array: str) -> int:
    """Bytes that all threads read from an array."""
    return sum(launch.work.loaded_from.get(array, 0) for launch in work.launches)


def band_order(number: int, tiles_m: int, tiles_n: int, band: int) -> tuple[int, int]:
    """The tile of a block."""
    head = number // (band * tiles_n) * band
    inside = number - head * tiles_n
    column, row = divmod(inside, min(band, tiles_m - head))
    return head + row, column


def any_tile(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """A block of any grid; the rows are seldom a multiple of the band."""
    tiles_m, tiles_n, band = (int(rng.integers(1, most)) for most in (40, 40, 20))
    return int(rng.integers(tiles_m * tiles_n)), tiles_m, tiles_n, band


BAND_ORDER = PythonExercise(
    id="06.band_order",
    title="tiles in bands",
    task="""
Blocks start in the order of their numbers, about as many at a time as there are multiprocessors.
Which tiles those have decides how much of A and B they need together. Write the order that visits
`band` rows of tiles together: `band_order(5, 8, 10, 4)` is `(1, 1)`, `band_order(40, 8, 10, 4)` is
`(4, 0)`. The numbers may be large: nobody counts through the tiles or the bands.
""",
    source="06_matmul_and_fft/exercises/band_order.py",
    function="band_order",
    cases=(
        (5, 8, 10, 4),
        (40, 8, 10, 4),
        (79, 8, 10, 4),
        (0, 1, 1, 1),
        (17, 5, 7, 1),
        (17, 5, 7, 5),
        (33, 5, 7, 2),
        (30, 5, 7, 4),
        (11, 3, 4, 16),
        (2**55 * 7 - 1, 2**40, 2**20, 7),
        (2**55 * 7 - 1, 2**40, 2**20, 2**30 + 3),
    ),
    reference=band_order,
    promises=Cases(any_tile),
    means="Any arithmetic that gives the order will do.",
    hints=(
        "A band has `band * tiles_n` tiles: which band is the block in, and how far into it?",
        "The last band has `tiles_m - first` rows where those are fewer than `band`.",
        "Down the columns: row `inside % height`, column `inside // height`.",
    ),
    explanation="""
A band of 1 is the order row by row, one of all rows column by column. In between, the tiles that
run at a time form a block that is nearly square, and a square has the fewest rows and columns for
its area. It is the argument for tiles themselves, one level up: this time the cache is L2.
""",
    mutants=(
        mutant(
            "bands of 64 at most",
            kinds.WRONG,
            ("    first =", "    band = min(band, 64)\n    first ="),
        ),
        mutant(
            "the last band like the others",
            kinds.WRONG,
            ("min(band, tiles_m - first)", "band"),
        ),
        mutant(
            "along the rows",
            kinds.WRONG,
            (
                "first + inside % height, inside // height",
                "first + inside // tiles_n, inside % tiles_n",
            ),
        ),
        mutant(
            "by way of a float",
            kinds.WRONG,
            (
                "first = number // (band * tiles_n) * band",
                "first = int(number / (band * tiles_n)) * band",
            ),
        ),
        mutant("inside the band alone", kinds.WRONG, ("return first + inside", "return inside")),
        mutant(
            "columns and rows swapped",
            kinds.WRONG,
            (
                "return first + inside % height, inside // height",
                "return inside // height, first + inside % height",
            ),
        ),
        mutant(
            "bands of rows of M",
            kinds.EXCEPTION,
            ("(band * tiles_n) * band", "(band * tiles_m) * band"),
        ),
    ),
)


def few_rows(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K), B (N x K) and room for C (M x N)."""
    m, n, k = size
    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {"A": floats(rng, (m, k)), "B": floats(rng, (n, k)), "C": empty((m, n))} | sizes


ONE_READ = 4, 16, 96

ROWS_AT_ONCE = Exercise(
    id="06.rows_at_once",
    title="B once for all rows",
    task="""
C = A Bᵀ for up to eight rows of A, a warp for each row of B. The kernel is right, and as slow as
M products with a vector: it reads B once for each row of A. Let it read B once. Any M from 1 to 8,
any N and K.
""",
    source="06_matmul_and_fft/exercises/rows_at_once.cu",
    kernel="rows_at_once",
    inputs=few_rows,
    reference=product_of_rows,
    launch=lambda size: Launch((-(-size[1] // 4),), (128,)),
    small=((4, 9, 70), (8, 4, 64), (3, 7, 33), (1, 1, 1)),
    full=(8, 8192, 8192),
    reduction=lambda size: size[2],
    promises=Promises(
        sizes=chosen(
            *((1, 1, 1), (2, 3, 31), (8, 5, 32), (5, 4, 33), (7, 17, 65), (6, 1, 300), (3, 9, 2)),
            *((1, 33, 5), (8, 2, 1025), (8, 8200, 3), (1, 1025, 65), (1, 1, 4099)),
        ),
        values=(
            (
                *promises.data("A", *ORDINARY, promises.LARGE),
                *strange("A", 1),
                promises.zero_times_infinity_along("B", -1, "A", -1),
            ),
            (
                *promises.data("B", *ORDINARY, promises.FAINT),
                *strange("B", 1),
                promises.zero_times_infinity_along("A", -1, "B", -1),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(2.0, size=ONE_READ),
        means.no_local_memory(
            "Eight sums want eight registers: let the loops over m have a constant number of turns "
            "each, and unroll them.",
            size=ONE_READ,
        ),
        means.reads(
            "A",
            4 * 4 * 96,
            16 * 4 * 8 * 96,
            advice="Each row of B meets each row of A once, and room for eight rows is no reason "
            "to read more.",
            size=ONE_READ,
        ),
        means.reads(
            "B",
            0,
            16 * 96 * 4,
            advice="The result is right, but B is read anew for each row of A. Keep the number of "
            "B in a register, and a sum for each row.",
            size=ONE_READ,
        ),
        Means(
            "bytes of the sectors that loads touch, over the bytes that they load",
            lambda work: 32 * work.counts.global_load_sectors / work.counts.global_load_bytes,
            at_most=1.5,
            advice="Lanes side by side load neighbours of a row.",
            size=ONE_READ,
        ),
    ),
    within=2.0,
    hints=(
        "The loop over k goes outside, the one over m inside: what is loaded of B serves all m.",
        "A sum for each row: `float sum[kMost] = {};`. Loops over m from 0 to kMost, which is a "
        "constant, with `if (m < M)` inside, can be unrolled; one to M cannot.",
        "After the loop over k each of the sums goes through the same five shuffles.",
    ),
    explanation="""
B is what has to be read, and it is read once. The more rows share a load, the more FMAs there are
for each byte; how many of them are nearly free is what the records below this exercise show. (A is
read again by each warp, but it is small and comes from the caches; the course's kernel puts it into
shared memory.)
""",
    mutants=(
        mutant(
            "zeros of B left out",
            kinds.WRONG,
            ("if (m < M) sum[m] +=", "if (m < M && b != 0.0f) sum[m] +="),
        ),
        mutant(
            "B once for each row",
            kinds.MEANS_MISSING,
            ("        const float b = row[k];\n", ""),
            ("* b;", "* ((const volatile float*)row)[k];"),
        ),
        mutant("one row too many", kinds.OUT_OF_BOUNDS, ("if (m < M) sum", "if (m <= M) sum")),
        mutant("seven rows at most", kinds.EDGES, ("kMost = 8", "kMost = 7")),
        mutant("one sum for all", kinds.WRONG, ("sum[m] += A", "sum[0] += A")),
        mutant("the first row for all", kinds.FIRST_BLOCK, ("A[(size_t)m * K + k]", "A[k]")),
        mutant(
            "a loop of unknown length",
            kinds.MEANS_MISSING,
            (
                "#pragma unroll\n        for (int m = 0; m < kMost; ++m) {\n"
                "            if (m < M) sum",
                "#pragma unroll 1\n        for (int m = 0; m < M; ++m) {\n            sum",
            ),
        ),
        mutant(
            "C in 16 bits",
            kinds.DATA_RACE,
            ("C[(size_t)m * N + column]", "C[(unsigned short)(m * N + column)]"),
        ),
        mutant("no shuffles", kinds.WRONG, ("distance = 16", "distance = 0")),
        mutant(
            "zeros left out",
            kinds.WRONG,
            ("if (m < M) sum", "if (m < M && b != 0.0f && A[(size_t)m * K + k] != 0.0f) sum"),
        ),
        mutant("past the last column", kinds.OUT_OF_BOUNDS, ("column >= N", "column > N")),
        mutant(
            "C transposed",
            kinds.TRANSPOSED,
            ("C[(size_t)m * N + column]", "C[(size_t)column * M + m]"),
        ),
        mutant(
            "whole warps of K alone",
            kinds.WRONG,
            ("k = lane; k < K;", "k = lane; k < K / 32 * 32;"),
        ),
    ),
)
