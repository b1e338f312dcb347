"""The exercises of "Memory order"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import BLOCK, FULL, one_thread_each
from course_utils.exercises.authoring.worked import Worked

from .common import orders

ACCESSES = "ld", "st", "atom", "red"
FENCES = "membar.", "fence."  # what __threadfence() and its like are in PTX


def whole_numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(-1000, 1000, n, dtype=np.int32)


def in_pieces(n: int, length: int) -> int:
    return ceil_div(n, length)


def strength(
    label: str,
    advice: str,
    *words: str,
    at_most: int = 0,
    of: tuple[str, ...] = (*ACCESSES, "fence", "membar"),
) -> Requirement:
    """Instructions on memory that are stronger than need be: those ``of`` these kinds with one of
    ``words`` in the name."""

    def measure(stats: LaunchStats) -> int:
        return sum(
            n
            for name, n in stats.counts.opcodes.items()
            if any(word in name.split(".") for word in words) and name.split(".")[0] in of
        )

    return Requirement(label, measure, at_most=at_most, advice=advice, size=200)


RELAY = KernelExercise(
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
    worked=Worked(whole=("x",)),
    full=256,
    contract=Domain(
        sizes=domain.shapes(n=(1, 31, 33, 97, 200, 255, 256)),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("x up to 46,000", lambda given, rng: {"x": 46 * given["x"] + 1}),
                domain.InputClass("x all even", lambda given, rng: {"x": given["x"] // 2 * 2}),
                domain.InputClass("x all odd", lambda given, rng: {"x": given["x"] // 2 * 2 + 1}),
            ),
        ),
    ),
    method=(
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
            "No thread compares the order of two different words here: memory_order_seq_cst, and "
            "its fence, is more than a hand-over needs.",
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
        method.instructions(
            "counts that acquire",
            *(f"{kind}.add.{order}" for kind in ("atom", "red") for order in ("acquire",)),
            at_most=0,
            advice="A count takes nothing over, so memory_order_relaxed is enough for it.",
            size=200,
        ),
        method.instructions(
            "fences",
            *FENCES,
            at_most=2,
            advice="An order of the flag's own store and load is enough; fences are not needed.",
            size=200,
        ),
        Requirement(
            "even numbers counted by atomics, for each element",
            lambda stats: (
                sum(
                    n
                    for name, n in stats.counts.opcodes.items()
                    if name.startswith(("atom.", "red."))
                )
                / 200
            ),
            at_least=0.9,
            advice="Each thread counts its own number with an atomic, as it did before.",
            size=200,
        ),
        method.reads("box", 4 * 200, advice="Block 1 takes its numbers out of the box.", size=200),
    ),
)


CARRY = KernelExercise(
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
    worked=Worked(whole=("x",)),
    full=128 * 132,
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(n=(1, 31, 127, 128, 129, 257, 640, 1000, 2049, 4099)).with_outlier(
            n=12_801
        ),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("x all 0", lambda given, rng: {"x": 0 * given["x"]}),
                domain.InputClass(
                    "x all negative", lambda given, rng: {"x": -1 - np.abs(given["x"])}
                ),
                domain.InputClass(
                    "sums of x beyond 24 bits", lambda given, rng: {"x": 100_003 + given["x"]}
                ),
            ),
        ),
    ),
    method=(
        method.instructions(
            "fences",
            *FENCES,
            at_most=2 * 8,
            advice="One thread of a block sets the flag and one waits for a flag. It is the same "
            "one, and it needs one fence for each.",
            size=1000,
        ),
        method.reads(
            "total", 4 * 7, advice="The total of the block before is read from memory.", size=1000
        ),
        method.reads(
            "x", 4 * 1000, 1.2 * 4 * 1000, advice="Each element of x is read once.", size=1000
        ),
        orders(
            8 + 7,
            advice="Each block but the first finds a flag and takes a total, so it needs an "
            "acquire; each hands its own on, so it needs a release.",
            size=1000,
        ),
    ),
)


TWO_WARPS = KernelExercise(
    inputs=lambda rng, n: {"x": whole_numbers(rng, n), "y": empty(n, np.int32), "n": np.int32(n)},
    reference=lambda given: {"y": given["x"] + np.append(np.int32(0), given["x"][:-1])},
    launch=lambda n: Launch((1,), (64,)),
    small=(100, 65, 32, 1),
    worked=Worked(whole=("x",)),
    full=100_000,
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(n=(1, 2, 31, 32, 33, 64, 65, 127, 161, 200)).with_outlier(n=4133),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("x all equal", lambda given, rng: {"x": 7 + 0 * given["x"]}),
                domain.InputClass("x rising", lambda given, rng: {"x": np.sort(given["x"])}),
                domain.InputClass("x of 28 bits", lambda given, rng: {"x": 100_003 * given["x"]}),
            ),
        ),
    ),
    method=(
        method.shared_memory(
            4 * 100, advice="The numbers go through the box in shared memory.", size=100
        ),
        method.barriers(
            0,
            2 * 2,
            advice="No barrier in the loop: the two warps wait for each other by the two words.",
            size=100,
        ),
        method.a_thread_each(0.6, size=100),  # both warps
        orders(
            8,
            advice="Without fences nothing orders a word and the box, even if every access is "
            "atomic.",
            size=100,
        ),
        method.reads_each_once(4 * 100, at_most=1.1, size=100),
        strength(
            "fences and atomics of a wider scope than the block's",
            "Both warps are of one block: the scope of the block is enough "
            "(atomicAdd_block, __threadfence_block, cuda::thread_scope_block).",
            "gl",
            "gpu",
            "sys",
        ),
    ),
)


BARRIER_PAIR = KernelExercise(
    inputs=TWO_WARPS.inputs,
    reference=TWO_WARPS.reference,
    launch=TWO_WARPS.launch,
    small=TWO_WARPS.small,
    worked=TWO_WARPS.worked,
    full=TWO_WARPS.full,
    contract=TWO_WARPS.contract,
    method=(
        method.shared_memory(
            4 * 100, advice="The numbers go through the box in shared memory.", size=100
        ),
        method.barriers(
            0,
            2 * 2,
            advice="No barrier of the whole block in the loop: the two warps meet at `full` and "
            "`empty`.",
            size=100,
        ),
        method.instructions(
            "arrivals at barriers that are objects",
            "mbarrier.arrive",
            at_least=4 * 32 + 3 * 32,
            advice="Each piece is handed over at `full`, and the box is handed back at `empty`: by "
            "`arrive` on one side and `arrive_and_wait` on the other.",
            size=100,
        ),
        method.a_thread_each(0.6, size=100),  # both warps
        method.reads_each_once(4 * 100, at_most=1.1, size=100),
    ),
)


def two_programs(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """Two threads of up to four steps, on two or three variables."""
    names = ["x", "y", "z"][: int(rng.integers(2, 4))]

    def program(values: range) -> list[Any]:
        steps = []
        for value in values:
            name = str(rng.choice(names))
            steps.append(("store", name, value) if rng.random() < 0.5 else ("load", name))
        return steps

    return program(range(1, 1 + rng.integers(0, 5))), program(range(5, 5 + rng.integers(0, 5)))


def every_outcome(first: list[Any], second: list[Any]) -> list[tuple[Any, ...]]:
    """As the task says, by way of bit masks: whose turn each step is."""
    steps, found = len(first) + len(second), set()
    for mask in range(1 << steps):
        if mask.bit_count() != len(second):
            continue
        threads, memory = (iter(first), iter(second)), {}
        loaded: tuple[list[Any], list[Any]] = ([], [])
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


def played(first: list[Any], second: list[Any], turns: str) -> tuple[int, ...]:
    """As the task says, step by step."""
    memory: dict[str, int] = {}
    threads: dict[str, tuple[list[Any], list[Any]]] = {
        "0": (list(first), []),
        "1": (list(second), []),
    }
    for turn in turns:
        left, loaded = threads[turn]
        step = left.pop(0)
        if step[0] == "store":
            memory[step[1]] = step[2]
        else:
            loaded.append(memory.get(step[1], 0))
    return (*threads["0"][1], *threads["1"][1])


def any_order(rng: np.random.Generator) -> tuple[list[Any], list[Any], str]:
    """Two threads, and one order of their steps."""
    first, second = two_programs(rng)
    turns = rng.permutation(list("0" * len(first) + "1" * len(second)))
    return first, second, "".join(turns)


ONE_ORDER = PythonExercise(
    cases=(
        (*MESSAGE, "0110"),
        (*MESSAGE, "0011"),
        (*BUFFERS, "0101"),
        (*LOADS, "1100"),
        ([], [("load", "x")], "1"),
        ([("store", "x", 1), ("load", "x")], [("store", "x", 2), ("load", "x")], "0110"),
        ([], [], ""),
    ),
    reference=played,
    contract=DrawnCases(any_order),
)

INTERLEAVINGS = PythonExercise(
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
        ([("store", "x", 1)], [("load", "x")] * 5),
        ([("load", "x")] * 7, [("store", "x", k) for k in range(-3, 4)]),
    ),
    reference=lambda first, second: tuple(every_outcome(list(first), list(second))),
    call=lambda function, first, second: tuple(
        tuple(int(value) for value in outcome) for outcome in function(first, second)
    ),
    contract=DrawnCases(two_programs),
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


def with_extremes(given: Given, rng: np.random.Generator) -> Given:
    """The least and the largest lie in the first and the last block."""
    x = given["x"].copy()
    x[0], x[-1] = -50, 70
    return {"x": x}


SWING = KernelExercise(
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
    worked=Worked(whole=("x",)),
    full=FULL,
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(n=(2, 31, 33, 257, 1000, 5003, 32_771, 65_543, 131_101)),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("x all negative", lambda given, rng: {"x": -9 - given["x"]}),
                domain.InputClass("x all positive", lambda given, rng: {"x": 9 + given["x"]}),
                domain.InputClass("extremes at both ends", with_extremes),
                domain.InputClass("x above 1e30", lambda given, rng: {"x": scaled_up(given["x"])}),
                domain.InputClass(
                    "x below -1e30", lambda given, rng: {"x": -scaled_up(given["x"])}
                ),
            ),
        ),
    ),
    method=(
        method.instructions(
            "fences",
            *FENCES,
            at_most=2 * 2 * 20 + 16,
            advice="Thread 0 counted, so thread 0 needs the fence, and the barrier tells the "
            "others.",
            size=5003,
        ),
        method.instructions(
            "volatile and relaxed loads",
            *("ld.volatile", "ld.relaxed"),
            at_most=0,
            advice="They read anew, and order nothing. In the counts of the litmus test a fence in "
            "the writer only was not enough for them either.",
            size=5003,
        ),
        method.atomics(
            "global",
            at_least=2 * 20,
            at_most=2 * 20,
            advice="One atomic for each block, on the count: the numbers themselves need none.",
            size=5003,
        ),
        method.reads("low", 2 * 4 * 20, advice="The last block reads all the least.", size=5003),
        method.reads("high", 2 * 4 * 20, advice="The last block reads all the largest.", size=5003),
        method.balanced_loads(size=5003),
    ),
)
