"""Exercises of chapter 06: the matrix product, rung by rung."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Exercise,
    HostExercise,
    Launch,
    NumberExercise,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    mutant,
)

PYTHON_TO_C = "06_matmul_and_fft/01_matmul_python_to_c"
NAIVE_TO_SHARED = "06_matmul_and_fft/02_naive_to_shared"
REGISTER_TILES = "06_matmul_and_fft/03_register_tiles"
PIPELINES = "06_matmul_and_fft/04_warp_tiles_and_pipelines"
TENSOR_CORES = "06_matmul_and_fft/05_tensor_cores"


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


# --- 01_matmul_python_to_c ---


def is_right(limit: str = ""):
    """What the main function of a C exercise prints for a right product."""
    return lambda case: "C is right\n" + (f"{limit}: within the limit\n" if limit else "")


def lines_of_b(order: str, K: int, N: int, line: int) -> int:
    """Fetches of B's lines for one row of C, by walking through the reads."""
    held, fetched = None, 0
    pairs = np.ndindex(N, K) if order == "jk" else np.ndindex(K, N)
    for outer, inner in pairs:
        k, j = (inner, outer) if order == "jk" else (outer, inner)
        fetched += (k * N + j) // line != held
        held = (k * N + j) // line
    return fetched


WORK_AND_BYTES = PythonExercise(
    id="06.work_and_bytes",
    title="work, bytes and their ratio",
    notebook=PYTHON_TO_C,
    task="""
Write down what a product costs: its FLOPs, the least bytes in fp32, and the FLOPs for each byte.
""",
    source="06_matmul_and_fft/exercises/work_and_bytes.py",
    function="work_and_bytes",
    cases=((2, 2, 2), (1000, 1000, 1000), (1, 512, 4096), (7, 5, 3)),
    reference=lambda M, N, K: (
        2 * M * N * K,
        4 * (M * K + K * N + M * N),
        2 * M * N * K / (4 * (M * K + K * N + M * N)),
    ),
    hints=(
        "C has M N elements, and each of them is a sum of K products.",
        "A multiply-add is two FLOPs, a number in fp32 is four bytes.",
        "A has M K elements, B has K N and C has M N: each is moved once.",
        "`flops = 2 * M * N * K`, `least = 4 * (M * K + K * N + M * N)`.",
    ),
    explanation="""
For square matrices it is 2 n³ FLOPs over 12 n² bytes: n / 6 FLOPs for each byte. The larger the
matrices, the more often each number is used. With M = 1, a row times a matrix, it is about a half,
whatever the size: each number of B is used once.
""",
    mutants=(
        mutant("one FLOP for a multiply-add", kinds.WRONG, ("flops = 2 * ", "flops = ")),
        mutant("C forgotten", kinds.WRONG, (" + M * N)", ")")),
        mutant("numbers, not bytes", kinds.WRONG, ("least = 4 * ", "least = ")),
        mutant("square matrices only", kinds.WRONG, ("2 * M * N * K", "2 * M**3")),
        mutant("whole FLOPs a byte", kinds.WRONG, ("flops / least", "flops // least")),
        mutant("nothing returned", kinds.NOTHING_RETURNED, ("return flops", "flops")),
    ),
)

LINES_OF_B = PythonExercise(
    id="06.lines_of_b",
    title="predict the cache lines",
    notebook=PYTHON_TO_C,
    task="""
How many lines of B are fetched for one row of C, in both orders of the loops? Predict it for a B of
8 × 32 and lines of 16, then write the function.
""",
    source="06_matmul_and_fft/exercises/lines_of_b.py",
    function="lines_of_b",
    cases=(
        ("kj", 8, 32, 16),
        ("jk", 8, 32, 16),
        ("kj", 5, 48, 16),
        ("jk", 5, 48, 16),
        ("jk", 1, 32, 16),
        ("kj", 3, 8, 8),
        ("jk", 2, 4, 1),
        ("kj", 1, 16, 16),
    ),
    reference=lines_of_b,
    hints=(
        'Draw a B of 2 rows and 4 columns with lines of 2, and number the reads: first for "kj", '
        'then for "jk".',
        "Element (k, j) is in line (k * N + j) // line.",
        '"kj" reads B from its first element to its last: K * N / line fetches.',
        '"jk" steps to another row with each read, so each read is in another line: K * N fetches, '
        "unless B has only one row.",
    ),
    explanation="""
Along the rows a fetched line serves `line` reads; down the columns it serves one. In a real cache
many lines stay for a while. But once a column of B touches more lines than the cache holds, the
first is gone before the next column comes, and the count is the same as here.
""",
    mutants=(
        mutant("orders mixed up", kinds.WRONG, ('if order == "jk" else (x, y)', "")),
        mutant(
            "every read fetches",
            kinds.WRONG,
            ("fetched += wanted != held", "fetched += 1"),
        ),
        mutant("rows for lines", kinds.WRONG, ("(k * N + j) // line", "(k * N + j) // N")),
        mutant("K for N", kinds.WRONG, ("(k * N + j) // line", "(k * K + j) // line")),
        mutant(
            "first fetch missed", kinds.WRONG, ("fetched, held = 0, None", "fetched, held = 0, 0")
        ),
        mutant("never remembers", kinds.WRONG, ("held = wanted", "held = None")),
    ),
)

