"""The exercises of "GEMV and softmax"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.exact_formulas import exact_product, row_softmax
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.versions import told_apart
from course_utils.exercises.authoring.worked import Worked

from .tested_versions import SOFTMAXES, matrix_of_rows

IN_REGISTERS = (
    "An array whose index is known only at run time is in local memory, which is global memory: "
    "let the loops have a constant number of turns, and unroll them."
)
COLUMNS = (1, 2, 31, 32, 33, 65, 255, 256, 257, 513, 1025, 2047, 2048)


def matrix_and_vector(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """A (M x K), x (K) and room for y (M)."""
    m, k = size
    return {"A": floats(rng, (m, k)), "x": floats(rng, k), "y": empty(m), **int32s(M=m, K=k)}


def zero_at_infinity(given: Given, axis: int) -> Given:
    """An element in the middle of A is infinite, and of x the one that it meets along ``axis`` is
    0. (At an edge a result that is wrong looks like one without a guard.)"""
    a, x = given["A"].copy(), given["x"].copy()
    place = tuple(extent // 2 for extent in a.shape)
    a[place], x[place[axis]] = np.inf, 0
    return {"A": a, "x": x}


def sectors_a_load(counts: Counts) -> float:
    """Sectors that a load of a warp touches."""
    return counts.global_load_sectors / max(counts.global_load_requests, 1)


def zero_at_infinite_x(given: Given, axis: int) -> Given:
    """A number of x is infinite, and meets a 0 in the middle of A, of which ``axis`` is summed."""
    a, x = given["A"].copy(), given["x"].copy()
    k = len(x) // 2
    along = np.moveaxis(a, axis, 0)[k]
    along[len(along) // 2], x[k] = 0, np.inf
    return {"A": a, "x": x}


ANY_GEMV = Domain(
    sizes=domain.shapes(M=(1, 3, 7, 8, 9, 33, 300), K=(*COLUMNS, 70_000)).with_outlier(M=2053),
    values=(
        domain.data("A", *domain.ORDINARY, domain.LARGE),
        (
            *domain.data("x", *domain.ORDINARY, domain.FAINT),
            InputClass("x = 0 where A is infinite", lambda given, rng: zero_at_infinity(given, 1)),
            domain.infinite_at_the_ends("A", -1, "x"),
            domain.infinite_at_the_ends("x", -1),
            InputClass(
                "A = 0 where x is infinite", lambda given, rng: zero_at_infinite_x(given, 1)
            ),
        ),
    ),
)

GEMV_BY_WARPS = KernelExercise(
    inputs=matrix_and_vector,
    reference=lambda given: {"y": exact_product(given["A"], given["x"])},
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((19, 200), (8, 64), (3, 33), (1, 1)),
    full=(8192, 8192),
    reduction=lambda size: size[1],
    contract=ANY_GEMV,
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(16, 256)),
        method.balanced_loads(2.0, size=(16, 31)),
        method.shuffles(5, advice="The lanes combine their sums by shuffles.", size=(16, 256)),
        method.no_shared_memory("Shuffles need no shared memory.", size=(16, 256)),
        Requirement(
            "bytes of the sectors that loads touch, over the bytes that they load",
            lambda stats: 32 * stats.counts.global_load_sectors / stats.counts.global_load_bytes,
            at_most=1.5,
            advice="Neighbouring lanes should load neighbouring elements at once: a lane's next "
            "element is 32 further on.",
            size=(16, 256),
        ),
    ),
    target=Target(
        label="load requests for each row of 256",
        measure=lambda counts: counts.global_load_requests / 16,
        at_most=16,
        advice="32 neighbours of the row and 32 of x make two requests.",
        size=(16, 256),
    ),
    within=2.0,
)

GEMV_OF_COLUMNS = KernelExercise(
    inputs=lambda rng, size: (
        matrix_and_vector(rng, size) | {"x": floats(rng, size[0]), "y": empty(size[1])}
    ),
    reference=lambda given: {"y": exact_product(given["A"].T, given["x"])},
    launch=lambda size: Launch((ceil_div(size[1], 32),), (256,)),
    small=((37, 100), (64, 32), (5, 33), (1, 1)),
    full=(8192, 8192),
    reduction=lambda size: size[0],
    contract=Domain(
        sizes=domain.shapes(M=(1, 7, 8, 9, 33, 300), K=COLUMNS).with_outlier(M=4099, K=4099),
        values=(
            domain.data("A", *domain.ORDINARY, domain.LARGE),
            (
                *domain.data("x", *domain.ORDINARY, domain.FAINT),
                InputClass(
                    "x = 0 where A is infinite", lambda given, rng: zero_at_infinity(given, 0)
                ),
                domain.infinite_at_the_ends("A", -2, "x"),
                InputClass(
                    "A = 0 where x is infinite", lambda given, rng: zero_at_infinite_x(given, 0)
                ),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(64, 64)),
        Requirement(
            "sectors read for each element of A",
            lambda stats: stats.counts.global_load_sectors / 64**2,
            at_most=0.2,
            advice="The loads of A and x shall touch fewer sectors; other loads are no help.",
            size=(64, 64),
        ),
    ),
    target=Target(
        label="sectors for each load",
        measure=sectors_a_load,
        at_most=3.0,
        advice="Which of column and band should change from one threadIdx.x to the next?",
        size=(64, 64),
    ),
    within=2.0,
)


def scattered_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Numbers far enough apart that a sum which is not scaled again is plainly wrong. In long rows
    the second has its largest last, and an exponential overflows where that was not looked at."""
    x = (4 * rng.standard_normal(size) - 20).astype(np.float32)
    if size[1] > 2000:
        x[1:2, -1] = 130
    return {"x": x, "y": empty(size), "columns": np.int32(size[1])}


