"""Launches that a kernel asks for (dynamic parallelism): they wait for the end of its grid.

A kernel may start neither before the launch of it nor after the end of the grid that launches it.
Here it starts at that end. So do copies and fills of memory. They run in the order in which they
were asked for, which is the order of every stream. Work of ``cudaStreamTailLaunch`` comes
after all of them.
Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from ..findings.wording import shape_text
from ..isa.gpu_constants import Triple
from ..isa.location import Location
from ..isa.symbols import readable_name
from ..memory.address_space import GLOBAL, Region

Thread = tuple[int, int]  # block of the grid, thread of it

DEEPEST = 24  # launches in launches
MOST_PENDING = 2048  # cudaLimitDevRuntimePendingLaunchCount, where no program changes it
LEGACY, PER_THREAD, TAIL, FIRE_AND_FORGET = range(1, 5)  # streams with names
FIRST_HANDLE = 1 << 32  # of streams and events that a kernel makes


class DeviceStatus(IntEnum):
    """Errors of the device runtime, as cudaError_t numbers them."""

    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorMemoryAllocation = 2
    cudaErrorInvalidConfiguration = 9
    cudaErrorLaunchMaxDepthExceeded = 65
    cudaErrorInvalidDeviceFunction = 98
    cudaErrorInvalidResourceHandle = 400


@dataclass(eq=False)
class ChildLaunch:
    """A kernel with its shape. ``arguments`` is the memory into which the kernel that launches it
    stores its arguments. ``thread`` and ``block``: who launches it, at ``location``."""

    name: str
    grid: Triple
    block: Triple
    shared: int
    arguments: Region
    thread: Triple
    parent_block: Triple
    location: Location | None

    def __str__(self) -> str:
        grid, block = map(shape_text, (self.grid, self.block))
        at = f" at {self.location}" if self.location else ""
        return (
            f"{readable_name(self.name)}<<<{grid}, {block}>>>, launched by thread {self.thread} of "
            f"block {self.parent_block}{at}"
        )


Work = ChildLaunch | Callable[[], None]


@dataclass(eq=False)
class ChildLaunches:
    """Work that threads of one grid have asked for, and ``depth``, the launches around that grid.

    ``buffers``: launches that lack their arguments, by the address of those. ``errors``: the last
    of each thread. ``handles``: streams and events that there are.
    """

    depth: int
    ordinary: list[Work] = field(default_factory=list)
    last: list[Work] = field(default_factory=list)
    buffers: dict[int, ChildLaunch] = field(default_factory=dict)
    errors: dict[Thread, DeviceStatus] = field(default_factory=dict)
    handles: set[int] = field(default_factory=set)
    pending: int = 0

    def buffer(self, child: ChildLaunch) -> int:
        """Keep a launch until its arguments are there. Returns where they are to be stored."""
        address = child.arguments.start
        self.buffers[address] = child
        return address

    def ask(self, work: Work, stream: int) -> None:
        """Work that runs when the grid has ended."""
        (self.last if stream == TAIL else self.ordinary).append(work)
        self.pending += isinstance(work, ChildLaunch)

    def knows(self, stream: int) -> bool:
        """Whether a kernel may use a stream: it has a name, or the grid has made it."""
        return stream <= FIRE_AND_FORGET or stream in self.handles

    def new_handle(self) -> int:
        """A stream or an event."""
        handle = FIRST_HANDLE + len(self.handles)
        self.handles.add(handle)
        return handle

    def take(self) -> list[Work]:
        """All work, in the order in which it runs. It is forgotten here. Launches that never came
        are given up."""
        for child in self.buffers.values():
            GLOBAL.free(child.arguments)
        work = self.ordinary + self.last
        self.ordinary, self.last, self.buffers = [], [], {}
        return work


def new_buffer(name: str, size: int) -> Region:
    """Memory for the arguments of a kernel."""
    return GLOBAL.add(f"arguments of {readable_name(name)}", np.zeros(max(size, 1), np.uint8))
