"""Faults as the reader sees them."""

from __future__ import annotations

from ..isa import ptx
from .awaited_values import awaited, keeps_expecting
from .causes import Cause
from .loop_conditions import never_changes, read_before
from .outside import explain
from .report import (
    EMULATOR_ERROR,
    ENDLESS_LOOP,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    PLEASE_REPORT,
    UNKNOWN_INSTRUCTION,
    USE_AFTER_FREE,
    Finding,
    KernelFault,
)
from .reported_state import (
    ReportedAccess,
    ReportedArray,
    ReportedBatch,
    ReportedCode,
    ReportedGroup,
)
from .wording import at_line, plural, where

ONLY_SLOW = " If it does, let the emulator do less: try a smaller size."
EXPECTS_THE_SAME = (
    "The loop ends when the compare-and-swap returns the value that it expects, and nothing in the "
    "loop changes that value: once another thread has stored a different one, it never comes."
)


def access_fault(
    batch: ReportedBatch,
    site: ReportedAccess,
    group: ReportedGroup,
    position: int,
    address: int,
    region: ReportedArray | None,
) -> KernelFault:
    """Why one lane may not make an access of ``site.bytes`` bytes at a generic address."""
    i = site.instruction
    thread, block = batch.thread_and_block(group.lanes[position])
    verb = "updates" if site.is_atomic else "writes" if site.is_store else "reads"
    who = where(thread, block)
    at = at_line(i.location)
    size = plural(site.bytes, "byte")
    name: str | None
    index: int | None
    if region is not None and address % site.bytes:
        index = (address - region.start) // site.width
        text = (
            f"Misaligned access: {who} {verb} {size} at once{at}, {address - region.start} bytes "
            f"into {region.name}. An access of {size} must start at a multiple of {site.bytes}."
        )
        kind, name = MISALIGNED, region.name
        several = site.bytes > site.width
        cause = Cause.VECTOR_MISALIGNED if several else Cause.ADDRESS_MISALIGNED
    elif region is not None and address + site.bytes <= region.end:
        index = (address - region.start) // site.width
        into = "of" if site.is_atomic else "to"
        text = f"Write to read-only memory: {who} {verb} {size} {into} {region.name}{at}."
        kind, name, cause = OUT_OF_BOUNDS, region.name, Cause.READ_ONLY_MEMORY
    elif 0 <= address < 4096 or address >= 2**64 - 4096:
        text = (
            f"Null pointer: {who} {verb} {size} through a pointer that is NULL{at}. Was the "
            "array passed to the kernel, and has it any elements?"
        )
        kind, name, index = NULL_POINTER, None, None
        cause = Cause.NULL_POINTER
    elif region is None and (freed := batch.memory.freed_at(address)) is not None:
        index, name = (address - freed[0]) // site.width, freed[1]
        text = f"Use after free: {who} {verb} {name}[{index}]{at}, which was freed before."
        kind, cause = USE_AFTER_FREE, Cause.ARRAY_FREED
    else:
        lane = group.lanes[position]
        own = (*batch.thread_in_grid(lane), *block)
        miss = explain(batch, site, group, address, region, at, own)
        return KernelFault(
            Finding(
                OUT_OF_BOUNDS,
                f"Out of bounds: {who} {verb} {miss.text}",
                i.location,
                thread,
                block,
                miss.array,
                miss.index,
                miss.past,
                cause=miss.cause,
                meant=miss.meant,
                condition=miss.condition,
                index_from=miss.index_from,
            )
        )
    finding = Finding(kind, text, i.location, thread, block, name, index, cause=cause)
    return KernelFault(finding)


def free_fault(
    batch: ReportedBatch, lane: int, instruction: ptx.Instruction, address: int
) -> KernelFault:
    """free() of an address that malloc() didn't return, or that was freed before."""
    thread, block = batch.thread_and_block(lane)
    gone = batch.memory.freed_at(address) is not None
    why = "has been freed already" if gone else "does not come from malloc"
    at = at_line(instruction.location)
    text = f"Use after free: {where(thread, block)} frees an address{at} that {why}."
    cause = Cause.FREED_TWICE if gone else Cause.NOT_FROM_MALLOC
    return KernelFault(
        Finding(USE_AFTER_FREE, text, instruction.location, thread, block, cause=cause)
    )


