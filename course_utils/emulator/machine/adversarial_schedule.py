"""Another order of running: one half of a batch gets ahead of the other.

The machine keeps all lanes in lockstep where it can, which is quick, and kind to a kernel that
lacks a barrier: what one warp needs from another is there in time. Out of step, every lane belongs
to one of two sides. Lanes of one side run until they can go on no longer, then those of the other
have their turn. The last side to reach a barrier leaves it first, so each is ahead at times. If
blocks have a single warp, the later half of the blocks gets ahead of the earlier half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..findings.options import LANES, LOCKSTEP
from ..isa.gpu_constants import WARP

if TYPE_CHECKING:
    from .batch import Batch
    from .code import Block
    from .lanes import Group


class AdversarialSchedule:
    """The two sides of a batch, and which of them runs."""

    def __init__(self, batch: Batch):
        options = batch.launch.options
        self._within_warps = options.schedule == LANES
        self._side = _sides(batch, np.random.default_rng((options.seed, batch.first)))
        self._running = True

    def split(self, group: Group) -> list[Group]:
        """The part of a group on each side; the group itself where its lanes stay together."""
        block = group.code.blocks[group.block]
        if self._meet_at(block):
            return [group]
        sides = self._side[group.lanes]
        if sides.all() or not sides.any():
            return [group]
        live = group.code.live[group.block]
        return [group.subset(np.flatnonzero(flags), live) for flags in (sides, ~sides)]

    def choose(self, willing: list[Group]) -> Group:
        """The group to run next: the side that runs goes on while it can."""
        chosen = min(willing, key=lambda g: (self._side_of(g) != self._running, g.sort_key))
        self._running = self._side_of(chosen)
        return chosen

    def may_merge(self, a: Group, b: Group) -> bool:
        """May two groups at one place go on together?"""
        return self._meet_at(a.code.blocks[a.block]) or self._side_of(a) == self._side_of(b)

    def _meet_at(self, block: Block) -> bool:
        """Whether the lanes that are kept apart have to come together for its first instruction."""
        return block.warpgroup or (self._within_warps and block.gather is not None)

    def _side_of(self, group: Group) -> bool:
        return bool(self._side[group.lanes[0]])


def adversarial_schedule(batch: Batch) -> AdversarialSchedule | None:
    """How the batch is kept out of step; None where its launch runs in lockstep."""
    return None if batch.launch.options.schedule == LOCKSTEP else AdversarialSchedule(batch)


def _sides(batch: Batch, random: np.random.Generator) -> np.ndarray:
    """Which lanes of a batch are on the first side: bool, half of each block's warps, or of each
    warp's lanes. Of blocks with one warp it's the later half of the blocks."""
    within_warps = batch.launch.options.schedule == LANES
    warps = batch.block_count * batch.lanes_per_block // WARP
    if not within_warps and warps == batch.block_count:
        return np.repeat(np.arange(warps) >= warps // 2, WARP)
    shape = (warps, WARP) if within_warps else (batch.block_count, warps // batch.block_count)
    sides = random.permuted(np.tile(np.arange(shape[1]) % 2 == 1, (shape[0], 1)), axis=1)
    return np.repeat(sides.reshape(-1), 1 if within_warps else WARP)
