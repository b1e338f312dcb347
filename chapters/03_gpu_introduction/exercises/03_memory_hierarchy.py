"""The exercises of "The memory hierarchy"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import Ask, KernelExercise, NumberExercise, Target


def loads_from(space: str):
    """A count of the elements that all threads together load from ``space``."""
    return lambda counts: sum(
        number for name, number in counts.opcodes.items() if name.startswith(f"ld.{space}")
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

    def change(given, rng: np.random.Generator) -> dict:
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
        ).with_outlier(threads=65_543),
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
