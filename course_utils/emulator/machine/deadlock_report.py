"""Reports a deadlock: the lanes that wait, and the barrier or the lanes that they wait for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from ..findings.causes import Cause
from ..findings.origins import branches_before
from ..findings.report import BARRIER, DEADLOCK, TENSOR_MEMORY, Finding, KernelFault
from ..findings.wording import DIFFERS, at_line, one_condition, plural, where, xyz
from ..isa.instruction_set import traits_of
from ..isa.location import Location
from ..isa.ptx import Instruction
from .missing_lanes import WARP_CALLS, call_of, lanes_in_words, missing

if TYPE_CHECKING:
    from .async_proxy import AsyncEngine
    from .async_state import MBarrier
    from .batch import Batch
    from .code import Code
    from .lanes import Group

MOST_WARPS = 4  # that wait at one place, with a line for each
MOST_ACCOUNTS = 4  # mbarriers whose bytes a report lists
NO_RELEASE = "Deadlock: every thread waits, and none is left to release them."
OF_WARPGROUP = (
    "Barrier misuse: the four warps of a warpgroup execute a wgmma together, and some of them wait "
    "elsewhere."
)


@dataclass(frozen=True)
class _Head:
    """The first line of a report: ``group`` is the one that it is about."""

    kind: str
    cause: Cause
    text: str
    group: Group
    absent: tuple[Location | None, int] | None = None  # where a lane waits that it waits for
    condition: Location | None = None  # that lets only some threads through


def deadlock(batch: Batch) -> KernelFault:
    """Every lane waits: at a barrier that cannot complete, or for other lanes of its warp."""
    stalled = sorted(batch.scheduler.groups, key=attrgetter("sort_key"))
    parked = list(batch.barriers.parked())
    others = {number for group in stalled for number in group.warps.tolist()}
    # Lanes that wait for an mbarrier have not missed the barrier of their warp: they are the cause.
    held = [g for g in parked if _why(batch.engine, g) and others & {*g.warps.tolist()}]
    head = _head_of_warp(batch, stalled, parked) if stalled and not held else None
    if head is None:
        causes = (_cause(batch.engine, g) for g in parked)
        cause = next(filter(None, causes), Cause.NEVER_RELEASED)
        head = _Head(DEADLOCK, cause, NO_RELEASE, (held or stalled or parked)[0])
    lines = [head.text]
    lines += _waiting(batch, [*held, *stalled, *(g for g in parked if g not in held)])
    lines += [f"  {account}" for account in _accounts(batch.engine)]
    thread, block = batch.thread_and_block(head.group.lanes[0])
    there, other = head.absent or (None, None)
    return KernelFault(
        Finding(
            head.kind,
            "\n".join(lines),
            _waits_at(batch, head.group).location,
            thread,
            block,
            other_location=there,
            other_thread=None if other is None else batch.thread_and_block(other)[0],
            cause=head.cause,
            condition=head.condition,
        )
    )


def _waits_at(batch: Batch, group: Group) -> Instruction:
    """The instruction at which a group waits: a barrier, or one of a whole warp."""
    return batch.barriers.waits_at(group) or group.code.blocks[group.block].instructions[0]


def _waiting(batch: Batch, groups: Iterable[Group]) -> list[str]:
    """A line for each warp that waits, or one for all warps with as many threads that wait at the
    same line."""
    alike: dict[tuple[int, str], list[tuple[str, int]]] = {}  # (threads, place): warps, first lanes
    for group in groups:
        place = at_line(_waits_at(batch, group).location)
        why = _why(batch.engine, group) if batch.barriers.waits_at(group) else ""
        for number in group.warps.tolist():
            lanes = group.lanes[group.lanes >> 5 == number]
            slot, rest = divmod(number, batch.lanes_per_block // 32)
            warp = f"warp {rest} of block {xyz(batch.block_index(batch.first + slot))}"
            alike.setdefault((len(lanes), f"{place}{why}"), []).append((warp, int(lanes[0])))
    lines = []
    for (count, waiting), warps in alike.items():
        threads = f"{plural(count, 'thread')}"
        if len(warps) > MOST_WARPS:
            more = f"{len(warps) - 1} more warps"
            warps, threads = [(f"{warps[0][0]} and {more}", warps[0][1])], f"{threads} each"
        for warp, lane in warps:
            first = where(*batch.thread_and_block(lane))
            lines.append(f"  {warp}: {threads} waiting{waiting}, first {first}")
    return lines


def _head_of_warp(batch: Batch, stalled: list[Group], parked: list[Group]) -> _Head | None:
    """Of lanes that wait for others of their warp, or of their warpgroup."""
    for group in stalled:
        if group.code.blocks[group.block].warpgroup:
            return _Head(BARRIER, Cause.WARPGROUP_INCOMPLETE, OF_WARPGROUP, group)
    group = stalled[0]
    i = _waits_at(batch, group)
    mask, bits = missing(batch, group, int(group.warps[0]))
    language = batch.launch.options.language
    lanes, call, at = lanes_in_words(bits), call_of(i, language), at_line(i.location)
    absent = _absent(batch, [*stalled, *parked], int(group.warps[0]), bits)
    rest, unrolled = "", False  # the same call, in two iterations of a loop
    if absent is not None:
        there, lane = absent
        what = f"the {call_of(there, language)}{at_line(there.location)}"
        if there is not i and there.opcode == i.opcode and there.location == i.location:
            unrolled = _in_one_loop(group.code, i, there)
            other = "in another iteration of its loop" if unrolled else "by another call or branch"
            what = f"the same line, {other}"
        verb = "waits" if bits.bit_count() == 1 else "wait"
        rest = f" {lanes.capitalize()} {verb} at {what}."
    place = None if absent is None else (absent[0].location, absent[1])
    barrier = traits_of(i).barrier
    if barrier and barrier != "warp":
        text = (
            f"Barrier misuse: only some threads of a warp reach the {call}{at}.{rest} Every thread "
            "of the block must reach the same barrier."
        )
        conditions = branches_before(group.code, i)
        if conditions:
            text += DIFFERS.format(condition=one_condition(conditions))
        cause = Cause.ITERATIONS_DIFFER if unrolled else Cause.BARRIER_NOT_REACHED
        return _Head(BARRIER, cause, text, group, place, next(iter(conditions), None))
    if i.opcode == "tcgen05":
        text = (
            f"Tensor memory misuse: only some threads of a warp reach tcgen05.{i.modifiers[0]}{at}."
            f"{rest} It is .sync.aligned: all of them execute it together."
        )
        return _Head(TENSOR_MEMORY, Cause.WARP_INCOMPLETE, text, group, place)
    if traits_of(i).matrix is not None:
        text = (
            f"Barrier misuse: only some threads of a warp reach the {call}{at}.{rest} It is "
            ".sync.aligned: all 32 execute it together."
        )
        return _Head(BARRIER, Cause.WARP_INCOMPLETE, text, group, place)
    text = f"the {call}{at} waits for {lanes} of its warp, which its mask {mask:#010x} names.{rest}"
    if barrier:
        cause = Cause.ITERATIONS_DIFFER if unrolled else Cause.SYNCWARP_NOT_REACHED
        return _Head(BARRIER, cause, f"Barrier misuse: {text}", group, place)
    if i.opcode in WARP_CALLS:
        cause = Cause.ITERATIONS_DIFFER if unrolled else Cause.SHUFFLE_NOT_REACHED
        return _Head(DEADLOCK, cause, f"Deadlock: {text}", group, place)
    return None


def _absent(
    batch: Batch, waiting: list[Group], warp: int, bits: int
) -> tuple[Instruction, int] | None:
    """(instruction, lane): where the first of some lanes of a warp waits."""
    for group in waiting:
        lanes = group.lanes[group.lanes >> 5 == warp]
        here = lanes[bits >> (lanes & 31) & 1 == 1]
        if len(here):
            return _waits_at(batch, group), int(here[0])
    return None


def _in_one_loop(code: Code, a: Instruction, b: Instruction) -> bool:
    """Whether two instructions of one line are of an unrolled loop: then one comes after the
    other. A line of a helper may as well come from two calls, so it is never said of one."""
    if a.location is None or a.location.function:
        return False
    holders = [
        block.number for block in code.blocks if any(x is a or x is b for x in block.instructions)
    ]
    reached = set(holders[:1])
    for number in range(holders[0], holders[-1]):
        if number in reached:
            reached.update(code.blocks[number].successors)
    return holders[-1] in reached


def _why(engine: AsyncEngine, group: Group) -> str:
    """The mbarrier or the columns that a parked group waits for, in words."""
    if b := _awaited(engine, group):
        missing = [f"{b.pending} of {b.expected} arrivals"] if b.pending else []
        if b.tx > 0:
            missing.append(f"{b.tx} more bytes")
        parts = [f"missing: {' and '.join(missing)}"] if missing else []
        if b.tx < 0:
            parts.append(f"{-b.tx} bytes arrived unexpectedly")
        return f" for {engine.name(b.key)} ({'; '.join(parts)})"
    memory = engine.batch.tensor_memory
    return memory.why(group) if memory is not None else ""


def _cause(engine: AsyncEngine, group: Group) -> Cause | None:
    """Why a parked group waits without end, if it waits for an mbarrier."""
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
