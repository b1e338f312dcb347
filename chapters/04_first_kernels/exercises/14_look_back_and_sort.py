"""The exercises of "Look-back and sorting"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import BLOCK, FULL, one_thread_each
from course_utils.exercises.authoring.worked import Worked

from .common import orders, padded_rows, words

Word = tuple[str, int] | None  # an aggregate "A", a prefix "P", or nothing yet


def sum_before(words: list[Word]) -> int | None:
    """By the nearest prefix: it, and all aggregates after it, if they are there."""
    prefixes = [i for i, word in enumerate(words) if word and word[0] == "P"]
    if not prefixes:
        return None
    needed = words[prefixes[-1] :]
    return None if None in needed else sum(word[1] for word in needed if word)


def published_words(rng: np.random.Generator) -> tuple[list[Word]]:
    """Words of one to forty tiles, with more or fewer gaps and prefixes. The first has no
    aggregate."""
    gaps, prefixes = rng.choice([0.0, 0.05, 0.3]), rng.choice([0.0, 0.1, 0.5])
    words: list[Word] = []
    for tile in range(int(rng.integers(1, 41))):
        kind = "P" if tile == 0 or rng.random() < prefixes else "A"
        words.append(None if rng.random() < gaps else (kind, int(rng.integers(0, 100))))
    return (words,)


LOOKED_BACK = PythonExercise(
    cases=(
        ([("P", 5), ("P", 7), ("A", 7), ("A", 1)],),
        ([("P", 5), ("P", 7), ("A", 7), None],),
        ([("P", 5), None, ("P", 14), ("A", 1)],),
        ([None, ("A", 2), ("A", 7)],),
        ([("P", 5)],),
        ([None],),
        ([("P", 0), ("A", 0)],),
    ),
    reference=sum_before,
    contract=DrawnCases(published_words),
)


TILE = 64


def chained(rng: np.random.Generator, n: int) -> Given:
    tiles = ceil_div(n, TILE)
    return {
        "x": words(rng, n),
        "upto": empty(tiles, np.uint32),
        "ready": np.zeros(tiles, np.uint32),
        "ticket": np.zeros(1, np.uint32),
        "n": np.int32(n),
    }


def ends(given: Given) -> dict[str, np.ndarray]:
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
    worked=Worked(whole=("x",)),
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


def with_offset(rng: np.random.Generator, n: int) -> Given:
    return {
        "x": words(rng, n),
        "out": empty(n, np.uint32),
        "offset": empty(1, np.uint32),
        "ready": np.zeros(1, np.uint32),
        "ticket": np.zeros(1, np.uint32),
        "n": np.int32(n),
    }


def less_the_first_tile(given: Given) -> dict[str, np.ndarray]:
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
    worked=Worked(whole=("x",), why_not="a tile has 256 elements"),
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
            advice="The release and the acquire that are given stay: that the offset is volatile "
            "orders nothing.",
        ),
        method.one_store_per_result(1.1),
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
    worked=Worked(size=6, values={"keys": (5, 2, 7, 4, 1, 6), "bit": 0}),
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
        method.barriers(1, advice="The stores of other warps are visible after a barrier."),
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
