"""Exercises of chapter 06: the matrix product, rung by rung."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Exercise,
    Launch,
    NumberExercise,
    Target,
    empty,
    floats,
    kinds,
    mutant,
)

NAIVE_TO_SHARED = "06_matmul_and_fft/02_naive_to_shared"
REGISTER_TILES = "06_matmul_and_fft/03_register_tiles"


def matrices(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K), B (K x N) and room for C (M x N)."""
    m, n, k = size
    return {
        "A": floats(rng, (m, k)),
        "B": floats(rng, (k, n)),
        "C": empty((m, n)),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


def product(given) -> dict:
    """The exact product, as far as float64 goes."""
    return {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64)}


COALESCED = Exercise(
    id="06.coalesced_matmul",
    title="neighbouring threads, neighbouring addresses",
    notebook=NAIVE_TO_SHARED,
    task="""
This kernel is right, and slow: the 32 threads of a warp read 32 different rows of A in one go, so
each load touches far more sectors of 32 bytes than it needs. Change which element each thread owns
until a load touches at most 3 sectors on average.
""",
    source="06_matmul_and_fft/exercises/coalesced_matmul.cu",
    kernel="coalesced_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (1024,)),
    small=((37, 45, 19), (33, 5, 7), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="sectors per global load",
        measure=lambda counts: counts.global_load_sectors / max(counts.global_load_requests, 1),
        at_most=3.0,
        advice="Which of row and column should change from one threadIdx.x to the next? In C's "
        "memory, the neighbour on the right is next door; the one below is N elements away.",
        size=(32, 32, 32),
    ),
    within=2.0,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "Write down row and column for threadIdx.x = 0, 1 and 2, as the kernel stands.",
        "B[k * N + column]: 32 neighbouring columns are 128 bytes in a row, four sectors. "
        "A[row * K + k]: when all 32 threads share the row, they read one and the same element.",
        "`% kTile` changes from thread to thread, `/ kTile` only every 32: swap them.",
    ),
    explanation="""
With the row fixed for the whole warp, the load of A is one element for all 32 threads (1 sector)
and the load of B is 32 neighbours (4 sectors): 2.5 on average. Before, the load of A touched 32
rows (32 sectors) and the load of B one element: 16.5.
""",
    mutants=(
        mutant(
            "uncoalesced",
            kinds.TARGET_MISSED,
            ("kTile + threadIdx.x / kTile", "kTile + threadIdx.x % kTile "),
            ("kTile + threadIdx.x % kTile;", "kTile + threadIdx.x / kTile;"),
        ),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("row < M && column < N", "true")),
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row < M && column < N", "row < M"),
        ),
        mutant(
            "same thread for row and column",
            kinds.PARTLY_WRITTEN,
            ("threadIdx.x % kTile", "threadIdx.x / kTile"),
        ),
        mutant("B transposed", kinds.WRONG, ("B[k * N + column]", "B[(column * K + k) % (K * N)]")),
    ),
)

TILED = Exercise(
    id="06.tiled_matmul",
    title="share a tile",
    notebook=NAIVE_TO_SHARED,
    task="""
Let the 256 threads of a block share what they load. In each round the block loads one tile of A and
one of B into shared memory, waits, multiplies, waits again. Neither M, N nor K need be multiples
of 16.
""",
    source="06_matmul_and_fft/exercises/tiled_matmul.cu",
    kernel="tiled_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 21, 35), (16, 32, 16), (5, 1, 33), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="global loads per FMA",
        measure=lambda counts: counts.global_load_requests * 32 / 32**3,
        at_most=0.2,
        advice="The result is right, but the inner loop still reads global memory: let it read the "
        "tiles, which hold what the whole block has loaded.",
        size=(32, 32, 32),
    ),
    hints=(
        "Thread (x, y) loads one element of each tile: `tile_a[y][x]` and `tile_b[y][x]`.",
        "A's element is (row, start + x): inside only if `row < M && start + x < K`. B's is "
        "(start + y, column). A zero in the tile adds nothing to the sum.",
        "`__syncthreads()` is needed twice: between loading and reading, and between reading and "
        "the next round's loading.",
        "`for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];`",
    ),
    explanation="""
Each element of a tile is loaded from global memory once and used 16 times. The two barriers are the
price: the first keeps a fast warp from reading what a slow one has not loaded, the second keeps it
from overwriting what a slow one still reads. Every thread reaches both, also those outside C: a
thread that had returned before the loop would not load its elements of the tiles, and the others
would compute with whatever lies there.
""",
    mutants=(
        mutant(
            "tiles never read",
            kinds.TARGET_MISSED,
            (
                "sum += tile_a[y][k] * tile_b[k][x];",
                "if (row < M && column < N && start + k < K)\n"
                "                sum += A[row * K + start + k] * B[(start + k) * N + column];",
            ),
        ),
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            (
                "__syncthreads();  // no thread reads a tile before",
                "// no thread reads a tile before",
            ),
        ),
        mutant(
            "no second barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // no thread overwrites", "// no thread overwrites"),
        ),
        mutant(
            "no bounds guard for A",
            kinds.OUT_OF_BOUNDS,
            ("row < M && start + x < K ? A[row * K + start + x] : 0.0f", "A[row * K + start + x]"),
        ),
        mutant(
            "no guard for the column in B",
            kinds.OUT_OF_BOUNDS,
            ("start + y < K && column < N ?", "start + y < K ?"),
        ),
        mutant("wrong tile index", kinds.WRONG, ("tile_b[k][x]", "tile_b[x][k]")),
        mutant("start forgotten in B", kinds.WRONG, ("B[(start + y) * N", "B[y % K * N")),
        mutant(
            "guard around the barrier",
            kinds.BARRIER,
            ("__syncthreads();  // no thread reads", "if (row < M) __syncthreads();  // no"),
        ),
        mutant(
            "last round missed",
            kinds.WRONG,
            ("start < K; start", "start + kTile < K; start"),
        ),
    ),
)

