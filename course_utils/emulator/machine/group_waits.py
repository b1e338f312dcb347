"""What each thread's last wait for groups of copies covered, for reports.

A wait covers the groups that its thread has committed before it, all but the last few. A copy that
is still in flight afterwards was never committed, or its group is one of those last ones.
Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..isa.ptx import Instruction


@dataclass(frozen=True)
class LastWait:
    """A thread's last wait. ``left``: how many groups it lets stay in flight, None for a wait that
    covers copies of no group as well; ``committed``: groups that the thread had committed by then;
    ``before``: the same at the wait before, if that was on the same line, else -1; ``started``:
    copies that all threads had started by then."""

    instruction: Instruction
    left: int | None
    committed: int
    before: int
    started: int


class GroupWaits:
    """The last wait of each of ``lanes`` threads for copies of one queue."""

    def __init__(self, lanes: int) -> None:
        self._sites: dict[object, tuple[int, Instruction, int | None]] = {}  # with their numbers
        self._site = np.full(lanes, -1, np.int64)
        self._committed, self._before, self._started = np.zeros((3, lanes), np.int64)

    def add(
        self,
        lanes: np.ndarray,
        instruction: Instruction,
        left: int | None,
        committed: np.ndarray,
        started: int,
    ) -> None:
        """``lanes`` wait now: ``committed`` are their groups so far, int64 (lanes,)."""
        key = instruction.locations, left  # the same in each copy that an unrolled loop makes
        number, *_ = self._sites.setdefault(key, (len(self._sites), instruction, left))
        again = self._site[lanes] == number
        self._before[lanes] = np.where(again, self._committed[lanes], -1)
        self._site[lanes], self._committed[lanes] = number, committed
        self._started[lanes] = started

    def last(self, lane: int) -> LastWait | None:
        """The last wait of a lane, None where it has waited for none."""
        number = int(self._site[lane])
        if number < 0:
            return None
        _, instruction, left = list(self._sites.values())[number]
        counts = int(self._committed[lane]), int(self._before[lane]), int(self._started[lane])
        return LastWait(instruction, left, *counts)
