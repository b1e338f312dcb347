"""Two warps of a block that hand over to each other, and don't between two racing accesses."""

from __future__ import annotations

from ...findings.causes import Cause
from ...isa.ptx import Instruction
from .checked_access import CheckedAccess
from .race_entries import CLOCK_SHIFT, THREAD
from .waiting_loops import polls

BARRIERS = {"bar", "barrier"}
STRONG = {"relaxed", "acquire", "acq_rel"}
MBARRIER = "and no mbarrier in between that the first arrives at and the second waits for."
TURN = "with no barrier in between that the first arrives at and the second waits for."


def handed_over(
    access: CheckedAccess, there: Instruction, entry: int, lane: int, kind: str, verb: str
) -> tuple[Cause, str] | None:
    """Why no turn, mbarrier or flag orders two accesses of a block, where its warps hand over by
    numbered barriers or, in two branches, by mbarriers, or one of the accesses comes after a wait
    for a flag in another branch than the other. ``there`` is a ``kind`` ("read", "write"), and the
    access under way a ``verb``. None for warps that do neither: they lack a barrier."""
    code, here = access.group.code, access.site.instruction
    for block in code.blocks:
        for i in block.instructions:
            if i.opcode in BARRIERS and "arrive" in i.modifiers and "cluster" not in i.modifiers:
                return Cause.TURN_NOT_PASSED, TURN
    order, paths = access.clocks.order, access.races.paths(code)
    if paths.connected(there, here):
        return None
    if any(i.opcode == "mbarrier" for block in code.blocks for i in block.instructions):
        return Cause.MBARRIER_NOT_BETWEEN, MBARRIER
    if order is None:
        return None
    seen = order.find_flag(lane, (entry & THREAD) >> 5, entry >> CLOCK_SHIFT)
    if seen is not None and seen[0].warp != (lane + access.clocks.first) >> 5:
        return None  # what another warp has set since does speak for it, and lacks a piece
    waits = [p.read for p in polls(code) if p.read.opcode == "atom" or STRONG & {*p.read.modifiers}]
    sides = (here, there, kind), (there, here, verb)  # either may have come too early
    early = []
    for late, first, what in sides:
        own = [w for w in waits if paths.leads(w, late) and not paths.connected(w, first)]
        if own:
            act = "store" if what == "write" else "read"
            early.append(f"at {own[-1].location} can be over before the {act} at {first.location}")
    if not early:
        return None
    return Cause.FLAG_WAIT_TOO_SHORT, "and the wait " + ",\n  or the wait ".join(early) + "."