LOOP_ORDER = HostExercise(
    id="06.loop_order",
    title="turn the loops around",
    notebook=PYTHON_TO_C,
    task="""
Your first function in C. It gives the right C already, and reads B down its columns. Change the
order of the loops. In your order a sum is not finished in one go, so it has to wait in C.
""",
    source="06_matmul_and_fft/exercises/loop_order.c",
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=("lines 3 37 7", "lines 5 48 9", "lines 2 16 1", "lines 1 1 1"),
    reference=is_right("lines"),
    hints=(
        "j must be the innermost loop: j is the index that moves along a row of B.",
        "With j inside k, all sums of a row of C are under way at once. Which array has room for "
        "them?",
        "Set row i of C to 0.0f first, in a loop of its own over j; then for each k add one "
        "product to each element of that row.",
        "`for k`, and inside it `for j`: `C[i * N + j] += read_a(i, k) * read_b(k, j);`",
    ),
    explanation="""
The same products are added in the same order, so even the rounding stays the same. Only the order
of the *reads* has changed: 16 neighbours in a line now come one after the other.
""",
    mutants=(
        mutant(
            "still down the columns",
            kinds.WRONG_OUTPUT,
            (
                "for (int k = 0; k < K; ++k) {\n            for (int j = 0; j < N; ++j) {",
                "for (int j = 0; j < N; ++j) {\n            for (int k = 0; k < K; ++k) {",
            ),
        ),
        mutant("C never set to zero", kinds.WRONG_OUTPUT, ("C[i * N + j] = 0.0f;", "")),
        mutant("last product only", kinds.WRONG_OUTPUT, ("+= read_a", "= read_a")),
        mutant("one too many", kinds.WRONG_OUTPUT, ("k < K", "k <= K")),
        mutant("B transposed", kinds.WRONG_OUTPUT, ("* read_b(k, j)", "* read_b(j, k)")),
        mutant("rows of C overlap", kinds.WRONG_OUTPUT, ("C[i * N + j] +=", "C[i * K % M + j] +=")),
        mutant("no semicolon", kinds.COMPILE_ERROR, ("read_b(k, j);", "read_b(k, j)")),
    ),
)

BLOCKS = HostExercise(
    id="06.blocks",
    title="blocks, and where they end",
    notebook=PYTHON_TO_C,
    task="""
The loops over the blocks of B are there. Write what happens with one block. The sides of B need not
be multiples of 8 and 16, so find out first where the block ends.
""",
    source="06_matmul_and_fft/exercises/blocks.c",
    driver="06_matmul_and_fft/exercises/plain_product.c",
    cases=("5 37 19", "3 16 8", "2 1 9", "1 17 1", "1 1 1"),
    reference=is_right(),
    hints=(
        "A block begins at first_k and ends BK later, or at K if that comes first.",
        "`smaller(first_k + BK, K)` is the first k that no longer belongs to the block.",
        "The loops inside are those of the exercise before: i over all rows, then k, then j, from "
        "the block's first to its end.",
        "`C[i * N + j] += A[i * K + k] * B[k * N + j];`: each block adds its share to the sums.",
    ),
    explanation="""
Each element of C gets its products in K / BK portions, one from each block above the other, so +=
is needed and C begins with zeros. The indices are those of the whole matrices; only the limits of
the loops are the block's.
""",
    mutants=(
        mutant(
            "rows beyond the end", kinds.OUT_OF_BOUNDS, ("smaller(first_k + BK, K)", "first_k + BK")
        ),
        mutant(
            "columns beyond the end",
            kinds.OUT_OF_BOUNDS,
            ("smaller(first_j + BN, N)", "first_j + BN"),
        ),
        mutant("to the end of B each time", kinds.WRONG_OUTPUT, ("smaller(first_k + BK, K)", "K")),
        mutant("portions not added", kinds.WRONG_OUTPUT, ("+= A", "= A")),
        mutant("k counts from 0", kinds.WRONG_OUTPUT, ("int k = first_k", "int k = 0")),
        mutant("last column missed", kinds.WRONG_OUTPUT, ("j < end_j", "j < end_j - 1")),
        mutant("wrong row length", kinds.WRONG_OUTPUT, ("A[i * K + k]", "A[i * K % K + k]")),
    ),
)

REGISTER_TILE = HostExercise(
    id="06.register_tile",
    title="a tile that stays in registers",
    notebook=PYTHON_TO_C,
    task="""
Write the heart of every fast matrix product: for each k, 8 numbers of B and 4 of A make 32
products. The checker counts your reads: 12 for each k of a tile, no more.
""",
    source="06_matmul_and_fft/exercises/register_tile.c",
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=("reads 8 24 5", "reads 4 8 1", "reads 12 8 33"),
    reference=is_right("reads"),
    hints=(
        "The loop over k is the outermost of the three. Inside it there are loops over j and i.",
        "`float b[NR];` is an array of 8 floats. Fill it in a loop before anything is multiplied.",
        "Then a loop over i: read one number of A into a variable, and in a loop over j add "
        "`a * b[j]` to `sum[i][j]`.",
        "The tile's element (i, j) is element (first_i + i, first_j + j) of the matrices.",
        "Store with a double loop: `C[(first_i + i) * N + first_j + j] = sum[i][j];`",
    ),
    explanation="""
12 reads feed 32 multiply-adds. The plain loops need 64 reads for them, and the order ikj also loads
and stores C each time. The array `sum` never goes to memory once the loops over i and j are
unrolled: a compiler keeps its 32 numbers in registers.
""",
    mutants=(
        mutant(
            "B read for each product",
            kinds.WRONG_OUTPUT,
            ("a * b[j]", "a * read_b(k, first_j + j)"),
        ),
        mutant(
            "A read for each product",
            kinds.WRONG_OUTPUT,
            ("sum[i][j] += a * b[j]", "sum[i][j] += a * 0 + read_a(first_i + i, k) * b[j]"),
        ),
        mutant("only the last product", kinds.WRONG_OUTPUT, ("sum[i][j] += a", "sum[i][j] = a")),
        mutant("always the first rows", kinds.WRONG_OUTPUT, ("read_a(first_i + i", "read_a(i")),
        mutant(
            "always the first columns", kinds.WRONG_OUTPUT, ("read_b(k, first_j + j", "read_b(k, j")
        ),
        mutant(
            "tile stored at the corner",
            kinds.WRONG_OUTPUT,
            ("C[(first_i + i) * N + first_j + j] =", "C[i * N + j] ="),
        ),
        mutant(
            "sums past the tile",
            kinds.OUT_OF_BOUNDS,
            ("sum[i][j] += a * b[j]", "sum[i + first_i][j] += a * b[j]"),
        ),
    ),
)

# --- 02_naive_to_shared ---

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

# --- 04_warp_tiles_and_pipelines ---


