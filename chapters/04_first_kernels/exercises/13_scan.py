"""The exercises of "Scan"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.vectors import BLOCK, FULL, one_thread_each

from .common import orders, padded_rows


def running(x: np.ndarray, length: int) -> np.ndarray:
    """The running maximum within each ``length`` elements."""
    return np.maximum.accumulate(padded_rows(x, length, -np.inf), axis=1).reshape(-1)[: len(x)]


def words(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 2**32, n, dtype=np.uint32)


RUNNING_MAX = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n) - np.float32(5), "out": empty(n), "n": np.int32(n)},
    reference=lambda given: {"out": running(given["x"], 32)},
    launch=one_thread_each,
    small=(1000, 257, 33, 31, 1),
    full=FULL,
    contract=Domain(sizes=domain.lengths(), values=(domain.data("x", *domain.ANY_ORDERED),)),
    method=(
        method.shuffles(
            5 * 1000, 2 * 5 * 1024, advice="Five shuffles, and every lane takes part in each."
        ),
        method.barriers(at_most=0, advice="The lanes of a warp need no barrier of the block."),
        method.one_store_per_result(),
        method.reads_each_once(4 * 1000, at_most=1.5),
        method.balanced_loads(),
    ),
    target=Target(
        label="requests to shared memory",
        measure=lambda counts: counts.shared_load_requests + counts.shared_store_requests,
        at_most=0,
        advice="The result is right. A shuffle needs no shared memory: it reads the other lane's "
        "register.",
        size=1000,
    ),
)


def exclusive(x: np.ndarray) -> np.ndarray:
    """The largest of the elements before, in each block; -inf for its first element."""
    rows = np.maximum.accumulate(padded_rows(x, BLOCK, -np.inf), axis=1)
    shifted = np.concatenate([np.full((len(rows), 1), -np.inf, x.dtype), rows[:, :-1]], axis=1)
    return shifted.reshape(-1)[: len(x)]


EXCLUSIVE_MAX = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n) - np.float32(5), "out": empty(n), "n": np.int32(n)},
    reference=lambda given: {"out": exclusive(given["x"])},
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    contract=Domain(sizes=domain.lengths(), values=(domain.data("x", *domain.ANY_ORDERED),)),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(4 * 1000, at_most=1.5),
        method.balanced_loads(),
        method.shared_memory(
            4 * 7 * 4,
            1024,
            advice="The warps of a block hand on one number each, through shared memory.",
        ),
        method.barriers(1, advice="What other warps have stored is there after a barrier."),
        method.no_redundant_work(),
    ),
)


def segmented(given: Given) -> dict:
    """Running sums that begin anew at heads and at the first element of each block."""
    x = given["x"].astype(np.uint64)
    starts = (given["head"] != 0) | (np.arange(len(x)) % BLOCK == 0)
    upto = np.cumsum(x)
    at = np.maximum.accumulate(np.where(starts, np.arange(len(x)), 0))
    return {"out": (upto - (upto[at] - x[at])).astype(np.uint32)}


def heads(label: str, share: float) -> InputClass:
    return InputClass(
        label,
        lambda given, rng: {"head": (rng.random(len(given["head"])) < share).astype(np.uint32)},
    )


SEGMENTED_SUM = KernelExercise(
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
    contract=Domain(
        sizes=domain.lengths(),
        values=(
            (
                heads("no heads", 0),
                heads("heads alone", 1),
                heads("every second a head", 0.5),
                heads("few heads", 0.004),
            ),
            (
                *domain.data("x", domain.EQUAL, domain.ZEROS, domain.RISING),
                InputClass(
                    "x mostly 0", lambda given, rng: {"x": given["x"] * (given["x"] % 8 == 1)}
                ),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(8 * 1000, at_most=1.5),
        method.balanced_loads(),
        method.shuffles(
            5 * 1000, advice="The warp is scanned by shuffles, in five steps for all lanes."
        ),
        method.barriers(1, advice="What other warps have stored is there after a barrier."),
        method.no_redundant_work(),
    ),
)


TILE = 64


def chained(rng: np.random.Generator, n: int) -> dict:
    tiles = ceil_div(n, TILE)
    return {
        "x": words(rng, n),
        "upto": empty(tiles, np.uint32),
        "ready": np.zeros(tiles, np.uint32),
        "ticket": np.zeros(1, np.uint32),
        "n": np.int32(n),
    }


def ends(given: Given) -> dict:
    """The sums up to the end of each tile; all tickets drawn and all flags set."""
    sums = padded_rows(given["x"], TILE, 0).astype(np.uint64).sum(axis=1)
    return {
        "upto": np.cumsum(sums).astype(np.uint32),
        "ready": np.ones(len(sums), np.uint32),
        "ticket": np.array([len(sums)], np.uint32),
    }


FIND_THE_MISSING_RELEASE = KernelExercise(
    source="04_first_kernels/exercises/chained_sums.cu",
    kernel="chained_sums",
    inputs=chained,
    reference=ends,
    launch=lambda n: Launch((ceil_div(n, TILE),), (TILE,)),
    small=(1000, 65, 64, 1),
    full=1 << 20,
    contract=Domain(
        sizes=domain.lengths(most=1100),
        values=(domain.data("x", domain.EQUAL, domain.ZEROS, domain.RISING),),
    ),
    bug=kinds.DATA_RACE,
    method=(
        method.reads(
            "upto", 4 * 15, advice="Each tile reads the sum that the tile before has stored."
        ),
        Requirement(
            "bytes stored to global memory without an atomic",
            lambda stats: stats.counts.global_store_bytes,
            4 * 16,
            advice="Each tile stores its sum by a plain store, as it stood there.",
        ),
        Requirement(
            "bytes loaded from global memory without an atomic",
            lambda stats: stats.counts.global_load_bytes,
            4 * (1000 + 15),
            advice="Each tile reads the sum before it by a plain load, as it stood there.",
        ),
        method.reads(
            "x", 4 * 1000, 2 * 4 * 1000, advice="A tile adds up its own elements, and no others."
        ),
        orders(
            16 + 15,
            advice="Leave the loads and stores as they are. A line is missing that orders them: a "
            "release in all 16 tiles, beside the acquire in 15.",
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
        "ticket": np.array([ceil_div(len(x), BLOCK)], np.uint32),
    }


DRAW_A_TICKET = KernelExercise(
    inputs=with_offset,
    reference=less_the_first_tile,
    launch=lambda n: Launch((ceil_div(n, BLOCK),), (BLOCK,), 204_800),
    small=(66_001, 1000, 257, 256),
    budget=15_000,
    full=1 << 20,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(least=256, most=5000).with_outlier(n=66_001),
        values=(domain.data("x", domain.EQUAL, domain.ZEROS, domain.RISING),),
    ),
    method=(
        method.reads("offset", 4 * 257, advice="Each tile but the first reads the offset."),
        method.atomics("global", at_least=258, at_most=560, advice="Each tile draws one ticket."),
        orders(
            257,
            advice="The fences that are given stay: that the offset is volatile orders nothing.",
        ),
        method.one_store_per_result(1.1),
    ),
)


def kept_elements(rng: np.random.Generator, n: int) -> dict:
    x = rng.integers(-99, 100, n).astype(np.int32)
    x[rng.random(n) < 0.5] = 0
    return {"x": x, "first": firsts(x), "out": np.full(n, -12345, np.int32), "n": np.int32(n)}


def firsts(x: np.ndarray) -> np.ndarray:
    """How many elements that are not zero stand before each block's."""
    counts = (padded_rows(x, BLOCK, 0) != 0).sum(axis=1)
    return (np.cumsum(counts) - counts).astype(np.int32)


