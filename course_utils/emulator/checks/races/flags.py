"""Flags: the past that their writers release, and the threads that acquire it.

:mod:`.happens_before` uses them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...machine.accesses import WatchedAccess
from ...memory.address_space import Region

MANY = 1024  # flags of an array. More than these count as one
KEPT = 4096  # releases of a flag that are kept for reports


@dataclass(eq=False)
class Release:
    """A flag was set. ``known``: the times that the warp then knew of the warps of its block or
    cluster, the first of which is warp ``first`` of the launch. ``fenced`` and ``fenced_near``: the
    parts of it before a fence, for the whole GPU and for its block. ``far``: of all warps of the
    launch."""

    number: int
    warp: int
    first: int
    thread: int
    site: WatchedAccess
    time: int
    known: np.ndarray
    fenced: np.ndarray
    fenced_near: np.ndarray
    far: np.ndarray | None


@dataclass(eq=False)
class ReleaseSequence:
    """The past that a flag releases: all that set it, since an ordinary store last overwrote it."""

    warps: int  # of the launch
    count: int = 0
    waiting: list[Release] = field(default_factory=list)  # not in `far` and `near` yet
    kept: list[Release] = field(default_factory=list)
    near: dict[int, np.ndarray] = field(default_factory=dict)
    far: np.ndarray | None = None
    last: dict[int, tuple[int, int]] = field(default_factory=dict)  # warp -> when it set it last

    def add(self, release: Release) -> None:
        """The flag was set once more."""
        self.count += 1
        self.waiting.append(release)
        if len(self.kept) < KEPT:
            self.kept.append(release)
        if len(self.waiting) > KEPT:
            self.gather(self.count)

    def gather(self, count: int) -> np.ndarray | None:
        """The past that the first ``count`` release: times by warp of the launch."""
        ready = [r for r in self.waiting if r.number < count]
        if ready:
            self.waiting = self.waiting[len(ready) :]
            far = np.zeros(self.warps, np.int64) if self.far is None else self.far.copy()
            for r in ready:
                if r.far is not None:
                    np.maximum(far, r.far, out=far)
                    r.far = None
                part = far[r.first : r.first + len(r.fenced)]
                np.maximum(part, r.fenced, out=part)
                before = self.near.get(r.first)
                near = r.fenced_near
                self.near[r.first] = near if before is None else np.maximum(before, near)
            self.far = far
        return self.far


@dataclass
class FlagRead:
    """A flag was read when ``count`` had set it."""

    count: int
    site: WatchedAccess
    lane: int


class Flags:
    """The flags of a launch, or in shared memory of a batch: array -> place -> sequence.
    ``fences``: whether the kernel has any."""

    def __init__(self, warps: int, fences: bool) -> None:
        self.warps, self.fences = warps, fences
        self._sequences: dict[object, dict[int | None, ReleaseSequence]] = {}

    def find(self, region: Region, place: int | None) -> ReleaseSequence | None:
        """The sequence of a place, or None where no thread has set a flag there."""
        sequences = self.sequences(region)
        return sequences.get(None) or sequences.get(place)

    def sequences(self, region: Region) -> dict[int | None, ReleaseSequence]:
        """The sequences of an array by place, or the one of the whole array under None."""
        return self._sequences.get(region, {})

    def of(self, region: Region, place: int | None, over: bool) -> ReleaseSequence:
        """The sequence of a place (None: of the whole array). With ``over`` it is
        replaced by a new one."""
        sequences = self._sequences.setdefault(region, {})
        if None not in sequences and (place is None or len(sequences) > MANY):
            sequences = self._sequences[region] = {None: self._together(sequences.values())}
        if None in sequences:
            return sequences[None]
        if over or place not in sequences:
            sequences[place] = ReleaseSequence(self.warps)
        return sequences[place]

    def _together(self, sequences: Iterable[ReleaseSequence]) -> ReleaseSequence:
        """One sequence that releases the past of several."""
        one = ReleaseSequence(self.warps)
        for sequence in sequences:
            far = sequence.gather(sequence.count)
            one.count += sequence.count
            for first, near in sequence.near.items():
                one.near[first] = np.maximum(one.near.get(first, 0), near)
            if far is not None:
                one.far = far if one.far is None else np.maximum(one.far, far)
        return one

    def __contains__(self, region: Region) -> bool:
        return region in self._sequences
