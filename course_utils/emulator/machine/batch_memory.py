"""The memory that the lanes of a batch can reach: which array is at an address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..findings.fault_messages import access_fault
from ..memory.address_space import (
    GLOBAL,
    GLOBAL_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
    Region,
    Regions,
)
from .block_memory import shared_memory, shared_size
from .clusters import RANKS

if TYPE_CHECKING:
    from .accesses import Site
    from .lanes import Group
    from .launch_state import LaunchState

BEFORE = 2**40  # bytes before a memory that an access is said to miss it by


class BatchMemory:
    """The arrays of ``blocks`` blocks of a launch that run together, by generic address.

    ``shared`` holds a copy of each array for every block, ``shared_stride`` bytes apart;
    ``locals`` one for every lane.
    """

    def __init__(self, launch: LaunchState, blocks: int) -> None:
        self._launch = launch
        self.shared_stride = shared_size(launch)
        self.shared = shared_memory(launch, blocks, self.shared_stride)
        self.locals = Regions()
        self._windows = {
            0: GLOBAL.shared,
            SHARED_WINDOW: self.shared,
            LOCAL_WINDOW: self.locals,
            PARAM_WINDOW: launch.parameter_regions,
        }

    def region_at(self, address: int) -> Region | None:
        """The region that the byte at a generic address belongs to."""
        if self._launch.clustered and address >> 48 == SHARED_WINDOW >> 48:
            address &= ~RANKS
        regions = self.regions_of(address)
        region = regions.below(address) if regions else None
        return region if region is not None and address < region.end else None

    def regions_of(self, address: int) -> Regions | None:
        """The arrays of the memory that a generic address points into, or just before. None outside
        all."""
        if address >= GLOBAL_WINDOW - BEFORE:
            return GLOBAL.regions
        return self._windows.get((address + BEFORE) // WINDOW_SIZE * WINDOW_SIZE)

    def freed_at(self, address: int) -> tuple[int, str] | None:
        """(start, name) of the freed array that held a generic address."""
        return GLOBAL.freed_at(address)

    def arguments(self) -> Iterator[Region]:
        """The arrays whose addresses were passed to the kernel."""
        for data in self._launch.parameters.values():
            if len(data) == 8 and (region := self.region_at(int.from_bytes(data, "little"))):
                yield region

    def argument(self, name: str) -> Region | None:
        """The array whose address was passed as the kernel's parameter ``name``."""
        data = self._launch.parameters.get(name, b"")
        return self.region_at(int.from_bytes(data, "little")) if len(data) == 8 else None

    def region_starts(self, site: Site, group: Group, addresses: np.ndarray) -> np.ndarray:
        """The start of each lane's region, uint64 (n,). Raises the KernelFault of the first lane
        that has none."""
        starts, left = np.zeros(group.n, np.uint64), np.ones(group.n, bool)
        aligned = addresses % np.uint64(site.bytes) == 0
        while left.any():
            n = int(left.argmax())
            address = int(addresses[n])
            region = self.region_at(address)
            if (
                region is None
                or address + site.bytes > region.end
                or address % site.bytes
                or (region.read_only and site.writes)
            ):
                raise access_fault(group.batch, site, group, n, address, region)
            regions = self.regions_of(address)
            after = regions.above(region.start) if regions else None
            last = region.end - site.bytes
            last = last if after is None else min(last, after.start - 1)
            same = left & aligned & (addresses >= np.uint64(region.start))
            same &= addresses <= np.uint64(last)
            same[n] = True
            starts[same] = region.start
            left &= ~same
        return starts

    def drop_views(self) -> None:
        """Free the local arrays now, while references to the batch are still to be collected."""
        for region in self.locals:
            region.views.clear()
            region.storage = region.storage[:0].copy()
