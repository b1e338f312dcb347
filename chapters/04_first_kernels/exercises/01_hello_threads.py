"""The exercises of "Hello, threads"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
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
from course_utils.exercises.authoring.versions import Version, told_apart


def axpy(given: Given) -> dict[str, np.ndarray]:
    """a x + y, with NaN where 0 meets infinity."""
    return {"y": given["a"] * given["x"] + given["y"]}


def opposites(given: Given, rng: np.random.Generator) -> Given:
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
    most = float(np.finfo(np.float32).max)
    numbers = [-np.inf, np.inf, -most, most, -1e31, 1e31, -2000, 2000, 0]

    def change(given: Given, rng: np.random.Generator) -> Given:
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
        method.coalesced(
            "store",
            at_most=8,  # four where it is aligned
            advice="Neighbouring threads handle neighbouring elements: a thread's next one lies as "
            "many further on as the grid has threads.",
            size=2048,
        ),
        Requirement(
            "stores for each result, by 300 blocks",
            lambda stats: stats.counts.global_store_bytes / stats.result_bytes,
            at_most=1.0,
            advice="Each thread steps by as many elements as the grid has threads, few or many: "
            "`gridDim.x` is the number of blocks.",
            size=MANY,
        ),
    ),
    target=Target(
        label="stores per element",
        measure=lambda counts: counts.global_store_bytes / 4 / 2048,
        at_most=1.0,
        advice="Some elements are handled more than once: how many "
        "elements does the whole grid cover in one iteration?",
        size=2048,
    ),
)


BLOCKS = 128, 256, 512, 1024
MOST = 100_000  # elements that a vec_add has to cope with


def may_be_launched(a: np.ndarray, b: np.ndarray, c: np.ndarray, n: int) -> None:
    """Raises LessonError for arguments that no vec_add has to cope with."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= MOST:
        raise LessonError(f"n is {n!r}. It should be an integer from 1 to {MOST:,}.")
    for name, array in {"a": a, "b": b, "c": c}.items():
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != 1:
            what = getattr(array, "dtype", type(array).__name__)
            raise LessonError(f"{name} is {what}. It should be a float32 array of one axis.")
        if len(array) < n:
            raise LessonError(f"{name} has {len(array)} elements. It needs n of them, {n}.")


def up_to(end: Callable[[int, int], int]) -> Callable[..., None]:
    """Adds the elements before ``end(n, block)``, if the arrays have them."""

    def adds(a: np.ndarray, b: np.ndarray, c: np.ndarray, n: int, block: int) -> None:
        last = min(end(n, block), len(a), len(b), len(c))
        c[:last] = a[:last] + b[:last]

    return adds


def with_values(of: Callable[..., np.ndarray], other: str = "") -> Callable[..., None]:
    """Stores ``of(a, b, c)`` of the first n elements, into ``other`` as well."""

    def adds(a: np.ndarray, b: np.ndarray, c: np.ndarray, n: int, block: int) -> None:
        c[:n] = of(a[:n], b[:n], c[:n])
        if other:
            {"a": a, "b": b}[other][:n] = c[:n]

    return adds


def whole_blocks(n: int, block: int) -> int:
    return n // block * block


KERNELS = (
    Version("a right kernel, one thread for each element", up_to(lambda n, block: n), right=True),
    Version("rounds the number of blocks down", up_to(whole_blocks)),
    Version("has no bounds guard", up_to(lambda n, block: ceil_div(n, block) * block)),
    Version("adds into c instead of storing there", with_values(lambda a, b, c: a + b + c)),
    Version("adds a to itself", with_values(lambda a, b, c: a + a)),
    Version("reads b from the other end", with_values(lambda a, b, c: a + b[::-1])),
    Version("uses the index in the block alone", up_to(lambda n, block: min(n, block))),
    Version("stores the sum in a as well", with_values(lambda a, b, c: a + b, other="a")),
    Version("stores the sum in b as well", with_values(lambda a, b, c: a + b, other="b")),
    Version("leaves out the last element", up_to(lambda n, block: n - 1)),
    Version("has an index of 16 bits, without a sign", up_to(lambda n, block: min(n, 1 << 16))),
    Version(
        "lets the last block take n % blockDim.x elements",
        up_to(lambda n, block: n if n % block else n - block),
    ),
    Version("stores 0 for a negative sum", with_values(lambda a, b, c: np.maximum(a + b, 0))),
    Version("runs in whole warps", up_to(lambda n, block: n // 32 * 32)),
    Version("has 64 blocks and no loop", up_to(lambda n, block: min(n, 64 * block))),
    Version("a right kernel with a grid-stride loop", up_to(lambda n, block: n), right=True),
)


def in_blocks(kernel: Version, block: int = 256) -> Version:
    """The kernel, which gets ``block`` as its last argument, in blocks of so many threads."""

    def launch(a: np.ndarray, b: np.ndarray, c: np.ndarray, n: int) -> None:
        kernel.computes(a, b, c, int(n), block)

    return replace(kernel, text=f"{kernel.text}, blocks of {block}", computes=launch)


def any_vec_add(rng: np.random.Generator) -> tuple[Version]:
    """One of the kernels, with blocks of any usual size."""
    kernel = KERNELS[rng.integers(len(KERNELS))]
    return (in_blocks(kernel, int(rng.choice(BLOCKS))),)


TEST_VEC_ADD = told_apart(
    tuple(map(in_blocks, KERNELS)),
    "Which call of launch would show it: for which n, with which numbers in a, b and c, and "
    "which elements would you compare after it?",
    may_be_launched,
    contract=DrawnCases(any_vec_add, 24),
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
