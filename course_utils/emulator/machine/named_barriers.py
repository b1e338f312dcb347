"""The sixteen named barriers of every block in a batch.

Source: PTX ISA, "bar, barrier". A barrier completes when as many threads have arrived as were asked
for, or all that have not ended when no count was given.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, ItemsView, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..isa.instruction_set import traits_of
from ..isa.ptx import Instruction
from .lanes import Group
from .observer import ignore_event

if TYPE_CHECKING:
    from .batch import Batch
    from .operands import Put


Deliver = Callable[[Group], Group]  # gives a group the result of its vote


def _for_all(instruction: Instruction) -> bool:
    """Whether it is a barrier at which the whole block waits: without a number of threads."""
    if traits_of(instruction).barrier != "block" or "arrive" in instruction.modifiers:
        return False
    return "red" in instruction.modifiers or len(instruction.operands) == 1


@dataclass
class BarrierState:
    """One barrier in all blocks: threads arrived, threads asked for (0: all that live)."""

    arrived: np.ndarray
    asked: np.ndarray
    joined: np.ndarray  # (blocks, warps) that took part since the last completion
    only: np.ndarray  # the warps among them that don't wait
    number: int
    cast: np.ndarray  # threads that voted, and those of them that voted true, of each block
    ones: np.ndarray
    parked: list[tuple[Group, Deliver, Instruction]] = field(default_factory=list)


class Barriers:
    """The named barriers of one batch, and who waits at them."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._states: dict[int, BarrierState] = {}

    def parked(self) -> Iterator[Group]:
        """Every group that waits: at these barriers, for its cluster, for an mbarrier."""
        return (group for group, _ in self._waiting())

    def waits_at(self, group: Group) -> Instruction | None:
        """The barrier at which a group is parked, None for a group that isn't."""
        return next((i for other, i in self._waiting() if other is group), None)

    def ahead_of(self, lane: int) -> Instruction | None:
        """The barrier of the whole block at which a lane waits, or to which it comes with no branch
        before it; None where there is none, or the lane is in a function of the kernel's."""
        coming = ((g, g.code.blocks[g.block].instructions[-1]) for g in self.batch.scheduler.groups)
        for group, instruction in itertools.chain(coming, self._waiting()):
            if lane in group.lanes and not group.stack:
                return instruction if _for_all(instruction) else None
        return None

    def states(self) -> ItemsView[int, BarrierState]:
        """(number, state) of each barrier that has been used."""
        return self._states.items()

    def _waiting(self) -> Iterator[tuple[Group, Instruction]]:
        for state in self._states.values():
            for group, _, instruction in state.parked:
                yield group, instruction
        if self.batch.clusters is not None:
            yield from self.batch.clusters.parked
        for wait in self.batch.engine.waits:
            yield wait.group, wait.instruction
        if self.batch.tensor_memory is not None:
            yield from self.batch.tensor_memory.parked()

    def _state(self, number: int) -> BarrierState:
        if number not in self._states:
            count = self.batch.block_count
            warps = self.batch.lanes_per_block // 32
            arrived, asked, cast, ones = np.zeros((4, count), np.int64)
            joined, only = np.zeros((2, count, warps), bool)
            self._states[number] = BarrierState(arrived, asked, joined, only, number, cast, ones)
        return self._states[number]

    def arrive(
        self,
        group: Group,
        instruction: Instruction,
        number: int,
        threads: int | None,
        arrive_only: bool,
        operation: str,
        vote: np.ndarray | None,
        put: Put | None,
    ) -> Group | None:
        """The lanes of ``group`` arrive. Returns the group if it may go on at once."""
        batch = self.batch
        state = self._state(number)
        batch.launch.observers.barrier_arrives(group, instruction, number, threads, state)
        counts = np.bincount(group.slots, minlength=batch.block_count)
        state.arrived += counts
        state.asked[counts > 0] = threads or 0
        joined, only = state.joined.reshape(-1), state.only.reshape(-1)
        only[group.warps] = arrive_only & (only | ~joined)[group.warps]
        joined[group.warps] = True
        if vote is not None:
            state.cast += counts
            state.ones += np.bincount(
                group.slots, weights=vote, minlength=batch.block_count
            ).astype(np.int64)
        if arrive_only:
            for other in self._complete(state):
                batch.scheduler.add(other)
            return group
        state.parked.append((group, self._result(state, operation, put), instruction))
        resumed = self._complete(state)
        if len(resumed) == 1:
            return resumed[0]
        for other in resumed:
            batch.scheduler.add(other)
        return None

    def recheck(self) -> None:
        """Lanes have ended: barriers that waited for them alone are complete now."""
        for state in self._states.values():
            if state.parked:
                self._tell_of_exits(state)
                for group in self._complete(state):
                    self.batch.scheduler.add(group)

    def _tell_of_exits(self, state: BarrierState) -> None:
        batch = self.batch
        alone = (state.asked == 0) & (state.arrived > 0) & (state.arrived >= batch.live_threads)
        slots = np.flatnonzero(alone)
        for group, _, instruction in state.parked:
            here = slots[np.isin(slots, group.slots)]
            if len(here):
                batch.launch.observers.barrier_released_by_exit(batch, here, instruction)

    def _complete(self, state: BarrierState) -> list[Group]:
        needed = np.where(state.asked > 0, state.asked, self.batch.live_threads)
        done = (state.arrived > 0) & (state.arrived >= needed)
        if not done.any():
            return []
        completes = self.batch.launch.observers.barrier_completes
        if completes is not ignore_event:
            joined = state.joined & done[:, None]
            completes(self.batch, joined, state.number, state.only & joined)
        if done.all():
            resumed = [deliver(group) for group, deliver, _ in state.parked]
            state.arrived[:], state.joined[:], state.parked = 0, False, []
            state.cast[:] = state.ones[:] = 0
            return resumed
        state.arrived[done] = 0
        state.joined[done] = False
        resumed, parked = [], []
        for group, deliver, instruction in state.parked:
            free = done[group.slots]
            if free.all():
                resumed.append(deliver(group))
            elif not free.any():
                parked.append((group, deliver, instruction))
            else:
                live = group.code.live[group.block]
                resumed.append(deliver(group.subset(np.flatnonzero(free), live)))
                rest = group.subset(np.flatnonzero(~free), live)
                parked.append((rest, deliver, instruction))
        state.parked = parked
        state.cast[done] = state.ones[done] = 0
        return resumed

    def _result(self, state: BarrierState, operation: str, put: Put | None) -> Deliver:
        if put is None:
            return lambda group: group

        def deliver(group: Group) -> Group:
            ones, cast = state.ones[group.slots], state.cast[group.slots]
            result = {"and": ones == cast, "or": ones > 0, "popc": ones.astype(np.uint32)}
            put(group.R, result[operation])
            return group

        return deliver
