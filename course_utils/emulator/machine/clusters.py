"""Clusters: blocks that run at the same time and reach each other's shared memory.

All blocks of a cluster are in one batch, next to each other. In such a launch every shared address
carries the rank of its block within the cluster in bits 24 to 31, a block's own addresses included;
so one and the same 32-bit address means the same byte to every block of the cluster.
Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "mapa", "getctarank", "barrier.cluster";
CUDA C++ Programming Guide, "Distributed Shared Memory".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.report import BARRIER, OUT_OF_BOUNDS, Finding, KernelFault
from ..findings.wording import where
from ..memory.address_space import SHARED_WINDOW, WINDOW_SIZE
from .lanes import Group

if TYPE_CHECKING:
    from ..findings.reported_state import ReportedAccess
    from ..isa import ptx
    from .batch import Batch

RANK_SHIFT = 24
RANKS = 0xFF << RANK_SHIFT


class Clusters:
    """The clusters of one batch: who is where, and the barrier that each of them shares."""

    def __init__(self, batch: Batch, shape: tuple[int, int, int]) -> None:
        self.batch, self.shape, self.size = batch, shape, math.prod(shape)
        count = batch.block_count // self.size
        self.span = self.size * batch.lanes_per_block  # lanes of a cluster
        self.phase = np.zeros(count, np.int64)
        lanes = batch.block_count * batch.lanes_per_block
        self.arrived = np.zeros(lanes, bool)
        self.seen = np.full(lanes, -1, np.int64)  # the phase in which each lane last arrived
        self.parked: list[tuple[Group, ptx.Instruction]] = []

    # --- addresses ---

    def ranks(self, group: Group) -> np.ndarray:
        """The rank of each lane's block within its cluster: int64, (n,)."""
        return group.slots % self.size

    def base(self, group: Group) -> np.ndarray:
        """What a block's own shared addresses begin with; uint32."""
        return (self.ranks(group) << RANK_SHIFT).astype(np.uint32)

    def strip(self, addresses: np.ndarray, group: Group) -> tuple[np.ndarray, np.ndarray | None]:
        """(generic addresses without ranks, the block of the batch that each lane reaches).

        No blocks when none of the addresses lies in shared memory.
        """
        addresses = addresses.astype(np.uint64)
        shared = addresses // np.uint64(WINDOW_SIZE) == SHARED_WINDOW // WINDOW_SIZE
        if not shared.any():
            return addresses, None
        rank = (addresses >> np.uint64(RANK_SHIFT) & np.uint64(0xFF)).astype(np.int64)
        rank = np.where(shared, rank, self.ranks(group))
        stripped = np.where(shared, addresses & np.uint64(2**64 - 1 - RANKS), addresses)
        return stripped, group.slots // self.size * self.size + rank

    def check(self, site: ReportedAccess, group: Group, homes: np.ndarray) -> None:
        """Only a block that is there may be reached, and only while it runs. ``homes``: the block
        that each lane means, int64 (n,). Raises KernelFault for another."""
        away = homes != group.slots
        if not away.any():
            return
        first = group.slots // self.size * self.size
        batch, i = self.batch, site.instruction
        wrong = away & (homes >= first + self.size)
        gone = away & ~wrong & (batch.live_threads[np.where(wrong, 0, homes)] == 0)
        bad = np.flatnonzero(wrong | gone)
        if not len(bad):
            batch.launch.observers.remote_access(site, group, homes)
            return
        at = bad[0]
        who = where(*batch.thread_and_block(group.lanes[at]))
        if wrong[at]:
            rank = int(homes[at] - first[at])
            cause = Cause.RANK_NOT_IN_CLUSTER
            why = f"of rank {rank}, but its cluster has {self.size} blocks"
        else:
            block = batch.block_index(batch.first + int(homes[at]))
            cause = Cause.BLOCK_HAS_ENDED
            why = (
                f"of block {block}, which has ended. No block may end before all have finished "
                "reading: cluster.sync() at the end"
            )
        verb = "writes" if site.is_store or site.is_atomic else "reads"
        text = f"Out of bounds: {who} {verb} shared memory at {i.location} {why}."
        thread, block = batch.thread_and_block(group.lanes[at])
        raise KernelFault(Finding(OUT_OF_BOUNDS, text, i.location, thread, block, cause=cause))

    # --- the barrier ---

    def arrive(self, group: Group, instruction: ptx.Instruction) -> None:
        """Lanes arrive at the barrier of their cluster, and go on."""
        self.batch.launch.observers.cluster_arrives(group, instruction)
        self.arrived[group.lanes] = True
        self.seen[group.lanes] = self.phase[group.lanes // self.span]
        self.complete()

    def wait(self, group: Group, instruction: ptx.Instruction) -> Group | None:
        """Lanes go on once every live thread of their cluster has arrived. Raises KernelFault for a
        lane that has not arrived itself."""
        never = np.flatnonzero(self.seen[group.lanes] < 0)
        if len(never):
            thread, block = self.batch.thread_and_block(group.lanes[never[0]])
            text = (
                f"Barrier misuse: {where(thread, block)} waits for the cluster at "
                f"{instruction.location} without having arrived: barrier.cluster.arrive must "
                "come first."
            )
            cause = Cause.CLUSTER_WAIT_WITHOUT_ARRIVAL
            raise KernelFault(
                Finding(BARRIER, text, instruction.location, thread, block, cause=cause)
            )
        self.parked.append((group, instruction))
        resumed = self._resume()
        if len(resumed) == 1:
            return resumed[0]
        for other in resumed:
            self.batch.scheduler.add(other)
        return None

    def leave(self, group: Group) -> None:
        """Lanes have ended: no barrier waits for them any more."""
        self.arrived[group.lanes] = False
        self.complete()

    def complete(self) -> None:
        """End the phase of each cluster whose live threads have all arrived."""
        count = len(self.phase)
        arrived = np.count_nonzero(self.arrived.reshape(count, -1), axis=1)
        done = (arrived > 0) & (arrived == self.batch.live_threads.reshape(count, -1).sum(axis=1))
        if not done.any():
            return
        lanes = self.arrived.reshape(count, -1)
        joined = lanes.reshape(count, -1, 32).any(axis=2) & done[:, None]
        self.batch.launch.observers.cluster_barrier_completes(self.batch, joined)
        lanes[done] = False
        self.phase[done] += 1
        for group in self._resume():
            self.batch.scheduler.add(group)

    def _resume(self) -> list[Group]:
        resumed, parked = [], []
        for group, instruction in self.parked:
            free = self.seen[group.lanes] < self.phase[group.lanes // self.span]
            if free.all():
                resumed.append(group)
            elif not free.any():
                parked.append((group, instruction))
            else:
                live = group.code.live[group.block]
                resumed.append(group.subset(np.flatnonzero(free), live))
                rest = group.subset(np.flatnonzero(~free), live)
                parked.append((rest, instruction))
        self.parked = parked
        for group in resumed:
            self.batch.launch.observers.cluster_passed(group)
        return resumed
