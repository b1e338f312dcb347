"""The exercises of "Matrix product: from naive to shared memory"."""

from __future__ import annotations

from course_utils.exercises import Exercise, Launch, Means, Target, kinds, means, mutant

from .common import ANY_PRODUCT, matrices, product

COALESCED = Exercise(
    id="06.coalesced_matmul",
    title="neighbouring threads, neighbouring addresses",
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
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="sectors per global load",
        measure=lambda counts: counts.global_load_sectors / max(counts.global_load_requests, 1),
        at_most=3.0,
        advice="Which of row and column should change from one threadIdx.x to the next? In C's "
        "memory, the neighbour on the right is next door; the one below is N elements away.",
        size=(32, 32, 32),
    ),
    within=2.0,
    promises=ANY_PRODUCT,
    means=(
        means.one_store_each(),
        means.a_thread_each(size=(32, 32, 32)),
        means.work_shared_out(2.0, size=(32, 32, 32)),
        # Useless loads of one sector make the average better, and the kernel slower.
        Means(
            "sectors read from global memory, over the elements of C",
            lambda work: work.counts.global_load_sectors / work.results,
            at_most=10,
            advice="The loads of A and B shall touch fewer sectors; other loads are no help.",
            size=(32, 32, 32),
        ),
    ),
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
            "everything twice",
            kinds.MEANS_MISSING,
            ("if (row < M &&", "for (int turn = 0; turn < 2; ++turn) if (row < M &&"),
        ),
        mutant("NaN lost", kinds.WRONG, ("= sum;", "= sum == sum ? sum : 0.0f;")),
        mutant("row in 16 bits", kinds.OUT_OF_BOUNDS, ("const int row", "const short row")),
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
    task="""
Let the 256 threads of a block share what they load. In each iteration the block loads one tile of A
and one of B into shared memory, waits, multiplies, waits again. Neither M, N nor K need be
multiples of 16.
""",
    source="06_matmul_and_fft/exercises/tiled_matmul.cu",
    kernel="tiled_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 21, 35), (16, 32, 16), (5, 1, 33), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="global loads per FMA",
        measure=lambda counts: counts.global_load_requests * 32 / 32**3,
        at_most=0.2,
        advice="The result is right, but the inner loop still reads global memory: let it read the "
        "tiles, which hold what the whole block has loaded.",
        size=(32, 32, 32),
    ),
    promises=ANY_PRODUCT,
    means=(
        means.one_store_each(),
        means.loads_shared_out(size=(32, 32, 32)),
        means.work_shared_out(1.6, size=(32, 32, 32)),
        # Half of a solution's bytes are those of one of the two matrices.
        means.shared_memory(
            12_288,
            advice="Both tiles, of A and of B, belong into shared memory.",
            size=(32, 32, 32),
        ),
    ),
    hints=(
        "Thread (x, y) loads one element of each tile: `tile_a[y][x]` and `tile_b[y][x]`.",
        "A's element is (row, start + x): inside only if `row < M && start + x < K`. B's is "
        "(start + y, column). A zero in the tile adds nothing to the sum.",
        "`__syncthreads()` is needed twice: between loading and reading, and between reading and "
        "the next iteration's loading.",
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
        mutant(
            "last row of B again",
            kinds.NOT_A_NUMBER,
            (
                "start + y < K && column < N ? B[(start + y) * N + column] : 0.0f",
                "column < N ? B[min(start + y, K - 1) * N + column] : 0.0f",
            ),
        ),
        mutant("wrong tile index", kinds.WRONG, ("tile_b[k][x]", "tile_b[x][k]")),
        mutant("start forgotten in B", kinds.WRONG, ("B[(start + y) * N", "B[y % K * N")),
        mutant(
            "guard around the barrier",
            kinds.BARRIER,
            ("__syncthreads();  // no thread reads", "if (row < M) __syncthreads();  // no"),
        ),
        mutant(
            "one warp loads for all",
            kinds.MEANS_MISSING,
            (
                "tile_a[y][x] = row < M && start + x < K ? A[row * K + start + x] : 0.0f;",
                "for (int r = row; y < 2 && r < row - y + kTile; r += 2)\n            tile_a"
                "[y + r - row][x] = r < M && start + x < K ? A[r * K + start + x] : 0.0f;",
            ),
            (
                "tile_b[y][x] = start + y < K && column < N ? B[(start + y) * N + column] : 0.0f;",
                "for (int z = y; y < 2 && z < kTile; z += 2)\n            tile_b[z][x] = "
                "start + z < K && column < N ? B[(start + z) * N + column] : 0.0f;",
            ),
        ),
        mutant(
            "the first 256 blocks only",
            kinds.FIRST_BLOCK,
            ("blockIdx.x * kTile", "(unsigned char)blockIdx.x * kTile"),
        ),
        mutant(
            "last round missed",
            kinds.WRONG,
            ("start < K; start", "start + kTile < K; start"),
        ),
    ),
)
