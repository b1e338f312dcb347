"""Finds data races in shared memory.

The machine runs the lanes of a batch in step, which hides a missing barrier: the result comes out
right by luck. So each byte of shared memory remembers who wrote it last and who read it, and each
warp keeps a *vector clock*: for every other warp of its block, how much of that warp's past is
known to have happened before now. Barriers are what makes a past known. An access that meets
another thread's access, one of them a write, with nothing between them, is a race.
"""

from __future__ import annotations

import numpy as np

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


class _Shadow:
    """What is remembered of each cell: the last writer, and the last two readers."""

    def __init__(self, cells: int):
        self.write, self.read, self.read_before = (
            np.full(cells, _NOBODY, np.int64) for _ in range(3)
        )


class RaceCheck:
    """Watches the shared memory of one launch; ``findings`` holds the first race of each pair of
    source lines."""

    def __init__(self, launch):
        self.launch = launch
        self.findings: list[Finding] = []
        self.sites: list = []
        self._numbers: dict[int, int] = {}
        self._seen: set = set()
        widths = [
            _width(i)
            for i in launch.entry.function.instructions
            if i.opcode in ("ld", "st", "atom")
        ]
        self.granule = 4 if all(w >= 4 for w in widths) else 1

    def begin(self, batch) -> None:
        warps = batch.lanes_per_block // 32
        batch.clocks = np.zeros((batch.block_count, warps, warps), np.int64)
        batch.clocks[:, range(warps), range(warps)] = 1
        batch.shadows = {}

    # --- order ---

    def barrier(self, batch, joined: np.ndarray) -> None:
        """Warps marked in ``joined`` (blocks, warps) met at a barrier: each now knows the past of
        all the others."""
        clocks = batch.clocks
        blocks, warps = np.nonzero(joined)
        clocks[blocks, warps, warps] += 1
        known = np.where(joined[:, :, None], clocks, 0).max(axis=1)
        clocks[:] = np.where(joined[:, :, None], known[:, None, :], clocks)

    def warp_barrier(self, batch, group: Group) -> None:
        per_block = batch.lanes_per_block // 32
        slots, warps = np.divmod(group.warps, per_block)
        batch.clocks[slots, warps, warps] += 1

    def check_barrier(self, batch, group: Group, instruction, threads) -> None:
        """``__syncthreads()`` is for every thread of a block; some may have left already."""
        if threads or instruction.opcode != "bar":
            return
        short = np.flatnonzero(batch.alive[np.unique(group.slots)] < batch.threads)
        if not len(short) or ("exit", id(instruction)) in self._seen:
            return
        self._seen.add(("exit", id(instruction)))
        slot = int(np.unique(group.slots)[short[0]])
        gone = batch.threads - int(batch.alive[slot])
        thread, block = batch.who(group.lanes[0])
        self.findings.append(
            Finding(
                BARRIER,
                f"Barrier misuse: {gone} of the {batch.threads} threads of block "
                f"{batch.block_index(batch.first + slot)} had returned before __syncthreads() at "
                f"{instruction.location}. Every thread must reach it.",
                instruction.location,
                thread,
                block,
            )
        )

    # --- accesses ---

    def watch(self, site, group: Group, region, first: int, index, spread) -> None:
        if region.space != "shared":
            return
        batch = group.batch
        shadow = batch.shadows.get(region)
        if shadow is None:
            shadow = batch.shadows[region] = _Shadow(region.storage.size // self.granule + 4)
        cells = group.full(index + first) * site.width // self.granule
        for piece in range(site.bytes // self.granule):
            self._access(site, group, region, shadow, cells + piece, piece)

    def _access(self, site, group: Group, region, shadow: _Shadow, cells, piece: int) -> None:
        batch = group.batch
        slot = group.slots
        warp = group.lanes % batch.lanes_per_block >> 5
        now = batch.clocks[slot, warp, warp]
        number = self._number(site)
        atomic = int(site.is_atomic)
        writes = site.is_store or site.is_atomic
        lanes_per_block = batch.lanes_per_block
        against = [("write", shadow.write)]
        if writes:
            against += [("read", shadow.read), ("read", shadow.read_before)]
        for kind, memory in against:
            entries = memory[cells]
            if entries.max() == _NOBODY:
                continue
            lane, clock, _, was_atomic = _unpack(entries)
            known = batch.clocks[slot, warp, lane % lanes_per_block >> 5]
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
            earlier = _pack(int(group.lanes[order[at]]), 0, self._number(site), 0)
            later = order[at + 1]
            self._report(site, group, region, earlier, int(cells[later]), "write", later)

    def _number(self, site) -> int:
        if id(site) not in self._numbers:
            self._numbers[id(site)] = len(self.sites)
            self.sites.append(site)
        return self._numbers[id(site)]

    def _report(self, site, group: Group, region, entry: int, cell: int, kind: str, at) -> None:
        lane, _, number, _ = _unpack(entry)
        earlier, here = self.sites[number].instruction.location, site.instruction.location
        writes = site.is_store or site.is_atomic
        key = (earlier, here, kind, writes)
        if key in self._seen:
            return
        self._seen.add(key)
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
        self.findings.append(
            Finding(DATA_RACE, text, here, thread, block, region.name, index, 0, earlier, other)
        )


def _width(instruction) -> int:
    from .ptx import SIZES

    return SIZES.get(instruction.modifiers[-1], 4)