def barriers_a_step(counts) -> float:
    """Barriers for each of the 16 steps along K of a block of two warps, at 64 x 64 x 128."""
    return counts.barriers / (2 * 16)


BUFFERS = Exercise(
    id="06.two_buffers",
    title="load ahead, with one barrier",
    notebook=PIPELINES,
    task="""
The rung before works in rounds: load, store, wait, multiply, wait. Make it a pipeline with two
buffers: a round begins the loads of the next tiles, multiplies the ones it has, and then stores the
next ones into the *other* buffer. One barrier a round is enough; at most 1.2 are allowed, since the
first tiles need one before the loop.
""",
    source="06_matmul_and_fft/exercises/two_buffers.cu",
    kernel="two_buffers",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 64), -(-size[0] // 64)), (64,)),
    small=((69, 85, 27), (33, 5, 16), (4, 70, 8), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="barriers a round",
        measure=barriers_a_step,
        at_most=1.2,
        advice="With two buffers nobody overwrites what others still read: the store goes into the "
        "buffer that was finished with one round ago. One barrier at the end of the round does.",
        size=(64, 64, 128),
    ),
    within=2.0,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "Before the loop: `load(0)`, `store(0)`, and a barrier, since the tiles must be complete "
        "before anybody multiplies.",
        "In the loop there are four steps: `load(start + BK)`, `multiply(buffer)`, "
        "`store(buffer ^ 1)`, `__syncthreads()`. `buffer ^ 1` turns 0 into 1 and 1 into 0.",
        "At the end of a round the two buffers swap roles: `buffer ^= 1;`",
        "The last round has nothing to load or store: `const bool more = start + BK < K;`",
    ),
    explanation="""
The one barrier says two things: the next tiles are complete, and nobody reads these any more. A
warp that is ahead may store into the buffer that was read in the round before: all have reached the
barrier since. Whether `load` stands before `multiply` or behind it, the result is the same; but
a load that is begun first has the time of the products to arrive. On a GPU, compare your bar with
the starter's. The price is registers: what is on its way needs some, and where that costs a block
on each multiprocessor, a pipeline can lose more than it gains.
""",
    mutants=(
        mutant(
            "no barrier in the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // the next tiles", "// the next tiles"),
        ),
        mutant(
            "no barrier before the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // the first tiles", "// the first tiles"),
        ),
        mutant(
            "stores into the buffer that is read",
            kinds.DATA_RACE,
            ("store(buffer ^ 1)", "store(buffer)"),
        ),
        mutant("buffers never swap", kinds.WRONG, ("        buffer ^= 1;\n", "")),
        mutant("loads these tiles again", kinds.WRONG, ("load(start + BK)", "load(start)")),
        mutant(
            "two barriers a round",
            kinds.TARGET_MISSED,
            ("multiply(buffer);", "multiply(buffer);\n        __syncthreads();"),
        ),
        mutant(
            "a round too few",
            kinds.WRONG,
            ("for (int start = 0; start < K", "for (int start = 0; start + BK < K"),
        ),
    ),
)

STAGES = Exercise(
    id="06.async_stages",
    title="copies that nobody waits for too early",
    notebook=PIPELINES,
    task="""
Here `cp.async` copies one pair of tiles, waits until it has landed, and multiplies. Keep the copies
of **two** steps on their way, with three pairs of tiles in turn and one barrier a step.
""",
    source="06_matmul_and_fft/exercises/async_stages.cu",
    kernel="async_stages",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 64), -(-size[0] // 64)), (64,)),
    small=((69, 85, 43), (33, 5, 16), (4, 70, 8), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="barriers a step",
        measure=barriers_a_step,
        at_most=1.1,
        advice="One barrier, right after the wait, is enough: behind it everybody's copies have "
        "landed, and nobody reads the tiles of the step before any more.",
        size=(64, 64, 128),
    ),
    within=2.0,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "Before the loop: for stage 0 and 1, `copy_tiles(stage, stage * BK);` and "
        "`cp_async_commit();`.",
        "At the top of a step two groups are on their way. The older one must have landed, the "
        "younger may stay: `cp_async_wait<1>()`, and then the barrier.",
        "The pair that is free now is the one of the step before: `(stage + 2) % kStages`. It gets "
        "the tiles of `start + 2 * BK`.",
        "Commit a group in every step, with copies in it or without: then the number of groups on "
        "their way is always the same. After the loop, `cp_async_wait<0>();`.",
    ),
    explanation="""
A wait counts groups, and counts only the thread's own. So it takes two things before a tile may be
read: the wait (my copies have landed) and then the barrier (everybody has come to this point, so
everybody's have). The same barrier frees the pair of the step before for the next copies. Past the
end of K the copies fill with zeros, and nobody multiplies them.
""",
    mutants=(
        mutant("no wait", kinds.DATA_RACE, ("cp_async_wait<kStages - 2>();", "")),
        mutant(
            "waits for one group too few",
            kinds.DATA_RACE,
            ("cp_async_wait<kStages - 2>", "cp_async_wait<kStages - 1>"),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("__syncthreads();               //", "//")),
        mutant(
            "waits behind the barrier",
            kinds.DATA_RACE,
            ("cp_async_wait<kStages - 2>();", "__syncthreads();"),
            ("__syncthreads();               //", "cp_async_wait<kStages - 2>();  //"),
        ),
        mutant(
            "copies into the pair that is read",
            kinds.DATA_RACE,
            ("(stage + kStages - 1) % kStages", "stage"),
        ),
        mutant(
            "no group in the loop",
            kinds.DATA_RACE,
            ("        cp_async_commit();\n        multiply", "        multiply"),
        ),
        mutant(
            "no wait at the end",
            kinds.DATA_RACE,
            ("    cp_async_wait<0>();  // the last", "    // the last"),
        ),
        mutant(
            "the step after the next but one",
            kinds.WRONG,
            ("start + (kStages - 1) * BK", "start + kStages * BK"),
        ),
        mutant(
            "two barriers a step",
            kinds.TARGET_MISSED,
            ("multiply(stage);", "multiply(stage);\n        __syncthreads();"),
        ),
    ),
)

