"""The memory that the blocks and threads of a batch have of their own: shared and local arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..findings.outside import LOCAL
from ..isa.gpu_constants import RESERVED
from ..isa.symbols import readable_name
from ..memory.address_space import LOCAL_WINDOW, SHARED_WINDOW, Region, Regions
from ..numerics.rounding import round_up

if TYPE_CHECKING:
    from .batch import Batch
    from .launch_state import LaunchState

LOCAL_IN_FLIGHT = 2**30  # bytes of local memory that threads in flight may have here


def shared_size(launch: LaunchState) -> int:
    """Bytes of shared memory from the beginning of a block's to that of the next."""
    entry = launch.entry
    ends = [offset + size for offset, size in entry.shared.values() if size > 0]
    if launch.dynamic_shared:
        ends.append(entry.dynamic_offset + launch.dynamic_shared)
    return round_up(max(ends, default=0), 1024)


def shared_memory(launch: LaunchState, blocks: int, stride: int) -> Regions:
    """The shared arrays of some blocks, a copy for each; ``stride``: as of :func:`shared_size`."""
    regions = Regions()
    bank = np.full(blocks * stride, 0xFF, np.uint8)
    for name, (offset, size) in launch.entry.shared.items():
        dynamic = size < 0
        size = launch.dynamic_shared if dynamic else size
        start = SHARED_WINDOW + offset
        found = regions.below(start)
        if found is not None and found.start == start:
            continue  # one more name of the dynamic memory
        reserved = name == RESERVED
        if reserved:
            bank.reshape(blocks, -1)[:, offset : offset + size] = 0
        storage = bank[offset:]
        regions.add(
            Region(
                readable_name(name),
                "shared",
                start,
                size,
                storage,
                "block",
                stride,
                zeroed=reserved,
                dynamic=dynamic,
            )
        )
    return regions


def make_local(batch: Batch, place: int, size: int) -> bool:
    """Make a local array of ``size`` bytes at ``place`` for each lane, where it is not there yet;
    False: this machine has no memory left for it."""
    start = LOCAL_WINDOW + place
    region = batch.memory.locals.below(start)
    if region is not None and region.start == start and region.size == size:
        return True
    if region is not None and region.end > start:
        batch.memory.locals.remove(region)
    stride = round_up(size, 16)
    needed = stride * batch.block_count * batch.lanes_per_block
    if sum(r.storage.size for r in batch.memory.locals) + needed > LOCAL_IN_FLIGHT:
        return False
    storage = np.full(needed, 0xFF, np.uint8)
    batch.memory.locals.add(Region(LOCAL, "local", start, size, storage, "lane", stride))
    return True
