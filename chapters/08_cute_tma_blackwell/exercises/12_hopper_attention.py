"""The exercises of "Attention on Hopper"."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

# --- Weights as factors ---


def any_weight(rng: np.random.Generator) -> tuple[Any, ...]:
    return int(rng.integers(0, 64)), int(rng.integers(0, 256))


def by_search(row: int, key: int) -> tuple[Any, ...]:
    """Among all sums of all threads, packed two by two."""
    for thread in range(128):
        for number in range(128):
            of_row = thread // 32 * 16 + thread % 32 // 4 + (8 if number & 2 else 0)
            if (of_row, (number >> 2) * 8 + thread % 4 * 2 + (number & 1)) == (row, key):
                register, half = divmod(number, 2)
                return (thread, *divmod(register, 4), half)
    raise AssertionError("every weight is somewhere")


WEIGHT_REGISTER = PythonExercise(
    cases=((0, 0), (0, 1), (0, 2), (0, 8), (0, 16), (1, 0), (8, 0), (16, 0), (63, 255), (29, 77)),
    reference=by_search,
    contract=DrawnCases(any_weight, 24),
)

# --- The second product ---


def whole_numbers(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    m, n = size

    def few(rows: int) -> np.ndarray:
        return rng.integers(-2, 3, (rows, 64)).astype(bfloat16)

    return {"Q": few(m), "K": few(n), "V": few(n), "O": empty((m, 64)), **int32s(M=m, N=n)}


def twice_multiplied(given: Given) -> dict[str, np.ndarray]:
    q, k, v = (given[name].astype(np.float64) for name in "QKV")
    return {"O": q @ k.T @ v}


WEIGHTS_BY_VALUES = KernelExercise(
    arch="sm_90a",
    inputs=whole_numbers,
    maps={
        "Q": {"box": (64, 64), "swizzle": 128},
        "K": {"box": (32, 64), "swizzle": 128},
        "V": {"box": (32, 64), "swizzle": 128},
    },
    reference=twice_multiplied,
    launch=lambda size: Launch((ceil_div(size[0], 64),), (128,)),
    small=((70, 40), (65, 32), (1, 1)),
    worked=Worked(whole=("Q", "K", "V"), why_not="a row of an operand has 64 elements"),
    full=(8192, 8192),
    exact=True,
    contract=Domain(sizes=domain.shapes(M=(1, 64, 65), N=(1, 17, 33, 70)).with_outlier(N=167)),
    method=(
        method.instructions(
            "wgmma, once for each thread",
            "wgmma.mma_async",
            at_least=128 * 2 * 2 * 6,
            at_most=128 * 2 * 2 * 9,
            advice="Two products of 16 keys for each tile, beside the four that are there.",
            size=(70, 40),
        ),
        method.no_redundant_work(2.0, size=(70, 40)),
        Requirement(
            "bytes that threads write to shared memory",
            lambda stats: stats.counts.shared_store_bytes,
            at_most=64,
            advice="The sums are a first factor as they lie: two of them rounded in a register.",
            size=(70, 40),
        ),
    ),
)

# --- Rows of four threads ---


def scores(rng: np.random.Generator, m: int) -> Given:
    return {"S": floats(rng, (m, 32)) * np.float32(3), "W": empty((m, 32)), "M": np.int32(m)}


def weights_of(given: Given) -> dict[str, np.ndarray]:
    s = given["S"].astype(np.float64)
    powers = np.exp(s - s.max(axis=1, keepdims=True))
    return {"W": powers / powers.sum(axis=1, keepdims=True)}


ROWS_OF_FOUR = KernelExercise(
    inputs=scores,
    reference=weights_of,
    launch=lambda m: Launch((ceil_div(m, 64),), (128,)),
    small=(70, 64, 1),
    worked=Worked(why_not="a row has 32 elements"),
    full=1 << 20,
    reduction=lambda m: 32,
    contract=Domain(
        sizes=domain.lengths("M", most=200).with_outlier(M=1031),
        values=(domain.data("S", *domain.ANY_FINITE, domain.NEAR_LOWEST, domain.AT_LOWEST),),
    ),
    method=(
        method.shuffles(
            at_least=1,
            at_most=2 * 8 * 128 * 2,
            advice="Two steps for the largest score and two for the sum, of each of two rows.",
            size=70,
        ),
        method.no_shared_memory("Four lanes of one warp share a row: shuffles suffice.", size=70),
        Requirement(
            "elements that threads load",
            lambda stats: stats.counts.global_load_bytes // 4,
            at_most=1.5 * 70 * 32,
            advice="The scores are in registers already: exchange them there.",
            size=70,
        ),
    ),
)

# --- Turns ---


def halved(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    n, rounds = size
    return {"x": floats(rng, n), "a": floats(rng, n), "y": empty(n), **int32s(n=n, rounds=rounds)}


def after_rounds(given: Given) -> dict[str, np.ndarray]:
    y = given["x"].astype(np.float64)
    for _ in range(given["rounds"]):
        y = y / 2 + given["a"]
    return {"y": y}


STUCK_TURNS = KernelExercise(
    inputs=halved,
    reference=after_rounds,
    launch=lambda size: Launch((ceil_div(size[0], 128),), (256,)),
    small=((130, 3), (127, 2), (1, 1)),
    worked=Worked(size=(4, 2)),
    full=(1 << 20, 16),
    reduction=lambda size: 16,
    bug=kinds.DEADLOCK,
    contract=Domain(
        sizes=domain.shapes(n=(1, 127, 128, 129, 300), rounds=(0, 1, 2, 5)).with_outlier(rounds=33),
        values=(
            (
                *domain.data("x a", *domain.ORDINARY),
                *domain.data("x", domain.LARGE, domain.SOME_INFINITE, domain.SOME_NAN)[1:],
            ),
        ),
    ),
    method=(
        method.instructions(
            "barriers that threads arrive at without waiting",
            "barrier.arrive",
            "bar.arrive",
            at_least=2 * 128 * 5,  # the last turn may be waited for by another barrier
            advice="A group that passes the turn goes on: barrier.arrive, not a barrier for all.",
            size=(130, 3),
        ),
        Requirement(
            "bytes that threads write to shared memory",
            lambda stats: stats.counts.shared_store_bytes,
            at_least=2 * 128 * 4 * 5,  # a value for each turn that a group passes on
            advice="Warpgroup 0 halves, warpgroup 1 increases, and each hands the value on.",
            size=(130, 3),
        ),
    ),
)

# --- Tiles under a mask ---


def any_block(rng: np.random.Generator) -> tuple[Any, ...]:
    queries, keys = int(rng.choice((1, 16, 64, 128, 192))), int(rng.choice((1, 16, 64, 80, 128)))
    tokens = int(rng.integers(1, 700))
    return int(rng.integers(0, tokens)), queries, keys, tokens


def by_marking(first_query: int, BM: int, BN: int, tokens: int) -> tuple[Any, ...]:
    """Each query and key of each tile."""
    queries = np.arange(first_query, min(first_query + BM, tokens))[:, None]
    seen = masked = 0
    for first in range(0, tokens, BN):
        keys = np.arange(first, first + BN)
        sees = (keys <= queries) & (keys < tokens)
        seen += bool(sees.any())
        masked += bool(sees.any() and not sees.all())
    return seen, masked


CAUSAL_TILES = PythonExercise(
    cases=(
        (0, 128, 128, 8192),
        (128, 128, 128, 8192),
        (8064, 128, 128, 8192),
        (0, 128, 64, 8192),
        (128, 128, 80, 8192),
        (0, 128, 128, 1),
        (128, 128, 128, 200),
        (384, 128, 64, 401),
        (63, 1, 64, 100),
        (64, 1, 64, 100),
        (63, 128, 64, 200),
        (8191, 128, 128, 8192),
    ),
    reference=by_marking,
    contract=DrawnCases(any_block, 24),
)