WHY_NOT = PythonExercise(
    id="06.why_not",
    title="prune the grid",
    notebook=PIPELINES,
    task="""
Write the function that spares the GPU a candidate: it returns the first thing that rules the
candidate out, or `""` if nothing does. `why_not(128, 256, 8, 3, 256, 209, 0)` is `""`.
""",
    source="06_matmul_and_fft/exercises/why_not.py",
    function="why_not",
    cases=(
        (128, 256, 8, 3, 256, 209, 0),
        (256, 256, 32, 4, 512, 128, 0),
        (256, 256, 8, 3, 1088, 32, 0),
        (256, 256, 32, 4, 2048, 255, 64),
        (128, 256, 32, 5, 256, 209, 0),
        (52, 64, 32, 15, 128, 100, 0),
        (108, 116, 32, 8, 128, 100, 0),
        (108, 115, 32, 8, 128, 100, 0),
        (128, 256, 8, 3, 512, 128, 0),
        (128, 256, 8, 3, 512, 129, 0),
        (128, 192, 8, 3, 384, 168, 0),
        (128, 192, 8, 3, 384, 170, 0),
        (128, 256, 8, 3, 256, 255, 1088),
        (128, 256, 8, 3, 512, 129, 8),
        (64, 64, 8, 2, 64, 255, 0),
    ),
    reference=lambda BM, BN, BK, stages, threads, registers, spilled: (
        "threads"
        if threads > 1024
        else "shared memory"
        if stages * BK * (BM + 4 + BN) * 4 > 232_448
        else "registers"
        if threads // 32 * (-(-registers * 32 // 256) * 256) > 65_536
        else "spills"
        if spilled > 0
        else ""
    ),
    hints=(
        "Four questions, each an `if` with a `return`, in the order of the TODO.",
        "A tile of A has BK rows of BM + 4 floats, one of B has BK rows of BN. There are `stages` "
        "of each.",
        "A warp needs `registers * 32`, rounded up to a multiple of 256: "
        "`-(-registers * 32 // 256) * 256`. A block has `threads // 32` warps.",
        'The last line: `return "spills" if spilled > 0 else ""`.',
    ),
    explanation="""
The cheap questions come first: the first two need no compiler. 170 registers and 384 threads show
why rounding matters: 170 · 32 = 5440 registers for each of 12 warps would just fit, but a warp gets
5632. (The compiler knows the block's size from `__launch_bounds__`, and would rather spill than
exceed that; so in practice the last question catches what the third would.)
""",
    mutants=(
        mutant("rows not padded", kinds.WRONG, ("BM + 4 + BN", "BM + BN")),
        mutant("one stage", kinds.WRONG, ("stages * BK *", "BK *")),
        mutant("elements for bytes", kinds.WRONG, ("BN) * 4 >", "BN) >")),
        mutant(
            "registers not rounded",
            kinds.WRONG,
            ("-(-registers * 32 // 256) * 256", "registers * 32"),
        ),
        mutant("exactly full refused", kinds.WRONG, ("> 65_536", ">= 65_536")),
        mutant("spills forgotten", kinds.WRONG, ('"spills" if spilled > 0 else ""', '""')),
        mutant(
            "None for the good ones",
            kinds.NOTHING_RETURNED,
            ('return "spills" if spilled > 0 else ""', "pass"),
        ),
    ),
)

