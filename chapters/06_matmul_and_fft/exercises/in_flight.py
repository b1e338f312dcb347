"""What is on its way from global memory while a kernel computes: for exercises on pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from course_utils.emulator.machine.ptx import Address, OperandList, Register
from course_utils.exercises.means import WorkDone

ENOUGH = 0.05  # of all FMAs, between a load and the store of what it loaded


def prefetched(work: WorkDone) -> float:
    """The part of the loads from global memory that FMAs stand behind, before the value is stored.

    The emulator has no latencies, so this follows the registers through the text of the kernel,
    twice: a value may be stored in the next turn of the loop. Copies by ``cp.async`` that are in
    flight during the FMAs are as good.
    """
    launch = work.launches[0]
    if launch.work.overlapped > launch.work.flops / 2:
        return 1.0
    found = launch.instructions
    total = max(sum(i.threads for i in found if i.instruction.opcode == "fma"), 1)
    made = 0  # FMAs so far
    loaded: dict[int, tuple[int, int]] = {}  # slot of a register: which load, and `made` by then
    early: dict[int, bool] = {}  # which load: is it in flight during enough of the FMAs?
    for number, counts in [*enumerate(found), *enumerate(found)]:
        instruction = counts.instruction
        if instruction.opcode == "fma":
            made += counts.threads
        if instruction.opcode == "st":
            for load, then in _of(instruction.operands, loaded):
                early.setdefault(load, made - then > ENOUGH * total)
            continue
        written = {r.slot for r in _registers(instruction.operands[:1])}
        value = (number, made) if _is_load(instruction) else None
        if value is None and instruction.opcode != "fma":  # moved, selected, converted, ...
            value = max(_of(instruction.operands[1:], loaded), default=None)
        for slot in written:
            loaded.pop(slot, None)
            if value is not None:
                loaded[slot] = value
    threads = {load: found[load].threads for load in early}
    return sum(threads[load] for load in early if early[load]) / max(sum(threads.values()), 1)


def steps_in_flight(steps: int) -> Callable[[WorkDone], float]:
    """How many steps' ``cp.async`` are in flight at a FLOP, where K has so many ``steps``."""

    def measure(work: WorkDone) -> float:
        done = work.launches[0].work
        copies = work.opcodes("cp.async.ca.", "cp.async.cg.") / len(done.instructions) / steps
        return done.awaited / max(done.flops, 1) / max(copies, 1)

    return measure


def _is_load(instruction: Any) -> bool:
    others = {"shared", "param", "const", "local"}
    return instruction.opcode == "ld" and others.isdisjoint(instruction.modifiers)


def _registers(operands: Any) -> Iterator[Register]:
    for operand in operands:
        if isinstance(operand, Register):
            yield operand
        elif isinstance(operand, OperandList):
            yield from _registers(operand.items)
        elif isinstance(operand, Address):
            yield from _registers((operand.base,))


def _of(operands: Any, loaded: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    return [loaded[r.slot] for r in _registers(operands) if r.slot in loaded]
