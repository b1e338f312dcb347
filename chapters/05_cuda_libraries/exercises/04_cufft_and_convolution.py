"""The exercises of "cuFFT and convolution"."""

from __future__ import annotations

from math import log2, prod
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise

# --- the other half ---


def mirrored(given: Given) -> dict[str, np.ndarray]:
    n = int(given["n"])
    half = given["half"].reshape(-1, n // 2 + 1, 2).astype(np.float64)
    rest = half[:, 1 : (n + 1) // 2][:, ::-1] * [1, -1]
    return {"whole": np.concatenate((half, rest), axis=1)[:, :n].reshape(-1)}


WHOLE_SPECTRUM = KernelExercise(
    inputs=lambda rng, size: {
        "half": floats(rng, 2 * size[0] * (size[1] // 2 + 1)),
        "whole": empty(2 * size[0] * size[1]),
        "n": np.int32(size[1]),
    },
    reference=mirrored,
    launch=lambda size: Launch((size[0], ceil_div(size[1], 128)), (128,)),
    small=((3, 300), (2, 129), (4, 8), (1, 1)),
    full=(4096, 4096),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 5, 7), n=(1, 2, 3, 4, 5, 31, 64, 127, 256, 257, 1025)
        ).with_outlier(rows=67, n=40_001),
        values=(domain.data("half", *domain.ANY_FLOAT),),
    ),
    # A thread may store a pair that mirror each other, and the one in the middle twice.
    method=(method.one_store_per_result(at_most=1.01), method.balanced_work()),
)

# --- where a plan looks ---


def place_of(
    b: int,
    index: tuple[Any, ...],
    n: tuple[Any, ...],
    embed: tuple[Any, ...] | None,
    stride: int,
    dist: int,
    half: bool,
) -> int:
    if embed is None:
        embed = (*n[:-1], n[-1] // 2 + 1) if half else n
        stride, dist = 1, prod(embed)
    return b * dist + stride * sum(at * prod(embed[axis + 1 :]) for axis, at in enumerate(index))


def any_place(rng: np.random.Generator) -> tuple[Any, ...]:
    rank = int(rng.integers(1, 4))
    n = tuple(int(extent) for extent in rng.integers(1, 12, rank))
    half = bool(rng.integers(2))
    there = (*n[:-1], n[-1] // 2 + 1) if half else n
    index = tuple(int(rng.integers(extent)) for extent in there)
    embed = None
    if rng.integers(3):
        inner = (int(extent + rng.integers(5)) for extent in there[1:])
        embed = (int(rng.integers(there[0] + 5)), *inner)
    stride, dist = (int(value) for value in rng.integers(1, 200, 2))
    return int(rng.integers(0, 9)), index, n, embed, stride, dist, half


PLAN_PLACE = PythonExercise(
    cases=(
        (0, (3,), (8,), (8,), 1, 8, False),
        (2, (3,), (8,), (8,), 5, 1, False),
        (1, (2, 3), (4, 6), (9, 7), 2, 100, False),
        (3, (1, 2, 3), (2, 4, 6), (9, 5, 8), 1, 999, False),
        (2, (3,), (8,), None, 5, 7, False),
        (2, (3,), (8,), None, 5, 7, True),
        (1, (3, 2), (4, 6), None, 1, 1, True),
        (1, (1, 3, 2), (2, 4, 7), None, 3, 1, True),
        (2, (1, 2), (4, 6), (4, 9), 1, 36, True),
        (1, (3, 2), (4, 6), (2, 7), 1, 40, False),
        (0, (1, 2, 3), (4, 5, 6), (4, 5, 7), 1, 1, True),
        (2, (5,), (8,), (0,), 3, 1, False),
        (5, (900, 1000, 3), (1024, 1024, 1024), None, 1, 1, False),
    ),
    reference=place_of,
    contract=DrawnCases(any_place, count=64),
)

# --- full, same, valid ---


def part(given: Given) -> dict[str, np.ndarray]:
    x, h = (given[name].astype(np.float64) for name in "xh")
    full = np.convolve(x, h)
    first, count = int(given["first"]), int(given["count"])
    return {"y": np.pad(full[first:], (0, count))[:count]}


ONLY_THE_TAPS = Requirement(
    "instructions of all threads, over those of the course's solution",
    lambda stats: stats.counts.thread_instructions / stats.ours.counts.thread_instructions,
    at_most=6.0,
    advice="A result has as many products as the filter has taps: go through these, and not "
    "through all numbers of x.",
    size=(1025, 8, 0, 1032),
)

CONVOLUTION_PART = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]),
        "h": floats(rng, size[1]),
        "y": empty(size[3]),
        **int32s(n=size[0], taps=size[1], first=size[2], count=size[3]),
    },
    reference=part,
    launch=lambda size: Launch((ceil_div(size[3], 128),), (128,)),
    small=(
        (300, 9, 3, 309),
        (700, 601, 600, 70),
        (130, 4, 1, 134),
        (3, 7, 0, 150),
        (33_500, 3, 33_300, 200),  # places that a short does not count
        (9, 4801, 4700, 130),
        (1, 1, 0, 1),
    ),
    budget=600_000,
    full=(1 << 24, 33, 16, 1 << 24),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 2, 5, 31, 127, 257, 1025),
            taps=(1, 2, 3, 8, 33, 61),
            first=(0, 1, 2, 30, 60, 300),
            count=(1, 30, 130, 301, 1100),
        )
        .with_outlier(n=4099, taps=301, count=4099)
        .limited_in("first"),
        values=(
            (*domain.data("x h", *domain.ORDINARY), domain.infinite_at_the_ends("h", -1)),
            (
                *domain.data("x", domain.SOME_INFINITE, domain.SOME_NAN),
                domain.zeros_and_infinities("h", "x"),
                domain.zeros_and_infinities("x", "h"),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(at_most=4.0, size=(1025, 8, 0, 1032)),
        ONLY_THE_TAPS,
    ),
)

