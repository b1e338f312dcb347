"""Finds data races in shared memory, asynchronous copies nobody waited for, misused barriers.

The machine runs the lanes of a batch in step, which hides a missing barrier: the result comes out
right by luck. So each byte of shared memory remembers who wrote it last and who read it, and each
warp keeps a *vector clock*: for every other warp of its block, how much of that warp's past is
known to have happened before now. Barriers are what makes a past known. An access that meets
another thread's access, one of them a write, with nothing between them, is a race.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .global_races import GlobalRaces
from .lanes import Group
from .report import BARRIER, DATA_RACE, Finding

_NOBODY = -1


LANE_BITS, CLOCK_BITS, SITE_BITS = 20, 24, 16


def _pack(lane, clock, site: int, atomic: int):
    """One remembered access as an int64; never negative."""
    return (((clock << SITE_BITS | site) << 1) | atomic) << LANE_BITS | lane


def _unpack(entry):
    """(lane, clock, site, atomic) of remembered accesses; what comes of -1 is meaningless."""
    lane = entry & ((1 << LANE_BITS) - 1)
    rest = entry >> LANE_BITS
    return lane, rest >> (SITE_BITS + 1), rest >> 1 & ((1 << SITE_BITS) - 1), rest & 1


@dataclass(eq=False)
class CopySite:
    """One side of an asynchronous copy, for reports."""

    instruction: object
    is_store: bool
    is_atomic: bool = False
    width: int = 4


class _Shadow:
    """What is remembered of each cell: the last writer, the last two readers, and the asynchronous
    copy in flight that reads or writes it (marked as "atomic" when it writes)."""

    flight: np.ndarray | None = None

    def __init__(self, cells: int):
        self.write, self.read, self.read_before = (
            np.full(cells, _NOBODY, np.int64) for _ in range(3)
        )


class RaceCheck:
    """Watches the memory of one launch; ``findings`` holds the first race of each pair of
    source lines."""

    def __init__(self, launch):
        self.launch = launch
        self.findings: list[Finding] = []
        self.sites: list = []
        self._numbers: dict[int, int] = {}
        self._seen: set = set()
        self._copy_sites: dict = {}
        self._global = GlobalRaces(launch, self)
        widths = [
            _width(i)
            for i in launch.entry.function.instructions
            if i.opcode in ("ld", "st", "atom")
        ]
        self.granule = 4 if all(w >= 4 for w in widths) else 1

    def begin(self, batch) -> None:
        size = batch.clusters.size if batch.clusters else 1
        batch.span = size * batch.lanes_per_block  # lanes that can know of each other
        warps = batch.span // 32
        batch.clocks = np.zeros((batch.block_count // size, warps, warps), np.int64)
        batch.clocks[:, range(warps), range(warps)] = 1
        batch.shadows = {}

    # --- order ---

    def barrier(self, batch, joined: np.ndarray) -> None:
        """Warps marked in ``joined`` (blocks, warps) met at a barrier of their block."""
        size = batch.span // batch.lanes_per_block
        by_rank = joined.reshape(len(batch.clocks), size, -1)
        for rank in [0] if size == 1 else np.flatnonzero(by_rank.any(axis=(0, 2))):
            only = np.zeros_like(by_rank)
            only[:, rank] = by_rank[:, rank]
            self.meet(batch, only.reshape(len(batch.clocks), -1))

    def meet(self, batch, joined: np.ndarray) -> None:
        """Each warp marked in ``joined`` (clusters, warps) now knows the past of the others."""
        clocks = batch.clocks
        rows, warps = np.nonzero(joined)
        clocks[rows, warps, warps] += 1
        known = np.where(joined[:, :, None], clocks, 0).max(axis=1)
        clocks[:] = np.where(joined[:, :, None], known[:, None, :], clocks)

    def warp_barrier(self, batch, group: Group) -> None:
        rows, warps = np.divmod(group.warps, batch.span // 32)
        batch.clocks[rows, warps, warps] += 1

    def publish(self, batch, lanes: np.ndarray, barrier) -> None:
        """Lanes arrive at an mbarrier: whoever waits for it will know their past."""
        warps = np.unique(lanes >> 5)
        rows, warps = np.divmod(warps, batch.span // 32)
        batch.clocks[rows, warps, warps] += 1
        self.hand_over(barrier, batch.clocks[rows, warps].max(axis=0))

    def hand_over(self, barrier, known: np.ndarray | None) -> None:
        if known is not None and barrier is not None:
            old = barrier.gathered
            barrier.gathered = known.copy() if old is None else np.maximum(old, known)

    def acquire(self, batch, lanes: np.ndarray, known: np.ndarray) -> None:
        """Lanes have waited for an mbarrier."""
        rows, warps = np.divmod(np.unique(lanes >> 5), batch.span // 32)
        batch.clocks[rows, warps] = np.maximum(batch.clocks[rows, warps], known)

    # --- asynchronous copies ---

    def take_off(self, batch, transfer) -> None:
        """Check a copy that was just started against all accesses before it, and mark its bytes."""
        lane = int(transfer.lanes[0])
        for region, view, index, writes in _sides(transfer):
            site = self._copy_site(transfer.instruction, writes)
            shadow = self._shadow(batch, region)
            cells = self._cells(view, index)
            owners = np.repeat(transfer.lanes, len(cells) // len(transfer.lanes))
            if transfer.queue != "async":  # cp.async was checked as it is an access of its lanes
                group = Group(batch, owners, None, 0, None)
                self._in_flight(site, group, region, shadow, cells)
                self._access(site, group, region, shadow, cells, 0)
            if shadow.flight is None:
                shadow.flight = np.full(len(shadow.write), _NOBODY, np.int64)
            shadow.flight[cells] = _pack(owners, 0, self.number(site), int(writes))
        row, warp = divmod(lane >> 5, batch.span // 32)
        batch.clocks[row, warp, warp] += 1
        transfer.known = batch.clocks[row, warp].copy()

    def touch_down(self, batch, transfer) -> None:
        for region, view, index, _ in _sides(transfer):
            self._shadow(batch, region).flight[self._cells(view, index)] = _NOBODY

    def left_in_flight(self, batch, transfer) -> None:
        location = transfer.instruction.location
        thread, block = batch.who(transfer.lanes[0])
        text = (
            f"Data race: thread {thread} of block {block} started an asynchronous copy at "
            f"{location}, and its block ended without waiting for it."
        )
        self.add(("left", id(transfer.instruction)),
                 Finding(DATA_RACE, text, location, thread, block))  # fmt: skip

    def leave(self, batch, gone: np.ndarray) -> None:
        """Blocks have ended, and their shared memory with them: did all other blocks of the
        cluster surely finish with it first?"""
        for region, shadow in batch.shadows.items():
            cells = region.stride // self.granule
            for block in gone.tolist():
                row, rank = divmod(block, batch.clusters.size)
                warps = batch.lanes_per_block // 32
                known = batch.clocks[row, rank * warps : (rank + 1) * warps].max(axis=0)
                for kind, memory in (("reads", shadow.read), ("writes", shadow.write)):
                    entries = memory[block * cells : (block + 1) * cells]
                    lane, clock, number, _ = _unpack(entries)
                    late = (entries != _NOBODY) & (lane // batch.lanes_per_block != block)
                    late &= known[lane % batch.span >> 5] <= clock
                    if late.any():
                        at = np.flatnonzero(late)[0]
                        self._left_too_early(batch, region, block, kind, lane[at], number[at])

    def _left_too_early(self, batch, region, block: int, kind: str, lane, number) -> None:
        location = self.sites[int(number)].instruction.location
        thread, other = batch.who(lane)
        text = (
            f"Data race: block {batch.block_index(batch.first + block)} may end, and its "
            f"{region.name} with it, before thread {thread} of block {other} {kind} it at "
            f"{location}. Call cluster.sync() before a block ends."
        )
        self.add(("gone", location, kind),
                 Finding(DATA_RACE, text, location, thread, other, region.name))  # fmt: skip

    def _copy_site(self, instruction, writes: bool) -> CopySite:
        key = (id(instruction), writes)
        return self._copy_sites.setdefault(key, CopySite(instruction, writes))

    def _cells(self, view: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The cells of elements of ``view``, lane by lane; elements smaller than a cell are those
        of one lane."""
        per = view.itemsize // self.granule
        if per == 0:
            return np.unique(index * view.itemsize // self.granule)
        return (index[..., None] * per + np.arange(per)).ravel()

    def _shadow(self, batch, region) -> _Shadow:
        shadow = batch.shadows.get(region)
        if shadow is None:
            shadow = batch.shadows[region] = _Shadow(region.storage.size // self.granule + 4)
        return shadow

    def _in_flight(self, site, group: Group, region, shadow: _Shadow, cells: np.ndarray) -> None:
        """An access to bytes that an asynchronous copy reads or writes at the same time."""
        if shadow.flight is None:
            return
        entries = shadow.flight[cells]
        lane, _, number, copy_writes = _unpack(entries)
        writes = site.is_store or site.is_atomic
        bad = (entries != _NOBODY) & (writes | (copy_writes == 1))
        if not bad.any():
            return
        at = np.flatnonzero(bad)[0]
        copy = self.sites[int(number[at])].instruction
        here = site.instruction.location
        thread, block = group.batch.who(group.lanes[at])
        other, other_block = group.batch.who(lane[at])
        index = int(cells[at]) * self.granule % region.stride // site.width
        into = "into" if copy_writes[at] else "out of"
        text = (
            f"Data race on {region.name}[{index}] in shared memory, block {block}:\n"
            f"  thread {other} of block {other_block} started an asynchronous copy {into} it at "
            f"{copy.location}\n"
            f"  thread {thread} {'writes' if writes else 'reads'} it at {here}\n"
            f"  before anybody has waited for the end of the copy."
        )
        finding = Finding(
            DATA_RACE, text, here, thread, block, region.name, index, 0, copy.location, other
        )
        self.add(("flight", copy.location, here, writes), finding)

    def add(self, key, finding: Finding) -> None:
        """Keep the first finding of each kind at each place."""
        if key not in self._seen:
            self._seen.add(key)
            self.findings.append(finding)

    def check_barrier(self, batch, group: Group, instruction, threads) -> None:
        """``__syncthreads()`` is for every thread of a block; some may have left already."""
        if threads or instruction.opcode != "bar":
            return
        short = np.flatnonzero(batch.alive[np.unique(group.slots)] < batch.threads)
        if not len(short):
            return
        slot = int(np.unique(group.slots)[short[0]])
        gone = batch.threads - int(batch.alive[slot])
        thread, block = batch.who(group.lanes[0])
        text = (
            f"Barrier misuse: {gone} of the {batch.threads} threads of block "
            f"{batch.block_index(batch.first + slot)} had returned before __syncthreads() at "
            f"{instruction.location}. Every thread must reach it."
        )
        finding = Finding(BARRIER, text, instruction.location, thread, block)
        self.add(("exit", id(instruction)), finding)

    # --- accesses ---

    def watch(self, site, group: Group, region, first: int, index, spread) -> None:
        if region.space == "global":
            self._global.watch(site, group, region, first, index)
        if region.space != "shared":
            return
        batch = group.batch
        shadow = self._shadow(batch, region)
        cells = group.full(index + first) * site.width // self.granule
        for piece in range(site.bytes // self.granule):
            if shadow.flight is not None:
                self._in_flight(site, group, region, shadow, cells + piece)
            self._access(site, group, region, shadow, cells + piece, piece)

    def _access(self, site, group: Group, region, shadow: _Shadow, cells, piece: int) -> None:
        batch = group.batch
        slot = group.lanes // batch.span
        warp = group.lanes % batch.span >> 5
        now = batch.clocks[slot, warp, warp]
        number = self.number(site)
        atomic = int(site.is_atomic)
        writes = site.is_store or site.is_atomic
        against = [("write", shadow.write)]
        if writes:
            against += [("read", shadow.read), ("read", shadow.read_before)]
        for kind, memory in against:
            entries = memory[cells]
            if entries.max() == _NOBODY:
                continue
            lane, clock, _, was_atomic = _unpack(entries)
            known = batch.clocks[slot, warp, lane % batch.span >> 5]
            bad = (entries != _NOBODY) & (lane != group.lanes) & (known <= clock)
            if atomic:
                bad &= was_atomic == 0
            if bad.any():
                at = np.flatnonzero(bad)[0]
                self._report(site, group, region, int(entries[at]), int(cells[at]), kind, at)
        entry = _pack(group.lanes, now, number, atomic)
        if not writes:
            before = shadow.read[cells]
            other = before & ((1 << LANE_BITS) - 1) != group.lanes
            shadow.read_before[cells[other]] = before[other]
            shadow.read[cells] = entry
            return
        if site.is_store:
            self._same_store(site, group, region, cells, piece)
        shadow.write[cells] = entry
        shadow.read[cells] = _NOBODY
        shadow.read_before[cells] = _NOBODY

    def _same_store(self, site, group: Group, region, cells, piece: int) -> None:
        """Two lanes of one store at one place, with different values."""
        order = np.argsort(cells, kind="stable")
        same = cells[order[1:]] == cells[order[:-1]]
        if not same.any():
            return
        value = group.full(site.values[piece * self.granule // site.width](group.R))
        bits = value.view(f"u{value.itemsize}")
        clash = same & (bits[order[1:]] != bits[order[:-1]])
        if clash.any():
            at = np.flatnonzero(clash)[0]
            earlier = _pack(int(group.lanes[order[at]]), 0, self.number(site), 0)
            later = order[at + 1]
            self._report(site, group, region, earlier, int(cells[later]), "write", later)

    def number(self, site) -> int:
        """A number for each memory instruction; ``sites`` has it there."""
        if id(site) not in self._numbers:
            self._numbers[id(site)] = len(self.sites)
            self.sites.append(site)
        return self._numbers[id(site)]

    def _report(self, site, group: Group, region, entry: int, cell: int, kind: str, at) -> None:
        lane, _, number, _ = _unpack(entry)
        earlier, here = self.sites[number].instruction.location, site.instruction.location
        writes = site.is_store or site.is_atomic
        batch = group.batch
        thread, block = batch.who(group.lanes[at])
        other, _ = batch.who(lane)
        inside = cell * self.granule % region.stride
        index = inside // site.width
        order = f"{'write' if writes else 'read'} after {kind}"
        same_warp = lane >> 5 == int(group.lanes[at]) >> 5
        cure = "__syncwarp() or __syncthreads()" if same_warp else "__syncthreads()"
        text = (
            f"Data race ({order}) on {region.name}[{index}] in shared memory, block {block}:\n"
            f"  thread {other} {kind}s it at {earlier}\n"
            f"  thread {thread} {'writes' if writes else 'reads'} it at {here}\n"
            f"  with no {cure} in between."
        )
        finding = Finding(
            DATA_RACE, text, here, thread, block, region.name, index, 0, earlier, other
        )
        self.add((earlier, here, kind, writes), finding)


def _sides(transfer):
    """(region, elements, indices, whether written) of what a copy touches of shared memory."""
    target, source = transfer.regions
    if target is not None and target.space == "shared":
        yield target, transfer.target, transfer.put, True
    if source is not None and source.space == "shared":
        yield source, transfer.source, transfer.take, False


def _width(instruction) -> int:
    from .ptx import SIZES

    return SIZES.get(instruction.modifiers[-1], 4)
