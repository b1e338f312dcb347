"""The special registers: who a thread is, and how large its launch is.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..isa.gpu_constants import RESERVED_SHARED, SHARED_UNIT, SMS, WARPS_PER_SM
from ..numerics.rounding import round_up
from .lanes import Group

WIDE = ("gridid", "current_graph_exec")  # registers of 64 bits


def special_register(name: str, group: Group) -> np.ndarray | None:
    """The value of a special register for the lanes of a group, uint32 but for those of WIDE;
    None for one that is not known."""
    batch, launch = group.batch, group.batch.launch
    block = launch.block

    def of_threads(values: np.ndarray) -> np.ndarray:
        """For each lane the one of ``values`` that belongs to its thread of a block."""
        return np.tile(u32(values), batch.block_count)[group.lane_index]

    base, _, axis = name.partition(".")
    position = "xyz".find(axis) if axis else -1
    if base == "tid":
        if block[position] == 1:
            return u32(0)
        threads = np.arange(batch.lanes_per_block)
        x, rest = threads % block[0], threads // block[0]
        return of_threads((x, rest % block[1], rest // block[1])[position])
    if base == "ctaid":
        return _block_index(group, position)
    if base in WIDE:  # 0: the launch belongs to no graph
        return np.array([base == "gridid"], np.uint64)
    if base in ("envreg1", "envreg2"):  # where a grid that synchronises keeps its counter
        shift = 32 if base == "envreg1" else 0
        return u32(launch.grid_workspace() >> shift & 0xFFFFFFFF)
    if base.startswith("envreg"):
        return u32(0)
    return u32(_SIMPLE[base](group, position)) if base in _SIMPLE else None


def u32(value: np.ndarray | int) -> np.ndarray:
    """A number or an array as uint32 with one dimension."""
    return np.atleast_1d(np.asarray(value)).astype(np.uint32)


def _block_index(group: Group, axis: int) -> np.ndarray:
    """``%ctaid`` along one axis: uint32, (n,) or (1,)."""
    batch = group.batch
    if batch.block_count == 1 or batch.launch.grid[axis] == 1:
        return u32(batch.block_index(batch.first)[axis])
    blocks = np.arange(batch.first, batch.first + batch.block_count)
    numbers = u32(batch.block_index(blocks)[axis])
    return np.repeat(numbers, batch.lanes_per_block)[group.lane_index]


def _reserved(group: Group, place: int) -> np.ndarray | int:
    """The shared address of a byte of the memory that is kept back in each block; this machine
    makes it where a kernel asks for it. cooperative_groups has its notes there, of groups of
    several warps."""
    clusters, start = group.batch.clusters, group.batch.launch.entry.reserved_offset + place
    return start if clusters is None else clusters.base(group) + np.uint32(start)


def _whole_shared(group: Group) -> int:
    launch = group.batch.launch
    used = launch.dynamic_shared + launch.entry.static_shared
    return round_up(used, SHARED_UNIT) + RESERVED_SHARED


def _warp_slot(group: Group) -> np.ndarray:
    """``%warpid``: which of the multiprocessor's slots a warp has. Of the blocks on one of them,
    only the first has its warps in slots 0, 1, 2, ..."""
    batch = group.batch
    warps = batch.lanes_per_block // 32
    before = (batch.first + group.slots) // SMS % max(WARPS_PER_SM // warps, 1)
    return warps * before + (group.lanes % batch.lanes_per_block >> 5)


_SIMPLE: dict[str, Callable[[Group, int], Any]] = {  # of a group, and an axis
    "ntid": lambda g, at: g.batch.launch.block[at],
    "nctaid": lambda g, at: g.batch.launch.grid[at],
    "laneid": lambda g, at: g.lanes & 31,
    "warpid": lambda g, at: _warp_slot(g),
    "nwarpid": lambda g, at: WARPS_PER_SM,
    "smid": lambda g, at: (g.batch.first + g.slots) % SMS,
    "nsmid": lambda g, at: SMS,
    "lanemask_eq": lambda g, at: 1 << (g.lanes & 31),
    "lanemask_lt": lambda g, at: (1 << (g.lanes & 31)) - 1,
    "lanemask_le": lambda g, at: (2 << (g.lanes & 31)) - 1,
    "lanemask_ge": lambda g, at: 0x1_0000_0000 - (1 << (g.lanes & 31)),
    "lanemask_gt": lambda g, at: 0x1_0000_0000 - (2 << (g.lanes & 31)),
    "dynamic_smem_size": lambda g, at: g.batch.launch.dynamic_shared,
    "total_smem_size": lambda g, at: (
        g.batch.launch.dynamic_shared + g.batch.launch.entry.static_shared
    ),
    "clusterid": lambda g, at: _block_index(g, at) // g.batch.launch.cluster[at],
    "nclusterid": lambda g, at: g.batch.launch.grid[at] // g.batch.launch.cluster[at],
    "cluster_ctaid": lambda g, at: _block_index(g, at) % g.batch.launch.cluster[at],
    "cluster_nctaid": lambda g, at: g.batch.launch.cluster[at],
    "cluster_ctarank": lambda g, at: g.batch.clusters.ranks(g) if g.batch.clusters else 0,
    "cluster_nctarank": lambda g, at: math.prod(g.batch.launch.cluster),
    "is_explicit_cluster": lambda g, at: int(g.batch.launch.clustered),
    "aggr_smem_size": lambda g, at: _whole_shared(g),
    "reserved_smem_offset_begin": lambda g, at: _reserved(g, 0),
    "reserved_smem_offset_0": lambda g, at: _reserved(g, 0),
    "reserved_smem_offset_1": lambda g, at: _reserved(g, RESERVED_SHARED // 2),
    "reserved_smem_offset_end": lambda g, at: _reserved(g, RESERVED_SHARED),
    "reserved_smem_offset_cap": lambda g, at: RESERVED_SHARED,
    "shared_base": lambda g, at: g.batch.clusters.base(g) if g.batch.clusters else 0,
}
