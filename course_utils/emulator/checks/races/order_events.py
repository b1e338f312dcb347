"""The events that order accesses for the race check: barriers, arrivals, waits and fences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...findings.finding_log import FindingLog
from ...isa import ptx
from ...isa.instruction_set import traits_of
from ...machine.async_state import KEY_SHIFT, MBarrier, Transfer
from ...machine.batch import Batch
from ...machine.convergence import live_masks
from ...machine.lanes import Group
from ...machine.named_barriers import BarrierState
from ...machine.observer import Observer
from ..barriers.sync_check import EVERYONE
from .arrivals import RelaxedArrival
from .batch_races import BatchRaces
from .mbarrier_scopes import arrival_too_narrow, narrow_arrival, narrow_wait, wait_too_narrow
from .race_entries import CLOCK_SHIFT, THREAD
from .vector_clocks import VectorClocks


class OrderEvents(Observer):
    """Keeps the clocks of each batch."""

    findings: FindingLog
    _batches: dict[object, BatchRaces]

    def clocks(self, batch: Batch) -> VectorClocks:
        """The clocks of a batch: how much its warps know of each other's past."""
        return self._batches[batch].clocks

    def barrier_arrives(
        self,
        group: Group,
        instruction: ptx.Instruction,
        number: int,
        threads: int | None,
        state: BarrierState,
    ) -> None:
        """``bar.arrive`` releases the accesses before it. It doesn't wait, so it learns nothing."""
        if "arrive" not in instruction.modifiers:
            return
        races = self._batches[group.batch]
        races.clocks.release(group.lanes, group.warps, instruction)
        homes = group.warps // (group.batch.lanes_per_block // 32)
        for block in np.unique(homes).tolist():
            warps = group.warps[homes == block]
            races.barrier_clocks.of(("bar", number, block)).join(races.clocks.released(warps))

    def barrier_completes(
        self, batch: Batch, joined: np.ndarray, number: int, arrived: np.ndarray
    ) -> None:
        waited = joined & ~arrived
        self._meet(batch, waited)
        barrier_clocks = self._batches[batch].barrier_clocks
        for block in np.flatnonzero(arrived.any(axis=1)).tolist():
            barrier_clocks.of(("bar", number, block)).complete()
            warps = block * joined.shape[1] + np.flatnonzero(waited[block])
            if len(warps):
                barrier_clocks.passed(("bar", number, block), warps)

    def _meet(self, batch: Batch, joined: np.ndarray) -> None:
        """Warps of each block meet at one of its barriers."""
        clocks = self.clocks(batch)
        size = clocks.span // batch.lanes_per_block
        if size == 1:
            clocks.sync(joined)
            return
        by_rank = joined.reshape(len(joined) // size, size, -1)
        for rank in np.flatnonzero(by_rank.any(axis=(0, 2))):
            only = np.zeros_like(by_rank)
            only[:, rank] = by_rank[:, rank]
            clocks.sync(only.reshape(len(by_rank), -1))

    def cluster_arrives(self, group: Group, instruction: ptx.Instruction) -> None:
        state = self._batches[group.batch]
        releases = "relaxed" not in instruction.modifiers
        state.at_arrival = state.accesses if releases and self._all(group) else -1
        clocks = state.clocks
        clocks.release(self._with_ended(group), group.warps, instruction)
        for row, warps in self._rows(group):
            state.barrier_clocks.arrive(row, warps, clocks.released(warps), instruction)

    def cluster_barrier_completes(self, batch: Batch, joined: np.ndarray) -> None:
        for row in np.flatnonzero(joined.any(axis=1)).tolist():
            self._batches[batch].barrier_clocks.of(row).complete()

    def cluster_passed(self, group: Group) -> None:
        state = self._batches[group.batch]
        state.waited[group.slots] = True
        if state.at_arrival == state.accesses and self._all(group):
            state.clocks.sync(np.ones(state.clocks.known.shape[:2], bool))
            return
        for row, warps in self._rows(group):
            state.barrier_clocks.passed(row, warps)

    @staticmethod
    def _with_ended(group: Group) -> np.ndarray:
        """The lanes of a group, and its warps' ended lanes: no thread waits for them."""
        if group.n == 32 * len(group.warps):
            return group.lanes
        live = live_masks(group.batch)[group.warps]
        ended = (live[:, None] >> np.arange(32, dtype=np.uint32) & 1) == 0
        rows, places = np.nonzero(ended)
        return np.union1d(group.lanes, group.warps[rows] * 32 + places)

    def _all(self, group: Group) -> bool:
        """Whether a group has lanes of all warps."""
        return len(group.warps) == self.clocks(group.batch).known[..., 0].size

    def _rows(self, group: Group) -> Iterator[tuple[int, np.ndarray]]:
        """The warps of a group, cluster by cluster."""
        rows = group.warps // self.clocks(group.batch).warps
        for row in np.unique(rows).tolist():
            yield row, group.warps[rows == row]

    def warps_meet(self, group: Group) -> None:
        masks = group.full(group.code.blocks[group.block].member_mask(group)).astype(np.uint32)
        if (masks == EVERYONE).all():
            self.clocks(group.batch).sync_warps(group.warps)
        else:  # some lanes wait for a part of their warp only
            self.clocks(group.batch).sync_lanes(group.lanes, masks)

    def fence(self, group: Group, instruction: ptx.Instruction) -> None:
        order = self.clocks(group.batch).order
        if order is not None and traits_of(instruction).fence:
            order.fence(group, instruction)

    def mbarrier_arrives(
        self,
        batch: Batch,
        barrier: MBarrier,
        lanes: np.ndarray,
        i: ptx.Instruction,
        transfer: Transfer | None,
    ) -> None:
        """A thread that waits for the mbarrier will know the past of the lanes that arrive, or the
        past at a copy's start. The end of ``cp.async`` is its own thread's arrival."""
        state = self._batches[batch]
        if transfer is None or transfer.queue == "async":
            home, warps = barrier.key >> KEY_SHIFT, np.unique(lanes >> 5)
            if lanes[0] // batch.lanes_per_block != home:
                state.remote_arrivals.add(batch, state.clocks, barrier.key, lanes, i)
                state.barrier_clocks.of(barrier).remote_arrival = True
                if arrival_too_narrow(i):
                    finding = narrow_arrival(batch, barrier, int(lanes[0]), i)
                    self.findings.add(("scope", i.location), finding)
            state.clocks.release(lanes, warps, i)
            state.barrier_clocks.arrive(barrier, warps, state.clocks.released(warps), i, home)
        else:
            state.barrier_clocks.of(barrier).join(state.past[transfer.number])

    def mbarrier_completes(self, batch: Batch, barrier: MBarrier) -> None:
        self._batches[batch].barrier_clocks.of(barrier).complete()

    def mbarrier_passed(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        barrier_clocks = self._batches[batch].barrier_clocks
        barrier_clocks.passed(barrier, np.unique(lanes >> 5))
        if barrier_clocks.of(barrier).remote_release and wait_too_narrow(instruction):
            finding = narrow_wait(batch, barrier, int(lanes[0]), instruction)
            self.findings.add(("scope", instruction.location), finding)

    def relaxed_between(self, batch: Batch, entry: int, lane: int) -> RelaxedArrival | None:
        """A relaxed arrival, but for which a lane would know of an earlier access."""
        warp, time = (entry & THREAD) >> 5, entry >> CLOCK_SHIFT
        return self._batches[batch].barrier_clocks.relaxed_between(warp, time, lane)
