"""Exercises of chapter 03: warps, waves and divergence; memories and the roofline."""

from __future__ import annotations

import numpy as np  # noqa: F401

from course_utils.exercises import (  # noqa: F401
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

WHY = "03_gpu_introduction/01_why_gpus"
EXECUTION = "03_gpu_introduction/02_execution_model"
MEMORY = "03_gpu_introduction/03_memory_model"
ROOFLINE = "03_gpu_introduction/04_roofline"
SMALL = (1000, 257, 31, 1)
FULL = 1 << 24


FINISH_TIME = PythonExercise(
    id="03.finish_time",
    title="when is the crowd done?",
    notebook=WHY,
    task="""
Write the Python function behind the picture: when is the last of `jobs` jobs done? Try it on paper
with 24 and then with 25 jobs for 8 workers that need 4 seconds each.
""",
    source="03_gpu_introduction/exercises/finish_time.py",
    function="finish_time",
    cases=((24, 8, 4), (25, 8, 4), (24, 1, 1), (3, 8, 4), (0, 8, 4), (10**18 + 1, 10**6, 3)),
    reference=lambda jobs, workers, seconds: -(-jobs // workers) * seconds,
    hints=(
        "The workers go in rounds. In each round all of them finish a job at the same moment.",
        "24 jobs are 3 rounds of 8. The 25th job needs a round of its own.",
        "Rounds are `jobs / workers`, rounded up: `(jobs + workers - 1) // workers`.",
        "`return (jobs + workers - 1) // workers * seconds`",
    ),
    explanation="""
The latency, `seconds`, is paid once a round; the number of rounds depends on how many jobs there
are for each worker. The same formula counts the rounds in which a GPU works off its blocks: the
next notebook calls them waves.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG, ("(jobs + workers - 1) // workers", "jobs // workers")),
        mutant(
            "no rounding", kinds.WRONG_TYPE, ("(jobs + workers - 1) // workers", "jobs / workers")
        ),
        mutant(
            "one round too many", kinds.WRONG, ("(jobs + workers - 1) //", "(jobs + workers) //")
        ),
        mutant("rounds only", kinds.WRONG, (" * seconds", "")),
        mutant("all in a row", kinds.WRONG, ("(jobs + workers - 1) // workers", "jobs")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)

HYPOTENUSE = Exercise(
    id="03.hypotenuse",
    title="from a loop to threads",
    notebook=WHY,
    task="""
The comment shows a loop in C. Turn it into a kernel: one thread for each turn of the loop. The
launch has whole blocks of 256 threads, so when `n` is no multiple of 256 some threads have no
turn to do. `sqrtf` is the square root of a float.
""",
    source="03_gpu_introduction/exercises/hypotenuse.cu",
    kernel="hypotenuse",
    inputs=lambda rng, n: {
        "a": floats(rng, n),
        "b": floats(rng, n),
        "c": empty(n),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "c": np.hypot(given["a"].astype(np.float64), given["b"].astype(np.float64))
    },
    launch=lambda n: Launch((-(-n // 256),), (256,)),
    small=SMALL,
    full=FULL,
    target=Target(
        label="elements stored for each result",
        measure=lambda counts: counts.global_store_bytes / 4 / 512,
        at_most=1.0,
        advice="The result is right, but every thread goes through the whole loop. Let each "
        "thread do one turn only, its own.",
        size=512,
    ),
    hints=(
        "`celsius` above has the same three lines: which turn is mine, does it exist, do it.",
        "`const int i = blockIdx.x * blockDim.x + threadIdx.x;` is this thread's turn.",
        "The loop ran while `i < n`. Here the same condition stands in an `if`.",
        "`if (i < n) { c[i] = sqrtf(a[i] * a[i] + b[i] * b[i]); }`",
    ),
    explanation="""
The body of the loop did not change at all. `for` became a launch, its `i` became a number that each
thread computes for itself, and its condition became an `if`. This works because no turn of the loop
needs the result of another.
""",
    mutants=(
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("<= for <", kinds.OUT_OF_BOUNDS, ("i < n) {", "i <= n) {")),
        mutant(
            "local index",
            kinds.FIRST_BLOCK,
            ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        ),
        mutant(
            "no root",
            kinds.WRONG,
            ("        c[i] = sqrtf(", "        c[i] = ("),
        ),
        mutant("a twice", kinds.WRONG, ("b[i] * b[i]);\n", "a[i] * a[i]);\n")),
        mutant("last turn missed", kinds.EDGES, ("i < n) {", "i < n - 1) {")),
        mutant("never stores", kinds.NOTHING_WRITTEN, ("    c[i] =", "    float side =")),
        mutant(
            "the loop kept",
            kinds.TARGET_MISSED,
            ("    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n", ""),
            ("if (i < n) {", "for (int i = 0; i < n; ++i) {"),
        ),
    ),
)

PREDICT_TRAFFIC = NumberExercise(
    id="03.predict_traffic",
    title="predict the traffic",
    notebook=WHY,
    task="""
`celsius` runs on 1000 temperatures, in 4 blocks of 256 threads. Predict how many bytes it reads
and writes in the device's memory, and how many floating-point operations it makes. Then run the
cell: the emulator counts.
""",
    source="03_gpu_introduction/celsius.cu",
    kernel="celsius",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    launch=lambda n: Launch((-(-n // 256),), (256,)),
    asks={
        "bytes_read": Ask(
            "bytes that the threads read from x",
            1000,
            lambda counts: counts.global_load_bytes,
            {
                1000: "That is the number of floats. How many bytes does a float of 32 bits have?",
                4096: "1024 threads are launched, but the last 24 have no element to read.",
                8000: "Reading and writing together; here only the reading is asked for.",
                32000: "Those are bits. A byte has 8 of them.",
            },
        ),
        "bytes_written": Ask(
            "bytes that the threads write to y",
            1000,
            lambda counts: counts.global_store_bytes,
            {
                1000: "That is the number of floats. How many bytes does a float of 32 bits have?",
                4096: "1024 threads are launched, but the last 24 have no element to write.",
                8000: "Reading and writing together; here only the writing is asked for.",
                32000: "Those are bits. A byte has 8 of them.",
            },
        ),
        "flops": Ask(
            "floating-point operations",
            1000,
            lambda counts: counts.flops,
            {
                1000: "One element takes a subtraction and a multiplication.",
                3000: "5 / 9 is known when the kernel is compiled: no thread divides.",
                2048: "The threads without an element compute nothing.",
            },
        ),
    },
    hints=(
        "Only threads with `i < n` read, compute and write.",
        "A float has 32 bits, and a byte has 8.",
        "`x[i] - 32.0f` is one operation, `* (5.0f / 9.0f)` another; the compiler divides 5 by 9.",
    ),
    explanation="""
Each element takes 4 bytes in, 4 bytes out and 2 operations: a quarter of an operation for each
byte. A large GPU can make ten to twenty operations in the time in which its memory delivers a
byte, so this kernel waits for the memory all the time. The last notebook of this chapter makes a
picture of that.
""",
    mutants=(
        mutant("floats for bytes", kinds.WRONG_NUMBER, ("bytes_read = 4000", "bytes_read = 1000")),
        mutant("all threads", kinds.WRONG_NUMBER, ("bytes_written = 4000", "bytes_written = 4096")),
        mutant("a division", kinds.WRONG_NUMBER, ("flops = 2000", "flops = 3000")),
        mutant("dots left", kinds.WRONG_TYPE, ("flops = 2000", "flops = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("bytes_read = 4000", "read = 4000")),
    ),
)

PEAK_TFLOPS = PythonExercise(
    id="03.peak_tflops",
    title="where a peak comes from",
    notebook=WHY,
    task="""
The peak in a data sheet is a multiplication. Write it: from the number of multiprocessors, the
lanes of each, and the clock in GHz, the TFLOP/s of fused multiply-adds.
""",
    source="03_gpu_introduction/exercises/peak_tflops.py",
    function="peak_tflops",
    cases=((132, 128, 1.98), (108, 64, 1.41), (80, 64, 1.53), (16, 8, 1.35), (1, 1, 1.0)),
    reference=lambda multiprocessors, lanes, gigahertz: (
        2 * multiprocessors * lanes * gigahertz / 1000
    ),
    hints=(
        "In one clock cycle, all lanes of all multiprocessors together finish how many FMAs?",
        "An FMA multiplies and adds: two floating-point operations.",
        "Giga is 10^9 and tera 10^12: divide by 1000.",
        "`return 2 * multiprocessors * lanes * gigahertz / 1000`",
    ),
    explanation="""
132 multiprocessors with 128 lanes at 1.98 GHz give the 66.9 TFLOP/s of an H100 in the table.
Nobody measured that number: it is what would happen if every lane made an FMA in every cycle. No
kernel gets all of it, and most kernels come nowhere near it, because they wait for data.
""",
    mutants=(
        mutant("an FMA counted once", kinds.WRONG, ("2 * multiprocessors", "multiprocessors")),
        mutant("gigaflops", kinds.WRONG, (" / 1000", "")),
        mutant("whole numbers", kinds.WRONG, ("/ 1000", "// 1000")),
        mutant(
            "an int",
            kinds.WRONG_TYPE,
            ("flops_per_cycle * gigahertz / 1000", "int(flops_per_cycle)"),
        ),
        mutant("no clock", kinds.WRONG, (" * gigahertz", " * 1.0")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


ODD_BLOCK = 80  # threads: two warps and a half


def warps_and_lanes(given) -> dict:
    """What each thread should store, in blocks of 80 threads."""
    block, thread = np.divmod(np.arange(given["warp"].shape[0], dtype=np.int32), ODD_BLOCK)
    warp, lane = np.divmod(thread, 32)
    return {"warp": warp, "lane": lane, "warp_of_grid": 3 * block + warp}


WARP_AND_LANE = Exercise(
    id="03.warp_and_lane",
    title="which warp, which lane?",
    notebook=EXECUTION,
    task="""
Let every thread store the number of its warp in its block, its lane, and a number for its warp
that is unique in the whole grid. The blocks have 80 threads: two full warps and a half one.
`warps_per_block` is there already.
""",
    source="03_gpu_introduction/exercises/warp_and_lane.cu",
    kernel="warp_and_lane",
    inputs=lambda rng, blocks: {
        name: empty(ODD_BLOCK * blocks, np.int32) for name in ("warp", "lane", "warp_of_grid")
    },
    reference=warps_and_lanes,
    launch=lambda blocks: Launch((blocks,), (ODD_BLOCK,)),
    small=(5, 2, 1),
    full=100_000,
    hints=(
        "Threads 0 to 31 of a block are warp 0, threads 32 to 63 are warp 1.",
        "`threadIdx.x / 32` drops the rest, and `threadIdx.x % 32` is the rest.",
        "In front of this warp lie all warps of the blocks before: `blockIdx.x * warps_per_block`.",
        "`warp_of_grid[i] = blockIdx.x * warps_per_block + threadIdx.x / 32;`",
    ),
    explanation="""
Warps never cross from one block into the next. So a block of 80 threads has three warps, and the
last 16 lanes of the third have no thread. That is why the number of a warp in the grid cannot be
`i / 32`.
""",
    mutants=(
        mutant(
            "warp and lane swapped",
            kinds.WRONG,
            ("warp[i] = threadIdx.x / 32", "warp[i] = threadIdx.x % 32"),
        ),
        mutant(
            "lane is the thread",
            kinds.WRONG,
            ("lane[i] = threadIdx.x % 32", "lane[i] = threadIdx.x"),
        ),
        mutant(
            "blocks run together",
            kinds.WRONG,
            ("blockIdx.x * warps_per_block + threadIdx.x / 32", "i / 32"),
        ),
        mutant("first block only", kinds.WRONG, ("blockIdx.x * warps_per_block + ", "")),
        mutant(
            "local index",
            kinds.DATA_RACE,
            ("i = blockIdx.x * blockDim.x + threadIdx.x", "i = threadIdx.x"),
        ),
        mutant("no lanes", kinds.NOTHING_WRITTEN, ("    lane[i] = threadIdx.x % 32;\n", "")),
    ),
)

COUNT_WARPS = NumberExercise(
    id="03.count_warps",
    title="count the warps",
    notebook=EXECUTION,
    task="""
In this kernel every thread stores once. A store is one instruction for a whole warp, so counting
the warps' stores counts the warps. How many warps do these three launches have?
""",
    source="03_gpu_introduction/exercises/one_store_each.cu",
    kernel="one_store_each",
    inputs=lambda rng, size: {"y": empty(size[0] * size[1], np.int32)},
    launch=lambda size: Launch((size[0],), (size[1],)),
    asks={
        "even": Ask(
            "4 blocks of 256 threads",
            (4, 256),
            lambda counts: counts.global_store_requests,
            {1024: "Those are the threads. A warp has 32 of them.", 8: "That is for one block."},
        ),
        "uneven": Ask(
            "7 blocks of 100 threads",
            (7, 100),
            lambda counts: counts.global_store_requests,
            {
                22: "Warps do not reach into the next block: round up in each block.",
                21: "The last 4 threads of each block need a warp, too.",
            },
        ),
        "wasteful": Ask(
            "10 blocks of 33 threads",
            (10, 33),
            lambda counts: counts.global_store_requests,
            {
                11: "330 / 32 rounded up; but a warp belongs to one block.",
                10: "Thread 32 of each block is the 33rd: which warp is it in?",
            },
        ),
    },
    hints=(
        "Count the warps of one block first, then multiply by the blocks.",
        "A block of 100 threads has 3 full warps and one with 4 threads.",
        "Warps of a block: `(threads + 31) // 32`.",
    ),
    explanation="""
A warp with a single thread costs as much as a full one: with 33 threads a block, half of the
warps have one lane in use out of 32. Take a multiple of 32.
""",
    mutants=(
        mutant("threads", kinds.WRONG_NUMBER, ("even = 32", "even = 1024")),
        mutant("across blocks", kinds.WRONG_NUMBER, ("uneven = 28", "uneven = 22")),
        mutant("rounded down", kinds.WRONG_NUMBER, ("wasteful = 20", "wasteful = 10")),
        mutant("dots left", kinds.WRONG_TYPE, ("wasteful = 20", "wasteful = ...")),
        mutant("words", kinds.SYNTAX_ERROR, ("even = 32", "even = four times eight")),
    ),
)

WAVES = PythonExercise(
    id="03.waves",
    title="count the waves",
    notebook=EXECUTION,
    task="""
Blocks that all take the same time fill a GPU in waves. Return how many waves a grid needs, and how
many places stay empty in the last one.
""",
    source="03_gpu_introduction/exercises/waves.py",
    function="waves",
    cases=((660, 132, 2), (264, 132, 2), (265, 132, 2), (1, 132, 8), (1000, 24, 3)),
    reference=lambda blocks, multiprocessors, each: (
        -(-blocks // (multiprocessors * each)),
        -blocks % (multiprocessors * each),
    ),
    hints=(
        "At a time, `multiprocessors * blocks_each` blocks have a place.",
        "The waves are `blocks` over `places`, rounded up, as in 03.finish_time.",
        "All waves together have `waves * places` places; `blocks` of them are used.",
        "`return waves, waves * places - blocks`",
    ),
    explanation="""
With 132 multiprocessors and 2 blocks on each, 264 blocks take one wave and 265 take two: one
block more doubles the time. With many waves the last one matters little, and with blocks of
unequal length the waves blur; but a grid of a little more than one or two waves is worth a second
thought.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG, ("(blocks + places - 1) // places", "blocks // places")),
        mutant("one block each", kinds.WRONG, ("multiprocessors * blocks_each", "multiprocessors")),
        mutant("used for idle", kinds.WRONG, ("waves * places - blocks", "blocks % places")),
        mutant("waves only", kinds.WRONG_TYPE, ("waves, waves * places - blocks", "waves")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)

PREDICT_PASSES = NumberExercise(
    id="03.predict_passes",
    title="how often does the warp store?",
    notebook=EXECUTION,
    task="""
In this kernel each thread stores once, into `a` or into `b`. A warp whose lanes disagree walks both
paths, and each path has its own store. Predict how many stores the warps make in all.
""",
    source="03_gpu_introduction/exercises/passes.cu",
    kernel="passes",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]) ** 2 + np.float32(1),
        "a": empty(size[0]),
        "b": empty(size[0]),
        "period": np.int32(size[1]),
        "part": np.int32(size[2]),
    },
    launch=lambda size: Launch((1,), (size[0],)),
    asks={
        "every_other": Ask(
            "128 threads, every second one chooses a (period 2, part 1)",
            (128, 2, 1),
            lambda counts: counts.global_store_requests,
            {
                4: "There are 4 warps, and the lanes of each disagree.",
                128: "One for each thread; but a store is made for all lanes of a path at once.",
                2: "That is one warp's part.",
            },
        ),
        "by_warp": Ask(
            "128 threads, the first 32 of every 64 choose a (period 64, part 32)",
            (128, 64, 32),
            lambda counts: counts.global_store_requests,
            {8: "Threads 0 to 31 are one warp: do they disagree with each other?"},
        ),
        "one_border": Ask(
            "128 threads, the first 40 choose a (period 128, part 40)",
            (128, 128, 40),
            lambda counts: counts.global_store_requests,
            {
                4: "Look at the warp with threads 32 to 63: the border is in its middle.",
                8: "Only one warp has the border inside it. The others agree.",
            },
        ),
    },
    hints=(
        "Write down for each of the 4 warps whether all its lanes choose the same array.",
        "A warp that agrees makes one pass, a warp that disagrees makes two.",
        "`one_border`: threads 0 to 31 agree, 32 to 63 do not, and the last two warps agree again.",
    ),
    explanation="""
What the threads of other warps do costs a warp nothing. The branch `i % 64 < 32` sends as many
threads each way as `i % 2 < 1`, but its borders lie between warps. One border inside a warp costs
one more pass of that warp alone: the usual bounds guard `i < n` splits at most one warp of a
whole grid.
""",
    mutants=(
        mutant("one a warp", kinds.WRONG_NUMBER, ("every_other = 8", "every_other = 4")),
        mutant("all disagree", kinds.WRONG_NUMBER, ("by_warp = 4", "by_warp = 8")),
        mutant("no border", kinds.WRONG_NUMBER, ("one_border = 5", "one_border = 4")),
        mutant("dots left", kinds.WRONG_TYPE, ("by_warp = 4", "by_warp = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("one_border = 5", "border = 5")),
    ),
)

SWAP_NEIGHBOURS = Exercise(
    id="03.swap_neighbours",
    title="find the bug",
    notebook=EXECUTION,
    task="""
Each block is a single warp, and its author thought: the lanes of a warp move in step, so all have
written when the first one reads. Run the cell as it is, read the verdict, and add the missing line.
""",
    source="03_gpu_introduction/exercises/swap_neighbours.cu",
    kernel="swap_neighbours",
    inputs=lambda rng, warps: {
        "x": floats(rng, 32 * warps),
        "post": empty(32 * warps),
        "y": empty(32 * warps),
    },
    reference=lambda given: {
        "post": given["x"],
        "y": given["x"].reshape(-1, 2)[:, ::-1].reshape(-1),
    },
    launch=lambda warps: Launch((warps,), (32,)),
    small=(3, 1),
    full=1 << 19,
    bug=kinds.DATA_RACE,
    hints=(
        "The verdict names a line that writes and a line that reads the same place, in two lanes.",
        "Since Volta every lane has its own place in the program: one may run ahead of another.",
        "One line waits for all lanes of the warp and makes their writes visible to each other.",
        "`__syncwarp();` between the two lines.",
    ),
    explanation="""
Lanes of a warp often do move in step, which is why this kernel would pass most tests. CUDA does not
promise it: the compiler may reorder, and the hardware may let lanes part. `__syncwarp()` makes it a
promise, and costs next to nothing. `__syncthreads()` waits for the whole block and is right, too.
""",
    mutants=(
        mutant("no barrier", kinds.DATA_RACE, ("    __syncwarp();  // the", "    // the")),
        mutant(
            "barrier too early",
            kinds.DATA_RACE,
            ("    post[i] = x[i];", "    __syncwarp();\n    post[i] = x[i];"),
            ("    __syncwarp();  // the", "    // the"),
        ),
        mutant(
            "barrier too late",
            kinds.DATA_RACE,
            ("    y[i] = post[i ^ 1];", "    y[i] = post[i ^ 1];\n    __syncwarp();"),
            ("    __syncwarp();  // the", "    // the"),
        ),
        mutant("not swapped", kinds.WRONG, ("y[i] = post[i ^ 1]", "y[i] = post[i]")),
        mutant("wrong neighbour", kinds.WRONG, ("post[i ^ 1]", "post[i ^ 2]")),
    ),
)


def positive(rng: np.random.Generator, n: int) -> dict:
    return {"x": floats(rng, n) ** 2 + np.float32(0.5), "y": empty(n), "n": np.int32(n)}


def both_ways(given) -> dict:
    """Sixteen steps of one function for even elements, of another for odd ones, in float64."""
    y = given["x"].astype(np.float64)
    for _ in range(16):
        y[::2], y[1::2] = np.sqrt(y[::2] + 1), 1 / (y[1::2] + 1)
    return {"y": y}


BRANCH_BY_WARP = Exercise(
    id="03.branch_by_warp",
    title="a branch that does not split",
    notebook=EXECUTION,
    task="""
Even elements need one function, odd elements another. As the kernel stands, neighbouring lanes
disagree, and every warp walks both loops with half of its lanes idle. Hand out the 256 elements
of a block so that each warp goes one way only. The work on an element stays as it is.
""",
    source="03_gpu_introduction/exercises/branch_by_warp.cu",
    kernel="branch_by_warp",
    inputs=positive,
    reference=both_ways,
    launch=lambda n: Launch((-(-n // 256),), (256,)),
    small=SMALL,
    full=FULL,
    target=Target(
        label="warp instructions over those of warps that never split",
        measure=lambda counts: 32 * counts.warp_instructions / counts.thread_instructions,
        at_most=1.05,
        advice="The result is right, but lanes are idle: print `i % 2` for the 32 lanes of warp 0. "
        "Which element could lane 1 take, so that it goes the way of lane 0?",
        size=1024,
    ),
    hints=(
        "Warp 0 has threads 0 to 31. Which 32 elements could it take that are all even?",
        "Let threads 0 to 127 take the 128 even elements, and 128 to 255 the 128 odd ones.",
        "Thread t of the first half takes element `2 * t`; which one does thread 128 + t take?",
        "`const int i = first + 2 * (t % 128) + t / 128;`",
    ),
    explanation="""
128 is a multiple of 32, so no warp has threads of both halves. The loads pay for it: a warp now
reads every second element, and touches twice as many sectors of memory as before. With so much
arithmetic for each element that is a good bargain; with little it would be a bad one.
""",
    mutants=(
        mutant(
            "as before",
            kinds.TARGET_MISSED,
            ("first + 2 * (t % 128) + odd", "first + t"),
        ),
        mutant(
            "half a warp",
            kinds.TARGET_MISSED,
            ("t / 128;", "t / 16 % 2;"),
            ("2 * (t % 128)", "2 * (t / 32 * 16 + t % 16)"),
        ),
        mutant("odd ones left out", kinds.PARTLY_WRITTEN, ("+ odd;", "+ 0 * odd;")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("i < n", "true")),
        mutant("both the same", kinds.WRONG, ("i % 2 == 0", "true")),
        mutant("block forgotten", kinds.FIRST_BLOCK, ("first + 2 *", "2 *")),
    ),
)


# Notebooks 03 and 04.


def loads_from(space: str):
    """A count of the elements that all threads together load from ``space``."""
    return lambda counts: sum(
        number for name, number in counts.opcodes.items() if name.startswith(f"ld.{space}")
    )


SOFTEN = NumberExercise(
    id="03.soften",
    title="predict the loads from each memory",
    notebook=MEMORY,
    task="""
Two blocks of 64 threads run the kernel below, so 128 threads and 4 warps. Predict what they load,
and from where. The numbers in `part` are four for each thread; where do they live? Then run the
cell: the emulator counts.
""",
    source="03_gpu_introduction/exercises/soften.cu",
    kernel="soften",
    inputs=lambda rng, blocks: {"x": floats(rng, 64 * blocks), "y": empty(64 * blocks)},
    launch=lambda blocks: Launch((blocks,), (64,)),
    asks={
        "global_elements": Ask(
            "elements that all threads together load from global memory",
            2,
            loads_from("global"),
            {
                512: "The neighbours come from the tile. What is read from x itself?",
                64: "That is one block; two are running.",
                4: "That is the number of requests, one for each warp.",
            },
        ),
        "global_requests": Ask(
            "requests to global memory for loading: instructions of a whole warp",
            2,
            lambda counts: counts.global_load_requests,
            {
                128: "A request is the load of a whole warp: 32 threads at once.",
                2: "A block of 64 threads has two warps.",
                16: "Four for each warp are loads from the tile. Count those from x.",
            },
        ),
        "shared_requests": Ask(
            "requests to shared memory for loading",
            2,
            lambda counts: counts.shared_load_requests,
            {
                512: "That is what the threads load. A warp asks for 32 elements at a time.",
                4: "Each warp goes round the loop four times.",
                12: "k begins at 0: the thread's own element is read from the tile, too.",
            },
        ),
        "memories": Ask(
            "from how many different memories something is loaded, registers and parameters aside",
            2,
            lambda counts: len(
                {name.split(".")[1] for name in counts.opcodes if name.startswith("ld.")}
                - {"param"}
            ),
            {
                3: "Is any index into `part` unknown when the kernel is compiled?",
                1: "The tile is in shared memory, and x?",
            },
        ),
    },
    hints=(
        "Only one line mentions x, and every thread runs it once.",
        "A request is one instruction of one warp. Four warps run; how often does each load?",
        "The loop has four turns, known beforehand: the compiler writes them out, and the indices "
        "into `part` become 0, 1, 2 and 3. Registers can do that.",
    ),
    explanation="""
Every thread loads one element of x: 128 in all, in 4 requests, one for each warp. From the tile
each thread loads 4, so each warp makes 4 requests: 16. That makes two memories. Local memory is not
among them, since the compiler writes the short loop out and keeps `part` in registers.
""",
    mutants=(
        mutant("one block", kinds.WRONG_NUMBER, ("global_elements = 128", "global_elements = 64")),
        mutant("threads", kinds.WRONG_NUMBER, ("global_requests = 4", "global_requests = 128")),
        mutant("no loop", kinds.WRONG_NUMBER, ("shared_requests = 16", "shared_requests = 4")),
        mutant("array", kinds.WRONG_NUMBER, ("memories = 2", "memories = 3")),
        mutant("dots left", kinds.WRONG_TYPE, ("shared_requests = 16", "shared_requests = ...")),
    ),
)

COUNT_KINDS = Exercise(
    id="03.count_kinds",
    title="why is this slow? An array that is not in registers",
    notebook=MEMORY,
    task="""
The kernel is right. But its eight counters are in local memory, since `count[value]` has an index
that nobody knows before the kernel runs. Change the marked line so that all eight stay in
registers. The checker counts what is loaded from local memory; nothing should be.
""",
    source="03_gpu_introduction/exercises/count_kinds.cu",
    kernel="count_kinds",
    inputs=lambda rng, size: {
        "values": rng.integers(0, 8, size, dtype=np.int32),
        "counts": empty((8, size[1]), np.int32),
        "steps": np.int32(size[0]),
        "threads": np.int32(size[1]),
    },
    reference=lambda given: {
        "counts": np.stack([(given["values"] == kind).sum(axis=0) for kind in range(8)])
    },
    launch=lambda size: Launch((-(-size[1] // 128),), (128,)),
    small=((37, 300), (64, 128), (5, 1), (1, 1)),
    full=(1000, 1 << 17),
    target=Target(
        label="loads from local memory for each value",
        measure=lambda counts: loads_from("local")(counts) / (16 * 128),
        at_most=0.0,
        advice="Some index into count is still unknown to the compiler. A loop over the eight "
        "kinds has indices that are known: it is written out.",
        size=(16, 128),
    ),
    hints=(
        "Which indices does the compiler know? Those of a loop with a fixed number of turns.",
        "For each value, look at all eight counters, and let only the right one go up.",
        "`value == kind ? 1 : 0` is 1 in the right turn and 0 in the others.",
        "`for (int kind = 0; kind < kKinds; ++kind) { count[kind] += value == kind ? 1 : 0; }`",
    ),
    explanation="""
Eight comparisons and additions in place of one addition, and still it is the better bargain: they
stay in registers, where a result is ready after a few cycles, while a counter in local memory has
to be loaded, raised and stored again, through the L1 cache, before the next value can use it. On an
H200, with 131,072 threads of 1000 values each, it takes 0.19 ms in place of 1.1 ms.
""",
    mutants=(
        mutant(
            "local memory",
            kinds.TARGET_MISSED,
            ("count[kind] += value == kind ? 1 : 0;", "count[value] += value == kind ? 1 : 0;"),
        ),
        mutant(
            "one kind missed",
            kinds.EDGES,
            ("kind = 0; kind < kKinds; ++kind) {\n            ", "kind = 1; kind < 8; ++kind) {\n"),
        ),
        mutant("always counted", kinds.WRONG, ("value == kind ? 1 : 0", "1")),
        mutant("turned around", kinds.WRONG, ("value == kind", "value != kind")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= threads) {", "if (false) {")),
        mutant("one step missed", kinds.WRONG, ("step < steps", "step < steps - 1")),
    ),
)

WINDOW_MAX = Exercise(
    id="03.window_max",
    title="fetch once, use sixteen times",
    notebook=MEMORY,
    task="""
Find the largest of each 16 neighbouring elements. Neighbouring windows overlap, so let the block
fetch what its threads need once, into shared memory. The block's last threads look at elements
behind the block's own: the tile has 15 places more than the block has threads. `fmaxf(a, b)`
is the larger of two floats, `min(i, j)` the smaller of two whole numbers. The elements may be
negative, so a 0 that is not in `x` may be larger than all of them.
""",
    source="03_gpu_introduction/exercises/window_max.cu",
    kernel="window_max",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {
        "y": np.lib.stride_tricks.sliding_window_view(
            np.concatenate([given["x"], np.full(15, -np.inf, np.float32)]), 16
        ).max(axis=1)
    },
    launch=lambda n: Launch((-(-n // 256),), (256,)),
    small=SMALL,
    full=FULL,
    target=Target(
        label="elements loaded from global memory for each result",
        measure=lambda counts: loads_from("global")(counts) / 2048,
        at_most=1.1,
        advice="The result is right, but elements are fetched more than once. Read the window from "
        "the tile, not from x.",
        size=2048,
    ),
    hints=(
        "Thread t loads place t; the first 15 threads load a second one, 256 places further on.",
        "`for (int place = threadIdx.x; place < kTile; place += kBlock)` covers all places once.",
        "`tile[place] = x[min(first + place, n - 1)];` then `__syncthreads();`, by all threads.",
        "`largest = fmaxf(largest, tile[threadIdx.x + k]);` for k from 1 to 15; begin with "
        "`tile[threadIdx.x]`.",
    ),
    explanation="""
256 + 15 elements are loaded for 256 results, in place of 256 * 16. What goes through the same loop
sixteen times now comes from shared memory, on the same multiprocessor. The barrier stands outside
the `if`: all threads of the block have to reach it, also those without a result of their own.
""",
    mutants=(
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();\n", "")),
        mutant("no end", kinds.OUT_OF_BOUNDS, ("min(first + place, n - 1)", "first + place")),
        mutant(
            "each for itself",
            kinds.TARGET_MISSED,
            ("tile[threadIdx.x + k]", "x[min(i + k, n - 1)]"),
        ),
        mutant("one short", kinds.WRONG, ("k < kWindow", "k < kWindow - 1")),
        mutant("one too many", kinds.OUT_OF_BOUNDS, ("k < kWindow", "k <= kWindow")),
        mutant(
            "starts at zero",
            kinds.WRONG,
            ("float largest = tile[threadIdx.x];", "float largest = 0.0f;"),
        ),
        mutant("never stores", kinds.NOTHING_WRITTEN, ("        y[i] = largest;\n", "")),
    ),
)

POLYNOMIAL = NumberExercise(
    id="03.polynomial",
    title="predict FLOPs, bytes and intensity",
    notebook=ROOFLINE,
    task="""
Four warps, a block each, run the kernel below: 128 values of x, and nine coefficients that all of
them share. First work out FLOPs and bytes by hand, then run the cell. A multiply-add counts as two.
You may write arithmetic in place of a number, such as `3 * 4 / 5`.
""",
    source="03_gpu_introduction/exercises/polynomial.cu",
    kernel="polynomial",
    inputs=lambda rng, blocks: {
        "x": floats(rng, 32 * blocks),
        "c": floats(rng, 9),
        "y": empty(32 * blocks),
    },
    launch=lambda blocks: Launch((blocks,), (32,)),
    asks={
        "flops": Ask(
            "FLOPs of the whole launch",
            4,
            lambda counts: counts.flops,
            {
                8 * 128: "A multiply-add counts as two.",
                2 * 9 * 128: "The loop begins at k = 7: how many turns does it have?",
                16: "That is one thread. 128 are running.",
            },
        ),
        "sectors_read": Ask(
            "sectors of 32 bytes that one warp's loads touch: x once, and each of c[0] to c[8]",
            1,
            lambda counts: counts.global_load_sectors,
            {
                6: "The nine coefficients share two sectors, but each of the nine loads asks anew.",
                10: "One sector for each request is right for c. For x, 32 floats are 128 bytes.",
                36: "All 32 threads ask for the same c[k]: one sector serves them all.",
                40: "All 32 threads ask for the same c[k]: one sector serves them all.",
            },
        ),
        "asked_intensity": Ask(
            "FLOPs for each byte that is asked for, loads and stores, in sectors of 32 bytes",
            4,
            lambda counts: (
                counts.flops / (32 * (counts.global_load_sectors + counts.global_store_sectors))
            ),
            {
                2.0: "That is for x and y alone. The coefficients are asked for, too.",
                16 * 32 / (32 * 13): "y is written: four sectors more for each warp.",
            },
        ),
        "best_intensity": Ask(
            "FLOPs for each byte when x is read once, y written once, and c comes from a cache",
            4,
            lambda counts: counts.flops / (2 * counts.global_store_bytes),
            {
                4.0: "x is read and y is written: eight bytes for each element.",
                1.0: "A multiply-add counts as two.",
            },
        ),
    },
    hints=(
        "Horner's rule has one multiply-add a turn, and k goes from 7 down to 0.",
        "x: 32 floats in a row are 4 sectors. c[k]: one sector, nine times.",
        "One warp: 32 * 16 FLOPs, and 4 + 9 sectors read, 4 written.",
        "You may write arithmetic: `asked_intensity = 32 * 16 / (32 * 17)`.",
    ),
    explanation="""
16 FLOPs for each element, 2048 in all. A warp asks for 4 + 9 sectors and writes 4: 17 * 32 bytes
for 512 FLOPs, less than one FLOP a byte. But the coefficients are the same few bytes for
everybody and stay in the cache; what has to come from memory is x, and y goes back: 2 FLOPs a byte.
Both are far below the ridge of the H200: this kernel is memory-bound.
""",
    mutants=(
        mutant("fma is one", kinds.WRONG_NUMBER, ("flops = 2048", "flops = 1024")),
        mutant("c cached", kinds.WRONG_NUMBER, ("sectors_read = 13", "sectors_read = 4")),
        mutant(
            "y forgotten",
            kinds.WRONG_NUMBER,
            ("asked_intensity = 0.941176470588", "asked_intensity = 16 / 13"),
        ),
        mutant("dots left", kinds.WRONG_TYPE, ("best_intensity = 2", "best_intensity = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("best_intensity", "intensity")),
    ),
)

LEAST_TIME = PythonExercise(
    id="03.least_time",
    title="the roofline as a function",
    notebook=ROOFLINE,
    task="""
Write the roofline as a Python function: from the work of a kernel and two figures of the machine to
the least time it can take, and to what sets that time.
""",
    source="03_gpu_introduction/exercises/least_time.py",
    function="least_time",
    cases=(
        (1e9, 12e9, 60e12, 4e12),
        (2e12, 1e9, 60e12, 4e12),
        (15e12, 1e12, 60e12, 4e12),
        (1.0, 1.0, 2.0, 1.0),
        (0.0, 4e9, 60e12, 4e12),
    ),
    reference=lambda flops, moved, peak, bandwidth: (
        max(flops / peak, moved / bandwidth),
        "memory" if moved / bandwidth > flops / peak else "compute",
    ),
    hints=(
        "Computing takes flops / peak seconds, moving takes moved / bandwidth seconds.",
        "Both go on at the same time, so the slower one sets the time: max, not a sum.",
        "In a tie the word is compute: compare with >, not with >=.",
        '`return max(a, b), "memory" if b > a else "compute"`, where a is computing and b moving.',
    ),
    explanation="""
The roof of the figure is this function turned around: FLOPs over the least time. Where the two
times are equal lies the ridge.
""",
    mutants=(
        mutant("a sum", kinds.WRONG, ("max(computing, moving)", "computing + moving")),
        mutant("the faster one", kinds.WRONG, ("max(", "min(")),
        mutant("words swapped", kinds.WRONG, ("moving > computing", "moving < computing")),
        mutant("tie", kinds.WRONG, ("moving > computing", "moving >= computing")),
        mutant("upside down", kinds.WRONG, ("flops / peak", "peak / flops if flops else 0.0")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


def layer_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": floats(rng, size),
        "bias": floats(rng, columns),
        "r": floats(rng, size),
        "y": empty(size),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


FUSED_LAYER = Exercise(
    id="03.fused_layer",
    title="why is this slow? Three steps through memory",
    notebook=ROOFLINE,
    task="""
The kernel adds a bias, cuts off what is negative, and adds a second array, as layers of a neural
network do. It stores after every step and loads again, as three separate kernels would. Fuse the
steps: load each input once, store the result once.
""",
    source="03_gpu_introduction/exercises/fused_layer.cu",
    kernel="fused_layer",
    inputs=layer_inputs,
    reference=lambda given: {"y": np.maximum(given["x"] + given["bias"], 0.0) + given["r"]},
    launch=lambda size: Launch((-(-size[0] * size[1] // 256),), (256,)),
    small=((37, 45), (16, 64), (3, 1), (1, 1)),
    full=(8192, 8192),
    target=Target(
        label="bytes loaded and stored by the threads for each element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 2048,
        at_most=16.0,
        advice="Each of x, bias, r and y needs to be touched once: four times four bytes. Keep "
        "what is in between in a variable.",
        size=(32, 64),
    ),
    hints=(
        "A variable declared in the kernel, such as `float shifted = ...;`, is a register.",
        "The index of the bias is `i % columns`.",
        "`fmaxf(shifted, 0.0f)` is relu; nothing of it has to be stored.",
        "`y[i] = fmaxf(shifted, 0.0f) + r[i];`",
    ),
    explanation="""
The same three FLOPs, and 16 bytes asked for in place of 32. Of the 16, the 4 of the bias come from
a cache. Fusing saves this traffic first; it also saves two launches, which matters where arrays are
small. No result changes. On an H200, 8192 x 8192 elements take 0.26 ms in place of 0.60 ms.
""",
    mutants=(
        mutant(
            "still in steps",
            kinds.TARGET_MISSED,
            (
                "    y[i] = fmaxf(shifted, 0.0f) + r[i];",
                "    volatile float *step = y;\n    step[i] = fmaxf(shifted, 0.0f);\n"
                "    step[i] = step[i] + r[i];",
            ),
        ),
        mutant(
            "r first", kinds.WRONG, ("fmaxf(shifted, 0.0f) + r[i]", "fmaxf(shifted + r[i], 0.0f)")
        ),
        mutant("no relu", kinds.WRONG, ("fmaxf(shifted, 0.0f)", "shifted")),
        mutant("bias by row", kinds.WRONG, ("i % columns", "i / columns % columns")),
        mutant("bias not repeated", kinds.OUT_OF_BOUNDS, ("bias[i % columns]", "bias[i]")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= rows * columns) {", "if (false) {")),
    ),
)


def vectors_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    m, k = size
    return {
        "A": floats(rng, (k, m)),
        "X": floats(rng, (4, k)),
        "Y": empty((4, m)),
        "M": np.int32(m),
        "K": np.int32(k),
    }


FOUR_VECTORS = Exercise(
    id="03.four_vectors",
    title="a batch of four",
    notebook=ROOFLINE,
    task="""
One matrix, four vectors. The kernel is right, but it walks through the matrix once for each vector,
as four calls of a GEMV would. Let each element of A that is fetched serve all four.
""",
    source="03_gpu_introduction/exercises/four_vectors.cu",
    kernel="four_vectors",
    inputs=vectors_inputs,
    reference=lambda given: {"Y": given["X"].astype(np.float64) @ given["A"].astype(np.float64)},
    launch=lambda size: Launch((-(-size[0] // 64),), (64,)),
    small=((150, 37), (64, 16), (5, 1), (1, 1)),
    full=(65536, 1024),
    reduction=lambda size: size[1],
    target=Target(
        label="sectors loaded for each FMA of a warp",
        measure=lambda counts: counts.global_load_sectors / (counts.flops / 64),
        at_most=2.1,
        advice="The result is right, but A is fetched once for each vector. Put the loop over the "
        "vectors inside the loop over k, and give each vector a sum of its own.",
        size=(128, 32),
    ),
    hints=(
        "Which loop has to be outside, so that one element of A meets all four vectors?",
        "Four sums are needed at the same time: `float sum[kVectors] = {};` in registers.",
        "`const float a = A[k * M + row];` once a turn, then `sum[v] += a * X[v * K + k];`",
        "Store the four sums after the loop over k: `Y[v * M + row] = sum[v];`",
    ),
    explanation="""
For each element of A there are now four multiply-adds in place of one: the intensity is four times
as high, and the least time of a memory-bound kernel stays what it was for one vector. This is what
batching does, and with more and more vectors it ends in the matrix product. The array `sum` stays
in registers, because every index is known when the kernel is compiled.
""",
    mutants=(
        mutant(
            "again for each",
            kinds.TARGET_MISSED,
            ("sum[v] += a *", "sum[v] += *(const volatile float *)&A[k * M + row] *"),
        ),
        mutant("first vector only", kinds.FIRST_BLOCK, ("X[v * K + k]", "X[k]")),
        mutant("not summed", kinds.WRONG, ("sum[v] += a", "sum[v] = a")),
        mutant("row by row", kinds.OUT_OF_BOUNDS, ("= A[k * M + row]", "= A[row * M + k]")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (row >= M) {", "if (false) {")),
        mutant("last product missed", kinds.WRONG, ("k < K", "k < K - 1")),
    ),
)

EXERCISES = [
    FINISH_TIME,
    HYPOTENUSE,
    PREDICT_TRAFFIC,
    PEAK_TFLOPS,
    WARP_AND_LANE,
    COUNT_WARPS,
    WAVES,
    PREDICT_PASSES,
    SWAP_NEIGHBOURS,
    BRANCH_BY_WARP,
    # 03_memory_model
    SOFTEN,
    COUNT_KINDS,
    WINDOW_MAX,
    # 04_roofline
    LEAST_TIME,
    POLYNOMIAL,
    FUSED_LAYER,
    FOUR_VECTORS,
]
