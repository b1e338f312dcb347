"""Whether a block is there when others of its cluster reach into its shared memory.

Source: CUDA C++ Programming Guide, "Distributed Shared Memory".
"""

from __future__ import annotations

import numpy as np

from ..machine.fault_messages import where
from ..machine.lanes import Group
from ..machine.report import BARRIER, DATA_RACE, Finding
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


def not_started(site, group: Group, at: int, home: int) -> Finding:
    """What is said of the lane at position ``at``, which reaches into the block ``home``."""
    batch, location = group.batch, site.instruction.location
    thread, block = batch.who(group.lanes[at])
    text = (
        f"Barrier misuse: {where(thread, block)} reaches into the shared memory of block "
        f"{batch.block_index(batch.first + home)} at {location} before it is certain that this "
        "block has started. Call cluster.sync() first."
    )
    return Finding(BARRIER, text, location, thread, block)


def left_too_early(batch, block: int, name: str, kind: str, lane: int, i, told) -> Finding:
    """What is said of a block that ends while ``lane``, of another, may still be about to touch
    its variable ``name``. ``told``: a relaxed arrival that would have told the block, if any."""
    thread, other = batch.who(lane)
    advice = f",\n  {told}" if told else ". Call cluster.sync() before a block ends."
    text = (
        f"Data race: block {batch.block_index(batch.first + block)} may end, and its "
        f"{name} with it, before thread {thread} of block {other} {kind} it at "
        f"{i.location}{advice}"
    )
    return Finding(DATA_RACE, text, i.location, thread, other, name)
