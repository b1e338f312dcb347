"""The exercises of "Barriers and atomics"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    Target,
)
from course_utils.exercises.authoring.variants import Varied
from course_utils.exercises.authoring.vectors import (
    BLOCK,
    FULL,
    SMALL,
    one_thread_each,
    spare_blocks,
)
from course_utils.exercises.authoring.worked import Worked

from .common import atomics_on


def through_shared_memory(stats: LaunchStats) -> float:
    """Bytes that were stored in shared memory and read from there, for each byte of the results."""
    counts = stats.counts
    return min(counts.shared_store_bytes, counts.shared_load_bytes) / stats.result_bytes


FIND_THE_RACE = KernelExercise(
    kernel="reverse_blocks",
    inputs=lambda rng, blocks: {"x": floats(rng, 256 * blocks), "y": empty(256 * blocks)},
    reference=lambda given: {"y": given["x"].reshape(-1, 256)[:, ::-1].reshape(-1)},
    launch=lambda blocks: Launch((blocks,), (256,)),
    small=(3, 1),
    worked=Worked(why_not="a block shares out 256 elements"),
    full=1 << 16,
    exact=True,
    contract=Domain(
        sizes=domain.shapes(blocks=(1, 2, 5, 17, 67, 131, 263)),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    method=(
        Requirement(
            "bytes that go through shared memory for each byte of y",
            through_shared_memory,
            at_least=0.5,
            advice="Leave the tile: all of x goes into it, and all of y comes out of it. One line "
            "is missing between the two.",
        ),
        method.barriers(
            at_least=3 * 8,
            advice="Add a line, and change no other: threads of other warps fill the elements that "
            "a thread reads, so all eight warps have to wait for each other.",
        ),
        method.one_store_per_result(),
        method.reads_each_once(4 * 3 * 256, at_most=1.5),
        method.balanced_work(),
    ),
    bug=kinds.DATA_RACE,
)


def rows_and_room(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": rng.random((rows, columns), dtype=np.float32) + np.float32(0.5),
        "mean": empty(rows),
        "y": empty((rows, columns)),
        **int32s(rows=rows, columns=columns),
    }


def scaled(given: Given) -> dict[str, np.ndarray]:
    """The exact means and quotients, as far as float64 goes."""
    x = given["x"].astype(np.float64)
    mean = x.mean(axis=1)
    return {"mean": mean, "y": x / mean[:, None]}


def one_kernel_then_the_other(size: tuple[int, int]) -> tuple[Launch, Launch]:
    rows, columns = size
    return (
        Launch((ceil_div(rows, 64),), (64,), arguments=("x", "mean", "rows", "columns")),
        Launch(
            (ceil_div(columns, 16), ceil_div(rows, 16)),
            (16, 16),
            kernel="divide_by_mean",
            arguments=("x", "mean", "y", "rows", "columns"),
        ),
    )


def near_the_end(given: Given, rng: np.random.Generator) -> Given:
    """Where a row is short, numbers whose sum is near the largest float: their mean has a
    reciprocal that is too small, and one of them times the columns is too large."""
    if given["x"].shape[1] > 3:
        return {}
    shares = rng.uniform(0.02, 1, given["x"].shape)
    return {"x": 3.3e38 * shares / shares.sum(axis=1, keepdims=True)}


def with_spare_blocks(size: tuple[int, int]) -> tuple[tuple[Launch, Launch], ...]:
    """Both grids with one block more than they need, in each direction; and as they are."""
    found = []
    for spare in (1, 0):
        mean, divide = one_kernel_then_the_other(size)
        across, down = divide.grid
        found.append(
            (
                replace(mean, grid=(mean.grid[0] + spare,)),
                replace(divide, grid=(across + spare, down + spare)),
            )
        )
    return tuple(found)


def loads_of_the_second(stats: LaunchStats) -> float:
    """Bytes that divide_by_mean reads from global memory for each element of y."""
    return stats.threads[1].loaded.sum() / (128 * 32)


SCALE_ROWS = KernelExercise(
    kernel="row_mean",
    inputs=rows_and_room,
    reference=scaled,
    launch=one_kernel_then_the_other,
    small=((37, 45), (67, 5), (2, 4099), (2, 3), (1, 1)),
    worked=Worked(size=(2, 3), values={"x": (3, 1, 2, 1, 5, 6)}),  # means 2 and 4
    full=(4096, 4096),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 63, 65, 257, 521), columns=(1, 2, 3, 15, 33, 131, 257, 301)
        ).with_outlier(rows=32_771),
        launches=with_spare_blocks,
        values=(  # no mean of zero: where the terms cancel, no digit of it is right
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.POSITIVE,
                domain.EQUAL,
                domain.RISING,
                domain.FALLING,
                domain.MIDDLING,
                domain.SMALL,
                domain.LARGE,
                domain.ZEROS,
                domain.SOME_NAN,
            ),
            (
                domain.AS_GIVEN,
                domain.InputClass(
                    "no more than three columns, whose sum is near 3.3e38", near_the_end
                ),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(1.05),
        Requirement(
            "bytes that divide_by_mean reads for each element of y",
            loads_of_the_second,
            at_most=12,
            advice="An element takes two floats: x and the mean of its row. The means are there "
            "already, found by the kernel before.",
            size=(128, 32),
        ),
        method.a_thread_each(size=(128, 32)),  # of both kernels, as many as means and elements
        method.balanced_work(size=(128, 32)),
    ),
    reduction=lambda size: size[1],
)


FIND_THE_BARRIER_BUG = KernelExercise(
    source="04_first_kernels/exercises/reverse_rows.cu",
    kernel="reverse_rows",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        "columns": np.int32(size[1]),
    },
    reference=lambda given: {"y": given["x"][:, ::-1]},
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 100), (2, 255), (2, 256), (1, 1)),
    full=(1 << 16, 250),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 5, 17, 131, 263), columns=(1, 2, 31, 32, 33, 127, 128, 160, 225, 255, 256)
        ).with_outlier(rows=32_771),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    method=(
        Requirement(
            "bytes that go through shared memory for each byte of y",
            through_shared_memory,
            at_least=0.5,
            advice="Leave the tile: all of x goes into it, and all of y comes out of it. The one "
            "thing to change is who comes to the barrier.",
        ),
        method.barriers(
            at_least=3 * 8,
            advice="Three blocks have eight warps each, and every one of them shall come to the "
            "barrier, also the warps that have no column.",
            size=(3, 100),
        ),
        method.one_store_per_result(),
        method.reads_each_once(4 * 2 * 256, at_most=1.5, size=(2, 256)),
        method.balanced_work(size=(2, 256)),
    ),
    bug=kinds.BARRIER,
)


TILED = 20 * BLOCK  # elements, where loads and requirements are counted
MOST_LOADS = 1.1  # of elements of x for each result: 271 for 256 threads
LEAST: domain.ArrayChange = (
    "all below -3e38",
    lambda x, rng: np.finfo(np.float32).min * rng.uniform(0.9, 1, x.shape),
)
# A substitute for the elements past the end may be no larger.
ALL_LOWEST: domain.ArrayChange = (
    "all the lowest float",
    lambda x, rng: np.full_like(x, np.finfo(x.dtype).min),
)


def filled_again(counts: Counts) -> str:
    """The advice where threads store an element of the tile that another has stored before."""
    stored = counts.shared_store_bytes / 4 / TILED
    if stored <= MOST_LOADS:
        return ""
    return (
        f"The tile is filled more than once: for each result {stored:.4g} elements are stored in "
        "it. Let each thread load its share alone, from threadIdx.x on in steps of kBlock."
    )


def largest_of(given: Given, width: int) -> dict[str, np.ndarray]:
    """The largest of each window of so many elements, shorter ones at the end."""
    padded = np.concatenate([given["x"], np.full(width - 1, -np.inf, np.float32)])
    return {"y": np.lib.stride_tricks.sliding_window_view(padded, width).max(axis=1)}


WIDTHS = {10: "ten", 12: "twelve", 16: "sixteen", 20: "twenty", 24: "twenty-four"}
WINDOW_MAX = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: largest_of(given, 16),
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(),
        values=(domain.data("x", *domain.ANY_FINITE, LEAST, ALL_LOWEST),),
    ),
    method=(
        method.shared_memory(
            4 * TILED,
            advice="The block loads its elements into the tile, and reads them there.",
            size=TILED,
        ),
        method.balanced_loads(20, size=TILED),  # one thread may fetch the fifteen
        method.balanced_work(20, size=TILED),  # or scan chunks of sixteen
        method.no_redundant_work(size=TILED),
    ),
    target=Target(
        label="elements loaded from global memory for each result",
        measure=lambda counts: counts.global_load_bytes / 4 / TILED,
        at_most=MOST_LOADS,
        advice="Read the window from the tile instead of x.",
        size=TILED,
        mistake=filled_again,
    ),
    formerly=("03.window_max",),
    varied=Varied(
        {"width": (16, 10, 12, 20, 24)},
        fields=lambda width: {"reference": lambda given: largest_of(given, width)},
        texts=(
            "use {word} times",
            "the largest of the {width} that begin",
            "the {halo} elements after",
            "reads the {width} elements",
            "the first {halo} threads",
            "from 1 to {halo}.",
            "256 + {halo} elements",
            "256 * {width}.",
            "All {word} reads",
            "x[i + {halo}]",
            "kWindow = {width};",
        ),
        words=lambda width: {"halo": width - 1, "word": WIDTHS[width]},
    ),
)


SWAP_NEIGHBOURS = KernelExercise(
    inputs=lambda rng, warps: {
        "x": floats(rng, 32 * warps),
        "post": empty(32 * warps),
        "y": empty(32 * warps),
    },
    reference=lambda given: {
        "post": given["x"],
        "y": given["x"].reshape(-1, 2)[:, ::-1].reshape(-1),
    },
    launch=lambda warps: Launch((warps,), (32,)),
    small=(3, 1),
    worked=Worked(why_not="a warp has 32 elements"),
    full=1 << 19,
    exact=True,
    contract=Domain(
        sizes=domain.lengths("warps", most=2100), values=(domain.data("x", *domain.ANY_FLOAT),)
    ),
    method=(
        method.reads(
            "post",
            3 * 32 * 4,
            advice="The pairs swap by way of `post`: each lane reads its neighbour's element.",
        ),
        replace(
            method.instructions(
                "threads that wait at a barrier",
                "bar",
                at_least=3 * 32,
                advice="One lane writes an element of `post` and another reads it. `__syncwarp()` "
                "in between makes the lanes of the warp wait for each other. `volatile` and "
                "atomics reach memory each time, and order nothing between lanes.",
            ),
            orders=True,
        ),
        method.no_redundant_work(),
        method.balanced_work(size=20),
    ),
    bug=kinds.DATA_RACE,
    formerly=("03.swap_neighbours",),
)


def product_of_all(given: Given) -> dict[str, np.ndarray]:
    """The exact product, with NaN where 0 meets infinity."""
    return {"product": given["product"] * np.prod(given["x"].astype(np.float64), keepdims=True)}


def one_of_them(value: float) -> Callable[..., dict[str, Any]]:
    """A change of ``x``: one element, no matter which, is ``value``."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x = given["x"].copy()
        x[rng.integers(len(x))] = value
        return {"x": x}

    return change


