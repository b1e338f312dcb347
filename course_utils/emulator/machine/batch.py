"""Blocks that are resident together: their lanes, their memory and what they wait for.

A batch owns one of each part of the machine: its lanes run by the :mod:`.scheduler`, reach memory
through :mod:`.batch_memory`, and wait at barriers, for their cluster or for the async engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .async_proxy import AsyncEngine
from .batch_memory import BatchMemory
from .call_frames import CallFrames
from .clusters import Clusters
from .lane_numbers import LaneNumbers
from .lanes import Group
from .named_barriers import Barriers
from .observer import ignore_event
from .scheduler import Scheduler
from .tensor_memory import TensorMemory
from .unstarted_clusters import LaunchControl

if TYPE_CHECKING:
    from .launch_state import LaunchState


class Batch(LaneNumbers):
    """Blocks that run together, one lane per thread. ``live_lanes`` counts the lanes of each warp
    that have not ended, ``live_threads`` those of each block."""

    def __init__(self, launch: LaunchState, first: int, count: int) -> None:
        super().__init__(launch, first, count)
        self.live_lanes = self.lanes_of_warps()
        self.live_threads = np.full(count, self.threads)
        self.exits = 0  # grows whenever lanes end
        self.memory = BatchMemory(launch, count)
        self.frames = CallFrames(self)
        self.scheduler = Scheduler(self)
        self.clusters: Clusters | None = (
            Clusters(self, launch.cluster) if launch.clustered else None
        )
        self.barriers = Barriers(self)
        self.engine = AsyncEngine(self)
        self.tensor_memory = TensorMemory(self) if launch.entry.tensor_memory else None
        self.launch_control: LaunchControl | None = None  # once a block asks for a cluster
        access = launch.observers.access
        self.on_access = None if access is ignore_event else access
        group = Group(self, self.all_lanes(), launch.code, 0, list(launch.code.blank))
        launch.observers.batch_starts(self)
        self.frames.begin(group)
        self.scheduler.start(group)

    def finish(self, group: Group) -> None:
        """The lanes of a group have come to the end of the kernel."""
        self.live_lanes -= np.bincount(group.lanes >> 5, minlength=len(self.live_lanes))
        self.live_threads -= np.bincount(group.slots, minlength=self.block_count)
        self.exits += 1
        for other in self.scheduler.groups:
            other.stalled = False
        self.barriers.recheck()
        blocks = group.blocks
        self.launch.observers.blocks_end(self, blocks[self.live_threads[blocks] == 0])
        if self.tensor_memory is not None:
            self.tensor_memory.leave(group)
        if self.clusters is not None:
            self.clusters.leave(group)

    def end(self) -> None:
        """Every lane has ended."""
        self.engine.finish()
        self.launch.observers.batch_ends(self)
        self.memory.drop_views()
        self.launch.issued += self.scheduler.issued
