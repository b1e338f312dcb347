"""Finds data races in shared and in global memory, asynchronous copies nobody waited for, misused
barriers.

The machine runs the lanes of a batch in step, which hides a missing barrier: the result comes out
right by luck. So memory remembers who touched it (:mod:`.race_shadow`), and warps what they know of
each other's past (:mod:`.vector_clocks`). An access that meets another thread's access, one of them
a write, with nothing between them, is a race. Nothing orders two blocks of a launch, unless they
make an order of their own with flags and fences (:mod:`.happens_before`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..machine.lanes import Group
from ..machine.report import BARRIER, DATA_RACE, Finding
from .happens_before import Flags, Order, fences, makes_order
from .race_shadow import CLOCK_SHIFT, MAX_SITES, THREAD, RaceShadow, meets, number_of, pack
from .races import AccessCheck
from .tensor_memory_check import TensorClocks
from .vector_clocks import VectorClocks


def is_strong(site, region) -> bool:
    """Whether an access does not race with its like: atomics, and volatile or ordered accesses.
    Volatile ones to shared memory are of little use to a flag, and many a missing ``__syncwarp()``
    hides behind them: they are treated as any other."""
    if site.is_atomic:
        return True
    return bool(site.order) and (region.space == "global" or site.order != "volatile")


@dataclass(eq=False)
class CopySide:
    """One side of an asynchronous copy, for reports. ``waited``: where its thread got to know of
    its end, once it has; other threads must be ordered behind that."""

    instruction: object
    is_store: bool
    waited: object = None
    is_atomic: bool = False
    order: str = ""
    width: int = 4
    bytes: int = 4


class RaceCheck:
    """Watches the memory of one launch; :meth:`collected` has the first race of each pair of
    source lines, with a count of the rest."""

    def __init__(self, launch):
        self.launch = launch
        self._findings: dict[tuple, Finding] = {}
        self._numbers: dict[tuple[int, bool], int] = {}
        self._kinds: dict[tuple, int] = {}
        self._sites: dict[int, object] = {}
        self._copy_sites: dict = {}
        self._global: dict[object, RaceShadow] = {}
        self._makes_order = makes_order(launch.entry.instructions())
        self._flags: Flags | None = None

    def begin(self, batch) -> None:
        clocks = TensorClocks if self.launch.entry.tensor_memory else VectorClocks
        batch.clocks = clocks(batch)
        if self._makes_order:
            if self._flags is None:
                blocks = math.prod(self.launch.grid)
                warps = blocks * batch.lanes_per_block // 32
                self._flags = Flags(warps, fences(self.launch.entry.instructions()))
            batch.clocks.order = Order(batch, batch.clocks, self._flags)
        batch.shadows = {}

    # --- findings ---

    def add(self, key, finding: Finding) -> None:
        """Keep the first finding of each kind at each place, and count the rest."""
        if not self.again(key):
            self._findings[key] = finding

    def again(self, key, times: int = 1) -> bool:
        """Whether there is a finding like it already, which has then been met so often more."""
        found = self._findings.get(key)
        if found is not None:
            self._findings[key] = replace(found, repeats=found.repeats + times)
        return found is not None

    def collected(self) -> list[Finding]:
        return list(self._findings.values())

    # --- order ---

    def barrier(self, batch, joined: np.ndarray) -> None:
        """Warps marked in ``joined`` (blocks, warps) met at a barrier of their block."""
        size = batch.clocks.span // batch.lanes_per_block
        if size == 1:
            batch.clocks.meet(joined)
            return
        by_rank = joined.reshape(len(joined) // size, size, -1)
        for rank in np.flatnonzero(by_rank.any(axis=(0, 2))):
            only = np.zeros_like(by_rank)
            only[:, rank] = by_rank[:, rank]
            self.meet(batch, only.reshape(len(by_rank), -1))

    def meet(self, batch, joined: np.ndarray) -> None:
        """Each warp marked in ``joined`` (clusters, warps) now knows the past of the others."""
        batch.clocks.meet(joined)

    def warp_barrier(self, batch, group: Group) -> None:
        batch.clocks.tick(group.warps)

    def fence(self, group: Group, wide: bool) -> None:
        """A fence; ``wide``: for more than the lanes' own block."""
        group.batch.clocks.order.fence(group.warps, wide)

    def publish(self, batch, lanes: np.ndarray, barrier) -> None:
        """Lanes arrive at an mbarrier: whoever waits for it will know their past."""
        self.hand_over(barrier, batch.clocks.tick(np.unique(lanes >> 5)))

    def hand_over(self, barrier, known: np.ndarray | None) -> None:
        if known is not None and barrier is not None:
            old = barrier.gathered
            barrier.gathered = known.copy() if old is None else np.maximum(old, known)

    def acquire(self, batch, lanes: np.ndarray, known: np.ndarray) -> None:
        """Lanes have waited for an mbarrier."""
        batch.clocks.acquire(np.unique(lanes >> 5), known)

    # --- accesses ---

    def watch(self, site, group: Group, region, first: int, index, spread) -> None:
        """Lanes read or write elements ``first + index`` of an array."""
        shadow = self._shadow(group.batch, region, site.width, site.bytes)
        if shadow is None:
            return
        order = group.batch.clocks.order
        flag = order is not None and order.concerns(site) and is_strong(site, region)
        if flag:
            order.before(site, group)
        low, length = first * site.width, spread.high - spread.low
        span = low, low + length + site.bytes
        reads = not (site.is_store or site.is_atomic)
        if not reads or shadow.flying or meets(span, shadow.written):
            access = AccessCheck(self, site, group, region, shadow, span, group.full(index + first))
            for piece in range(max(1, site.bytes // shadow.granule)):
                access.make(piece)
        if reads:
            read = first, self.number(site, region), site.width, site.bytes
            shadow.put_aside(group.batch.clocks, group.lanes, index, length, read)
        if flag:
            order.after(site, group, region, group.full(index + first))

    def _shadow(self, batch, region, width: int, size: int) -> RaceShadow | None:
        """What is remembered of a region, ready for an access of ``size`` bytes in elements of
        ``width``; None for a region that is not watched."""
        if region.space == "shared":
            shadows = batch.shadows
        elif region.space == "global" and not region.read_only:
            shadows = self._global
        else:
            return None
        shadow = shadows.get(region)
        if shadow is None:
            shadow = shadows[region] = RaceShadow(region.storage.size, max(4, width))
        if shadows is batch.shadows and shadow.level != batch.clocks.level:
            shadow.forget()
            shadow.level = batch.clocks.level
        shadow.fit(width, size)
        return shadow

    def number(self, site, region) -> int:
        """A number for each kind of access at each line, odd for strong ones; see :meth:`site`."""
        strong = is_strong(site, region)
        number = self._numbers.get((id(site), strong))
        if number is None:
            i = site.instruction
            waited = getattr(site, "waited", None) and site.waited.locations
            key = i.locations, site.is_store, site.is_atomic, site.width, site.bytes, strong, waited
            known = self._kinds.setdefault(key, len(self._kinds))
            known = min(known, MAX_SITES - 1)  # beyond them a report may name a wrong line
            self._sites.setdefault(known, site)
            number = self._numbers[id(site), strong] = 2 * known + strong
        return number

    def site(self, number: int):
        """The first memory instruction that got this number."""
        return self._sites[number >> 1]

    # --- asynchronous copies ---

    def take_off(self, batch, transfer) -> None:
        """Check a copy that was just started against all accesses before it, and mark its bytes."""
        for region, view, index, writes in _sides(transfer):
            site = self._copy_site(transfer.instruction, writes)
            shadow = self._shadow(batch, region, view.itemsize, 4)
            cells = _cells(view, index, shadow.granule)
            owners = np.repeat(transfer.lanes, len(cells) // len(transfer.lanes))
            if transfer.queue != "async":  # cp.async was checked as it is an access of its lanes
                span = _span(region, shadow, cells)
                group = Group(batch, owners, None, 0, None)
                access = AccessCheck(self, site, group, region, shadow, span)
                access.make(0, cells)
                if not writes:
                    shadow.enter_read(cells, access.entries, span)
            marks = pack(batch.clocks.threads(owners), 1, self.number(site, region) | writes)
            shadow.take_off(cells, marks)
        if transfer.queue != "async":  # cp.async is handed over by its thread, at its wait
            transfer.known = batch.clocks.tick(transfer.lanes[:1] >> 5)

    def touch_down(self, batch, transfer, waited=None) -> None:
        """A copy has landed. ``waited``: the instruction of its threads (of cp.async) that says so;
        the bytes arrive then, as if each thread stored its own now."""
        for region, view, index, writes in _sides(transfer):
            shadow = self._shadow(batch, region, view.itemsize, 4)
            cells = _cells(view, index, shadow.granule)
            shadow.touch_down(cells)
            if waited is not None:
                owners = np.repeat(transfer.lanes, len(cells) // len(transfer.lanes))
                threads, now = batch.clocks.threads(owners), batch.clocks.now(owners)
                site = self._copy_site(transfer.instruction, writes, waited)
                entries = pack(threads, now, self.number(site, region))
                shadow.enter_write(cells, entries, _span(region, shadow, cells))

    def left_in_flight(self, batch, transfer) -> None:
        location = transfer.instruction.location
        thread, block = batch.who(transfer.lanes[0])
        text = (
            f"Data race: thread {thread} of block {block} started an asynchronous copy at "
            f"{location}, and its block ended without waiting for it."
        )
        self.add(("left", id(transfer.instruction)),
                 Finding(DATA_RACE, text, location, thread, block))  # fmt: skip

    def _copy_site(self, instruction, writes: bool, waited=None) -> CopySide:
        key = (id(instruction), writes, id(waited))
        return self._copy_sites.setdefault(key, CopySide(instruction, writes, waited))

    # --- the end of threads ---

    def leave(self, batch, gone: np.ndarray) -> None:
        """Blocks have ended, and their shared memory with them: did all other blocks of the
        cluster surely finish with it first?"""
        clocks, size = batch.clocks, batch.clusters.size
        warps = batch.lanes_per_block // 32
        for region, shadow in batch.shadows.items():
            shadow.enter((0, region.stride))
            cells = region.stride // shadow.granule
            for block in gone.tolist():
                row, rank = divmod(block, size)
                known = clocks.known[row, rank * warps : (rank + 1) * warps].max(axis=0)
                for kind, memory in (("reads", shadow.reader), ("writes", shadow.writer)):
                    entries = memory[block * cells : (block + 1) * cells]
                    lane = (entries & THREAD) - clocks.first
                    late = (entries > 0) & (lane // batch.lanes_per_block != block)
                    late &= known[lane % clocks.span >> 5] <= entries >> CLOCK_SHIFT
                    if late.any():
                        at = np.flatnonzero(late)[0]
                        site = self.site(int(number_of(entries[at])))
                        self._left_too_early(batch, region, block, kind, lane[at], site)

    def _left_too_early(self, batch, region, block: int, kind: str, lane, site) -> None:
        location = site.instruction.location
        thread, other = batch.who(lane)
        text = (
            f"Data race: block {batch.block_index(batch.first + block)} may end, and its "
            f"{region.name} with it, before thread {thread} of block {other} {kind} it at "
            f"{location}. Call cluster.sync() before a block ends."
        )
        self.add(("gone", location, kind),
                 Finding(DATA_RACE, text, location, thread, other, region.name))  # fmt: skip

    def check_barrier(self, batch, group: Group, instruction, threads) -> None:
        """``__syncthreads()`` is for every thread of a block; some may have left already."""
        if threads or instruction.opcode != "bar":
            return
        if int(batch.alive.min()) == batch.threads:
            return
        slots = group.blocks
        short = slots[batch.alive[slots] < batch.threads]
        if not len(short):
            return
        slot = int(short[0])
        gone = batch.threads - int(batch.alive[slot])
        thread, block = batch.who(group.lanes[0])
        text = (
            f"Barrier misuse: {gone} of the {batch.threads} threads of block "
            f"{batch.block_index(batch.first + slot)} had returned before __syncthreads() at "
            f"{instruction.location}. Every thread must reach it."
        )
        finding = Finding(BARRIER, text, instruction.location, thread, block)
        self.add(("exit", id(instruction)), finding)


def _sides(transfer):
    """(region, elements, indices, whether written) of what a copy touches of shared memory."""
    for region, elements, indices in transfer.reads:
        yield region, elements, indices, False
    target, source = transfer.regions
    if target is not None and target.space == "shared":
        yield target, transfer.target, transfer.put, True
    if source is not None and source.space == "shared":
        yield source, transfer.source, transfer.take, False


def _span(region, shadow: RaceShadow, cells: np.ndarray) -> tuple[int, int]:
    """The range of bytes, in a block's copy of an array, that holds some cells."""
    inside = cells * shadow.granule % region.stride
    return int(inside.min()), int(inside.max()) + shadow.granule


def _cells(view: np.ndarray, index: np.ndarray, granule: int) -> np.ndarray:
    """The cells of elements of ``view``, lane by lane; elements smaller than a cell are those of
    one lane."""
    per = view.itemsize // granule
    if per == 0:
        cells = index.ravel() * view.itemsize // granule
        low = int(cells.min())
        touched = np.zeros(int(cells.max()) - low + 1, bool)
        touched[cells - low] = True
        return np.flatnonzero(touched) + low
    return (index[..., None] * per + np.arange(per)).ravel()