def endless_loop(
    batch: ReportedBatch,
    group: ReportedGroup,
    *,
    recursion: bool = False,
    repeats: bool = False,
) -> KernelFault:
    """A launch that has run its budget of instructions, or a function that calls itself. Of threads
    in loops it tells of one that waits for a number which has gone past. ``repeats``: all threads
    that run have the values that they had before."""
    pair, swaps = None, False
    if not recursion:
        waiting = [(g, awaited(g), keeps_expecting(g)) for g in (group, *batch.scheduler.waiting())]
        unequal = [(g, pair, swaps) for g, pair, swaps in waiting if pair and pair[0] != pair[1]]
        passed = [one for one in unequal if not one[2] and one[1][0] > one[1][1]]
        swapping = [one for one in unequal if one[2]]
        group, pair, swaps = [*passed, *swapping, waiting[0]][0]
    location = group.code.blocks[group.block].instructions[0].location
    thread, block = batch.thread_and_block(group.lanes[0])
    cause, array = Cause.STEP_BUDGET_EXCEEDED, None
    ran = min(batch.scheduler.issued, batch.scheduler.budget)
    what = f"is still running after {ran:,} instructions"
    why = f"Does the condition of that loop ever become false?{ONLY_SLOW}"
    if recursion:
        cause, why = Cause.ENDLESS_RECURSION, "Does every path through it end?"
        what = "calls itself without end: the stack is full"
    elif pair is not None and pair[0] != pair[1] and swaps:
        cause, why = Cause.EXPECTED_NOT_RENEWED, EXPECTS_THE_SAME
    elif pair is not None and pair[0] != pair[1]:
        read, wanted = pair
        why = f"The loop ends when two values are equal: it reads {read} and waits for {wanted}."
        if read > wanted:
            cause, why = Cause.COUNTER_PASSED, f"{why} It has gone past."
    elif never_changes(group.code, group.block):
        cause, array = Cause.CONDITION_NEVER_CHANGES, read_before(group.code, group.block) or None
        variable, name = (array, array) if array else ("its variable", "it")
        why = (
            "Nothing in that loop changes its condition.\n  If it waits for another thread, the "
            f"compiler has read {variable} once, before the loop: declare {name} volatile,\n"
            "  or read it with an atomic."
        )
    elif repeats:
        why = (
            "After some rounds of that loop its variables have the values that they had before, "
            "and no thread changes the memory that it reads: it never ends."
        )
    if repeats and cause is Cause.STEP_BUDGET_EXCEEDED:
        cause = Cause.VALUES_COME_BACK
    text = (
        f"Endless loop: the kernel {what}. {where(thread, block).capitalize()} "
        f"is{at_line(location)}. {why}"
    )
    return KernelFault(Finding(ENDLESS_LOOP, text, location, thread, block, array, cause=cause))


def unknown_register(code: ReportedCode, name: str) -> KernelFault:
    """A special register that the machine does not have, at the first instruction that asks."""
    asks = (i for b in code.blocks for i in b.instructions if ptx.Special(name) in i.operands)
    location = next((i.location for i in asks), None)
    where_ = f" ({location})" if location else ""
    text = f"The emulator does not know the special register %{name}{where_}."
    cause = Cause.UNKNOWN_INSTRUCTION
    return KernelFault(Finding(UNKNOWN_INSTRUCTION, text, location, cause=cause))


def emulator_error(
    error: Exception,
    instruction: ptx.Instruction | None = None,
    group: ReportedGroup | None = None,
) -> KernelFault:
    """An error of the machine itself, or PTX that it can't read."""
    location = None if instruction is None else instruction.location
    what = "" if instruction is None else f"\n  {instruction.text}"
    thread, block = (None, None) if group is None else group.batch.thread_and_block(group.lanes[0])
    kind, cause = EMULATOR_ERROR, Cause.EMULATOR_ERROR
    text = f"{type(error).__name__}: {error}"
    blame = "This is a mistake of the emulator and no sign of one in the kernel:"
    if isinstance(error, ptx.PtxError):
        kind, cause = UNKNOWN_INSTRUCTION, Cause.UNKNOWN_INSTRUCTION
        text, blame = str(error), "If an assembler takes it,"
    text = f"{kind.capitalize()}{at_line(location)}: {text}.{what}\n{blame} {PLEASE_REPORT}."
    return KernelFault(Finding(kind, text, location, thread, block, cause=cause))
