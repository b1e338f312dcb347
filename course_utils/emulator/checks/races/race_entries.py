"""Entries: one access of one thread, packed into an int64.

An entry holds the thread (numbered throughout the launch), the number of the instruction, and the
time of the thread's warp (:mod:`.vector_clocks`). 0 means no access.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

THREAD_BITS, SITE_BITS = 31, 12
CLOCK_SHIFT = THREAD_BITS + SITE_BITS
THREAD = (1 << THREAD_BITS) - 1
SITE = (1 << SITE_BITS) - 1
MAX_SITES = 1 << SITE_BITS - 1
MAX_CLOCK = (1 << 63 - CLOCK_SHIFT) - 1  # times beyond are all the same: races then go unseen

N = TypeVar("N", int, np.ndarray)


def pack(thread: np.ndarray, clock: int | np.ndarray, number: int | np.ndarray) -> np.ndarray:
    """Entries, int64; ``number`` is the instruction's, odd for one that does not race with its
    like."""
    return clock << CLOCK_SHIFT | number << THREAD_BITS | thread


def number_of(entries: N) -> N:
    """The number of the instruction that made each access."""
    return entries >> THREAD_BITS & SITE
