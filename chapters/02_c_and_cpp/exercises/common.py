"""Inputs and references of more than one notebook of "C and C++"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

LARGEST = 2**31 - 1  # of the ints
LARGEST_EXACT = 2**24  # up to here a float holds every whole number
PARTS = 4, 1024, 2.0**-100, 2.0**100  # what numbers are parts of: ordinary ones, large, small


def listed(numbers: Iterable[Any]) -> str:
    """How many numbers there are, and then the numbers: what most programs here read."""
    values = list(numbers)
    return f"{len(values)}\n{' '.join(map(str, values))}\n"


def values_of(case: str) -> list[int]:
    """The numbers of a case that :func:`listed` made."""
    return [int(word) for word in case.split()[1:]]


def whole(rng: np.random.Generator, n: int, low: int = -50, high: int = 50) -> list[int]:
    """n whole numbers from low to high, both included."""
    return [int(x) for x in rng.integers(low, high + 1, n)]


def shown(values: Iterable[Any]) -> list[str]:
    """What a driver prints of many values: the first 50, and one number that all others change."""
    numbers = list(values)
    first = [str(x) if isinstance(x, int) else f"{x:.9g}" for x in numbers[:50]]
    rest = sum((i % 97 + 1) * x for i, x in enumerate(numbers) if i >= 50)
    if len(numbers) <= 50:
        return first
    return [*first, f"a weighted sum of the others: {rest:.17g}"]


def driver(name: str) -> str:
    """The course's main function for an exercise of this name."""
    return f"02_c_and_cpp/exercises/drivers/{name}.c"


def some_length(rng: np.random.Generator, least: int = 1, most: int = 70_000) -> int:
    """Mostly few elements; each third time more than a byte can count, now and then more than 16
    bits can."""
    many = rng.integers(3) == 0
    top = int(rng.choice([300, 3000, most])) if many else 30
    return int(rng.integers(max(least, top // 2) if many else least, min(top, most) + 1))
