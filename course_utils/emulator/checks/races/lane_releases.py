"""Releases of a warp when only some of its lanes arrive or fence.

Clocks are kept per warp (:mod:`.vector_clocks`), and a release moves the time of its warp on. An
arrival of lane 0 alone hands over lane 0's accesses, and those that lane 0 was synchronized with,
but not lane 1's since the last ``__syncwarp()``. So such a release keeps, for each lane of its
warp, the time up to which it covers the lane. To know the time of a later release means to know
the releases before it as well: a waiter may know a little more than it should.
Source: PTX ISA, "Memory Consistency Model": "Release and Acquire Patterns", "Causality Order".
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from ...isa import ptx
from .race_entries import THREAD

KEPT = 1 << 12  # intervals of a warp. Of older ones only the last lanes' part is lost


@dataclass
class ReleaseInterval:
    """Releases of a warp by the same lanes, from the time ``first`` on. ``lanes``: bool, (32,);
    ``before``: up to when they cover the other lanes, int64, (32,). ``instruction``: the latest."""

    first: int
    lanes: np.ndarray
    before: np.ndarray
    instruction: ptx.Instruction | None


@dataclass
class LaneReleases:
    """The releases of a launch with lanes that they leave out, by warp of the launch. ``warps``:
    how many that has."""

    warps: int
    _intervals: dict[int, list[ReleaseInterval]] = field(default_factory=dict)
    _partial: np.ndarray | None = None  # the warps among them, bool

    def add_partial(
        self,
        warp: int,
        time: int,
        lanes: np.ndarray,
        known: np.ndarray,
        instruction: ptx.Instruction,
    ) -> None:
        """A release by ``lanes`` of a warp, bool (32,), which moves its time on to ``time``. Up to
        ``known``, int64 (32,), those lanes know of the others."""
        if self._partial is None:
            self._partial = np.zeros(self.warps, bool)
        self._partial[warp] = True
        intervals = self._intervals.setdefault(warp, [])
        before = np.maximum(known, self._cover(warp, time - 1))
        if intervals:
            last = intervals[-1]
            if (last.lanes == lanes).all() and (last.before >= before)[~lanes].all():
                last.instruction = instruction
                return
        intervals.append(ReleaseInterval(time, lanes, before, instruction))
        if len(intervals) > KEPT:
            del intervals[: KEPT // 2]

    def add_whole(self, warps: np.ndarray, times: np.ndarray | int) -> None:
        """Releases by all lanes of warps, int64 (n,), or their ``__syncwarp()``. ``times``: those
        to which they move on."""
        if self._partial is None:
            return
        at = np.flatnonzero(self._partial[warps])
        if not len(at):
            return
        times = np.broadcast_to(times, warps.shape)
        for warp, time in zip(warps[at].tolist(), times[at].tolist(), strict=True):
            intervals = self._intervals[warp]
            if not intervals[-1].lanes.all():
                intervals.append(
                    ReleaseInterval(time, np.ones(32, bool), np.zeros(32, np.int64), None)
                )

    def _at(self, warp: int, known: int) -> ReleaseInterval | None:
        """The interval that holds the release with the time ``known``."""
        intervals = self._intervals.get(warp, [])
        at = bisect_right(intervals, known, key=lambda s: s.first)
        return intervals[at - 1] if at else None

    def _cover(self, warp: int, known: int) -> np.ndarray:
        interval = self._at(warp, known)
        return (
            np.full(32, known)
            if interval is None
            else np.where(interval.lanes, known, interval.before)
        )

    def covered(self, known: np.ndarray, threads: np.ndarray) -> np.ndarray:
        """``known``, the times that are known of the warps of ``threads`` of the launch, cut down
        to the time known of each thread. Both are int64 (n,)."""
        warps = threads >> 5
        if self._partial is None:
            return known
        chosen = np.flatnonzero(self._partial[warps])
        if not len(chosen):
            return known
        known = known.copy()
        pairs, which = np.unique(warps[chosen] << 32 | known[chosen], return_inverse=True)
        table = np.stack([self._cover(p >> 32, p & (1 << 32) - 1) for p in pairs.tolist()])
        known[chosen] = table[which, threads[chosen] & 31]
        return known

    def left_out(self, known: int, entry_thread: int, time: int) -> ReleaseInterval | None:
        """The release that is known, where it leaves out an access by a thread of the launch at
        ``time``."""
        warp, lane = (entry_thread & THREAD) >> 5, entry_thread & 31
        if known <= time or int(self._cover(warp, known)[lane]) > time:
            return None
        return self._at(warp, known)
