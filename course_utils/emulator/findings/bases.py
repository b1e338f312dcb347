"""The array that a line means, as its address is computed: from a variable or a parameter."""

from __future__ import annotations

from ..isa.ptx import Address, Immediate, Instruction, Operand, Register, Symbol
from .origins import setter
from .reported_state import ReportedCode

MOST_STEPS = 32  # instructions from a variable or parameter to an address
THROUGH = {"add", "sub", "mul", "mad", "shl", "cvt", "mov", "cvta", "neg", "selp", "min", "max"}


def base_of(code: ReportedCode, access: Instruction) -> str:
    """The variable or parameter that an address is computed from, "" where it isn't clear."""
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    return _root(code, place.base, MOST_STEPS) if place is not None else ""


def _root(code: ReportedCode, operand: Operand, left: int) -> str:
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


def has_product(code: ReportedCode, access: Instruction) -> bool:
    """Whether a product of 32 bits is part of the index of an access, which can pass 2^31."""
    setters = dict[int, list[Instruction]]()
    for step in (step for block in code.blocks for step in block.decoded):
        for slot in step.writes:
            setters.setdefault(slot, []).append(step.instruction)
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    waiting, seen = list[Operand]([place.base] if place is not None else []), set[int]()
    while waiting:
        operand = waiting.pop()
        if not isinstance(operand, Register) or operand.slot in seen:
            continue
        seen.add(operand.slot)
        for i in setters.get(operand.slot, []):
            if _is_product(i):
                return True
            waiting += i.operands[1:] if i.opcode in THROUGH else []
    return False


def _is_product(i: Instruction) -> bool:
    if not {"s32", "u32", "b32"} & {*i.modifiers} or "wide" in i.modifiers:
        return False
    return i.opcode in ("mul", "mad") or (
        i.opcode == "shl" and isinstance(i.operands[2], Immediate)
    )
