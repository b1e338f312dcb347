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


class _Shadow:
    """What is remembered of each cell: the last writer, and the last two readers.

    Each is (lane of the batch, the warp's clock then, number of the instruction, whether atomic).
    """

    def __init__(self, cells: int):
        self.write, self.read, self.read_before = (
            np.full((4, cells), _NOBODY, np.int64) for _ in range(3)
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
        cells = group.full(index + first) * (site.width // self.granule)
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
        against = [("write", shadow.write)]
        if writes:
            against += [("read", shadow.read), ("read", shadow.read_before)]
        for kind, memory in against:
            lane, clock, _, was_atomic = memory[:, cells]
            known = batch.clocks[slot, warp, lane % batch.lanes_per_block >> 5]
            bad = (lane != _NOBODY) & (lane != group.lanes) & (known <= clock)
            if atomic:
                bad &= was_atomic != 1
            if bad.any():
                self._report(site, group, region, memory, cells, kind, np.flatnonzero(bad)[0])
        entry = np.empty((4, group.n), np.int64)
        entry[0], entry[1], entry[2], entry[3] = group.lanes, now, number, atomic
        if not writes:
            other = shadow.read[0, cells] != group.lanes
            shadow.read_before[:, cells[other]] = shadow.read[:, cells[other]]
            shadow.read[:, cells] = entry
            return
        if site.is_store:
            self._same_store(site, group, region, cells, piece)
        shadow.write[:, cells] = entry
        shadow.read[:, cells] = _NOBODY
        shadow.read_before[:, cells] = _NOBODY

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
            memory = np.empty((4, int(cells.max()) + 1), np.int64)
            memory[:, cells[order[at]]] = group.lanes[order[at]], 0, self._number(site), 0
            self._report(site, group, region, memory, cells, "write", order[at + 1])

    def _number(self, site) -> int:
        if id(site) not in self._numbers:
            self._numbers[id(site)] = len(self.sites)
            self.sites.append(site)
        return self._numbers[id(site)]

    def _report(self, site, group: Group, region, memory, cells, kind: str, at: int) -> None:
        lane, _, number, _ = (int(v) for v in memory[:, cells[at]])
        earlier, here = self.sites[number].instruction.location, site.instruction.location
        writes = site.is_store or site.is_atomic
        key = (earlier, here, kind, writes)
        if key in self._seen:
            return
        self._seen.add(key)
        batch = group.batch
        thread, block = batch.who(group.lanes[at])
        other, _ = batch.who(lane)
        inside = int(cells[at]) * self.granule % region.stride
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
