"""The exercises of "Reductions"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.vectors import BLOCK, FULL, one_thread_each
from course_utils.exercises.authoring.worked import Worked

from .common import BY_SHUFFLES, orders, padded_rows


def often_found_last(x: np.ndarray, rng: np.random.Generator, further: float) -> np.ndarray:
    """``x``, of which one number is ``further`` than any other: in half of all cases the last, in
    the others one close to it. Where a few of many are left out, chance seldom finds that
    one among them."""
    at = -1 if rng.random() < 0.5 else -1 - rng.integers(ceil_div(len(x), 32))
    x[at] = (x.max() if further > 0 else x.min()) + np.float32(further)
    return x


BLOCK_MIN = KernelExercise(
    inputs=lambda rng, n: {
        "x": often_found_last(floats(rng, n) + np.float32(5), rng, -0.25),
        "smallest": empty(ceil_div(n, BLOCK)),
        "n": np.int32(n),
    },
    reference=lambda given: {"smallest": padded_rows(given["x"], BLOCK, np.inf).min(axis=1)},
    launch=one_thread_each,
    small=(1000, 257, 256, 1),
    full=FULL,
    contract=Domain(sizes=domain.lengths(), values=(domain.data("x", *domain.ANY_ORDERED),)),
    method=(
        method.shared_memory(
            4 * 1000, advice="The threads of a block meet in a tree in shared memory, all of them."
        ),
        method.shuffles(
            0,
            5 * 32 * 4,  # one warp of each block may end with them
            advice="A tree in shared memory hands its numbers on there, not by shuffles.",
        ),
        method.barriers(1, advice="A tree in shared memory has a barrier before every step."),
        method.atomics(
            "shared", at_most=0, advice="A tree needs no atomic: two threads never store one place."
        ),
        method.balanced_work(12),
        method.balanced_loads(),
        method.no_redundant_work(),
    ),
)


ANY_BLOCK = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]),
        "sums": empty(ceil_div(*size)),
        **int32s(n=size[0], threads=size[1]),
    },
    reference=lambda given: {
        "sums": padded_rows(given["x"].astype(np.float64), given["threads"], 0.0).sum(axis=1)
    },
    launch=lambda size: Launch(
        (ceil_div(*size),), (size[1],), 4 * size[1], arguments=("x", "sums", "n")
    ),
    small=((300, 100), (7, 3), (256, 128), (1, 1)),
    worked=Worked(size=(5, 3), values={"x": (3, 1, -2, 4, 2)}),
    full=(FULL, 1000),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 2, 33, 257, 1025, 2053),
            threads=(1, 2, 3, 5, 31, 32, 33, 96, 100, 127, 129, 500, 513, 768, 1000, 1023, 1024),
        ).with_outlier(n=70_001),
        values=(domain.data("x", *domain.ORDINARY, domain.SOME_NAN),),
    ),
    method=(
        method.shared_memory(
            4 * 100, advice="The threads meet in a tree in shared memory.", size=(300, 100)
        ),
        method.barriers(1, advice="A tree has a barrier before every step.", size=(300, 100)),
        method.atomics("shared", at_most=0, advice="A tree needs no atomic.", size=(300, 100)),
        method.balanced_work(12, size=(300, 100)),
        method.balanced_loads(size=(300, 100)),
        method.one_store_per_result(),
    ),
)


WARP_MAX = KernelExercise(
    inputs=lambda rng, n: {
        "x": often_found_last(floats(rng, n) - np.float32(5), rng, 0.25),
        "largest": empty(ceil_div(n, 32)),
        "n": np.int32(n),
    },
    reference=lambda given: {"largest": padded_rows(given["x"], 32, -np.inf).max(axis=1)},
    launch=one_thread_each,
    small=(1000, 257, 32, 1),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        values=(domain.data("x", domain.LOWEST, domain.HIGHEST, *domain.ANY_ORDERED),),
    ),
    method=(
        method.shuffles(
            5 * 1000, 2 * 5 * 1024, advice="Five shuffles, and every lane takes part in each."
        ),
        method.one_store_per_result(),
        method.balanced_loads(),
    ),
    target=BY_SHUFFLES,
)


LAST_TO_STORE = KernelExercise(
    inputs=lambda rng, n: {
        "x": often_found_last(floats(rng, n) - np.float32(5), rng, 0.25),
        "result": empty(1),
        "partial": empty(ceil_div(n, 32)),
        "done": np.zeros(1, np.uint32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "partial": padded_rows(given["x"], 32, -np.inf).max(axis=1),
        "result": given["x"].max(keepdims=True),
        "done": np.array([ceil_div(len(given["x"]), 32)], np.uint32),
    },
    launch=lambda n: Launch((ceil_div(n, 32),), (32,)),
    small=(100, 1000, 32, 1),
    full=1 << 16,  # one thread goes through all blocks
    contract=Domain(
        sizes=domain.lengths(),
        values=(domain.data("x", domain.LOWEST, domain.HIGHEST, *domain.ANY_ORDERED),),
    ),
    method=(
        method.atomics(
            "global",
            at_least=32,
            at_most=32,
            advice="Each block counts itself once, and nothing else takes an atomic.",
            size=1024,
        ),
        method.reads(
            "partial", 4 * 31, advice="The last block reads the numbers of all others.", size=1024
        ),
        orders(
            32 + 1,
            advice="A release before each block counts itself, and an acquire before the last one "
            "reads.",
            size=1024,
        ),
    ),
)


def weighty_at_the_end(x: np.ndarray, times: float) -> np.ndarray:
    """``x``, larger past the first 32,768 or 65,536 of a row: otherwise no test would miss those,
    being little of a long sum."""
    for first in (65_536, 32_768):
        if x.shape[-1] > first:
            x[..., first:] *= np.float32(times)
            break
    return x


FIND_THE_MISSING_BARRIER = KernelExercise(
    source="04_first_kernels/exercises/row_variance.cu",
    kernel="row_variance",
    inputs=lambda rng, size: {
        "x": weighty_at_the_end(floats(rng, size), 10),
        "variance": empty(size[0]),
        "columns": np.int32(size[1]),
    },
    reference=lambda given: {"variance": given["x"].astype(np.float64).var(axis=1)},
    launch=lambda size: Launch((size[0],), (128,)),
    small=((3, 300), (2, 129), (3, 7), (1, 37)),
    worked=Worked(size=(2, 4), values={"x": (3, 1, 5, -1, 4, 0, 4, 0)}),  # variances 5 and 4
    full=(1 << 14, 1000),
    # Also for those who subtract the first element of a row: with few columns that costs digits.
    reduction=lambda size: max(64, size[1]),
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 2, 3, 7, 300), columns=domain.extents(40_000)).with_outlier(
            rows=32_771
        ),
        # Not where elements are equal: then a variance of 0 is asked for, which rounding misses.
        values=(
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.POSITIVE,
                domain.MIDDLING,
                domain.SMALL,
                ("about 1000, one apart", lambda x, rng: x + 1000),
                domain.SOME_NAN,
            ),
        ),
    ),
    method=(
        method.barriers(
            1, advice="The warps of a block hand each other their sums: that takes a barrier."
        ),
        method.reads_each_once(4 * 3 * 300, at_most=3, size=(3, 300)),
        method.balanced_loads(),
    ),
)


def block_sums_of_squares(x: np.ndarray) -> np.ndarray:
    """The sum of the squares of each block's elements, in float64."""
    return np.square(padded_rows(x, BLOCK, 0.0).astype(np.float64)).sum(axis=1)


