"""Why the wait for a group of copies left one of them in flight: what its thread committed."""

from __future__ import annotations

from ...findings.causes import Cause
from ...findings.origins import in_loop
from ...findings.wording import plural
from ...isa import ptx
from ...machine.async_state import Transfer
from ...machine.batch import Batch
from ...memory.address_space import Region
from .checked_access import CheckedAccess
from .race_shadow import cells_of

COMMITS = {"async": "cp.async.commit_group", "bulk": "cp.async.bulk.commit_group"}
WAITS = {"wait_group", "wait_all"}


def left_in_flight(
    batch: Batch, there: ptx.Instruction, lane: int, region: Region, cell: int, granule: int
) -> tuple[Cause, str] | None:
    """Why a copy into or out of a cell of ``region``, which ``lane`` has started by the instruction
    ``there``, is in flight after that thread's wait for groups: the cause, and a sentence. None for
    a copy that no such wait has followed."""
    found = _copy_of(batch, there, lane, region, cell, granule)
    if found is None:
        return None
    transfer, group = found
    queue = transfer.queue or ""
    wait = batch.engine.waited[queue].last(lane)
    if wait is None or wait.left is None or transfer.number > wait.started:
        return None
    the_wait, commit = f"The wait at {wait.instruction.location}", COMMITS[queue]
    if group >= wait.committed:
        return (
            Cause.GROUP_NOT_COMMITTED,
            f"\n  {the_wait} covers only groups committed before it,\n  and this copy's wasn't: "
            f"there's no {commit} between the copy and the wait.",
        )
    may_stay = plural(wait.left, "group")
    if wait.before == wait.committed:
        return (
            Cause.NO_GROUP_EACH_TIME,
            f"\n  {the_wait} lets {may_stay} stay in flight,\n  and the thread committed none "
            "since it last waited there. Each step must commit one, even an empty one.",
        )
    later = wait.committed - 1 - group
    return (
        Cause.GROUP_LEFT_IN_FLIGHT,
        f"\n  {the_wait} lets {may_stay} stay in flight,\n  and the thread committed only {later} "
        f"after this copy's before it waited: {later} may stay at most.",
    )


def overwrites(access: CheckedAccess, copy: ptx.Instruction, cell: int) -> bool:
    """Whether a copy of a loop that has just waited for an earlier one is started too soon: the
    read that comes after it, in the same round, is for the earlier copy's data in the cell."""
    filled = access.shadow.filled
    if access.writes or filled is None or not filled[cell]:
        return False
    code, paths = access.group.code, access.races.paths(access.group.code)
    started = (n for n, b in enumerate(code.blocks) if any(i is copy for i in b.instructions))
    number = next(started, None)
    if number is None or not paths.leads(copy, access.site.instruction):
        return False
    return any(
        WAITS & {*i.modifiers} and paths.leads(i, copy)
        for n in in_loop(code, number)
        for i in code.blocks[n].instructions
    )


def _copy_of(
    batch: Batch, there: ptx.Instruction, lane: int, region: Region, cell: int, granule: int
) -> tuple[Transfer, int] | None:
    """The copy of a lane that touches a cell and that its thread knows no end of, and its group."""
    engine = batch.engine
    for transfer in (*engine.in_flight.values(), *engine.landed):
        if transfer.queue not in engine.waited or transfer.numbers is None:
            continue
        if transfer.instruction.locations != there.locations or lane not in transfer.lanes:
            continue
        part = transfer.rows(transfer.lanes == lane)
        for side in filter(None, (part.filled, part.taken)):
            if side[0] is region and cell in cells_of(side[1], side[2], granule):
                return part, int(part.groups[0])
    return None
