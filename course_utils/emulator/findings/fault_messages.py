"""Words for what went wrong."""

from __future__ import annotations

from ..isa import ptx
from .causes import Cause
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
    ReportedArrays,
    ReportedBatch,
    ReportedCode,
    ReportedGroup,
)
from .wording import at_line, plural, where

ONLY_SLOW = " If it does, let the emulator do less: try a smaller size."
UNSIGNED = 2**32  # values of an unsigned index
MOST_BELOW = 2**20


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
    thread, block = batch.who(group.lanes[position])
    verb = "updates" if site.is_atomic else "writes" if site.is_store else "reads"
    who = where(thread, block)
    at = at_line(i.location)
    size = plural(site.bytes, "byte")
    space = site.space if site.space in ("shared", "local") else "global"
    name: str | None
    index: int | None
    if region is not None and address % site.bytes:
        index = (address - region.start) // site.width
        text = (
            f"Misaligned access: {who} {verb} {size} at once{at}, {address - region.start} bytes "
            f"into {region.name}. An access of {size} must start at a multiple of {site.bytes}."
        )
        kind, name, past = MISALIGNED, region.name, 0
        cause = Cause.ADDRESS_MISALIGNED
    elif region is not None and address + site.bytes <= region.end:
        index, past = (address - region.start) // site.width, 0
        text = f"Write to read-only memory: {who} writes {size} to {region.name}{at}."
        kind, name, cause = OUT_OF_BOUNDS, region.name, Cause.READ_ONLY_MEMORY
    elif 0 <= address < 4096 or address >= 2**64 - 4096:
        text = (
            f"Null pointer: {who} {verb} {size} through a pointer that is NULL{at}. Was the "
            "array passed to the kernel, and has it any elements?"
        )
        kind, name, index, past = NULL_POINTER, None, None, 0
        cause = Cause.NULL_POINTER
    elif region is None and (freed := batch.freed_at(address)) is not None:
        index, name, past = (address - freed[0]) // site.width, freed[1], 0
        text = f"Use after free: {who} {verb} {name}[{index}]{at}, which was freed before."
        kind, cause = USE_AFTER_FREE, Cause.ARRAY_FREED
    else:
        text, name, index, past = _outside(batch, site, address, region, who, verb, at, space)
        kind, cause = OUT_OF_BOUNDS, Cause.OUTSIDE_ARRAY
    finding = Finding(kind, text, i.location, thread, block, name, index, past, cause=cause)
    return KernelFault(finding)


def free_fault(
    batch: ReportedBatch, lane: int, instruction: ptx.Instruction, address: int
) -> KernelFault:
    """free() of what malloc() did not give, or no longer."""
    thread, block = batch.who(lane)
    gone = batch.freed_at(address) is not None
    why = "has been freed already" if gone else "does not come from malloc"
    at = at_line(instruction.location)
    text = f"Use after free: {where(thread, block)} frees an address{at} that {why}."
    cause = Cause.FREED_TWICE if gone else Cause.NOT_FROM_MALLOC
    return KernelFault(
        Finding(USE_AFTER_FREE, text, instruction.location, thread, block, cause=cause)
    )


def _outside(
    batch: ReportedBatch,
    site: ReportedAccess,
    address: int,
    region: ReportedArray | None,
    who: str,
    verb: str,
    at: str,
    space: str,
) -> tuple[str, str | None, int | None, int]:
    """(text, the nearest array, the index in it, elements past its end)."""
    regions = batch.regions_of(address)
    near = _nearest(regions, address, region)
    # An index below 0 that has become unsigned: meant is the array that it lies just before.
    meant = _nearest(regions, address - UNSIGNED * site.width)
    if meant is not None and _is_wrapped((address - meant.start) // site.width):
        near = meant
    if near is None or min(abs(address - near.end), abs(near.start - address)) > 1 << 40:
        text = f"Out of bounds: {who} {verb} address {address:#x}{at}, where no array lies."
        return text, None, None, 0
    width = site.width
    index = (address - near.start) // width
    count = near.size // width
    past = max(0, index - count + 1)
    if index < 0:
        distance = f"{plural(-index, 'element')} before its start"
    elif past:
        distance = f"{plural(past, 'element')} past its end"
    else:
        distance = "across its end"
    kind = f" in {space} memory" if space != "global" else ""
    unit = f" of {plural(width, 'byte')}" if site.bytes > width else ""
    text = (
        f"Out of bounds: {who} {verb} {near.name}[{index}]{kind}{at}, {distance}: "
        f"{near.name} has {plural(count, 'element')}{unit}."
    )
    if _is_wrapped(index):
        text += f" ({index} is what becomes of {index - UNSIGNED} in an unsigned index.)"
    return text, near.name, index, past


def _nearest(
    regions: ReportedArrays | None, address: int, inside: ReportedArray | None = None
) -> ReportedArray | None:
    """The region that ends or begins nearest to an address; ``inside``: one that it lies in."""
    below = inside or (regions.below(address) if regions else None)
    above = regions.above(address) if regions else None
    if above is not None and (below is None or above.start - address < address - below.end):
        return above
    return below


def _is_wrapped(index: int) -> bool:
    return -MOST_BELOW <= index - UNSIGNED < 0


def endless_loop(
    batch: ReportedBatch, group: ReportedGroup, *, recursion: bool = False
) -> KernelFault:
    """A launch that has run its budget of instructions, or a function that calls itself."""
    location = group.code.blocks[group.block].instructions[0].location
    thread, block = batch.who(group.lanes[0])
    cause, what, more = Cause.STEP_BUDGET_EXCEEDED, "is still running after", ONLY_SLOW
    what += f" {batch.budget:,} instructions"
    if recursion:
        cause, more = Cause.ENDLESS_RECURSION, ""
        what = "calls itself without end: the stack is full"
    text = (
        f"Endless loop: the kernel {what}; {where(thread, block)} is{at_line(location)}. "
        f"Does the condition of that loop ever become false?{more}"
    )
    return KernelFault(Finding(ENDLESS_LOOP, text, location, thread, block, cause=cause))


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
    """Something that the machine itself did not expect; or PTX that it cannot make out."""
    location = None if instruction is None else instruction.location
    what = "" if instruction is None else f"\n  {instruction.text}"
    thread, block = (None, None) if group is None else group.batch.who(group.lanes[0])
    kind, cause = EMULATOR_ERROR, Cause.EMULATOR_ERROR
    text = f"{type(error).__name__}: {error}"
    blame = "This is a mistake of the emulator and no sign of one in the kernel:"
    if isinstance(error, ptx.PtxError):
        kind, cause = UNKNOWN_INSTRUCTION, Cause.UNKNOWN_INSTRUCTION
        text, blame = str(error), "If an assembler takes it,"
    text = f"{kind.capitalize()}{at_line(location)}: {text}.{what}\n{blame} {PLEASE_REPORT}."
    return KernelFault(Finding(kind, text, location, thread, block, cause=cause))
