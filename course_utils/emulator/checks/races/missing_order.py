"""The order that two racing accesses lack: a barrier, or a piece of a flag."""

from __future__ import annotations

from ...findings.causes import Cause
from ...isa.ptx import Instruction
from ...machine.batch import Batch
from .checked_access import CheckedAccess
from .flag_order import FlagOrder
from .vector_clocks import VectorClocks


def same_block(batch: Batch, earlier: int, lane: int) -> bool:
    """Whether two lanes belong to one block."""
    return earlier // batch.lanes_per_block == lane // batch.lanes_per_block


def missing_order(
    access: CheckedAccess, there: Instruction, entry: int, lane: int, kind: str, verb: str
) -> tuple[Cause, str]:
    """The piece that a flag between two threads lacks, or without a flag the missing barrier."""
    earlier = access.earlier(entry)
    cause, missing = _missing_barrier(access.group.batch, access.clocks, earlier, lane)
    order = access.clocks.order
    if order is None:
        return cause, missing
    found = FlagOrder(access, there, entry, lane, kind, verb).told(order, cause, missing)
    return found or (cause, missing)


def _missing_barrier(
    batch: Batch, clocks: VectorClocks, earlier: int, lane: int
) -> tuple[Cause, str]:
    """The barrier that is missing between two lanes."""
    words = batch.launch.options.words
    if earlier >> 5 == lane >> 5:
        return Cause.NO_ORDER_IN_WARP, f"with no {words.barriers} in between."
    if same_block(batch, earlier, lane):
        return Cause.NO_ORDER_IN_BLOCK, f"with no {words.block_barrier} in between."
    if earlier // clocks.span == lane // clocks.span:
        return Cause.NO_ORDER_IN_CLUSTER, "with no cluster.sync() in between."
    text = "and nothing orders two blocks: they run in any order, or at once."
    return Cause.NO_ORDER_IN_GRID, text
