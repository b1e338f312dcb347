"""The exercises of "CUTLASS, CUB and Thrust"."""

from __future__ import annotations

from itertools import product

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Given

FOLDER = "05_cuda_libraries/exercises"

# --- two collective calls ---


def of_tiles(given: Given) -> dict:
    return {"variance": given["x"].astype(np.float64).reshape(-1, 256).var(axis=1)}


def off_zero(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + 100


TILE_VARIANCE = Exercise(
    id="05.tile_variance",
    title="two calls, one room",
    task="""
Compute the variance of each tile by two calls of `cub::BlockReduce` in the same room: first the
mean, which every thread then needs, then the mean of the squared distances from it. The numbers
may all lie around 100, at distances of about 1.
""",
    source=f"{FOLDER}/tile_variance.cu",
    kernel="tile_variance",
    inputs=lambda rng, n: {"x": floats(rng, n), "variance": empty(n // 256)},
    reference=of_tiles,
    launch=lambda n: Launch((n // 256,), (256,)),
    small=(768, 256),
    full=1 << 24,
    reduction=lambda n: 256,
    promises=Promises(
        sizes=promises.shapes(n=(256, 512, 1280, 4352)),
        values=(promises.data("x", promises.NEGATIVE, promises.EQUAL, ("about 100", off_zero)),),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(),
        means.atomics("shared", at_most=0, advice="`Reduce(room).Sum(...)` adds up for you."),
    ),
    hints=(
        "`Reduce(room).Sum(value)` is called by all threads, and only thread 0 has the sum.",
        "Thread 0 writes the mean to shared memory; a barrier, and all may read it.",
        "The same barrier lets the second call have the room: no thread is still in the first.",
    ),
    explanation="""
A collective call of CUB is for all threads of the block, its result for one of them unless the
documentation says more, and its room must not be touched again before all have left it. The barrier
that hands on the mean does both here. Without anything to hand on it is easily forgotten.
""",
    mutants=(
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();", "    ")),
        mutant("each its own sum", kinds.WRONG, ("value - mean", "value - sum / kThreads")),
        mutant(
            "the first warp alone",
            kinds.WRONG,
            (
                "Reduce(room).Sum(distance * distance)",
                "Reduce(room).Sum(threadIdx.x < 32 ? distance * distance : 0.0f)",
            ),
        ),
        mutant(
            "by an atomic",
            kinds.MEANS_MISSING,
            (
                "    const float sum = Reduce(room).Sum(value);",
                "    if (threadIdx.x == 0) {\n        mean = 0;\n    }\n    __syncthreads();\n"
                "    atomicAdd(&mean, value);\n    __syncthreads();\n    const float sum = mean;\n"
                "    __syncthreads();",
            ),
        ),
        mutant("of a sample", kinds.SCALED, ("squares / kThreads", "squares / (kThreads - 1)")),
        mutant(
            "by the sum of squares",
            kinds.PRECISION,
            ("Sum(distance * distance)", "Sum(value * value)"),
            ("squares / kThreads;", "squares / kThreads - mean * mean;"),
        ),
        mutant("the deviation", kinds.WRONG, ("squares / kThreads", "sqrtf(squares / kThreads)")),
        mutant(
            "all store",
            kinds.DATA_RACE,
            ("    if (threadIdx.x == 0) {\n        variance[", "    {\n        variance["),
        ),
        mutant(
            "one block",
            kinds.WRONG,
            ("x[blockIdx.x * kThreads + threadIdx.x]", "x[threadIdx.x]"),
        ),
        mutant(
            "mean by all",
            kinds.DATA_RACE,
            ("    if (threadIdx.x == 0) {\n        mean", "    {\n        mean"),
        ),
        mutant(
            "nothing stored",
            kinds.NOTHING_WRITTEN,
            ("variance[blockIdx.x] = squares / kThreads;", "mean = squares;"),
        ),
    ),
)

# --- who holds what ---


def found_by_dealing(place: int, threads: int, items: int, arrangement: str) -> tuple[int, int]:
    """By going over all that is held."""
    for thread, item in product(range(threads), range(items)):
        warp, lane = divmod(thread, 32)
        held = {
            "blocked": items * thread + item,
            "striped": threads * item + thread,
            "warp-striped": 32 * items * warp + 32 * item + lane,
        }[arrangement]
        if held == place:
            return thread, item
    raise AssertionError("somebody holds it")


def any_place(rng: np.random.Generator) -> tuple:
    threads, items = 32 * int(rng.integers(1, 9)), int(rng.integers(1, 9))
    arrangement = str(rng.choice(["blocked", "striped", "warp-striped"]))
    return int(rng.integers(0, threads * items)), threads, items, arrangement


HOLDER = PythonExercise(
    id="05.holder",
    title="who holds what",
    task="""
Write `holder(place, threads, items, arrangement)`: the thread that holds element `place` of a tile
of threads · items elements, and which of its items that is. In the blocked arrangement a thread
holds neighbours; in the striped one neighbours belong to neighbouring threads of the block; in the
warp-striped one each warp has a stretch of its own, striped over its 32 lanes.
""",
    source=f"{FOLDER}/holder.py",
    function="holder",
    cases=(
        (5, 128, 4, "blocked"),
        (130, 128, 4, "striped"),
        (130, 128, 4, "warp-striped"),
        (511, 128, 4, "blocked"),
        (511, 128, 4, "striped"),
        (95, 128, 4, "warp-striped"),
        (7, 32, 1, "striped"),
    ),
    reference=found_by_dealing,
    promises=Cases(any_place),
    means="Any way to the place is right.",
    hints=(
        "Blocked: thread 0 has the elements 0 to items - 1.",
        "Striped: thread t has t, t + threads, t + 2 · threads, …",
        "Warp-striped is striped with 32 in place of threads, within a stretch of 32 · items.",
    ),
    explanation="""
Memory wants the striped arrangements: the lanes of a warp touch neighbours. Scans and sorts want
the blocked one: a thread does its neighbours alone, in registers. `BlockLoad` with a transposing
algorithm, `BlockStore` and `BlockExchange` go from one to the other through shared memory; the
warp-striped form needs no barrier of the whole block.
""",
    mutants=(
        mutant(
            "striped for blocked",
            kinds.WRONG,
            ("place // items, place % items", "place % threads, place // threads"),
        ),
        mutant(
            "warps forgotten",
            kinds.WRONG,
            ('32 if arrangement == "warp-striped" else threads', "threads"),
        ),
        mutant(
            "warps always", kinds.WRONG, ('32 if arrangement == "warp-striped" else threads', "32")
        ),
        mutant(
            "exchanged",
            kinds.WRONG,
            ("within % width, within // width", "within // width, within % width"),
        ),
        mutant("lanes for threads", kinds.WRONG, ("group * width + within", "within")),
        mutant(
            "a stretch of items",
            kinds.WRONG,
            ("divmod(place, width * items)", "divmod(place, 32 * items)"),
        ),
    ),
)

# --- a sort inside of a kernel ---


def first_eight(given: Given) -> dict:
    tiles = given["x"].reshape(-1, 256)
    places = np.argsort(-tiles.astype(np.int32), axis=1, kind="stable")[:, :8]
    keys = np.take_along_axis(tiles, places, axis=1)
    return {"keys": keys.ravel(), "places": places.astype(np.int32).ravel()}


def _bits(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, x.shape, dtype=x.dtype)


LARGEST_EIGHT = Exercise(
    id="05.largest_eight",
    title="the eight largest of a tile",
    task="""
Find the eight largest of each 256 keys and where they stood, by `cub::BlockRadixSort` with the
places as values. Any keys of 16 bits, many of them equal: the sort is stable, so the places need
no more care.
""",
    source=f"{FOLDER}/largest_eight.cu",
    kernel="largest_eight",
    inputs=lambda rng, n: {
        "x": rng.integers(0, 1 << 16, n, dtype=np.uint16),
        "keys": empty(n // 32, np.uint16),
        "places": empty(n // 32, np.int32),
    },
    reference=first_eight,
    launch=lambda n: Launch((n // 256,), (64,)),
    small=(512, 256),
    full=1 << 22,
    exact=True,
    promises=Promises(
        sizes=promises.shapes(n=(256, 768)).with_longest(n=4352),
        values=(
            promises.data(
                "x",
                *(promises.TIES, promises.EQUAL, promises.RISING, promises.FALLING),
                ("that differ in the lowest bit alone", lambda x, rng: x ^ x & 1 ^ _bits(x, rng)),
                ("0 and 32,768", lambda x, rng: _bits(x, rng) << 15),
                ("0 to 255 in any order", lambda x, rng: rng.permutation(x.size) % 256),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(),
        means.shared_memory(advice="Let the block sort its tile, in `Sort`'s room."),
        Means(
            "requests of warps to read shared memory",
            lambda work: work.counts.shared_load_requests,
            at_most=1000,
            advice="Let `Sort(room)` find the order: who compares each key with all others reads "
            "the tile 256 times.",
            size=512,
        ),
    ),
    hints=(
        "`cub::LoadDirectBlocked(threadIdx.x, x + first, key)` gives thread t the keys 4 t to "
        "4 t + 3.",
        "So key[j] of thread t stands in place 4 t + j. `Sort(room).SortDescending(key, place)` "
        "moves both.",
        "After it, key[j] of thread t has rank 4 t + j: threads 0 and 1 hold the first eight.",
    ),
    explanation="""
The arrangement before the sort and after it is the blocked one; `SortDescendingBlockedToStriped`
would leave the striped one, for a store of the whole tile. Sorting 256 keys for eight of them does
more than is needed: that a block can do it in a few lines is what CUB is for, and the first version
of a kernel is often good enough.
""",
    mutants=(
        mutant(
            "four tiles at most",
            kinds.FIRST_BLOCK,
            ("blockIdx.x * kThreads * kItems", "(blockIdx.x & 3) * kThreads * kItems"),
        ),
        mutant("the smallest", kinds.WRONG, ("SortDescending(key, place)", "Sort(key, place)")),
        mutant(
            "without the lowest bit",
            kinds.EDGES,
            ("SortDescending(key, place)", "SortDescending(key, place, 1, 16)"),
        ),
        mutant(
            "without the highest bit",
            kinds.WRONG,
            ("SortDescending(key, place)", "SortDescending(key, place, 0, 15)"),
        ),
        mutant(
            "keys alone",
            kinds.WRONG,
            ("SortDescending(key, place)", "SortDescending(key)"),
            ("<unsigned short, kThreads, kItems, int>", "<unsigned short, kThreads, kItems>"),
        ),
        mutant(
            "left striped",
            kinds.WRONG,
            ("SortDescending(key, place)", "SortDescendingBlockedToStriped(key, place)"),
        ),
        mutant(
            "places striped",
            kinds.WRONG,
            ("place[j] = kItems * threadIdx.x + j", "place[j] = kThreads * j + threadIdx.x"),
        ),
        mutant(
            "places of the whole", kinds.WRONG, ("place[j] = kItems", "place[j] = first + kItems")
        ),
        mutant(
            "loaded striped",
            kinds.WRONG,
            (
                "cub::LoadDirectBlocked(threadIdx.x,",
                "cub::LoadDirectStriped<kThreads>(threadIdx.x,",
            ),
        ),
        mutant(
            "each key beside all others",
            kinds.MEANS_MISSING,
            (
                "    Sort(room).SortDescending(key, place);\n",
                "    __shared__ unsigned short all[256];\n"
                "    for (int j = 0; j < kItems; ++j) all[kItems * threadIdx.x + j] = key[j];\n"
                "    __syncthreads();\n",
            ),
            (
                "const int rank = kItems * threadIdx.x + j;",
                "int rank = 0;\n        for (int o = 0; o < 256; ++o) {\n"
                "            rank += all[o] > key[j] || (all[o] == key[j] && o < place[j]);\n"
                "        }",
            ),
        ),
        mutant("one too many", kinds.OUT_OF_BOUNDS, ("rank < kKept", "rank <= kKept")),
        mutant("one too few", kinds.PARTLY_WRITTEN, ("rank < kKept", "rank + 1 < kKept")),
        mutant(
            "all but the upper bits",
            kinds.WRONG,
            ("SortDescending(key, place)", "SortDescending(key, place, 0, 12)"),
        ),
        mutant("the first tile", kinds.WRONG, ("x + first", "x")),
    ),
)

# --- the shapes of a product ---


def counted(block: tuple, warp: tuple, instruction: tuple, stages: int, bytes_each: int) -> tuple:
    """By going over the warps, the sums and the instructions."""
    starts = [range(0, extent, step) for extent, step in zip(block, warp, strict=True)]
    warps = len(list(product(*starts)))
    inside = [range(0, extent, step) for extent, step in zip(warp, instruction, strict=True)]
    m, n, k = block
    elements = sum(rows * k for rows in (m, n))
    return (
        32 * warps,
        warp[0] * warp[1] // 32,
        stages * elements * bytes_each,
        len(list(product(*inside))),
    )


def any_shapes(rng: np.random.Generator) -> tuple:
    instruction = [(16, 8, 16), (16, 8, 8), (16, 8, 32)][rng.integers(0, 3)]
    times = [int(1 << rng.integers(0, 3)) for _ in range(3)]
    warp = tuple(2 * t * i for t, i in zip(times, instruction, strict=True))
    more = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
    block = tuple(w * t for w, t in zip(warp, more, strict=True))
    return block, warp, instruction, int(rng.integers(2, 6)), int(rng.choice([1, 2, 4]))


GEMM_PLAN = PythonExercise(
    id="05.gemm_plan",
    title="what the shapes cost",
    task="""
Write `gemm_plan(block, warp, instruction, stages, bytes_each)`; the first three are the shapes
(M, N, K) of CUTLASS's template: threads of a block, fp32 sums of a thread, bytes of shared memory,
and instructions of a warp for one tile of K. Each shape divides the one before it.
""",
    source=f"{FOLDER}/gemm_plan.py",
    function="gemm_plan",
    cases=(
        ((128, 128, 32), (64, 64, 32), (16, 8, 16), 3, 2),
        ((64, 64, 32), (32, 32, 32), (16, 8, 16), 4, 2),
        ((128, 256, 64), (64, 64, 64), (16, 8, 16), 3, 2),
        ((128, 64, 64), (64, 32, 32), (16, 8, 16), 2, 2),
        ((64, 128, 32), (32, 64, 32), (16, 8, 8), 5, 4),
    ),
    reference=counted,
    promises=Cases(any_shapes),
    means="Any way to the numbers is right.",
    hints=(
        "The warps of a block are its tile over a warp's, in all three directions.",
        "A warp has warp M · warp N sums, and 32 threads to keep them.",
        "A stage is M · K elements of A and N · K of B, both of the block's shape.",
    ),
    explanation="""
These four numbers decide before anything runs: more than some 200 sums a thread do not fit into its
255 registers, more than 227 KB of shared memory into no block of a Hopper. Warps that share K (the
third factor) each have sums of their own for the same tile, which are added up at the end.
""",
    mutants=(
        mutant("K forgotten", kinds.WRONG, (" * (bk // wk)", "")),
        mutant("warps for threads", kinds.WRONG, ("return 32 * warps", "return warps")),
        mutant("sums of the block", kinds.WRONG, ("sums = wm * wn // 32", "sums = bm * bn // 32")),
        mutant("one operand", kinds.WRONG, ("bm * bk + bn * bk", "bm * bk")),
        mutant("one stage", kinds.WRONG, ("shared = stages * ", "shared = ")),
        mutant("elements for bytes", kinds.WRONG, (" * bytes_each", "")),
        mutant("one step of K", kinds.WRONG, (" * (wk // ik)", "")),
        mutant(
            "C in shared memory too",
            kinds.WRONG,
            ("(bm * bk + bn * bk)", "(bm * bk + bn * bk + bm * bn)"),
        ),
    ),
)
