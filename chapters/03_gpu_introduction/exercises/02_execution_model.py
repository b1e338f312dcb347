"""The exercises of "The execution model"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Cases,
    Exercise,
    Launch,
    Means,
    NumberExercise,
    Promises,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.vectors import BLOCK, FULL, SMALL, one_thread_each, spare_blocks

ODD_BLOCK = 80  # threads: two warps and a half
MANY_BLOCKS = 21_847  # the last one's warps have numbers that 16 bits cannot hold


def warps_and_lanes(given) -> dict:
    """What each thread should store, in blocks of 80 threads."""
    block, thread = np.divmod(np.arange(given["warp"].shape[0], dtype=np.int32), ODD_BLOCK)
    warp, lane = np.divmod(thread, 32)
    return {"warp": warp, "lane": lane, "warp_of_grid": 3 * block + warp}


WARP_AND_LANE = Exercise(
    id="03.warp_and_lane",
    title="which warp, which lane?",
    task="""
Let every thread store the number of its warp in its block, its lane, and a number for its warp
that is unique in the whole grid, counted from 0 in the order of the blocks. The blocks have 80
threads: two full warps and a half one. `warps_per_block` is there already.
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
    promises=Promises(
        sizes=promises.shapes(blocks=promises.extents(1100)).with_longest(blocks=MANY_BLOCKS)
    ),
    means=(
        means.one_store_each(2),
        means.no_extra_work(),
        means.work_shared_out(size=20),
    ),
    hints=(
        "Threads 0 to 31 of a block are warp 0, threads 32 to 63 are warp 1.",
        "`threadIdx.x / 32` drops the remainder, and `threadIdx.x % 32` is the remainder.",
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
            "blocks in a byte",
            kinds.FIRST_BLOCK,
            ("blockIdx.x * warps_per_block +", "(blockIdx.x & 255) * warps_per_block +"),
        ),
        mutant(
            "numbers of 16 bits",
            kinds.EDGES,
            ("= blockIdx.x * warps_per_block", "= (blockIdx.x * warps_per_block & 0xffff)"),
        ),
        mutant(
            "the multiprocessor's number of the warp",
            kinds.FIRST_BLOCK,
            (
                "    warp[i] = threadIdx.x / 32;\n",
                '    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp[i]));\n',
            ),
        ),
        mutant(
            "one thread for its block",
            kinds.MEANS_MISSING,
            (
                "    warp[i] = threadIdx.x / 32;\n    lane[i] = threadIdx.x % 32;\n"
                "    warp_of_grid[i] = blockIdx.x * warps_per_block + threadIdx.x / 32;",
                "    for (int t = 0; t < 80 && threadIdx.x == 0; ++t) {\n"
                "        warp[i + t] = t / 32;\n        lane[i + t] = t % 32;\n"
                "        warp_of_grid[i + t] = blockIdx.x * warps_per_block + t / 32;\n    }",
            ),
        ),
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
A warp with a single thread takes as many instructions as a full one: with 33 threads a block, half
of the warps have one lane in use out of 32. Take a multiple of 32.
""",
    mutants=(
        mutant("threads", kinds.WRONG_NUMBER, ("even = 32", "even = 1024")),
        mutant("across blocks", kinds.WRONG_NUMBER, ("uneven = 28", "uneven = 22")),
        mutant("rounded down", kinds.WRONG_NUMBER, ("wasteful = 20", "wasteful = 10")),
        mutant("dots left", kinds.WRONG_TYPE, ("wasteful = 20", "wasteful = ...")),
        mutant("words", kinds.SYNTAX_ERROR, ("even = 32", "even = four times eight")),
    ),
)


def grid_and_gpu(rng: np.random.Generator) -> tuple[int, int, int]:
    """Blocks, multiprocessors and blocks on each; often whole waves, or one block more or fewer."""
    multiprocessors, each = int(rng.integers(1, 200)), int(rng.integers(1, 33))
    slots = multiprocessors * each
    full_waves = int(rng.integers(0, 10 ** rng.integers(1, 7)))
    over = int(rng.choice([-1, 0, 1, rng.integers(slots)]))
    return min(max(full_waves * slots + over, 1), 2**31 - 1), multiprocessors, each


WAVES = PythonExercise(
    id="03.waves",
    title="count the waves",
    task="""
