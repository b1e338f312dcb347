"""Flags: what threads that set one hand over, and who has read it; see :mod:`.happens_before`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...machine.accesses import WatchedAccess
from ...memory.address_space import Region

MANY = 1024  # flags of an array; with more they count as one
KEPT = 4096  # of what is remembered of a flag, for reports


@dataclass(eq=False)
class Release:
    """A flag was set. ``known``: what the warp then knew of those of its block or cluster, whose
    first is warp ``first`` of the launch; ``fenced`` and ``fenced_near``: the parts of it before a
    fence, for the whole GPU and for its block; ``far``: of all warps of the launch."""

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
class Chain:
    """What a flag hands over: all that set it, since an ordinary store last wrote over them."""

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
        """What the first ``count`` hand over: times by warp of the launch."""
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
class Seen:
    """A flag was read when ``count`` had set it."""

    count: int
    site: WatchedAccess
    lane: int


class Flags:
    """The flags of a launch (or, in shared memory, of a batch): array -> place -> chain.
    ``fences``: whether the kernel has any."""

    def __init__(self, warps: int, fences: bool) -> None:
        self.warps, self.fences = warps, fences
        self._chains: dict[object, dict[int | None, Chain]] = {}

    def find(self, region: Region, place: int | None) -> Chain | None:
        """The chain of a place, or None where no thread has set a flag there."""
        chains = self.chains(region)
        return chains.get(None) or chains.get(place)

    def chains(self, region: Region) -> dict[int | None, Chain]:
        """The chains of an array by place, or the one of the whole array under None."""
        return self._chains.get(region, {})

    def of(self, region: Region, place: int | None, over: bool) -> Chain:
        """The chain of a place (None: of the whole array); with ``over`` a new one, in place of
        what it held."""
        chains = self._chains.setdefault(region, {})
        if None not in chains and (place is None or len(chains) > MANY):
            chains = self._chains[region] = {None: self._together(chains.values())}
        if None in chains:
            return chains[None]
        if over or place not in chains:
            chains[place] = Chain(self.warps)
        return chains[place]

    def _together(self, chains: Iterable[Chain]) -> Chain:
        """One chain that hands over what several do."""
        one = Chain(self.warps)
        for chain in chains:
            far = chain.gather(chain.count)
            one.count += chain.count
            for first, near in chain.near.items():
                one.near[first] = np.maximum(one.near.get(first, 0), near)
            if far is not None:
                one.far = far if one.far is None else np.maximum(one.far, far)
        return one

    def __contains__(self, region: Region) -> bool:
        return region in self._chains
