"""Why nothing orders two accesses, and whether their race is only a warning."""

from __future__ import annotations

import numpy as np

from ...findings.causes import Cause
from ...machine.accesses import WatchedAccess
from .checked_access import CheckedAccess, reach_of
from .colliding_writes import explained, stored_in_turn
from .copy_reports import TWO_BLOCKS
from .copy_sides import CopySide
from .handed_over import handed_over
from .lane_reports import LANES_IN_STEP, lanes_left_out, usually_done
from .missing_order import missing_order, same_block
from .race_entries import CLOCK_SHIFT, THREAD, number_of
from .severity import (
    IN_LOOP,
    IN_STEP,
    NO_ACQUIRE,
    ONE_STAYS,
    TOGETHER,
    WITH_SHUFFLE,
    in_lockstep,
    is_block_counter,
)
from .tile_reads import until
from .volatile_updates import ORDERS_NOTHING, VOLATILE, is_volatile
from .waiting_loops import LOCK, LOOP_WAITS, LOOP_WAITS_APART, takes_lock

SCOPES = "block", "cluster"
OF_FLAGS = (
    Cause.FLAG_NOT_FENCED,
    Cause.FLAG_IN_BLOCK_NOT_FENCED,
    Cause.FLAG_BARRIER_MISSING,
    Cause.FLAG_WAIT_NOT_SHARED,
    Cause.FLAG_SET_TOO_EARLY,
    Cause.FLAG_WAIT_TOO_LATE,
    Cause.LOCK_NOT_FENCED,
)
IN_BLOCK = Cause.NO_ORDER_IN_WARP, Cause.NO_ORDER_IN_BLOCK
MOST = 64  # pairs of threads for which it is asked whether only an acquire is missing


def cause_of(
    access: CheckedAccess,
    there: WatchedAccess,
    entries: np.ndarray,
    cells: np.ndarray,
    at: int,
    kind: str,
    verb: str,
    together: bool,
) -> tuple[Cause, str]:
    """Why nothing orders the two, and the end of a report that says so."""
    if until(access.site):
        return Cause.TILE_STILL_READ, ",\n  before the tile is free."
    batch, here = access.group.batch, access.site.instruction.location
    entry, lane = int(entries[at]), int(access.group.lanes[at])
    apart = access.earlier(entry) >> 5 != lane >> 5
    if apart and (release := access.clocks.left_out(lane, entry)):
        of_flag = missing_order(access, there.instruction, entry, lane, kind, verb)
        alone = same_block(batch, access.earlier(entry), lane) or batch.lanes_per_block == 32
        if of_flag[0] in OF_FLAGS and not alone:  # the flag is for the whole block
            return of_flag[0], f"\n  {of_flag[1]}"
        return Cause.ARRIVAL_OF_OTHER_LANE, f"\n  {lanes_left_out(access, release, entry)}"
    if relaxed := access.races.relaxed_between(batch, entry, lane):
        return Cause.ARRIVAL_RELAXED, f"\n  {relaxed}"
    volatile = is_volatile(there.instruction) and is_volatile(access.site.instruction)
    if not volatile and (narrow := _too_narrow(access, there, int(number_of(entry)))):
        return Cause.SCOPE_TOO_NARROW, f"\n  {narrow}"
    if isinstance(there, CopySide) and there.waited is None:
        earlier = access.earlier(entry)
        if earlier // access.clocks.span == lane // access.clocks.span:
            return Cause.COPY_COMPLETION_NOT_SEEN, ""
        if kind == verb == "write":
            return Cause.COPIES_OVERLAP, TWO_BLOCKS
    before = there.instruction.location
    cause, missing = missing_order(access, there.instruction, entry, lane, kind, verb)
    paths = access.races.paths(access.group.code)
    pair = there.instruction, access.site.instruction
    if store := takes_lock(access.group.code, paths, *pair):
        return Cause.LOCK_NOT_ATOMIC, f"\n  {LOCK.format(loop=access.loop(), store=store.location)}"
    if volatile and cause in OF_FLAGS and access.strong:
        cause = Cause.NO_ORDER_IN_GRID  # the accesses themselves look like a flag
    if cause in (Cause.NO_ORDER_IN_WARP, Cause.NO_ORDER_IN_BLOCK, Cause.NO_ORDER_IN_GRID):
        if access.site.instruction.opcode == "wgmma":
            return Cause.NO_ORDER_BEFORE_WGMMA, "\n  with no __syncthreads() in between."
        if loop := access.loop():
            waits = LOOP_WAITS_APART if cause is Cause.NO_ORDER_IN_GRID else LOOP_WAITS
            return Cause.LOOP_WAITS_FOR_WRITE, f"\n  {waits.format(loop=loop)}"
    if cause not in OF_FLAGS:
        stores_too = _stores_too(access, entry, cells, at)
        one_line = kind == verb == "write" and before == here
        blocks = cause == Cause.NO_ORDER_IN_GRID and one_line
        known = explained(access.group.code, paths, pair, stores_too, together or blocks, blocks)
        if (
            known is None
            and one_line
            and cause in IN_BLOCK
            and access.site.instruction.opcode == "st"
        ):
            known = stored_in_turn(access.group.code, access.site.instruction)
        if known is None and cause is Cause.NO_ORDER_IN_BLOCK:
            known = handed_over(access, there.instruction, entry, lane, kind, verb)
        cause, missing = known or (cause, missing)
        if volatile:
            missing += f"\n  {VOLATILE if known else ORDERS_NOTHING}"
    return cause, f"\n  {missing}"


