"""Counts what memory accesses cost: requests, sectors and shared-memory wavefronts.

Rules. A 128-byte line of global memory is four sectors of 32 bytes; a request of one warp costs as
many sectors as it touches. Shared memory has 32 banks of 4 bytes; lanes that want *different* words
of one bank are served one after another, each pass being a wavefront. A warp's 8-byte accesses are
served in two halves, 16-byte accesses in four quarters.
Source: Nsight Compute, "Metrics Reference"; CUDA C++ Programming Guide, "Shared Memory".
"""

from __future__ import annotations

import numpy as np

from .lanes import Group
from .report import Counts

SECTOR = 32
BANKS = 32
BANK_BYTES = 4


def sectors(warps: np.ndarray, addresses: np.ndarray, size: int) -> int:
    """Distinct (warp, sector) pairs of accesses of ``size`` bytes at byte ``addresses``."""
    first = addresses // SECTOR
    last = (addresses + (size - 1)) // SECTOR
    keys = [warps * np.int64(1 << 40) + first]
    if (first != last).any():
        keys.append(warps * np.int64(1 << 40) + last)
    return len(np.unique(np.concatenate(keys)))


def wavefronts(warps: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, size: int) -> int:
    """Passes of shared memory for the accesses of every warp at byte ``addresses``."""
    phases = max(1, size // BANK_BYTES)
    parts = min(phases, 4)
    words_per_lane = max(1, size // BANK_BYTES)
    turn = warps * 4 + (lanes & 31) * parts // 32
    words = (addresses // BANK_BYTES)[:, None] + np.arange(words_per_lane)
    turn = np.repeat(turn, words_per_lane)
    words = words.reshape(-1)
    distinct = np.unique(np.stack([turn, words], axis=1), axis=0)
    cells, counts = np.unique(distinct[:, 0] * BANKS + distinct[:, 1] % BANKS, return_counts=True)
    owners = cells // BANKS
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
    return int(np.maximum.reduceat(counts, starts).sum())


class Tally:
    """Adds up the cost of every access of a launch into ``counts``."""

    def __init__(self):
        self.counts = Counts()

    def watch(self, site, group: Group, region, first: int, index, spread) -> None:
        if region.space not in ("global", "shared"):
            return
        counts, store = self.counts, site.is_store
        warps = group.lanes >> 5
        offset = (
            spread.delta.astype(np.int64) if spread.delta is not None else np.zeros(1, np.int64)
        )
        addresses = group.full(offset) + (spread.low + site.offset)
        requests = len(group.warps)
        if region.space == "shared":
            passes = wavefronts(warps, group.lanes, addresses, site.bytes)
            if store:
                counts.shared_store_requests += requests
                counts.shared_store_wavefronts += passes
            else:
                counts.shared_load_requests += requests
                counts.shared_load_wavefronts += passes
            return
        touched = sectors(warps, addresses - region.start + (region.start & 127), site.bytes)
        if store:
            counts.global_store_requests += requests
            counts.global_store_sectors += touched
            counts.global_store_bytes += group.n * site.bytes
        else:
            counts.global_load_requests += requests
            counts.global_load_sectors += touched
            counts.global_load_bytes += group.n * site.bytes
