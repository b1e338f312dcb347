"""Finds data races in global memory: between the threads of a block and between blocks.

Nothing orders two blocks of a launch, and within a block only barriers order two threads. Each cell
of global memory remembers its last writer and its last two readers; an access by another thread,
one of the two being a write, with no barrier between, is a race. Writing what is there already is
not reported: many threads may raise one flag. A kernel whose blocks talk to each other through
fences, volatile or ordered accesses makes an order of its own that is not followed here; such
kernels are left out (see :func:`follows_no_order`).
"""

from __future__ import annotations

import numpy as np

from .report import DATA_RACE, Finding

THREAD_BITS, SITE_BITS = 32, 12
NOBODY = -1
ORDERING = {"volatile", "acquire", "release", "acq_rel", "relaxed", "mmio"}


def follows_no_order(instructions) -> bool:
    """True when a kernel has no means to order its blocks."""
    return not any(
        i.opcode in ("fence", "membar", "mbarrier", "cp")
        or ORDERING & set(i.modifiers)
        or any(getattr(o, "name", "").startswith("envreg") for o in i.operands)
        for i in instructions
    )


def _pack(thread, clock, site: int, atomic: int):
    return (clock << SITE_BITS | site) << 1 + THREAD_BITS | atomic << THREAD_BITS | thread


class _Shadow:
    def __init__(self, cells: int):
        self.write, self.read, self.read_before = np.full((3, cells), NOBODY, np.int64)


class GlobalRaces:
    """Watches global memory for one launch. ``races`` numbers the instructions and keeps what is
    found."""

    def __init__(self, launch, races):
        self.races = races
        code = [
            i for f in launch.module.functions.values() for i in f.instructions
        ] or launch.entry.function.instructions
        self.enabled = follows_no_order(code)
        self._shadows: dict = {}

    def watch(self, site, group, region, first: int, index) -> None:
        if not self.enabled or region.owner != "all" or region.read_only:
            return
        shadows = self._shadows.setdefault(region, {})
        if site.width not in shadows:  # cells are as wide as the accesses; widths do not mix
            shadows[site.width] = _Shadow(region.size // site.width + 16)
        cells = group.full(index + first)
        for piece in range(site.bytes // site.width):
            self._access(site, group, region, shadows[site.width], cells + piece, piece)

    def _access(self, site, group, region, shadow: _Shadow, cells, piece: int) -> None:
        batch = group.batch
        row, place = np.divmod(group.lanes, batch.span)
        now = batch.clocks[row, place >> 5, place >> 5]
        thread = batch.first * batch.lanes_per_block + group.lanes
        atomic, number = int(site.is_atomic), self.races.number(site) % (1 << SITE_BITS)
        writes = site.is_store or site.is_atomic
        news = self._changes(site, group, region, cells, piece)
        memories = [("write", shadow.write)]
        if writes:
            memories += [("read", shadow.read), ("read", shadow.read_before)]
        for kind, memory in memories:
            entries = memory[cells]
            if entries.max() == NOBODY:
                continue
            other = entries & ((1 << THREAD_BITS) - 1)
            clock = entries >> 1 + THREAD_BITS + SITE_BITS
            near = other - batch.first * batch.lanes_per_block - row * batch.span
            inside = (near >= 0) & (near < batch.span)  # of the same block, or of its cluster
            known = batch.clocks[row, place >> 5, np.where(inside, near, 0) >> 5]
            bad = (entries != NOBODY) & (other != thread) & ~(inside & (known > clock))
            if atomic:
                bad &= entries >> THREAD_BITS & 1 == 0
            if bad.any():
                bad &= news
            if bad.any():
                at = np.flatnonzero(bad)[0]
                same = bool(inside[at])
                self._race(site, group, region, int(entries[at]), int(cells[at]), kind, at, same)
        entry = _pack(thread, now, number, atomic)
        if not writes:
            before = shadow.read[cells]
            others = before & ((1 << THREAD_BITS) - 1) != thread
            shadow.read_before[cells[others]] = before[others]
            shadow.read[cells] = entry
            return
        self._together(site, group, region, cells, entry, piece)
        shadow.write[cells] = entry
        shadow.read[cells] = NOBODY
        shadow.read_before[cells] = NOBODY

    def _changes(self, site, group, region, cells, piece: int) -> np.ndarray:
        """Where a store puts something else than is there; all True for loads and atomics."""
        if not site.is_store:
            return np.ones(group.n, bool)
        value = group.full(site.values[piece](group.R))
        bits = np.dtype(f"u{value.itemsize}")
        return region.view(bits)[cells] != value.view(bits)

    def _together(self, site, group, region, cells, entry, piece: int) -> None:
        """Two lanes of one store that put different values into one place."""
        if not site.is_store:
            return
        order = np.argsort(cells, kind="stable")
        same = cells[order[1:]] == cells[order[:-1]]
        if not same.any():
            return
        value = group.full(site.values[piece](group.R))
        bits = value.view(f"u{value.itemsize}")
        clash = np.flatnonzero(same & (bits[order[1:]] != bits[order[:-1]]))
        if len(clash):
            first, second = order[clash[0]], order[clash[0] + 1]
            block = group.batch.span
            near = group.lanes[first] // block == group.lanes[second] // block
            self._race(
                site, group, region, int(entry[first]), int(cells[second]), "write", second,
                bool(near),
            )  # fmt: skip

    def _race(self, site, group, region, entry, cell, kind: str, at, same_block: bool) -> None:
        batch = group.batch
        earlier = self.races.sites[entry >> 1 + THREAD_BITS & ((1 << SITE_BITS) - 1)]
        there, here = earlier.instruction.location, site.instruction.location
        number, lane = divmod(entry & ((1 << THREAD_BITS) - 1), batch.lanes_per_block)
        thread, block = batch.who(group.lanes[at])
        other, _ = batch.who(lane)
        other_block = batch.block_index(number)
        writes = site.is_store or site.is_atomic
        cause = "with no __syncthreads() in between." if same_block else (
            "and nothing orders two blocks: they run in any order, or at once."
        )  # fmt: skip
        text = (
            f"Data race ({'write' if writes else 'read'} after {kind}) on {region.name}[{cell}]:\n"
            f"  thread {other} of block {other_block} {kind}s it at {there}\n"
            f"  thread {thread} of block {block} {'writes' if writes else 'reads'} it at {here}\n"
            f"  {cause}"
        )
        finding = Finding(
            DATA_RACE, text, here, thread, block, region.name, cell, 0, there, other
        )  # fmt: skip
        self.races.add(("global", there, here, kind, writes), finding)