# --- 03_register_tiles ---


def shared_loads_per_fma(counts) -> float:
    """Loads of single threads from shared memory, over multiply-adds."""
    return counts.shared_load_requests * 32 / max(counts.flops / 2, 1)


PREDICT_LOADS = NumberExercise(
    id="06.predict_loads",
    title="predict the loads of a thread's tile",
    notebook=REGISTER_TILES,
    task="""
Predict for four shapes of a thread's tile how many floats it loads from shared memory for each FMA.
Fractions such as `3 / 8` are welcome.
""",
    source="06_matmul_and_fft/exercises/thread_tiles.cu",
    kernel="thread_tiles",
    inputs=lambda rng, shape: {
        "x": floats(rng, 8 * 48),
        "y": empty(64 * 32),
        "shape": np.int32(shape),
    },
    launch=lambda shape: Launch((1,), (32,)),
    asks={
        "column": Ask(
            "8 x 1: a column of eight results",
            1,
            shared_loads_per_fma,
            {
                9: "That is the number of loads for one k. How many FMAs share them?",
                2: "That is one result a thread. Here one factor serves eight products.",
                1: "Eight factors of A for eight products, and one more of B.",
            },
        ),
        "square": Ask(
            "4 x 4",
            2,
            shared_loads_per_fma,
            {
                8: "That is the number of loads for one k. How many FMAs share them?",
                0.25: "Four factors of A and four of B: both have to be loaded.",
            },
        ),
        "long": Ask(
            "16 x 4",
            3,
            shared_loads_per_fma,
            {0.25: "As many results as 8 x 8, but more factors: 16 and 4."},
        ),
        "large": Ask(
            "8 x 8",
            4,
            shared_loads_per_fma,
            {0.125: "Eight factors of A and eight of B for 64 products."},
        ),
    },
    hints=(
        "Count for one k: how many floats come from tile_a, how many from tile_b?",
        "For one k a thread of shape TM x TN loads TM + TN floats.",
        "And it makes TM * TN products of them: divide.",
    ),
    explanation="""
(TM + TN) / (TM · TN), which is 1 / TM + 1 / TN. Among shapes with the same number of results the
square one needs the fewest loads, just as a square has the shortest border for its area: 16 × 4 and
8 × 8 both keep 64 sums, and the long one loads a quarter more.
""",
    mutants=(
        mutant("loads of one k", kinds.WRONG_NUMBER, ("square = 0.5", "square = 8")),
        mutant("one factor forgotten", kinds.WRONG_NUMBER, ("column = 1.125", "column = 1")),
        mutant("shape ignored", kinds.WRONG_NUMBER, ("long = 0.3125", "long = 0.25")),
        mutant("dots left", kinds.WRONG_TYPE, ("large = 0.25", "large = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("large = 0.25", "biggest = 0.25")),
    ),
)

COLUMN = Exercise(
    id="06.column_matmul",
    title="four results a thread",
    notebook=REGISTER_TILES,
    task="""
From one result a thread to four, one below the other. The tiles are loaded already; write the loop
over k and the stores. For each FMA a thread may load at most 1.3 floats from shared memory.
""",
    source="06_matmul_and_fft/exercises/column_matmul.cu",
    kernel="column_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (256,)),
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="shared loads per FMA",
        measure=shared_loads_per_fma,
        at_most=1.3,
        advice="Read the factor of B once for each k, into a variable of the thread, and use it "
        "for all four products.",
        size=(32, 32, 32),
    ),
    within=2.0,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "In the shared kernel it was `sum += tile_a[y][k] * tile_b[k][x];`. Now there are TM sums, "
        "and TM rows.",
        "Outer loop over k, inner loop over i from 0 to TM - 1. What does not depend on i is read "
        "before the inner loop.",
        "`const float b = tile_b[k][column];`, then `sum[i] += tile_a[row + i][k] * b;`",
        "The result number i is in row first_row + row + i of C. Each row has its own guard: the "
        "matrix may end in the middle of a thread's column.",
    ),
    explanation="""
For each k a thread loads one factor of B and four of A, and makes four products: 5 / 4 = 1.25 loads
for each FMA, in place of 2. `sum` is an array, and yet it lives in registers: the loops over it are
unrolled, so that each index is a number that the compiler knows. The guard is inside the last loop
because a thread's four rows need not all exist.
""",
    mutants=(
        mutant(
            "B read for every product",
            kinds.TARGET_MISSED,
            ("const float b = tile_b[k][column];", "volatile float* from = &tile_b[k][column];"),
            ("tile_a[row + i][k] * b;", "tile_a[row + i][k] * *from;"),
        ),
        mutant(
            "one guard for all four rows",
            kinds.OUT_OF_BOUNDS,
            ("if (first_row + row + i < M &&", "if (first_row + row < M &&"),
        ),
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row + i < M && first_column + column < N)", "row + i < M)"),
        ),
        mutant("same row four times", kinds.WRONG, ("tile_a[row + i][k]", "tile_a[row][k]")),
        mutant(
            "only the first row stored",
            kinds.PARTLY_WRITTEN,
            ("if (first_row + row + i < M &&", "if (i == 0 && first_row + row < M &&"),
        ),
        mutant(
            "no second barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // nobody needs", "// nobody needs"),
        ),
    ),
)

