"""Inputs and references of more than one notebook of "C and C++"."""

from __future__ import annotations

import numpy as np

LARGEST = 2**31 - 1  # of the ints


def listed(numbers: object) -> str:
    """How many numbers there are, and then the numbers: what most programs here read."""
    values = list(numbers)
    return f"{len(values)}\n{' '.join(map(str, values))}\n"


def values_of(case: str) -> list[int]:
    """The numbers of a case that :func:`listed` made."""
    return [int(word) for word in case.split()[1:]]


def whole(rng: np.random.Generator, n: int, low: int = -50, high: int = 50) -> list[int]:
    """n whole numbers from low to high, both included."""
    return [int(x) for x in rng.integers(low, high + 1, n)]
