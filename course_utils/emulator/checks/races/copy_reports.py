"""Words of a report on a copy in flight: its name, its mbarrier, the wait that comes first."""

from __future__ import annotations

from ...isa import ptx
from ...machine.async_state import KEY_SHIFT, Transfer
from ...machine.batch import Batch
from ...memory.address_space import Region
from .race_shadow import cells_of

GROUP = "cp.async.bulk.commit_group and .wait_group, by the thread that started it"
NOT_READ = (
    " The thread that started it needs\n  cp.async.bulk.commit_group and .wait_group, "
    "not .wait_group.read: that waits until the source has been read."
)
TWO_BLOCKS = "\n  and nothing orders two blocks: they run in any order, or at once."
KIND = ("reduce", "async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d")  # of a copy


def copy_at(
    batch: Batch, there: ptx.Instruction, lane: int, region: Region, cell: int, granule: int
) -> Transfer | None:
    """The copy in flight that ``lane`` started at the lines of the instruction ``there`` and that
    touches a cell of ``region``; None where there is none, or one of ``cp.async``."""
    for transfer in batch.engine.in_flight.values():
        if transfer.instruction.locations != there.locations or lane not in transfer.lanes:
            continue
        if transfer.queue == "async":
            return None
        for side, elements, index in filter(None, (transfer.filled, transfer.taken)):
            if side is region and cell in cells_of(elements, index, granule):
                return transfer
    return None


def copy_name(transfer: Transfer) -> str:
    """The copy in words: its instruction, and its bytes."""
    i = transfer.instruction
    name = ".".join((i.opcode, *(m for m in i.modifiers if m in KIND)))
    size = transfer.bytes_per_lane
    if transfer.complete is not None:
        size = transfer.complete[1]  # with what lies outside of a tensor
    return f"{name}, {size} bytes"


def completed_copy(instruction: ptx.Instruction, kind: str) -> tuple[str, str]:
    """Words for a completed copy, and for the wait that accesses to its bytes need."""
    side = "into" if kind == "write" else "out of"
    return (
        f"started an asynchronous copy {side} it at {instruction.location}",
        "\n  The copy has completed, but its completion doesn't happen before this access: a wait "
        "for its\n  mbarrier or its group, by this thread or by one that it synchronizes with "
        "afterwards, comes first.",
    )


def completion_target(batch: Batch, transfer: Transfer) -> str:
    """The mbarrier on which it completes, in words."""
    if transfer.complete is None:
        return ""
    key = transfer.complete[0]
    other = key >> KEY_SHIFT != int(transfer.lanes[0]) // batch.lanes_per_block
    block = f" of block {batch.block_index(batch.first + (key >> KEY_SHIFT))}" if other else ""
    return f"; it completes on {batch.engine.name(key)}{block}"


def remedy(batch: Batch, transfer: Transfer) -> str:
    """The wait that has to come before an access to its bytes."""
    if transfer.complete is None:
        return f" It takes {GROUP}." if transfer.queue == "bulk" else ""
    engine, key = batch.engine, transfer.complete[0]
    barrier = engine.barriers.get(key)
    if barrier is None:
        return ""
    coming = sum(
        t.complete[1] for t in engine.in_flight.values() if t.complete and t.complete[0] == key
    )
    if barrier.tx < coming:
        return (
            f" But {engine.name(key)} expects {max(barrier.tx, 0)} bytes now, and {coming} are in "
            "flight: mbarrier.arrive.expect_tx must register them before the phase can end."
        )
    return f" Wait for {engine.name(key)}, its phase of parity {barrier.phase & 1}."


def copied_by(copy: ptx.Instruction, waited: ptx.Instruction) -> tuple[str, str]:
    """How a thread waited for the end of a copy, and which accesses that wait covers."""
    name = "a bulk copy" if "bulk" in copy.modifiers else "cp.async"
    did, end = f"copies into it with {name} at {copy.location} and", waited.location
    if "mbarrier" in waited.modifiers:
        rule = "Only a wait for that mbarrier covers the copies of other threads."
        return f"{did} signals an mbarrier on completion at {end}", f"\n  {rule}"
    rule = "That wait covers only the thread's own copies: others need a barrier after it."
    return f"{did} waits for it at {end}", f"\n  {rule}"
