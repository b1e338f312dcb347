"""Updates by volatile accesses: they don't race, and still another thread can come in between."""

from __future__ import annotations

from ...isa.ptx import Instruction
from ...machine.code import Code
from .colliding_writes import ATOMICS, LOADS, STORES, changes, leads, place_of, tests
from .severity import Paths
from .waiting_loops import takes_lock, waits_for

VOLATILE = "volatile makes each access reach memory, and doesn't make one step of the two."
ORDERS_NOTHING = "volatile makes each access reach memory, and orders nothing."


def is_volatile(i: Instruction) -> bool:
    """Whether a load or store is volatile."""
    return i.opcode in LOADS | STORES and "volatile" in i.modifiers


def volatile_updates(code: Code, paths: Paths) -> frozenset[tuple[int, int]]:
    """The ids of a load and a store of global memory, both volatile, by which a thread updates an
    element or takes a lock. Where a loop waits for the element, threads take turns to update it. A
    test before a store of the same for all, such as of "found it", does no harm."""
    ours = [i for block in code.blocks for i in block.instructions if is_volatile(i)]
    stores = [i for i in ours if i.opcode in STORES and "shared" not in i.modifiers]
    found = set()
    for store in stores:
        for load in (i for i in ours if i.opcode in LOADS and place_of(i) == place_of(store)):
            if takes_lock(code, paths, load, store) or (
                leads(paths, load, store)
                and (changes(code, load, store) or _tests_and_acts(code, load, store))
                and waits_for(code, load) is None
            ):
                found.add((id(load), id(store)))
    return frozenset(found)


def _tests_and_acts(code: Code, load: Instruction, store: Instruction) -> bool:
    """Whether a thread that passes a test and stores writes something else as well, which one
    thread alone is to do."""
    around = next(b.instructions for b in code.blocks if any(i is store for i in b.instructions))
    others = (i for i in around if i.opcode in STORES | ATOMICS and place_of(i) != place_of(store))
    return any(others) and tests(code, load, store)
