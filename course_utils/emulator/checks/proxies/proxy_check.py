"""Finds reads through the asynchronous proxy of what no fence has made visible to it.

Bulk copies, TMA and the tensor cores read shared memory by a way of their own, the *asynchronous
proxy*. What threads wrote to shared memory the ordinary way is certain to be seen there only once
``fence.proxy.async`` has come in between: in the thread that wrote, after it wrote, or in the one
that starts the read, after the two have met.
Source: PTX ISA, "Async proxy", "Proxies", "membar/fence".
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...findings.causes import Cause
from ...findings.report import DATA_RACE, Finding
from ...findings.wording import where
from ...isa import ptx
from ...isa.gpu_constants import WARP
from ...isa.instruction_set import traits_of
from ...machine.accesses import AddressPattern, Site, WatchedAccess
from ...machine.async_state import MBarrier, Transfer
from ...machine.batch import Batch
from ...machine.lanes import Group
from ...machine.launch_state import LaunchState
from ...machine.observer import Observer
from ...memory.address_space import Region
from ...numerics.rounding import ceil_div
from ..barriers.sync_check import Numbered

CELL = 4  # bytes of shared memory that are remembered together
LANE_BITS, NUMBER_BITS = 20, 16


def reads_asynchronously(instructions: Iterable[ptx.Instruction]) -> bool:
    """True when a kernel has anything that reads shared memory through the asynchronous proxy."""
    return any(traits_of(i).async_proxy for i in instructions)


class _FenceTimes:
    """``now`` counts fences and meetings of threads. ``fenced``: when each lane fenced last, and
    ``covers``: when its warp had met others last, by then; ``met``: when each warp has, all int64.
    ``writes``: for the cells of a shared array when the write was, instruction, lane; ``made``:
    mbarriers whose lane has not fenced since it made them, by key."""

    def __init__(self, batch: Batch) -> None:
        self.now = 0
        lanes = batch.block_count * batch.lanes_per_block
        self.fenced, self.covers = np.zeros((2, lanes), np.int64)
        self.met = np.zeros(lanes // WARP, np.int64)
        self.writes: dict[object, np.ndarray] = {}
        self.made: dict[int, MBarrier] = {}


class ProxyCheck(Observer):
    """Remembers who wrote each cell of shared memory last, and when each thread last fenced."""

    def __init__(self, launch: LaunchState) -> None:
        self.findings = launch.findings
        self._instructions = Numbered()
        self._batches: dict[object, _FenceTimes] = {}

    def batch_starts(self, batch: Batch) -> None:
        self._batches[batch] = _FenceTimes(batch)

    def batch_ends(self, batch: Batch) -> None:
        del self._batches[batch]

    def fence(self, group: Group, instruction: ptx.Instruction) -> None:
        modifiers = instruction.modifiers
        state = self._batches[group.batch]
        if state.made and ("mbarrier_init" in modifiers or "async" in modifiers):
            lanes = set(group.lanes.tolist())
            state.made = {k: b for k, b in state.made.items() if b.lane not in lanes}
        if {"proxy", "async"} <= {*modifiers} and modifiers[-1] != "global":
            state.now += 1
            state.fenced[group.lanes] = state.now
            state.covers[group.lanes] = state.met[group.lanes // WARP]

    def _meet(self, batch: Batch, warps: np.ndarray) -> None:
        """Warps know from now on what those that they met have written."""
        state = self._batches[batch]
        state.now += 1
        state.met[warps] = state.now

    def barrier_completes(
        self, batch: Batch, joined: np.ndarray, number: int, arrived: np.ndarray
    ) -> None:
        self._meet(batch, joined.ravel())

    def cluster_barrier_completes(self, batch: Batch, joined: np.ndarray) -> None:
        self._meet(batch, joined.ravel())

    def mbarrier_passed(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        self._meet(batch, lanes // WARP)

    def mbarrier_initialised(self, batch: Batch, barrier: MBarrier) -> None:
        self._batches[batch].made[barrier.key] = barrier

    def _memory(self, batch: Batch, region: Region) -> np.ndarray:
        writes = self._batches[batch].writes
        found = writes.get(region)
        if found is None:
            cells = region.storage.size // CELL + 4
            found = writes[region] = np.full(cells, -1, np.int64)
        return found

    def _entry(self, batch: Batch, lanes: np.ndarray, instruction: ptx.Instruction) -> np.ndarray:
        number = self._instructions.number(instruction)
        return (self._batches[batch].now << NUMBER_BITS | number) << LANE_BITS | lanes

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        """Note an ordinary store to shared memory."""
        writes = site.is_store or site.is_atomic
        if region.space != "shared" or not writes or site.traits.memory == "copy":
            return
        entry = self._entry(group.batch, group.lanes, site.instruction)
        memory = self._memory(group.batch, region)
        cells = group.full(index + first) * site.width // CELL
        for piece in range(ceil_div(site.bytes, CELL)):
            memory[cells + piece] = entry

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        """cp.async writes as its thread does; others are asynchronous."""
        for region, elements, index in transfer.reads:
            cells = self._cells(elements, index).ravel()
            self._read(batch, region, cells, int(transfer.lanes[0]), transfer.instruction)
        if transfer.instruction.opcode in ("cp", "clusterlaunchcontrol"):
            self._reports_to(batch, transfer)
        filled, taken = transfer.filled, transfer.taken
        if transfer.queue == "async":
            if filled is not None:
                region, elements, index = filled
                entry = self._entry(batch, transfer.lanes[:, None], transfer.instruction)
                self._memory(batch, region)[self._cells(elements, index)] = entry
            return
        lane = int(transfer.lanes[0])
        if taken is not None and taken[0].space == "shared":
            region, elements, index = taken
            cells = self._cells(elements, index).ravel()
            self._read(batch, region, cells, lane, transfer.instruction)
        if filled is not None and filled[0].space == "shared":
            region, elements, index = filled
            self._memory(batch, region)[self._cells(elements, index)] = -1

    def _reports_to(self, batch: Batch, transfer: Transfer) -> None:
        """A copy starts that will tell an mbarrier of its end."""
        if transfer.complete is None:
            return
        barrier = self._batches[batch].made.get(transfer.complete[0])
        if barrier is None:
            return
        here, there = transfer.instruction.location, barrier.instruction.location
        thread, block = batch.thread_and_block(transfer.lanes[0])
        other, _ = batch.thread_and_block(barrier.lane)
        text = (
            f"Missing fence: {batch.engine.name(barrier.key)}, block {block}, may not yet be "
            f"visible to the async proxy:\n"
            f"  {where(other, block)} initialises it at {there}\n"
            f"  thread {thread} starts `{_short(transfer.instruction)}`, which completes on "
            f"it, at {here}\n"
            f"  with no fence.mbarrier_init or fence.proxy.async after the initialisation."
        )
        cause, name = Cause.MBARRIER_INIT_FENCE_MISSING, None
        finding = Finding(
            DATA_RACE, text, here, thread, block, name, None, 0, there, other, cause=cause
        )
        self.findings.add(("made", there, here), finding)

    def _cells(self, view: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Cells of elements; of those wider than a cell all, shape (lanes, cells)."""
        size = view.dtype.itemsize
        if size <= CELL:
            return index * size // CELL
        cells = index[..., None] * (size // CELL) + np.arange(size // CELL)
        return cells.reshape(len(index), -1)

    def tiles_read(
        self,
        reader: WatchedAccess,
        group: Group,
        firsts: np.ndarray,
        region: Region,
        index: np.ndarray,
        inside: np.ndarray,
    ) -> None:
        for tile, first in enumerate(firsts):
            cells = (index[tile][inside[tile]][..., None] * 4 + np.arange(4)).ravel()
            lane = int(group.lanes[first])
            self._read(group.batch, region, cells, lane, reader.instruction)

    def _read(
        self,
        batch: Batch,
        region: Region,
        cells: np.ndarray,
        lane: int,
        instruction: ptx.Instruction,
    ) -> None:
        """``lane`` starts a read through the asynchronous proxy."""
        state = self._batches[batch]
        memory = state.writes.get(region)
        if memory is None:
            return
        cells = cells[memory[cells] >= 0]
        if not len(cells):
            return
        entries = memory[cells]
        writer = entries & (1 << LANE_BITS) - 1
        moment = entries >> LANE_BITS + NUMBER_BITS
        known = (state.covers[lane] > moment) | (writer // WARP == lane // WARP)
        bad = (state.fenced[writer] <= moment) & ~(known & (state.fenced[lane] > moment))
        if not bad.any():
            return
        at = int(np.argmax(bad))
        store = self._instructions[int(entries[at]) >> LANE_BITS & (1 << NUMBER_BITS) - 1]
        other, block = batch.thread_and_block(writer[at])
        place = int(cells[at]) * CELL % region.stride
        here, there = instruction.location, store.location
        thread = batch.thread_and_block(lane)[0]
        text = (
            f"Missing fence: byte {place} of {region.name} in shared memory, block {block}, may "
            f"not yet be visible to the async proxy:\n"
            f"  {where(other, block)} writes it at {there}\n"
            f"  thread {thread} starts a `{_short(instruction)}` that reads it at {here}"
        )
        why = (
            "\n  with no fence.proxy.async in between. Every thread that wrote executes it, then "
            "all meet at a barrier."
        )
        cause, name, last = Cause.PROXY_FENCE_MISSING, region.name, (there, other)
        finding = Finding(
            DATA_RACE,
            text + why,
            here,
            thread,
            block,
            name,
            None,
            0,
            *last,
            cause=cause,
            symptom=text,
        )
        self.findings.add(("proxy", there, here), finding)


def _short(instruction: ptx.Instruction) -> str:
    return ".".join((instruction.opcode, *instruction.modifiers[:3]))
