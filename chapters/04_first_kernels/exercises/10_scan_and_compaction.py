"""The exercises of "Scan and compaction"."""

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
from course_utils.exercises.promises import Given, Values
from course_utils.exercises.vectors import BLOCK, FULL, one_thread_each

from .common import orders


def in_rows(x: np.ndarray, length: int, fill: float) -> np.ndarray:
    """``x`` cut into rows of ``length``, the last one filled up."""
    return np.append(x, np.full(-len(x) % length, fill, x.dtype)).reshape(-1, length)


def running(x: np.ndarray, length: int) -> np.ndarray:
    """The running maximum within each ``length`` elements."""
    return np.maximum.accumulate(in_rows(x, length, -np.inf), axis=1).reshape(-1)[: len(x)]


def words(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 2**32, n, dtype=np.uint32)


RUNNING_MAX = Exercise(
    id="04.running_max",
    title="five shuffles up",
    task="""
Let each warp find the running maximum of its 32 elements with shuffles alone: no shared memory, no
barrier. Elements may be ±∞; the last warp may have lanes without an element.
""",
    source="04_first_kernels/exercises/running_max.cu",
    kernel="running_max",
    inputs=lambda rng, n: {"x": floats(rng, n) - np.float32(5), "out": empty(n), "n": np.int32(n)},
    reference=lambda given: {"out": running(given["x"], 32)},
    launch=one_thread_each,
    small=(1000, 257, 33, 31, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(), values=(promises.data("x", *promises.ANY_ORDERED),)
    ),
    means=(
        means.shuffles(
            5 * 1000, 2 * 5 * 1024, advice="Five shuffles, and every lane takes part in each."
        ),
        means.barriers(at_most=0, advice="The lanes of a warp need no barrier of the block."),
        means.one_store_each(),
        means.reads_each_once(4 * 1000, at_most=1.5),
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
        "`__shfl_up_sync(kWholeWarp, value, distance)` is the value of the lane `distance` further "
        "down. Lanes below `distance` get their own back.",
        "After the step with distance d each lane has the largest of the last 2d elements. So the "
        "distances go up: 1, 2, 4, 8, 16.",
        "All lanes take part in the shuffle, so it stands before the `if`.",
        "`const float left = __shfl_up_sync(kWholeWarp, value, distance); if (lane >= distance) "
        "value = fmaxf(left, value);`",
    ),
    explanation="""
For a maximum the `if` may go: a lane that gets its own value back changes nothing by it. For a sum
it would count itself twice. What lanes without an element hold never matters, because values move
towards higher lanes only, and those lanes are the last.
""",
    mutants=(
        mutant("stops early", kinds.WRONG, ("distance < kWarpSize", "distance < 16")),
        mutant("the other way", kinds.WRONG, ("__shfl_up_sync", "__shfl_down_sync")),
        mutant("adds", kinds.WRONG, ("fmaxf(left, value)", "left + value")),
        mutant("one lane too few", kinds.WRONG, ("lane >= distance", "lane > distance")),
        mutant(
            "the maximum of the warp",
            kinds.WRONG,
            (
                "__shfl_up_sync(kWholeWarp, value, distance)",
                "__shfl_xor_sync(~0u, value, distance)",
            ),
            ("if (lane >= distance)", "if (true)"),
        ),
        mutant(
            "none below zero",
            kinds.WRONG,
            ("fmaxf(left, value)", "fmaxf(fmaxf(left, value), -1e9f)"),
        ),
        mutant(
            "31 shuffles",
            kinds.MEANS_MISSING,
            ("int distance = 1; distance < kWarpSize; distance *= 2", "int d = 1; d < 32; ++d"),
            ("value, distance)", "value, 1)"),
            ("lane >= distance", "lane >= 1"),
        ),
        mutant(
            "through shared memory",
            kinds.TARGET_MISSED,
            (
                "const float left = __shfl_up_sync(kWholeWarp, value, distance);",
                "__shared__ float hand[256];\n        hand[threadIdx.x] = value;\n"
                "        __syncwarp();\n"
                "        const float left = __shfl_up_sync(kWholeWarp, hand[threadIdx.x], "
                "distance);\n        __syncwarp();",
            ),
        ),
        mutant(
            "a barrier at each step",
            kinds.MEANS_MISSING,
            ("        const float left", "        __syncthreads();\n        const float left"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("    if (i < n) {\n", "    {\n")),
    ),
)


def exclusive(x: np.ndarray) -> np.ndarray:
    """The largest of the elements before, in each block; -inf for its first element."""
    rows = np.maximum.accumulate(in_rows(x, BLOCK, -np.inf), axis=1)
    shifted = np.concatenate([np.full((len(rows), 1), -np.inf, x.dtype), rows[:, :-1]], axis=1)
    return shifted.reshape(-1)[: len(x)]


EXCLUSIVE_MAX = Exercise(
    id="04.exclusive_max",
    title="exclusive, and over a block",
    task="""
From an inclusive sum you get the exclusive one by subtracting your own element. A maximum cannot be
subtracted. Make the exclusive running maximum of each block's 256 elements out of the inclusive one
of each warp, which is there already. The warps hand each other one number each, through shared
memory. Elements may be ±∞.
""",
    source="04_first_kernels/exercises/exclusive_max.cu",
    kernel="exclusive_max",
    inputs=lambda rng, n: {"x": floats(rng, n) - np.float32(5), "out": empty(n), "n": np.int32(n)},
    reference=lambda given: {"out": exclusive(given["x"])},
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(), values=(promises.data("x", *promises.ANY_ORDERED),)
    ),
    means=(
        means.one_store_each(),
        means.reads_each_once(4 * 1000, at_most=1.5),
        means.loads_shared_out(),
        means.shared_memory(
            4 * 7 * 4,
            1024,
            advice="The warps of a block hand on one number each, through shared memory.",
        ),
        means.barriers(1, advice="What other warps have stored is there after a barrier."),
        means.no_extra_work(),
    ),
    hints=(
        "What is the largest of a whole warp? The lane that has seen all of it knows.",
        "Lane 31 stores `upto` in `of_warp[warp]`; then a barrier.",
        "`float before = __shfl_up_sync(kWholeWarp, upto, 1);`, and in lane 0 nothing stands "
        "before: -infinity.",
        "`for (int w = 0; w < warp; ++w) before = fmaxf(before, of_warp[w]);`",
    ),
    explanation="""
A shift by one lane makes an exclusive scan of an inclusive one, for any operation. The first lane
gets the identity. The loop over the warps before is short: a block has at most 32 of them, and
reads what all its lanes read at once, a broadcast.
""",
    mutants=(
        mutant("inclusive", kinds.WRONG, ("__shfl_up_sync(kWholeWarp, upto, 1)", "upto")),
        mutant("its own in lane 0", kinds.WRONG, ("lane == 0 ? -infinity : before", "before")),
        mutant("zero in lane 0", kinds.WRONG, ("lane == 0 ? -infinity", "lane == 0 ? 0.0f")),
        mutant("the own warp too", kinds.WRONG, ("w < warp", "w <= warp")),
        mutant("one warp only", kinds.WRONG, ("w = 0; w < warp", "w = max(warp - 1, 0); w < warp")),
        mutant("lane 0's", kinds.WRONG, ("lane == kWarpSize - 1", "lane == 0")),
        mutant(
            "no barrier",
            kinds.DATA_RACE,
            ("    __syncthreads(); // every", "    // every"),
        ),
        mutant(
            "a warp's barrier",
            kinds.DATA_RACE,
            ("__syncthreads(); // every", "__syncwarp(); // every"),
        ),
        mutant(
            "the block read by every thread",
            kinds.MEANS_MISSING,
            (
                "    for (int w = 0; w < warp; ++w) {\n        before = fmaxf(before, of_warp[w]);",
                "    for (int k = blockIdx.x * kThreads; k < i && k < n; ++k) {\n"
                "        before = fmaxf(before, x[k]);",
            ),
        ),
    ),
)


