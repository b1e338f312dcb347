"""Words for what went wrong."""

from __future__ import annotations

from ..isa import ptx
from ..isa.instruction_set import traits_of
from .causes import Cause
from .report import (
    BARRIER,
    DEADLOCK,
    EMULATOR_ERROR,
    ENDLESS_LOOP,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    PLEASE_REPORT,
    TENSOR_MEMORY,
    UNKNOWN_INSTRUCTION,
    USE_AFTER_FREE,
    Finding,
    KernelFault,
)

ONLY_SLOW = " If it does, let the emulator do less: try a smaller size."
UNSIGNED = 2**32  # values of an unsigned index
MOST_BELOW = 2**20


def where(thread, block) -> str:
    return f"thread {_xyz(thread)} of block {_xyz(block)}"


def _xyz(index) -> str:
    return "({}, {}, {})".format(*index)


def _at(location) -> str:
    return f" at {location}" if location else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def access_fault(batch, site, group, position: int, address: int, region) -> KernelFault:
    """Why one lane may not make an access of ``site.bytes`` bytes at a generic address."""
    i = site.instruction
    thread, block = batch.who(group.lanes[position])
    verb = "updates" if site.is_atomic else "writes" if site.is_store else "reads"
    who = where(thread, block)
    at = _at(i.location)
    size = _plural(site.bytes, "byte")
    space = site.space if site.space in ("shared", "local") else "global"
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


def free_fault(batch, lane: int, instruction, address: int) -> KernelFault:
    """free() of what malloc() did not give, or no longer."""
    thread, block = batch.who(lane)
    gone = batch.freed_at(address) is not None
    why = "has been freed already" if gone else "does not come from malloc"
    text = (
        f"Use after free: {where(thread, block)} frees an address{_at(instruction.location)} that "
        f"{why}."
    )
    cause = Cause.FREED_TWICE if gone else Cause.NOT_FROM_MALLOC
    return KernelFault(
        Finding(USE_AFTER_FREE, text, instruction.location, thread, block, cause=cause)
    )


def _outside(batch, site, address: int, region, who, verb, at, space):
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
        distance = f"{_plural(-index, 'element')} before its start"
    elif past:
        distance = f"{_plural(past, 'element')} past its end"
    else:
        distance = "across its end"
    kind = f" in {space} memory" if space != "global" else ""
    unit = f" of {_plural(width, 'byte')}" if site.bytes > width else ""
    text = (
        f"Out of bounds: {who} {verb} {near.name}[{index}]{kind}{at}, {distance}: "
        f"{near.name} has {_plural(count, 'element')}{unit}."
    )
    if _is_wrapped(index):
        text += f" ({index} is what becomes of {index - UNSIGNED} in an unsigned index.)"
    return text, near.name, index, past


def _nearest(regions, address: int, inside=None):
    """The region that ends or begins nearest to an address; ``inside``: one that it lies in."""
    below = inside or (regions.below(address) if regions else None)
    above = regions.above(address) if regions else None
    if above is not None and (below is None or above.start - address < address - below.end):
        return above
    return below


def _is_wrapped(index: int) -> bool:
    return -MOST_BELOW <= index - UNSIGNED < 0


def endless_loop(batch, group, *, recursion: bool = False) -> KernelFault:
    """A launch that has run its budget of instructions, or a function that calls itself."""
    location = group.code.blocks[group.block].instructions[0].location
    thread, block = batch.who(group.lanes[0])
    cause, what, more = Cause.STEP_BUDGET_EXCEEDED, "is still running after", ONLY_SLOW
    what += f" {batch.budget:,} instructions"
    if recursion:
        cause, more = Cause.ENDLESS_RECURSION, ""
        what = "calls itself without end: the stack is full"
    text = (
        f"Endless loop: the kernel {what}; {where(thread, block)} is{_at(location)}. "
        f"Does the condition of that loop ever become false?{more}"
    )
    return KernelFault(Finding(ENDLESS_LOOP, text, location, thread, block, cause=cause))


