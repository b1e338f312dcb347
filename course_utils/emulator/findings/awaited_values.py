"""A loop that waits until a value in memory equals another: the two values when it is stopped."""

from __future__ import annotations

from collections.abc import Iterator

from ..isa.ptx import Immediate, Instruction, Operand, Register
from .origins import in_loop, setter
from .reported_state import ReportedCode, ReportedGroup

FROM_MEMORY = {"ld", "ldu", "atom"}
EQUAL = {"eq", "ne"}


def awaited(group: ReportedGroup) -> tuple[int, int] | None:
    """The value that is read and the value that is awaited, for the first thread of a group in a
    loop that ends when the two are equal. None for another loop."""
    for comparison in _comparisons(group.code, group.block):
        read, other = comparison.operands[1:3]
        if not _from_memory(group.code, read):
            read, other = other, read
        pair = _value(group, read), _value(group, other)
        if _from_memory(group.code, read) and None not in pair:
            return pair[0] or 0, pair[1] or 0
    return None


def _comparisons(code: ReportedCode, number: int) -> Iterator[Instruction]:
    """The comparisons of integers for equality that decide whether a loop of one basic block or two
    goes on."""
    for n in in_loop(code, number):
        ways = [{way, *code.blocks[way].successors} for way in code.blocks[n].successors]
        guard = code.blocks[n].instructions[-1].guard
        around = any(len(way) <= 2 and n in way for way in ways) and number in {n}.union(*ways)
        decides = setter(code, guard) if guard is not None and around else None
        if decides is None or decides.opcode != "setp" or not EQUAL & {*decides.modifiers}:
            continue
        if not any(m in ("f16", "f32", "f64") for m in decides.modifiers):
            yield decides


def _from_memory(code: ReportedCode, operand: Operand) -> bool:
    found = setter(code, operand) if isinstance(operand, Register) else None
    return found is not None and found.opcode in FROM_MEMORY and "param" not in found.modifiers


def _value(group: ReportedGroup, operand: Operand) -> int | None:
    """An operand's value for the first thread, None where it isn't known."""
    if isinstance(operand, Immediate):
        return operand.value if isinstance(operand.value, int) else None
    if not isinstance(operand, Register):
        return None
    return group.first_of(operand.slot)
