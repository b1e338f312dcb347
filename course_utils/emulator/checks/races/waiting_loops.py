"""Loops in which a thread waits for a write of another: no barrier can come between the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from weakref import WeakKeyDictionary

from ...findings.bases import base_of
from ...findings.loop_conditions import only_waits
from ...findings.origins import in_loop, setter
from ...isa.instruction_set import traits_of
from ...isa.location import Location
from ...isa.ptx import Immediate, Instruction, Operand, Register
from ...machine.code import Code
from .colliding_writes import leads, place_of
from .severity import Paths

LOOP_WAITS = "The loop at {loop} waits for such a write: a barrier in between would deadlock."
LOCK = "The loop at {loop} finds it free, the store at {store} takes it: both threads can do so."
LOOP_WAITS_APART = "The loop at {loop} waits for such a write: both accesses have to be atomics."


def waits_for(code: Code, access: Instruction) -> Location | None:
    """The line of a loop that does nothing but read the array of ``access`` until it changes, None
    for an array that no loop waits for."""
    wanted = base_of(code, access)
    if not wanted:
        return None
    return next((at for array, at in _awaited(code) if array == wanted), None)


def _awaited(code: Code) -> list[tuple[str, Location | None]]:
    """The array that each loop waits for, with the line that a report names."""
    found = _known.get(code)
    if found is None:
        loads = *_spinning(code), *(poll.read for poll in polls(code))
        places = [*((i, i.location) for i in loads), *_hoisted(code)]
        found = _known[code] = [(base_of(code, i), at) for i, at in places]
    return found


_known = WeakKeyDictionary[Code, list[tuple[str, Location | None]]]()  # each race asks


def takes_lock(code: Code, paths: Paths, *pair: Instruction) -> Instruction | None:
    """The store of a ``pair`` by which a thread takes a lock that a loop has found free by a load,
    the other of them: it stores one number at the place that is read. None for another pair."""
    waits = (*_spinning(code), *(i for i, _ in _hoisted(code)))
    for read, store in permutations(pair, 2):
        takes = store.opcode == "st" and _is_number(code, store.operands[1])
        if takes and any(i is read for i in waits) and place_of(read) == place_of(store):
            return store if leads(paths, read, store) else None
    return None


def _is_number(code: Code, operand: Operand) -> bool:
    """Whether an operand is a number, or a register that holds one."""
    i = setter(code, operand) if isinstance(operand, Register) else None
    return isinstance(operand if i is None or i.opcode != "mov" else i.operands[1], Immediate)


@dataclass(frozen=True)
class Poll:
    """A loop that does nothing but ``read`` a flag until it changes: its basic ``blocks``."""

    read: Instruction
    blocks: frozenset[int]


def polls(code: Code) -> list[Poll]:
    """The loops of a function, of one basic block or two, that wait for a flag."""
    found = []
    for n, block in enumerate(code.blocks):
        for other in {n, *block.successors}:
            if n <= other and n in code.blocks[other].successors:
                loop = [code.blocks[b] for b in sorted({n, other})]
                reads = [d for b in loop for d in b.decoded if d.traits.memory]
                if reads and only_waits(loop):
                    found.append(Poll(reads[0].instruction, frozenset({n, other})))
    return found


def _hoisted(code: Code) -> Iterator[tuple[Instruction, Location | None]]:
    """Loads that decide whether an endless loop begins, which the compiler has moved out of that
    loop, each with the loop's line."""
    for number, block in enumerate(code.blocks):
        loop = in_loop(code, number)
        if not loop or any(s not in loop for n in loop for s in code.blocks[n].successors):
            continue
        for before in code.blocks:
            guard = before.instructions[-1].guard
            if guard is not None and number in before.successors and before.number not in loop:
                decide = _sources(code, guard, 4)
                for i in (i for b in code.blocks for i in b.instructions if i.opcode == "ld"):
                    if any(isinstance(r, Register) and r.slot in decide for r in i.operands[:1]):
                        yield i, block.instructions[0].location


def _spinning(code: Code) -> Iterator[Instruction]:
    """Loads from memory in loops that write nothing and wait at no barrier."""
    for number, block in enumerate(code.blocks):
        loads = [d.instruction for d in block.decoded if d.traits.memory == "load"]
        loads = [i for i in loads if "param" not in i.modifiers]
        if not loads:
            continue
        loop = in_loop(code, number)
        traits = [traits_of(d.instruction) for n in loop for d in code.blocks[n].decoded]
        if loop and not any(t.memory in ("store", "atomic") or t.barrier for t in traits):
            yield from (i for i in loads if _decides(code, loop, i))


def _decides(code: Code, loop: set[int], load: Instruction) -> bool:
    """Whether the value that ``load`` reads decides if the loop goes on."""
    wanted = {r.slot for r in load.operands[:1] if isinstance(r, Register)}
    guards = [code.blocks[n].instructions[-1].guard for n in loop]
    return any(g is not None and wanted & _sources(code, g, 4) for g in guards)


def _sources(code: Code, register: Register, left: int) -> set[int]:
    """The registers that a register is computed from."""
    i = setter(code, register) if left else None
    found = {register.slot}
    for source in () if i is None or i.opcode == "ld" else i.operands[1:]:
        if isinstance(source, Register):
            found |= _sources(code, source, left - 1)
    return found
