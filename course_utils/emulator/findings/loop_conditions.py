"""Loops: which basic blocks they have, and whether what they wait for can change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..isa.instruction_set import GATHERS, TABLE, traits_of
from ..isa.ptx import Address, Immediate, Instruction, Register, Symbol
from ..isa.symbols import readable_name
from .origins import COPIES, in_loop, reads_variable, setter
from .reported_state import ReportedBlock, ReportedCode, ReportedStep

WAITING = {"ld", "ldu", "bra", "fence", "membar", "nanosleep"}  # opcodes of a loop that waits
MAY_WAIT = {"atom", "fence", "membar", "nanosleep"}  # opcodes that show that a loop may wait
ATOMICALLY = {"volatile", "relaxed", "acquire", "mmio"}  # how a load reads another thread's store
ENDS = {"brx", "call", "ret", "exit", "trap"}


def never_changes(code: ReportedCode, number: int) -> bool:
    """Whether basic block ``number`` is in a loop that can't end: nothing that its conditions
    depend on changes in it, and it waits for no thread."""
    steps = _steps_of_loop(code, number)
    for step in steps:
        if traits_of(step.instruction).barrier or step.instruction.opcode in ENDS | GATHERS.keys():
            return False
    guards = {g.slot for step in steps if (g := step.instruction.guard) is not None}
    return bool(steps) and not guards & _varying(steps)


def changing(code: ReportedCode, number: int) -> set[int]:
    """The registers that the loops around basic block ``number`` may give another value."""
    return _varying(_steps_of_loop(code, number))


def _steps_of_loop(code: ReportedCode, number: int) -> list[ReportedStep]:
    return [step for n in in_loop(code, number) for step in code.blocks[n].decoded]


def only_waits(blocks: Iterable[ReportedBlock]) -> bool:
    """Whether all that some basic blocks do, run again and again, is to read memory: they write
    nothing, and come to the same branches as long as memory stays as it is."""
    blocks = list(blocks)
    steps = [step for block in blocks for step in block.decoded]
    reads = False
    for i in (i for block in blocks for i in block.instructions):
        traits = traits_of(i)
        if traits.barrier or i.opcode in ENDS | GATHERS.keys():
            return False
        if traits.memory not in ("", "load") and not _keeps_memory(i):
            return False
        reads |= reads_variable(i) or i.opcode == "atom"
    guards = {i.guard.slot for b in blocks for i in b.instructions if i.guard is not None}
    return reads and not guards & _varying(steps, same_memory=True)


def leaves_memory(blocks: Iterable[ReportedBlock]) -> bool:
    """Whether instructions of basic blocks depend on nothing but registers and memory, and leave
    memory as it is: no barrier, no clock, no warp function."""
    return all(
        i.opcode in WAITING
        or _repeats(i)
        or (i.opcode == "atom" and "cas" not in i.modifiers and _keeps_memory(i))
        for block in blocks
        for i in block.instructions
    )


def may_wait(blocks: Iterable[ReportedBlock]) -> bool:
    """Whether an instruction of basic blocks reads memory that another thread may write at any
    time. With an ordinary load that would be a data race."""
    return any(
        i.opcode in MAY_WAIT or (reads_variable(i) and bool(ATOMICALLY & {*i.modifiers}))
        for block in blocks
        for i in block.instructions
    )


def _keeps_memory(i: Instruction) -> bool:
    """Whether an atomic changes nothing, or would end the loop that waits for it: it adds 0, or
    compares and swaps."""
    added = i.operands[2] if len(i.operands) > 2 else None
    zero = isinstance(added, Immediate) and added.value == 0
    return i.opcode == "atom" and (
        "cas" in i.modifiers or (zero and bool({"add", "or"} & {*i.modifiers}))
    )


def _varying(steps: list[ReportedStep], *, same_memory: bool = False) -> set[int]:
    """The registers that may hold another value each time that the instructions of a loop run.
    ``same_memory``: if memory does not change."""
    written = Counter(slot for step in steps for slot in step.writes)
    varying = set(written)
    while True:
        fixed = {
            slot
            for step in steps
            for slot in step.writes
            if written[slot] == 1
            and not step.reads & varying
            and (_repeats(i := step.instruction) or (same_memory and i.opcode in ("ld", "atom")))
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
            place = load.operands[1] if load is not None and reads_variable(load) else None
            if isinstance(place, Address) and isinstance(place.base, Symbol):
                return readable_name(place.base.name)
    return ""
