"""The exercises of "Reductions"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Means,
    Promises,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Values
from course_utils.exercises.vectors import BLOCK, FULL, one_thread_each

from .common import orders


def padded_rows(x: np.ndarray, length: int, fill: float) -> np.ndarray:
    """``x`` cut into rows of ``length``, the last one filled up."""
    return np.append(x, np.full(-len(x) % length, fill, x.dtype)).reshape(-1, length)


def often_found_last(x: np.ndarray, rng: np.random.Generator, further: float) -> np.ndarray:
    """``x``, whose last number is in half of all cases ``further`` than any other: where a few of
    many are left out, chance seldom finds that one among them."""
    if rng.random() < 0.5:
        x[-1] = (x.max() if further > 0 else x.min()) + np.float32(further)
    return x


BLOCK_MIN = Exercise(
    id="04.block_min",
    title="a tree in shared memory",
    task="""
Find the smallest element of each block's 256, by a tree in shared memory (shuffles, which come
later, may make the last steps of one warp, no more). The last block has threads without an element:
what can they put into the tree that changes nothing?
""",
    source="04_first_kernels/exercises/block_min.cu",
    kernel="block_min",
    inputs=lambda rng, n: {
        "x": often_found_last(floats(rng, n) + np.float32(5), rng, -0.25),
        "smallest": empty(-(-n // BLOCK)),
        "n": np.int32(n),
    },
    reference=lambda given: {"smallest": padded_rows(given["x"], BLOCK, np.inf).min(axis=1)},
    launch=one_thread_each,
    small=(1000, 257, 256, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        values=(promises.data("x", *promises.ANY_ORDERED),),
    ),
    means=(
        means.shared_memory(
            4 * 1000, advice="The threads of a block meet in a tree in shared memory, all of them."
        ),
        means.shuffles(
            0,
            5 * 32 * 4,  # one warp of each block may end with them
            advice="A tree in shared memory hands its numbers on there, not by shuffles.",
        ),
        means.barriers(1, advice="A tree in shared memory has a barrier before every step."),
        means.atomics(
            "shared", at_most=0, advice="A tree needs no atomic: two threads never store one place."
        ),
        means.work_shared_out(12),
        means.loads_shared_out(),
        means.no_extra_work(),
    ),
    hints=(
        "0 would be smaller than every element here. Which number is smaller than none?",
        "`tree[t] = i < n ? x[i] : infinity;`",
        "Each step reads what other threads wrote in the step before: a barrier comes first, and "
        "outside the `if`.",
        "`if (t < distance) tree[t] = fminf(tree[t], tree[t + distance]);`",
    ),
    explanation="""
Infinity is to the minimum what 0 is to the sum, its identity: it changes nothing. With it, no step
needs a guard for the end of the array.
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
        mutant(
            "by shuffles",
            kinds.MEANS_MISSING,
            (
                "x[i] : infinity;",
                "x[i] : infinity;\n    for (int d = 16; d > 0; d /= 2)\n"
                "        tree[t] = fminf(tree[t], __shfl_xor_sync(~0u, tree[t], d));",
            ),
        ),
        mutant("the largest", kinds.WRONG, ("fminf(", "fmaxf(")),
        mutant(
            "half a tree for half a block",
            kinds.WRONG,
            ("= kThreads / 2;", "= n - blockIdx.x * kThreads <= 128 ? 32 : kThreads / 2;"),
        ),
        mutant("no step", kinds.WRONG, ("= fminf(tree[t], tree[t + distance]);", "= tree[t];")),
    ),
)


