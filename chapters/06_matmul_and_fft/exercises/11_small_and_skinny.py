"""The exercises of "Small and skinny GEMMs"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

from .common import ORDINARY, chosen, product_of_rows, strange


def time_of(slices: int, tiles: int, steps: int, slots: int) -> int:
    """The cost of a number of slices by the task, in steps along K."""
    waves = ceil_div(tiles * slices, slots)
    return waves * (ceil_div(steps, slices) + 4) + (slices if slices > 1 else 0)


def how_many_slices(tiles: int, steps: int, slots: int) -> int:
    """The number of slices with the least time."""
    return min(range(1, steps + 1), key=lambda s: time_of(s, tiles, steps, slots))


def few_tiles(rng: np.random.Generator) -> tuple[int, int, int]:
    """Few tiles or more than fit, and a K from one step to many."""
    return (
        int(rng.integers(1, 400)),
        int(rng.integers(1, 600)),
        int(rng.choice([20, 132, 264, 528])),
    )


HOW_MANY_SLICES = PythonExercise(
    cases=(
        (16, 1024, 528),
        (1, 1, 132),
        (1, 512, 132),
        (128, 64, 132),
        (100, 64, 132),
        (133, 256, 132),
        (512, 256, 132),
        (7, 3, 20),
        (199, 5, 528),  # 2 slices are as good as 1, if 1 were to pay for a second pass
        (1, 9000, 132),
        (1, 300_000, 100_000),
    ),
    reference=how_many_slices,
    contract=DrawnCases(few_tiles),
)


def to_finish(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """Slices of partial sums, what C held before, and a bias."""
    slices, m, n = size
    return {
        "sums": floats(rng, (slices, m, n)),
        "C": floats(rng, (m, n)),
        "bias": floats(rng, n),
        "alpha": np.float32(rng.uniform(0.5, 2.0)),
        "beta": np.float32(0 if size == WITHOUT_C else rng.uniform(1.5, 2.0)),
        **int32s(slices=slices, M=m, N=n),
    }


def cancelling(sums: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The second slice takes back the first, next to which the others are rounding: their sum is
    exact in the order of the slices, and lost in another."""
    if len(sums) < 3:
        return sums
    large = 2.0**27 * rng.choice((-1, 1), sums.shape[1:])
    return np.stack([large, -large, *sums[2:]])


def finished(given: Given) -> dict[str, np.ndarray]:
    """alpha P + beta C + bias in float64, an eighth of it where it is negative."""
    value = float(given["alpha"]) * given["sums"].astype(np.float64).sum(axis=0) + given["bias"]
    if given["beta"] != 0:
        value += float(given["beta"]) * given["C"]
    return {"C": np.where(value < 0, value / 8, value)}


NAN_IN_C = InputClass(
    "beta = 0, C all NaN", lambda given, rng: {"beta": 0, "C": np.full_like(given["C"], np.nan)}
)
NOTHING_IN_C = InputClass(
    "beta = 0, C never written", lambda given, rng: {"beta": 0, "C": empty(given["C"].shape)}
)
INF_IN_C = InputClass(
    "beta = 0, C all infinite",
    lambda given, rng: {"beta": 0, "C": np.full_like(given["C"], np.inf)},
)
SMALL_BETA = InputClass(
    "beta = 1e-8, C about 1e10",
    lambda given, rng: {"beta": 1e-8, "C": 1e10 * rng.standard_normal(given["C"].shape)},
)
FIVE_SLICES = 5, 16, 48
MANY_SLICES = 67, 16, 3
WITHOUT_C = 5, 16, 47  # beta is 0

