"""Vector clocks: how much each warp of a batch knows of the past of the others.

Every warp counts its own time, and for every other warp that can talk to it (those of its block, or
of its cluster) how much of that warp's past has certainly happened before now. Barriers, arrivals
and waits are what makes a past known. An access is *ordered* before now when its warp's clock has
since moved on and this lane's warp knows it.
"""

from __future__ import annotations

import numpy as np

from ...isa import ptx
from ...machine.batch import Batch
from .lane_releases import LaneReleases, ReleaseInterval
from .ordering import Ordering
from .race_entries import CLOCK_SHIFT, MAX_CLOCK, THREAD


class VectorClocks:
    """The clocks of one batch.

    ``span``: lanes that can know of each other, those of a block or of a cluster; ``rows`` such
    spans make the batch, each of ``warps`` warps. ``known[row, w, v]`` is what warp w knows of the
    time of warp v; when v is w, what its lanes know of each other. ``own`` holds the own times of
    all warps of the batch; it is replaced, never changed, so that it can be kept. Everything before
    ``level`` is known to all. Threads are numbered throughout the launch, this batch's from
    ``first`` on. ``order``: what flags and fences make known, where a kernel has them.
    ``releases``: those by some lanes of a warp, where a kernel has releases. ``active``: the lanes
    that have made an access since their warp last met, bool.
    """

    order: Ordering | None = None
    releases: LaneReleases | None = None
    active: np.ndarray | None = None

    def __init__(self, batch: Batch) -> None:
        size = batch.clusters.size if batch.clusters else 1
        self.span = size * batch.lanes_per_block
        self.warps = self.span // 32
        rows = batch.block_count // size
        self.first = batch.first * batch.lanes_per_block
        self.known = np.zeros((rows, self.warps, self.warps), np.int64)
        self.known[:, range(self.warps), range(self.warps)] = 1
        self._start = np.arange(rows * self.warps) // self.warps * self.warps
        self.level = 1
        self.own: np.ndarray | None = None  # None: every warp's own time is the level
        self.lane_known: np.ndarray | None = None  # [row, w, a, b]: what lane a knows of lane b

    def place(self, warps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row, warp within it) of warps of the batch."""
        return np.divmod(warps, self.warps)

    # --- order ---

    def sync(self, joined: np.ndarray) -> None:
        """Each warp marked in ``joined`` (rows, warps) now knows the past of the others."""
        if self.order is not None:
            self.order.sync(joined)
        if joined.all():
            self.level = 1 + (self.level if self.own is None else int(self.own.max()))
            self.known.fill(self.level)
            self.own = None
            if self.releases is not None:
                warps = np.arange(joined.size)
                self._synced(warps, self.level)
            return
        known = self.known
        self._sync_whole_warps(np.flatnonzero(joined.ravel()))
        gathered = np.where(joined[:, :, None], known, 0).max(axis=1)
        known[:] = np.where(joined[:, :, None], gathered[:, None, :], known)

    def sync_warps(self, warps: np.ndarray) -> None:
        """All lanes of some warps meet. Time moves on for them: they don't know each other's next
        accesses."""
        self._sync_whole_warps(warps)

    def release(self, lanes: np.ndarray, warps: np.ndarray, instruction: ptx.Instruction) -> None:
        """``lanes`` of ``warps`` arrive somewhere: :meth:`released` is the past that they hand
        over."""
        self.advance(lanes, warps, instruction)

    def advance(
        self, lanes: np.ndarray, warps: np.ndarray, instruction: ptx.Instruction
    ) -> np.ndarray:
        """Time moves on for ``warps``, by a release or a fence of ``lanes`` of theirs. Returns
        ``own``."""
        own = self.tick(warps)
        active = self.active
        if active is None or self.releases is None:
            return own
        whole = warps
        if len(lanes) < 32 * len(warps):
            left = active.reshape(-1, 32)[warps]
            left[np.searchsorted(warps, lanes >> 5), lanes & 31] = False
            partly = left.any(axis=1)
            whole = warps[~partly]
            for warp in warps[partly].tolist():
                mine = np.zeros(32, bool)
                mine[lanes[lanes >> 5 == warp] & 31] = True
                known = self._lanes_known(warp, mine)
                place = (self.first >> 5) + warp
                self.releases.add_partial(place, int(own[warp]), mine, known, instruction)
        self.releases.add_whole(whole + (self.first >> 5), own[whole])
        return own

    def _lanes_known(self, warp: int, lanes: np.ndarray) -> np.ndarray:
        """What ``lanes`` of a warp, bool (32,), know of each of its lanes; int64 (32,)."""
        row, place = divmod(warp, self.warps)
        threads = (warp << 5) + self.first + np.arange(32)
        known = np.full(32, self.known[row, place, place])
        if self.releases is not None:
            known = self.releases.covered(known, threads)
        if self.lane_known is not None:
            known = np.maximum(known, self.lane_known[row, place][lanes].max(axis=0))
        return known

    def released(self, warps: np.ndarray) -> np.ndarray:
        """The past that some warps of one row have handed over by a :meth:`release` now. Int64
        (warps,), by warp of their row."""
        past = self.past(warps)
        past[self.place(warps)[1]] = self.level if self.own is None else self.own[warps]
        return past

    def _synced(self, warps: np.ndarray, times: np.ndarray | int) -> None:
        """All lanes of warps know the others' accesses."""
        if self.active is not None and self.releases is not None:
            self.active.reshape(-1, 32)[warps] = False
            self.releases.add_whole(warps + (self.first >> 5), times)

    def past(self, warps: np.ndarray) -> np.ndarray:
        """The past that some warps know together, by warp of their row. Int64 (warps,)."""
        rows, places = self.place(warps)
        return self.known[rows, places].max(axis=0)

    def acquire(self, warps: np.ndarray, past: np.ndarray) -> None:
        """Some warps now know ``past`` as well, by warp of their row."""
        if self.order is not None:
            self.order.acquire(warps, past)
        rows, places = self.place(warps)
        self.known[rows, places] = np.maximum(self.known[rows, places], past)

    def tick(self, warps: np.ndarray) -> np.ndarray:
        """Time moves on for some warps, and no warp gets to know anything. Returns ``own``."""
        count = self.known.shape[0] * self.warps
        own = self.own = np.full(count, self.level) if self.own is None else self.own.copy()
        own[warps] += 1
        return own

    def sync_lanes(self, lanes: np.ndarray, masks: np.ndarray) -> None:
        """``lanes`` came to a barrier of their warps, each with the lanes that its mask names: they
        know of each other's past, and through each other of that of lanes they met before. The
        others of the warp get to know nothing."""
        if self.lane_known is None:
            self.lane_known = np.zeros((*self.known.shape[:1], self.warps, 32, 32), np.int64)
        warps = lanes >> 5
        own = self.tick(np.unique(warps))
        parties, party = np.unique(warps << 32 | masks.astype(np.int64), return_inverse=True)
        order = np.argsort(party, kind="stable")
        table = self.lane_known.reshape(-1, 32)
        starts = np.searchsorted(party[order], np.arange(len(parties)))
        past = np.maximum.reduceat(table[lanes[order]], starts, axis=0)
        past[party, lanes & 31] = own[warps]
        table[lanes] = past[party]

    def _sync_whole_warps(self, warps: np.ndarray) -> None:
        """The same, and the lanes of each know the others' accesses."""
        own = self.tick(warps)
        rows, places = self.place(warps)
        self.known[rows, places, places] = own[warps]
        if self.releases is not None:
            self._synced(warps, own[warps])

    # --- questions ---

    def threads(self, lanes: np.ndarray) -> np.ndarray:
        """The numbers in the launch of lanes of the batch."""
        return lanes + self.first if self.first else lanes

    def now(self, lanes: np.ndarray) -> int | np.ndarray:
        """The time of each lane's warp, to be remembered with what the lane does."""
        if self.own is None:
            return min(self.level, MAX_CLOCK)
        return np.minimum(self.own[lanes >> 5], MAX_CLOCK)

    def unordered(self, lanes: np.ndarray, entries: np.ndarray, local: bool) -> np.ndarray:
        """Positions of the lanes before which the access remembered in ``entries`` was made by
        another thread and is not known to have happened. ``local``: by a thread of this batch."""
        least = min(self.level, MAX_CLOCK) << CLOCK_SHIFT if local else 1
        if np.maximum.reduce(entries) < least:
            return _NONE
        candidates = entries >= least
        candidates &= (entries & THREAD) != self.threads(lanes)
        at = candidates.nonzero()[0]
        if not len(at):
            return at
        entries, warps = entries[at], lanes[at] >> 5
        other = ((entries & THREAD) - self.first >> 5) - self._start[warps]  # within the row
        near = (other >= 0) & (other < self.warps)
        if near.all():
            known = self.known.ravel()[warps * self.warps + other]
        else:
            known = np.where(near, self.known.ravel()[warps * self.warps + other * near], 0)
            if self.order is not None:
                far = np.flatnonzero(~near)
                known[far] = self.order.known(warps[far], (entries[far] & THREAD) >> 5)
        if self.releases is not None:
            known = self.releases.covered(known, entries & THREAD)
        if self.lane_known is not None:
            same = np.flatnonzero(other == warps - self._start[warps])
            met = self.lane_known.reshape(-1, 32, 32)[
                warps[same], lanes[at[same]] & 31, (entries[same] & THREAD) & 31
            ]
            known = known.copy()
            known[same] = np.maximum(known[same], met)
        return at[known <= entries >> CLOCK_SHIFT]

    def left_out(self, lane: int, entry: int) -> ReleaseInterval | None:
        """The release that a lane knows of, by lanes of the warp of an earlier access ``entry``,
        which leaves that access out because another lane of the warp made it."""
        if self.releases is None:
            return None
        row, place = divmod(lane >> 5, self.warps)
        warp = (entry & THREAD) >> 5
        other = warp - (self.first >> 5) - row * self.warps
        if 0 <= other < self.warps:
            known = int(self.known[row, place, other])
        elif self.order is not None:
            known = int(self.order.known(np.array([lane >> 5]), np.array([warp]))[0])
        else:
            return None
        return self.releases.left_out(known, entry & THREAD, entry >> CLOCK_SHIFT)


_NONE = np.zeros(0, np.intp)
