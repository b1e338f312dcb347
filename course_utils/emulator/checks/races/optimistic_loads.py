"""First looks: plain loads of what a compare-and-swap of the same word then asks for.

``old = *word; do { seen = old; old = atomicCAS(word, seen, ...); } while (old != seen);`` is how
the CUDA C++ Programming Guide builds an atomic ("Atomic Functions"). The load has no order with the
atomics of other threads. It does no harm: where its value is out of date the exchange fails.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...isa.ptx import Address, Instruction, Operand, Register


def optimistic_loads(
    forms: Iterable[Instruction], instructions: Iterable[Instruction]
) -> frozenset[int]:
    """The ids of the loads among a kernel's ``instructions`` whose value becomes, through moves
    alone, what a compare-and-swap of the same address compares. ``forms`` has one of each form."""
    if not any(_is_swap(i) for i in forms):
        return frozenset()
    moves: dict[Operand, set[Operand]] = {}
    loads: dict[Operand, list[Instruction]] = {}
    swaps: list[Instruction] = []
    for i in instructions:
        if _is_swap(i):
            swaps.append(i)
        elif i.opcode == "mov" and len(i.operands) == 2:
            moves.setdefault(i.operands[0], set()).add(i.operands[1])
        elif i.opcode == "ld" and isinstance(i.operands[1], Address):
            loads.setdefault(i.operands[0], []).append(i)
    found = set()
    for swap in swaps:
        waiting, seen = [swap.operands[2]], set[Operand]()
        while waiting:
            register = waiting.pop()
            if not isinstance(register, Register) or register in seen:
                continue
            seen.add(register)
            waiting += moves.get(register, ())
            at = swap.operands[1]
            found |= {id(i) for i in loads.get(register, ()) if i.operands[1] == at}
    return frozenset(found)


def _is_swap(i: Instruction) -> bool:
    return i.opcode == "atom" and "cas" in i.modifiers