ROUNDS = NumberExercise(
    id="06.predict_rounds",
    title="predict the last round",
    notebook=PIPELINES,
    task="""
A GPU of 132 multiprocessors computes C in tiles; each place for a block takes a tile, then the
next. The kernel below plays it, one small block for each place. Predict:
""",
    source="06_matmul_and_fft/exercises/rounds.cu",
    kernel="rounds",
    inputs=lambda rng, size: {
        "tiles": np.int32(size[0]),
        "owner": empty(size[0], np.int32),
        "idle": np.zeros(1, np.int32),
    },
    launch=lambda size: Launch((size[1],), (32,)),
    asks={
        "rounds": Ask(
            "4096 x 4096 in tiles of 128 x 256, one block for each multiprocessor: rounds",
            (512, 132),
            lambda counts: counts.barriers / 132,
            {
                512: "That is the number of tiles. How many are computed at the same time?",
                3: "Three rounds are 396 tiles. What of the rest?",
            },
        ),
        "idle": Ask(
            "Of the same: multiprocessors that are idle in the last round",
            (512, 132),
            lambda counts: counts.global_atomic_requests,
            {116: "That many have a tile in the last round. The others are idle."},
        ),
        "gain": Ask(
            "Of the same: the largest gain, as a factor, if nobody were idle",
            (512, 132),
            lambda counts: counts.barriers / counts.global_store_requests,
            {
                1.1379310344827587: "132 / 116 is the gain in the last round alone, one of four.",
                0.9696969696969697: "That is the part of the GPU that is busy. The gain is its "
                "inverse.",
            },
        ),
        "idle_small": Ask(
            "1024 x 1024 in tiles of 128 x 256: idle multiprocessors in the last round",
            (32, 132),
            lambda counts: counts.global_atomic_requests,
            {32: "There are 32 tiles, each busies one. The others are idle."},
        ),
        "rounds_pairs": Ask(
            "4096 x 4096 in tiles of 128 x 128, two blocks on a multiprocessor: rounds",
            (1024, 264),
            lambda counts: counts.barriers / 264,
            {8: "Two blocks on each multiprocessor are 264 places."},
        ),
    },
    hints=(
        "Count the tiles first: rows of C over rows of a tile, times columns over columns.",
        "Rounds are tiles over places, rounded up: `-(-512 // 132)`.",
        "All rounds together offer rounds * places; what no tile takes is idle. The gain is what "
        "they offer over what is taken.",
    ),
    explanation="""
512 tiles are 3.88 rounds of 132, so four are needed, and 528 places are offered for 512 tiles: 3 %
more than it takes. With few tiles it is worse: at 1024 × 1024 three quarters of the GPU stand idle.
Smaller tiles make finer rounds, but need more loads for each product.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG_NUMBER, ("rounds = 4", "rounds = 3")),
        mutant("busy for idle", kinds.WRONG_NUMBER, ("idle = 16", "idle = 116")),
        mutant("the last round alone", kinds.WRONG_NUMBER, ("gain = 1.03125", "gain = 132 / 116")),
        mutant("one block on each", kinds.WRONG_NUMBER, ("rounds_pairs = 4", "rounds_pairs = 8")),
        mutant("dots left", kinds.WRONG_TYPE, ("idle_small = 100", "idle_small = ...")),
    ),
)

BEAT = Exercise(
    id="06.beat_cublas",
    title="beat the record",
    notebook=PIPELINES,
    task="""
Write the fastest product you can. M is a multiple of 128, N of 256 and K of 8; a block has 256
threads for 128 × 256 of C, and 64 KB of shared memory. The starter is right; it passes once it
needs at most 0.2 wavefronts of shared loads for each warp of FMAs. On a GPU your time at 4096 ×
4096 then stands beside our solution and cuBLAS, and a later cell puts your kernel on the ladder.
There is no end to this one: the course's best rung beats cuBLAS on an H200.
""",
    source="06_matmul_and_fft/exercises/beat_cublas.cu",
    kernel="beat_cublas",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((size[1] // 256, size[0] // 128), (256,), shared=65536),
    small=((256, 512, 40), (128, 256, 24), (128, 512, 8)),
    full=(4096, 4096, 4096),
    reduction=lambda size: size[2],
    target=Target(
        label="wavefronts of shared loads for 32 FMAs",
        measure=lambda counts: counts.shared_load_wavefronts * 64 / max(counts.flops, 1),
        at_most=0.2,
        advice="Load 16 bytes at a time, and cut a thread's tile into pieces of 4 x 4 so that "
        "neighbouring lanes read neighbouring float4, as sgemm_conflict_free.cu does.",
        size=(128, 256, 32),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "First pass: pieces of 4 x 4 and `float4` loads. That is the step from vector to "
        "conflict_free, with 8 x 16 results a thread.",
        "Then load ahead: `sgemm_double_buffer.cu` with registers, or `sgemm_cp_async.cu` with "
        "stages. `ptx.cuh` has `cp_async_4`, `cp_async_16`, `cp_async_commit`, `cp_async_wait`.",
        "Then read the factors of the next k before you multiply those of this one: "
        "`float a[2][TM], b[2][TN]`, as in `sgemm_autotuned.cu`.",
        "Then the order of the products: down one column and up the next. And then ideas of your "
        "own: measure each alone, and keep what helps.",
    ),
    explanation="""
This is the autotuned rung with its sizes written out, a fourth stage, and products that go down one
column and up the next. What it leaves to you: the order of rows and columns (`sgemm_ordered.cu`)
and the last round (`sgemm_stream_k.cu`; with this grid, too: the first 132 blocks share the work,
and the others return at once).
""",
    mutants=(
        mutant(
            "pieces not split",
            kinds.TARGET_MISSED,
            ("lane / 4 * 4;  // warps", "lane / 4 * 8;  // warps"),
            ("lane % 4 * 4;", "lane % 4 * 16;"),
            ("in_a + i * 8", "in_a + i"),
            ("in_b + j * 4", "in_b + j"),
            ("size_t(i / 4 * 32 + i % 4) * N + j * 4)", "size_t(i) * N + j)"),
        ),
        mutant(
            "no wait in the loop",
            kinds.DATA_RACE,
            ("                cp_async_wait<kStages - 2>();\n", ""),
        ),
        mutant(
            "no barrier in the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // they are complete", "// they are complete"),
        ),
        mutant(
            "no barrier before the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // the first", "// the first"),
        ),
        mutant(
            "the old factors again",
            kinds.UNINITIALISED,
            ("(k + 1) % BK, (k + 1) % 2)", "(k + 1) % BK, k % 2)"),
        ),
        mutant(
            "copies past the end",
            kinds.OUT_OF_BOUNDS,
            ("if (step + kStages - 1 < steps) copy", "copy"),
        ),
        mutant("rows of the pieces", kinds.DATA_RACE, ("i / 4 * 32 + i % 4", "i / 4 * 4 + i % 4")),
    ),
)

# --- 05_tensor_cores ---


def halves(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Normally distributed fp16 values."""
    return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)


def half_matrices(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K) and B (N x K) in fp16, and room for C (M x N) in fp32."""
    m, n, k = size
    return {
        "A": halves(rng, (m, k)),
        "B": halves(rng, (n, k)),
        "C": empty((m, n)),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


def bytes_of(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Integers of 8 bits, over their whole range."""
    return rng.integers(-128, 128, shape).astype(np.int8)


def product_of_rows(given) -> dict:
    """C = A B^T in float64: the columns of B^T are the rows of B."""
    return {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64).T}


WMMA = Exercise(
    id="06.wmma_product",
    title="five calls for a tensor core",
    notebook=TENSOR_CORES,
    task="""
The fragments are declared. Write the product of a warp: zeros, a loop over K, and the store. The
address of a fragment is that of its first element, and the leading dimension is how many elements
lie between one row and the next.
""",
    source="06_matmul_and_fft/exercises/wmma_product.cu",
    kernel="wmma_product",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 80), (16, 64, 48), (16, 16, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    hints=(
        "`wmma::fill_fragment`, and in the loop `wmma::load_matrix_sync` twice and "
        "`wmma::mma_sync`; after it `wmma::store_matrix_sync`.",
        "The fragment of A begins at row `row`, column `k` of A: `A + row * K + k`. Its rows are K "
        "elements apart.",
        "A row of B is a column of B^T, and the fragment is declared as `col_major`, so its "
        "*columns* are K elements apart: `wmma::load_matrix_sync(b, B + column * K + k, K);`",
        "`wmma::mma_sync(sum, a, b, sum);`, and at the end "
        "`wmma::store_matrix_sync(C + row * N + column, sum, N, wmma::mem_row_major);`",
    ),
    explanation="""
Five calls, and no word of which thread holds what. All 32 lanes make each call together with the
same arguments; it would be an error to put one into a branch that some lanes do not take. The
fragments come straight from global memory here, so every tile of C loads its own factors anew: the
kernel of the notebook puts shared memory in between.
""",
    mutants=(
        mutant("no zeros", kinds.UNINITIALISED, ("wmma::fill_fragment(sum, 0.0f);", "")),
        mutant(
            "only the first step",
            kinds.WRONG,
            ("k < K; k += kTile", "k < kTile; k += kTile"),
        ),
        mutant(
            "rows of B",
            kinds.WRONG,
            ("__half, wmma::col_major> b", "__half, wmma::row_major> b"),
            ("B + column * K + k, K", "B + column * K + k, 16"),
        ),
        mutant(
            "stored as columns",
            kinds.WRONG,
            ("sum, N, wmma::mem_row_major", "sum, N, wmma::mem_col_major"),
        ),
        mutant("C's rows K apart", kinds.OUT_OF_BOUNDS, ("sum, N, wmma::mem", "sum, K, wmma::mem")),
        mutant(
            "always the first rows",
            kinds.DATA_RACE,
            ("C + row * N + column", "C + column"),
        ),
    ),
)


