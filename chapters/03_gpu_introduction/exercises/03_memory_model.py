"""The exercises of "The memory model"."""

from __future__ import annotations

import numpy as np

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
from course_utils.exercises.vectors import BLOCK, FULL, SMALL, one_thread_each


def loads_from(space: str):
    """A count of the elements that all threads together load from ``space``."""
    return lambda counts: sum(
        number for name, number in counts.opcodes.items() if name.startswith(f"ld.{space}")
    )


SOFTEN = NumberExercise(
    id="03.soften",
    title="predict the loads from each memory",
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
        "The loop has four iterations, known beforehand: the compiler unrolls it, and the indices "
        "into `part` become 0, 1, 2 and 3. Registers can do that.",
    ),
    explanation="""
Every thread loads one element of x: 128 in all, in 4 requests, one for each warp. From the tile
each thread loads 4, so each warp makes 4 requests: 16. That makes two memories. Local memory is not
among them, since the compiler unrolls the short loop and keeps `part` in registers.
""",
    mutants=(
        mutant("one block", kinds.WRONG_NUMBER, ("global_elements = 128", "global_elements = 64")),
        mutant("threads", kinds.WRONG_NUMBER, ("global_requests = 4", "global_requests = 128")),
        mutant("no loop", kinds.WRONG_NUMBER, ("shared_requests = 16", "shared_requests = 4")),
        mutant("array", kinds.WRONG_NUMBER, ("memories = 2", "memories = 3")),
        mutant("dots left", kinds.WRONG_TYPE, ("shared_requests = 16", "shared_requests = ...")),
    ),
)


def mostly(kind: int) -> promises.Values:
    """One kind is so frequent that a counter of a byte overflows."""

    def change(given, rng: np.random.Generator) -> dict:
        values = given["values"]
        return {"values": np.where(rng.random(values.shape) < 0.1, values, kind)}

    return promises.Values(f"values mostly {kind}", change)


def only_kinds(one: int, other: int) -> promises.Values:
    """No other kinds occur among the values."""
    return promises.Values(
        f"values of {one} and {other} only",
        lambda given, rng: {"values": rng.choice((one, other), given["values"].shape)},
    )


COUNTED = (4, 20 * 128)  # steps and threads, where the means are counted
VALUES = COUNTED[0] * COUNTED[1]


