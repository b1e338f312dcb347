"""What an asynchronous copy touches, as accesses that a race is looked for among."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...isa.instruction_set import PLAIN
from ...machine.async_state import Transfer
from ...memory.address_space import Region


@dataclass(eq=False)
class CopySide:
    """One side of an asynchronous copy, for reports. ``waited``: where its thread got to know of
    its end, once it has; other threads must be ordered behind that."""

    instruction: object
    is_store: bool
    waited: object = None
    is_atomic: bool = False
    order: str = ""
    width: int = 4
    bytes: int = 4
    traits = PLAIN


def side_of(instruction, writes: bool, waited: object = None) -> CopySide:
    """A copy that reduces is an atomic for what it writes."""
    atomic = writes and instruction.modifiers[:1] == ("reduce",)
    return CopySide(instruction, writes and not atomic, waited, atomic)


Side = tuple[Region, np.ndarray, np.ndarray, bool]


def sides(transfer: Transfer) -> Iterator[Side]:
    """(region, elements, indices, whether written) of what a copy touches of shared memory, and of
    what a bulk copy writes to global memory."""
    for region, elements, indices in transfer.reads:
        yield region, elements, indices, False
    target, source = transfer.regions
    if target is not None and (target.space == "shared" or transfer.stores):
        yield target, transfer.target, transfer.put, True
    if source is not None and source.space == "shared":
        yield source, transfer.source, transfer.take, False


def fetched(transfer: Transfer) -> tuple[Region, np.ndarray, np.ndarray] | None:
    """(region, elements, indices) of what a bulk copy reads of global memory; None for others."""
    region = transfer.regions[1]
    if transfer.queue == "async" or region is None or region.space != "global":
        return None
    take = transfer.take
    return region, transfer.source, take if transfer.valid is None else take[transfer.valid][None]
