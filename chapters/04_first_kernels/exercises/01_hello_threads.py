"""The exercises of "Hello, threads"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.vectors import (
    BLOCK,
    FULL,
    SMALL,
    one_thread_each,
    spare_blocks,
)


def axpy(given) -> dict:
    """a x + y, with NaN where 0 meets infinity."""
    return {"y": given["a"] * given["x"] + given["y"]}


def opposites(given: dict, rng: np.random.Generator) -> dict:
    """Infinities that have no sum, where a is above 0."""
    x = domain.SOME_INFINITE[1](given["x"], rng)
    return {"x": x, "y": -x}


SAXPY = KernelExercise(
    inputs=lambda rng, n: {
        "a": np.float32(rng.uniform(1.5, 3.0)),
        "x": floats(rng, n),
        "y": floats(rng, n),
        "n": np.int32(n),
    },
    reference=axpy,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            domain.scalars("a", 0, 1, -1, -2.5, 1000, np.inf),
            (
                *domain.data("x", *domain.ORDINARY, domain.ZEROS, *domain.STRANGE),
                *domain.data("x y", domain.FAINT)[1:],
                domain.zero_times_infinity("a", "x"),
            ),
            (
                *domain.data("y", *domain.ORDINARY, domain.ZEROS, domain.LARGE),
                domain.InputClass("y = -x, some of both infinite", opposites),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2, size=5003),
        method.no_redundant_work(),
    ),
)


MANY = 160_000  # elements


def too_few_blocks(n: int) -> Launch:
    """Fewer threads than elements, and from 160,000 elements on more blocks than a byte counts."""
    return Launch((1056 if n >= FULL else 300 if n >= MANY else 2,), (BLOCK,))


def between(low: float, high: float) -> domain.InputClass:
    """These two ends, with numbers on both sides of each, infinite ones among them."""
    most = np.finfo(np.float32).max
    numbers = [-np.inf, np.inf, -most, most, -1e31, 1e31, -2000, 2000, 0]

    def change(given: dict, rng: np.random.Generator) -> dict:
        return {"low": low, "high": high, "x": np.resize(numbers, given["x"].shape)}

    return domain.InputClass(f"low = {low:g}, high = {high:g}, x far below and far above", change)


CLAMP = KernelExercise(
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "low": np.float32(-0.5),
        "high": np.float32(0.75),
        "n": np.int32(n),
    },
    reference=lambda given: {"y": np.clip(given["x"], given["low"], given["high"])},
    launch=too_few_blocks,
    small=(2049, 1000, 31, 1),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=domain.grids(*((n, 256) for n in (1, 3, 5, 7, 19, 300))),
        values=(
            domain.together(
                {"low": -3, "high": -2},
                {"low": 0, "high": 0},
                {"low": 0.25, "high": 1e30},
                {"low": -1e30, "high": -0.25},
                {"low": 100, "high": 2000},
                {"low": -np.inf, "high": 0.25},
                {"low": -0.25, "high": np.inf},
            ),
            domain.data("x", *domain.ANY_ORDERED),
            (
                domain.AS_GIVEN,
                between(-1000, -100),
                between(-2e30, -1e30),
                between(1e30, 2e30),
                between(-np.inf, np.inf),
                between(-np.inf, -np.inf),
                between(np.inf, np.inf),
            ),
        ),
    ),
    method=(
        method.balanced_work(2),
        method.balanced_work(2, size=MANY),
        method.no_redundant_work(),
        Requirement(
            "sectors that a warp's store touches",
            lambda stats: stats.counts.global_store_sectors / stats.counts.global_store_requests,
            at_most=8,  # four where it is aligned
            advice="Neighbouring threads handle neighbouring elements: a thread's next one lies as "
            "many further on as the grid has threads.",
            size=2048,
        ),
        Requirement(
            "stores for each result, by 300 blocks",
            lambda stats: stats.counts.global_store_bytes / stats.result_bytes,
            at_most=1.0,
            advice="Each thread steps by as many elements as the grid has threads, be they few or "
            "many: `gridDim.x` tells the number of blocks.",
            size=MANY,
        ),
    ),
    target=Target(
        label="stores per element",
        measure=lambda counts: counts.global_store_bytes / 4 / 2048,
        at_most=1.0,
        advice="The result is right, but some elements are handled more than once: how many "
        "elements does the whole grid cover in one iteration?",
        size=2048,
    ),
)


REVERSED_COPY = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {"y": given["x"][::-1]},
    exact=True,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(), launches=spare_blocks, values=(domain.data("x", *domain.ANY_FLOAT),)
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=4096),
        method.a_thread_each(size=4096),
    ),
)
