"""The bytes that an asynchronous copy reads and writes, as accesses to check for races."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...isa import ptx
from ...isa.instruction_set import PLAIN
from ...machine.async_state import Part, Transfer
from ...memory.address_space import Region


@dataclass(eq=False)
class CopySide:
    """One side of an asynchronous copy, for reports. ``waited``: where its thread got to know of
    its end, once it has; other threads must be ordered behind that."""

    instruction: ptx.Instruction
    is_store: bool
    waited: ptx.Instruction | None = None
    is_atomic: bool = False
    order: str = ""
    width: int = 4
    bytes: int = 4
    space: str = ""
    traits = PLAIN


def side_of(
    instruction: ptx.Instruction, writes: bool, waited: ptx.Instruction | None = None
) -> CopySide:
    """A copy that reduces is an atomic for what it writes."""
    atomic = writes and instruction.modifiers[:1] == ("reduce",)
    return CopySide(instruction, writes and not atomic, waited, atomic)


Side = tuple[Region, np.ndarray, np.ndarray, bool]


def sides(transfer: Transfer) -> Iterator[Side]:
    """(region, elements, indices, whether written) of what a copy touches of shared memory, and of
    what a bulk copy writes to global memory."""
    for region, elements, indices in transfer.reads:
        yield region, elements, indices, False
    filled, taken = transfer.filled, transfer.taken
    if filled is not None and (filled[0].space == "shared" or transfer.stores):
        yield *filled, True
    if taken is not None and taken[0].space == "shared":
        yield *taken, False


def fetched(transfer: Transfer) -> Part | None:
    """(region, elements, indices) of what a bulk copy reads of global memory; None for others."""
    taken = transfer.taken
    if transfer.queue == "async" or taken is None or taken[0].space != "global":
        return None
    region, elements, index = taken
    return region, elements, index if transfer.valid is None else index[transfer.valid][None]
