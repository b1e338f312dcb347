"""Two threads that write one element: an update that gets lost, a test that both pass, or an index
that both compute."""

from __future__ import annotations

from itertools import product

from ...findings.causes import Cause
from ...findings.origins import index_sources, loads_of, predicates_of
from ...isa.location import Location
from ...isa.ptx import Address, Instruction, Operand, OperandList
from ...machine.code import Code
from .severity import Paths

LOADS, STORES, ATOMICS = {"ld", "ldu"}, {"st"}, {"atom", "red"}
BARRIERS = {"bar", "barrier"}
LOST = "Both read it, change it and write it back: one of the two changes can get lost."
TESTED = "Both can test it before either one stores: then both go on as if they were the first."
READ_ALONE = "The read isn't part of the atomic at {atomic}: others change it between the two."
SAME_INDEX = "Both compute the same index, and only one of the two values stays."
IN_TURN = "This line stores to it for both, one after the other: should each have its own place?"
ALL_WRITE = "Every thread that comes by writes this one element, and only one of the values stays."


def updates(
    paths: Paths, there: Instruction, here: Instruction, stores_too: bool | None
) -> list[tuple[Instruction, Instruction]]:
    """The loads and stores by which each of two racing threads may read an element and write it
    back.

    ``here`` is the later thread's instruction, and ``there`` is one of the earlier thread's line.
    ``stores_too``: whether the earlier thread stores that element by ``here`` as well; None if
    that isn't known. ``paths``: of their function.
    """
    if here.opcode in LOADS and there.opcode in STORES:
        stores = _alike(STORES, here, there.location)
        return [
            (here, s) for s in stores if place_of(s) == place_of(here) and leads(paths, here, s)
        ]
    if here.opcode not in STORES or there.opcode not in LOADS | STORES or stores_too is False:
        return []
    if stores_too is None and there.opcode in LOADS:
        loads = _alike(LOADS, here, there.location)
        if any(place_of(load) != place_of(here) for load in loads):
            return []
    loads = _alike(LOADS, here)
    return [(i, here) for i in loads if place_of(i) == place_of(here) and leads(paths, i, here)]


def changes(code: Code, load: Instruction, store: Instruction) -> bool:
    """Whether a stored value is computed from the loaded one, or may be: a thread's own memory is
    not followed."""
    found = loads_of(code, *_stored(store))
    return any(i is load or "local" in i.modifiers for i in found)


def tests(code: Code, load: Instruction, store: Instruction) -> bool:
    """Whether the loaded value decides if the thread gets to the store."""
    return any(i is load for i in loads_of(code, *predicates_of(code, store)))


def read_beside_atomic(
    paths: Paths, there: Instruction, here: Instruction
) -> tuple[Cause, str] | None:
    """The cause of a race of an ordinary load with an atomic that the same thread executes after
    it, and a sentence. None for others."""
    if here.opcode in LOADS and there.opcode in ATOMICS:
        loads, atomics = [here], _alike(ATOMICS, here, there.location)
    elif here.opcode in ATOMICS and there.opcode in LOADS:
        loads, atomics = _alike(LOADS, here, there.location), [here]
    else:
        return None
    for load, atomic in product(loads, atomics):
        if place_of(load) == place_of(atomic) and leads(paths, load, atomic):
            return Cause.READ_BESIDE_ATOMIC, READ_ALONE.format(atomic=atomic.location)
    return None


def explained(
    code: Code,
    paths: Paths,
    pair: tuple[Instruction, Instruction],
    stores_too: bool | None,
    together: bool,
    apart: bool = False,
) -> tuple[Cause, str] | None:
    """The cause of a race that no barrier removes, and a sentence that says it; None for a race of
    two accesses that lack an order. ``together``: both threads execute one store at once, or two
    blocks do at any time, which is ``apart``."""
    found = updates(paths, *pair, stores_too)
    lost = any(changes(code, *p) for p in found) or _changes_what_atomic_read(code, *pair)
    tested = not lost and any(tests(code, *p) for p in found)
    if not lost and not tested and not together:
        return read_beside_atomic(paths, *pair)
    by_number, by_value = index_sources(code, pair[1])
    if lost or tested:
        cause = Cause.TEST_NOT_ATOMIC if tested else Cause.UPDATE_NOT_ATOMIC
        if by_number and not by_value:
            cause = Cause.UPDATE_OF_ONE_INDEX
        return cause, TESTED if tested else LOST
    if not by_number and not by_value:
        own = _stores_own_value(code, pair[1], apart)
        return (Cause.OWN_VALUES_WRITTEN_BY_ALL if own else Cause.WRITTEN_BY_ALL), ALL_WRITE
    cause = Cause.SAME_INDEX_COUNTED if by_value else Cause.SAME_ELEMENT_WRITTEN
    return cause, SAME_INDEX


def _changes_what_atomic_read(code: Code, there: Instruction, here: Instruction) -> bool:
    """Whether a store races with an atomic on the same element, and the stored value was computed
    from the value that the atomic returned."""
    store, atomic = (here, there) if here.opcode in STORES else (there, here)
    if store.opcode not in STORES or atomic.opcode != "atom" or place_of(atomic) != place_of(store):
        return False
    return any(load is atomic for load in loads_of(code, *_stored(store)))


def _stored(store: Instruction) -> list[Operand]:
    """The values that a store writes."""
    given = store.operands[1:]
    return [v for o in given for v in (o.items if isinstance(o, OperandList) else (o,))]


def _stores_own_value(code: Code, store: Instruction, apart: bool) -> bool:
    """Whether the stored value comes from an element that is the thread's, or its block's where two
    blocks are ``apart``, or from the element itself, as an atomic read it."""
    return any(
        any(index_sources(code, load))
        or (apart and "shared" in load.modifiers)
        or (load.opcode == "atom" and place_of(load) == place_of(store))
        for load in loads_of(code, *_stored(store))
    )


def stored_in_turn(code: Code, store: Instruction) -> tuple[Cause, str] | None:
    """The cause of a race of two threads that ``store`` lets write one element at different times,
    as other rounds of a loop do, and a sentence. None where its index is the same for all."""
    if not any(index_sources(code, store)):
        return None
    return Cause.SAME_ELEMENT_IN_TURN, IN_TURN


def _alike(
    opcodes: set[str], i: Instruction, location: Location | None = None
) -> list[Instruction]:
    """The instructions with these opcodes in the function of ``i``, or those at one location."""
    found = [other for other in i.scope.function.instructions if other.opcode in opcodes]
    return [other for other in found if location in (None, other.location)]


def place_of(i: Instruction) -> tuple[object, int] | None:
    """The register and the offset of an instruction's address."""
    found = next((o for o in i.operands if isinstance(o, Address)), None)
    return (found.base, found.offset) if found else None


def leads(paths: Paths, load: Instruction, store: Instruction) -> bool:
    """Whether a store comes after a load of its function, with no barrier in between."""
    instructions = load.scope.function.instructions
    first, last = (next(n for n, i in enumerate(instructions) if i is one) for one in (load, store))
    between = instructions[first:last]
    return (
        bool(between)
        and paths.connected(load, store)
        and not any(i.opcode in BARRIERS for i in between)
    )
