"""The exercises of "Tensor cores by layout"."""

from __future__ import annotations

from math import prod

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    kinds,
    means,
    mutant,
    promises,
)

FOLDER = "08_cute_tma_blackwell/exercises"

# --- Which thread holds a sum? ---


def any_place(rng: np.random.Generator) -> tuple:
    warps = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    return int(rng.integers(0, 16 * warps[0])), int(rng.integers(0, 16 * warps[1])), *warps


def from_table(row: int, column: int, warps_m: int, warps_n: int) -> tuple[int, int]:
    """Looked up among all elements that each thread holds."""
    for warp in range(warps_m * warps_n):
        top, left = warp % warps_m * 16, warp // warps_m * 8
        for lane in range(32):
            for value in range(8):
                y = top + lane // 4 + (value // 2 % 2) * 8
                x = left + lane % 4 * 2 + value % 2 + value // 4 * 8 * warps_n
                if (y, x) == (row, column):
                    return 32 * warp + lane, value
    raise AssertionError("nobody holds it")


PLACE = PythonExercise(
    id="08.sum_place",
    title="which thread holds this sum?",
    task="""
A `TiledMMA` of `warps_m` x `warps_n` warps has a tile of 16 `warps_m` x 16 `warps_n` results: two
instructions a warp, dealt out as in the last picture. Write `sum_place(row, column, warps_m,
warps_n)`: the thread of the block that holds the result, and as which of its eight values. Values
count as in the layout of C above: two neighbours, then 8 rows further down, then the warp's second
instruction.
""",
    source=f"{FOLDER}/sum_place.py",
    function="sum_place",
    cases=(
        (0, 0, 2, 2),
        (5, 3, 2, 2),
        (13, 9, 2, 2),
        (31, 31, 2, 2),
        (16, 16, 2, 2),
        (9, 12, 1, 1),
        (47, 20, 3, 2),
        (3, 63, 1, 4),
        (197, 231, 16, 15),
        (1000, 5, 64, 1),
        (5, 1000, 1, 64),
    ),
    reference=from_table,
    promises=Cases(any_place),
    means="Any way to the two numbers is right.",
    hints=(
        "Within 16 x 8 results: four lanes share a row, and a lane has two neighbours. The warp "
        "comes from where these 16 x 8 lie in the tile.",
        "column // 8 counts instructions across: modulo warps_n it is the column of warps, divided "
        "by warps_n it says whether this is the warp's first or second.",
        "value: column % 2, plus 2 in the lower 8 rows, plus 4 for the second instruction.",
    ),
    explanation="""
`get_slice(threadIdx.x)` and `partition_C` compute this, at compile time but for the thread's own
number. From a wrong element of C to the thread that made it is the same way back.
""",
    mutants=(
        mutant(
            "warps across first",
            kinds.WRONG,
            (
                "row // 16 + column // 8 % warps_n * warps_m",
                "row // 16 * warps_n + column // 8 % warps_n",
            ),
        ),
        mutant("neighbouring instructions", kinds.WRONG, ("column // 8 % warps_n", "column // 16")),
        mutant("rows at the end", kinds.WRONG, ("row % 16 // 8 * 2", "row % 16 // 8 * 4")),
        mutant("a lane a column", kinds.WRONG, ("column % 8 // 2", "column % 8")),
        mutant("lane of the warp only", kinds.WRONG, ("32 * warp + lane", "lane")),
        mutant("two columns of warps", kinds.WRONG, ("column // 8 // warps_n", "column // 16")),
    ),
)

# --- How many instructions? ---


def any_tile(rng: np.random.Generator) -> tuple:
    warps = [int(rng.choice((1, 2, 3, 4))) for _ in range(2)]
    parts = [16 * int(rng.integers(1, 6)) for _ in range(2)]
    return parts[0] * warps[0], parts[1] * warps[1], 16 * int(rng.integers(1, 6)), *warps


