"""The order that two racing accesses lack: a barrier, or a fence beside a flag."""

from __future__ import annotations

from ...findings.causes import Cause
from ...isa.location import Location
from ...machine.batch import Batch
from .race_entries import CLOCK_SHIFT, THREAD
from .vector_clocks import VectorClocks


def same_block(batch: Batch, earlier: int, lane: int) -> bool:
    """Whether two lanes belong to one block."""
    return earlier // batch.lanes_per_block == lane // batch.lanes_per_block


def missing_order(
    batch: Batch,
    clocks: VectorClocks,
    entry: int,
    lane: int,
    there: Location | None,
    here: Location | None,
    kind: str,
    verb: str,
) -> tuple[Cause, str]:
    """The fence that a flag between two blocks lacks, or without a flag the missing barrier."""
    earlier, time = (entry & THREAD) - clocks.first, entry >> CLOCK_SHIFT
    order, other = clocks.order, (entry & THREAD) >> 5
    cause, missing = _missing_barrier(batch, clocks, earlier, lane)
    found = None if order is None else order.link(lane, other, time)
    if order is None or not found:
        return cause, missing
    flag, seen = found
    own = same_block(batch, earlier, lane)
    apart = earlier >> 5 != lane >> 5
    handed = apart and (flag.warp, seen.lane >> 5) == (other, lane >> 5)
    if own and not (handed and order.flags.fences):
        return cause, missing  # a barrier is the rule, unless one warp hands the other a flag
    words = batch.launch.options.words
    fence = words.block_fence if own else words.fence
    place = other - flag.first
    setter, block = batch.who(flag.thread - clocks.first)
    set_at, read_at = flag.site.instruction.location, seen.site.instruction.location
    act = {"write": "store", "read": "read"}
    sets = f"the flag that thread {setter} of block {block} sets at {set_at}"
    if not order.flags.fences:
        return cause, (
            f"{missing}\n  Is {sets} to order them? Then it needs a {words.fence} before it, and "
            f"one after it is read at {read_at}."
        )
    cause = Cause.FLAG_IN_BLOCK_NOT_FENCED if own else Cause.FLAG_NOT_FENCED
    before = f"nothing orders the {act[kind]} at {there} before {sets}:\n  put"
    if other != flag.warp and flag.known[place] <= time:
        return cause, f"and {before} {words.block_barrier} and then {words.fence} between them."
    if (flag.fenced_near if own else flag.fenced)[place] <= time:
        narrow = flag.fenced_near[place] > time
        why = f"{words.block_fence} counts for its own block only, and " if narrow else "and "
        return cause, f"{why}{before} {fence} between them."
    reader, block = batch.who(seen.lane)
    return cause, (
        f"and nothing orders the {act[verb]} at {here} after the flag that thread {reader} of "
        f"block {block} reads at {read_at}:\n  put {fence} between them."
    )


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
