"""The exercises of "The memory hierarchy"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import Ask, KernelExercise, NumberExercise, Target
from course_utils.exercises.authoring.worked import Worked


def loads_from(space: str) -> Any:
    """A count of the elements that all threads together load from ``space``."""
    return lambda counts: sum(
        number for name, number in counts.opcodes.items() if name.startswith(f"ld.{space}")
    )


LAUNCH = (777, 7, 128)  # elements, blocks and threads of each, in the page's report


def stored_to(space: str) -> Any:
    """A count of the elements that all threads together store to ``space``."""
    return lambda counts: sum(
        number for name, number in counts.opcodes.items() if name.startswith(f"st.{space}")
    )


def blocks_of(counts: Counts) -> int:
    """Each block stores one number beside its elements."""
    return stored_to("global")(counts) - loads_from("global")(counts)


FIND_THE_LAUNCH = NumberExercise(
    source="03_gpu_introduction/exercises/centre.cu",
    kernel="centre",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]),
        "y": empty(size[0]),
        "first": empty(size[1]),
        **int32s(n=size[0]),
    },
    launch=lambda size: Launch((size[1],), (size[2],)),
    asks={
        "elements": Ask(
            "elements, n",
            LAUNCH,
            loads_from("global"),
            {
                784: "Those stores are of two arrays: which one has more than the elements?",
                896: "Every thread stores into the tile, also one without an element.",
                1561: "The tile is read by two expressions, and one more thread of each block.",
            },
        ),
        "blocks": Ask(
            "blocks",
            LAUNCH,
            blocks_of,
            {
                784: "That is all stores to global memory, of y and of first.",
                4: "Blocks of 256 would make 1024 threads, and the tile got 896 numbers.",
                28: "Those are warps of 32. A block may have several.",
            },
        ),
        "threads_per_block": Ask(
            "threads of each block",
            LAUNCH,
            lambda counts: stored_to("shared")(counts) / blocks_of(counts),
            {
                896: "That is all blocks together.",
                223: "1,561 are loads. How many threads store into the tile?",
                111: "777 / 7: the elements. The blocks have more threads than elements.",
                256: "7 blocks of 256 threads would store 1792 numbers into their tiles.",
            },
        ),
        "without_an_element": Ask(
            "threads without an element",
            LAUNCH,
            lambda counts: stored_to("shared")(counts) - loads_from("global")(counts),
            {
                112: "784 counts a store of each block that isn't an element's.",
                0: "More threads stored into the tile than loaded from x.",
                7: "Those are the blocks.",
            },
        ),
    },
)


SOFTEN = NumberExercise(
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
)


def mostly(kind: int) -> domain.InputClass:
    """One kind is so frequent that a counter of a byte overflows."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        values = given["values"]
        return {"values": np.where(rng.random(values.shape) < 0.1, values, kind)}

    return domain.InputClass(f"values mostly {kind}", change)


def only_kinds(one: int, other: int) -> domain.InputClass:
    """No other kinds occur among the values."""
    return domain.InputClass(
        f"values of {one} and {other} only",
        lambda given, rng: {"values": rng.choice((one, other), given["values"].shape)},
    )


COUNTED = (4, 20 * 128)  # steps and threads, where the requirements are counted
VALUES = COUNTED[0] * COUNTED[1]


def kinds_of_values(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Every kind as often as any other; of more than a thousand values, most are of one kind."""
    values = rng.integers(0, 8, size, dtype=np.int32)
    if size[0] > 1000:
        values = np.where(rng.random(size) < 0.1, values, rng.integers(0, 8, size[1]))
    return values.astype(np.int32)


COUNT_KINDS = KernelExercise(
    inputs=lambda rng, size: {
        "values": kinds_of_values(rng, size),
        "counts": empty((8, size[1]), np.int32),
        **int32s(steps=size[0], threads=size[1]),
    },
    reference=lambda given: {
        "counts": np.stack([(given["values"] == kind).sum(axis=0) for kind in range(8)])
    },
    launch=lambda size: Launch((ceil_div(size[1], 128),), (128,)),
    small=((9, 300), (10, 128), (5, 1), (1501, 2), (1, 1)),  # 1501: past ten bits
    budget=200_000,
    axes={"counts": ("kind", "thread")},
    full=(1000, 1 << 17),
    contract=Domain(
        sizes=domain.shapes(
            steps=(1, 2, 7, 16, 33, 131, 301), threads=(1, 31, 33, 127, 129, 257, 769)
        )
        .with_outlier(threads=65_543)
        .limited_in("steps"),
        values=(
            (
                domain.AS_GIVEN,
                *(mostly(kind) for kind in range(8)),
                only_kinds(0, 7),
                only_kinds(1, 6),
            ),
        ),
    ),
    method=(
        method.no_shared_memory("Each thread has eight counters of its own: registers hold them."),
        method.atomics(
            "global",
            at_most=0,
            advice="A register needs no atomics: no other thread can reach it.",
            size=COUNTED,
        ),
        Requirement(
            "loads from global memory for each value",
            lambda stats: stats.counts.global_load_bytes / 4 / VALUES,
            at_most=1.5,
            advice="Each value is read once, and the counters stay in registers: neither the "
            "values nor the counts are read again.",
            size=COUNTED,
        ),
        method.one_store_per_result(),
        method.no_redundant_work(size=COUNTED),
        method.balanced_work(size=COUNTED),
    ),
    target=Target(
        label="loads from local memory for each value",
        measure=lambda counts: counts.local_load_bytes / 4 / VALUES,
        at_most=0.0,
        advice="Some index into count is still unknown to the compiler. A loop over the eight "
        "kinds has indices that are known: it is unrolled.",
        size=COUNTED,
    ),
)


def last_four(given: Given) -> dict[str, np.ndarray]:
    """Sums of four values, the latest being each step's."""
    x = given["x"].astype(np.float64)
    padded = np.concatenate([np.zeros((3, x.shape[1])), x])
    return {"y": np.sum([padded[k : k + len(x)] for k in range(4)], axis=0)}


WALKED = (40, 5 * 128)  # steps and threads, where the requirements are counted


MOVING_SUM = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        **int32s(steps=size[0], threads=size[1]),
    },
    reference=last_four,
    worked=Worked(size=(5, 3)),
    launch=lambda size: Launch((ceil_div(size[1], 128),), (128,)),
    small=((9, 300), (5, 128), (3, 1), (1, 1)),
    full=(1000, 1 << 17),
    reduction=lambda size: 4,
    budget=200_000,
    axes={"y": ("step", "thread")},
    contract=Domain(
        sizes=domain.shapes(
            steps=(1, 2, 3, 4, 5, 16, 131), threads=(1, 31, 33, 127, 129, 257)
        ).with_outlier(threads=65_543),
        values=(domain.data("x", *domain.ORDINARY, *domain.STRANGE),),
    ),
    method=(
        Requirement(
            "loads from global memory for each value",
            lambda stats: stats.counts.global_load_bytes / 4 / np.prod(WALKED),
            at_most=1.0,
            advice="The three values before this one have been loaded already: keep them in "
            "variables from one iteration to the next.",
            size=WALKED,
        ),
        method.no_local_memory(
            "An index that changes as the loop runs puts an array into local memory. Three "
            "variables, each with its name, are in registers.",
            size=WALKED,
        ),
        method.no_shared_memory("Each thread keeps its own three values: registers hold them."),
        method.one_store_per_result(),
        method.balanced_work(size=WALKED),
    ),
)
