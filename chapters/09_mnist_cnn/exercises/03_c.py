"""The exercises of "The network in C"."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import HostExercise
from course_utils.exercises.authoring.versions import told_apart

from .tested_gradients import LAYERS, numbers_for_a_layer

TEST_GRADIENT = told_apart(
    LAYERS,
    "Which number of which x would show it, with which dy? Measure the slope there.",
    numbers_for_a_layer,
)


def runs(*cases: str) -> tuple[str, ...]:
    """Cases for a main function, each with a number that only it and the checker know."""
    return tuple(f"{case} {crc32(case.encode()) % 1_000_000}" for case in cases)


def is_right(case: str) -> str:
    """What a main function prints where all of the result is right."""
    return f"right in run {case.split()[-1]}\n"


def planes(rng: np.random.Generator) -> str:
    """M H W and how many different values there are: with few of them many are equal."""
    m, h, w = (int(n) for n in rng.integers(1, (9, 33, 33)))
    return runs(f"{m} {2 * h} {2 * w} {rng.choice([1, 2, 4, 100_000, 200_000, 300_000])}")[0]


POOL_GRADIENT = HostExercise(
    driver="09_mnist_cnn/exercises/pool_gradient_main.c",
    cases=runs(
        "1 2 2 100000",
        "1 4 6 12",
        "1 4 6 100000",
        "2 4 6 3",
        "3 28 28 4",
        "2 2 10 1",
        "5 6 2 100000",
        "2 8 6 200000",
        "2 8 6 300000",
        "1 70000 2 100000",
        "1 2 70000 100000",
        "1 1000 1000 100000",
        "131 4 2 100000",
    ),
    reference=is_right,
    contract=DrawnCases(planes),
)


def batches(rng: np.random.Generator) -> str:
    n, c, p = (int(k) for k in rng.integers(1, (9, 7, 90)))
    base, far = rng.choice([0, 1, -300, 1000, 1e-5]), rng.choice([0, 0, 1000])
    return runs(f"{n} {c} {p} {base} {far}")[0]


CHANNEL_STATISTICS = HostExercise(
    driver="09_mnist_cnn/exercises/channel_statistics_main.c",
    cases=runs(
        "2 1 3 0 0",
        "3 2 5 0 0",
        "1 1 1 5 0",
        "4 3 1 1 0",
        "1 4 49 0 0",
        "50 2 196 1000 0",
        "64 1 784 -1000 0",
        "50 2 784 0 1000",
        "1 1 1000000 1 0",
        "131 67 3 0 0",
        "3 2 49 1e-5 0",
        "300 2 3 0 0",
        "2 300 3 0 0",
        "1 65600 2 0 0",
        "65600 1 2 0 0",
    ),
    reference=is_right,
    contract=DrawnCases(batches),
)


def layers(rng: np.random.Generator) -> str:
    n, c, h, w, f = (int(k) for k in rng.integers(1, (4, 6, 18, 18, 6)))
    return runs(f"{n} {c} {h} {w} {f}")[0]


CONV_GRADIENT = HostExercise(
    driver="09_mnist_cnn/exercises/conv_gradient_main.c",
    cases=runs(
        "1 1 3 3 1",
        "1 2 1 2 2",
        "1 1 5 4 1",
        "2 3 5 4 2",
        "1 2 1 1 3",
        "3 1 1 7 2",
        "1 5 8 1 1",
        "1 2 70 71 2",
        "1 1 5 4 67",
        "2 67 3 4 1",
        "67 2 2 3 1",
        "1 1 300 301 1",
        "1 1 2 3 300",
        "1 300 2 3 1",
        "300 1 2 3 1",
        "1 1 2 40000 1",
        "1 1 40000 2 1",
    ),
    reference=is_right,
    contract=DrawnCases(layers),
)
