"""Copies in flight from global memory while a kernel computes: for exercises on pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from course_utils.emulator import Address, Counts, OperandList, Register, Symbol
from course_utils.exercises.authoring.method import LaunchStats

ENOUGH = 0.05  # of all FMAs, between a load and the store of what it loaded
# One step along K, several, and a part of one.
ANY_STEPS = (
    (1, 1, 1),
    (64, 64, 8),
    (65, 3, 9),
    (4, 70, 8),
    (3, 130, 24),
    (33, 65, 17),
    (7, 5, 25),
    (2, 3, 137),
    (5, 67, 32),
    (2, 5, 0),
)
ONE_BLOCK = 64, 64, 32
PAIR = 2 * 64 * 8 * 4  # bytes of two tiles, and rows may be padded


def barriers_a_step(size: tuple[int, int, int]) -> Callable[[Counts], float]:
    """Barriers for each of the steps along K of a block of two warps, at 64 x 64 x K."""
    return lambda counts: counts.barriers / (2 * size[2] // 8)


def prefetched(stats: LaunchStats) -> float:
    """The part of the loads from global memory that FMAs stand behind, before the value is stored.

    The emulator has no latencies, so this follows the registers through the text of the kernel.
    Copies by ``cp.async`` that are in flight during the FMAs are as good.
    """
    launch = stats.launches[0]
    if stats.threads[0].overlapped > stats.threads[0].flops / 2:
        return 1.0
    threads = {id(i.instruction): i.threads for i in launch.instructions}
    text = launch.instructions[0].instruction.scope.function.instructions
    total = max(sum(threads.get(id(i), 0) for i in text if i.opcode == "fma"), 1)
    made = 0  # FMAs so far
    loaded: dict[int, tuple[int, int]] = {}  # slot of a register: which load, and `made` by then
    early: dict[int, bool] = {}  # which load: is it in flight during enough of the FMAs?
    for number in _with_second_turns(text):
        instruction = text[number]
        if instruction.opcode == "fma":
            made += threads.get(id(instruction), 0)
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
    begun = {load: threads.get(id(text[load]), 0) for load in early}
    return sum(begun[load] for load in early if early[load]) / max(sum(begun.values()), 1)


def steps_in_flight(steps: int) -> Callable[[LaunchStats], float]:
    """How many steps' ``cp.async`` are in flight at a FLOP, where K has so many ``steps``."""

    def measure(stats: LaunchStats) -> float:
        done = stats.threads[0]
        copies = stats.opcodes("cp.async.ca.", "cp.async.cg.") / len(done.instructions) / steps
        return done.awaited / max(done.flops, 1) / max(copies, 1)

    return measure


def _with_second_turns(text: Sequence[Any]) -> Iterator[int]:
    """The numbers of the instructions, each loop's twice: a value may wait for the next turn."""
    for number, instruction in enumerate(text):
        yield number
        if instruction.opcode == "bra" and isinstance(instruction.operands[0], Symbol):
            target = instruction.scope.label(instruction.operands[0].name)
            if target is not None and target <= number:
                yield from range(target, number + 1)


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
