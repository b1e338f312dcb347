"""The exercises of "The memory model"."""

from __future__ import annotations

from dataclasses import replace

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
from course_utils.exercises.means import WorkDone
from course_utils.exercises.vectors import BLOCK, FULL, one_thread_each

from .common import orders

ACCESSES = "ld", "st", "atom", "red"
FENCES = "membar.", "fence."  # what __threadfence() and its like are in PTX


def whole_numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(-1000, 1000, n, dtype=np.int32)


def in_pieces(n: int, length: int) -> int:
    return -(-n // length)


def strength(
    label: str,
    advice: str,
    *words: str,
    at_most: int = 0,
    of: tuple[str, ...] = (*ACCESSES, "fence", "membar"),
) -> Means:
    """Instructions on memory that are stronger than need be: those ``of`` these kinds with one of
    ``words`` in the name."""

    def measure(work: WorkDone) -> int:
        return sum(
            n
            for name, n in work.counts.opcodes.items()
            if any(word in name.split(".") for word in words) and name.split(".")[0] in of
        )

    return Means(label, measure, at_most=at_most, advice=advice, size=200)


RELAY = Exercise(
    id="04.relay",
    title="the weakest that is right",
    task="""
The kernel is right, and everything in it is as strong as it can be. Weaken it: each of the three
orders as far as the task allows, and both scopes. The count is read by the host, after the kernel.
""",
    source="04_first_kernels/exercises/relay.cu",
    kernel="relay",
    inputs=lambda rng, n: {
        "x": whole_numbers(rng, n),
        "box": empty(n, np.int32),
        "flag": np.zeros(1, np.int32),
        "tally": np.zeros(1, np.int32),
        "y": empty(n, np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "box": given["x"] ** 2,
        "flag": np.ones(1, np.int32),
        "y": given["x"] ** 2 + 1,
        "tally": np.array([len(given["x"])], np.int32),
    },
    launch=lambda n: Launch((2,), (256,)),
    small=(200, 256, 1),
    full=256,
    promises=Promises(
        sizes=promises.shapes(n=(1, 31, 33, 97, 200, 255, 256)),
        values=(
            (
                promises.AS_GIVEN,
                promises.Values("x up to 46,000", lambda given, rng: {"x": 46 * given["x"] + 1}),
                promises.Values("x all even", lambda given, rng: {"x": given["x"] // 2 * 2}),
                promises.Values("x all odd", lambda given, rng: {"x": given["x"] // 2 * 2 + 1}),
            ),
        ),
    ),
    means=(
        orders(
            2,
            advice="Without a release and an acquire nothing orders the flag and the box, even if "
            "every access is atomic.",
            size=200,
        ),
        strength(
            "accesses and fences whose scope is the whole system",
            "The host reads nothing before the kernel has ended, and no other GPU takes part: the "
            "scope of the device is enough.",
            "sys",
        ),
        strength(
            "fences of sequential consistency",
            "Nobody compares the order of two different words here: memory_order_seq_cst, and its "
            "fence, is more than a hand-over needs.",
            "sc",
        ),
        strength(
            "accesses that acquire and release both",
            "A store releases, a load acquires, and a count does neither.",
            "acq_rel",
            of=ACCESSES,
        ),
        strength(
            "accesses that release, by each thread",
            "One store hands the box over, and the count hands nothing over: "
            "memory_order_relaxed is enough for it.",
            "release",
            at_most=1,
        ),
        means.instructions(
            "counts that acquire",
            *(f"{kind}.add.{order}" for kind in ("atom", "red") for order in ("acquire",)),
            at_most=0,
            advice="Whoever counts takes nothing over: memory_order_relaxed is enough for it.",
            size=200,
        ),
        means.instructions(
            "fences",
            *FENCES,
            at_most=2,
            advice="An order of the flag's own store and load is enough; fences are not needed.",
            size=200,
        ),
        Means(
            "even numbers counted by atomics, for each element",
            lambda work: (
                sum(
                    n
                    for name, n in work.counts.opcodes.items()
                    if name.startswith(("atom.", "red."))
                )
                / 200
            ),
            at_least=0.9,
            advice="Each thread counts its own number with an atomic, as it did before.",
            size=200,
        ),
        means.reads("box", 4 * 200, advice="Block 1 takes its numbers out of the box.", size=200),
    ),
    hints=(
        "Who reads what was written before the count? Nobody, before the kernel ends: relaxed.",
        "The store of the flag hands the box over (release); the load that finds it takes it "
        "(acquire).",
        "Two blocks of one GPU take part: cuda::thread_scope_device. A block's scope is too "
        "narrow for both words.",
    ),
    explanation="""
An order costs where it makes a thread wait: on a GPU a release waits until what was written before
is visible in its scope, and an acquire gives up what the L1 cache holds. A relaxed count does
neither. The wider the scope, the further the writes have to go.
""",
    mutants=(
        mutant("relaxed hand-over", kinds.DATA_RACE, ("order_release", "order_relaxed")),
        mutant(
            "counts in a block's scope",
            kinds.DATA_RACE,
            ("scope_device> count", "scope_block> count"),
        ),
        mutant(
            "the system's scope",
            kinds.MEANS_MISSING,
            ("scope_device> count", "scope_system> count"),
        ),
        mutant("seq_cst hand-over", kinds.MEANS_MISSING, ("order_release", "order_seq_cst")),
        mutant("the count releases", kinds.MEANS_MISSING, ("order_relaxed", "order_release")),
    ),
)


CARRY = Exercise(
    id="04.carry",
    title="put the fences where they belong",
    task="""
Each block waits for the total of the block before, adds its own sum, and hands the new total on.
Data, flags and waiting are right, and there are two fences. Neither stands where it orders anything
that matters. Run the cell as it is, read the verdict, and move the two fences. More than two for a
block are not needed, and atomics on the totals are not either.
""",
    source="04_first_kernels/exercises/carry.cu",
    kernel="carry",
    inputs=lambda rng, n: {
        "x": whole_numbers(rng, n),
        "total": empty(in_pieces(n, 128), np.int32),
        "flag": np.zeros(in_pieces(n, 128), np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "total": np.cumsum(given["x"])[
            np.minimum(np.arange(128, len(given["x"]) + 128, 128), len(given["x"])) - 1
        ].astype(np.int32),
        "flag": np.ones(in_pieces(len(given["x"]), 128), np.int32),
    },
    launch=lambda n: Launch((in_pieces(n, 128),), (128,)),
    small=(1000, 129, 128, 1),
    full=128 * 132,
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(n=(1, 31, 127, 128, 129, 257, 640, 1000, 2049, 4099)).with_longest(
            n=12_801
        ),
        values=(
            (
                promises.AS_GIVEN,
                promises.Values("x all 0", lambda given, rng: {"x": 0 * given["x"]}),
                promises.Values(
                    "x all negative", lambda given, rng: {"x": -1 - np.abs(given["x"])}
                ),
                promises.Values(
                    "sums of x beyond 24 bits", lambda given, rng: {"x": 100_003 + given["x"]}
                ),
            ),
        ),
    ),
    means=(
        means.instructions(
            "fences",
            *FENCES,
            at_most=2 * 8,
            advice="One thread of a block sets the flag and one waits for a flag. It is the same "
            "one, and it needs one fence for each.",
            size=1000,
        ),
        means.reads(
            "total", 4 * 7, advice="The total of the block before is read from memory.", size=1000
        ),
        means.reads(
            "x", 4 * 1000, 1.2 * 4 * 1000, advice="Each element of x is read once.", size=1000
        ),
        orders(
            8 + 7,
            advice="Each block but the first finds a flag and takes a total, so it needs an "
            "acquire; each hands its own on, so it needs a release.",
            size=1000,
        ),
    ),
    hints=(
        "Write the four steps of the hand-over in a row: store the total, set the flag, find the "
        "flag set, load the total. A fence belongs between two steps of one thread.",
        "The release stands between the store of the total and the atomicExch.",
        "The acquire stands between the loop that has found the flag and the load of the total. A "
        "fence before the loop orders what came before it, which nobody asks for.",
    ),
    explanation="""
A fence orders what its thread did before it and what the thread does after it. Behind the flag it
is too late: the flag may be seen before the total. Before the loop it is too early: the load of the
total may be done before the flag was seen. Block 0 waits for nobody, and needs the release alone.
""",
    mutants=(
        mutant(
            "64 blocks wait and no more",
            kinds.EDGES,
            ("blockIdx.x > 0", "blockIdx.x > 0 && blockIdx.x < 64"),
        ),
        mutant("no release", kinds.DATA_RACE, ("        __threadfence();  // release", "//")),
        mutant("no acquire", kinds.DATA_RACE, ("            __threadfence();  // acquire", "//")),
        mutant(
            "for the block",
            kinds.DATA_RACE,
            ("__threadfence();  // release", "__threadfence_block();  //"),
        ),
        mutant(
            "release behind the flag",
            kinds.DATA_RACE,
            ("        __threadfence();  // release: whoever sees the flag sees the total\n", ""),
            ("[blockIdx.x], 1);", "[blockIdx.x], 1);\n        __threadfence();"),
        ),
        mutant(
            "a barrier for a fence",
            kinds.DATA_RACE,
            ("        __threadfence();  // release", "        __syncwarp(1);  //"),
        ),
        mutant(
            "all threads fence",
            kinds.MEANS_MISSING,
            (
                "    if (threadIdx.x == 0) {\n        int before",
                "    __threadfence();\n    if (threadIdx.x == 0) {\n        int before",
            ),
        ),
        mutant(
            "volatile for an acquire",
            kinds.MEANS_MISSING,
            ("            __threadfence();  // acquire", "//"),
            ("before = total[blockIdx.x - 1]", "before = *(volatile int*)&total[blockIdx.x - 1]"),
        ),
        mutant("does not wait", kinds.DATA_RACE, ("0) == 0) {", "0) == 2) {")),
        mutant("its own alone", kinds.WRONG, ("before = total[blockIdx.x - 1];", "")),
        mutant("sums as floats", kinds.WRONG, ("before + sum;", "(float)before + sum;")),
        mutant(
            "a volatile flag",
            kinds.DATA_RACE,
            ("atomicExch(&flag[blockIdx.x], 1);", "*(volatile int*)&flag[blockIdx.x] = 1;"),
            ("        __threadfence();  // release", "//"),
        ),
    ),
)


TWO_WARPS = Exercise(
    id="04.two_warps",
    title="find the volatile bug",
    task="""
Two warps of a block work hand in hand: one loads the next 32 numbers, the other uses them. They
tell each other by two words in shared memory that are `volatile`, and it has always worked. Run the
cell as it is, and make it right: atomics and fences (or `cuda::atomic_ref`) in the scope that this
takes. What goes through the box and what comes out of it stays as it is. Barriers of the whole
block are no remedy here, since a warp would then wait at every piece.
""",
    source="04_first_kernels/exercises/two_warps.cu",
    kernel="two_warps",
    inputs=lambda rng, n: {
        "x": whole_numbers(rng, n),
        "y": empty(n, np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {"y": given["x"] + np.append(np.int32(0), given["x"][:-1])},
    launch=lambda n: Launch((1,), (64,)),
    small=(100, 65, 32, 1),
    full=100_000,
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(n=(1, 2, 31, 32, 33, 64, 65, 127, 161, 200)).with_longest(n=4133),
        values=(
            (
                promises.AS_GIVEN,
                promises.Values("x all equal", lambda given, rng: {"x": 7 + 0 * given["x"]}),
                promises.Values("x rising", lambda given, rng: {"x": np.sort(given["x"])}),
                promises.Values("x of 28 bits", lambda given, rng: {"x": 100_003 * given["x"]}),
            ),
        ),
    ),
    means=(
        means.shared_memory(
            4 * 100, advice="The numbers go through the box in shared memory.", size=100
        ),
        means.barriers(
            0,
            2 * 2,
            advice="No barrier in the loop: the two warps wait for each other by the two words.",
            size=100,
        ),
        means.a_thread_each(0.6, size=100),  # both warps
        orders(
            8,
            advice="Without fences nothing orders a word and the box, even if every access is "
            "atomic.",
            size=100,
        ),
        means.reads_each_once(4 * 100, at_most=1.1, size=100),
        strength(
            "fences and atomics of a wider scope than the block's",
            "Both warps are of one block: the scope of the block is enough "
            "(atomicAdd_block, __threadfence_block, cuda::thread_scope_block).",
            "gl",
            "gpu",
            "sys",
        ),
    ),
    hints=(
        "`volatile` makes the compiler read and write each time. It orders nothing: the flag may "
        "be seen before the box.",
        "Four places: wait for a word, and then a fence; a fence, and then set the word.",
        "`while (atomicAdd_block(&full, 0) <= piece) { }` reads a word, and "
        "`__threadfence_block()` comes after it; `atomicExch_block(&full, piece + 1)` sets it.",
    ),
    explanation="""
Each hand-over has its release and its acquire, and there are two of them: "the box is full" and
"the box has been read". The second is easily forgotten, since no value goes with it: it keeps the
next write from overtaking the last read. (PTX would take the volatile words for relaxed accesses,
and the four fences would order them. C++ calls that a race, and so does the emulator here.)
""",
    mutants=(
        mutant(
            "64 pieces and no more",
            kinds.FIRST_BLOCK,
            ("(n + 31) / 32", "min((n + 31) / 32, 64)"),
        ),
        mutant(
            "volatile again",
            kinds.DATA_RACE,
            (
                "while (atomicAdd_block(&full, 0) <= piece)",
                "while (*(volatile int*)&full <= piece)",
            ),
        ),
        mutant(
            "no acquire of the box",
            kinds.DATA_RACE,
            ("            __threadfence_block();  // acquire: no", "            // no"),
        ),
        mutant(
            "no release of the box",
            kinds.DATA_RACE,
            ("                __threadfence_block();  // release: the", "                // the"),
        ),
        mutant(
            "no acquire of the room",
            kinds.DATA_RACE,
            ("            __threadfence_block();  // acquire: warp", "            // warp"),
        ),
        mutant(
            "no release of the room",
            kinds.DATA_RACE,
            ("                __threadfence_block();  // release: all", "                // all"),
        ),
        mutant(
            "does not wait for room",
            kinds.ORDER,
            (
                "while (atomicAdd_block(&empty, 0) < piece)",
                "while (atomicAdd_block(&empty, 0) < 0)",
            ),
        ),
        mutant(
            "one warp does it all",
            kinds.MEANS_MISSING,
            (
                "        } else {\n",
                "            for (int k = lane; k < 32 && 32 * piece + k < n; k += 32)\n"
                "                y[32 * piece + k] = box[k + 1] + box[k];\n"
                "            __syncwarp();\n            if (lane == 0) empty = piece + 1;\n"
                "        } else if (n < 0) {\n",
            ),
            (
                "while (atomicAdd_block(&empty, 0) < piece) {\n            }",
                "",
            ),
        ),
        mutant(
            "fences for the device",
            kinds.MEANS_MISSING,
            ("__threadfence_block();  // release: the", "__threadfence();  //"),
        ),
        mutant(
            "lanes not together",
            kinds.ORDER,
            (
                "__syncwarp();\n            if (lane == 0) {\n"
                "                __threadfence_block();  // release: the",
                "if (lane == 0) {\n                __threadfence_block();  // release: the",
            ),
        ),
    ),
)


def two_programs(rng: np.random.Generator) -> tuple[list, list]:
    """Two threads of up to four steps, on two or three variables."""
    names = ["x", "y", "z"][: int(rng.integers(2, 4))]

    def program(values: range) -> list:
        steps = []
        for value in values:
            name = str(rng.choice(names))
            steps.append(("store", name, value) if rng.random() < 0.5 else ("load", name))
        return steps

    return program(range(1, 1 + rng.integers(0, 5))), program(range(5, 5 + rng.integers(0, 5)))


def every_outcome(first: list, second: list) -> list[tuple]:
    """As the task says, by way of bit masks: whose turn each step is."""
    steps, found = len(first) + len(second), set()
    for mask in range(1 << steps):
        if mask.bit_count() != len(second):
            continue
        threads, memory, loaded = (iter(first), iter(second)), {}, ([], [])
        for step in range(steps):
            who = mask >> step & 1
            kind, name, *value = next(threads[who])
            if kind == "store":
                memory[name] = value[0]
            else:
                loaded[who].append(memory.get(name, 0))
        found.add((*loaded[0], *loaded[1]))
    return sorted(found)


MESSAGE = [("store", "x", 1), ("store", "y", 1)], [("load", "y"), ("load", "x")]
BUFFERS = [("store", "x", 1), ("load", "y")], [("store", "y", 1), ("load", "x")]
LOADS = [("load", "x"), ("store", "y", 1)], [("load", "y"), ("store", "x", 1)]

INTERLEAVINGS = PythonExercise(
    id="04.interleavings",
    title="all that two threads can do in turn",
    task="""
Write the machine on which nothing is ever reordered: two threads take turns, a step at a time.
Which outcomes are possible? What the H200 showed beyond your list, above, it did by reordering.

A step is `("store", "x", 1)` or `("load", "x")`, and every variable begins at 0. An outcome is the
tuple of all that was loaded: the loads of the first thread, then those of the second, each in the
order of its program. Return the outcomes as a sorted list with no repeats.
""",
    source="04_first_kernels/exercises/interleavings.py",
    function="interleavings",
    cases=(
        MESSAGE,
        BUFFERS,
        LOADS,
        ([], []),
        ([("load", "x")], []),
        ([], [("store", "x", 1), ("load", "x")]),
        ([("store", "x", 1), ("load", "x")], [("store", "x", 2), ("load", "x")]),
        ([("store", "x", 1), ("store", "x", 0), ("load", "x")], [("load", "x")]),
        (
            [("store", "a", 3), ("load", "b"), ("load", "c")],
            [("store", "b", 4), ("load", "a"), ("store", "c", 5)],
        ),
        ([("load", "x")] * 7, [("store", "x", k) for k in range(-3, 4)]),
    ),
    reference=lambda first, second: tuple(every_outcome(list(first), list(second))),
    call=lambda function, first, second: tuple(
        tuple(int(value) for value in outcome) for outcome in function(first, second)
    ),
    promises=Cases(two_programs),
    means="Any way to list them is a good one.",
    hints=(
        "Let a function play on from any state: how far each thread is, what the variables hold, "
        "what has been loaded. It calls itself once for each thread that has a step left.",
        "Give each call a memory of its own: `{**memory, name: value}`.",
        "When both are at their end, add the loads to a set; return `sorted(found)`.",
    ),
    explanation="""
The field calls this machine **sequentially consistent**. For message passing it never loads the new
flag and then the old data; for store buffering one of the two loads finds the other's store. A GPU
gives you that machine only where you ask for it.
""",
    mutants=(
        mutant(
            "one order",
            kinds.WRONG,
            (
                "            play(at_first + mine,",
                "            if mine or at_first == len(first):\n"
                "              play(at_first + mine,",
            ),
        ),
        mutant(
            "one memory for all",
            kinds.WRONG,
            ("after = {**memory, name: value[0]}", "memory[name] = value[0]"),
        ),
        mutant("not sorted", kinds.WRONG, ("sorted(found)", "sorted(found, reverse=True)")),
        mutant(
            "in order of time",
            kinds.WRONG,
            ("two = (*two, memory.get(name, 0))", "one = (*one, memory.get(name, 0))"),
        ),
        mutant(
            "x and another",
            kinds.WRONG,
            (
                "kind, name, *value = thread[at]",
                "kind, name, *value = thread[at]\n            name = name == 'x'",
            ),
        ),
        mutant(
            "a 0 is never stored",
            kinds.WRONG,
            ("name: value[0]}", "name: value[0] or memory.get(name, 0)}"),
        ),
        mutant(
            "begins at None",
            kinds.WRONG,
            ("one = (*one, memory.get(name, 0))", "one = (*one, memory.get(name, 9))"),
        ),
    ),
)


def swing_of(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float32)
    return np.array([x.max() - x.min()], np.float32)


def largest_in_the_last_block(rng: np.random.Generator, n: int) -> np.ndarray:
    """Numbers that rise a little; in a long array no earlier block has the largest of them."""
    x = floats(rng, n) + np.float32(0.5) * np.arange(n, dtype=np.float32) / n
    if n > 100_000:
        x[-1] = 70
    return x


def scaled_up(x: np.ndarray) -> np.ndarray:
    return 1e30 * (9 + x)


def with_extremes(given: dict, rng: np.random.Generator) -> dict:
    """The least and the largest lie in the first and the last block."""
    x = given["x"].copy()
    x[0], x[-1] = -50, 70
    return {"x": x}


SWING = Exercise(
    id="04.swing",
    title="the half that is often missing",
    task="""
The block that finds all others counted adds up what they have stored: here it looks for the least
and the largest. The pattern is widely used, and a line of it is often missing, as it is here. On
your GPU it may be right for years. Run the cell, read the verdict, and add the line. It belongs to
the one thread that finds the count: the loads and stores stay as they are.
""",
    source="04_first_kernels/exercises/swing.cu",
    kernel="swing",
    inputs=lambda rng, n: {
        "x": largest_in_the_last_block(rng, n),
        "low": empty(in_pieces(n, BLOCK)),
        "high": empty(in_pieces(n, BLOCK)),
        "swing": empty(1),
        "again": empty(1),  # of the second launch
        "done": np.zeros(1, np.uint32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "low": -np.maximum.reduceat(-given["x"], np.arange(0, len(given["x"]), BLOCK)),
        "high": np.maximum.reduceat(given["x"], np.arange(0, len(given["x"]), BLOCK)),
        "swing": swing_of(given["x"]),
        "again": swing_of(given["x"]),
        "done": np.array([2 * in_pieces(len(given["x"]), BLOCK)], np.uint32),
    },
    launch=lambda n: tuple(
        replace(one_thread_each(n), arguments=("x", "low", "high", result, "done", "n"))
        for result in ("swing", "again")
    ),
    # 129 blocks: one more than the emulator begins at once; as many blocks as a block has threads.
    small=(33_001, 257, 65_536, 2),
    full=FULL,
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(n=(2, 31, 33, 257, 1000, 5003, 32_771, 65_543, 131_101)),
        values=(
            (
                promises.AS_GIVEN,
                promises.Values("x all negative", lambda given, rng: {"x": -9 - given["x"]}),
                promises.Values("x all positive", lambda given, rng: {"x": 9 + given["x"]}),
                promises.Values("extremes at both ends", with_extremes),
                promises.Values("x above 1e30", lambda given, rng: {"x": scaled_up(given["x"])}),
                promises.Values("x below -1e30", lambda given, rng: {"x": -scaled_up(given["x"])}),
            ),
        ),
    ),
    means=(
        means.instructions(
            "fences",
            *FENCES,
            at_most=2 * 2 * 20 + 16,
            advice="Thread 0 counted, so thread 0 needs the fence, and the barrier tells the "
            "others.",
            size=5003,
        ),
        means.instructions(
            "volatile and relaxed loads",
            *("ld.volatile", "ld.relaxed"),
            at_most=0,
            advice="They read anew, and order nothing. In the counts of the litmus test a fence in "
            "the writer only was not enough for them either.",
            size=5003,
        ),
        means.atomics(
            "global",
            at_least=2 * 20,
            at_most=2 * 20,
            advice="One atomic for each block, on the count: the numbers themselves need none.",
            size=5003,
        ),
        means.reads("low", 2 * 4 * 20, advice="The last block reads all the least.", size=5003),
        means.reads("high", 2 * 4 * 20, advice="The last block reads all the largest.", size=5003),
        means.loads_shared_out(size=5003),
    ),
    hints=(
        "The writer's half is there: store, fence, count. What does the reader do between finding "
        "the count and loading?",
        "The barrier orders the threads of this block. It hands on what thread 0 has acquired, and "
        "thread 0 has acquired nothing.",
        "`__threadfence();` behind the atomicAdd.",
    ),
    explanation="""
The atomic is relaxed: finding the count full promises nothing about low and high. Without the
second fence the last block may load what its SM has in the L1 cache from before. (An atomic with
the order acq_rel does both halves at once.)
""",
    mutants=(
        mutant(
            "not mended", kinds.DATA_RACE, ("        __threadfence();  // what", "        // what")
        ),
        mutant(
            "no release", kinds.DATA_RACE, ("        __threadfence();  // who", "        // who")
        ),
        mutant(
            "a block's fence",
            kinds.DATA_RACE,
            ("__threadfence();  // what", "__threadfence_block();  // what"),
        ),
        mutant(
            "too early",
            kinds.DATA_RACE,
            ("        __threadfence();  // what", "        // what"),
            ("        last = ", "        __threadfence();\n        last = "),
        ),
        mutant(
            "another thread's",
            kinds.DATA_RACE,
            ("        __threadfence();  // what", "        // what"),
            (
                "    __syncthreads();\n    if (last) {",
                "    if (threadIdx.x == 64) __threadfence();\n    __syncthreads();\n"
                "    if (last) {",
            ),
        ),
        mutant(
            "all threads fence",
            kinds.MEANS_MISSING,
            ("    if (last) {", "    __threadfence();\n    if (last) {"),
        ),
        mutant(
            "all threads of the last block",
            kinds.MEANS_MISSING,
            ("        __threadfence();  // what", "        // what"),
            ("    if (last) {", "    if (last) {\n        __threadfence();"),
        ),
        mutant(
            "volatile for an acquire",
            kinds.MEANS_MISSING,
            ("        __threadfence();  // what", "        // what"),
            ("fminf(least, low[block])", "fminf(least, *(volatile float*)&low[block])"),
            ("fmaxf(largest, high[block])", "fmaxf(largest, *(volatile float*)&high[block])"),
        ),
        mutant(
            "512 blocks and no more",
            kinds.WRONG,
            ("block < gridDim.x;", "block < min(gridDim.x, 512u);"),
        ),
        mutant(
            "the last by its number",
            kinds.ORDER,
            (
                "last = atomicAdd(done, 1u) % gridDim.x == gridDim.x - 1;",
                "atomicAdd(done, 1u);\n        last = blockIdx.x == gridDim.x - 1;",
            ),
        ),
        mutant("none above 100,000", kinds.WRONG, ("3.402823466e+38f", "1e5f")),
        mutant(
            "a volatile count",
            kinds.DATA_RACE,
            ("__threadfence();  // what", "(void)*(volatile unsigned*)done;  //"),
        ),
    ),
)
