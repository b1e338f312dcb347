"""Loops that can't end because their values come back: all lanes of a batch are where they were
before, with the same values and the same memory.

Such lanes do the same again next, in whatever order they take turns. So a launch ends here
long before its budget of instructions does. After Brent: a state is remembered, compared with those
after it, and replaced when as many instructions have run again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..findings.loop_conditions import leaves_memory, may_wait
from .lanes import Group

if TYPE_CHECKING:
    from .batch import Batch
    from .code import Code

FIRST = 2000  # instructions of a batch before a state is remembered
MOST = 200  # comparisons with one state
SHARE = 4  # of the instructions so far: after so many more a state is replaced


class _Lanes:
    """Lanes at the start of a basic block, and the values that they carry into it."""

    def __init__(self, group: Group) -> None:
        self.code, self.block, self.lanes = group.code, group.block, group.lanes
        self.stack, live = group.stack, group.code.live[group.block]
        self.values = [(slot, _bytes(group.R[slot])) for slot in live]

    def is_here(self, group: Group) -> bool:
        """Whether a group is of the same lanes, at the same place."""
        return (
            group.block == self.block
            and group.code is self.code
            and group.n == len(self.lanes)
            and group.stack is self.stack
            and bool((group.lanes == self.lanes).all())
        )

    def is_back(self, group: Group) -> bool:
        """Whether these lanes also have the same values."""
        return all(_bytes(group.R[slot]) == value for slot, value in self.values)


class RepeatedState:
    """Watches one batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self._due = batch, FIRST
        self._parts: list[_Lanes] = []  # that haven't come back yet
        self._execution_counts: dict[tuple[Code, int], int] = {}
        self._until = 0
        self._left = 0

    def ends_here(self, group: Group) -> bool:
        """Whether nothing will ever change. ``group`` runs next, the others of the batch wait."""
        batch = self.batch
        if batch.scheduler.issued < self._due:
            return False
        if batch.scheduler.issued >= self._until:
            self._remember(group)
            return False
        here = next((part for part in self._parts if part.is_here(group)), None)
        if here is None:
            return False
        self._left -= 1
        if here.is_back(group):
            self._parts.remove(here)
            if not self._parts and self._only_went_round():
                return True
        if not self._parts or self._left <= 0:
            self._due = self._until
        return False

    def _remember(self, group: Group) -> None:
        batch = self.batch
        waiting = [g for g in batch.scheduler.groups if not g.stalled]
        self._parts = [_Lanes(g) for g in (group, *waiting)]
        self._execution_counts = {
            place: lanes for place, (lanes, _) in batch.launch.execution_counts.items()
        }
        self._left = MOST
        self._until = batch.scheduler.issued + max(FIRST, batch.scheduler.issued // SHARE)
        self._due = batch.scheduler.issued

    def _only_went_round(self) -> bool:
        """Whether the lanes have changed no memory since, and no others may change the memory
        they read."""
        batch = self.batch
        if batch.engine.in_flight:
            return False
        now = batch.launch.execution_counts.items()
        went = [p for p, (lanes, _) in now if lanes != self._execution_counts.get(p, 0)]
        blocks = [code.blocks[number] for code, number in went]
        alone = batch.block_count == math.prod(batch.launch.grid)
        return leaves_memory(blocks) and (alone or not may_wait(blocks))


def _bytes(value: np.ndarray | None) -> bytes:
    return b"" if value is None else value.tobytes()
