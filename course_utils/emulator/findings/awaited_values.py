"""A loop that waits until a value in memory equals another: the two values when it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from ..isa.ptx import Address, Immediate, Instruction, Operand, Register
from .loop_conditions import changing
from .origins import in_loop, loads_of, setter
from .reported_state import ReportedCode, ReportedGroup

FROM_MEMORY = {"ld", "ldu", "atom"}
EQUAL = {"eq", "ne"}


def awaited(group: ReportedGroup) -> tuple[int, int] | None:
    """The value that is read and the value that is awaited, for the first thread of a group in a
    loop that ends when the two are equal. None for another loop, and for a compare-and-swap whose
    expected value each round renews: it waits for no number."""
    for comparison in _comparisons(group.code, group.block):
        read, other = comparison.operands[1:3]
        if not _from_memory(group.code, read):
            read, other = other, read
        swap = _swap(group.code, read)
        if swap is not None and _slots(swap.operands[2], other) & changing(group.code, group.block):
            continue
        pair = _value(group, read), _value(group, other)
        if _from_memory(group.code, read) and None not in pair:
            return pair[0] or 0, pair[1] or 0
    return None


def keeps_expecting(group: ReportedGroup) -> bool:
    """Whether a group is in a loop that ends when a compare-and-swap returns the value it expects,
    where nothing in the loop changes that value or the address. A number that another atomic gave
    the thread is its turn, and no guess of the value in the element."""
    for comparison in _comparisons(group.code, group.block):
        for read, other in permutations(comparison.operands[1:3]):
            swap = _swap(group.code, read)
            if swap is None or not isinstance(swap.operands[1], Address):
                continue
            place, expected = swap.operands[1], swap.operands[2]
            fixed = _slots(place.base, expected, other)
            if fixed & changing(group.code, group.block):
                continue
            atomics = [i for i in loads_of(group.code, expected) if i.opcode == "atom"]
            if all(i.operands[1] == place for i in atomics):
                return True
    return False


def _swap(code: ReportedCode, operand: Operand) -> Instruction | None:
    """The compare-and-swap that returned an operand's value."""
    found = setter(code, operand) if isinstance(operand, Register) else None
    return found if found is not None and "cas" in found.modifiers else None


def _slots(*operands: Operand) -> set[int]:
    return {operand.slot for operand in operands if isinstance(operand, Register)}


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