def counted(BM: int, BN: int, BK: int, warps_m: int, warps_n: int) -> tuple[int, int, int]:
    """Every instruction, one by one."""
    mma = sum(1 for _ in np.ndindex(BM // warps_m // 16, BN // warps_n // 8, BK // 16))
    a = sum(1 for _ in np.ndindex(BM // warps_m // 16, BK // 16))
    b = sum(1 for _ in np.ndindex(BN // warps_n // 16, BK // 16))
    return mma, a + b, mma * 4 // (BK // 16)


COUNTS = PythonExercise(
    id="08.product_counts",
    title="instructions and registers of a tile",
    task="""
Write `product_counts(BM, BN, BK, warps_m, warps_n)`: how many `mma.m16n8k16` and how many
`ldmatrix` x4 a warp takes for one stage, and how many fp32 sums a thread holds. The warps share
the tile alike; a warp's part is a multiple of 16 x 16, BK one of 16, and every fragment is loaded
once a stage.
""",
    source=f"{FOLDER}/product_counts.py",
    function="product_counts",
    cases=(
        (64, 64, 32, 2, 2),
        (128, 128, 64, 2, 2),
        (128, 256, 64, 2, 4),
        (16, 16, 16, 1, 1),
        (96, 48, 80, 3, 1),
        (256, 128, 32, 4, 2),
        (1024, 2048, 256, 8, 16),
    ),
    reference=counted,
    promises=Cases(any_tile),
    means="Any way to the numbers is right.",
    hints=(
        "A warp has BM / warps_m rows and BN / warps_n columns of the tile.",
        "A fragment of A is 16 x 16: one ldmatrix x4. A fragment of B is 8 x 16, so one ldmatrix "
        "x4 brings two of them.",
        "Each sum is held by one of 32 threads.",
    ),
    explanation="""
The larger the warp's part, the more products for each load: 32 x 32 has 8 mma for 4 ldmatrix, 64 x
64 has 32 for 8. What ends it is the third number: 64 x 64 are 128 registers of sums, of the 255
that a thread can have, and the fragments want theirs as well.
""",
    mutants=(
        mutant("an mma of 16 x 16", kinds.WRONG, ("(across // 8)", "(across // 16)")),
        mutant("one fragment of B a load", kinds.WRONG, ("across // 16)", "across // 8)")),
        mutant("the block's tile", kinds.WRONG, ("BM // warps_m, BN // warps_n", "BM, BN")),
        mutant("one step along K", kinds.WRONG, ("BK // 16", "1")),
        mutant("half registers", kinds.WRONG, ("down * across // 32", "down * across // 64")),
        mutant("k of 8", kinds.WRONG, ("BK // 16", "BK // 8")),
    ),
)

# --- The other order of B ---


def halves(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)


def row_operands(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K) and B (K x N)."""
    m, n, k = size
    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {"A": halves(rng, (m, k)), "B": halves(rng, (k, n)), "C": empty((m, n))} | sizes


def column_operands(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K) and B (N x K)."""
    given = row_operands(rng, size)
    return given | {"B": np.ascontiguousarray(given["B"].T)}


def exact(a: np.ndarray, b: np.ndarray) -> dict:
    return {"C": a.astype(np.float64) @ b.astype(np.float64)}


def all_by_mma(size: tuple[int, int, int]) -> tuple[Means, ...]:
    """The products are made by tensor cores, once."""
    return (
        Means(
            "part of the products that the tensor cores make",
            lambda work: work.counts.flops_by_type.get("f16 (tensor cores)", 0) / (2 * prod(size)),
            at_least=1.0,
            at_most=2.0,
            advice="Let mma_f16 make all products, one for each 16 x 8 results and 16 along K.",
            size=size,
        ),
    )


VALUES = (
    (*promises.data("A", *promises.ORDINARY),),
    (*promises.data("B", *promises.ORDINARY),),
)

WORD_BY_WORD = """        auto bits = reinterpret_cast<const unsigned short (*)[8]>(tile_b);
        for (int i = 0; i < 2; ++i) {
            const int first = lane % 4 * 2 + i * 8;
            b[i] = bits[first][lane / 4] | unsigned(bits[first + 1][lane / 4]) << 16;
        }
        mma_f16(sum"""
TRANSPOSED = Exercise(
    id="08.transposed_operand",
    title="B the other way round",
    task="""
Here B is K x N, row by row, so two neighbours along K, which a register of B's fragment wants
together, are a row apart. `ldmatrix` has an answer: `.trans` transposes each 8 x 8 matrix on its
way. Fill both fragments and multiply. A lane gives the address of one row of 16 bytes, as it lies
in shared memory.
""",
    source=f"{FOLDER}/transposed_operand.cu",
    kernel="transposed_operand",
    inputs=row_operands,
    reference=lambda given: exact(given["A"], given["B"]),
    launch=lambda size: Launch((size[1] // 8, size[0] // 16), (32,)),
    small=((32, 24, 48), (16, 8, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    promises=Promises(
        sizes=promises.shapes(M=(16, 32, 80), N=(8, 16, 40), K=(16, 48, 112)).with_longest(
            M=1040, N=1032, K=2064
        ),
        values=VALUES,
    ),
    means=(
        *all_by_mma((32, 24, 48)),
        means.instructions(
            "threads at an ldmatrix that transposes",
            "ldmatrix.sync.aligned.m8n8.x2.trans",
            "ldmatrix.sync.aligned.m8n8.x4.trans",
            at_least=32,
            advice="B's fragment comes from shared memory by ldmatrix with .trans.",
            size=(16, 8, 16),
        ),
        means.instructions(
            "threads at an ldmatrix of either kind",
            "ldmatrix.",
            at_least=64,
            advice="A's fragment comes by ldmatrix, too: by ldmatrix_4.",
            size=(16, 8, 16),
        ),
        means.instructions(
            "single words loaded from shared memory",
            "ld.shared",
            at_most=0,
            advice="What ldmatrix brings is the whole fragment: nothing is to be read beside it.",
        ),
        means.one_store_each(),
    ),
    hints=(
        "A as always: lanes 0 to 15 give the 16 rows, left half; lanes 16 to 31 the same rows, "
        "right half.",
        "The two matrices of B are rows 0 to 7 and 8 to 15 of its tile, 8 elements wide: 16 bytes.",
        "Lane l gives the address of row l % 16 of tile_b; what lanes 16 to 31 give is not used.",
        "`ldmatrix_2_transposed(b, shared_address(&tile_b[lane % 16][0]));`",
    ),
    explanation="""
In CuTe the atom is `SM75_U16x4_LDSM_T`: the layout of shared memory has N with stride 1, and the
fragment is the same as ever. So the instruction, not a detour through registers, serves all four
combinations of row- and column-major operands in 16 bits. For 8-bit operands there was no such help
until Blackwell, whose `ldmatrix` can transpose 16 x 16 of them.
""",
    mutants=(
        mutant(
            "rows in the wrong order",
            kinds.WRONG,
            ("&tile_b[lane % 16][0]", "&tile_b[15 - lane % 16][0]"),
        ),
        mutant("eight rows", kinds.WRONG, ("&tile_b[lane % 16][0]", "&tile_b[lane % 8][0]")),
        mutant("halves of A swapped", kinds.WRONG, ("lane / 16 * 8", "(1 - lane / 16) * 8")),
        mutant(
            "left half of A only", kinds.WRONG, ("[lane % 16][lane / 16 * 8]", "[lane % 16][0]")
        ),
        mutant("registers of B swapped", kinds.WRONG, ("b[0], b[1]", "b[1], b[0]")),
        mutant("no .trans", kinds.WRONG, (".x2.trans.", ".x2.")),
        mutant("B word by word", kinds.MEANS_MISSING, ("        mma_f16(sum", WORD_BY_WORD)),
        mutant(
            "A from global memory",
            kinds.MEANS_MISSING,
            (
                "ldmatrix_4(a, shared_address(&tile_a[lane % 16][lane / 16 * 8]));",
                "for (int i = 0; i < 4; ++i) a[i] = reinterpret_cast<const unsigned *>(A + (row + "
                "lane / 4 + i % 2 * 8) * K + k + i / 2 * 8)[lane % 4];",
            ),
        ),
        mutant(
            "no barrier before the tiles are filled anew",
            kinds.DATA_RACE,
            ("b[0], b[1]);\n        __syncwarp();\n", "b[0], b[1]);\n"),
        ),
    ),
)

# --- A partition that overlaps ---

APART = Exercise(
    id="08.warps_apart",
    title="find the bug: a partition",
    task="""
Four warps share 32 x 32 results, a quarter each, and each warp's product is right where it puts it.
Still half of C is missing. Run it, read the verdict, and mend the partition.
""",
    source=f"{FOLDER}/warps_apart.cu",
    kernel="warps_apart",
    inputs=column_operands,
    reference=lambda given: exact(given["A"], given["B"].T),
    launch=lambda size: Launch((size[1] // 32, size[0] // 32), (128,)),
    small=((32, 32, 16), (64, 96, 48)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    bug=kinds.PARTLY_WRITTEN,
    promises=Promises(
        sizes=promises.shapes(M=(32, 64), N=(32, 96), K=(16, 48)).with_longest(
            M=1056, N=1056, K=1040
        ),
        values=VALUES,
    ),
    means=(
        *all_by_mma((64, 96, 48)),
        means.one_store_each(),
        means.work_shared_out(2.0, size=(64, 96, 48)),
    ),
    hints=(
        "Write down row and column of the four warps.",
        "Warps 0 and 2 have the same row and the same column.",
        "The row takes warp % 2, so the column has to take what is left: warp / 2.",
    ),
    explanation="""
Two warps had the same 16 x 16 results, and two of the four parts had nobody. In a `TiledMMA` the
same decision is `Layout<Shape<_2, _2>>`, four warps in four places: the formula behind it is in the
library once, and not written anew in each kernel.
""",
    mutants=(
        mutant("both by division", kinds.PARTLY_WRITTEN, ("warp % 2 * 16", "warp / 2 * 16")),
        mutant(
            "one warp does it all",
            kinds.MEANS_MISSING,
            (
                "    const int row = blockIdx.y * 32 + warp % 2 * 16;\n"
                "    const int column = blockIdx.x * 32 + warp / 2 * 16;\n",
                "    for (int part = warp ? 4 : 0; part < 4; ++part) {\n"
                "    const int row = blockIdx.y * 32 + part % 2 * 16;\n"
                "    const int column = blockIdx.x * 32 + part / 2 * 16;\n",
            ),
            ("sum[j][i];\n        }\n", "sum[j][i];\n        }\n    }\n"),
        ),
        mutant("one column of warps", kinds.PARTLY_WRITTEN, ("+ warp / 2 * 16", "+ warp / 2 * 8")),
        mutant("warps 32 apart", kinds.OUT_OF_BOUNDS, ("+ warp / 2 * 16", "+ warp / 2 * 32")),
        mutant("a right half twice", kinds.WRONG, ("k + pair;", "k + (pair ^ 2);")),
        mutant("rows by four", kinds.OUT_OF_BOUNDS, ("warp % 2 * 16", "warp * 16")),
        mutant(
            "columns of C apart by 16",
            kinds.OUT_OF_BOUNDS,
            ("column + j * 8 + pair", "column + j * 16 + pair"),
        ),
    ),
)

EXERCISES = (PLACE, COUNTS, TRANSPOSED, APART)