WARP_MAX = Exercise(
    id="04.warp_max",
    title="five shuffles",
    task="""
Let each warp find the largest of its 32 elements with shuffles alone: no shared memory, no barrier.
Lane 0 stores it.
""",
    source="04_first_kernels/exercises/warp_max.cu",
    kernel="warp_max",
    inputs=lambda rng, n: {
        "x": often_found_last(floats(rng, n) - np.float32(5), rng, 0.25),
        "largest": empty(-(-n // 32)),
        "n": np.int32(n),
    },
    reference=lambda given: {"largest": padded_rows(given["x"], 32, -np.inf).max(axis=1)},
    launch=one_thread_each,
    small=(1000, 257, 32, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        values=(promises.data("x", promises.LOWEST, promises.HIGHEST, *promises.ANY_ORDERED),),
    ),
    means=(
        means.shuffles(
            5 * 1000, 2 * 5 * 1024, advice="Five shuffles, and every lane takes part in each."
        ),
        means.one_store_each(),
        means.loads_shared_out(),
    ),
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
        mutant(
            "the lowest float is -inf",
            kinds.WRONG,
            (
                "    if (lane == 0 &&",
                "    if (value < -3.4e38f) value = -infinity;\n    if (lane == 0 &&",
            ),
        ),
        mutant("the other way", kinds.WRONG, ("__shfl_down_sync", "__shfl_up_sync")),
        mutant(
            "every lane stores",
            kinds.MEANS_MISSING,
            ("__shfl_down_sync", "__shfl_xor_sync"),
            ("if (lane == 0 && i < n)", "if (i < n)"),
        ),
        mutant(
            "31 shuffles",
            kinds.MEANS_MISSING,
            (
                "for (int distance = kWarpSize / 2; distance > 0; distance /= 2)",
                "for (int distance = 1; distance < 32; ++distance)",
            ),
            (
                "fmaxf(value, __shfl_down_sync(kWholeWarp, value, distance))",
                "fmaxf(value, __shfl_sync(kWholeWarp, value, (lane + distance) % 32))",
            ),
        ),
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


def rows_and_columns(size: int | tuple[int, int]) -> tuple[int, int]:
    """The shape of a matrix; a lone number of rows means rows of 37. (The variance of one element,
    and its place, would be 0: no result that can be checked.)
    """
    return size if isinstance(size, tuple) else (size, 37)


def weighty_at_the_end(x: np.ndarray, times: float) -> np.ndarray:
    """``x`` with what lies past the first 32,768 or 65,536 of a row made larger: it would not be
    missed otherwise, being little of a long sum."""
    for first in (65_536, 32_768):
        if x.shape[-1] > first:
            x[..., first:] *= np.float32(times)
            break
    return x


FIND_THE_MISSING_BARRIER = Exercise(
    id="04.find_the_missing_barrier",
    title="two sums, one array",
    task="""
This block adds up twice: first for the mean, then for the squares. Each sum by itself is right, its
barrier stands where it belongs, and small tests pass. Run the cell as it is, read the verdict, and
add the one line that is missing. (The numbers of a row may lie far from 0, all close together.)
""",
    source="04_first_kernels/exercises/row_variance.cu",
    kernel="row_variance",
    inputs=lambda rng, size: {
        "x": weighty_at_the_end(floats(rng, rows_and_columns(size)), 10),
        "variance": empty(rows_and_columns(size)[0]),
        "columns": np.int32(rows_and_columns(size)[1]),
    },
    reference=lambda given: {"variance": given["x"].astype(np.float64).var(axis=1)},
    launch=lambda size: Launch((rows_and_columns(size)[0],), (128,)),
    small=((3, 300), (2, 129), (3, 7), 1),
    full=(1 << 14, 1000),
    # Also for those who subtract the first element of a row: with few columns that costs digits.
    reduction=lambda size: max(64, rows_and_columns(size)[1]),
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 3, 7, 300), columns=promises.extents(40_000, least=2)
        ).with_longest(rows=32_771),
        # Not where elements are equal: then a variance of 0 is asked for, which rounding misses.
        values=(
            promises.data(
                "x",
                promises.NEGATIVE,
                promises.POSITIVE,
                promises.MIDDLING,
                promises.SMALL,
                ("about 1000, one apart", lambda x, rng: x + 1000),
                promises.SOME_NAN,
            ),
        ),
    ),
    means=(
        means.barriers(
            1, advice="The warps of a block hand each other their sums: that takes a barrier."
        ),
        means.reads_each_once(4 * 3 * 300, at_most=3, size=(3, 300)),
        means.loads_shared_out(),
    ),
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
        mutant(
            "a short column",
            kinds.OUT_OF_BOUNDS,
            (
                "    float squares = 0.0f;\n    for (int column",
                "    float squares = 0.0f;\n    for (short column",
            ),
        ),
        mutant(
            "every thread reads the row",
            kinds.MEANS_MISSING,
            (
                "int column = threadIdx.x; column < columns; column += kThreads) {\n        sum",
                "int column = 0; column < columns; ++column) {\n        sum",
            ),
            (
                "int column = threadIdx.x; column < columns; column += kThreads) {\n        squ",
                "int column = 0; column < columns; ++column) {\n        squ",
            ),
            ("sum_for_all(sum, of_warp) /", "sum_for_all(sum, of_warp) / kThreads /"),
            ("squares / columns", "squares / kThreads / columns"),
        ),
    ),
)


