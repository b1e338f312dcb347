"""Two threads that write one element: an update that gets lost, or an index that both compute."""

from __future__ import annotations

from ...findings.causes import Cause
from ...isa.ptx import Address, Instruction
from .severity import Paths

LOADS, STORES = {"ld", "ldu"}, {"st"}
BARRIERS = {"bar", "barrier"}
LOST = "Both read it, change it and write it back: one of the two changes can get lost."
SAME_INDEX = "Both compute the same index, and only one of the two values stays."


def collision(
    paths: Paths, there: Instruction, here: Instruction, together: bool
) -> tuple[Cause, str] | None:
    """The cause of a race that no barrier removes, and a sentence that explains it.

    ``there`` and ``here`` are the two racing instructions, ``paths`` those of their function.
    ``together``: several threads executed one store at once. None for a race that needs an order
    between the two.
    """
    store = next((i for i in (here, there) if i.opcode in STORES), None)
    if store is None or not {there.opcode, here.opcode} <= LOADS | STORES:
        return None
    if _place(there) == _place(here) and _updates(paths, store):
        return Cause.UPDATE_NOT_ATOMIC, LOST
    return (Cause.SAME_ELEMENT_WRITTEN, SAME_INDEX) if together else None


def _place(i: Instruction) -> tuple[object, int] | None:
    """The register and the offset of its address."""
    found = next((o for o in i.operands if isinstance(o, Address)), None)
    return (found.base, found.offset) if found else None


def _updates(paths: Paths, store: Instruction) -> bool:
    """Whether each thread loads the element before it stores it, with no barrier in between."""
    instructions = store.scope.function.instructions
    at = next(n for n, i in enumerate(instructions) if i is store)
    for i in reversed(instructions[:at]):
        if i.opcode in BARRIERS:
            return False
        if i.opcode in LOADS and _place(i) == _place(store):
            return paths.connected(i, store)
    return False
