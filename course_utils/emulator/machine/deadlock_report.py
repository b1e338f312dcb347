"""Words for a deadlock: which lanes wait, and for which barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings.causes import Cause
from ..findings.report import BARRIER, DEADLOCK, TENSOR_MEMORY, Finding, KernelFault
from ..findings.wording import at_line, plural, where, xyz
from ..isa.instruction_set import traits_of

if TYPE_CHECKING:
    from .async_proxy import AsyncEngine
    from .async_state import MBarrier
    from .batch import Batch
    from .lanes import Group

MOST_ACCOUNTS = 4  # mbarriers whose bytes a report lists
BARRIER_MISSED = {
    "block": "Barrier misuse: __syncthreads() stands where only some threads of a warp come by. "
    "Every thread of the block must reach the same barrier.",
    "warp": "Barrier misuse: __syncwarp() stands where only some of the threads that its mask "
    "names come by. Each of them must reach it.",
}


def deadlock(batch: Batch) -> KernelFault:
    """Every lane waits: at a barrier that cannot complete, or for other lanes of its warp."""
    stalled = list(batch.groups)
    parked = list(batch.barriers.parked())
    others = {number for group in stalled for number in group.warps.tolist()}
    # Lanes that wait for an mbarrier have not missed the barrier of their warp: they are the cause.
    held = [g for g in parked if _why(batch.engine, g) and others & {*g.warps.tolist()}]
    lines = []
    for group in [*held, *stalled, *(g for g in parked if g not in held)]:
        at_barrier = group in parked
        block = group.code.blocks[group.block]
        location = batch.barriers.site_of(group) if at_barrier else block.instructions[0].location
        for number in group.warps[:8].tolist():
            lane = int(group.lanes[group.lanes >> 5 == number][0])
            count = int((group.lanes >> 5 == number).sum())
            slot, rest = divmod(number, batch.lanes_per_block // 32)
            why = _why(batch.engine, group) if at_barrier else ""
            lines.append(
                f"  warp {rest} of block {xyz(batch.block_index(batch.first + slot))}: "
                f"{plural(count, 'thread')} waiting{at_line(location)}"
                f"{why}, first {where(*batch.who(lane))}"
            )
        if len(group.warps) > 8:
            lines.append(f"  and {len(group.warps) - 8} more warps at the same line")
    lines += [f"  {account}" for account in _accounts(batch.engine)]
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
        kind, head = DEADLOCK, "Deadlock: every thread waits, and none is left to release them."
        cause = next(filter(None, (_cause(batch.engine, g) for g in parked)), Cause.NEVER_RELEASED)
    text = "\n".join([head, *lines])
    return KernelFault(Finding(kind, text, location, thread, block_index, cause=cause))


def _why(engine: AsyncEngine, group: Group) -> str:
    """The mbarrier or the columns that a parked group waits for, in words."""
    if b := _awaited(engine, group):
        missing = [f"{b.pending} of {b.expected} arrivals"] if b.pending else []
        if b.tx > 0:
            missing.append(f"{b.tx} more bytes")
        if b.tx < 0:
            missing.append(f"{-b.tx} bytes that came and were not expected")
        return f" for {engine.name(b.key)} (missing: {' and '.join(missing)})"
    memory = engine.batch.tensor_memory
    return memory.why(group) if memory is not None else ""


def _cause(engine: AsyncEngine, group: Group) -> Cause | None:
    """Why a parked group waits for ever, if it waits for an mbarrier."""
    if barrier := _awaited(engine, group):
        if barrier.pending:
            return Cause.MBARRIER_ARRIVALS_MISSING
        more = barrier.tx > 0
        return Cause.MBARRIER_BYTES_MISSING if more else Cause.MBARRIER_BYTES_UNEXPECTED
    return None


def _awaited(engine: AsyncEngine, group: Group) -> MBarrier | None:
    """The mbarrier that a parked group waits for."""
    keys = (int(wait.keys[0]) for wait in engine.waits if wait.group is group)
    return next((engine.barriers[key] for key in keys if key in engine.barriers), None)


def _accounts(engine: AsyncEngine) -> list[str]:
    """For each mbarrier that waits for bytes: the bytes expected, and the bytes that arrived."""
    keys = dict.fromkeys(int(key) for wait in engine.waits for key in wait.keys[:1])
    uneven = [b for key in keys if (b := engine.barriers.get(key)) and b.tx]
    return [f"of {engine.name(b.key)}: {engine.so_far(b)}" for b in uneven[:MOST_ACCOUNTS]]