def block_sums_of_squares(x: np.ndarray) -> np.ndarray:
    """The sum of the squares of each block's elements, in float64."""
    return np.square(padded_rows(x, BLOCK, 0.0).astype(np.float64)).sum(axis=1)


TOTAL_BEFORE = (
    promises.AS_GIVEN,
    Values("total = 300 before", lambda given, rng: {"total": np.full(1, 300)}),
)

LAST_BLOCK = Exercise(
    id="04.last_block",
    title="the last block adds up",
    task="""
How long is the gradient of a whole network? Its tensors are many, so each launch adds the squares
of one tensor to a running total: `*total += …`. Do it in one launch. `left` counts the blocks that
are not done yet: it holds the number of blocks before the launch, and must hold it again
afterwards, for this kernel is launched twice in a row. Atomics are for the count alone: a block's
sum goes to its place in `partial` by a plain store, and all threads of the last block take part in
adding these.
""",
    source="04_first_kernels/exercises/last_block.cu",
    kernel="last_block",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "total": np.array([1.5], np.float32),
        "partial": empty(-(-n // BLOCK)),
        "left": np.array([-(-n // BLOCK)], np.uint32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "partial": block_sums_of_squares(given["x"]),
        "total": given["total"] + 2 * block_sums_of_squares(given["x"]).sum(),
        "left": np.array([len(block_sums_of_squares(given["x"]))], np.uint32),
    },
    launch=lambda n: (one_thread_each(n), one_thread_each(n)),
    small=(5003, 257, 65_536, 1),  # 65,536: as many blocks as a block has threads
    full=FULL,
    reduction=lambda n: n,
    promises=Promises(
        # 547 blocks in the end, more than twice what a block has threads.
        sizes=promises.lengths().with_longest(n=140_001),
        values=(
            promises.data("x", *promises.ORDINARY, promises.VERY_SMALL, promises.SOME_NAN),
            TOTAL_BEFORE,
        ),
    ),
    means=(
        means.atomics(
            "global",
            at_least=2 * 20,
            at_most=2 * 21,  # one more may make the counter ready again
            advice="Each block takes one number from the counter; the sums themselves need no "
            "atomic.",
        ),
        Means(
            "floats stored to global memory without an atomic",
            lambda work: sum(
                n
                for name, n in work.counts.opcodes.items()
                if name.startswith("st.") and {"global", "f32"} <= {*name.split(".")}
            ),
            2 * 21,
            advice="The blocks' sums and the total take plain stores: atomics count, and no more.",
        ),
        means.reads(
            "partial", 2 * 4 * 20, advice="The last block reads all the sums that are stored there."
        ),
        orders(
            2 * 21,
            advice="A release before each block counts itself out, and an acquire before the last "
            "one reads. That loads and stores are volatile orders nothing.",
        ),
        means.loads_shared_out(8),  # a thread may load the total and `left` too
        means.loads_shared_out(8, size=100_003),  # 391 sums for the 256 threads of the last block
    ),
    hints=(
        "The order in a block: store, fence, count, fence, and a barrier that tells the others.",
        "`atomicSub(left, 1)` returns what was there before: the last block gets 1.",
        "Thread 0 alone knows what it got. A `__shared__ bool last` and a `__syncthreads()` tell "
        "the block.",
        "In the last block: a loop over `partial` from `threadIdx.x` in steps of `kThreads`, "
        "`block_sum<kThreads>` once more, and thread 0 does the rest.",
        "`partial[blockIdx.x] = sum; __threadfence(); last = atomicSub(left, 1) == 1; "
        "__threadfence();`",
    ),
    explanation="""
Nobody waits. A block that is not the last has counted and leaves; the one that finds 1 knows that
all other sums are stored. The first fence keeps a block's sum from becoming visible after its
count, the second one keeps the sums from being read before it. And whoever finishes last leaves the
counter as the next launch needs it, so the host has nothing to clear in between.
""",
    mutants=(
        mutant(
            "volatile in place of the fences",
            kinds.MEANS_MISSING,
            ("partial[blockIdx.x] = sum;", "*(volatile float *)&partial[blockIdx.x] = sum;"),
            ("        __threadfence(); // release: whoever sees the count sees the sum too\n", ""),
            ("        __threadfence(); // acquire: no sum is read before the count\n", ""),
            ("sum += partial[block];", "sum += *(volatile float *)&partial[block];"),
        ),
        mutant(
            "a volatile read in place of the acquire",
            kinds.MEANS_MISSING,
            ("        __threadfence(); // acquire: no sum is read before the count\n", ""),
            ("sum += partial[block];", "sum += *(volatile float *)&partial[block];"),
        ),
        mutant(
            "no fence before the count",
            kinds.DATA_RACE,
            ("        __threadfence(); // release", "        // release"),
        ),
        mutant(
            "no fence behind the count",
            kinds.DATA_RACE,
            ("        __threadfence(); // acquire", "        // acquire"),
        ),
        mutant(
            "a fence for the block only",
            kinds.DATA_RACE,
            ("__threadfence(); // release", "__threadfence_block(); // release"),
        ),
        mutant(
            "the counter is left at 0",
            kinds.WRONG,
            ("            *left = gridDim.x; // ready for the next launch\n", ""),
        ),
        mutant(
            "a total that begins at 1.5",
            kinds.WRONG,
            ("*total += sum;", "*total = (*total == 1.5f ? 1.5f : 1.5f + sum) + sum;"),
        ),
        mutant("every block adds up", kinds.DATA_RACE, ("    if (last) {", "    {")),
        mutant("block 0 adds up", kinds.DATA_RACE, ("if (last)", "if (blockIdx.x == 0)")),
        mutant("the first one adds up", kinds.DATA_RACE, (" == 1;", " == gridDim.x;")),
        mutant("the last but one", kinds.DATA_RACE, (" == 1;", " == 2;")),
        mutant("counts without an atomic", kinds.DATA_RACE, ("atomicSub(left, 1)", "(*left)--")),
        mutant(
            "nobody waits for the answer",
            kinds.DATA_RACE,
            ("    __syncthreads(); // the whole", "    // the whole"),
        ),
        mutant(
            "as many sums as threads",
            kinds.WRONG,
            (
                "block < gridDim.x; block += kThreads",
                "block < min(gridDim.x, kThreads); block += kThreads",
            ),
        ),
        mutant(
            "an atomic for each thread",
            kinds.MEANS_MISSING,
            (
                "    __shared__ bool last;\n",
                "    atomicAdd(total, value * value);\n    __shared__ bool last;\n",
            ),
            ("            *total += sum;\n", ""),
        ),
        mutant(
            "an atomic for the total",
            kinds.MEANS_MISSING,
            ("*total += sum", "atomicAdd(total, sum)"),
        ),
        mutant(
            "one thread adds all",
            kinds.MEANS_MISSING,
            ("int block = threadIdx.x; block", "int block = 0; threadIdx.x == 0 && block"),
            ("block += kThreads", "++block"),
        ),
    ),
)


def of_one_sign(given: dict, rng: np.random.Generator) -> dict:
    """Products that are all negative, and large."""
    return {"x": np.abs(given["x"]), "y": -1000 * np.abs(given["y"]) - 1}


def dot_product(given) -> dict:
    """The exact sum of the products, with NaN where 0 meets infinity."""
    return {"result": np.dot(given["x"].astype(np.float64), given["y"].astype(np.float64))[None]}


def few_blocks(n: int) -> Launch:
    """Fewer threads than elements; at the longest size that is tried, more than 128 blocks."""
    return Launch((1056 if n >= FULL else 132 if n > 40_000 else 4,), (BLOCK,))


DOT = Exercise(
    id="04.dot",
    title="a dot product",
    task="""
The kernel below is right, with one atomic for each element. Add up in a variable first, then over
the warp by shuffles. At most one atomic in a hundred elements may remain.
""",
    source="04_first_kernels/exercises/dot.cu",
    kernel="dot",
    inputs=lambda rng, n: {
        "x": weighty_at_the_end(floats(rng, n), 50),
        "y": weighty_at_the_end(floats(rng, n), 50),
        "result": np.zeros(1, np.float32),
        "n": np.int32(n),
    },
    reference=dot_product,
    launch=few_blocks,
    small=(5003, 257, 1),
    full=FULL,
    reduction=lambda n: n,
    promises=Promises(
        sizes=promises.lengths(),
        launches=promises.grids((1, BLOCK), (3, BLOCK), (7, BLOCK), (40, BLOCK), (132, BLOCK)),
        # Not as they are given: products that cancel ask for digits that no float32 has.
        values=(
            (
                *promises.data(
                    "x y",
                    promises.POSITIVE,
                    promises.NEGATIVE,
                    promises.EQUAL,
                    promises.TIES,
                    promises.RISING,
                    promises.FALLING,
                )[1:],
                Values("x all positive, y about -1000", of_one_sign),
                *promises.data("x", promises.SOME_NAN)[1:],
                promises.zero_times_infinity("x", "y"),
                promises.zero_times_infinity("y", "x"),
            ),
        ),
    ),
    means=(
        means.loads_shared_out(2.0, size=5003),
        means.reads_each_once(2 * 4 * 5003, size=5003),
        means.shuffles(1100, advice="The lanes of a warp add up by shuffles.", size=5003),
    ),
    target=Target(
        label="atomics per element",
        measure=lambda counts: counts.global_atomic_bytes / 4 / 5003,
        at_most=0.01,
        advice="The result is right. Add up in a register over the whole loop, then over the warp, "
        "and let one lane of it, or one thread of the block, do the atomic.",
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
The elements are added in registers, and the one address that all update is touched once for each
warp: little contention is left. In larger grids it pays to add up the block first. (`first` and
`stride` have 64 bits: near the end of a very long array `i + stride` passes 2³¹, the end of `int`.)
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
        mutant(
            "zeros skipped",
            kinds.WRONG,
            ("sum += x[i] * y[i];", "if (x[i] != 0.0f) sum += x[i] * y[i];"),
        ),
        mutant("four steps", kinds.WRONG, ("distance > 0", "distance > 1")),
        mutant(
            "zeros of y skipped",
            kinds.WRONG,
            ("sum += x[i] * y[i];", "if (y[i] != 0.0f) sum += x[i] * y[i];"),
        ),
        mutant("last element lost", kinds.WRONG, ("i < n", "i < n - 1")),
        mutant("one too far", kinds.OUT_OF_BOUNDS, ("i < n", "i <= n")),
        mutant(
            "a constant stride",
            kinds.WRONG,
            ("stride = (long long)gridDim.x * blockDim.x", "stride = 1024"),
        ),
        mutant(
            "128 blocks and no more",
            kinds.WRONG,
            ("stride = (long long)gridDim.x", "stride = (long long)min(gridDim.x, 128)"),
        ),
        mutant(
            "one block for all",
            kinds.MEANS_MISSING,
            ("first = (long long)blockIdx.x * blockDim.x +", "first = blockIdx.x > 0 ? n :"),
            ("stride = (long long)gridDim.x * blockDim.x", "stride = blockDim.x"),
        ),
    ),
)


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers from -9 to 9 as float32: many are equal."""
    return rng.integers(-9, 10, shape).astype(np.float32)


def far_to_the_right(x: np.ndarray) -> np.ndarray:
    """``x``; in a long row its last number is the largest, since of equal ones the first counts."""
    if x.shape[1] > 65_535:
        x[:, -1] = 10
    return x


def largest_last(given: dict, rng: np.random.Generator) -> dict:
    """So that a column far to the right is an answer, whatever the others are."""
    x = given["x"].copy()
    x[1::2] = np.where(np.isfinite(x[1::2]), x[1::2], 0)
    with np.errstate(over="ignore"):
        x[1::2, -1] = x[1::2].max(axis=1) + np.abs(x[1::2]).max(axis=1) + 1
    return {"x": x}


ARGMAX_ROWS = Exercise(
    id="04.argmax_rows",
    title="a value and its index",
    task="""
Where does the largest element of each row stand? Each lane has looked through its share of the row
and holds a value and a column. Reduce the 32 pairs to one. Of equal values the first one in the
row wins, as in NumPy, and a row may have ±∞ in it, or −∞ alone.
""",
    source="04_first_kernels/exercises/argmax_rows.cu",
    kernel="argmax_rows",
    inputs=lambda rng, size: {
        "x": far_to_the_right(whole_numbers(rng, rows_and_columns(size))),
        "index": empty(rows_and_columns(size)[0], np.int32),
        "rows": np.int32(rows_and_columns(size)[0]),
        "columns": np.int32(rows_and_columns(size)[1]),
    },
    reference=lambda given: {"index": given["x"].argmax(axis=1).astype(np.int32)},
    launch=lambda size: Launch((-(-rows_and_columns(size)[0] // 8),), (BLOCK,)),
    small=((11, 200), (9, 33), (3, 5), 1),
    full=(1 << 16, 1000),
    promises=Promises(
        sizes=promises.shapes(
            rows=(2, 7, 8, 9, 140), columns=(1, 31, 33, 65, 257, 1025, 2053, 4099)
        ).with_longest(rows=32_771, columns=65_543),
        values=(
            promises.data(
                "x",
                promises.ZEROS_OF_BOTH_SIGNS,
                promises.LOWEST,
                promises.HIGHEST,
                *promises.ANY_ORDERED,
            ),
            (Values("every second row finite, its largest last", largest_last),),
        ),
    ),
    means=(
        means.loads_shared_out(2.0, size=(16, 320)),
        means.reads_each_once(4 * 16 * 320, at_most=1.5, size=(16, 320)),
    ),
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
order of the tree. (In a row with nothing but −∞ no value is greater than the first `best`: hence a
lane takes its first element in any case. A NaN, too, is greater than nothing: the kernel passes
over it, and NumPy says where the first one is.)
""",
    mutants=(
        mutant(
            "a last round of what is left of a division",
            kinds.WRONG,
            (
                "column < columns; column +=",
                "column < (columns - 1) / 32 * 32 + columns % 32; column +=",
            ),
        ),
        mutant(
            "none below -1e30",
            kinds.WRONG,
            (
                "value = x[(size_t)row * columns + column]",
                "value = fmaxf(x[(size_t)row * columns + column], -1e30f)",
            ),
        ),
        mutant(
            "equal ones as they come", kinds.WRONG, (" || (other == best && there < where)", "")
        ),
        mutant("the last of equals", kinds.WRONG, ("there < where", "there > where")),
        mutant("the value only", kinds.WRONG, ("            where = there;\n", "")),
        mutant("the index only", kinds.WRONG, ("            best = other;\n", "")),
        mutant("the smallest", kinds.WRONG, ("other > best ||", "other < best ||")),
        mutant(
            "where of its own",
            kinds.WRONG,
            ("__shfl_down_sync(kWholeWarp, where, distance)", "where"),
        ),
        mutant("one row too many", kinds.OUT_OF_BOUNDS, ("row >= rows", "row > rows")),
        mutant(
            "no ties of the lowest",
            kinds.WRONG,
            ("there < where)", "there < where && best > -3.4e38f)"),
        ),
        mutant("a row of -inf forgotten", kinds.WRONG, (" || where == columns", "")),
    ),
)
