"""Which thread of which block each lane of a batch is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..isa.gpu_constants import WARP
from ..numerics.rounding import round_up

if TYPE_CHECKING:
    from .launch_state import LaunchState

N = TypeVar("N", int, np.ndarray)


class LaneNumbers:
    """The lanes of ``count`` blocks of a launch, from block ``first`` on. Each block has
    ``lanes_per_block`` of them, and the first ``threads`` are threads."""

    def __init__(self, launch: LaunchState, first: int, count: int) -> None:
        self.launch: LaunchState = launch
        self.first: int = first
        self.block_count: int = count
        self.threads = math.prod(launch.block)
        self.lanes_per_block = round_up(self.threads, WARP)
        self.slots = np.repeat(np.arange(count), self.lanes_per_block)  # the block of each lane

    def all_lanes(self) -> np.ndarray:
        """The lanes that are threads, sorted, int64."""
        lanes = np.arange(len(self.slots), dtype=np.int64)
        return lanes[lanes % self.lanes_per_block < self.threads] if self.threads % WARP else lanes

    def lanes_of_warps(self) -> np.ndarray:
        """How many threads each warp of the batch has, int64."""
        per_warp = np.full(self.lanes_per_block // WARP, WARP)
        per_warp[-1] -= self.lanes_per_block - self.threads
        return np.tile(per_warp, self.block_count)

    def block_index(self, number: N) -> tuple[N, N, N]:
        """(x, y, z) of a block. Blocks are numbered cluster by cluster. Arrays do as well."""
        gx, gy, _ = self.launch.grid
        if not self.launch.clustered:
            return number % gx, number // gx % gy, number // gx // gy
        cx, cy, cz = self.launch.cluster
        c, r = number // (cx * cy * cz), number % (cx * cy * cz)
        gx, gy = gx // cx, gy // cy
        return (
            c % gx * cx + r % cx,
            c // gx % gy * cy + r // cx % cy,
            c // gx // gy * cz + r // cx // cy,
        )

    def thread_and_block(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(thread, block), each (x, y, z), of a lane."""
        slot, thread = divmod(int(lane), self.lanes_per_block)
        bx, by, _ = self.launch.block
        return (
            (thread % bx, thread // bx % by, thread // bx // by),
            self.block_index(self.first + slot),
        )

    def thread_in_grid(self, lane: int) -> tuple[int, int, int]:
        """The number of a lane's thread in the grid along x, y and z."""
        pairs = zip(*self.thread_and_block(lane), self.launch.block, strict=True)
        x, y, z = (block * size + thread for thread, block, size in pairs)
        return x, y, z