TOTAL_BEFORE = (
    domain.AS_GIVEN,
    InputClass("total = 300 before", lambda given, rng: {"total": np.full(1, 300)}),
)

LAST_BLOCK = KernelExercise(
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "total": np.array([1.5], np.float32),
        "partial": empty(ceil_div(n, BLOCK)),
        "left": np.array([ceil_div(n, BLOCK)], np.uint32),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "partial": block_sums_of_squares(given["x"]),
        "total": given["total"] + 2 * block_sums_of_squares(given["x"]).sum(),
        "left": np.array([len(block_sums_of_squares(given["x"]))], np.uint32),
    },
    launch=lambda n: (one_thread_each(n), one_thread_each(n)),
    small=(5003, 257, 65_536, 1),  # 65,536: as many blocks as a block has threads
    full=FULL,
    reduction=lambda n: n,
    contract=Domain(
        # 1,055 blocks in the end, more than four for each thread of a block.
        sizes=domain.lengths().with_outlier(n=270_001),
        values=(
            domain.data("x", *domain.ORDINARY, domain.VERY_SMALL, domain.SOME_NAN),
            TOTAL_BEFORE,
        ),
    ),
    method=(
        method.atomics(
            "global",
            at_least=2 * 20,
            at_most=2 * 21,  # one more may make the counter ready again
            advice="Each block takes one number from the counter; the sums themselves need no "
            "atomic.",
        ),
        Requirement(
            "floats stored to global memory without an atomic",
            lambda stats: sum(
                n
                for name, n in stats.counts.opcodes.items()
                if name.startswith("st.") and {"global", "f32"} <= {*name.split(".")}
            ),
            2 * 21,
            advice="The blocks' sums and the total take plain stores: atomics count, and no more.",
        ),
        method.reads(
            "partial", 2 * 4 * 20, advice="The last block reads all the sums that are stored there."
        ),
        orders(
            2 * 21,
            advice="A release before each block counts itself out, and an acquire before the last "
            "one reads. That loads and stores are volatile orders nothing.",
        ),
        method.balanced_loads(8),  # a thread may load the total and `left` too
        method.balanced_loads(8, size=100_003),  # 391 sums for the 256 threads of the last block
    ),
)