SQUARE = Exercise(
    id="06.square_matmul",
    title="a square of results",
    notebook=REGISTER_TILES,
    task="""
Now a thread owns 4 × 4 results. Say which ones, read 4 + 4 factors into registers for each k, and
make 16 products of them: at most 0.6 loads from shared memory for each FMA.
""",
    source="06_matmul_and_fft/exercises/square_matmul.cu",
    kernel="square_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (64,)),
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="shared loads per FMA",
        measure=shared_loads_per_fma,
        at_most=0.6,
        advice="Read the factors into a[TM] and b[TN] first; the two loops that multiply must "
        "touch registers alone.",
        size=(32, 32, 32),
    ),
    within=2.0,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "A block's tile is 8 pieces high and 8 pieces wide, each of 4 x 4. `/` and `%` turn "
        "threadIdx.x into the piece's row and column; times 4, they are the first element's.",
        "Inside the loop over k there are three parts: TM loads, TN loads, TM * TN products.",
        "`a[i] = tile_a[row + i][k];`, `b[j] = tile_b[k][column + j];`, and then "
        "`sum[i][j] += a[i] * b[j];`",
        "The stores are a double loop too, and each element has its own guard for its row and its "
        "column.",
    ),
    explanation="""
Eight loads for sixteen FMAs: 0.5 each. The first rung needed 2, the column of four 1.25. Every loop
over `a`, `b` and `sum` is unrolled; a register has no address, so an index that is only known
while the kernel runs would send the array to local memory.
""",
    mutants=(
        mutant(
            "factors read for every product",
            kinds.TARGET_MISSED,
            (
                "sum[i][j] += a[i] * b[j];",
                "sum[i][j] += *(volatile float*)&tile_a[row + i][k] * b[j];",
            ),
        ),
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row + i < M && first_column + column + j < N)", "row + i < M)"),
        ),
        mutant(
            "one guard for all rows",
            kinds.OUT_OF_BOUNDS,
            ("if (first_row + row + i < M &&", "if (first_row + row < M &&"),
        ),
        mutant(
            "pieces one element apart",
            kinds.PARTLY_WRITTEN,
            ("threadIdx.x % (BN / TN) * TN;", "threadIdx.x % (BN / TN);"),
        ),
        mutant("same row four times", kinds.WRONG, ("tile_a[row + i][k]", "tile_a[row][k]")),
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // both tiles", "// both tiles"),
        ),
    ),
)

EXERCISES = [COALESCED, TILED, PREDICT_LOADS, COLUMN, SQUARE]