def segmented(given: Given) -> dict:
    """Running sums that begin anew at heads and at the first element of each block."""
    x = given["x"].astype(np.uint64)
    starts = (given["head"] != 0) | (np.arange(len(x)) % BLOCK == 0)
    upto = np.cumsum(x)
    at = np.maximum.accumulate(np.where(starts, np.arange(len(x)), 0))
    return {"out": (upto - (upto[at] - x[at])).astype(np.uint32)}


def heads(label: str, share: float) -> Values:
    return Values(
        label,
        lambda given, rng: {"head": (rng.random(len(given["head"])) < share).astype(np.uint32)},
    )


SEGMENTED_SUM = Exercise(
    id="04.segmented_sum",
    title="a scan that begins anew",
    task="""
Many short rows lie one after the other in one array, and each wants its own running sum: a
**segmented** scan. It is a scan like any other, of pairs: a sum, and whether a head has been met.
Write the operation that joins two runs, and scan with it: the warp by shuffles, the block through
`of_warp`. Rows may be of any length, longer than a warp too; a sum may wrap around.
""",
    source="04_first_kernels/exercises/segmented_sum.cu",
    kernel="segmented_sum",
    inputs=lambda rng, n: {
        "x": words(rng, n),
        "head": (rng.random(n) < 0.05).astype(np.uint32),
        "out": empty(n, np.uint32),
        "n": np.int32(n),
    },
    reference=segmented,
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        values=(
            (
                heads("no heads", 0),
                heads("heads alone", 1),
                heads("every second a head", 0.5),
                heads("few heads", 0.004),
            ),
            (
                *promises.data("x", promises.EQUAL, promises.ZEROS, promises.RISING),
                Values("x mostly 0", lambda given, rng: {"x": given["x"] * (given["x"] % 8 == 1)}),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.reads_each_once(8 * 1000, at_most=1.5),
        means.loads_shared_out(),
        means.shuffles(
            5 * 1000, advice="The warp is scanned by shuffles, in five steps for all lanes."
        ),
        means.barriers(1, advice="What other warps have stored is there after a barrier."),
        means.no_extra_work(),
    ),
    hints=(
        "If `right` has a head, what `left` adds up to belongs to another row.",
        "`return {right.has_head ? right.sum : left.sum + right.sum, left.has_head | "
        "right.has_head};`",
        "`Run left = {__shfl_up_sync(kWholeWarp, run.sum, distance), __shfl_up_sync(kWholeWarp, "
        "run.has_head, distance)}; if (lane >= distance) run = joined(left, run);`",
        "Lane 31 stores its run in `of_warp[warp]`. After the barrier, `before` begins as `{0, 0}` "
        "and takes in the runs of the warps before, in their order. Last comes `run = "
        "joined(before, run)`.",
    ),
    explanation="""
The operation is associative, so any tree of it gives the same; it is not commutative, so the order
of the two sides matters everywhere. Whoever has an associative operation has a scan.
""",
    mutants=(
        mutant("heads forgotten", kinds.WRONG, ("right.has_head ? right.sum : left", "left")),
        mutant("left's head", kinds.WRONG, ("right.has_head ? right", "left.has_head ? right")),
        mutant(
            "heads not handed on", kinds.WRONG, ("left.has_head | right.has_head", "right.has_head")
        ),
        mutant(
            "both must have one", kinds.WRONG, ("left.has_head | right", "left.has_head & right")
        ),
        mutant("the wrong way round", kinds.WRONG, ("joined(left, run)", "joined(run, left)")),
        mutant(
            "a head that has a 0",
            kinds.WRONG,
            ("right.has_head ? right", "right.has_head && right.sum ? right"),
        ),
        mutant("within the warp only", kinds.WRONG, ("    run = joined(before, run);\n", "")),
        mutant(
            "sums of warps only",
            kinds.WRONG,
            ("run = joined(before, run);", "run.sum += before.sum;"),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads(); // every", "    // every")),
        mutant("the own warp too", kinds.WRONG, ("w < warp;", "w <= warp;")),
    ),
)


TILE = 64


def chained(rng: np.random.Generator, n: int) -> dict:
    tiles = -(-n // TILE)
    return {
        "x": words(rng, n),
        "upto": empty(tiles, np.uint32),
        "ready": np.zeros(tiles, np.uint32),
        "ticket": np.zeros(1, np.uint32),
        "n": np.int32(n),
    }


def ends(given: Given) -> dict:
    """The sums up to the end of each tile; all tickets drawn and all flags set."""
    sums = in_rows(given["x"], TILE, 0).astype(np.uint64).sum(axis=1)
    return {
        "upto": np.cumsum(sums).astype(np.uint32),
        "ready": np.ones(len(sums), np.uint32),
        "ticket": np.array([len(sums)], np.uint32),
    }


FIND_THE_MISSING_RELEASE = Exercise(
    id="04.find_the_missing_release",
    title="a flag that comes too early",
    task="""
The tiles hand on their sums: each waits for the flag of the one before, reads its sum, and sets its
own flag. It gave the right sums on the machine it was written on. Run the cell as it is, read the
verdict, and add the one line that is missing. The sums themselves stay plain loads and stores.
""",
    source="04_first_kernels/exercises/chained_sums.cu",
    kernel="chained_sums",
    inputs=chained,
    reference=ends,
    launch=lambda n: Launch((-(-n // TILE),), (TILE,)),
    small=(1000, 65, 64, 1),
    full=1 << 20,
    promises=Promises(
        sizes=promises.lengths(most=1100),
        values=(promises.data("x", promises.EQUAL, promises.ZEROS, promises.RISING),),
    ),
    bug=kinds.DATA_RACE,
    means=(
        means.reads(
            "upto", 4 * 15, advice="Each tile reads the sum that the tile before has stored."
        ),
        Means(
            "bytes stored to global memory without an atomic",
            lambda work: work.counts.global_store_bytes,
            4 * 16,
            advice="Each tile stores its sum by a plain store, as it stood there.",
        ),
        Means(
            "bytes loaded from global memory without an atomic",
            lambda work: work.counts.global_load_bytes,
            4 * (1000 + 15),
            advice="Each tile reads the sum before it by a plain load, as it stood there.",
        ),
        means.reads(
            "x", 4 * 1000, 2 * 4 * 1000, advice="A tile adds up its own elements, and no others."
        ),
        orders(
            16 + 15,
            advice="Leave the loads and stores as they are. A line is missing that orders them: a "
            "release in all 16 tiles, beside the acquire in 15.",
        ),
    ),
    hints=(
        "The verdict names a store and a load of `upto`. Between them stands only the flag.",
        "The thread that reads has its fence: what it reads after the flag is no older than the "
        "flag. The thread that writes promises nothing.",
        "Nothing says that `upto[tile]` is there before `ready[tile]` is.",
        "`__threadfence();` between the store of the sum and the atomicExch.",
    ),
    explanation="""
A flag hands over what was stored before it only if the storing thread has a fence between the two
(release), and the reading thread one between the flag and what it reads (acquire). One of the two
alone orders nothing. The look-back of this notebook needs neither: its flag and its sum are one
word.
""",
    mutants=(
        mutant(
            "the fence behind the flag",
            kinds.DATA_RACE,
            (
                "        __threadfence(); // release: whoever sees the flag sees the sum too\n"
                "        atomicExch(&ready[tile], 1);",
                "        atomicExch(&ready[tile], 1);\n        __threadfence();",
            ),
        ),
        mutant(
            "the fence before the sum",
            kinds.DATA_RACE,
            (
                "        upto[tile] = before + sum;\n        __threadfence(); // release: whoever "
                "sees the flag sees the sum too\n",
                "        __threadfence();\n        upto[tile] = before + sum;\n",
            ),
        ),
        mutant(
            "a fence for the block",
            kinds.DATA_RACE,
            ("__threadfence(); // release", "__threadfence_block(); // release"),
        ),
        mutant(
            "the flag first",
            kinds.DATA_RACE,
            (
                "        upto[tile] = before + sum;\n        __threadfence(); // release: whoever "
                "sees the flag sees the sum too\n        atomicExch(&ready[tile], 1);",
                "        atomicExch(&ready[tile], 1);\n        __threadfence();\n"
                "        upto[tile] = before + sum;",
            ),
        ),
        mutant(
            "no acquire",
            kinds.DATA_RACE,
            (
                "            __threadfence(); // acquire: what is read below was there when the "
                "flag was\n",
                "",
            ),
        ),
        mutant(
            "nobody waits", kinds.DATA_RACE, ("== 0) {\n            }", "== 2) {\n            }")
        ),
        mutant(
            "the sums by atomics, without the fences",
            kinds.MEANS_MISSING,
            ("before = upto[tile - 1];", "before = atomicAdd(&upto[tile - 1], 0);"),
            ("upto[tile] = before + sum;", "atomicExch(&upto[tile], before + sum);"),
            ("__threadfence(); // release", "// release"),
        ),
        mutant(
            "a sum stored by an atomic",
            kinds.MEANS_MISSING,
            ("upto[tile] = before + sum;", "atomicExch(&upto[tile], before + sum);"),
        ),
        mutant(
            "a sum read by an atomic",
            kinds.MEANS_MISSING,
            ("before = upto[tile - 1];", "before = atomicAdd(&upto[tile - 1], 0);"),
        ),
        mutant(
            "volatile for a fence",
            kinds.MEANS_MISSING,
            ("before = upto[tile - 1];", "before = *(volatile unsigned *)&upto[tile - 1];"),
            ("upto[tile] = before", "*(volatile unsigned *)&upto[tile] = before"),
            ("__threadfence(); // release", "// release"),
        ),
        mutant("not the tiles before", kinds.WRONG, ("= before + sum;", "= sum;")),
        mutant(
            "all by itself",
            kinds.MEANS_MISSING,
            (
                "            before = upto[tile - 1];",
                "            for (int k = 0; k < tile * kThreads; ++k) before += x[k];",
            ),
        ),
    ),
)


def with_offset(rng: np.random.Generator, n: int) -> dict:
    return {
        "x": words(rng, n),
        "out": empty(n, np.uint32),
        "offset": empty(1, np.uint32),
        "ready": np.zeros(1, np.uint32),
        "ticket": np.zeros(1, np.uint32),
        "n": np.int32(n),
    }


def less_the_first_tile(given: Given) -> dict:
    """All flags set and all tickets drawn."""
    x = given["x"]
    offset = x[:BLOCK].sum(dtype=np.uint32)
    return {
        "out": x - offset,
        "offset": np.array([offset]),
        "ready": np.ones(1, np.uint32),
        "ticket": np.array([-(-len(x) // BLOCK)], np.uint32),
    }


DRAW_A_TICKET = Exercise(
    id="04.draw_a_ticket",
    title="who may be waited for",
    task="""
All tiles wait for the first one. The fences are there, and it is right as long as blocks start in
the order of their numbers. CUDA promises no such order. Let each block draw the number of its tile
from `ticket`, one ticket a block, so that whoever is waited for has started.
""",
    source="04_first_kernels/exercises/draw_a_ticket.cu",
    kernel="draw_a_ticket",
    inputs=with_offset,
    reference=less_the_first_tile,
    launch=lambda n: Launch((-(-n // BLOCK),), (BLOCK,), 204_800),
    small=(66_001, 1000, 257, 256),
    budget=15_000,
    full=1 << 20,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(least=256, most=5000).with_longest(n=66_001),
        values=(promises.data("x", promises.EQUAL, promises.ZEROS, promises.RISING),),
    ),
    means=(
        means.reads("offset", 4 * 257, advice="Each tile but the first reads the offset."),
        means.atomics("global", at_least=258, at_most=560, advice="Each tile draws one ticket."),
        orders(
            257,
            advice="The fences that are given stay: that the offset is volatile orders nothing.",
        ),
        means.one_store_each(1.1),
    ),
    hints=(
        "258 tiles, and an H200 runs 132 of these blocks at a time. If the last blocks start "
        "first, whom do they wait for?",
        "`atomicAdd(ticket, 1)` gives 0 to the block that comes first, whichever it is, then 1.",
        "Thread 0 draws, and the whole block has to know: through `room[1]`, and a barrier.",
        "`if (threadIdx.x == 0) room[1] = atomicAdd(ticket, 1);`, `__syncthreads();`, and then "
        "`const int tile = room[1];`",
    ),
    explanation="""
The block that draws ticket 0 is the first that starts, so it never waits for a block that finds no
room. In a chain it goes on like that: a block that has drawn ticket t knows that the tickets before
t are in the hands of blocks that have started, and what has started goes on until it ends.
""",
    mutants=(
        mutant(
            "a ticket in a byte",
            kinds.EDGES,
            ("tile = room[1]", "tile = room[1] & 255"),
        ),
        mutant(
            "no barrier",
            kinds.UNINITIALISED,
            ("    __syncthreads(); // the number of the tile is there\n", ""),
        ),
        mutant("no atomic", kinds.DATA_RACE, ("atomicAdd(ticket, 1)", "(*ticket)++")),
        mutant("drawn for show", kinds.ORDER, ("tile = room[1]", "tile = blockIdx.x")),
        mutant(
            "for small grids alone",
            kinds.ORDER,
            ("tile = room[1]", "tile = gridDim.x > 200 ? blockIdx.x : room[1]"),
        ),
        mutant("drawn in a byte", kinds.EDGES, ("tile = room[1]", "tile = (unsigned char)room[1]")),
        mutant(
            "two at a time", kinds.PARTLY_WRITTEN, ("atomicAdd(ticket, 1)", "atomicAdd(ticket, 2)")
        ),
        mutant(
            "nobody waits",
            kinds.DATA_RACE,
            ("unsigned *)ready == 0)", "unsigned *)ready == 2)"),
        ),
        mutant(
            "each adds up for itself",
            kinds.MEANS_MISSING,
            ("= *offset;", "= 0;\n        for (int k = 0; k < 256; ++k) room[0] += x[k];"),
        ),
    ),
)


def kept_elements(rng: np.random.Generator, n: int) -> dict:
    x = rng.integers(-99, 100, n).astype(np.int32)
    x[rng.random(n) < 0.5] = 0
    return {
        "x": x,
        "first": firsts(x),
        "out": np.full(n, -12345, np.int32),
        "n": np.int32(n),
    }


def firsts(x: np.ndarray) -> np.ndarray:
    """How many elements that are not zero stand before each block's."""
    counts = (in_rows(x, BLOCK, 0) != 0).sum(axis=1)
    return (np.cumsum(counts) - counts).astype(np.int32)


def packed(given: Given) -> dict:
    out = given["out"].copy()
    kept = given["x"][given["x"] != 0]
    out[: len(kept)] = kept
    return {"out": out}


def elements(label: str, change) -> Values:
    def changed(given: Given, rng: np.random.Generator) -> Given:
        x = change(given["x"], rng).astype(np.int32)
        return {"x": x, "first": firsts(x)}

    return Values(label, changed)


KEEP_IN_ORDER = Exercise(
    id="04.keep_in_order",
    title="pack what is kept",
    task="""
Pack the elements that are not zero, in their order. The votes of a warp are one number with a bit
for each lane, so a scan of ones and zeros is a count of bits. No atomics: they lose the order.
""",
    source="04_first_kernels/exercises/keep_in_order.cu",
    kernel="keep_in_order",
    inputs=kept_elements,
    reference=packed,
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    exact=True,
    promises=Promises(
        sizes=promises.lengths().with_longest(n=140_001),  # more than 65,536 of them are kept
        values=(
            (
                elements("no zeros", lambda x, rng: np.where(x == 0, 7, x)),
                elements("all zero", lambda x, rng: np.zeros_like(x)),
                elements("one in fifty kept", lambda x, rng: x * (rng.random(len(x)) < 0.04)),
                elements("rising", lambda x, rng: np.arange(len(x))),
                elements("multiples of 65,536", lambda x, rng: x * 65_536),
                elements("the least of all ints", lambda x, rng: np.where(x > 0, -(2**31), 0)),
            ),
        ),
    ),
    means=(
        means.atomics("global", at_most=0, advice="Without atomics: they would lose the order."),
        means.atomics("shared", at_most=0, advice="Without atomics: they would lose the order."),
        means.one_store_each(),
        means.reads_each_once(8 * 1000, at_most=1.2),
        means.loads_shared_out(),
        means.barriers(1, advice="What other warps have stored is there after a barrier."),
        means.no_extra_work(),
    ),
    hints=(
        "`__popc(votes)` counts the bits: how many lanes of the warp keep their element.",
        "`votes & ((1u << lane) - 1)` leaves the bits of the lanes before this one.",
        "Lane 0 stores the count of its warp in `of_warp[warp]`; then a barrier.",
        "`int to = first[blockIdx.x] + __popc(votes & ((1u << lane) - 1));`, and add `of_warp[w]` "
        "for the warps before.",
    ),
    explanation="""
One vote and one count of bits take the place of five shuffles: the scan of a warp's ones and zeros
costs two instructions.
""",
    mutants=(
        mutant("the lane too", kinds.OUT_OF_BOUNDS, ("((1u << lane) - 1)", "((2u << lane) - 1)")),
        mutant(
            "the lanes behind",
            kinds.WRONG,
            ("votes & ((1u << lane) - 1)", "votes & ~((2u << lane) - 1)"),
        ),
        mutant("within the warp only", kinds.DATA_RACE, ("        to += of_warp[w];", "        ;")),
        mutant("no start", kinds.DATA_RACE, ("int to = first[blockIdx.x] +", "int to =")),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads(); // every", "    // every")),
        mutant("all elements", kinds.DATA_RACE, ("if (kept) {", "if (i < n) {")),
        mutant("the low 16 bits", kinds.PARTLY_WRITTEN, ("value != 0;", "value % 65536 != 0;")),
        mutant("positive ones only", kinds.PARTLY_WRITTEN, ("value != 0;", "value > 0;")),
        mutant("the own warp too", kinds.DATA_RACE, ("w < warp;", "w <= warp;")),
        mutant(
            "by atomics",
            kinds.MEANS_MISSING,
            ("of_warp[warp] = __popc(votes);", "atomicExch(&of_warp[warp], __popc(votes));"),
        ),
        mutant(
            "places in 16 bits",
            kinds.DATA_RACE,
            ("out[to] = value", "out[to & 65535] = value"),
        ),
    ),
)


AT_THE_ENDS: promises.ArrayChange = (
    "at the ends of signed and unsigned numbers",
    lambda x, rng: rng.choice([0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1], x.shape),
)

SPLIT_BY_BIT = Exercise(
    id="04.split_by_bit",
    title="one bit of a radix sort",
    task="""
Split each block's 256 keys by one bit, in a stable order: first the keys whose bit is 0, then the
others. Any bit from 0 to 31, any keys. A single scan is enough: of the threads before this one,
those that have no zero have a one.
""",
    source="04_first_kernels/exercises/split_by_bit.cu",
    kernel="split_by_bit",
    inputs=lambda rng, n: {
        "keys": words(rng, n),
        "out": empty(n, np.uint32),
        "bit": np.int32(5),
        "n": np.int32(n),
    },
    reference=lambda given: {"out": split(given["keys"], int(given["bit"]))},
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(),
        values=(
            promises.scalars("bit", *range(32)),
            promises.data(
                "keys",
                promises.EQUAL,
                promises.ZEROS,
                promises.RISING,
                promises.FALLING,
                AT_THE_ENDS,
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.reads_each_once(4 * 1000, at_most=1.5),
        means.loads_shared_out(),
        means.work_shared_out(),
        means.atomics("shared", at_most=0, advice="Without atomics: they would lose the order."),
        means.atomics("global", at_most=0, advice="Without atomics: they would lose the order."),
        means.barriers(1, advice="What other warps have stored is there after a barrier."),
        means.no_extra_work(),
    ),
    hints=(
        "`__ballot_sync(kWholeWarp, zero)` and `__popc` count the zeros of a warp, and those of "
        "the lanes before.",
        "Through `zeros_of_warp` a thread learns the zeros of the warps before, and of the block.",
        "A key with a 0 goes to `zeros_before`. Before a key with a 1 stand all zeros, and the "
        "ones of the threads before: `threadIdx.x - zeros_before` of them.",
        "`const int to = zero ? zeros_before : zeros + (int)threadIdx.x - zeros_before;`",
    ),
    explanation="""
Thirty-two such passes, from the lowest bit to the highest, sort the block, because each pass keeps
the order that those before have made. Threads without a key count as ones: they are the last of the
block, so no key has them before it.
""",
    mutants=(
        mutant("ones first", kinds.WRONG, ("&& !(key", "&& (key")),
        mutant(
            "not stable",
            kinds.WRONG,
            (
                "zeros + (int)threadIdx.x - zeros_before",
                "min(kThreads, n - first) - 1 - (int)threadIdx.x + zeros_before",
            ),
        ),
        mutant("missing keys count", kinds.OUT_OF_BOUNDS, ("zero = i < n && ", "zero = ")),
        mutant("bit 5 always", kinds.WRONG, ("key >> bit & 1", "key >> 5 & 1")),
        mutant(
            "within the warp only",
            kinds.OUT_OF_BOUNDS,
            ("zeros_before += w < warp ? zeros_of_warp[w] : 0", "zeros_before += 0"),
        ),
        mutant(
            "a signed remainder",
            kinds.WRONG,
            ("!(key >> bit & 1)", "!((int)key % 2147483647 >> bit & 1)"),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads(); // every", "    // every")),
        mutant("the lane too", kinds.DATA_RACE, ("((1u << lane) - 1)", "((2u << lane) - 1)")),
        mutant(
            "as they were", kinds.WRONG, ("out[first + to] = key", "out[first + threadIdx.x] = key")
        ),
    ),
)


def split(keys: np.ndarray, bit: int) -> np.ndarray:
    """Each block's keys in a stable order of the one bit."""
    order = [
        start + np.argsort(keys[start : start + BLOCK] >> np.uint32(bit) & 1, kind="stable")
        for start in range(0, len(keys), BLOCK)
    ]
    return keys[np.concatenate(order)]
