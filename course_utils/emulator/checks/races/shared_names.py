"""Dynamic shared memory under several names: arrays that a kernel takes for separate ones.

All ``extern __shared__`` arrays of a kernel begin at the same byte. Source: CUDA C++ Programming
Guide, "__shared__".
"""

from __future__ import annotations

from ...findings.causes import Cause
from ...findings.report import OUT_OF_BOUNDS, WARNING, Finding
from ...findings.wording import at_line
from ...isa import ptx
from ...isa.symbols import readable_name
from ...machine.code import Code

CARRY = {"mov", "cvta", "cvt", "add", "sub", "mad", "or", "shl", "selp"}  # an address through
NOTE = (
    "Warning: this is right only where you mean one memory under two names. For two arrays\n"
    "  declare one, and let the other begin after it: float* b = a + n."
)


def one_memory(code: Code, names: list[str]) -> Finding | None:
    """The warning for a kernel that stores into two of the arrays ``names``, which are all names of
    the dynamic shared memory. None for any other kernel."""
    instructions = [i for block in code.blocks for i in block.instructions]
    sources = _sources(instructions, names)
    stored: dict[str, ptx.Instruction] = {}
    for i in instructions:
        if i.opcode in ("st", "atom", "red"):
            place = next((o for o in i.operands if isinstance(o, ptx.Address)), None)
            arrays = _of(place.base, names, sources) if place is not None else set()
            if len(arrays) == 1:
                stored.setdefault(arrays.pop(), i)
    if len(stored) < 2:
        return None
    (one, first), (other, second) = list(stored.items())[:2]
    a, b = readable_name(one), readable_name(other)
    text = (
        f"Out of bounds: {a} and {b} are one array. The kernel stores to {a}"
        f"{at_line(first.location)} and to {b}{at_line(second.location)}, and both begin at byte 0 "
        "of the dynamic shared memory, as every extern __shared__ array does."
    )
    return Finding(
        OUT_OF_BOUNDS,
        text,
        second.location,
        array=b,
        other_location=first.location,
        level=WARNING,
        cause=Cause.SHARED_ARRAYS_OVERLAP,
    )


def _of(operand: ptx.Operand, names: list[str], sources: dict[int, set[str]]) -> set[str]:
    """The arrays whose address an operand holds."""
    if isinstance(operand, ptx.Symbol):
        return {operand.name} & {*names}
    return sources.get(operand.slot, set()) if isinstance(operand, ptx.Register) else set()


def _sources(instructions: list[ptx.Instruction], names: list[str]) -> dict[int, set[str]]:
    """For each register the arrays into which it may point."""
    sources: dict[int, set[str]] = {}
    grown = True
    while grown:
        grown = False
        for i in instructions:
            if (
                i.opcode not in CARRY
                or not i.operands
                or not isinstance(i.operands[0], ptx.Register)
            ):
                continue
            found = set[str]().union(*(_of(o, names, sources) for o in i.operands[1:]))
            known = sources.setdefault(i.operands[0].slot, set())
            grown |= not found <= known
            known |= found
    return sources