Sum = Callable[[np.ndarray], float]


def in_float32(order: Callable[[np.ndarray], np.ndarray]) -> Sum:
    """Adds one after the other, in another order."""
    return lambda x: float(np.cumsum(order(x))[-1])


def by_halves(x: np.ndarray, *, rounded_up: bool = True) -> float:
    """A tree. An odd number in the middle waits, or is lost."""
    x = x.copy()
    while len(x) > 1:
        half = (len(x) + rounded_up) // 2
        x[: len(x) - half] += x[half : 2 * half] if len(x) == 2 * half else x[half:]
        x = x[:half]
    return float(x[0])


def kept_from_before() -> Sum:
    """Adds to the sum of the launch before."""
    total = [0.0]

    def add_up(x: np.ndarray) -> float:
        total[0] += float(x.sum(dtype=np.float64))
        return total[0]

    return add_up


def of_part(part: Callable[[np.ndarray], np.ndarray]) -> Callable[[], Sum]:
    """A kernel that adds up a part of the array."""
    return lambda: lambda x: float(part(x).sum(dtype=np.float64))


RIGHT_SUMS: dict[str, Callable[[], Sum]] = {
    "adds in order": lambda: in_float32(lambda x: x),
    "adds backwards": lambda: in_float32(lambda x: x[::-1]),
    "adds by a tree": lambda: by_halves,
    "adds every 256th element first": lambda: in_float32(
        lambda x: np.concatenate([x[k::256] for k in range(min(256, len(x)))])
    ),
    "adds in float64": of_part(lambda x: x),
}
WRONG_SUMS: dict[str, Callable[[], Sum]] = {
    "adds up full blocks of 256 alone": of_part(lambda x: x[: len(x) // 256 * 256]),
    "adds up full warps, and a short array": of_part(
        lambda x: x[: len(x) // 32 * 32] if len(x) > 32 else x
    ),
    "drops the last element of an odd number": of_part(lambda x: x[: len(x) // 2 * 2]),
    "stops after 1024 blocks of 256": of_part(lambda x: x[: 1024 * 256]),
    "loses the odd one of each step of its tree": lambda: lambda x: by_halves(x, rounded_up=False),
    "takes every number as positive": of_part(np.abs),
    "returns no sum below 0": lambda: lambda x: max(0.0, float(x.sum(dtype=np.float64))),
    "adds to the last launch's sum": kept_from_before,
    "leaves out the first element": of_part(lambda x: x[1:]),
    "adds the last element twice": lambda: lambda x: float(x.sum(dtype=np.float64) + x[-1]),
}


def judged(function: Callable[[Sum], bool], kernel: str) -> str:
    """A test's word on a kernel, which it knows by its sums alone."""
    return "right" if function((RIGHT_SUMS | WRONG_SUMS)[kernel]()) else "wrong"


ACCEPT_A_SUM = PythonExercise(
    cases=tuple((kernel,) for kernel in (*RIGHT_SUMS, *WRONG_SUMS)),
    reference=lambda kernel: "right" if kernel in RIGHT_SUMS else "wrong",
    call=judged,
    start="Which array would this kernel add up to another number? Let your test try it. If the "
    "kernel is right, does your test forgive another order of the additions?",
    contract="The kernels are given: a test is right if it sorts them.",
)


def of_one_sign(given: Given, rng: np.random.Generator) -> Given:
    """Products that are all negative, and large."""
    return {"x": np.abs(given["x"]), "y": -1000 * np.abs(given["y"]) - 1}


def dot_product(given: Given) -> dict[str, np.ndarray]:
    """The exact sum of the products, with NaN where 0 meets infinity."""
    return {"result": np.dot(given["x"].astype(np.float64), given["y"].astype(np.float64))[None]}


def few_blocks(n: int) -> Launch:
    """Fewer threads than elements; at the longest size that is tried, more than 128 blocks."""
    return Launch((1056 if n >= FULL else 132 if n > 40_000 else 4,), (BLOCK,))


DOT = KernelExercise(
    inputs=lambda rng, n: {
        "x": weighty_at_the_end(floats(rng, n), 50),
        "y": weighty_at_the_end(floats(rng, n), 50),
        "result": np.zeros(1, np.float32),
        "n": np.int32(n),
    },
    reference=dot_product,
    launch=few_blocks,
    small=(5003, 257, 1),
    full=FULL,
    reduction=lambda n: n,
    contract=Domain(
        sizes=domain.lengths(),
        launches=domain.grids((1, BLOCK), (3, BLOCK), (7, BLOCK), (40, BLOCK), (132, BLOCK)),
        # Not as they are given: products that cancel ask for digits that no float32 has.
        values=(
            (
                *domain.data(
                    "x y",
                    domain.POSITIVE,
                    domain.NEGATIVE,
                    domain.EQUAL,
                    domain.TIES,
                    domain.RISING,
                    domain.FALLING,
                )[1:],
                InputClass("x all positive, y about -1000", of_one_sign),
                *domain.data("x", domain.SOME_NAN)[1:],
                domain.zero_times_infinity("x", "y"),
                domain.zero_times_infinity("y", "x"),
                domain.infinite_at_the_ends("x", -1, "y"),
            ),
        ),
    ),
    method=(
        method.balanced_loads(2.0, size=5003),
        method.reads_each_once(2 * 4 * 5120, size=5120),
        method.shuffles(1100, advice="The lanes of a warp add up by shuffles.", size=5003),
    ),
    target=Target(
        label="atomics per element",
        measure=lambda counts: counts.global_atomic_bytes / 4 / 5003,
        at_most=0.01,
        advice="Add up in a register over the whole loop, then over the warp, "
        "and let one lane of it, or one thread of the block, do the atomic.",
        size=5003,
    ),
)


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Integers from -9 to 9 as float32: many are equal."""
    return rng.integers(-9, 10, shape).astype(np.float32)


def far_to_the_right(x: np.ndarray) -> np.ndarray:
    """``x``; in a long row its last number is the largest, since of equal ones the first counts."""
    if x.shape[1] > 65_535:
        x[:, -1] = 10
    return x


def largest_last(given: Given, rng: np.random.Generator) -> Given:
    """So that a column far to the right is an answer, whatever the others are."""
    x = given["x"].copy()
    x[1::2] = np.where(np.isfinite(x[1::2]), x[1::2], 0)
    with np.errstate(over="ignore"):
        x[1::2, -1] = x[1::2].max(axis=1) + np.abs(x[1::2]).max(axis=1) + 1
    return {"x": x}


ARGMAX_ROWS = KernelExercise(
    inputs=lambda rng, size: {
        "x": far_to_the_right(whole_numbers(rng, size)),
        "index": empty(size[0], np.int32),
        **int32s(rows=size[0], columns=size[1]),
    },
    reference=lambda given: {"index": given["x"].argmax(axis=1).astype(np.int32)},
    launch=lambda size: Launch((ceil_div(size[0], 8),), (BLOCK,)),
    small=((11, 200), (9, 33), (3, 5), (1, 37)),
    worked=Worked(size=(2, 3), values={"x": (1, 3, -2, 4, 2, 5)}),
    full=(1 << 16, 1000),
    contract=Domain(
        sizes=domain.shapes(
            rows=(2, 7, 8, 9, 140), columns=(1, 31, 33, 65, 257, 1025, 2053, 4099)
        ).with_outlier(rows=32_771, columns=65_543),
        values=(
            domain.data(
                "x",
                *(domain.ZEROS_OF_BOTH_SIGNS, domain.FAINTEST, domain.LOWEST, domain.HIGHEST),
                *domain.ANY_ORDERED,
            ),
            (InputClass("every second row finite, its largest last", largest_last),),
        ),
    ),
    method=(
        method.balanced_loads(2.0, size=(16, 320)),
        method.reads_each_once(4 * 8 * 2048, at_most=1.5, size=(8, 2048)),
    ),
)
