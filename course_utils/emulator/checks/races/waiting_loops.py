"""Loops in which a thread waits for a write of another: no barrier can come between the two."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings.origins import in_loop, setter
from ...isa.instruction_set import traits_of
from ...isa.location import Location
from ...isa.ptx import Address, Instruction, Operand, Register, Symbol
from ...machine.code import Code

LOOP_WAITS = "The loop at {loop} waits for such a write: a barrier in between would deadlock."
MOST_STEPS = 32  # instructions from a variable or parameter to an address


def waits_for(code: Code, access: Instruction) -> Location | None:
    """The line of a loop that does nothing but read the array of ``access`` until it changes, None
    for an array that no loop waits for."""
    wanted = _array_of(code, access)
    if not wanted:
        return None
    for load in _spinning(code):
        if _array_of(code, load) == wanted:
            return load.location
    return None


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


def _array_of(code: Code, access: Instruction) -> str:
    """The variable or parameter that an address is computed from, "" where it isn't clear."""
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    return _root(code, place.base, MOST_STEPS) if place is not None else ""


def _root(code: Code, operand: Operand, left: int) -> str:
    if isinstance(operand, Symbol):
        return operand.name
    i = setter(code, operand) if isinstance(operand, Register) and left else None
    if i is None:
        return ""
    if i.opcode == "ld" and "param" in i.modifiers:
        address = i.operands[1]
        base = address.base if isinstance(address, Address) else None
        return base.name if isinstance(base, Symbol) else ""
    if i.opcode not in ("mov", "cvta", "add", "sub", "cvt"):
        return ""
    return next(filter(None, (_root(code, s, left - 1) for s in i.operands[1:])), "")
