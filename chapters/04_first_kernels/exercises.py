"""Exercises of chapter 04: indices, moving data, barriers and atomics, memory access."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises import (
    Ask,
    Exercise,
    Launch,
    NumberExercise,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    mutant,
)
from course_utils.exercises.late_gpu import LateGPU
from course_utils.observing.occupancy_calculator import Occupancy, Resources

HELLO = "04_first_kernels/01_hello_threads"
GRIDS = "04_first_kernels/02_two_and_three_dimensions"
COALESCING = "04_first_kernels/05_coalescing_and_transpose"
MOVING = "04_first_kernels/03_moving_data"
BARRIERS = "04_first_kernels/04_barriers_and_atomics"
SMALL = (1000, 257, 31, 1)
FULL = 1 << 24
BLOCK = 256


def one_thread_each(n: int) -> Launch:
    """Enough blocks of 256 threads for n elements."""
    return Launch((-(-n // BLOCK),), (BLOCK,))


SAXPY = Exercise(
    id="04.saxpy",
    title="a times x plus y",
    notebook=HELLO,
    task="""
Write `y[i] = a * x[i] + y[i]`, in place, for `n` elements. The launch has whole blocks of 256
threads, so when `n` is no multiple of 256 the last block has threads with nothing to do.
""",
    source="04_first_kernels/exercises/saxpy.cu",
    kernel="saxpy",
    inputs=lambda rng, n: {
        "a": np.float32(rng.uniform(1.5, 3.0)),
        "x": floats(rng, n),
        "y": floats(rng, n),
        "n": np.int32(n),
    },
    reference=lambda given: {"y": given["a"] * given["x"] + given["y"]},
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    hints=(
        "Block `b` starts at element `b * 256`; a thread's element lies `threadIdx.x` further on.",
        "`const int i = blockIdx.x * blockDim.x + threadIdx.x;`",
        "Threads with `i >= n` must not touch the arrays: put the update inside `if (i < n)`.",
        "`if (i < n) { y[i] = a * x[i] + y[i]; }`",
    ),
    explanation="""
Each element is read and written by one thread only, so no thread has to wait for another. The
compiler turns the multiplication and the addition into one instruction, `fma`, which rounds once.
""",
    mutants=(
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("<= for <", kinds.OUT_OF_BOUNDS, ("i < n", "i <= n")),
        mutant(
            "local index",
            kinds.DATA_RACE,
            ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        ),
        mutant(
            "every thread does it all",
            kinds.DATA_RACE,
            ("if (i < n) {", "for (int k = 0; k < n; ++k) {"),
            ("    y[i] = a * x[i] + y[i];\n", "    y[k] = a * x[k] + y[k];\n"),
        ),
        mutant("y forgotten", kinds.WRONG, (" + y[i];\n", ";\n")),
        mutant("last element missed", kinds.EDGES, ("i < n", "i < n - 1")),
        mutant("never stores", kinds.NOTHING_WRITTEN, ("y[i] = a * x[i] + y[i];", "")),
        mutant("one place for all", kinds.DATA_RACE, ("    y[i] =", "    y[n / 2] =")),
        mutant("another name", kinds.WRONG_NAME, ("void saxpy", "void axpy")),
        mutant("no n", kinds.WRONG_SIGNATURE, (", int n)", ")"), ("i < n", "i < 1000")),
    ),
)

CLAMP = Exercise(
    id="04.clamp",
    title="a grid-stride loop",
    notebook=HELLO,
    task="""
Hold every element between `low` and `high`. This time the grid is too small for one thread per
element: each thread handles several, as many elements apart as the grid has threads.
""",
    source="04_first_kernels/exercises/clamp.cu",
    kernel="clamp",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "low": np.float32(-0.5),
        "high": np.float32(0.75),
        "n": np.int32(n),
    },
    reference=lambda given: {"y": np.clip(given["x"], given["low"], given["high"])},
    launch=lambda n: Launch((2 if n < FULL else 1056,), (BLOCK,)),
    small=(2049, 1000, 31, 1),
    full=FULL,
    target=Target(
        label="stores per element",
        measure=lambda counts: counts.global_store_bytes / 4 / 2048,
        at_most=1.0,
        advice="The result is right, but some elements are handled more than once: how many "
        "elements does the whole grid cover in one turn?",
        size=2048,
    ),
    hints=(
        "The grid has `gridDim.x` blocks of `blockDim.x` threads each.",
        "`const int stride = gridDim.x * blockDim.x;` All threads together cover one a turn.",
        "`fmaxf(v, low)` is the larger of two floats, `fminf(v, high)` the smaller.",
        "`y[i] = fminf(fmaxf(x[i], low), high);`",
    ),
    explanation="""
A grid-stride loop separates the size of the grid from the size of the data: one launch shape works
for any `n`. In every turn neighbouring threads still touch neighbouring elements.
""",
    mutants=(
        mutant("one turn", kinds.FIRST_BLOCK, ("gridDim.x * blockDim.x", "n")),
        mutant("strides by a block", kinds.TARGET_MISSED, ("gridDim.x * blockDim.x", "blockDim.x")),
        mutant("stride 0", kinds.ENDLESS_LOOP, ("gridDim.x * blockDim.x", "0")),
        mutant("no low", kinds.WRONG, ("fmaxf(x[i], low)", "x[i]")),
        mutant("ends swapped", kinds.WRONG, ("fminf(fmaxf(x[i], low), high)", "low")),
        mutant("one too far", kinds.OUT_OF_BOUNDS, ("i < n", "i <= n")),
        mutant("starts at block 1", kinds.PARTLY_WRITTEN, ("i = first", "i = first + 256")),
    ),
)

REVERSED_COPY = Exercise(
    id="04.reversed_copy",
    title="read from the other end",
    notebook=HELLO,
    task="""
Copy `x` to `y` in reverse order: the first element of `y` is the last of `x`. Where does the last
thread read?
""",
    source="04_first_kernels/exercises/reversed_copy.cu",
    kernel="reversed_copy",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {"y": given["x"][::-1]},
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    hints=(
        "Write down the pairs for n = 4: y[0] comes from x[3], y[1] from x[2]; their sum is n - 1.",
        "Guard first: only threads with `i < n` may read or write.",
        "`if (i < n) { y[i] = x[n - 1 - i]; }`",
    ),
    explanation="""
`i` and `n - 1 - i` always add up to `n - 1`. Counting from zero is what makes it `n - 1` and not
`n`: `x[n]` does not exist.
""",
    mutants=(
        mutant("n for n - 1", kinds.OUT_OF_BOUNDS, ("x[n - 1 - i];", "x[n - i];")),
        mutant("not reversed", kinds.REVERSED, ("x[n - 1 - i];", "x[i];")),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("one early", kinds.OFF_BY_ONE, ("x[n - 1 - i];", "x[max(n - 2 - i, 0)];")),
        mutant("half of it", kinds.PARTLY_WRITTEN, ("i < n", "i < n && i % 2 == 0")),
    ),
)


def grayscale_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    height, width = size
    return {
        "rgb": rng.random((height, width, 3), dtype=np.float32),
        "gray": empty((height, width)),
        "height": np.int32(height),
        "width": np.int32(width),
    }


GRAYSCALE = Exercise(
    id="04.grayscale",
    title="a picture in gray",
    notebook=GRIDS,
    task="""
Turn a colour image into gray. `x` runs along a row of the picture and `y` down the rows; the image
need not be a multiple of the 16 x 16 block in either direction.
""",
    source="04_first_kernels/exercises/grayscale.cu",
    kernel="grayscale",
    inputs=grayscale_inputs,
    reference=lambda given: {
        "gray": given["rgb"].astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    },
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 90), (16, 32), (5, 1), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: 3,
    hints=(
        "The formula of the first notebook, once for `x` and once for `y`.",
        "`row = blockIdx.y * blockDim.y + threadIdx.y`, and `column` the same with `x`.",
        "Pixel (row, column) is number `row * width + column`; guard both: `row < height && ...`",
        "`gray[pixel] = 0.299f * rgb[3 * pixel] + 0.587f * rgb[3 * pixel + 1] + 0.114f * "
        "rgb[3 * pixel + 2];`",
    ),
    explanation="""
Rows lie one after another in memory, so one step down is `width` elements. Both directions need a
guard: without the one for the column, a thread past the right edge would write into the next row.
""",
    mutants=(
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row < height && column < width", "row < height"),
        ),
        mutant(
            "no guard for the row",
            kinds.OUT_OF_BOUNDS,
            ("row < height && column < width", "column < width"),
        ),
        mutant(
            "x and y swapped",
            kinds.PARTLY_WRITTEN,
            ("blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.x * blockDim.x + threadIdx.x "),
            (
                "column = blockIdx.x * blockDim.x + threadIdx.x;",
                "column = blockIdx.y * blockDim.y + threadIdx.y;",
            ),
        ),
        mutant("transposed", kinds.TRANSPOSED, ("gray[pixel]", "gray[column * height + row]")),
        mutant("blue for red", kinds.WRONG, ("red = rgb[3 * pixel]", "red = rgb[3 * pixel + 2]")),
        mutant("height for width", kinds.OUT_OF_BOUNDS, ("row * width", "row * height")),
    ),
)


def matrices(rng: np.random.Generator, size: tuple[int, int, int, int]) -> dict:
    batch, m, n, k = size
    return {
        "A": floats(rng, (batch, m, k)),
        "B": floats(rng, (batch, k, n)),
        "C": empty((batch, m, n)),
        "batch": np.int32(batch),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


BATCHED_MATMUL = Exercise(
    id="04.batched_matmul",
    title="many small matrix products",
    notebook=GRIDS,
    task="""
Multiply `batch` pairs of matrices in one launch. The grid has three dimensions: `x` for the column,
`y` for the row, and `z` for the pair.
""",
    source="04_first_kernels/exercises/batched_matmul.cu",
    kernel="batched_matmul",
    inputs=matrices,
    reference=lambda given: {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64)},
    launch=lambda size: Launch((-(-size[2] // 8), -(-size[1] // 8), size[0]), (8, 8)),
    small=((3, 13, 17, 11), (5, 8, 8, 8), (2, 1, 9, 1), (1, 1, 1, 1)),
    full=(64, 256, 256, 256),
    reduction=lambda size: size[3],
    hints=(
        "Each block has depth 1, so the pair is simply `blockIdx.z`.",
        "Matrix `b` of A starts at element `b * M * K`: skip the b matrices before it.",
        "Loop `k` from 0 to K: `sum += A[(b * M + row) * K + k] * B[(b * K + k) * N + column];`",
        "Declare `float sum = 0.0f;` before the loop, without `const`.",
    ),
    explanation="""
