"""The exercises of "Scan"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.launches import empty, floats
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.vectors import BLOCK, FULL, one_thread_each
from course_utils.exercises.authoring.worked import Worked

from .common import BY_SHUFFLES, padded_rows, words


def running(x: np.ndarray, length: int) -> np.ndarray:
    """The running maximum within each ``length`` elements."""
    return np.maximum.accumulate(padded_rows(x, length, -np.inf), axis=1).reshape(-1)[: len(x)]


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
    target=BY_SHUFFLES,
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
        method.barriers(1, advice="The stores of other warps are visible after a barrier."),
        method.no_redundant_work(),
    ),
)


def segmented(given: Given) -> dict[str, np.ndarray]:
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
    worked=Worked(size=6, values={"x": (3, 1, 4, 1, 5, 9), "head": (0, 0, 1, 0, 0, 1)}),
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
        method.barriers(1, advice="The stores of other warps are visible after a barrier."),
        method.no_redundant_work(),
    ),
)


def kept_elements(rng: np.random.Generator, n: int) -> Given:
    x = rng.integers(-99, 100, n).astype(np.int32)
    x[rng.random(n) < 0.5] = 0
    return {"x": x, "first": firsts(x), "out": np.full(n, -12345, np.int32), "n": np.int32(n)}


def firsts(x: np.ndarray) -> np.ndarray:
    """How many elements that are not zero stand before each block's."""
    counts = (padded_rows(x, BLOCK, 0) != 0).sum(axis=1)
    return (np.cumsum(counts) - counts).astype(np.int32)


def packed(given: Given) -> dict[str, np.ndarray]:
    out = given["out"].copy()
    kept = given["x"][given["x"] != 0]
    out[: len(kept)] = kept
    return {"out": out}


def elements(label: str, change: Callable[..., Any]) -> InputClass:
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
        method.barriers(1, advice="The stores of other warps are visible after a barrier."),
        method.no_redundant_work(),
    ),
)
