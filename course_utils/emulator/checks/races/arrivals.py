"""Happens-before edges from arrivals at a cluster's barrier or an mbarrier to the waits there.

An arrival releases: the accesses that its warp knows become known after the wait. A relaxed arrival
releases only the accesses before a fence that reaches the waiting block. Source: PTX ISA,
"barrier.cluster", "mbarrier.arrive".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from ...isa import ptx
from ...machine.batch import Batch
from .vector_clocks import VectorClocks

BY_LANES = ("mbarrier", "barrier", "bar", "cp")  # opcodes by which lanes arrive somewhere

REMEMBERED = 1024  # relaxed arrivals that are remembered for reports


@dataclass(eq=False)
class RelaxedArrival:
    """A relaxed arrival. ``known``: what it would have told had it released, by warp of the row
    that begins with warp ``first`` of the launch; ``scope``: of the fence that it lacks;
    ``waited``: blocks of the batch that have waited for it."""

    known: np.ndarray
    first: int
    scope: str
    instruction: ptx.Instruction
    waited: set[int] = field(default_factory=set)

    def would_order(self, warp: int, time: int, block: int) -> bool:
        """Whether a block would know an access by a warp of the launch, had this one released."""
        place = warp - self.first
        return block in self.waited and 0 <= place < len(self.known) and self.known[place] > time

    def __str__(self) -> str:
        i = self.instruction
        name = ".".join([i.opcode, *takewhile(lambda m: m != "relaxed", i.modifiers)])
        return (
            f"and the arrival between them is relaxed ({i.location}): a wait for it "
            f"doesn't order\n  the accesses before it. Use {name}.release, or put a "
            f"fence.acq_rel.{self.scope} before it."
        )


@dataclass(eq=False)
class BarrierClock:
    """One barrier. ``joined``: the past that arrivals handed over so far, ``released``: until the
    end of its last phase. ``remote_arrival``: whether another block has arrived in this phase,
    ``remote_release`` in the last one."""

    joined: np.ndarray | None = None
    released: np.ndarray | None = None
    relaxed: list[RelaxedArrival] = field(default_factory=list)  # arrivals of this phase
    ended: list[RelaxedArrival] = field(default_factory=list)  # and of the last one
    remote_arrival: bool = False
    remote_release: bool = False

    def join(self, past: np.ndarray) -> None:
        """An arrival that knows ``past``, by warp of the row."""
        self.joined = past if self.joined is None else np.maximum(self.joined, past)

    def complete(self) -> None:
        """The phase ends: threads that wait know all that was joined in it."""
        self.released = self.joined
        self.ended, self.relaxed = self.relaxed, []
        self.remote_release, self.remote_arrival = self.remote_arrival, False


def arrives(i: ptx.Instruction) -> bool:
    """Whether an instruction releases its lanes' accesses, at once or when a copy completes."""
    if i.opcode not in BY_LANES:
        return i.opcode == "tcgen05" and "commit" in i.modifiers
    return bool({"arrive", "arrive_drop", "bulk", "mbarrier"} & {*i.modifiers})


class BarrierClocks:
    """The barriers of one batch. ``clocks.order``: its fences, None where a kernel has none."""

    def __init__(self, batch: Batch, clocks: VectorClocks) -> None:
        self.batch, self.clocks = batch, clocks
        self._clocks: dict[object, BarrierClock] = {}
        self._relaxed: deque[RelaxedArrival] = deque(maxlen=REMEMBERED)

    def of(self, key: Hashable) -> BarrierClock:
        """The barrier ``key``, made when it is first asked for."""
        return self._clocks.setdefault(key, BarrierClock())

    def arrive(
        self,
        key: Hashable,
        warps: np.ndarray,
        past: np.ndarray,
        instruction: ptx.Instruction,
        home: int | None = None,
    ) -> None:
        """Warps of one row, which know ``past``, arrive. ``home``: the block that waits, where it
        is a single one."""
        barrier, clocks = self.of(key), self.clocks
        if "relaxed" in instruction.modifiers:
            at_home = warps * 32 // self.batch.lanes_per_block == home
            row, known = int(warps[0]) // clocks.warps, past[: clocks.warps].copy()
            first = (clocks.first >> 5) + row * clocks.warps
            scope = "cta" if at_home.all() else "cluster"
            relaxed = RelaxedArrival(known, first, scope, instruction)
            barrier.relaxed.append(relaxed)
            self._relaxed.append(relaxed)
            past[: clocks.warps] = (
                0 if clocks.order is None else clocks.order.released_by_fences(warps, at_home)
            )
        barrier.join(past)

    def passed(self, key: Hashable, warps: np.ndarray) -> None:
        """Warps of one row have waited."""
        barrier = self._clocks.get(key)
        if barrier is None or barrier.released is None:
            return
        self.clocks.acquire(warps, barrier.released)
        for relaxed in barrier.ended:
            relaxed.waited |= set((warps * 32 // self.batch.lanes_per_block).tolist())

    def relaxed_between(self, warp: int, time: int, lane: int) -> RelaxedArrival | None:
        """A relaxed arrival after which the block of ``lane`` would know an access by ``warp`` (of
        the launch) at ``time``, had it released."""
        block = lane // self.batch.lanes_per_block
        return next((r for r in self._relaxed if r.would_order(warp, time, block)), None)
