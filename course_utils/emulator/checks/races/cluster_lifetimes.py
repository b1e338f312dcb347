"""Whether a block is there, started and not ended, when others of its cluster reach into its
shared memory.

Source: CUDA C++ Programming Guide, "Distributed Shared Memory".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...findings.causes import Cause
from ...findings.report import BARRIER, DATA_RACE, TENSOR_MEMORY, Finding
from ...findings.reported_state import ReportedAccess
from ...findings.wording import where
from ...isa import ptx
from ...machine.async_state import KEY_SHIFT
from ...machine.batch import Batch
from ...machine.lanes import Group
from ...memory.address_space import Region
from .arrivals import RelaxedArrival
from .race_entries import CLOCK_SHIFT, THREAD, pack
from .race_shadow import RaceShadow
from .vector_clocks import VectorClocks


def reaches_too_early(
    clocks: VectorClocks, waited: np.ndarray, group: Group, homes: np.ndarray
) -> int | None:
    """The position of a lane that reaches into the block ``homes``, int64 (n,), without knowing
    that it has started; None where all know. ``waited``: blocks of which a thread has waited for
    the cluster. Whoever heard from the block by way of an mbarrier knows as well."""
    warps = group.batch.lanes_per_block // 32
    for at in np.flatnonzero((homes != group.slots) & ~waited[group.slots]).tolist():
        row, place = divmod(int(group.lanes[at]) >> 5, clocks.warps)
        first = int(homes[at]) * warps - row * clocks.warps
        if not clocks.known[row, place, first : first + warps].any():
            return at
    return None


def not_started(site: ReportedAccess, group: Group, at: int, home: int) -> Finding:
    """What is said of the lane at position ``at``, which reaches into the block ``home``."""
    batch, location = group.batch, site.instruction.location
    thread, block = batch.thread_and_block(group.lanes[at])
    text = (
        f"Barrier misuse: {where(thread, block)} reaches into the shared memory of block "
        f"{batch.block_index(batch.first + home)} at {location} before it is certain that this "
        "block has started. Call cluster.sync() first."
    )
    return Finding(BARRIER, text, location, thread, block, cause=Cause.BLOCK_NOT_STARTED)


def pair_not_started(i: ptx.Instruction, group: Group, peer: int) -> Finding:
    """The finding for a warp that allocates columns in its block and in ``peer``."""
    batch = group.batch
    thread, block = batch.thread_and_block(group.lanes[0])
    seen = (
        f"Tensor memory misuse: {where(thread, block)} allocates columns for a pair of blocks at "
        f"{i.location}"
    )
    text = (
        f"{seen} before it is certain that block {batch.block_index(batch.first + peer)} has "
        "started. Call cluster.sync() first."
    )
    cause = Cause.BLOCK_NOT_STARTED
    return Finding(
        TENSOR_MEMORY, text, i.location, thread, block, cause=cause, symptom=f"{seen} too early."
    )


def touched_late(
    batch: Batch, clocks: VectorClocks, region: Region, shadow: RaceShadow, blocks: list[int]
) -> Iterator[tuple[int, str, int]]:
    """(block, "reads" or "writes", entry) for an array in the shared memory of ``blocks``, which
    end: of each kind the first access by another block of which the one that ends does not know."""
    shadow.enter((0, region.stride))
    cells = region.stride // shadow.granule
    for block in blocks:
        known = _known(batch, clocks, block)
        for kind, memory in (("reads", shadow.reader), ("writes", shadow.writer)):
            entries = memory[block * cells : (block + 1) * cells]
            lane = (entries & THREAD) - clocks.first
            late = (entries > 0) & (lane // batch.lanes_per_block != block)
            late &= known[lane % clocks.span >> 5] <= entries >> CLOCK_SHIFT
            if late.any():
                yield block, kind, int(entries[np.flatnonzero(late)[0]])


class RemoteArrivals:
    """By block, the last arrival of each warp of other blocks at its mbarriers: they have to be
    there still."""

    def __init__(self) -> None:
        self._of: dict[int, dict[int, tuple[int, int, ptx.Instruction, str]]] = {}

    def add(
        self,
        batch: Batch,
        clocks: VectorClocks,
        key: int,
        lanes: np.ndarray,
        instruction: ptx.Instruction,
    ) -> None:
        """Lanes arrive at the mbarrier ``key`` of another block."""
        name = batch.engine.variable_of(key).name
        arrivals = self._of.setdefault(key >> KEY_SHIFT, {})
        entries = np.broadcast_to(pack(clocks.threads(lanes), clocks.now(lanes), 0), lanes.shape)
        for lane, entry in zip(lanes.tolist()[::-1], entries.tolist()[::-1], strict=True):
            arrivals[lane >> 5] = entry, lane, instruction, name

    def unknown(
        self, batch: Batch, clocks: VectorClocks, block: int
    ) -> Iterator[tuple[int, int, ptx.Instruction, str]]:
        """(entry, lane, instruction, mbarrier) of those that ``block``, which ends, does not know
        of."""
        known = _known(batch, clocks, block)
        for warp, arrival in self._of.get(block, {}).items():
            if known[warp % clocks.warps] <= arrival[0] >> CLOCK_SHIFT:
                yield arrival


def _known(batch: Batch, clocks: VectorClocks, block: int) -> np.ndarray:
    """What the warps of a block together know of the time of each warp of its cluster."""
    warps = batch.lanes_per_block // 32
    row, rank = divmod(block, batch.clusters.size if batch.clusters else 1)
    return clocks.known[row, rank * warps : (rank + 1) * warps].max(axis=0)


def left_too_early(
    batch: Batch,
    block: int,
    name: str,
    kind: str,
    lane: int,
    i: ptx.Instruction,
    told: RelaxedArrival | None,
) -> Finding:
    """What is said of a block that ends while ``lane``, of another, may still be about to touch
    its variable ``name``. ``told``: a relaxed arrival that would have told the block, if any."""
    thread, other = batch.thread_and_block(lane)
    advice = f",\n  {told}" if told else ". Call cluster.sync() before a block ends."
    text = (
        f"Data race: block {batch.block_index(batch.first + block)} may end, and its "
        f"{name} with it, before thread {thread} of block {other} {kind} it at "
        f"{i.location}{advice}"
    )
    cause = Cause.ARRIVAL_RELAXED if told else Cause.BLOCK_MAY_END
    return Finding(DATA_RACE, text, i.location, thread, other, name, cause=cause)
