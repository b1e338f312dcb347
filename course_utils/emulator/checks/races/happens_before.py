"""Happens-before edges that a kernel makes itself, with fences and flags.

A *flag* is a place that threads reach with atomic, volatile or ordered accesses (``ld.acquire``,
``red.release``...). A thread that sets one hands over what its warp knows, but only the part of it
that lay before a fence of its own: an atomic alone orders nothing. A thread that reads the flag is
handed that knowledge, and has it after its own next fence. Barriers pass both on. Accesses with
``.release`` or ``.acquire`` bring their fence along.

Source: PTX ISA, "Memory Consistency Model": "Release and Acquire Patterns", "Causality Order". In
one place this is more generous: a fence counts before a barrier as well, so threads may each fence
their own stores and leave the flag to one of them after ``__syncthreads()``, as is common.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable

import numpy as np

from ...isa import ptx
from ...isa.instruction_set import traits_of
from ...machine.accesses import STRONG, WatchedAccess
from ...machine.batch import Batch
from ...machine.lanes import Group
from ...memory.address_space import Region
from .flags import FlagRead, Flags, Release, ReleaseSequence
from .vector_clocks import VectorClocks

BLOCK, CLUSTER, GPU = range(3)  # how far a fence reaches
FLAG_ACCESSES = ("load", "store", "atomic")
FEW = 64  # places and warps of an access that looks like one of a flag


def fences(instructions: Iterable[ptx.Instruction]) -> bool:
    """Whether a kernel has a fence, by itself or as a part of an access."""
    return any(
        traits_of(i).fence or {"acquire", "release", "acq_rel"} & {*i.modifiers}
        for i in instructions
    )


def makes_order(instructions: Iterable[ptx.Instruction]) -> bool:
    """Whether a kernel has instructions that a flag is made of."""
    return any(
        traits_of(i).fence
        or (traits_of(i).memory == "atomic" and traits_of(i).results)
        or (traits_of(i).memory in FLAG_ACCESSES and STRONG & {*i.modifiers})
        for i in instructions
    )


def has_scopes(instructions: Iterable[ptx.Instruction]) -> bool:
    """Whether a kernel has atomic or ordered accesses of less scope than the GPU."""
    return any(
        traits_of(i).memory in FLAG_ACCESSES and reach(i.modifiers) < GPU for i in instructions
    )


def is_strong(site: WatchedAccess, region: Region) -> bool:
    """Whether an access does not race with its like: atomics, and volatile or ordered accesses.
    Volatile ones to shared memory are of little use to a flag, and many a missing ``__syncwarp()``
    hides behind them: they are treated as any other."""
    if site.is_atomic:
        return True
    return bool(site.order) and (region.space == "global" or site.order != "volatile")


def reach(modifiers: Collection[str]) -> int:
    """How far a fence reaches, or an access that brings its own."""
    return BLOCK if "cta" in modifiers else CLUSTER if "cluster" in modifiers else GPU


class HappensBefore:
    """What fences and flags have made known in a batch, beside its clocks."""

    def __init__(self, batch: Batch, clocks: VectorClocks, flags: Flags) -> None:
        self.clocks, self.flags = clocks, flags
        self.shared_flags = Flags(flags.warps, flags.fences)
        self.before_fence = np.zeros((3, *clocks.known.shape), np.int64)  # by how far it reaches
        self.fenced_near, _, self.fenced = self.before_fence
        warps = len(batch.live_lanes)
        self.far = np.full(warps, None, object)
        self.pending: list[dict[ReleaseSequence, int]] = [{} for _ in range(warps)]
        self.reads: list[dict[ReleaseSequence, FlagRead]] = [
            {} for _ in range(warps // clocks.warps)
        ]
        self.first = clocks.first >> 5
        self.used = False  # whether there has been a fence
        self.handed = False  # whether anything was read from a flag
        self.changes = 0  # times that a warp got to know of fences with no step of its clock
        self._union: tuple[np.ndarray | None, ...] = (None, None, None)

    # --- fences ---

    def fence(self, group: Group, i: ptx.Instruction, acquires: bool = True) -> None:
        """A fence of some lanes. It covers their own accesses, and all that they know of."""
        clocks, warps, reach_ = self.clocks, group.warps, reach(i.modifiers)
        self.used = True
        own = clocks.advance(group.lanes, warps, i)
        if acquires and self.handed:
            self._acquire_pending(warps, reach_ == GPU)
        rows, places = clocks.place(warps)
        for table in self.before_fence[: reach_ + 1]:
            table[rows, places] = clocks.known[rows, places]
            table[rows, places, places] = own[warps]

    def released_by_fences(self, warps: np.ndarray, at_home: np.ndarray) -> np.ndarray:
        """What relaxed arrivals tell, by warp of their row: ``at_home`` those where only their own
        block waits."""
        rows, places = self.clocks.place(warps)
        tables = self.before_fence[np.where(at_home, BLOCK, CLUSTER), rows, places]
        return tables.max(axis=0)

    def _acquire_pending(self, warps: np.ndarray, wide: bool) -> None:
        """Warps take the knowledge that they were handed."""
        known, size = self.clocks.known, self.clocks.warps
        for warp in warps.tolist():
            if not self.pending[warp]:
                continue
            row, place = divmod(warp, size)
            first = self.first + row * size
            for sequence, count in self.pending[warp].items():
                far = sequence.gather(count)
                near = sequence.near.get(first)
                if near is not None:
                    np.maximum(known[row, place], near, out=known[row, place])
                if wide and far is not None:
                    self.far[warp] = self._join(self.far[warp], far)
                    np.maximum(known[row, place], far[first : first + size], out=known[row, place])
            if wide:
                self.pending[warp] = {}

    def _join(self, a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
        """What is known together; the last answer is kept, since many warps ask the same."""
        if a is None or a is b:
            return b
        if b is None:
            return a
        if self._union[0] is not a or self._union[1] is not b:
            self._union = a, b, np.maximum(a, b)
        return self._union[2]

    # --- what barriers pass on ---

    def sync(self, joined: np.ndarray) -> None:
        """Warps marked in ``joined`` (rows, warps) meet at a barrier."""
        if self.used:
            chosen = joined[:, :, None]
            for table in self.before_fence:
                gathered = np.where(chosen, table, 0).max(axis=1)
                np.copyto(table, gathered[:, None, :], where=chosen)
        if self.handed:
            for row in np.flatnonzero(joined.any(axis=1)):
                warps = (row * self.clocks.warps + np.flatnonzero(joined[row])).tolist()
                self._pass_on(warps, warps)

    def acquire(self, warps: np.ndarray, past: np.ndarray) -> None:
        """Warps get to know ``past``, by warp of their row: from those that are news to them."""
        if not (self.used or self.handed):
            return
        size = self.clocks.warps
        for warp in warps.tolist():
            row, place = divmod(warp, size)
            news = np.flatnonzero(past > self.clocks.known[row, place])
            if not len(news):
                continue
            self.changes += 1
            for table in self.before_fence:
                np.maximum(table[row, place], table[row, news].max(axis=0), out=table[row, place])
            if self.handed:
                self._pass_on((row * size + news).tolist(), [warp])

    def _pass_on(self, givers: list[int], takers: list[int]) -> None:
        far: np.ndarray | None = None
        pending: dict[ReleaseSequence, int] = {}
        for warp in givers:
            far = self._join(far, self.far[warp])
            for sequence, count in self.pending[warp].items():
                pending[sequence] = max(count, pending.get(sequence, 0))
        for warp in takers:
            if far is not None:
                self.far[warp] = self._join(far, self.far[warp])
            if pending:
                mine = self.pending[warp]
                more = {
                    sequence: max(count, mine.get(sequence, 0))
                    for sequence, count in pending.items()
                }
                self.pending[warp] = {**mine, **more}

    # --- flags ---

    @staticmethod
    def concerns(site: WatchedAccess) -> bool:
        """Whether an access may be one of a flag; mbarriers go their own way."""
        return site.traits.memory in FLAG_ACCESSES

    def before(self, site: WatchedAccess, group: Group) -> None:
        """An access that brings its own fence and may set a flag."""
        modifiers = {*site.instruction.modifiers}
        if modifiers & {"release", "acq_rel"}:
            self.fence(group, site.instruction, acquires=False)

    def after(
        self, site: WatchedAccess, group: Group, region: Region, elements: np.ndarray
    ) -> None:
        """Lanes have read or set flags, or what may be some: ``elements`` of an array."""
        writes = site.is_store or site.is_atomic
        flags = self.flags if region.space == "global" else self.shared_flags
        if writes or region in flags:
            self._reach(site, group, region, elements * site.width, flags, writes)
        modifiers = {*site.instruction.modifiers}
        if self.handed and modifiers & {"acquire", "acq_rel"}:
            self._acquire_pending(group.warps, reach(modifiers) == GPU)

    def _reach(
        self,
        site: WatchedAccess,
        group: Group,
        region: Region,
        places: np.ndarray,
        flags: Flags,
        writes: bool,
    ) -> None:
        lanes, size = group.lanes, self.clocks.warps
        known = region in flags
        if not self.used and len(group.warps) > FEW:
            writes = False  # with no fence before it, it hands over nothing
        if not (writes or known):
            return
        if len(lanes) > len(group.warps):  # one lane speaks for those of a warp at its place
            _, chosen = np.unique((lanes >> 5 << 48) + places, return_index=True)
            chosen.sort()
            lanes, places = lanes[chosen], places[chosen]
        if not self.used and len(lanes) > FEW:
            writes = False
            if not known:
                return
        where: Iterable[int | None]
        if len(lanes) > max(FEW, 2 * len(group.warps)):  # no flags: the array counts as one
            _, chosen = np.unique(lanes >> 5, return_index=True)
            lanes, where = lanes[chosen], itertools.repeat(None)
        else:
            where = places.tolist()
        reads = not site.is_store  # also an atomic: it may be how a thread polls
        own, level = self.clocks.own, self.clocks.level
        sequences = flags.sequences(region)
        whole = sequences.get(None)
        for lane, place in zip(lanes.tolist(), where, strict=False):
            warp = lane >> 5
            if reads:
                sequence = whole or sequences.get(place)  # as find(), but many may wait for a flag
                if (
                    sequence
                    and sequence.count
                    and self.pending[warp].get(sequence) != sequence.count
                ):
                    self.pending[warp][sequence] = sequence.count
                    self.handed = True
                    read = self.reads[warp // size]
                    read.pop(sequence, None)
                    read[sequence] = FlagRead(sequence.count, site, lane)
                    if len(read) > FEW:
                        del read[next(iter(read))]
            if writes:
                sequence = flags.of(region, place, over=site.is_store)
                moment = level if own is None else int(own[warp]), self.changes
                if (
                    sequence.last.get(self.first + warp) != moment
                ):  # else it has nothing new to tell
                    sequence.last[self.first + warp] = moment
                    sequence.add(self._release(sequence.count, lane, site))
                sequences = flags.sequences(region)
                whole = sequences.get(None)

    def _release(self, number: int, lane: int, site: WatchedAccess) -> Release:
        clocks, warp = self.clocks, lane >> 5
        row, place = divmod(warp, clocks.warps)
        known = clocks.known[row, place].copy()
        known[place] = time = clocks.level if clocks.own is None else int(clocks.own[warp])
        return Release(
            number,
            self.first + warp,
            self.first + row * clocks.warps,
            lane + clocks.first,
            site,
            time,
            known,
            self.fenced[row, place].copy(),
            self.fenced_near[row, place].copy(),
            self.far[warp],
        )

    # --- questions ---

    def known(self, warps: np.ndarray, others: np.ndarray) -> np.ndarray:
        """What warps of the batch know of the times of warps of other blocks, by their number in
        the launch. ``warps`` and ``others`` are int64 (n,), as is the result."""
        times = np.zeros(len(warps), np.int64)
        if not self.handed:
            return times
        tables: dict[int, list[int]] = {}
        present = np.unique(warps)
        for warp in present.tolist():
            if self.far[warp] is not None:
                tables.setdefault(id(self.far[warp]), []).append(warp)
        for alike in tables.values():
            chosen = np.zeros(len(self.far), bool)
            chosen[alike] = True
            here = ... if len(alike) == len(present) else chosen[warps]
            times[here] = self.far[alike[0]][others[here]]
        return times

    def handed_over(self, lane: int, other: int, time: int) -> bool:
        """Whether the warp of ``lane`` has read a flag that hands over what ``other`` (a warp of
        the launch) did at ``time``, though no fence has come since."""
        warp = lane >> 5
        first = self.first + warp // self.clocks.warps * self.clocks.warps
        for sequence, count in self.pending[warp].items():
            far, near = sequence.gather(count), sequence.near.get(first)
            if far is not None and far[other] > time:
                return True
            if near is not None and 0 <= other - first < len(near) and near[other - first] > time:
                return True
        return False

    def fenced_by(self, warp: int, time: int, near: bool) -> bool:
        """Whether a warp of the launch has executed a fence since ``time``, one that reaches the
        GPU, or (``near``) its block. False for a warp of another batch."""
        row, place = divmod(warp - self.first, self.clocks.warps)
        if not 0 <= row < self.clocks.known.shape[0]:
            return False
        return bool(self.before_fence[BLOCK if near else GPU][row, place, place] > time)

    def observed(self, lane: int, region: Region, place: int, other: int) -> bool:
        """Whether a thread of the lane's block has read, at a place, what ``other`` (a warp of the
        launch) put there: then that access lies behind."""
        flags = self.flags if region.space == "global" else self.shared_flags
        sequence = flags.find(region, place)
        if sequence is None:
            return False
        read = self.reads[(lane >> 5) // self.clocks.warps].get(sequence)
        if read is None:
            return False
        return any(r.warp == other and r.number < read.count for r in sequence.kept)

    def find_flag(self, lane: int, other: int, time: int) -> tuple[Release, FlagRead] | None:
        """A flag that a thread of the lane's block has read and that a thread of the block of
        ``other`` (a warp of the launch) had set after ``time``."""
        size = self.clocks.warps
        first = self.first + (other - self.first) // size * size
        for sequence, read in reversed(self.reads[(lane >> 5) // size].items()):
            handed = [r for r in sequence.kept if r.first == first and r.number < read.count]
            covering = [r for r in handed if r.fenced[other - first] > time]
            later = [r for r in handed if r.warp != other or r.time > time]
            same = [r for r in handed if r.warp == other and r.time == time]
            for release in (*covering[:1], *same[-1:], *later[:1]):
                return release, read
        return None
