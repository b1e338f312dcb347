"""mbarriers at which another block of the cluster arrives, used with the scope of a single block.

Only what is written counts: an instruction without a scope has that of its block by the manual, but
public kernels leave it out everywhere.
Source: PTX ISA, "mbarrier.arrive", "mbarrier.test_wait, mbarrier.try_wait".
"""

from __future__ import annotations

from ...findings.causes import Cause
from ...findings.report import BARRIER, WARNING, Finding
from ...findings.wording import where
from ...isa import ptx
from ...machine.async_state import KEY_SHIFT, MBarrier
from ...machine.batch import Batch

WORKS = (
    "\n  Warning: public kernels leave out the scope, which means the same, and they work. The\n"
    "  PTX manual promises the order only with {right}."
)


def arrival_too_narrow(i: ptx.Instruction) -> bool:
    """Whether an arrival releases to its own block alone, and says so."""
    return {"release", "cta"} <= {*i.modifiers}


def wait_too_narrow(i: ptx.Instruction) -> bool:
    """Whether a wait acquires from its own block alone, and says so."""
    return {"acquire", "cta"} <= {*i.modifiers}


def narrow_arrival(batch: Batch, barrier: MBarrier, lane: int, i: ptx.Instruction) -> Finding:
    """The warning for an arrival at the mbarrier of another block."""
    home = batch.block_index(batch.first + (barrier.key >> KEY_SHIFT))
    does = f"arrives at {batch.engine.name(barrier.key)} of block {home}"
    why = "so a wait there doesn't order the thread's accesses."
    return _finding(batch, lane, i, does, why, "mbarrier.arrive.release.cluster")


def narrow_wait(batch: Batch, barrier: MBarrier, lane: int, i: ptx.Instruction) -> Finding:
    """The warning for a wait for an mbarrier at which another block has arrived."""
    does = f"waits for {batch.engine.name(barrier.key)}, at which another block has arrived,"
    why = "so it doesn't order that block's accesses."
    return _finding(batch, lane, i, does, why, f"{i.opcode}.{i.modifiers[0]}.acquire.cluster")


def _finding(
    batch: Batch, lane: int, i: ptx.Instruction, does: str, why: str, right: str
) -> Finding:
    thread, block = batch.thread_and_block(lane)
    text = (
        f"Barrier misuse: {where(thread, block)} {does} at {i.location}\n"
        f"  with the scope .cta. That is its own block, {why}"
    )
    cause = Cause.MBARRIER_SCOPE_TOO_NARROW
    message = text + WORKS.format(right=right)
    return Finding(BARRIER, message, i.location, thread, block, level=WARNING, cause=cause)
