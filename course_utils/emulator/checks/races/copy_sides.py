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
    """One side of an asynchronous copy, for reports. ``waited``: where its thread waited for its
    end, once it has. Other threads must be ordered after that."""

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
    """A copy that reduces writes atomically."""
    atomic = writes and instruction.modifiers[:1] == ("reduce",)
    return CopySide(instruction, writes and not atomic, waited, atomic)


Side = tuple[Region, np.ndarray, np.ndarray, bool]


def sides(transfer: Transfer) -> Iterator[Side]:
    """Region, elements, indices and whether written, for the shared memory that a copy touches, and
    the global memory that a bulk copy writes."""
    for region, elements, indices in transfer.reads:
        yield region, elements, indices, False
    filled, taken = transfer.filled, transfer.taken
    if filled is not None and (filled[0].space == "shared" or transfer.stores):
        yield *filled, True
    if taken is not None and taken[0].space == "shared":
        yield *taken, False


def fetched(transfer: Transfer) -> Part | None:
    """Region, elements and indices of a bulk copy's read of global memory, None for other
    copies."""
    taken = transfer.taken
    if transfer.queue == "async" or taken is None or taken[0].space != "global":
        return None
    region, elements, index = taken
    return region, elements, index if transfer.valid is None else index[transfer.valid][None]