def pieces_of(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(largest, sums) of up to 40 pieces, some of them or all with nothing in them."""
    count = int(rng.integers(1, 41))
    largest = rng.choice([-700.0, 0.0, 800.0]) + 20 * rng.standard_normal(count)
    if rng.random() < 0.25:
        largest *= rng.choice([1e100, 1e305])  # no number is a stand-in for minus infinity
    sums = (1 + rng.random(count)) * 10.0 ** rng.integers(0, rng.choice([1, 20, 250]), count)
    empty_ones = rng.random(count) < rng.choice([0.0, 0.3, 1.0])
    return np.where(empty_ones, -np.inf, largest), np.where(empty_ones, 0.0, sums)


def merged(largest: np.ndarray, sums: np.ndarray) -> tuple[float, float]:
    """The pair of the whole row."""
    top = largest.max()
    shift = 0.0 if top == -np.inf else top
    return float(top), float((sums * np.exp(largest - shift)).sum())


def pair(merge: Callable[..., Any], largest: np.ndarray, sums: np.ndarray) -> Any:
    """The two numbers apart, each of which is to be right for its own size."""
    found = merge(largest, sums)
    return tuple(found.tolist()) if np.shape(found) == (2,) else found


MERGED_SUMS = PythonExercise(
    cases=(
        (np.array([1.0, 3.0, 2.0]), np.array([1.5, 1.0, 2.0])),
        (np.array([-np.inf, 3.0]), np.array([0.0, 1.25])),
        (np.array([-np.inf, -np.inf]), np.array([0.0, 0.0])),
        (np.array([1000.0, 999.0]), np.array([1.0, 1.0])),
        (np.array([-2000.0]), np.array([7.0])),
        (np.array([-1e100, -np.inf]), np.array([1.5, 0.0])),
        (np.array([0.0, 14.0]), np.array([1e6, 1.5])),
        (np.array([-1.5e308, -np.inf, -1.5e308]), np.array([1e16, 0.0, 3e16])),
        (np.array([0.0, 40.0]), np.array([1e17, 3.0])),
        (np.array([-500.0, 0.0]), np.array([1e218, 3.0])),
    ),
    reference=merged,
    call=pair,
    contract=DrawnCases(pieces_of),
)

KEPT_ROW = KernelExercise(
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 7, 40), columns=(*COLUMNS, 4095, 4096)),
        values=(domain.data("x", *domain.ANY_FINITE, domain.HUGE, domain.AT_LOWEST),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=(2, 1024)),
        Requirement(
            "exponentials for each number of a row of 4096",
            lambda stats: stats.opcodes("ex2.") / 4096,
            at_most=1.1,
            advice="Keep the exponential, too: in the place of the number that it is of.",
            size=(1, 4096),  # all sixteen registers of a thread have a number
        ),
        method.no_local_memory(IN_REGISTERS, size=(2, 1024)),
    ),
    target=Target(
        label="loads of each number",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 1024),
        at_most=1.0,
        advice="The second and the third loop still read global memory.",
        size=(2, 1024),
    ),
    within=2.0,
)


SHORT_ROWS = KernelExercise(
    inputs=lambda rng, size: {
        "x": (4 * rng.standard_normal(size) - 20).astype(np.float32),
        "y": empty(size),
        **int32s(rows=size[0], columns=size[1]),
    },
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((19, 31), (8, 32), (3, 7), (1, 1)),
    full=(1 << 20, 32),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 7, 8, 9, 33, 300), columns=(1, 2, 3, 10, 17, 31, 32)),
        values=(domain.data("x", *domain.ANY_FINITE, domain.HUGE, domain.AT_LOWEST),),
    ),
    method=(
        method.one_store_per_result(),
        method.a_thread_each(size=(16, 32)),
        method.balanced_work(2.0, size=(16, 32)),
    ),
    target=Target(
        label="instructions of warps per row",
        measure=lambda counts: counts.warp_instructions / 64,
        at_most=150,
        advice="A row fits into the lanes of one warp. Let each warp have a row, and shuffle.",
        size=(64, 32),
    ),
    within=2.0,
)


ROW_OF_TWO = KernelExercise(
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((2 * size[0],), (256,)),
    small=((3, 700), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 7), columns=(*COLUMNS, 9001)),
        values=(domain.data("x", *domain.ANY_FINITE, domain.HUGE),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(3.0, size=(2, 1024)),
        method.instructions(
            "addresses in another block",
            "mapa.",
            at_least=1,
            advice="The blocks meet in each other's shared memory: see address_in_block.",
            size=(2, 1024),
        ),
    ),
    target=Target(
        label="loads of each number",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 1024),
        at_most=2.0,
        advice="A block need not read the other's half: it sends its pair.",
        size=(2, 1024),
    ),
    within=2.0,
)


OWN_SOFTMAX = KernelExercise(
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 10, 1 << 16),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 7, 40), columns=(*COLUMNS, 4099, 30_000)),
        values=(domain.data("x", *domain.ANY_FINITE, domain.HUGE, domain.AT_LOWEST),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(3.0, size=(2, 1024)),
        Requirement(
            "sectors for each load of a warp",
            lambda stats: sectors_a_load(stats.counts),
            at_most=4.5,
            advice="Let the lanes of a warp load neighbouring numbers at once.",
            size=(2, 1024),
        ),
        Requirement(
            "loads of each number",
            lambda stats: stats.counts.global_load_bytes / (4 * 2 * 1024),
            at_most=2.5,  # each thread may begin with the row's first number
            advice="One pass can find the largest number and the sum, if the sum is rescaled "
            "whenever the largest number changes.",
            size=(2, 1024),
        ),
    ),
    within=2.0,
)


TEST_SOFTMAX = told_apart(
    SOFTMAXES,
    "Which row would show it: how long, how far from 0, with -inf in which places, and beside "
    "which other rows?",
    matrix_of_rows,
)


def outputs_and_gradients(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Parts of rows of a softmax (in a whole row of one number the result would be 0), a gradient
    for each, and room for the result."""
    return {
        "y": 0.75 * row_softmax(rng.standard_normal(size)).astype(np.float32),
        "dy": floats(rng, size),
        "dx": empty(size),
        "columns": np.int32(size[1]),
    }


def gradient(given: Given) -> dict[str, np.ndarray]:
    """dx in float64."""
    y, dy = (given[name].astype(np.float64) for name in ("y", "dy"))
    return {"dx": y * (dy - (y * dy).sum(axis=1, keepdims=True))}


def zeros_in_y(given: Given, rng: np.random.Generator) -> Given:
    """The softmax of numbers far below the largest: 0, here in each second and third column."""
    y = given["y"].copy()
    y[:, 1::3] = y[:, 2::3] = 0
    return {"y": y}


ABOUT_1E36 = "about 1e36", lambda x, rng: x.astype(np.float64) * 1e36

SOFTMAX_GRADIENT = KernelExercise(
    inputs=outputs_and_gradients,
    reference=gradient,
    worked=Worked(  # the sums of y dy are 3 and 2
        size=(2, 3),
        values={
            "y": (0.5, 0.25, 0.25, 0.25, 0.25, 0.5),
            "dy": (6, 2, -2, 4, 8, -2),
        },
    ),
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, 2048),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 7, 40), columns=COLUMNS),
        values=(
            domain.data("dy", *domain.ORDINARY, domain.FAINT, ABOUT_1E36),
            (domain.AS_GIVEN, InputClass("y with zeros", zeros_in_y)),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(2 * 4 * 2 * 2048, size=(2, 2048)),
        method.balanced_work(2.0, size=(2, 1024)),
        method.shared_memory(0, 1024, advice="Registers have room for the row.", size=(2, 1024)),
        method.no_local_memory(IN_REGISTERS, size=(2, 1024)),
    ),
    target=Target(
        label="loads for each result",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 1024),
        at_most=2.0,
        advice="The registers hold y and dy after the first loop: use them.",
        size=(2, 1024),
    ),
    within=2.0,
)