SECOND_PASS = KernelExercise(
    inputs=to_finish,
    reference=finished,
    launch=lambda size: Launch((ceil_div(size[1] * size[2], 256),), (256,)),
    small=((5, 19, 33), (2, 4, 64), (1, 5, 7), (1, 1, 1)),
    worked=Worked(whole=("C",)),
    full=(8, 1024, 4096),
    reduction=lambda size: size[0],
    contract=Domain(
        sizes=chosen(
            *((1, 1, 1), (2, 1, 1), (3, 2, 5), (5, 16, 16), (1, 17, 31), (33, 3, 7), (2, 1, 257)),
            *((2, 257, 1), (7, 13, 61), (301, 1, 3), (2, 32771, 1), (1, 3, 32771)),
            names=("slices", "M", "N"),
        ),
        values=(
            domain.data(
                "sums", *ORDINARY, domain.LARGE, ("that cancel in their order", cancelling)
            ),
            (
                *domain.scalars("beta", 0, 1, -1.5),
                *domain.data("C", domain.LARGE, domain.FAINT, domain.SOME_INFINITE)[1:],
                NAN_IN_C,
                INF_IN_C,
                NOTHING_IN_C,
                SMALL_BETA,
            ),
            domain.scalars("alpha", 0, 1, -2),
            domain.data("bias", domain.NEGATIVE, domain.POSITIVE, domain.LARGE),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.atomics(
            "global",
            at_most=0,
            advice="Atomics add up in the order in which threads come. A thread that has its "
            "element of all slices needs none.",
            size=FIVE_SLICES,
        ),
        method.balanced_work(1.5, size=FIVE_SLICES),
        Requirement(
            "bytes read from sums, over its size",
            lambda stats: _read(stats, "sums") / (4 * 67 * 16 * 3),
            at_most=1.0,
            advice="Each partial sum is needed once.",
            size=MANY_SLICES,
        ),
        Requirement(
            "bytes read from C, over its size",
            lambda stats: _read(stats, "C") / (4 * 16 * 3),
            at_most=1.0,
            advice="C is read once, before its new value is stored.",
            size=MANY_SLICES,
        ),
        Requirement(
            "bytes read from C where beta is 0",
            lambda stats: _read(stats, "C"),
            at_most=0,
            advice="Where beta is 0, C is not read: put the load behind the test.",
            size=WITHOUT_C,
        ),
    ),
    within=2.0,
)


def _read(stats: LaunchStats, array: str) -> int:
    """Bytes that all threads read from an array."""
    return stats.loaded_from(array)


def band_order(number: int, tiles_m: int, tiles_n: int, band: int) -> tuple[int, int]:
    """The tile of a block."""
    head = number // (band * tiles_n) * band
    inside = number - head * tiles_n
    column, row = divmod(inside, min(band, tiles_m - head))
    return head + row, column


def any_tile(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """A block of any grid; the rows are seldom a multiple of the band."""
    tiles_m, tiles_n, band = (int(rng.integers(1, most)) for most in (40, 40, 20))
    return int(rng.integers(tiles_m * tiles_n)), tiles_m, tiles_n, band


BAND_ORDER = PythonExercise(
    cases=(
        (5, 8, 10, 4),
        (40, 8, 10, 4),
        (79, 8, 10, 4),
        (0, 1, 1, 1),
        (17, 5, 7, 1),
        (17, 5, 7, 5),
        (33, 5, 7, 2),
        (30, 5, 7, 4),
        (11, 3, 4, 16),
        (2**55 * 7 - 1, 2**40, 2**20, 7),
        (2**55 * 7 - 1, 2**40, 2**20, 2**30 + 3),
    ),
    reference=band_order,
    contract=DrawnCases(any_tile),
)


def few_rows(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """A (M x K), B (N x K) and room for C (M x N)."""
    m, n, k = size
    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {"A": floats(rng, (m, k)), "B": floats(rng, (n, k)), "C": empty((m, n))} | sizes


ONE_READ = 8, 16, 96  # the most rows

ROWS_AT_ONCE = KernelExercise(
    inputs=few_rows,
    reference=product_of_rows,
    launch=lambda size: Launch((ceil_div(size[1], 4),), (128,)),
    small=((4, 9, 70), (8, 4, 64), (3, 7, 33), (1, 1, 1)),
    full=(8, 8192, 8192),
    reduction=lambda size: size[2],
    contract=Domain(
        sizes=chosen(
            *((1, 1, 1), (2, 3, 31), (8, 5, 32), (5, 4, 33), (7, 17, 65), (6, 1, 300), (3, 9, 2)),
            *((1, 33, 5), (8, 2, 1025), (8, 8200, 3), (1, 1025, 65), (1, 1, 4099)),
        ),
        values=(
            (
                *domain.data("A", *ORDINARY, domain.LARGE),
                *strange("A", 1),
                domain.zero_times_infinity_along("B", -1, "A", -1),
            ),
            (
                *domain.data("B", *ORDINARY, domain.FAINT),
                *strange("B", 1),
                domain.zero_times_infinity_along("A", -1, "B", -1),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=ONE_READ),
        method.no_local_memory(
            "Eight sums want eight registers: let the loops over m have a constant number of turns "
            "each, and unroll them.",
            size=ONE_READ,
        ),
        method.reads(
            "A",
            4 * 4 * 96,
            16 * 4 * 8 * 96,
            advice="Each row of B meets each row of A once, and room for eight rows is no reason "
            "to read more.",
            size=ONE_READ,
        ),
        method.reads(
            "B",
            0,
            16 * 96 * 4,
            advice="B is read anew for each row of A. Keep the number of "
            "B in a register, and a sum for each row.",
            size=ONE_READ,
        ),
        Requirement(
            "bytes of the sectors that loads touch, over the bytes that they load",
            lambda stats: 32 * stats.counts.global_load_sectors / stats.counts.global_load_bytes,
            at_most=1.5,
            advice="Lanes side by side load neighbours of a row.",
            size=ONE_READ,
        ),
    ),
    within=2.0,
)