def note_of(
    access: CheckedAccess,
    there: WatchedAccess,
    entries: np.ndarray,
    cells: np.ndarray,
    bad: np.ndarray,
) -> str:
    """The note of a race that is only a warning. See :mod:`.severity`."""
    if access.strong and int(number_of(entries[bad[0]])) & 1:
        return ""  # a scope is too narrow
    lanes, earlier = access.group.lanes[bad], (entries[bad] & THREAD) - access.clocks.first
    apart = bad[lanes >> 5 != earlier >> 5]
    notes = [NO_ACQUIRE] if len(apart) else []
    if len(apart) and usually_done(access, there, entries, _some(apart)):
        notes = [LANES_IN_STEP]
    elif len(apart) and not all(_acquire_is_missing(access, entries, at) for at in _some(apart)):
        return ""
    if len(apart) < len(bad):
        a, b = there.instruction, access.site.instruction
        paths = access.races.paths(access.group.code)
        if not (in_lockstep(a) and in_lockstep(b) and paths.connected(a, b)):
            return ""
        if access.clocks.lane_known is not None:
            return ""  # lanes have met in parts of their warp
        if access.site.is_store and len(np.unique(cells)) < len(cells):
            return ""  # lanes overwrite each other's results
        if access.loop():
            return IN_LOOP
        if access.site.is_store and there.is_store and a.location == b.location:
            return ONE_STAYS
        convergence = paths.convergence_between(a, b)
        barrier = access.group.batch.launch.options.words.warp_barrier
        what = convergence and WITH_SHUFFLE.format(
            what=TOGETHER[convergence.opcode], where=convergence.location, barrier=barrier
        )
        notes.append(what or IN_STEP.format(barrier=barrier))
    return notes[-1]


def _stores_too(access: CheckedAccess, entry: int, cells: np.ndarray, at: int) -> bool | None:
    """Whether the thread of an earlier access accesses the same cell as the lane at position
    ``at`` by this very instruction. None where it doesn't execute it now."""
    earlier = access.earlier(entry)
    found = np.flatnonzero(access.group.lanes == earlier)
    return bool((cells[found] == cells[at]).any()) if len(found) else None


def _too_narrow(access: CheckedAccess, there: WatchedAccess, number: int) -> str:
    """Of two strong accesses that race, that the scope of one is too narrow."""
    if not (access.strong and number & 1):
        return ""
    narrow = access.site if reach_of(access.site) <= reach_of(there) else there
    scope = SCOPES[reach_of(narrow)]
    return (
        f"and the scope of the one at {narrow.instruction.location} is its own {scope}: for "
        f"others it isn't atomic.\n  Give it the scope of the device "
        f"(cuda::thread_scope_device, atomicAdd with no _block)."
    )


def _acquire_is_missing(access: CheckedAccess, entries: np.ndarray, at: int) -> bool:
    """Whether nothing but a fence is missing after an atomic that has counted the blocks."""
    order, entry = access.clocks.order, int(entries[at])
    lane, earlier = int(access.group.lanes[at]), access.earlier(entry)
    if order is None or same_block(access.group.batch, earlier, lane) or not order.flags.fences:
        return False
    other, time = (entry & THREAD) >> 5, entry >> CLOCK_SHIFT
    found = order.find_flag(lane, other, time)
    if not found:
        return False
    flag, seen = found
    return bool(flag.fenced[other - flag.first] > time) and is_block_counter(seen.site.instruction)


def _some(positions: np.ndarray) -> list[int]:
    return positions[:: len(positions) // MOST + 1].tolist()
