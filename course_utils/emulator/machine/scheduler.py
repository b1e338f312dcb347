"""The scheduler: which group of a batch's lanes runs next, and for how long.

The group that has come least far runs first, so that lanes that diverged at a branch reconverge
after it, but no group may keep the others waiting endlessly: each has a quantum of basic blocks,
and runs no further before the rest have had a turn.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ..findings.fault_messages import emulator_error, endless_loop
from ..findings.loop_conditions import never_changes
from ..findings.report import KernelFault
from ..numerics.rounding import ceil_div
from .adversarial_schedule import adversarial_schedule
from .convergence import converge
from .deadlock_report import deadlock
from .fusion import FEW_LANES, members
from .lanes import Group
from .observed_steps import run_observed
from .observer import Observer
from .repeated_state import RepeatedState

if TYPE_CHECKING:
    from .batch import Batch
    from .code import Block, Ending

QUANTUM = 64  # basic blocks that a group may run before others get theirs
ENDLESS_AFTER = 50_000  # instructions after which to look for loops that can't end
BUDGET_LANES = 8192  # for so many lanes a batch has the launch's budget once


class Scheduler:
    """The groups of one batch that wait for their turn, and the instructions ``issued`` so far."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.groups: list[Group] = []
        self.issued = 0
        self.budget = batch.launch.budget * ceil_div(len(batch.slots), BUDGET_LANES)
        self.service_at = self.budget  # instructions after which to service the async engine
        self.subscribing: list[Observer] = []  # to the rest of the block that runs
        self._printed = 0
        self._observers = batch.launch.observers
        self._execution_counts = batch.launch.execution_counts
        self._endless_after = ENDLESS_AFTER
        self._repeated = RepeatedState(batch)
        self._adversary = adversarial_schedule(batch)

    def start(self, group: Group) -> None:
        """Queue the group of all lanes."""
        for part in [group] if self._adversary is None else self._adversary.split(group):
            self.add(part)

    def waiting(self) -> list[Group]:
        """The groups of lanes that wait for their turn."""
        return self.groups

    def add(self, group: Group) -> None:
        """Let a group run when its turn comes."""
        group.quantum_left = group.quantum_left or QUANTUM
        self._queue(group)

    def _queue(self, group: Group) -> None:
        group.update_sort_key()
        self.groups.append(group)

    def tick(self) -> int:
        """A moment that is later than all before it, in the order of printf."""
        self._printed += 1
        return self.issued + self._printed

    # --- running ---

    def advance(self, turns: int) -> bool:
        """Run up to ``turns`` basic blocks. True when every lane has ended. Raises KernelFault."""
        batch = self.batch
        if self.issued >= self._endless_after:
            self._look_for_endless_loops()
        group: Group | None = None
        stuck = False
        for _ in range(turns):
            if group is None or (self.groups and not self._runs_next(group)):
                if group is not None:
                    self.groups.append(group)
                group = self._next_group()
                if group is None:
                    stuck = True
                    break
            block = group.code.blocks[group.block]
            if block.gather is not None:
                self._observers.warps_converge(group, block)
                if block.warpgroup or not group.whole_warps:
                    group = converge(group, block)
                    if group is None:
                        continue
            self._run(group, block)
            self._account(group, block)
            group = self._end(group, block)
        if group is not None:
            self._queue(group)
        if not batch.live_lanes.any():
            batch.end()
            return True
        if stuck:  # and not only at the last turn, when a copy in flight may still land
            raise deadlock(batch)
        return False

    def _run(self, group: Group, block: Block) -> None:
        """Run a basic block, all but its end."""
        watching = self._observers.instruction_observers(group, block)
        self.subscribing.clear()
        act = None
        try:
            if watching:
                run_observed(group, block, watching, range(len(block.steps)))
                return
            steps = block.fused if group.n <= FEW_LANES else block.steps
            for act in steps:
                act(group)
                if self.subscribing:
                    run_observed(group, block, [], block.left_after(act, steps))
                    break
        except KernelFault:
            raise
        except Exception as error:
            act = act and members(act)[0]
            at = block.steps.index(act) if act in block.steps else 0
            raise emulator_error(error, block.instructions[at], group) from error

    def _account(self, group: Group, block: Block) -> None:
        """Count a basic block that has run. Raises KernelFault where the budget is used up."""
        self.issued += len(block.instructions)
        group.quantum_left -= 1
        visit = self._execution_counts.get((group.code, block.number))
        if visit is None:
            visit = self._execution_counts[group.code, block.number] = [0, 0]
        visit[0] += group.n
        visit[1] += len(group.warps)
        if self.issued >= self.service_at:
            if self.issued > self.budget:
                raise endless_loop(self.batch, group)
            self.batch.engine.service()

    def _end(self, group: Group, block: Block) -> Group | None:
        """Run the end of a basic block. Returns the group that may go on at once."""
        try:
            after = block.end(group)
        except KernelFault:
            raise
        except Exception as error:
            raise emulator_error(error, block.instructions[-1], group) from error
        if after is None:
            return None
        if self._repeated.ends_here(after):
            raise endless_loop(self.batch, after, repeats=True)
        if self._adversary is None:
            return after
        for part in self._adversary.split(after):
            self._queue(part)
        return None

    def _look_for_endless_loops(self) -> None:
        """Report a loop that can't end, long before the budget is used up."""
        self._endless_after = self.issued + ENDLESS_AFTER
        places = {(group.code, group.block): group for group in self.groups}
        for (code, block), group in places.items():
            if never_changes(code, block):
                raise endless_loop(self.batch, group)

    # --- choosing ---

    def _runs_next(self, group: Group) -> bool:
        """Whether a group that has just run is the one to run next, and merges with none."""
        group.update_sort_key()
        if group.quantum_left <= 0 or self._adversary is not None:
            return False
        key = group.sort_key
        return all(key < other.sort_key for other in self.groups)

    def _next_group(self) -> Group | None:
        """The group to run next. Where none can run the async engine makes progress. None where
        that helps no more."""
        group = self._pick()
        while group is None and self.batch.live_lanes.any():
            if not self.batch.engine.force_progress():
                return None
            group = self._pick()
        return group

    def _pick(self) -> Group | None:
        """Take the group to run next out of the list, merged with those at the same block."""
        groups = self.groups
        if len(groups) == 1:
            return None if groups[0].stalled else groups.pop()
        ready = [g for g in groups if not g.stalled]
        if not ready:
            return None
        willing = [g for g in ready if g.quantum_left > 0]
        if not willing:
            for g in ready:
                g.quantum_left, g.quantum_extended = QUANTUM, False
            willing = ready
        adversary = self._adversary
        chosen = (
            adversary.choose(willing) if adversary else min(willing, key=attrgetter("sort_key"))
        )
        key = chosen.sort_key
        groups.remove(chosen)
        alike = [g for g in groups if g.sort_key == key]
        if not alike:
            return chosen
        alike = [
            g
            for g in alike
            if g.same_callers(chosen) and (adversary is None or adversary.may_merge(chosen, g))
        ]
        if not alike:
            return chosen
        for g in alike:
            groups.remove(g)
        return chosen.merge(alike)

    def diverge(self, group: Group, chosen: np.ndarray, taken: Ending, skipped: Ending) -> None:
        """Send the lanes of ``chosen`` one way and the others the other. Both are queued.

        A quantum that ends here is extended once, so that the lanes may reconverge. If it were
        extended more often, lanes that diverge while they spin would keep all others from running.
        """
        self._observers.lanes_diverge(group, chosen)
        if group.quantum_left <= 0 and not group.quantum_extended:
            group.quantum_left, group.quantum_extended = QUANTUM, True
        parts = group.split(chosen, group.code.after(group.block))
        for part, go in zip(parts, (skipped, taken), strict=True):
            on = go(part)
            if on is not None:
                self._queue(on)