A three-dimensional array is a row of matrices, each a row of rows: the index of an element is
`(b * M + row) * K + k`. One launch of many small products keeps the GPU busy where one small
product alone could not.
""",
    mutants=(
        mutant("pair 0 only", kinds.FIRST_BLOCK, ("blockIdx.z * blockDim.z + threadIdx.z", "0")),
        mutant("B of pair 0", kinds.FIRST_BLOCK, ("(b * K + k) * N", "k * N")),
        mutant("sum starts unset", kinds.WRONG, ("float sum = 0.0f;", "float sum = 1.0f;")),
        mutant("last product missed", kinds.WRONG, ("k < K", "k < K - 1")),
        mutant("one product too many", kinds.OUT_OF_BOUNDS, ("k < K", "k <= K")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("b >= batch || row >= M || column >= N", "false")),
        mutant("M for N in C", kinds.OUT_OF_BOUNDS, ("* N + column] = sum", "* M * N] = sum")),
    ),
)

BLOCKS_FOR = PythonExercise(
    id="04.blocks_for",
    title="how many blocks?",
    notebook=MOVING,
    task="""
Write the Python function that every launch needs: how many blocks of `threads` threads give each of
`n` elements a thread of its own? Try n = 256, 257 and 512 with 256 threads on paper first.
""",
    source="04_first_kernels/exercises/blocks_for.py",
    function="blocks_for",
    cases=((1000, 256), (256, 256), (257, 256), (1, 32), (2**31 + 1, 1024)),
    reference=lambda n, threads: -(-n // threads),
    hints=(
        "`n // threads` counts the full blocks. What is left over needs one more.",
        "There is something left over unless `n` is a multiple of `threads`.",
        "`return (n + threads - 1) // threads` adds just enough to reach the next whole block.",
    ),
    explanation="""
Adding `threads - 1` before the division rounds up. It stays in whole numbers: `math.ceil(n /
threads)` goes through a float, which cannot tell apart all integers above 2^53.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG, ("(n + threads - 1) // threads", "n // threads")),
        mutant("one too many", kinds.WRONG, ("(n + threads - 1) // threads", "n // threads + 1")),
        mutant("a float", kinds.WRONG_TYPE, ("// threads", "/ threads")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
        mutant("typo", kinds.EXCEPTION, ("(n + threads", "(n + thread")),
        mutant("no colon", kinds.SYNTAX_ERROR, ("(n, threads):", "(n, threads)")),
    ),
)


