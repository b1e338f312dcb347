"""A decoded function: basic blocks of steps, and what is known of each.

A *step* is a closure ``step(group)`` that does what one instruction does to every lane of a group;
nothing is made of what it returns.
An *ending* decides where the lanes go next: ``end(group)`` returns the group when it simply goes on
in a new block, or None when it was split, parked or finished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import Traits
from ..isa.ptx import Instruction
from .fusion import members
from .lanes import Group
from .operands import Get

Step = Callable[[Group], object]
Ending = Callable[[Group], Group | None]


@dataclass(slots=True)
class Decoded:
    """One instruction: what it does, and which registers it reads and writes."""

    instruction: Instruction
    reads: frozenset[int]
    writes: frozenset[int]
    act: Step | Ending
    opcode: str
    parameter: bool  # a load or store of a .param variable: registers in this machine
    ends: bool  # its basic block
    traits: Traits


@dataclass(slots=True)
class Block:
    """Instructions that are always run together."""

    number: int
    instructions: list[Instruction]
    steps: list[Step]  # one for each instruction but an ending
    end: Ending
    fused: list[Step] = field(default_factory=list)  # the same, some of them run as one
    gather: Get | None = None  # mask getter of a leading warp-wide instruction
    warpgroup: bool = False  # whether that is for the four warps of a warpgroup together
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    successors: list[int] = field(default_factory=list)
    decoded: list[Decoded] = field(default_factory=list)  # of each step, and of an ending
    matrix: bool = False  # whether there is work of tensor cores in it
    opcodes: Counter[str] = field(default_factory=Counter)  # full ones: how often each
    flops: Counter[tuple[int, int]] = field(default_factory=Counter)  # (flops, of so many threads)

    def member_mask(self, group: Group) -> np.ndarray:
        """The mask of the lanes that wait for each other at its first instruction: u32, (n,) or
        (1,). Raises ValueError for a block at which none wait."""
        if self.gather is None:
            raise ValueError(f"no lanes wait at basic block {self.number}")
        return self.gather(group.R)

    def left_after(self, last: Step, order: list[Step]) -> list[int]:
        """Which steps are still to be run after ``last``, in ``order``: ``steps`` or ``fused``."""
        done = {part for step in order[: order.index(last) + 1] for part in members(step)}
        return [number for number, step in enumerate(self.steps) if step not in done]


@dataclass(eq=False)
class Code:
    """A decoded function."""

    name: str
    order: int
    blocks: list[Block]
    block_ranks: list[int]  # of each block in the order in which diverged lanes run
    blank: list[np.ndarray]
    live: list[tuple[int, ...]]
    specials: dict[str, int]  # special registers and local arrays -> slot, set when a frame begins
    parameters: list[dict[int, int]]  # for each formal parameter: byte offset -> slot
    results: list[dict[int, int]]
    locals: list[ptx.Variable]
    unset: tuple[int, ...]  # registers that may be read before anything is written to them
    _after: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def after(self, number: int) -> tuple[int, ...]:
        """Registers that the end of a block, or a later block, may read."""
        found = self._after.get(number)
        if found is None:
            block = self.blocks[number]
            slots = (block.reads | block.writes).union(*(self.live[s] for s in block.successors))
            found = self._after[number] = tuple(slots)
        return found


def liveness(blocks: list[Block]) -> list[set[int]]:
    """Registers that may still be read, at the start of every block (backward data flow)."""
    live: list[set[int]] = [set(b.reads) for b in blocks]
    changed = True
    while changed:
        changed = False
        for n in reversed(range(len(blocks))):
            block = blocks[n]
            after = set().union(*(live[s] for s in block.successors)) if block.successors else set()
            now = block.reads | (after - block.writes)
            if now != live[n]:
                live[n], changed = now, True
    return live