def unknown_register(code, name: str) -> KernelFault:
    """A special register that the machine does not have, at the first instruction that asks."""
    asks = (i for b in code.blocks for i in b.instructions if ptx.Special(name) in i.operands)
    location = next((i.location for i in asks), None)
    where_ = f" ({location})" if location else ""
    text = f"The emulator does not know the special register %{name}{where_}."
    cause = Cause.UNKNOWN_INSTRUCTION
    return KernelFault(Finding(UNKNOWN_INSTRUCTION, text, location, cause=cause))


def emulator_error(error: Exception, instruction=None, group=None) -> KernelFault:
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
    text = f"{kind.capitalize()}{_at(location)}: {text}.{what}\n{blame} {PLEASE_REPORT}."
    return KernelFault(Finding(kind, text, location, thread, block, cause=cause))


BARRIER_MISSED = {
    "block": "Barrier misuse: __syncthreads() stands where only some threads of a warp come by. "
    "Every thread of the block must reach the same barrier.",
    "warp": "Barrier misuse: __syncwarp() stands where only some of the threads that its mask "
    "names come by. Each of them must reach it.",
}


def deadlock(batch) -> KernelFault:
    """Every lane waits: at a barrier that cannot complete, or for lanes of its own warp."""
    stalled = list(batch.groups)
    parked = list(batch.barriers.parked())
    others = {number for group in stalled for number in group.warps.tolist()}
    # Lanes that wait for an mbarrier have not missed the barrier of their warp: they are the cause.
    held = [g for g in parked if batch.engine.why(g) and others & {*g.warps.tolist()}]
    lines = []
    for group in [*held, *stalled, *(g for g in parked if g not in held)]:
        at_barrier = group in parked
        block = group.code.blocks[group.block]
        location = batch.barriers.site_of(group) if at_barrier else block.instructions[0].location
        for number in group.warps[:8].tolist():
            lane = int(group.lanes[group.lanes >> 5 == number][0])
            count = int((group.lanes >> 5 == number).sum())
            slot, rest = divmod(number, batch.lanes_per_block // 32)
            lines.append(
                f"  warp {rest} of block {_xyz(batch.block_index(batch.first + slot))}: "
                f"{_plural(count, 'thread')} waiting{_at(location)}"
                f"{batch.engine.why(group) if at_barrier else ''}, first {where(*batch.who(lane))}"
            )
        if len(group.warps) > 8:
            lines.append(f"  and {len(group.warps) - 8} more warps at the same line")
    lines += [f"  {account}" for account in batch.engine.accounts()]
    first = (held or stalled or parked)[0]
    thread, block_index = batch.who(first.lanes[0])
    location = (
        batch.barriers.site_of(first)
        if first in parked
        else first.code.blocks[first.block].instructions[0].location
    )
    first_stalled = stalled[0].code.blocks[stalled[0].block].instructions[0] if stalled else None
    split = traits_of(first_stalled).barrier if first_stalled is not None else ""
    if split and not held:
        kind = BARRIER
        head = BARRIER_MISSED["warp" if split == "warp" else "block"]
        warp = split == "warp"
        cause = Cause.SYNCWARP_NOT_REACHED if warp else Cause.BARRIER_NOT_REACHED
    elif first_stalled is not None and first_stalled.opcode == "tcgen05" and not held:
        kind, cause = TENSOR_MEMORY, Cause.WARP_INCOMPLETE
        head = f"Tensor memory misuse: tcgen05.{first_stalled.modifiers[0]} stands where only some "
        head += "threads of a warp come by. It is .sync.aligned: all of them execute it together."
    elif any(group.code.blocks[group.block].warpgroup for group in stalled) and not held:
        kind, cause = BARRIER, Cause.WARPGROUP_INCOMPLETE
        head = "Barrier misuse: a wgmma is for the four warps of a warpgroup together, at one "
        head += "place in the code, and some of them wait elsewhere."
    else:
        kind, head = DEADLOCK, "Deadlock: every thread waits, and nobody is left to release them."
        cause = next(filter(None, map(batch.engine.cause, parked)), Cause.NEVER_RELEASED)
    text = "\n".join([head, *lines])
    return KernelFault(Finding(kind, text, location, thread, block_index, cause=cause))
