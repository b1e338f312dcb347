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


def _distinct(keys: np.ndarray) -> np.ndarray:
    keys = np.sort(keys)
    keep = np.ones(len(keys), bool)
    keep[1:] = keys[1:] != keys[:-1]
    return keys[keep]


def sectors(warps: np.ndarray, addresses: np.ndarray, size: int) -> int:
    """Distinct (warp, sector) pairs of aligned accesses of ``size`` bytes at byte ``addresses``."""
    first = addresses // SECTOR
    keys = warps << 40 | first
    if size > SECTOR:
        keys = np.concatenate([keys + n for n in range(size // SECTOR)])
    return len(_distinct(keys))


def wavefronts(warps: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, size: int) -> int:
    """Passes of shared memory for the accesses of every warp at byte ``addresses``."""
    words = max(1, size // BANK_BYTES)
    turn = warps * 4 + (lanes & 31) * min(words, 4) // 32
    first = addresses // BANK_BYTES
    keys = turn << 24 | first
    keys = _distinct(np.concatenate([keys + n for n in range(words)]))
    cells = np.sort((keys >> 24) * BANKS + keys % BANKS)
    starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    counts = np.diff(np.append(starts, len(cells)))  # different words in one bank
    turns = cells[starts] // BANKS
    begins = np.flatnonzero(np.append(True, turns[1:] != turns[:-1]))
    return int(np.maximum.reduceat(counts, begins).sum())


class Tally:
    """Adds up the cost of every access of a launch into ``counts``."""

    def __init__(self):
        self.counts = Counts()

    def watch(self, site, group: Group, region, first: int, index, spread) -> None:
        if region.space not in ("global", "shared"):
            return
        counts = self.counts
        requests = len(group.warps)
        kind = "store" if site.is_store else "load"
        cost = self._cost(site, group, region, spread)
        if region.space == "shared":
            added = {"requests": requests, "wavefronts": cost}
        else:
            added = {"requests": requests, "sectors": cost, "bytes": group.n * site.bytes}
        for name, amount in added.items():
            name = f"{region.space}_{kind}_{name}"
            setattr(counts, name, getattr(counts, name) + amount)

    def _cost(self, site, group: Group, region, spread) -> int:
        """Sectors or wavefronts. Moving all addresses by the same multiple of a sector (of a word
        of shared memory) changes nothing, so what was counted once is kept with the addresses."""
        shared = region.space == "shared"
        low = spread.low + site.offset
        key = ("wavefronts" if shared else "sectors", site.bytes, low % (4 if shared else SECTOR))
        found = spread.kept.get(key)
        if found is None:
            delta = spread.delta
            offsets = np.zeros(1, np.int64) if delta is None else delta.astype(np.int64)
            addresses = group.full(offsets) + low % (1 << 20)  # what matters is the place in a line
            warps = group.lanes >> 5
            if shared:
                found = wavefronts(warps, group.lanes, addresses, site.bytes)
            else:
                found = sectors(warps, addresses, site.bytes)
            spread.kept[key] = found
        return found