Blocks that all take the same time fill a GPU in waves. Return how many waves a grid needs, and how
many slots for blocks stay empty in the last one. A grid has 1 to 2³¹ - 1 blocks.
""",
    source="03_gpu_introduction/exercises/waves.py",
    function="waves",
    cases=(
        (660, 132, 2),
        (264, 132, 2),
        (265, 132, 2),
        (1, 132, 8),
        (1000, 24, 3),
        (2**31 - 1, 132, 2),
        (2**31 - 1, 199, 32),
        (10**9, 10_000, 64),
        (26_400_001, 132, 2),  # one block more than whole waves, and a 32-bit float cannot tell
    ),
    reference=lambda blocks, multiprocessors, each: (
        -(-blocks // (multiprocessors * each)),
        -blocks % (multiprocessors * each),
    ),
    promises=Cases(grid_and_gpu),
    means="Any formula that is right is a good one.",
    hints=(
        "At a time, `multiprocessors * blocks_each` blocks are resident: that many slots there "
        "are.",
        "The waves are `blocks` over `slots`, rounded up, as in 03.finish_time.",
        "All waves together have `waves * slots` slots; `blocks` of them are used.",
        "`return waves, waves * slots - blocks`",
    ),
    explanation="""
With 132 multiprocessors and 2 blocks on each, 264 blocks take one wave and 265 take two. One block
more doubles the time: that is wave quantisation. With many waves the last one matters little, and
with blocks of unequal length the waves blur; but a grid of a little more than one or two waves is
worth a second thought.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG, ("(blocks + slots - 1) // slots", "blocks // slots")),
        mutant("one block each", kinds.WRONG, ("multiprocessors * blocks_each", "multiprocessors")),
        mutant(
            "32 blocks each at most",
            kinds.WRONG,
            ("multiprocessors * blocks_each", "multiprocessors * min(blocks_each, 32)"),
        ),
        mutant(
            "always a wave more",
            kinds.WRONG,
            ("(blocks + slots - 1) // slots", "blocks // slots + (blocks not in (264, 660))"),
        ),
        mutant("used for idle", kinds.WRONG, ("waves * slots - blocks", "blocks % slots")),
        mutant("waves only", kinds.WRONG_TYPE, ("waves, waves * slots - blocks", "waves")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


PREDICT_PASSES = NumberExercise(
    id="03.predict_passes",
    title="how often does the warp store?",
    task="""
In this kernel each thread stores once, into `a` or into `b`. A warp whose lanes disagree executes
both paths, and each path has its own store. Predict how many stores the warps make in all.
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
What the threads of other warps choose adds no pass to a warp. The branch `i % 64 < 32` sends as
many threads down each path as `i % 2 < 1`, but it is uniform in every warp. One border inside a
warp costs one more pass of that warp alone: on the usual bounds guard `i < n` at most one warp of
a whole grid diverges.
""",
    mutants=(
        mutant("one a warp", kinds.WRONG_NUMBER, ("every_other = 8", "every_other = 4")),
        mutant("all disagree", kinds.WRONG_NUMBER, ("by_warp = 4", "by_warp = 8")),
        mutant("no border", kinds.WRONG_NUMBER, ("one_border = 5", "one_border = 4")),
        mutant("dots left", kinds.WRONG_TYPE, ("by_warp = 4", "by_warp = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("one_border = 5", "border = 5")),
    ),
)


def positive(rng: np.random.Generator, n: int) -> dict:
    return {"x": floats(rng, n) ** 2 + np.float32(0.5), "y": empty(n), "n": np.int32(n)}


def both_ways(given) -> dict:
    """Sixteen steps of one function for even elements, of another for odd ones, in float64."""
    y = given["x"].astype(np.float64)
    for _ in range(STEPS):
        y[::2], y[1::2] = np.sqrt(y[::2] ** 2 + 1), y[1::2] + 1 / (y[1::2] + 1)
    return {"y": y}


POSITIVE = (  # the classes of values that the header promises
    promises.POSITIVE,
    promises.RISING,
    promises.FALLING,
    promises.MIDDLING,
    promises.SMALL,
    ("all 3", lambda x, rng: np.full_like(x, 3)),
    ("about 100,000", lambda x, rng: x * 1e5),
    promises.VERY_LARGE,
)
STEPS = 16  # of either function


BRANCH_BY_WARP = Exercise(
    id="03.branch_by_warp",
    title="a uniform branch",
    task="""
Even elements need one function, odd elements another. As the kernel stands, neighbouring lanes
disagree, and every warp executes both loops with half of its lanes inactive. Distribute the 256
elements of a block so that each warp takes one path only. The work on an element stays as it is.
""",
    source="03_gpu_introduction/exercises/branch_by_warp.cu",
    kernel="branch_by_warp",
    inputs=positive,
    reference=both_ways,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(promises.data("x", *POSITIVE),),
    ),
    means=(
        Means(
            "threads of the last block that touch memory, where it has 32 elements",
            lambda work: np.count_nonzero(work.launches[0].work.touched[-BLOCK:]),
            at_least=32,
            at_most=32,
            advice="Each block owns 256 elements in a row, the last one those that are left: "
            "distribute them within the block.",
            size=19 * BLOCK + 32,
        ),
        Means(
            "square roots and divisions for each element",
            lambda work: work.opcodes("sqrt.", "rcp.", "div.") / work.results,
            at_most=1.25 * STEPS,
            advice="An element takes one of the two functions. Computing both and choosing one is "
            "what a warp that diverges does, too.",
            size=20 * BLOCK,
        ),
        Means(
            "rounded square roots and divisions for each element",
            lambda work: work.opcodes("sqrt.rn", "rcp.rn", "div.rn") / work.results,
            at_least=0.9 * STEPS,
            advice="The work on an element stays as it is: sixteen steps of one function or of the "
            "other. Which thread does it is what changes.",
            size=20 * BLOCK,
        ),
        Means(
            "warp instructions in a block that is partly full, over those without divergence",
            lambda work: 32 * work.counts.warp_instructions / work.counts.thread_instructions,
            at_most=1.2,
            advice="In the last block, too, each warp takes one path only.",
            size=250,
        ),
        Means(
            "bytes of memory that the busiest thread touches, over those of an average one",
            lambda work: work.busiest_over_mean(),
            at_most=1.6,
            advice="A block has as many threads as elements: each thread takes one, none idles.",
            size=20 * BLOCK,
        ),
    ),
    target=Target(
        label="warp instructions over those of warps that never diverge",
        measure=lambda counts: 32 * counts.warp_instructions / counts.thread_instructions,
        at_most=1.05,
        advice="The result is right, but lanes are inactive: print `i % 2` for the 32 lanes of "
        "warp 0. "
        "Which element could lane 1 take, so that it takes the path of lane 0?",
        size=20 * BLOCK,
    ),
    hints=(
        "Warp 0 has threads 0 to 31. Which 32 elements could it take that are all even?",
        "Let threads 0 to 127 take the 128 even elements, and 128 to 255 the 128 odd ones.",
        "Thread t of the first half takes element `2 * t`; which one does thread 128 + t take?",
        "`const int i = first + 2 * (t % 128) + t / 128;`",
    ),
    explanation="""
128 is a multiple of 32, so no warp has threads of both halves. The loads pay for it: a warp now
reads every second element, and touches twice as much memory as before. Whether that pays depends
on how much arithmetic there is for each element; here it is a lot.
""",
    mutants=(
        mutant(
            "as before",
            kinds.TARGET_MISSED,
            ("first + 2 * (t % 128) + odd", "first + t"),
        ),
        mutant(
            "the last block as before",
            kinds.MEANS_MISSING,
            ("first + 2 * (t % 128) + odd", "first + (first + 256 > n ? t : 2 * (t % 128) + odd)"),
        ),
        mutant(
            "half a warp",
            kinds.TARGET_MISSED,
            ("t / 128;", "t / 16 % 2;"),
            ("2 * (t % 128)", "2 * (t / 32 * 16 + t % 16)"),
        ),
        mutant(
            "half of the threads take two",
            kinds.MEANS_MISSING,
            ("    const int odd = t / 128;", "    for (int odd = 0; odd < 2 && t < 128; ++odd) {"),
            ("        y[i] = v;\n    }\n", "        y[i] = v;\n    }\n    }\n"),
        ),
        mutant(
            "a sloppy division",
            kinds.MEANS_MISSING,
            ("1.0f / (v + 1.0f)", "__fdividef(1.0f, v + 1.0f)"),
        ),
        mutant("a million at most", kinds.WRONG, ("y[i] = v;", "y[i] = fminf(v, 1e6f);")),
        mutant("odd ones left out", kinds.PARTLY_WRITTEN, ("+ odd;", "+ 0 * odd;")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("i < n", "true")),
        mutant("both the same", kinds.WRONG, ("i % 2 == 0", "true")),
        mutant("block forgotten", kinds.FIRST_BLOCK, ("first + 2 *", "2 *")),
    ),
)


SWAP_NEIGHBOURS = Exercise(
    id="03.swap_neighbours",
    title="find the bug",
    task="""
Each block is a single warp, and its author thought: the lanes of a warp run in lockstep, so all
have written when the first one reads. Run the cell as it is, read the verdict, and add the missing
line.
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
    exact=True,
    promises=Promises(
        sizes=promises.lengths("warps", most=2100),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(
        means.instructions(
            "threads that wait at a barrier",
            "bar",
            at_least=3 * 32,
            advice="What goes by way of `post` is written by one lane and read by another: the "
            "missing line makes the lanes of the warp wait for each other between the two.",
        ),
        means.reads(
            "post",
            3 * 32 * 4,
            advice="The pairs swap by way of `post`: each lane takes there what its neighbour put.",
        ),
        means.no_extra_work(),
        means.work_shared_out(size=20),
    ),
    bug=kinds.DATA_RACE,
    hints=(
        "The verdict names a line that writes and a line that reads the same element, in two "
        "lanes.",
        "Since Volta every lane has its own program counter: one may run ahead of another.",
        "One line waits for all lanes of the warp and makes their writes visible to each other.",
        "`__syncwarp();` between the two lines.",
    ),
    explanation="""
Lanes of a warp often do run in lockstep, which is why this kernel would pass most tests. CUDA does
not promise it: the compiler may reorder, and the hardware may let lanes diverge. `__syncwarp()`
makes it a promise. `__syncthreads()` waits for the whole block and is
right, too.
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
        mutant(
            "post not read",
            kinds.MEANS_MISSING,
            ("    __syncwarp();  // the", "    // the"),
            ("y[i] = post[i ^ 1]", "y[i] = x[i ^ 1]"),
        ),
        mutant(
            "post not read, for all the barrier",
            kinds.MEANS_MISSING,
            ("y[i] = post[i ^ 1]", "y[i] = x[i ^ 1]"),
        ),
        mutant(
            "odd lanes wait for odd ones",
            kinds.DATA_RACE,
            ("__syncwarp();", "__syncwarp(i % 2 ? 0xaaaaaaaa : 0x55555555);"),
        ),
        mutant("in three blocks only", kinds.DATA_RACE, ("__sync", "if (blockIdx.x < 3) __sync")),
        mutant("not swapped", kinds.WRONG, ("y[i] = post[i ^ 1]", "y[i] = post[i]")),
        mutant("wrong neighbour", kinds.WRONG, ("post[i ^ 1]", "post[i ^ 2]")),
    ),
)