def marks_made(counts) -> float:
    """How many places of the array were marked."""
    return counts.global_store_bytes / 4


FRAGMENT = NumberExercise(
    id="06.fragment_place",
    title="who holds it?",
    notebook=TENSOR_CORES,
    task="""
Use the formulas, or the picture, for `mma.m16n8k16` with A(13, 14), B(14, 2) and C(13, 2), all
counted from 0. The kernel lets the lane that holds the element answer.
""",
    source="06_matmul_and_fft/exercises/fragment_place.cu",
    kernel="fragment_place",
    inputs=lambda rng, what: {
        "marks": empty(32, np.int32),
        "row": np.int32(13),
        "k": np.int32(14),
        "column": np.int32(2),
        "what": np.int32(what),
    },
    launch=lambda what: Launch((1,), (32,)),
    asks={
        "lane_a": Ask(
            "the lane that holds A(13, 14)",
            0,
            marks_made,
            {
                55: "There are only 32 lanes: row 13 belongs to the same lanes as row 5.",
                26: "13 / 4 is for lanes; a row of 8 x 8 belongs to four lanes: 4 * (13 % 8).",
                22: "Two neighbours along K share a register: column 14 is the seventh pair, and "
                "the pairs begin anew at column 8.",
            },
        ),
        "register_a": Ask(
            "its register, from 0 to 3",
            1,
            marks_made,
            {
                2: "The registers go down first: 1 is below 0, and 2 is at the right of 0.",
                1: "Row 13 is in the lower half, and column 14 is in the right half.",
            },
        ),
        "lane_b": Ask(
            "the lane that holds B(14, 2)",
            2,
            marks_made,
            {
                26: "In B the *column* gives the group of four lanes, and k the lane within it.",
                10: "k = 14 is the seventh pair along K, and pairs begin anew at k = 8.",
            },
        ),
        "lane_c": Ask(
            "the lane that holds C(13, 2)",
            3,
            marks_made,
            {
                22: "A lane holds two neighbouring columns of C: column 2 is the second pair.",
                53: "There are only 32 lanes: row 13 belongs to the same lanes as row 5.",
            },
        ),
    },
    hints=(
        "Everything is made of tiles of 8 x 8, and in each of them a row (in B, a column) belongs "
        "to four lanes.",
        "The group is row % 8 for A and C, column for B; its first lane is 4 times that.",
        "Within the group: pair number (k % 8) / 2 for A and B, column / 2 for C.",
        "A: 4 * (13 % 8) + (14 % 8) / 2. Register: 1 for the lower half, plus 2 for the right one.",
    ),
    explanation="""
Row 13 is row 5 of its half, so lanes 20 to 23; k = 14 is the fourth pair of its half, so the fourth
of them: lane 23. Below and at the right is register 3. B's column 2 has lanes 8 to 11, and k = 14
is the last of them. C(13, 2) is in the second pair of columns: lane 21.
""",
    mutants=(
        mutant("33rd lane and beyond", kinds.WRONG_NUMBER, ("lane_a = 23", "lane_a = 55")),
        mutant("right before down", kinds.WRONG_NUMBER, ("register_a = 3", "register_a = 2")),
        mutant("k for the group", kinds.WRONG_NUMBER, ("lane_b = 11", "lane_b = 26")),
        mutant("one column a lane", kinds.WRONG_NUMBER, ("lane_c = 21", "lane_c = 22")),
        mutant("dots left", kinds.WRONG_TYPE, ("lane_c = 21", "lane_c = ...")),
    ),
)