# --- how long a segment? ---


def cheapest(taps: int, most: int) -> tuple[int, float]:
    def work(points: int) -> float:
        return (10 * points * log2(points) + 6 * points) / (2 * (points - taps + 1))

    allowed = [1 << k for k in range(1, 40) if taps <= 1 << k <= most]
    points = min(allowed, key=work)
    return points, work(points)


def any_filter(rng: np.random.Generator) -> tuple[int, int]:
    taps = int(2 ** rng.uniform(0, 13))
    least = max(1, (taps - 1).bit_length())
    return taps, 1 << int(rng.integers(least, least + 8))


def the_only_tie() -> tuple[tuple[int, int]]:
    """128 FLOPs a result with 2^23 points and with 2^24."""
    return ((655_361, 1 << 24),)


BEST_SEGMENT = PythonExercise(
    cases=(
        (1, 2),
        (1, 4096),
        (2, 1 << 16),
        (9, 16),
        (129, 1 << 20),
        (129, 512),
        (513, 1 << 14),
        (4096, 4096),
        (4097, 1 << 20),
        (1 << 27, 1 << 40),
    ),
    reference=cheapest,
    rtol=1e-9,
    contract=DrawnCases(any_filter, large=the_only_tie),
)

# --- two segments a transform ---


def paired(given: Given) -> dict[str, np.ndarray]:
    n, points, step = (int(given[name]) for name in ("n", "points", "step"))
    rows = rows_for(n, step)
    long = np.pad(given["x"], (0, 2 * rows * step + points))
    segments = np.stack([long[s * step :][:points] for s in range(2 * rows)])
    return {"out": np.stack((segments[0::2], segments[1::2]), axis=-1).reshape(-1)}


def rows_for(n: int, step: int) -> int:
    return ceil_div(n, 2 * step)


TWO_SEGMENTS = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]),
        "out": empty(2 * size[1] * rows_for(size[0], size[2])),
        **int32s(n=size[0], points=size[1], step=size[2]),
    },
    reference=paired,
    launch=lambda size: Launch((rows_for(size[0], size[2]), ceil_div(size[1], 128)), (128,)),
    small=((1000, 250, 201), (5000, 70, 2000), (300, 130, 33), (20, 8, 5), (1, 1, 1)),
    full=(1 << 24, 4096, 3968),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 3, 31, 256, 1025, 4099), points=(1, 2, 33, 64, 257), step=(50, 97, 300)
        ).with_outlier(n=70_001, points=2053),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    # Zeros first and then what there is: two stores, and right.
    method=(method.one_store_per_result(at_most=2.0), method.balanced_work()),
)
