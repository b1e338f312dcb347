"""Looks back from an access: the steps of its address, and the condition that it comes after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..isa.instruction_set import GATHERS, TABLE, traits_of
from ..isa.location import Location
from ..isa.ptx import Address, Immediate, Instruction, Operand, Register, Symbol
from ..isa.symbols import readable_name
from .reported_state import ReportedCode, ReportedStep

MOST_BLOCKS = 400  # of a function that is searched for conditions
MOST_STEPS = 32  # instructions from a product to the address that it is part of
ORDINARY = {"ld", "ldu", "st", "atom", "red"}
SAME = {"mov", "cvt", "cvta"}  # the result steps as the source does
COPIES = {*SAME, "setp", "selp", "slct"}  # and comparisons, beside those of the table
SUMS = {"add", "sub"}
BY_SIZE = {"lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}
ENDS = {"brx", "call", "ret", "exit", "trap"}


def setter(code: ReportedCode, register: Register) -> Instruction | None:
    """The instruction that sets a register, None where there are several, or none."""
    found = [
        step.instruction
        for block in code.blocks
        for step in block.decoded
        if register.slot in step.writes
    ]
    return found[0] if len(found) == 1 else None


def step_of(code: ReportedCode, access: Instruction) -> int | None:
    """Bytes from one element to the next as the address of an access is computed: 24 for ``p[i]``
    of structs with 24 bytes. None where no constant factor is found."""
    if access.opcode not in ORDINARY:
        return None
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    return None if place is None else min(_factors(code, place.base, MOST_STEPS), default=None)


def _factors(code: ReportedCode, operand: Operand, left: int) -> Iterator[int]:
    """The constants by which indices are multiplied in the sum that a register holds."""
    i = setter(code, operand) if isinstance(operand, Register) and left else None
    if i is None:
        return
    factors = [o.value for o in i.operands[2:3] if isinstance(o, Immediate)]
    factor = factors[0] if factors and isinstance(factors[0], int) else 0
    if i.opcode == "shl":
        yield 1 << factor
    elif i.opcode in ("mul", "mad") and factor > 0:
        yield factor
    if i.opcode in SAME:
        yield from _factors(code, i.operands[1], left - 1)
    elif i.opcode in SUMS:
        for source in i.operands[1:3]:
            yield from _factors(code, source, left - 1)
    elif i.opcode == "mad":
        yield from _factors(code, i.operands[3], left - 1)


def condition_before(code: ReportedCode, number: int, access: Instruction) -> Location | None:
    """The line of the last comparison that lets an access in basic block ``number`` through: of an
    ``if`` or of a loop, by size as a guard compares an index. None where there is none."""
    if access.opcode not in ORDINARY or len(code.blocks) > MOST_BLOCKS:
        return None
    if access.guard is not None and _bounds(code, access.guard):
        return _line_of(code, access.guard)
    found = []
    for decider, block in enumerate(code.blocks):
        guard, ways = block.instructions[-1].guard, set(block.successors)
        if decider == number or len(ways) != 2 or guard is None or not _bounds(code, guard):
            continue
        led = [way for way in ways if number in _reached(code, way, without=decider)]
        if len(led) == 1 and number not in _reached(code, 0, without=decider):
            found.append((decider, guard))
    # The last of them is the one that can't be reached without passing all others.
    passed = [sum(d not in _reached(code, 0, o) for o, _ in found) for d, _ in found]
    return _line_of(code, found[int(np.argmax(passed))][1]) if found else None


def _line_of(code: ReportedCode, register: Register) -> Location | None:
    found = setter(code, register)
    return None if found is None else found.location


def _reads(i: Instruction) -> bool:
    """Whether it loads from memory, and no parameter."""
    return i.opcode == "ld" and "param" not in i.modifiers


def _bounds(code: ReportedCode, register: Register) -> bool:
    """Whether a predicate comes from a comparison by size, as a guard against an index does."""
    i = setter(code, register)
    if i is None or i.opcode in ("and", "or", "xor", "not"):
        sources = () if i is None else i.operands[1:]
        return any(_bounds(code, s) for s in sources if isinstance(s, Register))
    return i.opcode == "setp" and bool(BY_SIZE & {*i.modifiers})


def _reached(code: ReportedCode, first: int, without: int) -> set[int]:
    """The basic blocks that can be reached from ``first``, which is one, but not by ``without``."""
    waiting, seen = [first], set[int]()
    while waiting:
        block = waiting.pop()
        if block != without and block not in seen:
            seen.add(block)
            waiting += code.blocks[block].successors
    return seen


def in_loop(code: ReportedCode, number: int) -> set[int]:
    """The basic blocks of the loops around basic block ``number``, none for one outside a loop."""
    after = set().union(*(_reached(code, s, -1) for s in code.blocks[number].successors))
    return {n for n in after if number in _reached(code, n, -1)}


def never_changes(code: ReportedCode, number: int) -> bool:
    """Whether basic block ``number`` is in a loop that can't end: nothing that its conditions
    depend on changes in it, and it waits for no thread."""
    steps = [step for n in in_loop(code, number) for step in code.blocks[n].decoded]
    for step in steps:
        if traits_of(step.instruction).barrier or step.instruction.opcode in ENDS | GATHERS.keys():
            return False
    guards = {g.slot for step in steps if (g := step.instruction.guard) is not None}
    return bool(steps) and not guards & _varying(steps)


def _varying(steps: list[ReportedStep]) -> set[int]:
    """The registers that may hold another value each time that the instructions of a loop run."""
    written = Counter(slot for step in steps for slot in step.writes)
    varying = set(written)
    while True:
        fixed = {
            slot
            for step in steps
            for slot in step.writes
            if written[slot] == 1 and not step.reads & varying and _repeats(step.instruction)
        }
        if not fixed & varying:
            return varying
        varying -= fixed


def _repeats(i: Instruction) -> bool:
    """Whether an instruction always gives the same result for the same operands."""
    if i.opcode not in TABLE and i.opcode not in COPIES:
        return False
    return not any("clock" in str(o) or "timer" in str(o) for o in i.operands)


def read_before(code: ReportedCode, number: int) -> str:
    """The variable that the condition of the loop around basic block ``number`` was computed from,
    by a single read before the loop, "" where there is none with a name."""
    loop = in_loop(code, number)
    guards = [
        guard
        for n, block in enumerate(code.blocks)
        if loop & {n, *block.successors} and (guard := block.instructions[-1].guard) is not None
    ]
    for guard in guards:
        decides = setter(code, guard)
        for operand in () if decides is None else decides.operands[1:]:
            load = setter(code, operand) if isinstance(operand, Register) else None
            place = load.operands[1] if load is not None and _reads(load) else None
            if isinstance(place, Address) and isinstance(place.base, Symbol):
                return readable_name(place.base.name)
    return ""
