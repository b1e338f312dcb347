"""Tiles that tensor cores of a warpgroup still read: from a wgmma to the wait_group for its group.

The machine reads the tiles of a wgmma at once, where a GPU takes until ``wait_group``. So a read is
kept here until then, and counts as one of that moment as well: a store to the tile before then
meets it. The four warps are through a wgmma together: after their wait none of their lanes meets
the read, and another warp may hear of its end from any of them. For the manual makes a group of the
whole warpgroup, and a wait lasts until all operations of the group are complete. CUTLASS relies on
it: one thread of each warpgroup frees a stage. A second warpgroup has its own groups.
Source: PTX ISA, "wgmma.commit_group" ("per warpgroup"), "wgmma.wait_group".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...isa import ptx
from ...isa.instruction_set import PLAIN
from ...machine.accesses import WatchedAccess
from ...memory.address_space import Region
from ...numerics.rounding import ceil_div
from .race_entries import CLOCK_SHIFT, THREAD
from .vector_clocks import VectorClocks

UNCOMMITTED = -1


@dataclass(frozen=True)
class TileRead:
    """One instruction's read of tiles: (tiles, elements) ``cells`` of a ``region``, each by the
    (tiles, elements) ``lanes`` of a warp. ``writers``: who had written each before, as entries."""

    reader: WatchedAccess
    region: Region
    lanes: np.ndarray
    cells: np.ndarray
    writers: np.ndarray

    def of(self, tiles: np.ndarray) -> TileRead:
        """Some of the tiles, by their numbers."""
        if len(tiles) == len(self.lanes):
            return self
        lanes, cells, writers = self.lanes[tiles], self.cells[tiles], self.writers[tiles]
        return TileRead(self.reader, self.region, lanes, cells, writers)


@dataclass(eq=False)
class LateReader:
    """A wgmma as the reader of a tile until the ``wait`` for its group, for reports."""

    instruction: ptx.Instruction
    wait: ptx.Instruction
    width: int
    bytes: int = 16
    space: str = "shared"
    is_store: bool = False
    is_atomic: bool = False
    order: str = ""
    traits = PLAIN


def until(site: WatchedAccess) -> str:
    """Until when ``site`` reads, where that is not at once."""
    if not isinstance(site, LateReader):
        return ""
    return f",\n  and may read it until the wgmma.wait_group at {site.wait.location}"


class TileReads:
    """The reads in flight of one batch, whose lanes are ``lanes`` in number."""

    def __init__(self, lanes: int) -> None:
        self._groups = np.zeros(ceil_div(lanes, 32), np.int64)  # that each warp has committed
        self._flying: list[tuple[TileRead, np.ndarray]] = []  # with the group of each tile
        # (first warp, its time) of a warpgroup at a wait -> the times of its warps
        self._ends: dict[tuple[int, int], np.ndarray] = {}

    def starts(self, read: TileRead) -> None:
        """Tiles are being read, in a group that is not committed yet."""
        self._flying.append((read, np.full(len(read.lanes), UNCOMMITTED)))

    def commits(self, warps: np.ndarray) -> None:
        """``wgmma.commit_group`` by whole warps."""
        for read, groups in self._flying:
            mine = (groups == UNCOMMITTED) & np.isin(read.lanes[:, 0] >> 5, warps)
            groups[mine] = self._groups[read.lanes[mine, 0] >> 5]
        self._groups[warps] += 1

    def ended(self, clocks: VectorClocks, read: TileRead) -> None:
        """A read is over, now."""
        for lane in read.lanes[:, 0].tolist():
            warps = (lane >> 5) + np.arange(4)
            times = np.broadcast_to(clocks.now(warps << 5), 4)
            self._ends[lane >> 5, int(times[0])] = times

    def known(self, clocks: VectorClocks, lane: int, entry: int) -> bool:
        """Whether a lane knows of the end of the tile read ``entry``: its own warpgroup read it, or
        it has heard from a warp of the one that did."""
        reader = (entry & THREAD) - clocks.first >> 5
        warps = reader + np.arange(4)
        if lane >> 5 in warps:
            return True
        times = self._ends.get((reader, entry >> CLOCK_SHIFT))
        row, place = divmod(lane >> 5, clocks.warps)
        if times is None or reader // clocks.warps != row:
            return False
        return bool((clocks.known[row, place, warps % clocks.warps] > times).any())

    def done(self, warps: np.ndarray, pending: int) -> list[TileRead]:
        """``wgmma.wait_group``: the reads that are over then, which are forgotten."""
        found, left = [], []
        for read, groups in self._flying:
            readers = read.lanes[:, 0] >> 5
            over = (groups != UNCOMMITTED) & (groups < self._groups[readers] - pending)
            over &= np.isin(readers, warps)
            if over.any():
                found.append(read.of(np.flatnonzero(over)))
            if not over.all():
                rest = np.flatnonzero(~over)
                left.append((read.of(rest), groups[rest]))
        self._flying = left
        return found
