"""The exercises of "Coalescing and transposes"."""

from __future__ import annotations

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises import (
    Ask,
    Exercise,
    Launch,
    Means,
    NumberExercise,
    Promises,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.vectors import BLOCK, FULL, one_thread_each, spare_blocks

PREDICT_SECTORS = NumberExercise(
    id="04.predict_sectors",
    title="predict the sectors",
    task="""
A request touches sectors of 32 bytes. One warp runs the kernel below; `x` begins with a sector.
Predict how many sectors the warp's one load touches, for three strides. Then run the cell: the
emulator counts.
""",
    source="04_first_kernels/exercises/strided_read.cu",
    kernel="strided_read",
    inputs=lambda rng, stride: {
        "x": floats(rng, 32 * stride),
        "y": empty(32),
        "stride": np.int32(stride),
    },
    launch=lambda stride: Launch((1,), (32,)),
    asks={
        "neighbours": Ask(
            "stride 1: the 32 threads read 32 neighbouring floats",
            1,
            lambda counts: counts.global_load_sectors,
            {
                1: "One instruction, but 32 floats are 128 bytes, and a sector holds only 32.",
                32: "Threads share sectors: how many floats of 4 bytes fit into 32 bytes?",
                128: "That is the number of bytes. How many bytes does a sector hold?",
            },
        ),
        "every_second": Ask(
            "stride 2: every second float",
            2,
            lambda counts: counts.global_load_sectors,
            {
                4: "Only half of each sector is used now, so the warp needs more of them.",
                32: "Two neighbours are 8 bytes apart: some of them still share a sector.",
            },
        ),
        "every_eighth": Ask(
            "stride 8: every eighth float",
            8,
            lambda counts: counts.global_load_sectors,
            {
                16: "Neighbours are 8 * 4 = 32 bytes apart: do two of them still share a sector?",
                256: "No thread reads more than one float, and a float lies in one sector.",
            },
        ),
    },
    hints=(
        "Thread i reads the 4 bytes that begin at byte 4 * stride * i.",
        "A sector is bytes 0 to 31, 32 to 63, and so on: divide the byte's number by 32.",
        "With stride 1, eight threads share a sector. How many with stride 2, and with stride 8?",
    ),
    explanation="""
A sector holds eight floats. With stride 1 eight threads share each; with stride 2 only four do, so
there are twice as many sectors and half of what they carry is not used; from stride 8 on, every
thread has a sector to itself, and seven eighths of what the warp asks for is not used.
""",
    mutants=(
        mutant("one for all", kinds.WRONG_NUMBER, ("neighbours = 4", "neighbours = 1")),
        mutant("one for each", kinds.WRONG_NUMBER, ("every_second = 8", "every_second = 32")),
        mutant("dots left", kinds.WRONG_TYPE, ("every_eighth = 32", "every_eighth = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("neighbours = 4", "sectors = 4")),
        mutant("words", kinds.SYNTAX_ERROR, ("every_second = 8", "every_second = about eight")),
    ),
)


def moved_per_byte_wanted(counts: Counts) -> float:
    """Bytes of the sectors that are touched, for each byte that a thread asks for."""
    sectors = counts.global_load_sectors + counts.global_store_sectors
    asked = counts.global_load_bytes + counts.global_store_bytes
    return 32 * (sectors + counts.global_atomic_sectors) / max(asked, 1)


def brightened(given) -> dict:
    """gain x, with NaN where 0 meets infinity."""
    return {"y": given["gain"] * given["x"]}


WHY_IS_THIS_SLOW = Exercise(
    id="04.why_is_this_slow",
    title="right, and four times too much",
    task="""
Each thread has four elements, so a quarter of the blocks will do: a good idea. The result is right,
no checker finds a fault, and yet the warps ask for four bytes where one is wanted. Run the cell as
it is, find out why, and fix it: every byte asked for shall be wanted.
""",
    source="04_first_kernels/exercises/brighten.cu",
    kernel="brighten",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "gain": np.float32(rng.uniform(1.5, 3.0)),
        "n": np.int32(n),
    },
    reference=brightened,
    launch=lambda n: Launch((-(-n // 1024),), (BLOCK,)),
    small=(3001, 1025, 31, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=lambda n: [Launch((-(-n // 1024) + spare,), (BLOCK,)) for spare in (1, 0, 3)],
        values=(
            promises.scalars("gain", 0, 1, -1, 0.25, 1000, 1e20, np.inf),
            (
                *promises.data("x", *promises.ORDINARY, promises.ZEROS, *promises.STRANGE),
                promises.zero_times_infinity("gain", "x"),
                promises.zeros_and_infinities("x", "gain"),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=8192),
        Means(
            "bytes asked for per byte wanted, where the last block is not full",
            lambda work: moved_per_byte_wanted(work.counts),
            at_most=1.1,
            advice="The last block has fewer elements: its warps are to touch neighbours, too.",
            size=1900,
        ),
    ),
    bug=kinds.TARGET_MISSED,
    target=Target(
        label="bytes asked for per byte wanted",
        measure=moved_per_byte_wanted,
        at_most=1.0,
        advice="The result is right. Which elements do the 32 threads of a warp touch at the same "
        "time, in the iteration k = 0?",
        size=2048,
    ),
    hints=(
        "Write down `i` of threads 0, 1 and 2 for k = 0. How far apart are they?",
        "A CPU's thread likes four neighbours, one after the other. A warp wants its 32 threads to "
        "be neighbours *in the same iteration*.",
        "The four elements of a thread may lie anywhere in the block's 1024: what if they were 256 "
        "apart?",
        "`const int i = start + k * kThreads + threadIdx.x;`",
    ),
    explanation="""
With `4 * threadIdx.x + k` the threads of a warp are 16 bytes apart: every request touches 16
sectors and wants two of the eight floats in each. The other iterations come back for the rest; a
cache may still have it, but the warp asks four times. With `k * 256 + threadIdx.x` each iteration
is a plain coalesced copy.
""",
    mutants=(
        mutant(
            "a finite gain only",
            kinds.WRONG,
            ("gain * x[i]", "fminf(gain, 1e30f) * x[i]"),
        ),
        mutant(
            "neighbours for a thread",
            kinds.TARGET_MISSED,
            ("start + k * kThreads + threadIdx.x", "start + kEach * threadIdx.x + k"),
        ),
        mutant(
            "pairs", kinds.PARTLY_WRITTEN, ("k * kThreads + threadIdx.x", "2 * threadIdx.x + k")
        ),
        mutant("one iteration", kinds.PARTLY_WRITTEN, ("k < kEach", "k < 1")),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("block 0 only", kinds.FIRST_BLOCK, ("blockIdx.x * kThreads * kEach", "0")),
        mutant(
            "no gain of 0",
            kinds.ALL_ZEROS,
            ("= gain * x[i]", "= gain == 0.0f ? 0.0f : gain * x[i]"),
        ),
        mutant("no gain", kinds.SCALED, ("= gain * x[i]", "= x[i]")),
        mutant(
            "one warp for the block",
            kinds.MEANS_MISSING,
            ("k < kEach", "threadIdx.x < 32 && k < 8 * kEach"),
            ("k * kThreads", "k * 32"),
        ),
    ),
)


PREDICT_WAVEFRONTS = NumberExercise(
    id="04.predict_wavefronts",
    title="predict the wavefronts",
    task="""
One warp reads a tile in shared memory, each thread `stride` words after the one before. Predict how
many wavefronts the request for `tile[stride * threadIdx.x]` takes.
""",
    source="04_first_kernels/exercises/strided_tile.cu",
    kernel="strided_tile",
    inputs=lambda rng, stride: {
        "x": floats(rng, 1024),
        "y": empty(32),
        "stride": np.int32(stride),
    },
    launch=lambda stride: Launch((1,), (32,)),
    asks={
        "stride_2": Ask(
            "stride 2",
            2,
            lambda counts: counts.shared_load_wavefronts,
            {
                1: "Thread 0 wants word 0, thread 16 word 32: which banks are those?",
                16: "16 banks are in use. How many threads want each of them?",
                8: "That is the number of sectors of a global load; here banks count.",
            },
        ),
        "stride_12": Ask(
            "stride 12",
            12,
            lambda counts: counts.shared_load_wavefronts,
            {
                12: "Thread 8 wants word 96, and 96 = 3 * 32: it is in bank 0, as thread 0 is. "
                "Which other threads are?",
                1: "Go on until you meet bank 0 again: which thread is it?",
                8: "Eight is the number of banks in use. How many threads share each?",
            },
        ),
        "stride_31": Ask(
            "stride 31",
            31,
            lambda counts: counts.shared_load_wavefronts,
            {
                31: "Thread 1 is in bank 31, thread 2 in bank 30: do two threads ever meet?",
                32: "That would be one bank for all. Thread 0 is in bank 0, thread 1 in bank 31.",
            },
        ),
        "stride_0": Ask(
            "stride 0: all threads want the same word",
            0,
            lambda counts: counts.shared_load_wavefronts,
            {32: "They want the same bank, but also the same word: it is read once for all."},
        ),
    },
    hints=(
        "Thread i wants word stride * i, and word w lies in bank w % 32.",
        "Write the banks of threads 0, 1, 2 and so on in a row until bank 0 comes again.",
        "If thread t is the first to want another word of bank 0, then 32 / t threads want each "
        "bank that is in use.",
        "Odd strides never come back to bank 0 before thread 32.",
    ),
    explanation="""
The number of threads in a bank is the greatest common divisor of the stride and 32: 2 for stride 2,
4 for stride 12, 1 for every odd stride. That is why a row of 33 words is conflict-free by columns,
and 31 or 35 would be, too. Lanes that want the same word are no conflict.
""",
    mutants=(
        mutant("sectors", kinds.WRONG_NUMBER, ("stride_2 = 2", "stride_2 = 8")),
        mutant("the stride", kinds.WRONG_NUMBER, ("stride_12 = 4", "stride_12 = 12")),
        mutant("odd is bad", kinds.WRONG_NUMBER, ("stride_31 = 1", "stride_31 = 31")),
        mutant("one bank", kinds.WRONG_NUMBER, ("stride_0 = 1", "stride_0 = 32")),
        mutant("dots left", kinds.WRONG_TYPE, ("stride_12 = 4", "stride_12 = ...")),
    ),
)


def picture_and_room(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "in": floats(rng, (rows, columns)),
        "out": empty((columns, rows)),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def spare_tiles(size: tuple[int, int]) -> tuple[Launch, ...]:
    """Grids of 32 x 32 threads with more blocks than the picture needs."""
    rows, columns = size
    across, down = -(-columns // 32), -(-rows // 32)
    return tuple(
        Launch((across + right, down + below), (32, 32))
        for right, below in ((1, 0), (0, 2), (0, 0))
    )


def of_each_32(counts: Counts, elements: int) -> float:
    """Sectors and wavefronts for each 32 elements."""
    sectors = counts.global_load_sectors + counts.global_store_sectors
    wavefronts = counts.shared_load_wavefronts + counts.shared_store_wavefronts
    return (sectors + counts.global_atomic_sectors + wavefronts) / (elements / 32)


ROTATE_PICTURE = Exercise(
    id="04.rotate_picture",
    title="rotate a picture by 90 degrees",
    task="""
The kernel below rotates a picture clockwise: the first row becomes the last column. Every element
is right, and every write of a warp touches 32 sectors. Use a tile in shared memory. The target
counts sectors and wavefronts together, for each 32 elements: 4 sectors to read, 4 to write, and one
wavefront each to fill the tile and to read it.
""",
    source="04_first_kernels/exercises/rotate_picture.cu",
    kernel="rotate_picture",
    inputs=picture_and_room,
    reference=lambda given: {"out": np.rot90(given["in"], -1)},
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (32, 32)),
    small=((37, 70), (33, 31), (1, 40), (1, 32_801), (32_801, 1), (1, 1)),
    full=(4096, 4096),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 31, 33, 65, 131, 301), columns=(1, 3, 32, 97, 131, 257, 301)
        ),
        launches=spare_tiles,
        values=(promises.data("in", *promises.ANY_FLOAT),),
    ),
    means=(
        means.shared_memory(
            at_least=64 * 96 * 4 / 2,
            advice="The task asks for a tile in shared memory: all elements go through it.",
            size=(64, 96),
        ),
        means.one_store_each(),
        means.work_shared_out(size=(64, 96)),
        Means(
            "sectors and wavefronts for each 32 elements of a picture of 56 x 88",
            lambda work: of_each_32(work.counts, 56 * 88),
            at_most=14.0,
            advice="The tiles at the edges are not full, and still go through shared memory.",
            size=(56, 88),
        ),
    ),
    target=Target(
        label="sectors and wavefronts for each 32 elements",
        measure=lambda counts: of_each_32(counts, 64 * 96),
        at_most=10.0,
        advice="The picture is right. About 36 to 38: the writes still go down a column of `out`, "
        "with a tile or without. About 41: they do not, but a column of the tile lies in one bank.",
        size=(64, 96),
    ),
    hints=(
        "Fill the tile as the transpose does: `tile[y][x]` from row `first_row + y` of `in`, if "
        "there is such a row and column.",
        "Behind the barrier a thread writes another element than it read: `tile[x][y]`. Which row "
        "and column of `in` did that come from?",
        "It came from row `first_row + x` and column `first_column + y`; guard those two.",
        "Its address is the starter's: `out[column * rows + rows - 1 - row] = tile[x][y];`",
        "A row of the tile is one longer than it need be: `tile[kTile][kTile + 1]`.",
    ),
    explanation="""
x runs along a row of `in` while reading and along a row of `out` while writing. That row is written
from right to left, which costs nothing: a request counts the sectors it touches, not the order of
its lanes in them.
""",
    mutants=(
        mutant("no padding", kinds.TARGET_MISSED, ("[kTile + 1]", "[kTile]")),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();  // the", "    // the")),
        mutant("not rotated", kinds.REVERSED, ("+ rows - 1 - row]", "+ row]")),
        mutant("a short index", kinds.OUT_OF_BOUNDS, ("const int row =", "const short row =")),
        mutant("plus zero", kinds.WRONG, ("= tile[x][y];", "= tile[x][y] + 0.0f;")),
        mutant("four tiles across", kinds.FIRST_BLOCK, ("blockIdx.x *", "blockIdx.x % 4 *")),
        mutant("tile not transposed", kinds.UNINITIALISED, ("= tile[x][y]", "= tile[y][x]")),
        mutant(
            "writes where it read",
            kinds.TARGET_MISSED,
            ("row = first_row + x;", "row = first_row + y;"),
            ("column = first_column + y;", "column = first_column + x;"),
            ("= tile[x][y]", "= tile[y][x]"),
        ),
        mutant(
            "guards of the first half",
            kinds.OUT_OF_BOUNDS,
            (
                "if (row < rows && column < columns) {",
                "if (first_row + y < rows && first_column + x < columns) {",
            ),
        ),
    ),
)


LENGTHS = Exercise(
    id="04.lengths",
    title="an array of structs that you cannot change",
    task="""
The vectors come as x, y, z, x, y, z and so on, and it is not for you to change that. The kernel is
right, but its loads touch 36 sectors for every 32 vectors, and 12 would do. Make it 12.
""",
    source="04_first_kernels/exercises/lengths.cu",
    kernel="lengths",
    inputs=lambda rng, n: {"vectors": floats(rng, (n, 3)), "length": empty(n), "n": np.int32(n)},
    reference=lambda given: {
        "length": np.sqrt((given["vectors"].astype(np.float64) ** 2).sum(axis=1))
    },
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            promises.data(
                "vectors",
                *promises.ORDINARY,
                promises.ZEROS,
                promises.VERY_SMALL,
                promises.SOME_INFINITE,
                promises.SOME_NAN,
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=4096),
        Means(
            "sectors loaded for each 32 of 992 vectors",
            lambda work: work.counts.global_load_sectors / (992 / 32),
            at_most=13.0,
            advice="The last block has fewer vectors, and copies them in the same way.",
            size=992,
        ),
    ),
    reduction=lambda n: 3,
    target=Target(
        label="sectors loaded for each 32 vectors",
        measure=lambda counts: (
            (counts.global_load_sectors + counts.global_atomic_sectors) / (1024 / 32)
        ),
        at_most=12.0,
        advice="The lengths are right. The block's 256 vectors are 768 floats in a row: load those "
        "thread by neighbouring thread, and pick x, y and z out of shared memory.",
        size=1024,
    ),
    hints=(
        "The block needs floats `3 * first` up to `3 * first + 767`. Forget that they are vectors.",
        "Three iterations: in iteration t, thread j copies float `3 * first + 256 * t + j` to "
        "`mine[256 * t + j]`.",
        "The last block has fewer: there are `3 * n` floats in all. Guard each copy.",
        "Wait, `__syncthreads()`, outside of any `if`. Then vector j of the block is at "
        "`mine[3 * j]`, `mine[3 * j + 1]` and `mine[3 * j + 2]`.",
    ),
    explanation="""
The block's vectors lie together, so reading them as plain floats is coalesced. Which float belongs
to whom is sorted out in shared memory, where the price of disorder is bank conflicts. And there are
none: lanes are 3 words apart, 3 is odd, so 32 lanes meet 32 banks.
""",
    mutants=(
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();  // all", "    // all")),
        mutant("no guard in the copy", kinds.OUT_OF_BOUNDS, ("if (3 * first + k < 3 * n) {", "{")),
        mutant(
            "guard by vector", kinds.UNINITIALISED, ("3 * first + k < 3 * n", "3 * first + k < n")
        ),
        mutant(
            "one iteration", kinds.UNINITIALISED, ("k < 3 * kThreads; k +=", "k < kThreads; k +=")
        ),
        mutant(
            "each its own three",
            kinds.TARGET_MISSED,
            ("int k = threadIdx.x; k < 3 * kThreads; k += kThreads", "int j = 0; j < 3; ++j"),
            (
                "        if (3 * first + k < 3 * n) {",
                "        const int k = 3 * threadIdx.x + j;\n        if (3 * first + k < 3 * n) {",
            ),
        ),
        mutant(
            "one warp for the block",
            kinds.MEANS_MISSING,
            ("k < 3 * kThreads; k += kThreads", "k < 3 * kThreads && threadIdx.x < 32; k += 32"),
            (
                "    if (i < n) {",
                "    for (int j = threadIdx.x; j < kThreads && threadIdx.x < 32; j += 32)\n"
                "        if (const int i = first + j; i < n) {",
            ),
            ("x = mine[3 * threadIdx.x];", "x = mine[3 * j];"),
            ("mine[3 * threadIdx.x + 1]", "mine[3 * j + 1]"),
            ("mine[3 * threadIdx.x + 2]", "mine[3 * j + 2]"),
        ),
        mutant(
            "very small ones flushed",
            kinds.ALL_ZEROS,
            (
                "sqrtf(x * x + y * y + z * z)",
                "fmaf(x, x, y * y) < 1e-20f ? 0 : sqrtf(x * x + y * y + z * z)",
            ),
        ),
        mutant("no root", kinds.WRONG, ("sqrtf(x * x + y * y + z * z)", "x * x + y * y + z * z")),
        mutant(
            "block 0's vectors", kinds.FIRST_BLOCK, ("= vectors[3 * first + k]", "= vectors[k]")
        ),
    ),
)
