"""Shared by exercises on vectors: lengths to try, and a launch of one thread for each element."""

from __future__ import annotations

from ...integers import ceil_div
from .launches import Launch

SMALL = (1000, 257, 31, 1)  # no multiple of a block, just over a block, less than a warp, least
FULL = 1 << 24
BLOCK = 256  # threads


def one_thread_each(n: int) -> Launch:
    """Enough blocks of 256 threads for n elements."""
    return Launch((ceil_div(n, BLOCK),), (BLOCK,))


def spare_blocks(n: int) -> tuple[Launch, ...]:
    """Grids with one and with five blocks more than it takes: a guard copes with any of them."""
    enough = ceil_div(n, BLOCK)
    return (
        Launch((enough + 1,), (BLOCK,)),
        Launch((enough,), (BLOCK,)),
        Launch((enough + 5,), (BLOCK,)),
    )
