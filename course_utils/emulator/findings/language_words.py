"""The languages that kernels are written in, and each one's own names in reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Language(Enum):
    """The language of a kernel. Its value is the language's name."""

    CUDA = "CUDA C++"
    TRITON = "Triton"
    NUMBA = "Numba"
    WARP = "Warp"


@dataclass(frozen=True)
class Words:
    """A language's names of the barriers of a block and of a warp, and of the fences for the whole
    GPU and for a block. ``barriers``: the two barriers, either of which orders a warp's lanes."""

    block_barrier: str
    warp_barrier: str
    barriers: str
    fence: str
    block_fence: str


_SYNC, _SYNC_WARP = "__syncthreads()", "__syncwarp()"
_NUMBA_SYNC, _NUMBA_SYNC_WARP = "cuda.syncthreads()", "cuda.syncwarp()"
_TRITON_SYNC = "tl.debug_barrier()"

WORDS: dict[Language, Words] = {
    Language.CUDA: Words(
        _SYNC,
        _SYNC_WARP,
        f"{_SYNC_WARP} or {_SYNC}",
        "__threadfence()",
        "__threadfence_block()",
    ),
    Language.TRITON: Words(
        _TRITON_SYNC,
        _TRITON_SYNC,
        _TRITON_SYNC,
        'fence (sem="acq_rel" of an atomic)',
        'fence (sem="acq_rel" of an atomic)',
    ),
    Language.NUMBA: Words(
        _NUMBA_SYNC,
        _NUMBA_SYNC_WARP,
        f"{_NUMBA_SYNC_WARP} or {_NUMBA_SYNC}",
        "cuda.threadfence()",
        "cuda.threadfence_block()",
    ),
    Language.WARP: Words("barrier", "barrier", "barrier", "fence", "fence"),
}
