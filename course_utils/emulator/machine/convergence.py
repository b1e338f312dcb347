"""Instructions of whole warps: their lanes converge there before any of them goes on."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.rounding import ceil_div
from .lanes import lane_masks

if TYPE_CHECKING:
    from .batch import Batch
    from .code import Block
    from .lanes import Group


def converge(group: Group, block: Block) -> Group | None:
    """Lanes whose partners named in the member mask are here go on, and the others wait. The
    partners in a wgmma are the four warps of a warpgroup. Returns the lanes that go on.

    A partner that has ended is not waited for.
    """
    batch = group.batch
    mask = np.broadcast_to(block.member_mask(group), group.n)
    warps, here = lane_masks(group)
    row = np.searchsorted(warps, group.lanes >> 5)
    if block.warpgroup and group.n == batch.live_lanes.sum():
        return group
    masks = live_masks(batch)
    live = masks[group.lanes >> 5]
    ready = (mask & live & ~here[row]) == 0  # no lane named in the mask is elsewhere
    if block.warpgroup:
        masks[warps] &= ~here
        ready &= _warpgroups_here(group, masks)
    if ready.all():
        return group
    on = None
    if ready.any():
        carried = group.code.live[group.block]
        on = group.subset(np.flatnonzero(ready), carried)
        group = group.subset(np.flatnonzero(~ready), carried)
    group.stalled = True
    batch.scheduler.add(group)
    return on


def live_masks(batch: Batch) -> np.ndarray:
    """For each warp of a batch the mask of its lanes that have not ended, uint32."""
    masks = np.zeros(len(batch.live_lanes), np.uint32)
    for g in itertools.chain(batch.scheduler.groups, batch.barriers.parked()):
        warps, bits = lane_masks(g)
        masks[warps] |= bits
    return masks


def _warpgroups_here(group: Group, elsewhere: np.ndarray) -> np.ndarray:
    """Of each lane whether none of its warpgroup is among the lanes that live ``elsewhere``."""
    per_block = group.batch.lanes_per_block // 32
    slot, warp = np.divmod(np.arange(len(elsewhere)), per_block)
    warpgroup = slot * ceil_div(per_block, 4) + warp // 4
    missing = np.bincount(warpgroup, elsewhere != 0) > 0
    return ~missing[warpgroup[group.lanes >> 5]]
