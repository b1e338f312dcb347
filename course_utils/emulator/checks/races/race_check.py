"""Finds data races in shared and in global memory, asynchronous copies that no thread waited for,
and misused barriers.

The machine runs the lanes of a batch in lockstep, which hides a missing barrier: the result comes
out right by luck. So memory remembers its last accesses (:mod:`.race_shadow`), and warps the
past that they know of each other (:mod:`.vector_clocks`). An access that meets another thread's
access, one of them a write, with nothing between them, is a race. Nothing orders two blocks of a
launch, unless they make their own order with flags and fences (:mod:`.happens_before`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from ...findings.reported_state import ReportedAccess
from ...isa import ptx
from ...machine.accesses import AddressPattern, WatchedAccess
from ...machine.async_state import Transfer
from ...machine.batch import Batch
from ...machine.code import Code
from ...machine.lanes import Group
from ...machine.launch_state import LaunchState
from ...memory.address_space import Region
from ...numerics.rounding import ceil_div
from .access_numbers import AccessNumbers
from .arrivals import BarrierClocks, RelaxedArrival, arrives
from .batch_races import BatchRaces
from .cluster_lifetimes import (
    left_too_early,
    not_started,
    pair_not_started,
    reaches_too_early,
    touched_late,
)
from .conflict import AccessCheck
from .copy_sides import CopySide, fetched, side_of, sides
from .flags import Flags
from .happens_before import HappensBefore, fences, has_scopes, is_strong, makes_order
from .lane_releases import LaneReleases
from .optimistic_loads import optimistic_loads
from .order_events import OrderEvents
from .race_entries import THREAD, number_of, pack
from .race_shadow import RaceShadow, cells_of, overlap, span_of
from .severity import Paths
from .shared_names import NOTE, one_memory
from .tensor_memory_check import TensorClocks
from .tile_reads import LateReader, TileRead, TileReads
from .vector_clocks import VectorClocks
from .volatile_updates import volatile_updates


class RaceCheck(OrderEvents):
    """Watches the memory of one launch, and reports the first race of each pair of source lines,
    with a count of the rest."""

    def __init__(self, launch: LaunchState) -> None:
        self.launch = launch
        self.findings = launch.findings
        names = [name for name, (_, size) in launch.entry.shared.items() if size < 0]
        if len(names) > 1 and (found := one_memory(launch.code, names)):
            self.findings.add(found.cause, found, NOTE)
        self._batches: dict[object, BatchRaces] = {}
        self._copy_sites: dict[tuple[int, bool, int], CopySide] = {}
        self._late: dict[tuple[int, int], LateReader] = {}
        self._global: dict[Region, RaceShadow] = {}
        self._makes_order = makes_order(launch.entry.forms)
        self._releases: LaneReleases | None = None
        if self._makes_order or any(map(arrives, launch.entry.forms)):
            self._releases = LaneReleases(
                math.prod(launch.grid) * ceil_div(math.prod(launch.block), 32)
            )
        looks = optimistic_loads(launch.entry.forms, launch.entry.instructions())
        self.numbers = AccessNumbers(looks)
        self._flags: Flags | None = None
        self.scopes = has_scopes(launch.entry.forms)
        self.paths: Callable[[Code], Paths] = cache(
            Paths
        )  # of the functions in which races were found
        self.volatile_updates: Callable[[Code], frozenset[tuple[int, int]]] = cache(
            lambda code: volatile_updates(code, self.paths(code))
        )

    def tiles(self, batch: Batch) -> TileReads:
        """The tiles that tensor cores of a batch read."""
        return self._batches[batch].tiles

    def batch_starts(self, batch: Batch) -> None:
        clocks = (TensorClocks if self.launch.entry.tensor_memory else VectorClocks)(batch)
        nobody = np.zeros(batch.block_count, bool)
        tiles = TileReads(batch.block_count * batch.lanes_per_block)
        self._batches[batch] = BatchRaces(clocks, BarrierClocks(batch, clocks), nobody, tiles)
        if self._makes_order:
            if self._flags is None:
                blocks = math.prod(self.launch.grid)
                warps = blocks * batch.lanes_per_block // 32
                self._flags = Flags(warps, fences(self.launch.entry.forms))
            clocks.order = HappensBefore(batch, clocks, self._flags)
        if self._releases is not None:
            clocks.releases = self._releases
            clocks.active = np.zeros(batch.block_count * batch.lanes_per_block, bool)

    def batch_ends(self, batch: Batch) -> None:
        del self._batches[batch]

    # --- accesses ---

    def access(
        self,
        site: WatchedAccess,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        active = self.clocks(group.batch).active
        if active is not None and region.space in ("shared", "global"):
            active[group.lanes] = True
        self._access(site, group, region, first, index, pattern)

    def _access(
        self,
        site: WatchedAccess,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        shadow = self._shadow(group.batch, region, site.width, site.bytes)
        if shadow is None:
            return
        clocks = self.clocks(group.batch)
        flag = clocks.order
        if flag is not None and not (flag.concerns(site) and is_strong(site, region)):
            flag = None
        if flag is not None:
            flag.before(site, group)
        low, length = first * site.width, pattern.high - pattern.low
        span = low, low + length + site.bytes
        reads = not (site.is_store or site.is_atomic)
        if not reads or shadow.bytes_in_flight or overlap(span, shadow.written):
            access = AccessCheck(self, site, group, region, shadow, span, group.full(index + first))
            for piece in range(max(1, site.bytes // shadow.granule)):
                access.check_cells(piece)
        if reads:
            read = first, self.numbers.of(site, region), site.width, site.bytes
            shadow.defer_read(clocks, group.lanes, index, length, read)
        if flag is not None:
            flag.after(site, group, region, group.full(index + first))

    def _shadow(self, batch: Batch, region: Region, width: int, size: int) -> RaceShadow | None:
        """The shadow of a region, ready for an access of ``size`` bytes in elements of ``width``.
        None for a region that is not checked."""
        self._batches[batch].accesses += 1
        if region.space == "shared":
            shadows = self._batches[batch].shadows
        elif region.space == "global" and not region.read_only:
            shadows = self._global
        else:
            return None
        shadow = shadows.get(region)
        if shadow is None:
            shadow = shadows[region] = RaceShadow(region.storage.size, max(4, width))
        if region.space == "shared" and shadow.level != self.clocks(batch).level:
            shadow.forget()
            shadow.level = self.clocks(batch).level
        shadow.fit(width, size)
        return shadow

    # --- asynchronous copies ---

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        """Check the copy against all accesses before it, and mark its bytes."""
        clocks = self.clocks(batch)
        self._fetched_too_early(batch, transfer)
        for region, view, index, writes in sides(transfer):
            site = self._copy_site(transfer.instruction, writes)
            shadow = self._shadow(batch, region, view.itemsize, 4)
            if shadow is None:
                continue
            cells = cells_of(view, index, shadow.granule)
            owners = np.repeat(transfer.lanes, len(cells) // len(transfer.lanes))
            if transfer.queue != "async":  # cp.async was checked as it is an access of its lanes
                span = span_of(region, shadow, cells)
                group = Group.of_copy(batch, owners)
                access = AccessCheck(self, site, group, region, shadow, span)
                access.check_cells(0, cells)
                if not writes:
                    shadow.enter_read(cells, access.entries, span)
            marks = pack(clocks.threads(owners), 1, self.numbers.of(site, region) | writes)
            shadow.copy_started(cells, marks)
        if transfer.queue != "async":  # cp.async is handed over by its thread, at its wait
            lanes = transfer.lanes[:1]
            clocks.release(lanes, lanes >> 5, transfer.instruction)
            self._batches[batch].past[transfer.number] = clocks.released(lanes >> 5)

    def _fetched_too_early(self, batch: Batch, transfer: Transfer) -> None:
        """Report a bulk copy that reads global memory while another still writes there."""
        found = fetched(transfer)
        if found is None:
            return
        region, view, index = found
        shadow = self._global.get(region)
        if shadow is None or not shadow.bytes_in_flight or not index.size:
            return
        shadow.fit(view.itemsize, 4)
        cells = cells_of(view, index, shadow.granule)
        group = Group.of_copy(batch, np.repeat(transfer.lanes[:1], len(cells)))
        site = self._copy_site(transfer.instruction, False)
        span = span_of(region, shadow, cells)
        AccessCheck(self, site, group, region, shadow, span).compare_copies(cells)

    def copy_lands(self, batch: Batch, transfer: Transfer) -> None:
        if transfer.queue != "async":
            self._copy_landed(batch, transfer, "shared")

    def copy_observed(self, batch: Batch, transfer: Transfer, instruction: ptx.Instruction) -> None:
        self._copy_landed(batch, transfer, "shared", instruction)

    def copy_visible(self, batch: Batch, transfer: Transfer, instruction: ptx.Instruction) -> None:
        self._copy_landed(batch, transfer, "global", instruction)

    def past(self, batch: Batch, transfer: Transfer) -> np.ndarray:
        """The past that the end of a copy releases: its thread's when it started it."""
        return self._batches[batch].past[transfer.number]

    def _copy_landed(
        self, batch: Batch, transfer: Transfer, space: str, waited: ptx.Instruction | None = None
    ) -> None:
        """A copy has landed in ``space``. ``waited``: the instruction of its threads (of cp.async,
        and of bulk copies to global memory) that says so. The bytes arrive then, as if each thread
        stored its own now."""
        clocks = self.clocks(batch)
        for region, view, index, writes in sides(transfer):
            shadow = self._shadow(batch, region, view.itemsize, 4)
            if region.space != space or shadow is None:
                continue
            cells = cells_of(view, index, shadow.granule)
            shadow.copy_landed(cells)
            if waited is not None:
                owners = np.repeat(transfer.lanes, len(cells) // len(transfer.lanes))
                threads, now = clocks.threads(owners), clocks.now(owners)
                site = self._copy_site(transfer.instruction, writes, waited)
                entries = pack(threads, now, self.numbers.of(site, region))
                shadow.enter_write(cells, entries, span_of(region, shadow, cells))

    def _copy_site(
        self, instruction: ptx.Instruction, writes: bool, waited: ptx.Instruction | None = None
    ) -> CopySide:
        key = (id(instruction), writes, id(waited))
        return self._copy_sites.setdefault(key, side_of(instruction, writes, waited))

    # --- the end of threads ---

    def blocks_end(self, batch: Batch, blocks: np.ndarray) -> None:
        """The shared memory of blocks ends with them: did all other blocks of the cluster surely
        finish with it first?"""
        if batch.clusters is None:
            return
        state = self._batches[batch]
        for region, shadow in state.shadows.items():
            late = touched_late(batch, state.clocks, region, shadow, blocks.tolist())
            for block, kind, entry in late:
                lane = (entry & THREAD) - state.clocks.first
                told = self.relaxed_between(batch, entry, block * batch.lanes_per_block)
                i = self.numbers.site(int(number_of(entry))).instruction
                self._left_too_early(batch, block, region.name, kind, lane, i, told)
        for block in blocks.tolist():
            for entry, lane, i, name in state.remote_arrivals.unknown(batch, state.clocks, block):
                told = self.relaxed_between(batch, entry, block * batch.lanes_per_block)
                self._left_too_early(batch, block, name, "arrives at", lane, i, told)

    def _left_too_early(
        self,
        batch: Batch,
        block: int,
        name: str,
        kind: str,
        lane: int,
        i: ptx.Instruction,
        told: RelaxedArrival | None,
    ) -> None:
        finding = left_too_early(batch, block, name, kind, int(lane), i, told)
        self.findings.add(("gone", i.location, kind), finding)

    def remote_access(self, site: ReportedAccess, group: Group, homes: np.ndarray) -> None:
        """Is it certain that the block whose shared memory is meant has started?"""
        state = self._batches[group.batch]
        at = reaches_too_early(state.clocks, state.waited, group, homes)
        if at is not None:
            self.findings.add(("early", id(site)), not_started(site, group, at, int(homes[at])))

    def pair_allocates(self, group: Group, instruction: ptx.Instruction, peer: int) -> None:
        """Is it certain that the other block has started?"""
        state = self._batches[group.batch]
        homes = np.full(group.n, peer)
        if reaches_too_early(state.clocks, state.waited, group, homes) is not None:
            key = "early", id(instruction)
            self.findings.add(key, pair_not_started(instruction, group, peer))

    def tiles_read(
        self,
        reader: WatchedAccess,
        group: Group,
        firsts: np.ndarray,
        region: Region,
        index: np.ndarray,
        inside: np.ndarray,
    ) -> None:
        """As if the lanes of each warpgroup's first warp read it all: the four warps read together,
        and kernels let one thread say that the tile is free again."""
        if not inside.all():
            return
        cells = index.reshape(len(index), -1) * (16 // reader.width)
        lanes = group.lanes[firsts][:, None] + np.arange(cells.shape[1]) % 32
        shadow = self._shadow(group.batch, region, reader.width, reader.bytes)
        if shadow is None:
            return
        writers = shadow.writer[shadow.cells(cells, reader.width)]
        read = TileRead(reader, region, lanes, cells, writers)
        self._read_tiles(group, read, reader)
        self._batches[group.batch].tiles.starts(read)

    def wgmma_commits(self, group: Group) -> None:
        self._batches[group.batch].tiles.commits(group.warps)

    def wgmma_waits(self, group: Group, wait: ptx.Instruction) -> None:
        """A write since a tile was first read has overwritten it, even if it is ordered by now."""
        pending = ptx.integer(wait.operands[0])
        for read in self._batches[group.batch].tiles.done(group.warps, pending):
            key, i = (id(read.reader), id(wait)), read.reader.instruction
            reader = self._late.setdefault(key, LateReader(i, wait, read.reader.width))
            access = self._read_tiles(group, read, reader)
            cells = access.shadow.cells(read.cells.ravel(), reader.width)
            access.overwritten(cells, read.writers.ravel())
            self.tiles(group.batch).ended(self.clocks(group.batch), read)

    def _read_tiles(self, group: Group, read: TileRead, reader: WatchedAccess) -> AccessCheck:
        """The tiles are read, now."""
        part = Group(group.batch, read.lanes.ravel(), group.code, group.block, group.R)
        cells, width = read.cells.ravel(), reader.width
        places = cells * width % read.region.stride
        first = int(places.min()) // width
        pattern = AddressPattern(places, places)
        self._access(reader, part, read.region, first, cells - first, pattern)
        shadow = self._shadow(group.batch, read.region, width, reader.bytes)
        if shadow is None:
            raise ValueError(f"no tile is read from {read.region.name}: it is not shared memory")
        return AccessCheck(self, reader, part, read.region, shadow, (0, 0))
