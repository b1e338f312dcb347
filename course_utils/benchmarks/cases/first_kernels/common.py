"""What the cases of chapter 04 share: where their kernels are, and a grid."""

from __future__ import annotations

from ....devices.properties import sm_count, threads_per_sm
from ....integers import ceil_div
from ...harness.chapter_kernels import ChapterKernels

CHAPTER = ChapterKernels("04_first_kernels")

# Elements, of each ladder's last rungs.
FROM_SMALL_TO_LARGE = (1 << 16, 1 << 20, 1 << 24, 1 << 28)
UP_TO_2_26 = (*FROM_SMALL_TO_LARGE[:-1], 1 << 26)


def resident_grid(n: int, threads: int, elements: int) -> int:
    """A grid that fills every SM with threads, or less where n elements need no more.

    A thread takes ``elements`` at a time.
    """
    full = threads_per_sm() // threads * sm_count()
    return min(full, ceil_div(n, threads * elements))