def packed(given: Given) -> dict:
    out = given["out"].copy()
    kept = given["x"][given["x"] != 0]
    out[: len(kept)] = kept
    return {"out": out}


def elements(label: str, change) -> InputClass:
    def changed(given: Given, rng: np.random.Generator) -> Given:
        x = change(given["x"], rng).astype(np.int32)
        return {"x": x, "first": firsts(x)}

    return InputClass(label, changed)


KEEP_IN_ORDER = KernelExercise(
    inputs=kept_elements,
    reference=packed,
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    exact=True,
    contract=Domain(
        sizes=domain.lengths().with_outlier(n=140_001),  # more than 65,536 of them are kept
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
    method=(
        method.atomics("global", at_most=0, advice="Without atomics: they would lose the order."),
        method.atomics("shared", at_most=0, advice="Without atomics: they would lose the order."),
        method.one_store_per_result(),
        method.reads_each_once(8 * 1000, at_most=1.2),
        method.balanced_loads(),
        method.barriers(1, advice="What other warps have stored is there after a barrier."),
        method.no_redundant_work(),
    ),
)


AT_THE_ENDS: domain.ArrayChange = (
    "at the ends of signed and unsigned numbers",
    lambda x, rng: rng.choice([0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1], x.shape),
)

SPLIT_BY_BIT = KernelExercise(
    inputs=lambda rng, n: {"keys": words(rng, n), "out": empty(n, np.uint32), **int32s(bit=5, n=n)},
    reference=lambda given: {"out": split(given["keys"], int(given["bit"]))},
    launch=one_thread_each,
    small=(1000, 257, 256, 33, 1),
    full=FULL,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(),
        values=(
            domain.scalars("bit", *range(32)),
            domain.data(
                "keys", domain.EQUAL, domain.ZEROS, domain.RISING, domain.FALLING, AT_THE_ENDS
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(4 * 1000, at_most=1.5),
        method.balanced_loads(),
        method.balanced_work(),
        method.atomics("shared", at_most=0, advice="Without atomics: they would lose the order."),
        method.atomics("global", at_most=0, advice="Without atomics: they would lose the order."),
        method.barriers(1, advice="What other warps have stored is there after a barrier."),
        method.no_redundant_work(),
    ),
)


def split(keys: np.ndarray, bit: int) -> np.ndarray:
    """Each block's keys in a stable order of the one bit."""
    order = [
        start + np.argsort(keys[start : start + BLOCK] >> np.uint32(bit) & 1, kind="stable")
        for start in range(0, len(keys), BLOCK)
    ]
    return keys[np.concatenate(order)]
