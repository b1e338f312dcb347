"""Blocks that wait for blocks which can't start before one of them ends.

A barrier of the whole grid, made of atomics and a loop, works only while all blocks are resident.
Source: CUDA C++ Programming Guide, "Grid Synchronization".
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..findings.causes import Cause
from ..findings.loop_conditions import only_waits
from ..findings.report import DEADLOCK, Finding, KernelFault
from ..findings.wording import at_line
from ..isa.location import Location
from ..machine.batch import Batch
from ..machine.code import Block, Code
from ..machine.launch_state import LaunchState

LaneCounts = dict[tuple[Code, int], int]


class WaitingGrid:
    """Watches turns of the resident blocks, at most ``limit``, of a launch that has more."""

    def __init__(self, launch: LaunchState, limit: int) -> None:
        self.launch, self.limit = launch, limit
        self._before: LaneCounts = {}

    def turn_ends(self, resident: list[Batch]) -> None:
        """All resident blocks have had a turn, and none has ended. Raises KernelFault where they
        did nothing but wait for memory to change: what they do next is the same again."""
        now = {place: lanes for place, (lanes, _) in self.launch.execution_counts.items()}
        went = [place for place, lanes in now.items() if lanes != self._before.get(place, 0)]
        self._before = now
        blocks = [code.blocks[number] for code, number in went]
        flying = any(batch.engine.in_flight for batch in resident)
        if not blocks or flying or not only_waits(blocks):
            return
        where = at_line(_waits_at(blocks))
        grid, fit = math.prod(self.launch.grid), self.limit
        text = (
            f"Deadlock: {fit} of the {grid} blocks run at once, and all of them wait{where} for "
            f"memory to change. The other {grid - fit} start only when some of these have ended."
        )
        cause = Cause.BLOCKS_NOT_RESIDENT
        raise KernelFault(Finding(DEADLOCK, text, _waits_at(blocks), cause=cause))


def _waits_at(blocks: Iterable[Block]) -> Location | None:
    """The line of the first access among the instructions of some basic blocks."""
    found = (i for block in blocks for i in block.instructions if i.opcode in ("ld", "atom"))
    return next(found).location
