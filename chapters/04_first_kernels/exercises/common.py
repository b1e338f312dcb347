"""Shared by exercises of several notebooks of this chapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import Target

BY_SHUFFLES = Target(
    label="requests to shared memory",
    measure=lambda counts: counts.shared_load_requests + counts.shared_store_requests,
    at_most=0,
    advice="A shuffle needs no shared memory: it reads the other lane's register.",
    size=1000,
)
ORDERS = {"acquire", "release", "acq_rel", "sc", "membar"}  # of PTX, also in the names of fences


def atomics_on(space: str) -> Callable[[Counts], int]:
    """Counts the atomics of all threads on "global" or "shared" memory."""
    starts = f"atom.{space}.", f"red.{space}."
    return lambda counts: sum(n for name, n in counts.opcodes.items() if name.startswith(starts))


def orders(at_least: int, *, advice: str, size: Any = None) -> Requirement:
    """Fences, and accesses with an order of their own. A flag that is handed over takes two of
    them: one where it is set, one where it is found. Waiting with acquire counts each look."""

    def measure(stats: LaunchStats) -> int:
        found = ((name.split("."), n) for name, n in stats.counts.opcodes.items())
        return sum(n * _sides(words) for words, n in found if ORDERS & {*words})

    return Requirement(
        "fences, and accesses that acquire or release", measure, at_least, advice=advice, size=size
    )


def _sides(words: list[str]) -> int:
    """An atomic that acquires and releases does the work of two."""
    return 2 if words[0] == "atom" and "acq_rel" in words else 1


def words(rng: np.random.Generator, n: int) -> np.ndarray:
    """n unsigned numbers of 32 bits, drawn from all of them."""
    return rng.integers(0, 2**32, n, dtype=np.uint32)


def padded_rows(x: np.ndarray, length: int, fill: float) -> np.ndarray:
    """``x`` cut into rows of ``length``, the last one filled up."""
    return np.append(x, np.full(-len(x) % length, fill, x.dtype)).reshape(-1, length)