MMA = Exercise(
    id="06.mma_product",
    title="fill the fragments yourself",
    notebook=TENSOR_CORES,
    task="""
The instruction is there; what is missing is who brings what. Fill `a` and `b` with pairs of
neighbours, and store the sums. A warp has a tile of 16 × 8, and its fragments come straight from
global memory.
""",
    source="06_matmul_and_fft/exercises/mma_product.cu",
    kernel="mma_product",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 8, size[0] // 16), (32,)),
    small=((48, 40, 80), (16, 24, 48), (16, 8, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    hints=(
        "`group` is the row in each 8 x 8 tile of A and C, and the column of B^T. `member` is the "
        "number of the pair.",
        "a[0] is row group, columns 2 member and 2 member + 1; a[1] is 8 rows below it, a[2] is 8 "
        "columns to the right, a[3] is both.",
        "`a[i] = pair_at(A + (group + i % 2 * 8) * K + k + member * 2 + i / 2 * 8);`",
        "`b[i] = pair_at(B + group * K + k + member * 2 + i * 8);`, and sum[i] belongs to row "
        "group + i / 2 * 8, column member * 2 + i % 2.",
    ),
    explanation="""
A counts its registers down first, C counts its numbers to the right first: C holds two neighbours
of a row, then two 8 rows below. B is read as it lies, row by row, because its rows are the columns
of B^T: that is why these kernels multiply by the transpose. If A and B both took the same wrong
order *along K*, the product would still be right: the instruction only adds up over k.
""",
    mutants=(
        mutant(
            "right before down in A",
            kinds.WRONG,
            ("group + i % 2 * 8;", "group + i / 2 * 8;"),
            ("member * 2 + i / 2 * 8;", "member * 2 + i % 2 * 8;"),
        ),
        mutant(
            "one element a lane",
            kinds.MISALIGNED,
            ("member * 2 + i / 2 * 8;", "member + i / 2 * 8;"),
        ),
        mutant(
            "groups and members swapped in B",
            kinds.WRONG,
            (
                "B + group * K + k + member * 2 + i * 8",
                "B + member * K + k + group / 2 * 2 + i * 8",
            ),
        ),
        mutant(
            "down before right in C",
            kinds.WRONG,
            (
                "group + i / 2 * 8) * N + member * 2 + i % 2",
                "group + i % 2 * 8) * N + member * 2 + i / 2",
            ),
        ),
        mutant(
            "only the upper half stored",
            kinds.PARTLY_WRITTEN,
            (
                "for (int i = 0; i < 4; ++i) {\n        C[",
                "for (int i = 0; i < 2; ++i) {\n        C[",
            ),
        ),
        mutant("k forgotten in B", kinds.WRONG, ("B + group * K + k +", "B + group * K +")),
    ),
)

SWIZZLE = Exercise(
    id="06.swizzled_rows",
    title="eight rows without a conflict",
    notebook=TENSOR_CORES,
    task="""
The product is right, but each `ldmatrix` takes eight times as many wavefronts as it should: the
rows of a tile are 128 bytes long, so a chunk of 16 bytes lies in the same four banks in every row.
Change where a chunk is kept, without a byte more of shared memory, until a load takes 4.
""",
    source="06_matmul_and_fft/exercises/swizzled_rows.cu",
    kernel="swizzled_rows",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 128), (16, 16, 64)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="wavefronts per ldmatrix",
        measure=lambda counts: counts.shared_load_wavefronts / max(counts.shared_load_requests, 1),
        at_most=4.0,
        advice="ldmatrix reads one chunk of eight rows at a time. Those eight must lie in eight "
        "different places of a row, so the place has to depend on the row as well.",
        size=(16, 16, 64),
    ),
    hints=(
        "A row has eight places, one for each group of four banks. Row 0 may keep its chunks in "
        "order; row 1 must not have chunk 0 in place 0.",
        "For each row you need the numbers 0 to 7 in another order, such that chunk 0 is somewhere "
        "else in each of eight rows, and chunk 1, and so on.",
        "`chunk ^ 1` swaps neighbours, `chunk ^ 2` swaps pairs: `chunk ^ n` is always an order of "
        "0 to 7, for n from 0 to 7.",
        "`return row * kChunks + (chunk ^ (row % kChunks));`",
    ),
    explanation="""
For a fixed row, `chunk ^ row` is a permutation of 0 to 7; for a fixed chunk it is one as well, over
eight rows. The first keeps every chunk in a place of its own, the second takes the conflicts away.
Turning the row, `(chunk + row) % kChunks`, does both too. XOR is what the hardware of Hopper's own
copy engine does, and it needs no remainder.
""",
    mutants=(
        mutant("rows as they are", kinds.TARGET_MISSED, ("(chunk ^ (row % kChunks))", "chunk")),
        mutant("four orders only", kinds.TARGET_MISSED, ("row % kChunks", "row % 4")),
        mutant(
            "one row of two turned", kinds.TARGET_MISSED, ("row % kChunks", "row / 8 % kChunks")
        ),
        mutant("the whole row number", kinds.OUT_OF_BOUNDS, ("row % kChunks", "row")),
        mutant("two chunks in a place", kinds.DATA_RACE, ("chunk ^ (row", "chunk | (row")),
        mutant(
            "padded, with no room for it",
            kinds.OUT_OF_BOUNDS,
            ("row * kChunks + (chunk ^ (row % kChunks))", "row * (kChunks + 1) + chunk"),
        ),
    ),
)

DP4A = Exercise(
    id="06.dp4a_product",
    title="four products in one go",
    notebook=TENSOR_CORES,
    task="""
A product of 8-bit integers on ordinary cores. One thread, one element of C; let `__dp4a` take four
products at a time, and let a load bring four factors: at most 0.6 loads for each product.
""",
    source="06_matmul_and_fft/exercises/dp4a_product.cu",
    kernel="dp4a_product",
    inputs=lambda rng, size: {
        "A": bytes_of(rng, (size[0], size[2])),
        "B": bytes_of(rng, (size[1], size[2])),
        "C": empty((size[0], size[1]), np.int32),
        "M": np.int32(size[0]),
        "N": np.int32(size[1]),
        "K": np.int32(size[2]),
    },
    reference=lambda given: {"C": given["A"].astype(np.int32) @ given["B"].astype(np.int32).T},
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 21, 52), (16, 33, 64), (1, 1, 4)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    target=Target(
        label="global loads per product",
        measure=lambda counts: counts.global_load_requests * 32 / (32 * 32 * 64),
        at_most=0.6,
        advice="Read four neighbours as one int: a pointer to the row, cast to `const int *`.",
        size=(32, 32, 64),
    ),
    hints=(
        "A row of A begins at `A + row * K`; `reinterpret_cast<const int *>` of that reads it four "
        "elements at a time.",
        "A row has K / 4 such words.",
        "`sum = __dp4a(a[word], b[word], sum);`",
    ),
    explanation="""
`__dp4a` multiplies the four bytes of one word with the four of another and adds the products to a
32-bit sum, in one instruction. For signed `int` arguments the bytes are signed, for `unsigned` ones
they are not. Integers do not round: the result is exact, whatever the order, as long as the sum
fits into 32 bits.
""",
    mutants=(
        mutant(
            "byte by byte",
            kinds.TARGET_MISSED,
            (
                "for (int word = 0; word < K / 4; ++word) {\n"
                "        sum = __dp4a(a[word], b[word], sum);",
                "for (int k = 0; k < K; ++k) {\n        sum += A[row * K + k] * B[column * K + k];",
            ),
        ),
        mutant("as many words as elements", kinds.OUT_OF_BOUNDS, ("word < K / 4", "word < K")),
        mutant(
            "unsigned bytes",
            kinds.WRONG,
            (
                "sum = __dp4a(a[word], b[word], sum)",
                "sum += __dp4a((unsigned)a[word], (unsigned)b[word], 0u)",
            ),
        ),
        mutant("last word missed", kinds.WRONG, ("word < K / 4;", "word + 1 < K / 4;")),
        mutant("no guard for the column", kinds.OUT_OF_BOUNDS, (" || column >= N", "")),
        mutant("sum begun anew", kinds.WRONG, ("b[word], sum)", "b[word], 0)")),
    ),
)