def rows_and_room(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": rng.random((rows, columns), dtype=np.float32) + np.float32(0.5),
        "mean": empty(rows),
        "y": empty((rows, columns)),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def scaled(given) -> dict:
    """The exact means and quotients, as far as float64 goes."""
    x = given["x"].astype(np.float64)
    mean = x.mean(axis=1)
    return {"mean": mean, "y": x / mean[:, None]}


def one_kernel_then_the_other(size: tuple[int, int]) -> tuple[Launch, Launch]:
    rows, columns = size
    return (
        Launch((-(-rows // 64),), (64,), arguments=("x", "mean", "rows", "columns")),
        Launch(
            (-(-columns // 16), -(-rows // 16)),
            (16, 16),
            kernel="divide_by_mean",
            arguments=("x", "mean", "y", "rows", "columns"),
        ),
    )


SCALE_ROWS = Exercise(
    id="04.scale_rows",
    title="two kernels, one after the other",
    notebook=BARRIERS,
    task="""
Divide each row of a matrix by its mean. A block cannot wait for the others, so this takes two
kernels: the first finds the means, the second, launched after it, divides by them.
""",
    source="04_first_kernels/exercises/scale_rows.cu",
    kernel="row_mean",
    inputs=rows_and_room,
    reference=scaled,
    launch=one_kernel_then_the_other,
    small=((37, 45), (67, 5), (2, 3), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: size[1],
    hints=(
        "`row_mean` has one thread a row: a loop over the columns, guarded by `row < rows`.",
        "Element (row, column) lies at `row * columns + column`; divide the sum by `columns`.",
        "`divide_by_mean` has one thread an element: guard both directions, read `mean[row]`.",
        "`y[row * columns + column] = x[row * columns + column] / mean[row];`",
    ),
    explanation="""
The end of a kernel is the one point at which every block is known to be done: what the first kernel
wrote, the second may read. Inside one kernel, `__syncthreads()` waits for one block only.
""",
    mutants=(
        mutant("sum for mean", kinds.SCALED, ("sum / columns", "sum")),
        mutant("mean of row 0", kinds.FIRST_BLOCK, (" / mean[row]", " / mean[0]")),
        mutant("no mean stored", kinds.NOTHING_WRITTEN, ("mean[row] = sum / columns;", "")),
        mutant("row guard left out", kinds.OUT_OF_BOUNDS, ("if (row < rows) {", "{")),
        mutant(
            "column guard left out",
            kinds.OUT_OF_BOUNDS,
            ("row < rows && column < columns", "row < rows"),
        ),
        mutant("second kernel renamed", kinds.WRONG_NAME, ("void divide_by_mean", "void divide")),
        mutant("first column missed", kinds.PRECISION, ("int column = 0;", "int column = 1;")),
    ),
)

FIND_THE_RACE = Exercise(
    id="04.find_the_race",
    title="find the bug",
    notebook=BARRIERS,
    task="""
This kernel gave the right result on the machine it was written on. Run the cell as it is, read the
verdict, and add the one line that is missing.
""",
    source="04_first_kernels/exercises/find_the_race.cu",
    kernel="reverse_blocks",
    inputs=lambda rng, blocks: {"x": floats(rng, 256 * blocks), "y": empty(256 * blocks)},
    reference=lambda given: {"y": given["x"].reshape(-1, 256)[:, ::-1].reshape(-1)},
    launch=lambda blocks: Launch((blocks,), (256,)),
    small=(3, 1),
    full=1 << 16,
    bug=kinds.DATA_RACE,
    hints=(
        "The verdict names two lines: one writes, one reads the same place, in different threads.",
        "Threads 0 and 255 sit in different warps. Which of them comes first is nobody's promise.",
        "`__syncthreads();` between the two lines makes the whole block wait for its last writer.",
    ),
    explanation="""
Thread 0 reads what thread 255 wrote. Without a barrier the read may come first, and whether it does
depends on the scheduler: tests can pass for years. The barrier makes the order certain.
""",
    mutants=(
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();  // nobody", "    // nobody")),
        mutant(
            "barrier too early",
            kinds.DATA_RACE,
            ("    tile[threadIdx.x] =", "    __syncthreads();\n    tile[threadIdx.x] ="),
            ("    __syncthreads();  // nobody", "    // nobody"),
        ),
        mutant("a warp's barrier", kinds.DATA_RACE, ("__syncthreads()", "__syncwarp()")),
        mutant(
            "barrier for half",
            kinds.DATA_RACE,
            ("__syncthreads();", "if (threadIdx.x < 128) __syncthreads();"),
        ),
        mutant("not turned around", kinds.WRONG, ("tile[kBlock - 1 - threadIdx.x]", "tile[5]")),
    ),
)

PREDICT_SECTORS = NumberExercise(
    id="04.predict_sectors",
    title="predict the sectors",
    notebook=COALESCING,
    task="""
Memory moves in sectors of 32 bytes. One warp runs the kernel below; `x` begins at a sector's edge.
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
thread has a sector to itself, and seven eighths of the traffic is wasted.
""",
    mutants=(
        mutant("one for all", kinds.WRONG_NUMBER, ("neighbours = 4", "neighbours = 1")),
        mutant("one for each", kinds.WRONG_NUMBER, ("every_second = 8", "every_second = 32")),
        mutant("dots left", kinds.WRONG_TYPE, ("every_eighth = 32", "every_eighth = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("neighbours = 4", "sectors = 4")),
        mutant("words", kinds.SYNTAX_ERROR, ("every_second = 8", "every_second = about eight")),
    ),
)

# --- 03_moving_data ---

PIECES = PythonExercise(
    id="04.pieces",
    title="cut a copy into pieces",
    notebook=MOVING,
    task="""
Write the function that cuts `n` elements into at most `chunks` pieces. It returns a list of tuples
`(first, count)`: where a piece begins, and how many elements it has. All pieces but the last have
`per_chunk` elements. Try n = 10 with 4 chunks on paper first, and then n = 9.
""",
    source="04_first_kernels/exercises/pieces.py",
    function="pieces",
    cases=((1000, 4), (10, 4), (9, 4), (7, 1), (1, 8), (12345, 8)),
    reference=lambda n, chunks: [
        (first, min(-(-n // chunks), n - first)) for first in range(0, n, -(-n // chunks))
    ],
    hints=(
        "For n = 10 and 4 chunks, per_chunk is 3: the pieces begin at 0, 3, 6 and 9.",
        "`range(0, n, per_chunk)` gives just those beginnings, and none that lies past the end.",
        "The last piece has only what is left: `n - first`, where that is less than `per_chunk`.",
        "`[(first, min(per_chunk, n - first)) for first in range(0, n, per_chunk)]`",
    ),
    explanation="""
It is the grid of a kernel once more: round up, and mind the end. With n = 9 and 4 chunks the pieces
are 3 long and there are only three of them: a fourth would be empty, and a kernel cannot be
launched with a grid of no blocks.
""",
    mutants=(
        mutant("the last one too long", kinds.WRONG, ("min(per_chunk, n - first)", "per_chunk")),
        mutant("rounds down", kinds.WRONG, ("(n + chunks - 1) // chunks", "n // chunks")),
        mutant("end for count", kinds.WRONG, ("n - first)", "n - first) + first")),
        mutant("one step for all", kinds.WRONG, ("range(0, n, per_chunk)", "range(0, n)")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
        mutant("floats", kinds.EXCEPTION, ("chunks - 1) // chunks", "chunks - 1) / chunks")),
    ),
)

OVERLAP_MS = PythonExercise(
    id="04.overlap_ms",
    title="predict the overlap",
    notebook=MOVING,
    task="""
Copy in, kernel, copy out: each takes a known time for the whole data. Cut into equal chunks, the
three stages work side by side, each on a chunk of its own. How long does the whole take? Leave out
what a launch or the start of a copy costs. Draw 3 chunks first, with stages of 1, 2 and 1 ms each.
""",
    source="04_first_kernels/exercises/overlap_ms.py",
    function="overlap_ms",
    cases=(
        (3.0, 6.0, 3.0, 3),
        (4.0, 4.0, 4.0, 1),
        (4.0, 4.0, 4.0, 8),
        (10.0, 1.0, 5.0, 10),
        (1.0, 2.0, 9.0, 4),
    ),
    reference=lambda copy_in, kernel, copy_out, chunks: (
        (copy_in + kernel + copy_out + (chunks - 1) * max(copy_in, kernel, copy_out)) / chunks
    ),
    hints=(
        "One chunk takes a `chunks`-th of each of the three times.",
        "When the first chunk is back, the second is not far behind: what does it wait for?",
        "The slowest stage never pauses once it has begun: it sets the pace for all the others.",
        "First chunk: `(copy_in + kernel + copy_out) / chunks`; each further one: "
        "`max(copy_in, kernel, copy_out) / chunks`.",
    ),
    explanation="""
With many chunks the first term fades, and the time tends to that of the slowest stage alone. No
number of chunks or streams makes it shorter than that; only less work in the slowest stage does.
""",
    mutants=(
        mutant(
            "no overlap",
            kinds.WRONG,
            ("max(copy_in, kernel, copy_out)", "(copy_in + kernel + copy_out)"),
        ),
        mutant(
            "the slowest alone", kinds.WRONG, ("return first_chunk + ", "return each_further + ")
        ),
        mutant("one chunk too many", kinds.WRONG, ("(chunks - 1) *", "chunks *")),
        mutant(
            "the kernel sets the pace", kinds.WRONG, ("max(copy_in, kernel, copy_out)", "kernel")
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)

FIND_THE_HOST_BUG = PythonExercise(
    id="04.find_the_host_bug",
    title="it worked on a fast GPU",
    notebook=MOVING,
    task="""
This host program lacks two lines. On a fast GPU it may well pass all its tests. Here `gpu` is a
stand-in that obeys CUDA's rules and does everything **as late as they allow**: nothing that you put
into a stream happens before somebody waits for it. Run the cell as it is, then add the two lines.
Memory that nobody has written yet holds `nan` on the host, and `inf` on the device.
""",
    source="04_first_kernels/exercises/squares_on_device.py",
    function="squares",
    cases=((LateGPU(), [3.0, 1.0, 0.5]), (LateGPU(), [2.0])),
    reference=lambda gpu, numbers: tuple(value * value for value in numbers),
    bug=kinds.WRONG,
    hints=(
        "Two readers come too early: the host, which then sees `nan`, and the kernel, which "
        "squares `inf`.",
        "Two streams know nothing of each other: the kernel may run before the copy in.",
        "`computing.wait_event(arrived)` holds the kernel back until the copy has arrived.",
        "`get` returns at once: before `return result`, the host must wait. "
        "`computing.synchronize()`",
    ),
    explanation="""
Two orders were missing: between the two streams (an event) and between the device and the host (a
synchronisation). Waiting with `copying.synchronize()` in place of the event gives the right numbers
too, but then the host stands still while the copy runs.
""",
    mutants=(
        mutant("no event", kinds.WRONG, ("    computing.wait_event(arrived)\n", "")),
        mutant("no wait at the end", kinds.WRONG, ("    computing.synchronize()\n", "")),
        mutant("waits for the wrong stream", kinds.WRONG, ("computing.sync", "copying.sync")),
        mutant(
            "the wrong stream waits", kinds.WRONG, ("computing.wait_event", "copying.wait_event")
        ),
        mutant(
            "recorded too early",
            kinds.WRONG,
            (
                "    x.set(numbers, stream=copying)\n    arrived.record(copying)\n",
                "    arrived.record(copying)\n    x.set(numbers, stream=copying)\n",
            ),
        ),
        mutant(
            "waited too early",
            kinds.WRONG,
            ("    computing.synchronize()\n", ""),
            ("    gpu.square(x", "    computing.synchronize()\n    gpu.square(x"),
        ),
    ),
)

# --- end of 03_moving_data ---

# --- 04_barriers_and_atomics ---


def atomics_on(space: str) -> Callable[[Counts], int]:
    """Counts the atomics of all threads on "global" or "shared" memory."""
    starts = f"atom.{space}.", f"red.{space}."
    return lambda counts: sum(n for name, n in counts.opcodes.items() if name.startswith(starts))


FIND_THE_BARRIER_BUG = Exercise(
    id="04.find_the_barrier_bug",
    title="a barrier that not all reach",
    notebook=BARRIERS,
    task="""
This kernel has its barrier, between the write and the read, where it belongs. And yet it is wrong.
Run the cell as it is, read the verdict, and mend the kernel.
""",
    source="04_first_kernels/exercises/reverse_rows.cu",
    kernel="reverse_rows",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        "columns": np.int32(size[1]),
    },
    reference=lambda given: {"y": given["x"][:, ::-1]},
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 100), (2, 255), (2, 256), (1, 1)),
    full=(1 << 16, 250),
    bug=kinds.BARRIER,
    hints=(
        "How many of the 256 threads come past the barrier when a row has 100 columns?",
        "Every thread of the block must reach it, also those that have no column.",
        "End the `if` before the barrier, and open it again behind: two guards, one barrier.",
    ),
    explanation="""
A barrier in an `if` is right only where all threads of the block decide alike. So the guard goes
around the work, never around the barrier. A `return` before a barrier is the same mistake, even if
GPUs since Volta no longer wait for threads that have ended.
""",
    mutants=(
        mutant(
            "returns before it",
            kinds.BARRIER,
            (
                "    if (column < columns) {\n        tile",
                "    if (column >= columns) return;\n    {\n        tile",
            ),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();  // nobody", "    // nobody")),
        mutant("a warp's barrier", kinds.DATA_RACE, ("__syncthreads()", "__syncwarp()")),
        mutant(
            "no guard at the end",
            kinds.OUT_OF_BOUNDS,
            ("    if (column < columns) {\n        y[", "    {\n        y["),
        ),
        mutant(
            "of a whole block",
            kinds.UNINITIALISED,
            ("tile[columns - 1 - column]", "tile[kBlock - 1 - column]"),
        ),
        mutant("not turned around", kinds.REVERSED, ("tile[columns - 1 - column]", "tile[column]")),
    ),
)

PREDICT_ATOMICS = NumberExercise(
    id="04.predict_atomics",
    title="predict the atomics",
    notebook=BARRIERS,
    task="""
How many atomics do all threads of this launch do together? `x` holds 0, 1, 2 and so on up to
`n - 1`. An atomic that adds 0 counts, too.
""",
    source="04_first_kernels/exercises/count_even.cu",
    kernel="count_even",
    inputs=lambda rng, n: {
        "x": np.arange(n, dtype=np.int32),
        "count": np.zeros(1, np.int32),
        "n": np.int32(n),
    },
    launch=one_thread_each,
    asks={
        "in_shared": Ask(
            "n = 1000: atomics on shared memory",
            1000,
            atomics_on("shared"),
            {
                1000: "Only threads whose number is even add anything.",
                1024: "That is the number of threads; which of them reach the atomicAdd?",
                512: "24 threads of the last block have no element.",
            },
        ),
        "in_global": Ask(
            "n = 1000: atomics on global memory",
            1000,
            atomics_on("global"),
            {
                500: "Those go to shared memory. Who adds to count?",
                1: "One thread of each block does it. How many blocks has the launch?",
                1024: "Look at the if before the last atomicAdd.",
            },
        ),
        "in_global_large": Ask(
            "n = 100,000: atomics on global memory",
            100_000,
            atomics_on("global"),
            {
                390: "Round up: the last block is there too.",
                50_000: "That many add to shared memory.",
            },
        ),
    },
    hints=(
        "Of the numbers 0 to 999, half are even, and each is one thread's.",
        "The last `if` lets one thread of each block through.",
        "1000 elements take 4 blocks of 256 threads; 100,000 take 391.",
    ),
    explanation="""
Nearly all of the atomics stay in shared memory, where the blocks do not meet. One for each block
goes to global memory: 256 times fewer than there are threads.
""",
    mutants=(
        mutant("every thread", kinds.WRONG_NUMBER, ("in_shared = 500", "in_shared = 1000")),
        mutant("one in all", kinds.WRONG_NUMBER, ("in_global = 4", "in_global = 1")),
        mutant(
            "rounded down", kinds.WRONG_NUMBER, ("in_global_large = 391", "in_global_large = 390")
        ),
        mutant("dots left", kinds.WRONG_TYPE, ("in_global = 4", "in_global = ...")),
    ),
)

COUNT_DIGITS = Exercise(
    id="04.count_digits",
    title="a histogram of one's own",
    notebook=BARRIERS,
    task="""
The kernel below counts right, but every digit is an atomic on one of only ten words of global
memory. Let each block count on its own first. At most one atomic in a hundred digits may remain
on global memory.
""",
    source="04_first_kernels/exercises/count_digits.cu",
    kernel="count_digits",
    inputs=lambda rng, n: {
        "digits": rng.integers(0, 10, n, dtype=np.int32),
        "counts": np.zeros(10, np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {"counts": np.bincount(given["digits"], minlength=10).astype(np.int32)},
    launch=lambda n: Launch((4 if n < FULL else 528,), (BLOCK,)),
    small=(5003, 257, 1),
    full=FULL,
    target=Target(
        label="atomics on global memory per digit",
        measure=lambda counts: atomics_on("global")(counts) / 5003,
        at_most=0.01,
        advice="The counts are right. Count into `__shared__ int mine[kDigits]` first.",
        size=5003,
    ),
    hints=(
        "`__shared__ int mine[kDigits];` gives each block ten numbers that all its threads see.",
        "They begin with anything at all: ten threads set them to zero, then the block waits.",
        "Threads of one block still meet in `mine`: it takes `atomicAdd(&mine[digits[i]], 1)`.",
        "After the loop the block waits again; then ten threads add their number to `counts`, with "
        "atomicAdd, because other blocks do so too.",
    ),
    explanation="""
This is **privatisation**: first a copy for each block, then the copies are put together. Both
barriers are needed: one between zero and count, one between count and sum.
""",
    mutants=(
        mutant("never zero", kinds.UNINITIALISED, ("        mine[threadIdx.x] = 0;\n", "")),
        mutant("no first barrier", kinds.DATA_RACE, ("__syncthreads();  // all ten", "// all ten")),
        mutant(
            "no second barrier", kinds.DATA_RACE, ("__syncthreads();  // everybody", "// everybody")
        ),
        mutant(
            "a plain sum",
            kinds.DATA_RACE,
            ("atomicAdd(&mine[digits[i]], 1);", "mine[digits[i]] += 1;"),
        ),
        mutant(
            "stores its own",
            kinds.DATA_RACE,
            (
                "atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);",
                "counts[threadIdx.x] = mine[threadIdx.x];",
            ),
        ),
        mutant(
            "nobody adds up",
            kinds.NOTHING_WRITTEN,
            ("        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);\n", ""),
        ),
        mutant(
            "still global",
            kinds.TARGET_MISSED,
            ("atomicAdd(&mine[digits[i]]", "atomicAdd(&counts[digits[i]]"),
        ),
    ),
)

ATOMIC_MULTIPLY = Exercise(
    id="04.atomic_multiply",
    title="an atomic that CUDA does not have",
    notebook=BARRIERS,
    task="""
There is no `atomicMul`. Build one for floats from `atomicCAS`, as `atomic_max` above was built.
`product[0]` is 1 before the launch, and holds the product of all `x[i]` in the end.
""",
    source="04_first_kernels/exercises/atomic_multiply.cu",
    kernel="multiply_all",
    inputs=lambda rng, n: {
        "x": np.exp(0.1 * floats(rng, n)),
        "product": np.ones(1, np.float32),
        "n": np.int32(n),
    },
    reference=lambda given: {"product": np.prod(given["x"].astype(np.float64), keepdims=True)},
    launch=one_thread_each,
    small=(100, 300, 7, 1),
    full=5003,
    reduction=lambda n: n,
    hints=(
        "`atomicCAS(word, seen, wanted)` stores `wanted` only where `seen` still stands, and "
        "returns what stood there before.",
        "Try in a loop, `while (true) { ... }`. If it returned `seen`, the exchange was made: "
        "`return;` leaves loop and function.",
        "If not, somebody came between. Go on with what it returned: `seen = before;`",
        "Compute `wanted` anew in every turn: `__float_as_uint(__uint_as_float(seen) * value)`.",
    ),
    explanation="""
Each failed try tells you what stands there now, so no separate read is needed. In every round at
least one thread succeeds. With all threads on one word, the others have tried in vain: a loop of
compare and swap is for rare encounters.
""",
    mutants=(
        mutant(
            "tries once", kinds.WRONG, ("while (true) {", "for (int once = 0; once < 1; ++once) {")
        ),
        mutant("never looks again", kinds.ENDLESS_LOOP, ("        seen = before;\n", "")),
        mutant(
            "stores regardless",
            kinds.WRONG,
            (
                "before = atomicCAS(word, seen, wanted);",
                "before = seen;\n atomicExch(word, wanted);",
            ),
        ),
        mutant(
            "no atomic",
            kinds.DATA_RACE,
            (
                "const unsigned before = atomicCAS(word, seen, wanted);",
                "*word = wanted; const unsigned before = seen;",
            ),
        ),
        mutant(
            "bits for a number",
            kinds.WRONG,
            ("__float_as_uint(__uint_as_float(seen) * value)", "unsigned(seen * value)"),
        ),
        mutant("adds", kinds.WRONG, ("(seen) * value", "(seen) + value")),
    ),
)

# --- end of 04_barriers_and_atomics ---

# --- 05_coalescing_and_transpose ---


def moved_per_byte_wanted(counts: Counts) -> float:
    """Bytes of the sectors that loads and stores touch, for each byte that a thread asks for."""
    sectors = counts.global_load_sectors + counts.global_store_sectors
    return 32 * sectors / max(counts.global_load_bytes + counts.global_store_bytes, 1)


WHY_IS_THIS_SLOW = Exercise(
    id="04.why_is_this_slow",
    title="right, and four times too much",
    notebook=COALESCING,
    task="""
Each thread has four elements, so there are fewer blocks to start: a good idea. The result is right,
no checker finds a fault, and yet the warps ask for four bytes where one is wanted. Run the cell as
it is, find out why, and mend it: every byte asked for shall be wanted.
""",
    source="04_first_kernels/exercises/brighten.cu",
    kernel="brighten",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "gain": np.float32(rng.uniform(1.5, 3.0)),
        "n": np.int32(n),
    },
    reference=lambda given: {"y": given["gain"] * given["x"]},
    launch=lambda n: Launch((-(-n // 1024),), (BLOCK,)),
    small=(3001, 1025, 31, 1),
    full=FULL,
    bug=kinds.TARGET_MISSED,
    target=Target(
        label="bytes asked for per byte wanted",
        measure=moved_per_byte_wanted,
        at_most=1.0,
        advice="The result is right. Which elements do the 32 threads of a warp touch at the same "
        "time, in the turn k = 0?",
        size=2048,
    ),
    hints=(
        "Write down `i` of threads 0, 1 and 2 for k = 0. How far apart are they?",
        "A CPU's thread likes four neighbours, one after the other. A warp wants its 32 threads to "
        "be neighbours *in the same turn*.",
        "The four elements of a thread may lie anywhere in the block's 1024: what if they were 256 "
        "apart?",
        "`const int i = start + k * kThreads + threadIdx.x;`",
    ),
    explanation="""
With `4 * threadIdx.x + k` the threads of a warp are 16 bytes apart: every request touches 16
sectors and wants two of the eight floats in each. The other turns of the loop come back for the
rest; a cache may still have it, but the warp asks four times. With `k * 256 + threadIdx.x` each
turn is a plain coalesced copy.
""",
    mutants=(
        mutant(
            "neighbours for a thread",
            kinds.TARGET_MISSED,
            ("start + k * kThreads + threadIdx.x", "start + kEach * threadIdx.x + k"),
        ),
        mutant(
            "pairs", kinds.PARTLY_WRITTEN, ("k * kThreads + threadIdx.x", "2 * threadIdx.x + k")
        ),
        mutant("one turn", kinds.PARTLY_WRITTEN, ("k < kEach", "k < 1")),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("block 0 only", kinds.FIRST_BLOCK, ("blockIdx.x * kThreads * kEach", "0")),
        mutant("no gain", kinds.SCALED, ("= gain * x[i]", "= x[i]")),
    ),
)

PREDICT_WAVEFRONTS = NumberExercise(
    id="04.predict_wavefronts",
    title="predict the wavefronts",
    notebook=COALESCING,
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


ROTATE_PICTURE = Exercise(
    id="04.rotate_picture",
    title="turn a picture by 90 degrees",
    notebook=COALESCING,
    task="""
The kernel below turns a picture clockwise: the first row becomes the last column. Every element is
right, and every write of a warp touches 32 sectors. Use a tile in shared memory. The target counts
sectors and wavefronts together, for each 32 elements: 4 sectors to read, 4 to write, and one
wavefront each to fill the tile and to read it.
""",
    source="04_first_kernels/exercises/rotate_picture.cu",
    kernel="rotate_picture",
    inputs=picture_and_room,
    reference=lambda given: {"out": np.rot90(given["in"], -1)},
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (32, 32)),
    small=((37, 70), (33, 31), (1, 40), (1, 1)),
    full=(4096, 4096),
    target=Target(
        label="sectors and wavefronts for each 32 elements",
        measure=lambda counts: (
            (
                counts.global_load_sectors
                + counts.global_store_sectors
                + counts.shared_load_wavefronts
                + counts.shared_store_wavefronts
            )
            / (64 * 96 / 32)
        ),
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
        "Its place is the starter's: `out[column * rows + rows - 1 - row] = tile[x][y];`",
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
        mutant("not turned", kinds.REVERSED, ("+ rows - 1 - row]", "+ row]")),
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
    notebook=COALESCING,
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
    reduction=lambda n: 3,
    target=Target(
        label="sectors loaded for each 32 vectors",
        measure=lambda counts: counts.global_load_sectors / (1024 / 32),
        at_most=12.0,
        advice="The lengths are right. The block's 256 vectors are 768 floats in a row: load those "
        "thread by neighbouring thread, and pick x, y and z out of shared memory.",
        size=1024,
    ),
    hints=(
        "The block needs floats `3 * first` up to `3 * first + 767`. Forget that they are vectors.",
        "Three turns: in turn t, thread j copies float `3 * first + 256 * t + j` to "
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
        mutant("one turn", kinds.UNINITIALISED, ("k < 3 * kThreads; k +=", "k < kThreads; k +=")),
        mutant(
            "each its own three",
            kinds.TARGET_MISSED,
            ("int k = threadIdx.x; k < 3 * kThreads; k += kThreads", "int j = 0; j < 3; ++j"),
            (
                "        if (3 * first + k < 3 * n) {",
                "        const int k = 3 * threadIdx.x + j;\n        if (3 * first + k < 3 * n) {",
            ),
        ),
        mutant("no root", kinds.WRONG, ("sqrtf(x * x + y * y + z * z)", "x * x + y * y + z * z")),
        mutant(
            "block 0's vectors", kinds.FIRST_BLOCK, ("= vectors[3 * first + k]", "= vectors[k]")
        ),
    ),
)

# --- end of 05_coalescing_and_transpose ---

# --- 08_profiling_and_debugging ---

PROFILING = "04_first_kernels/08_profiling_and_debugging"


def smoothed(given: dict) -> dict[str, np.ndarray]:
    """The mean of three neighbours; the ends are repeated."""
    x = np.pad(given["x"].astype(np.float64), 1, mode="edge")
    return {"y": (x[:-2] + x[1:-1] + x[2:]) / 3}


def gelu(given: dict) -> dict[str, np.ndarray]:
    """GELU, by the formula with tanh."""
    v = given["x"].astype(np.float64)
    return {"y": 0.5 * v * (1 + np.tanh(0.7978846 * (v + 0.044715 * v**3)))}


def double_operations(counts: Counts) -> int:
    """Additions, multiplications and both in one, in float64, by all threads."""
    return sum(counts.operations.get(name, 0) for name in ("dadd", "dmul", "dfma"))


FIND_THE_EDGE = Exercise(
    id="04.find_the_edge",
    title="find the bug: it never failed",
    notebook=PROFILING,
    task="""
This kernel has its guard, and it has run for years without an error message. Run the cell as it is,
read the verdict, and mend one line.
""",
    source="04_first_kernels/exercises/smooth.cu",
    kernel="smooth",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=smoothed,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    bug=kinds.OUT_OF_BOUNDS,
    hints=(
        "The verdict names one thread and one element. What is `i` in that thread?",
        "The guard lets `i = n - 1` through, and that thread reads `x[i + 1]`.",
        "Inside the guard `i < n` is always true. Which `i` is the last with a right neighbour?",
        "`const float right = i < n - 1 ? x[i + 1] : x[n - 1];`",
    ),
    explanation="""
The guard protects `x[i]`, not `x[i + 1]`: every index needs a thought of its own. On a GPU the
element behind the array is nearly always mapped memory, so nothing stops the read, and one element
of the result is wrong by a little.
""",
    mutants=(
        mutant("reads past the end", kinds.OUT_OF_BOUNDS, ("i < n - 1 ?", "i < n ?")),
        mutant("reads before the start", kinds.OUT_OF_BOUNDS, ("i > 0 ?", "i >= 0 ?")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("zero at the end", kinds.EDGES, (": x[n - 1];", ": 0.0f;")),
        mutant("not a mean", kinds.SCALED, (" / 3.0f", "")),
        mutant("left twice", kinds.WRONG, ("+ x[i] + right", "+ x[i] + left")),
    ),
)

FIND_THE_GARBAGE = Exercise(
    id="04.find_the_garbage",
    title="find the bug: only now and then",
    notebook=PROFILING,
    task="""
Each block adds up its 256 floats. The sums are right for every n that is a multiple of 256, and
often for others too, depending on which kernel ran before. Run the cell as it is, read the verdict,
and mend the kernel.
""",
    source="04_first_kernels/exercises/block_sums.cu",
    kernel="block_sums",
    inputs=lambda rng, n: {"x": floats(rng, n), "sums": empty(-(-n // BLOCK)), "n": np.int32(n)},
    reference=lambda given: {
        "sums": np.add.reduceat(given["x"].astype(np.float64), np.arange(0, len(given["x"]), BLOCK))
    },
    launch=one_thread_each,
    small=(1000, 257, 255, 1),
    full=FULL + 1,
    reduction=lambda n: BLOCK,
    bug=kinds.UNINITIALISED,
    hints=(
        "The verdict names an element of the tile. Which thread should have filled it?",
        "With n = 1000 the last block has 232 elements, and the loop adds up 256 of the tile.",
        "A thread with no element of x still has a place in the tile. What may stand there without "
        "changing the sum?",
        "`tile[t] = i < n ? x[i] : 0.0f;`",
    ),
    explanation="""
Shared memory begins with whatever the last block on that SM left there: often zeros, often the
tile of the same kernel, and then the sum is only a little wrong. Every place of the tile gets a
value before the barrier, and 0 is the one that changes no sum.
""",
    mutants=(
        mutant(
            "not filled",
            kinds.UNINITIALISED,
            ("tile[t] = i < n ? x[i] : 0.0f;", "if (i < n) tile[t] = x[i];"),
        ),
        mutant("reads past the end", kinds.OUT_OF_BOUNDS, ("i < n ? x[i] : 0.0f", "x[i]")),
        mutant("filled with ones", kinds.EDGES, (": 0.0f;", ": 1.0f;")),
        mutant(
            "returns early",
            kinds.BARRIER,
            ("tile[t] = i < n ? x[i] : 0.0f;", "if (i >= n) return;\n    tile[t] = x[i];"),
        ),
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // the tile is complete", "// the tile is complete"),
        ),
        mutant(
            "no barrier in the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // everybody", "// everybody"),
        ),
    ),
)

FIND_THE_DOUBLES = Exercise(
    id="04.find_the_doubles",
    title="find the bug: right, and slow",
    notebook=PROFILING,
    task="""
The result is right, memory is read and written in the best order, and on many GPUs the kernel is
still far slower than a copy. All arrays are `float`. Run the cell as it is: a counter says what the
threads do that nobody asked for. Bring it to zero.
""",
    source="04_first_kernels/exercises/gelu.cu",
    kernel="gelu",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=gelu,
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=FULL,
    reduction=lambda n: 16,
    bug=kinds.TARGET_MISSED,
    target=Target(
        label="operations in float64, by all threads",
        measure=double_operations,
        at_most=0,
        advice="The result is right. What type has a number such as `0.5` in C++?",
        size=1000,
    ),
    hints=(
        "`profile(…).ncu` lists dadd, dmul and dfma: additions and products of 64-bit numbers.",
        "In C++ `0.5` is a `double`. `0.5 * v` turns v into a double first; then the rest follows.",
        "`0.5f` is a float. All four numbers need their `f`.",
        "`tanh` of a double is a double's function; `tanhf` is the float's.",
        "`y[i] = 0.5f * v * (1.0f + tanhf(inner));`",
    ),
    explanation="""
One forgotten `f` and the compiler does what C++ demands: it widens, computes with 64 bits, and
rounds back. GPUs for graphics do float64 at a 64th of the speed of float32; an H200 does it at
half, and still has the conversions to make.
""",
    mutants=(
        mutant("a half in double", kinds.TARGET_MISSED, ("0.5f * v", "0.5 * v")),
        mutant("a one in double", kinds.TARGET_MISSED, ("(1.0f +", "(1.0 +")),
        mutant("cube in double", kinds.TARGET_MISSED, ("0.044715f", "0.044715")),
        mutant("tanh in double", kinds.TARGET_MISSED, ("tanhf(inner)", "tanh((double)inner)")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("a square for the cube", kinds.WRONG, ("v * v * v", "v * v")),
        mutant("not halved", kinds.SCALED, ("0.5f * v", "v")),
    ),
)

PREDICT_COUNTERS = NumberExercise(
    id="04.predict_counters",
    title="predict what the profiler will say",
    notebook=PROFILING,
    task="""
`x` and `y` both begin at the edge of a sector of 32 bytes. Blocks have 256 threads. Predict four
counters before you run the cell; the emulator counts.
""",
    source="04_first_kernels/exercises/shifted_axpy.cu",
    kernel="shifted_axpy",
    inputs=lambda rng, size: {
        "a": np.float32(2.0),
        "x": floats(rng, size[0] + size[1]),
        "y": floats(rng, size[0]),
        "shift": np.int32(size[1]),
        "n": np.int32(size[0]),
    },
    launch=lambda size: one_thread_each(size[0]),
    asks={
        "ffma": Ask(
            "n = 1000, shift 0: smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
            (1000, 0),
            lambda counts: counts.operations.get("ffma", 0),
            {
                1024: "That is the number of threads; the guard lets fewer of them through.",
                2000: "An FMA is one instruction for a product and a sum; ncu counts it once.",
                32: "That is what warps execute. `thread_inst` counts the threads that take part.",
            },
        ),
        "load_requests": Ask(
            "n = 1000, shift 0: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            (1000, 0),
            lambda counts: counts.global_load_requests,
            {
                32: "Each warp loads from x and from y.",
                62: "Round up: the last warp has 8 elements, and asks for them like any other.",
                2000: "A request is made by a whole warp, not by a thread.",
                64000: "A request is made by a whole warp, not by a thread.",
            },
        ),
        "load_sectors": Ask(
            "n = 1000, shift 0: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            (1000, 0),
            lambda counts: counts.global_load_sectors,
            {
                125: "That is x alone.",
                256: "The last warp has 8 elements: how many sectors are those?",
                375: "Loads only: the store of y is another counter.",
            },
        ),
        "shifted_sectors": Ask(
            "n = 1000, shift 1: the same counter",
            (1000, 1),
            lambda counts: counts.global_load_sectors,
            {
                250: "The 32 floats of a warp now begin 4 bytes behind an edge and end behind one.",
                251: "Every warp begins behind an edge and ends behind another, not just one.",
                285: "The last warp has 8 elements only: 32 bytes, across one edge.",
                314: "Only x is shifted.",
            },
        ),
    },
    hints=(
        "1000 elements are 31 full warps and one with 8 lanes.",
        "A request is one warp's load: two loads, 32 warps.",
        "1000 floats are 4000 bytes: divide by 32.",
        "Shifted by 4 bytes, a full warp's 128 bytes touch 5 sectors; the last warp's 32 bytes "
        "touch 2.",
    ),
    explanation="""
Requests count warps, sectors count memory, `thread_inst` counts threads: say which before you read
a number. A shift by one element costs the SM a quarter more sectors of `x`. (Most of the extra ones
are in a cache by then, because the neighbouring warp asks for them too.)
""",
    mutants=(
        mutant("threads, not elements", kinds.WRONG_NUMBER, ("ffma = 1000", "ffma = 1024")),
        mutant("one array", kinds.WRONG_NUMBER, ("load_requests = 64", "load_requests = 32")),
        mutant(
            "shift costs nothing",
            kinds.WRONG_NUMBER,
            ("shifted_sectors = 282", "shifted_sectors = 250"),
        ),
        mutant("dots left", kinds.WRONG_TYPE, ("load_sectors = 250", "load_sectors = ...")),
    ),
)

# --- end of 08_profiling_and_debugging ---

# --- 06_reductions ---

REDUCTIONS = "04_first_kernels/06_reductions"


def padded_rows(x: np.ndarray, length: int, fill: float) -> np.ndarray:
    """``x`` cut into rows of ``length``, the last one filled up."""
    return np.append(x, np.full(-len(x) % length, fill, x.dtype)).reshape(-1, length)


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers from -9 to 9 as float32: many are equal."""
    return rng.integers(-9, 10, shape).astype(np.float32)


def rows_and_columns(size: int | tuple[int, int]) -> tuple[int, int]:
    """The shape of a matrix; a lone number of rows means rows of 37. (The variance of one element,
    and its place, would be 0: no result that can be checked.)
    """
    return size if isinstance(size, tuple) else (size, 37)


BLOCK_MIN = Exercise(
    id="04.block_min",
    title="a tree in shared memory",
    notebook=REDUCTIONS,
    task="""
Find the smallest element of each block's 256, by a tree in shared memory. The last block has
threads without an element: what can they put into the tree that changes nothing?
""",
    source="04_first_kernels/exercises/block_min.cu",
    kernel="block_min",
    inputs=lambda rng, n: {
        "x": floats(rng, n) + np.float32(5),
        "smallest": empty(-(-n // BLOCK)),
        "n": np.int32(n),
    },
    reference=lambda given: {"smallest": padded_rows(given["x"], BLOCK, np.inf).min(axis=1)},
    launch=one_thread_each,
    small=(1000, 257, 256, 1),
    full=FULL,
    hints=(
        "0 would be smaller than every element here. Which number is smaller than none?",
        "`tree[t] = i < n ? x[i] : infinity;`",
        "Each step reads what other threads wrote in the step before: a barrier comes first, and "
        "outside the `if`.",
        "`if (t < distance) tree[t] = fminf(tree[t], tree[t + distance]);`",
    ),
    explanation="""
Infinity is to the minimum what 0 is to the sum: it changes nothing. With it, no step needs a guard
for the end of the array.
""",
    mutants=(
        mutant("fills up with zeros", kinds.EDGES, ("x[i] : infinity", "x[i] : 0.0f")),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("i < n ? x[i] : infinity", "x[i]")),
        mutant(
            "no barrier", kinds.DATA_RACE, ("        __syncthreads(); // what", "        // what")
        ),
        mutant(
            "a barrier in the if",
            kinds.BARRIER,
            ("if (t < distance) {", "if (t < distance) {\n            __syncthreads();"),
        ),
        mutant("all threads add", kinds.OUT_OF_BOUNDS, ("if (t < distance) {", "{")),
        mutant("the largest", kinds.WRONG, ("fminf(", "fmaxf(")),
        mutant("no step", kinds.WRONG, ("= fminf(tree[t], tree[t + distance]);", "= tree[t];")),
    ),
)

WARP_MAX = Exercise(
    id="04.warp_max",
    title="five shuffles",
    notebook=REDUCTIONS,
    task="""
Let each warp find the largest of its 32 elements with shuffles alone: no shared memory, no barrier.
Lane 0 stores it.
""",
    source="04_first_kernels/exercises/warp_max.cu",
    kernel="warp_max",
    inputs=lambda rng, n: {
        "x": floats(rng, n) - np.float32(5),
        "largest": empty(-(-n // 32)),
        "n": np.int32(n),
    },
    reference=lambda given: {"largest": padded_rows(given["x"], 32, -np.inf).max(axis=1)},
    launch=one_thread_each,
    small=(1000, 257, 32, 1),
    full=FULL,
    target=Target(
        label="requests to shared memory",
        measure=lambda counts: counts.shared_load_requests + counts.shared_store_requests,
        at_most=0,
        advice="The result is right. A shuffle needs no shared memory: it reads the other lane's "
        "register.",
        size=1000,
    ),
    hints=(
        "The distances are 16, 8, 4, 2 and 1, as in `sum_warp_shuffle.cu`.",
        "`__shfl_down_sync(kWholeWarp, value, distance)` is the value of the lane `distance` "
        "further up.",
        "`fmaxf` takes the place of `+`; all lanes take every step, so no shuffle stands in an "
        "`if`.",
        "`value = fmaxf(value, __shfl_down_sync(kWholeWarp, value, distance));`",
    ),
    explanation="""
Whatever operation you put in place of the sum, the pattern stays. `__shfl_xor_sync` is as right,
and leaves the result in all lanes.
""",
    mutants=(
        mutant("begins with 8", kinds.WRONG, ("kWarpSize / 2; distance", "8; distance")),
        mutant("stops early", kinds.WRONG, ("distance > 0", "distance > 1")),
        mutant("adds", kinds.WRONG, ("fmaxf(value, __shfl", "(value + __shfl")),
        mutant("the other way", kinds.WRONG, ("__shfl_down_sync", "__shfl_up_sync")),
        mutant(
            "through shared memory",
            kinds.TARGET_MISSED,
            (
                "        value = fmaxf(value, __shfl_down_sync(kWholeWarp, value, distance));\n",
                "        __shared__ float hand[256];\n        hand[threadIdx.x] = value;\n"
                "        __syncwarp();\n"
                "        value = fmaxf(value, hand[threadIdx.x ^ distance]);\n"
                "        __syncwarp();\n",
            ),
        ),
    ),
)

FIND_THE_MISSING_BARRIER = Exercise(
    id="04.find_the_missing_barrier",
    title="two sums, one array",
    notebook=REDUCTIONS,
    task="""
This block adds up twice: first for the mean, then for the squares. Each sum by itself is right, its
barrier stands where it belongs, and small tests pass. Run the cell as it is, read the verdict, and
add the one line that is missing.
""",
    source="04_first_kernels/exercises/row_variance.cu",
    kernel="row_variance",
    inputs=lambda rng, size: {
        "x": floats(rng, rows_and_columns(size)),
        "variance": empty(rows_and_columns(size)[0]),
        "columns": np.int32(rows_and_columns(size)[1]),
    },
    reference=lambda given: {"variance": given["x"].astype(np.float64).var(axis=1)},
    launch=lambda size: Launch((rows_and_columns(size)[0],), (128,)),
    small=((3, 300), (2, 129), (3, 7), 1),
    full=(1 << 14, 1000),
    reduction=lambda size: rows_and_columns(size)[1],
    bug=kinds.DATA_RACE,
    hints=(
        "The verdict names a read and a write of `of_warp`. In which of the two calls is each?",
        "A fast warp is already in the second call and writes its sum of squares. A slow one is "
        "still reading the sums of the first.",
        "One barrier between writing and reading, and one between reading and writing again.",
        "`__syncthreads();` before `return sum;`",
    ),
    explanation="""
Shared memory that is used again needs two barriers: written, barrier, read, barrier, written again.
This mistake sits in many a softmax and layer norm, where two reductions follow each other. (A
second array in place of the second barrier would do as well.)
""",
    mutants=(
        mutant(
            "waits too early",
            kinds.DATA_RACE,
            ("    __syncthreads(); // nobody needs these sums any more\n", ""),
            (
                "    float sum = 0.0f;\n    for (int warp",
                "    __syncthreads();\n    float sum = 0.0f;\n    for (int warp",
            ),
        ),
        mutant(
            "a warp's barrier",
            kinds.DATA_RACE,
            ("__syncthreads(); // nobody", "__syncwarp(); // nobody"),
        ),
        mutant(
            "a fence",
            kinds.DATA_RACE,
            ("__syncthreads(); // nobody", "__threadfence_block(); // nobody"),
        ),
        mutant(
            "the other one gone",
            kinds.DATA_RACE,
            ("    __syncthreads(); // every", "    // every"),
        ),
        mutant(
            "thread 0 alone waits",
            kinds.BARRIER,
            ("__syncthreads(); // nobody", "if (threadIdx.x == 0) __syncthreads(); // nobody"),
        ),
    ),
)

DOT = Exercise(
    id="04.dot",
    title="a dot product",
    notebook=REDUCTIONS,
    task="""
The kernel below is right, with one atomic for each element. Add up in a variable first, then over
the warp by shuffles. At most one atomic in a hundred elements may remain.
""",
    source="04_first_kernels/exercises/dot.cu",
    kernel="dot",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": floats(rng, n),
        "result": np.zeros(1, np.float32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "result": np.dot(given["x"].astype(np.float64), given["y"].astype(np.float64))[None]
    },
    launch=lambda n: Launch((4 if n < FULL else 1056,), (BLOCK,)),
    small=(5003, 257, 1),
    full=FULL,
    reduction=lambda n: n,
    target=Target(
        label="atomics per element",
        measure=lambda counts: atomics_on("global")(counts) / 5003,
        at_most=0.01,
        advice="The result is right. Only one lane of each warp, or one thread of each block, "
        "should do an atomic.",
        size=5003,
    ),
    hints=(
        "`float sum = 0.0f;` before the loop, and `sum += x[i] * y[i];` in it.",
        "Behind the loop, all 32 lanes take part in five shuffles, those without an element too.",
        "`sum += __shfl_down_sync(kWholeWarp, sum, distance);` for the distances 16, 8, 4, 2, 1.",
        "Then lane 0 holds the warp's sum: `if (threadIdx.x % kWarpSize == 0) atomicAdd(result, "
        "sum);`",
    ),
    explanation="""
The elements are added in registers, where nobody waits for anybody, and the one word that all want
is touched once for each warp. In larger grids it pays to add up the block first.
""",
    mutants=(
        mutant(
            "every thread an atomic",
            kinds.TARGET_MISSED,
            (
                "    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {\n"
                "        sum += __shfl_down_sync(kWholeWarp, sum, distance);\n    }\n"
                "    if (threadIdx.x % kWarpSize == 0) {",
                "    {",
            ),
        ),
        mutant("all lanes add the sum", kinds.WRONG, ("if (threadIdx.x % kWarpSize == 0) {", "{")),
        mutant("only warp 0", kinds.WRONG, ("threadIdx.x % kWarpSize == 0", "threadIdx.x == 0")),
        mutant("no atomic", kinds.DATA_RACE, ("atomicAdd(result, sum);", "*result += sum;")),
        mutant("four steps", kinds.WRONG, ("distance > 0", "distance > 1")),
        mutant("one too far", kinds.OUT_OF_BOUNDS, ("i < n", "i <= n")),
    ),
)

ARGMAX_ROWS = Exercise(
    id="04.argmax_rows",
    title="a value and its place",
    notebook=REDUCTIONS,
    task="""
Where does the largest element of each row stand? Each lane has looked through its share of the row
and holds a value and a column. Bring the 32 pairs down to one. Of equal values the first one in the
row wins, as in NumPy.
""",
    source="04_first_kernels/exercises/argmax_rows.cu",
    kernel="argmax_rows",
    inputs=lambda rng, size: {
        "x": whole_numbers(rng, rows_and_columns(size)),
        "place": empty(rows_and_columns(size)[0], np.int32),
        "rows": np.int32(rows_and_columns(size)[0]),
        "columns": np.int32(rows_and_columns(size)[1]),
    },
    reference=lambda given: {"place": given["x"].argmax(axis=1).astype(np.int32)},
    launch=lambda size: Launch((-(-rows_and_columns(size)[0] // 8),), (BLOCK,)),
    small=((11, 200), (9, 33), (3, 5), 1),
    full=(1 << 16, 1000),
    hints=(
        "Two shuffles in each step: one for `best`, one for `where`, both before the `if`.",
        "`const float other = __shfl_down_sync(kWholeWarp, best, distance);` and the same for "
        "`where`.",
        "The other pair wins if its value is larger, or if it is equal and its column smaller.",
        "`if (other > best || (other == best && there < where)) { best = other; where = there; }`",
    ),
    explanation="""
A pair is reduced like a number, with \"the better of two\" in place of the sum. The rule for equal
values is part of the operation: without it the result would depend on who meets whom, and so on the
order of the tree. (In a row with nothing but −∞ no value is greater than the first `best`: the
kernel says `columns`, and NumPy 0.)
""",
    mutants=(
        mutant(
            "equal ones as they come", kinds.WRONG, (" || (other == best && there < where)", "")
        ),
        mutant("the last of equals", kinds.WRONG, ("there < where", "there > where")),
        mutant("the value only", kinds.WRONG, ("            where = there;\n", "")),
        mutant("the place only", kinds.WRONG, ("            best = other;\n", "")),
        mutant("the smallest", kinds.WRONG, ("other > best ||", "other < best ||")),
        mutant(
            "where of its own",
            kinds.WRONG,
            ("__shfl_down_sync(kWholeWarp, where, distance)", "where"),
        ),
        mutant("one row too many", kinds.OUT_OF_BOUNDS, ("row >= rows", "row > rows")),
    ),
)

# --- end of 06_reductions ---

# --- 07_divergence_fusion_occupancy ---

FUSION = "04_first_kernels/07_divergence_fusion_occupancy"


def warp_instructions_per_warp(warps: int) -> Callable[[Counts], float]:
    """What a launch of ``warps`` warps spends on each of them."""
    return lambda counts: counts.warp_instructions / warps


def after_rounds(given) -> dict:
    """The two series of 04.one_way, in float64."""
    x, rounds = given["x"].astype(np.float64), int(given["rounds"])
    first, second = x, x
    for _ in range(rounds):
        first = 0.95 * first + 1.0
    for _ in range(rounds + 8):
        second = 0.9 * second - 1.0
    return {"y": np.where(x < 0, second, first)}


ONE_WAY = Exercise(
    id="04.one_way",
    title="one way for all",
    notebook=FUSION,
    task="""
The kernel is right, but the sign of its number sends a thread into one of two loops, and signs are
mixed. There is no need to rearrange anything: look at how the two loops differ. With 16 rounds, a
warp may spend at most 90 instructions.
""",
    source="04_first_kernels/exercises/one_way.cu",
    kernel="one_way",
    inputs=lambda rng, n: {
        "x": 4 * floats(rng, n),
        "y": empty(n),
        "rounds": np.int32(16),
        "n": np.int32(n),
    },
    reference=after_rounds,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 24,
    target=Target(
        label="instructions of a warp",
        measure=warp_instructions_per_warp(32),
        at_most=90,
        advice="Choose rounds, factor and term first, with `?:`; then one loop for all threads.",
        size=1024,
    ),
    hints=(
        "The loops differ in three numbers: how many rounds, the factor, and what is added.",
        "`condition ? a : b` picks a number without a branch.",
        "`const int turns = v < 0.0f ? rounds + 8 : rounds;`; the factor and the term likewise.",
        "Decide before the loop: a question inside it costs instructions in every round.",
        "`for (int round = 0; round < turns; ++round) { v = factor * v + term; }`",
    ),
    explanation="""
The lanes with 16 rounds sit out the last 8, so the warp walks 24 rounds in place of 16 + 24: the
longest way, and no longer the sum of both. That works whenever two ways differ in numbers only.
""",
    mutants=(
        mutant(
            "still two ways",
            kinds.TARGET_MISSED,
            (
                "for (int round = 0; round < turns; ++round) {",
                "if (negative) { for (int round = 0; round < turns; ++round) { v = 0.9f * v - 1.0f;"
                " } } else for (int round = 0; round < turns; ++round) {",
            ),
        ),
        mutant("as many rounds for all", kinds.WRONG, ("negative ? rounds + 8 : rounds", "rounds")),
        mutant("ways swapped", kinds.WRONG, ("v < 0.0f;", "v >= 0.0f;")),
        mutant("one factor", kinds.WRONG, ("negative ? 0.9f : 0.95f", "0.95f")),
        mutant("by lane, not by sign", kinds.WRONG, ("negative = v < 0.0f", "negative = i % 2")),
    ),
)

CHAIN_BYTES = PythonExercise(
    id="04.chain_bytes",
    title="predict the bytes of a chain",
    notebook=FUSION,
    task="""
How many bytes does a chain of element-wise kernels move, and how many are left when it is fused?
Write the count that you made by hand as a function. Our chain is `[("x",), (), (), ("x",)]`: the
last link reads `x` once more, beside what the third one made. It has 36 and 8 bytes an element.
""",
    source="04_first_kernels/exercises/chain_bytes.py",
    function="chain_bytes",
    cases=(
        (1000, [("x",), (), (), ("x",)]),
        (257, [("x",)]),
        (10, [("x", "y")]),
        (1 << 20, [("x",), ("bias",), ("x", "residual"), ("bias",)]),
        (7, [("a", "b"), ("c",), (), (), ()]),
    ),
    reference=lambda n, links: (
        4 * n * (sum(map(len, links)) + 2 * len(links) - 1),
        4 * n * (len({name for names in links for name in names}) + 1),
    ),
    hints=(
        "Begin with separate kernels: link k reads its named arrays, writes one, and, if it is not "
        "the first, reads the result of the link before.",
        "Our chain: 2, 2, 2 and 3 arrays, each of 4 n bytes.",
        "Fused, only arrays with a name are read, each once, and only the last result is written.",
        "`{name for names in links for name in names}` is the set of different names.",
    ),
    explanation="""
For each link that is fused with the one before, a write and a read vanish: 8 bytes an element.
Reading an array once that several links need is a second gain. Neither depends on what the links
compute.
""",
    mutants=(
        mutant(
            "names counted twice",
            kinds.WRONG,
            (
                "{name for names in links for name in names}",
                "[name for names in links for name in names]",
            ),
        ),
        mutant("no hand-over read", kinds.WRONG, ("(1 if k > 0 else 0)", "0")),
        mutant("the first reads one more", kinds.WRONG, ("(1 if k > 0 else 0)", "1")),
        mutant("no result written", kinds.WRONG, ("len(different) + 1", "len(different)")),
        mutant("elements, not bytes", kinds.WRONG, ("4 * n * separate, 4 * n", "n * separate, n")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


def gradient_inputs(rng: np.random.Generator, n: int) -> dict:
    x = 2 * floats(rng, n)
    return {
        "dy": floats(rng, n),
        "x": x,
        "s": (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32),
        "dx": empty(n),
        "n": np.int32(n),
    }


def silu_gradient(given) -> dict:
    dy, x = given["dy"].astype(np.float64), given["x"].astype(np.float64)
    s = 1 / (1 + np.exp(-x))
    return {"dx": dy * s * (1 + x * (1 - s))}


SILU_BACKWARD = Exercise(
    id="04.silu_backward",
    title="compute it again",
    notebook=FUSION,
    task="""
The gradient of SiLU needs `s = 1 / (1 + exp(-x))`. The forward pass stored it, and this kernel
reads it. Change the kernel so that nobody has to store it: at most 12 bytes loaded and stored for
an element.
""",
    source="04_first_kernels/exercises/silu_backward.cu",
    kernel="silu_backward",
    inputs=gradient_inputs,
    reference=silu_gradient,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 16,
    target=Target(
        label="bytes loaded and stored for an element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 1024,
        at_most=12.0,
        advice="x and dy have to be read and dx written. s follows from x, which is there already.",
        size=1024,
    ),
    hints=(
        "The array `s` may stay among the parameters; just do not read it.",
        "x[i] is in the register `value`: everything about s follows from it.",
        "As in chain_silu.cu: `__expf(-value)`.",
        "`const float gate = 1.0f / (1.0f + __expf(-value));`",
    ),
    explanation="""
12 bytes an element in place of 16, and the forward pass writes 4 less: 20 bytes for both passes in
place of 28, for an exponential and a division that nobody waits for. The memory for `s` is free as
well, and in training that is often the greater gain.
""",
    mutants=(
        mutant("still stored", kinds.TARGET_MISSED, ("1.0f / (1.0f + __expf(-value))", "s[i]")),
        mutant("sign forgotten", kinds.WRONG, ("__expf(-value)", "__expf(value)")),
        mutant("an own array", kinds.TARGET_MISSED, ("gate = 1", "gate = 0.0f * s[i] + 1")),
        mutant("only the gate", kinds.WRONG, (" * (1.0f + value * (1.0f - gate))", "")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= n) {", "if (false) {")),
    ),
)


def resident_blocks(threads: int, registers: int, shared: int) -> int:
    """What the course's own occupancy says."""
    needs = Resources(registers)
    return Occupancy("kernel", "sm_90a", threads, shared, needs).blocks_per_sm


BLOCKS_PER_SM = PythonExercise(
    id="04.blocks_per_sm",
    title="predict the occupancy",
    notebook=FUSION,
    task="""
Write the function that tells how many blocks fit on an SM. Predict first, on paper: blocks of 256
threads with 40 registers each, and with 41.
""",
    source="04_first_kernels/exercises/blocks_per_sm.py",
    function="blocks_per_sm",
    cases=(
        (256, 40, 0),
        (256, 41, 0),
        (1024, 32, 0),
        (32, 16, 0),
        (100, 32, 4096),
        (32, 80, 0),
        (128, 24, 227 * 1024),
        (256, 16, 28 * 1024),
        (64, 255, 1000),
        (192, 40, 20_000),
    ),
    reference=resident_blocks,
    hints=(
        "Work out four numbers of blocks and return the smallest.",
        "Warps of a block: `(threads + 31) // 32`; `-(-a // b)` is a shorter way to round up.",
        "Registers of a warp: 32 times those of a thread, rounded up to a multiple of 256. 40 "
        "registers make 1280, 41 make 1536.",
        "A part of the SM holds `16384 // registers_of_warp` warps, and there are four parts.",
        "Shared memory of a block: `shared + 1024`, rounded up to a multiple of 128.",
    ),
    explanation="""
One register more, from 40 to 41, and 6 blocks become 5: resources are given out in coarse portions,
so occupancy falls in steps. `occupancy` does the same arithmetic with the registers of your kernel.
""",
    mutants=(
        mutant("warps not whole", kinds.WRONG, ("-(-threads // 32)", "threads // 32")),
        mutant(
            "registers not rounded",
            kinds.WRONG,
            ("-(-registers * 32 // 256) * 256", "registers * 32"),
        ),
        mutant(
            "one large file of registers",
            kinds.WRONG,
            ("4 * (16384 // registers_of_warp)", "65536 // registers_of_warp"),
        ),
        mutant("no share for the system", kinds.WRONG, ("(shared + 1024)", "max(shared, 1)")),
        mutant("blocks without a limit", kinds.WRONG, ("by_warps, 32,", "by_warps,")),
        mutant("the most, not the least", kinds.WRONG, ("min(by_warps", "max(by_warps")),
    ),
)


def closed(given) -> dict:
    """The largest of three neighbours, then the smallest of three of those, in a ring."""
    x = given["x"]
    m = np.maximum(np.maximum(np.roll(x, 1), x), np.roll(x, -1))
    return {"y": np.minimum(np.minimum(np.roll(m, 1), m), np.roll(m, -1))}


CLOSING = Exercise(
    id="04.closing",
    title="fuse what needs its neighbours",
    notebook=FUSION,
    task="""
Two kernels close small gaps in the outline of a shape. The first computes `m[i] = max(x[i - 1],
x[i], x[i + 1])`, the second `y[i] = min(m[i - 1], m[i], m[i + 1])`; the outline is a ring. Each
loads 3 floats and stores one: 32 bytes for an element. Write one kernel that does both with at most
24. What a thread needs of `m`, its neighbours would have stored; now nobody does.
""",
    source="04_first_kernels/exercises/closing.cu",
    kernel="closing",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=closed,
    launch=one_thread_each,
    small=(1000, 257, 31, 5, 2, 1),
    full=FULL,
    target=Target(
        label="bytes loaded and stored for an element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 1024,
        at_most=24.0,
        advice="Five different x are needed. Load each into a variable of its own, then compute.",
        size=1024,
    ),
    hints=(
        "m[i - 1] needs x[i - 2], x[i - 1] and x[i]. Which x does y[i] need in all?",
        "Load the five into five variables; `in_ring(i - 2, n)` is the place of the first.",
        "Compute all three m in registers, though each neighbour computes two of them as well.",
        "`fmaxf(fmaxf(a, b), c)` is the largest of three, `fminf(fminf(l, m), r)` the smallest.",
        "Do not forget the guard `if (i < n)`.",
    ),
    explanation="""
Every m is computed three times, by three threads, and never stored: computing it again is what
makes this fusion possible. The loads of neighbours overlap, and L1 serves most of them; from device
memory come 4 bytes an element and 4 go back, 8 in place of 16. With wider windows a thread would
compute ever more again; then a tile in shared memory, with a margin, is the better place for m.
""",
    mutants=(
        mutant(
            "loads more than once",
            kinds.TARGET_MISSED,
            (
                "const float left = fmaxf(fmaxf(a, b), c);",
                "const volatile float *again = x;\n"
                "        const float left = fmaxf(fmaxf(a, again[in_ring(i - 1, n)]), again[i]);",
            ),
        ),
        mutant("only the largest", kinds.WRONG, ("fminf(fminf(left, middle), right)", "middle")),
        mutant("no ring", kinds.OUT_OF_BOUNDS, ("x[in_ring(i - 2, n)]", "x[i - 2]")),
        mutant("a mirror at the end", kinds.EDGES, ("in_ring(i + 1, n)", "min(i + 1, n - 1)")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("opening", kinds.WRONG, ("fminf(fminf(left, middle)", "fmaxf(fmaxf(left, middle)")),
    ),
)


def few_negative(rng: np.random.Generator, n: int) -> dict:
    """One in sixteen is negative, wherever chance puts it."""
    x = np.abs(floats(rng, n)) + np.float32(0.01)
    x[rng.random(n) < 1 / 16] *= -1
    return {"x": x, "y": empty(n), "n": np.int32(n)}


def long_way(given) -> dict:
    """After 32 rounds of v = sqrt(v v + 1), v v has grown by 32."""
    x = given["x"].astype(np.float64)
    return {"y": np.where(x < 0, np.sqrt(x * x + 32), x)}


GATHER_THE_FEW = Exercise(
    id="04.gather_the_few",
    title="gather the few",
    notebook=FUSION,
    task="""
One number in sixteen needs a long computation, and they lie anywhere. So nearly every warp has one,
and walks the long way with hardly a lane at work. Gather them: a list in shared memory, filled with
an atomic, hands the few of a block to its first threads. On average, a warp may spend at most 60
instructions.
""",
    source="04_first_kernels/exercises/gather_the_few.cu",
    kernel="gather_the_few",
    inputs=few_negative,
    reference=long_way,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 32,
    target=Target(
        label="instructions of a warp, on average",
        measure=warp_instructions_per_warp(64),
        at_most=60,
        advice="The numbers are right. In the long loop, all lanes of the first warp should work "
        "and no other warp at all.",
        size=2048,
    ),
    hints=(
        "`__shared__ int list[kThreads];` and a counter, which one thread sets to 0 first.",
        "`list[atomicAdd(&count, 1)] = i;` takes the next free place.",
        "Whose number is not negative stores it at once. Then all wait: `__syncthreads();`",
        "After the barrier: `if (threadIdx.x < count)`, take `list[threadIdx.x]` and compute.",
        "Two barriers: one after the counter is 0, one after the list is complete. No thread may "
        "return before them.",
    ),
    explanation="""
About 16 of a block's 256 numbers are negative, so one warp walks the loop with half of its lanes,
where about seven walked it with two each. The order of the list is open, and no result depends on
it. Whether it pays depends on the length of the loop: list, atomics and barriers have their price.
""",
    mutants=(
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            ("__syncthreads(); // the list is empty", "// the list is empty"),
        ),
        mutant(
            "no second barrier",
            kinds.DATA_RACE,
            ("__syncthreads(); // the list is complete", "// the list is complete"),
        ),
        mutant("no atomic", kinds.DATA_RACE, ("list[atomicAdd(&count, 1)]", "list[count++]")),
        mutant(
            "all the same place",
            kinds.UNINITIALISED,
            ("list[atomicAdd(&count, 1)] = i", "list[0] = i, atomicAdd(&count, 1)"),
        ),
        mutant("counter not zero", kinds.UNINITIALISED, ("        count = 0;\n", "")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant(
            "every warp still",
            kinds.TARGET_MISSED,
            (
                "list[atomicAdd(&count, 1)] = i;",
                "float w = v; for (int round = 0; round < 32; ++round) { w = sqrtf(w * w + 1.0f); }"
                " y[i] = w;",
            ),
        ),
    ),
)

# --- end of 07_divergence_fusion_occupancy ---

# --- 09_triton_and_cuda ---

TRITON = "04_first_kernels/09_triton_and_cuda"


def flat_rows(rows: int, columns: int, low: float, seed: int) -> np.ndarray:
    """rows x columns random fp32 numbers between low and low + 4, one row after another."""
    x = np.random.default_rng(seed).random(rows * columns, dtype=np.float32)
    return x * np.float32(4) + np.float32(low)


def row_softmax(x: np.ndarray) -> np.ndarray:
    """The softmax along the last axis, in float64."""
    power = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


ONE_PROGRAM = PythonExercise(
    id="04.one_program",
    title="be one Triton program",
    notebook=TRITON,
    task="""
Do in NumPy what one program of `softmax_row` does: offsets, mask, load, maximum, sum. NumPy has no
masked load, so read from `x` only where the mask allows it. In the last row, a column that does not
exist lies past the end of `x`.
""",
    source="04_first_kernels/exercises/one_program.py",
    function="one_program",
    cases=(
        (flat_rows(3, 5, -2, 2), 2, 5, 8),
        (flat_rows(3, 5, -2, 1), 1, 5, 8),
        (flat_rows(2, 4, -2, 3), 1, 4, 4),
        (flat_rows(2, 1, -2, 4), 0, 1, 1),
        (flat_rows(2, 9, -90, 5), 1, 9, 16),
        (flat_rows(2, 9, 90, 6), 0, 9, 16),
    ),
    reference=lambda x, row, columns, block: row_softmax(x.reshape(-1, columns)[row]),
    hints=(
        "The mask is `inside = column < columns`: an array of `block` truth values.",
        "Element (row, column) lies at `row * columns + column`, as in every kernel with rows.",
        "What a masked column gets must change neither the maximum nor the sum: `-np.inf`.",
        "`value = np.full(block, -np.inf)`, then `value[inside] = x[place[inside]]`.",
        "Subtract `value.max()` before `np.exp`, divide by the sum, and return `[inside]` of it.",
    ),
    explanation="""
`tl.load(pointer, mask, other=...)` does both steps at once: it reads where the mask allows it and
takes `other` elsewhere. Zero would be right for a sum, but here it would take part in the maximum,
and exp(0 - largest) in the sum. Ask what value changes nothing: minus infinity for a maximum, zero
for a sum, one for a product.
""",
    mutants=(
        mutant(
            "no mask", kinds.EXCEPTION, ("value[inside] = x[place[inside]]", "value = x[place]")
        ),
        mutant("zero elsewhere", kinds.SCALED, ("np.full(block, -np.inf)", "np.zeros(block)")),
        mutant(
            "rows of block", kinds.EXCEPTION, ("row * columns + column", "row * block + column")
        ),
        mutant("first row", kinds.WRONG, ("row * columns + column", "column")),
        mutant("never divided", kinds.SCALED, ("power / power.sum()", "power")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)

PREDICT_PROGRAMS = NumberExercise(
    id="04.predict_programs",
    title="predict the programs and their requests",
    notebook=TRITON,
    task="""
This CUDA kernel deals its elements out as Triton did. Predict how many blocks, Triton's programs,
there are, and how many requests to load they make: one request is one load instruction of one warp.
""",
    source="04_first_kernels/exercises/vec_add_dealt.cu",
    kernel="vec_add_dealt",
    inputs=lambda rng, n: {
        "a": floats(rng, n),
        "b": floats(rng, n),
        "c": empty(n),
        "n": np.int32(n),
    },
    launch=lambda n: Launch((-(-n // 1024),), (128,)),
    asks={
        "programs": Ask(
            "n = 10,000: programs",
            10_000,
            lambda counts: counts.opcodes["ret"] / 128,  # every thread returns once
            {
                9: "Round up: the rest needs a program, too.",
                40: "That is for 256 elements a block. Here a block takes 1024.",
                79: "128 is the number of threads. How many elements does each of them take?",
            },
        ),
        "requests": Ask(
            "n = 1024: requests to load, of all warps",
            1024,
            lambda counts: counts.global_load_requests,
            {
                8: "There are two arrays to load from.",
                4: "That many warps there are. How often does each of them load?",
                64: "A lane takes four floats with one load.",
                512: "That counts lanes. A request is made by a whole warp.",
            },
        ),
        "of_524": Ask(
            "n = 524: requests to load, of all warps",
            524,
            lambda counts: counts.global_load_requests,
            {
                16: "In the second turn most warps have no element: they load nothing.",
                8: "The first turn covers 512 elements. Who takes the other 12?",
                9: "There are two arrays to load from, in the second turn, too.",
            },
        ),
    },
    hints=(
        "A program takes 1024 elements, whatever it does with them: round up.",
        "128 threads are 4 warps, and the loop has two turns of 512 elements.",
        "In a turn each warp loads once from `a` and once from `b`: 4 warps, 2 turns, 2 arrays.",
        "Of 524 elements 12 are left for the second turn: three lanes of the first warp.",
    ),
    explanation="""
4 warps, 2 turns and 2 arrays are 16 requests of 512 bytes each. With 524 elements the second turn
has work for three lanes of one warp; the other warps find their mask empty and ask for nothing. A
mask costs instructions, but no traffic.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG_NUMBER, ("programs = 10", "programs = 9")),
        mutant("CUDA's blocks", kinds.WRONG_NUMBER, ("programs = 10", "programs = 40")),
        mutant("one array", kinds.WRONG_NUMBER, ("requests = 16", "requests = 8")),
        mutant("no empty warps", kinds.WRONG_NUMBER, ("of_524 = 10", "of_524 = 16")),
        mutant("not answered", kinds.WRONG_TYPE, ("programs = 10", "programs = ...")),
    ),
)


def scattered_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """Numbers far enough apart that a sum which is not scaled again is plainly wrong."""
    return {
        "x": (8 * rng.standard_normal(size) - 20).astype(np.float32),
        "y": empty(size),
        "columns": np.int32(size[1]),
    }


SOFTMAX_ONLINE = Exercise(
    id="04.softmax_online",
    title="one pass less",
    notebook=TRITON,
    task="""
This softmax reads each row three times: for the maximum, for the sum, for the result. With a trick
twice is enough, and it works for rows of any length: keep the largest number *so far* and the sum
that belongs to it. When a larger number comes along, the sum is too large by a known factor.
""",
    source="04_first_kernels/exercises/softmax_online.cu",
    kernel="softmax_online",
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((size[0],), (32,)),
    small=((3, 100), (2, 257), (2, 32), (3, 7), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    target=Target(
        label="loads of each element",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 320),
        at_most=2.0,
        advice="The result is right. Maximum and sum can share a loop: see the line before it.",
        size=(2, 320),
    ),
    hints=(
        "expf(v - old) times expf(old - now) is expf(v - now): so a sum moves to a new maximum.",
        "In the loop: `const float now = fmaxf(largest, v);`, scale the sum by `expf(largest - "
        "now)`, then add `expf(v - now)`.",
        "Two lanes combine in the same way: each sum is scaled from its own maximum to the larger.",
        "Fetch both numbers of the other lane, with `__shfl_xor_sync`, before you change yours.",
        "`sum = sum * expf(largest - now) + their_sum * expf(theirs - now);`",
    ),
    explanation="""
This is the **online softmax** (Milakov and Gimelshein, 2018). A lane that met no number has the sum
0, and scaling leaves it 0. The least float takes the place of minus infinity here, since infinity
minus infinity is no number. Pairs (largest, sum) combine in any order, so they can be reduced as
sums are. Flash attention rests on this.
""",
    mutants=(
        mutant(
            "never scaled again",
            kinds.WRONG,
            ("sum = sum * expf(largest - now) + expf(v - now)", "sum = sum + expf(v - now)"),
        ),
        mutant(
            "scaled the wrong way",
            kinds.WRONG,
            (
                "expf(largest - now) + expf(v - now)",
                "expf(fminf(now - largest, 8.0f)) + expf(v - now)",
            ),
        ),
        mutant(
            "sums just added",
            kinds.WRONG,
            ("sum * expf(largest - now) + their_sum * expf(theirs - now)", "sum + their_sum"),
        ),
        mutant(
            "their sum not scaled",
            kinds.WRONG,
            ("their_sum * expf(theirs - now)", "their_sum"),
        ),
        mutant("each lane for itself", kinds.WRONG, ("distance > 0", "distance > 16")),
        mutant(
            "reads once more",
            kinds.TARGET_MISSED,
            (
                "    for (int distance",
                "    const volatile float* again = row;\n    float most = largest;\n"
                "    for (int i = lane; i < columns; i += kWarpSize) {\n"
                "        most = fmaxf(most, again[i]);\n    }\n    largest = most;\n"
                "    for (int distance",
            ),
        ),
    ),
)

# --- end of 09_triton_and_cuda ---

EXERCISES = [
    SAXPY,
    CLAMP,
    REVERSED_COPY,
    GRAYSCALE,
    BATCHED_MATMUL,
    BLOCKS_FOR,
    FIND_THE_RACE,
    SCALE_ROWS,
    PREDICT_SECTORS,
    PIECES,
    OVERLAP_MS,
    FIND_THE_HOST_BUG,
    FIND_THE_BARRIER_BUG,
    PREDICT_ATOMICS,
    COUNT_DIGITS,
    ATOMIC_MULTIPLY,
    WHY_IS_THIS_SLOW,
    PREDICT_WAVEFRONTS,
    ROTATE_PICTURE,
    LENGTHS,
    PREDICT_COUNTERS,
    FIND_THE_EDGE,
    FIND_THE_GARBAGE,
    FIND_THE_DOUBLES,
    BLOCK_MIN,
    WARP_MAX,
    FIND_THE_MISSING_BARRIER,
    DOT,
    ARGMAX_ROWS,
    ONE_WAY,
    CHAIN_BYTES,
    SILU_BACKWARD,
    BLOCKS_PER_SM,
    CLOSING,
    GATHER_THE_FEW,
    ONE_PROGRAM,
    PREDICT_PROGRAMS,
    SOFTMAX_ONLINE,
]