def kinds_of_values(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Every kind as often as any other; of more than a thousand values, most are of one kind."""
    values = rng.integers(0, 8, size, dtype=np.int32)
    if size[0] > 1000:
        values = np.where(rng.random(size) < 0.1, values, rng.integers(0, 8, size[1]))
    return values.astype(np.int32)


COUNT_KINDS = Exercise(
    id="03.count_kinds",
    title="why is this slow? An array that is not in registers",
    task="""
The kernel is right. But its eight counters are in local memory, since `count[value]` has an index
that is not known before the kernel runs. Change the marked line so that all eight stay in
registers. The checker counts what is loaded from local memory; nothing should be. (`steps` is at
most 1501.)
""",
    source="03_gpu_introduction/exercises/count_kinds.cu",
    kernel="count_kinds",
    inputs=lambda rng, size: {
        "values": kinds_of_values(rng, size),
        "counts": empty((8, size[1]), np.int32),
        "steps": np.int32(size[0]),
        "threads": np.int32(size[1]),
    },
    reference=lambda given: {
        "counts": np.stack([(given["values"] == kind).sum(axis=0) for kind in range(8)])
    },
    launch=lambda size: Launch((-(-size[1] // 128),), (128,)),
    small=((9, 300), (10, 128), (5, 1), (1501, 2), (1, 1)),  # 1501: past ten bits
    budget=200_000,
    full=(1000, 1 << 17),
    promises=Promises(
        sizes=promises.shapes(
            steps=(1, 2, 7, 16, 33, 131, 301), threads=(1, 31, 33, 127, 129, 257, 769)
        ).with_longest(threads=65_543),
        values=(
            (
                promises.AS_GIVEN,
                *(mostly(kind) for kind in range(8)),
                only_kinds(0, 7),
                only_kinds(1, 6),
            ),
        ),
    ),
    means=(
        means.no_shared_memory("Each thread has eight counters of its own: registers hold them."),
        means.atomics(
            "global",
            at_most=0,
            advice="A register needs no atomics: no other thread can reach it.",
            size=COUNTED,
        ),
        Means(
            "loads from global memory for each value",
            lambda work: work.counts.global_load_bytes / 4 / VALUES,
            at_most=1.5,
            advice="Each value is read once, and the counters stay in registers: neither the "
            "values nor the counts are read again.",
            size=COUNTED,
        ),
        means.one_store_each(),
        means.no_extra_work(size=COUNTED),
        means.work_shared_out(size=COUNTED),
    ),
    target=Target(
        label="loads from local memory for each value",
        measure=lambda counts: counts.local_load_bytes / 4 / VALUES,
        at_most=0.0,
        advice="Some index into count is still unknown to the compiler. A loop over the eight "
        "kinds has indices that are known: it is unrolled.",
        size=COUNTED,
    ),
    hints=(
        "Which indices does the compiler know? Those of a loop with a fixed trip count.",
        "For each value, look at all eight counters, and let only the right one go up.",
        "`value == kind ? 1 : 0` is 1 in the right iteration and 0 in the others.",
        "`for (int kind = 0; kind < kKinds; ++kind) { count[kind] += value == kind ? 1 : 0; }`",
    ),
    explanation="""
Eight comparisons and additions in place of one addition, but all of them in registers, where a
result is ready after a few cycles. A counter in local memory has to be loaded, raised and stored
again, through the L1 cache, before the next equal value can use it. With a GPU you can time both
with `bench`.
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
        mutant(
            "in shared memory",
            kinds.MEANS_MISSING,
            (
                "int count[kKinds] = {};",
                "__shared__ int counters[kKinds][128];\n"
                "    for (int k = 0; k < kKinds; ++k) counters[k][threadIdx.x] = 0;",
            ),
            (
                "        for (int kind = 0; kind < kKinds; ++kind) {\n"
                "            count[kind] += value == kind ? 1 : 0;\n        }\n",
                "        ++counters[value][threadIdx.x];\n",
            ),
            ("= count[kind];", "= counters[kind][threadIdx.x];"),
        ),
        mutant("counters of a byte", kinds.WRONG, ("int count[kKinds]", "unsigned char count[8]")),
        mutant(
            "counters of ten bits",
            kinds.WRONG,
            ("= count[kind];", "= count[kind] & 1023;"),
        ),
        mutant("at most 1000 steps", kinds.WRONG, ("step < steps", "step < min(steps, 1000)")),
        mutant("always counted", kinds.WRONG, ("value == kind ? 1 : 0", "1")),
        mutant("inverted", kinds.WRONG, ("value == kind", "value != kind")),
        mutant("a short index", kinds.OUT_OF_BOUNDS, ("int i = blockIdx", "short i = blockIdx")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= threads) {", "if (false) {")),
        mutant("one step missed", kinds.WRONG, ("step < steps", "step < steps - 1")),
    ),
)


TILED = 20 * BLOCK  # elements, where loads and means are counted
LEAST: promises.ArrayChange = (
    "all below -3e38",
    lambda x, rng: np.finfo(np.float32).min * rng.uniform(0.9, 1, x.shape),
)


WINDOW_MAX = Exercise(
    id="03.window_max",
    title="fetch once, use sixteen times",
    task="""
Find the largest of each 16 neighbouring elements. Neighbouring windows overlap, so let the block
fetch what its threads need once, into shared memory. The block's last threads look at elements
behind the block's own: the tile has 15 elements more than the block has threads. `fmaxf(a, b)`
is the larger of two floats, `min(i, j)` the smaller of two whole numbers. The elements may be
any finite numbers, so a 0 that is not in `x` may be larger than all of them.
""",
    source="03_gpu_introduction/exercises/window_max.cu",
    kernel="window_max",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {
        "y": np.lib.stride_tricks.sliding_window_view(
            np.concatenate([given["x"], np.full(15, -np.inf, np.float32)]), 16
        ).max(axis=1)
    },
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(),
        values=(promises.data("x", *promises.ANY_FINITE, LEAST),),
    ),
    means=(
        means.shared_memory(
            4 * TILED,
            advice="The block fetches its elements into the tile, and reads them there.",
            size=TILED,
        ),
        means.loads_shared_out(20, size=TILED),  # one thread may fetch the fifteen
        means.work_shared_out(20, size=TILED),  # or scan chunks of sixteen
        means.no_extra_work(size=TILED),
    ),
    target=Target(
        label="elements loaded from global memory for each result",
        measure=lambda counts: counts.global_load_bytes / 4 / TILED,
        at_most=1.1,
        advice="The result is right, but elements are fetched more than once. Read the window from "
        "the tile, not from x.",
        size=TILED,
    ),
    hints=(
        "Thread t loads element t; the first 15 threads load a second one, 256 further on.",
        "`for (int j = threadIdx.x; j < kTile; j += kBlock)` covers all elements once.",
        "`tile[j] = x[min(first + j, n - 1)];` then `__syncthreads();`, by all threads.",
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
        mutant("no end", kinds.OUT_OF_BOUNDS, ("min(first + j, n - 1)", "first + j")),
        mutant(
            "each for itself",
            kinds.TARGET_MISSED,
            ("tile[threadIdx.x + k]", "x[min(i + k, n - 1)]"),
        ),
        mutant("one short", kinds.WRONG, ("k < kWindow", "k < kWindow - 1")),
        mutant("one too many", kinds.OUT_OF_BOUNDS, ("k < kWindow", "k <= kWindow")),
        mutant(
            "without the lowest bits",
            kinds.PRECISION,
            ("y[i] = largest;", "y[i] = __int_as_float(__float_as_int(largest) & ~7);"),
        ),
        mutant(
            "starts at zero",
            kinds.WRONG,
            ("float largest = tile[threadIdx.x];", "float largest = 0.0f;"),
        ),
        mutant(
            "starts at -1e30",
            kinds.WRONG,
            ("float largest = tile[threadIdx.x];", "float largest = -1e30f;"),
            ("k = 1;", "k = 0;"),
        ),
        mutant(
            "one thread fetches",
            kinds.MEANS_MISSING,
            (
                "int j = threadIdx.x; j < kTile; j += kBlock",
                "int j = 0; j < kTile && threadIdx.x == 0; ++j",
            ),
        ),
        mutant("never stores", kinds.NOTHING_WRITTEN, ("        y[i] = largest;\n", "")),
    ),
)