def matrix_of(seed: int, rows: int, columns: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed float64 values times ``scale``."""
    return np.random.default_rng(seed).standard_normal((rows, columns)) * scale


def by_way_of_bytes(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The product of two matrices quantised to 8 bits, one scale each."""
    scales = [np.abs(matrix).max() / 127 for matrix in (A, B)]
    a, b = (np.rint(matrix / scale) for matrix, scale in zip((A, B), scales, strict=True))
    return a @ b.T * (scales[0] * scales[1])


QUANTISED = PythonExercise(
    id="06.quantised_product",
    title="floats by way of bytes",
    notebook=TENSOR_CORES,
    task="""
Multiply two matrices of floats by way of 8-bit integers, with one scale for each matrix: its
largest magnitude becomes 127. Round to the nearest integer, sum in 32 bits, scale back.
""",
    source="06_matmul_and_fft/exercises/quantised_product.py",
    function="quantised_product",
    cases=(
        (matrix_of(1, 5, 40), matrix_of(2, 7, 40)),
        (matrix_of(3, 4, 300, 100.0), matrix_of(4, 3, 300, 0.01)),
        (matrix_of(5, 1, 1), matrix_of(6, 1, 1)),
    ),
    reference=by_way_of_bytes,
    hints=(
        "The scale says how much one step of the integer is worth: the largest magnitude over 127.",
        "`np.rint(A / scale).astype(np.int8)`: `astype` alone would cut off the fraction.",
        "A product of two bytes needs 16 bits, and their sum more: convert to `np.int32` before "
        "you multiply, since NumPy keeps the type of the factors.",
        "An integer sum is worth scale_a * scale_b.",
    ),
    explanation="""
Three places can go wrong. `astype` without `rint` rounds towards zero, and all values get smaller.
A product of `int8` arrays stays `int8` in NumPy and wraps around; a GPU's instructions have 32-bit
sums built in. And the scales multiply, because each factor was divided by its own.
""",
    mutants=(
        mutant(
            "cut off",
            kinds.WRONG,
            ("np.rint(A / scale_a)", "(A / scale_a)"),
            ("np.rint(B / scale_b)", "(B / scale_b)"),
        ),
        mutant(
            "sums of 8 bits",
            kinds.WRONG,
            ("a.astype(np.int32) @ b.astype(np.int32).T", "a @ b.T"),
        ),
        mutant("128 steps", kinds.WRONG, ("np.abs(A).max() / 127", "np.abs(A).max() / 128")),
        mutant("one scale forgotten", kinds.SCALED, ("(scale_a * scale_b)", "scale_a")),
        mutant(
            "not quantised",
            kinds.PRECISION,
            ("    scale_a = np", "    return A @ B.T\n    scale_a = np"),
        ),
        mutant(
            "not scaled back", kinds.SCALED, ("sums * (scale_a * scale_b)", "sums.astype(float)")
        ),
    ),
)

HALF_SUMS = Exercise(
    id="06.half_sums",
    title="find the lost digits",
    notebook=TENSOR_CORES,
    task="""
This kernel has no race, no wrong index, and its factors are the ones that the reference has. Still
every element of C is a little off, and the more so the larger K is. Run it as it stands, then find
the digits that it loses on the way.
""",
    source="06_matmul_and_fft/exercises/half_sums.cu",
    kernel="half_sums",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((32, 48, 512), (32, 16, 64), (16, 16, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    bug=kinds.PRECISION,
    hints=(
        "The factors are fp16 and are meant to be. What else has a type?",
        "Look at what the sums are kept in between one mma and the next.",
        "The accumulator fragment may be `float` while a and b are `__half`. Then the tile in "
        "shared memory has to be `float` as well.",
    ),
    explanation="""
The sums were kept in fp16: each of the K / 16 steps rounded them to 11 bits. With `float`
accumulators the product takes the same factors and the same number of instructions, on a GPU for
data centres at the same rate; only the registers for the sums double. (Rounding just once, at the
end, would be visible too, and is what happens when C itself is fp16.)
""",
    mutants=(
        mutant(
            "rounded to half at the end",
            kinds.PRECISION,
            ("float result = results", "float result = (__half)results"),
        ),
        mutant("no zeros", kinds.UNINITIALISED, ("wmma::fill_fragment(sum, 0.0f);", "")),
        mutant("last step missed", kinds.WRONG, ("k < K; k +=", "k + kTile < K; k +=")),
        mutant(
            "half of the tile stored",
            kinds.PARTLY_WRITTEN,
            ("i < kTile * kTile", "i < kTile * kTile / 2"),
        ),
        mutant(
            "rounded to half at each step",
            kinds.PRECISION,
            (
                "wmma::mma_sync(sum, a, b, sum);",
                "wmma::mma_sync(sum, a, b, sum);\n"
                "        for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = (__half)sum.x[i];",
            ),
        ),
    ),
)

EXERCISES = [
    WORK_AND_BYTES,
    LINES_OF_B,
    LOOP_ORDER,
    BLOCKS,
    REGISTER_TILE,
    COALESCED,
    TILED,
    PREDICT_LOADS,
    COLUMN,
    SQUARE,
    BUFFERS,
    STAGES,
    WHY_NOT,
    ROUNDS,
    BEAT,
    WMMA,
    FRAGMENT,
    MMA,
    SWIZZLE,
    DP4A,
    QUANTISED,
    HALF_SUMS,
]