def first_and_last(first: float, last: float) -> domain.InputClass:
    """Two numbers of which the one that comes early must not settle, or spoil, the product. The
    others are not below 1, so that no product of some of them is too small for a float."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x = np.maximum(given["x"], 1)
        if len(x) > 1:
            x[0], x[-1] = first, last
        return {"x": x}

    return domain.InputClass(f"x[0] = {first:g} and the last x = {last:g}", change)


def of_all_kinds(given: Given, rng: np.random.Generator) -> Given:
    """While the sign of a 0 goes to and fro, a NaN comes last."""
    x = rng.choice([-1, 1], len(given["x"])) * given["x"]
    x[0], x[-1] = 0.0, np.nan
    return {"x": x}


ATOMIC_MULTIPLY = KernelExercise(
    kernel="multiply_all",
    inputs=lambda rng, n: {
        "x": np.exp(0.1 * floats(rng, n)),
        "product": np.ones(1, np.float32),
        "n": np.int32(n),
    },
    reference=product_of_all,
    launch=one_thread_each,
    small=(100, 300, 520, 7, 1),
    worked=Worked(size=5, values={"x": (3, 1, 2, 4, 2)}),
    budget=15_000,  # the instructions of a loop that never wins are slow ones
    full=5003,
    contract=Domain(
        sizes=domain.shapes(n=(1, 2, 3, 5, 7, 9, 13, 17, 33, 129, 257, 300)),
        launches=spare_blocks,
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass(
                    "some x negative",
                    lambda given, rng: {"x": rng.choice([-1, 1], len(given["x"])) * given["x"]},
                ),
                domain.InputClass("all x negative", lambda given, rng: {"x": -given["x"]}),
                domain.InputClass("one x = 0", one_of_them(0.0)),
                domain.InputClass("one x infinite", one_of_them(np.inf)),
                domain.InputClass("one x is NaN", one_of_them(np.nan)),
                domain.InputClass("signs of both kinds, a 0 and a NaN", of_all_kinds),
                domain.InputClass("product[0] = 2.5", lambda given, rng: {"product": [2.5]}),
                domain.InputClass(
                    "product[0] is NaN, one x = 0",
                    lambda given, rng: {"product": [np.nan], **one_of_them(0.0)(given, rng)},
                ),
                first_and_last(0.0, np.nan),
                first_and_last(np.nan, 0.0),
                first_and_last(np.inf, 0.0),
                first_and_last(7e28, 4e-32),  # logarithms cost both of them digits
                first_and_last(6e-30, 7e28),
                first_and_last(5e-38, 1e30),
            ),
        ),
    ),
    method=(
        method.instructions(
            "atomicCAS, once for each thread and try",
            "atom.global.cas",
            "atom.global.sys.cas",
            "atom.cas",
            "atom.sys.cas",
            at_least=1,
            advice="Build the multiplication from atomicCAS, so that no thread's factor is lost. "
            "(`atomicCAS_block` does not do: it is atomic among the threads of one block alone.)",
            size=256,
        ),
        method.balanced_loads(size=256),
        method.reads_each_once(4 * 256, at_most=16, size=256),
    ),
    reduction=lambda n: n,
)


def before_the_launch(value: float) -> domain.InputClass:
    return domain.InputClass(
        f"result[0] = {value:g} before", lambda given, rng: {"result": np.full(1, value)}
    )


def lowest_after_minus_infinity(given: domain.Given, rng: np.random.Generator) -> domain.Given:
    lowest = np.finfo(np.float32).min
    return {"x": np.full_like(given["x"], lowest), "result": np.full(1, -np.inf)}


HIGHEST = KernelExercise(
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "result": np.array([-3], np.float32),
        "n": np.int32(n),
    },
    reference=lambda given: {"result": np.append(given["x"], given["result"]).max(keepdims=True)},
    launch=one_thread_each,
    small=(1000, 257, 3, 1),
    worked=Worked(size=5, values={"x": (-5, -4, -9, -7, -6)}),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            domain.data(
                "x",
                domain.ZEROS,
                domain.ZEROS_OF_BOTH_SIGNS,
                domain.LOWEST,
                domain.HIGHEST,
                *domain.ANY_ORDERED,
                ("all -0", lambda x, rng: np.full_like(x, -0.0)),
            ),
            (
                domain.AS_GIVEN,
                *(before_the_launch(value) for value in (-np.inf, -1e30, 2.5, np.inf)),
                domain.InputClass("-inf before, and the lowest float", lowest_after_minus_infinity),
            ),
        ),
    ),
    method=(
        method.instructions(
            "atomicCAS, once for each thread and try",
            *("atom.global.cas", "atom.global.sys.cas", "atom.cas", "atom.sys.cas"),
            at_most=0,
            advice="No compare and swap: the bits of a float are ordered, so atomicMax and "
            "atomicMin on integers do.",
            size=1024,
        ),
        method.atomics(
            "global", at_least=1, advice="Threads of all blocks share one word.", size=1024
        ),
        method.balanced_loads(size=1024),
        method.reads_each_once(4 * 1024, at_most=2, size=1024),
    ),
)


def atomics_of(n: int, large: int) -> dict[str, Ask]:
    """The questions about two launches, of n and of ``large`` integers."""
    blocks = ceil_div(n, BLOCK)
    threads = blocks * BLOCK
    last_one = "Round up: the last block is there too, though it is only partly full."
    return {
        "in_shared": Ask(
            f"n = {n}: atomics on shared memory",
            n,
            atomics_on("shared"),
            {
                n: "Only threads whose number is even add anything.",
                threads: "That is the number of threads; which of them reach the atomicAdd?",
                threads // 2: f"{threads - n} threads of the last block have no element.",
            },
        ),
        "in_global": Ask(
            f"n = {n}: atomics on global memory",
            n,
            atomics_on("global"),
            {
                n // 2: "Those go to shared memory. Who adds to count?",
                n // BLOCK: last_one,
                1: "One thread of each block does it. How many blocks has the launch?",
                threads: "Look at the if before the last atomicAdd.",
            },
        ),
        "in_global_large": Ask(
            f"n = {large:,}: atomics on global memory",
            large,
            atomics_on("global"),
            {large // BLOCK: last_one, large // 2: "That many add to shared memory."},
        ),
    }


PREDICT_ATOMICS = NumberExercise(
    source="04_first_kernels/exercises/count_even.cu",
    kernel="count_even",
    inputs=lambda rng, n: {
        "x": np.arange(n, dtype=np.int32),
        "count": np.zeros(1, np.int32),
        "n": np.int32(n),
    },
    launch=one_thread_each,
    asks=atomics_of(1000, 100_000),
    varied=Varied(
        {
            "n": (1000, 600, 700, 900, 1300, 1500),
            "large": (100_000, 50_000, 70_000, 130_000, 200_000),
        },
        fields=lambda n, large: {"asks": atomics_of(n, large)},
        texts=(
            "Of the numbers 0 to {last}, half",
            "{n} elements take {blocks} blocks of 256 threads, and {large:,} take {many}.",
        ),
        words=lambda n, large: {
            "last": n - 1,
            "blocks": ceil_div(n, BLOCK),
            "many": ceil_div(large, BLOCK),
        },
    ),
)


def all_the_same(digit: int) -> domain.InputClass:
    return domain.InputClass(
        f"every digit = {digit}",
        lambda given, rng: {"digits": np.full_like(given["digits"], digit)},
    )


COUNT_DIGITS = KernelExercise(
    inputs=lambda rng, n: {
        "digits": rng.integers(0, 10, n, dtype=np.int32),
        "counts": np.zeros(10, np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {"counts": np.bincount(given["digits"], minlength=10).astype(np.int32)},
    launch=lambda n: Launch((4 if n < FULL else 528,), (BLOCK,)),
    small=(5003, 257, 1),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=domain.grids(*((blocks, BLOCK) for blocks in (1, 3, 7, 131))),
        values=(
            (
                domain.AS_GIVEN,
                *(all_the_same(digit) for digit in (0, 5, 9)),
                domain.InputClass(
                    "digits rising", lambda given, rng: {"digits": np.sort(given["digits"])}
                ),
            ),
        ),
    ),
    method=(
        method.reads_each_once(4 * 5003, at_most=1.5, size=5003),
        method.balanced_loads(at_most=2, size=5003),
    ),
    target=Target(
        label="atomics on global memory per digit",
        measure=lambda counts: counts.global_atomic_bytes / 4 / 5003,
        at_most=0.01,
        advice="The counts are right. Count into `__shared__ int mine[kDigits]` first.",
        size=5003,
    ),
)


FAULTS = {
    6: "barrier",
    7: "race",
    10: "update",
}  # tests/exercises/test_reviewed_kernel.py proves it


REVIEW_THE_COUNT = review(
    FAULTS,
    example='{3: "bounds"}',
    start="Go through the words that threads share, and ask of each: which thread writes it, which "
    "reads it, and is there an order between the two?",
)
