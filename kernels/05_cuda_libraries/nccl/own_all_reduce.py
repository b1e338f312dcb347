"""The course's all-reduce kernels on several GPUs, one rank on each, over each other's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from peer_memory import PeerMemory

from course_utils import cp, load, pointers
from course_utils.paths import kernel_file

CHAPTER = "05_cuda_libraries"
BLOCK, MOST_BLOCKS = 1024, 132
FLAGGED_UP_TO = 1 << 20  # floats
Way = Callable[[], Any]


def memory_for(longest: int, world: Any) -> PeerMemory:
    """Room for what own_ways takes with vectors of up to ``longest`` bytes, on this rank's GPU."""
    cp.cuda.Device(world.device.index).use()
    ranks = world.ranks
    nbytes = longest * (3 + ranks) + 16 * ranks * FLAGGED_UP_TO + (1 << 20)
    return PeerMemory(world.rank, ranks, nbytes)


def own_ways(n: int, world: Any, memory: PeerMemory) -> dict[str, Way]:
    """Our all-reduces of ``n`` floats, by kernel, each checked against the sum of all inputs."""
    ranks, rank = world.ranks, world.rank
    inputs = [np.random.default_rng(r).standard_normal(n, np.float32) for r in range(ranks)]
    wanted = sum(inputs[1:], inputs[0])
    memory.start_again()
    x, y, buffers = (memory.take(n, np.float32) for _ in range(3))
    boxes = memory.take(n * ranks, np.float32)
    met = [[memory.take(MOST_BLOCKS * k, np.uint32) for k in (ranks, 1)] for _ in range(2)]
    x[rank].set(inputs[rank])
    buffers[rank].set(inputs[rank])
    cp.cuda.runtime.deviceSynchronize()
    dist.barrier()  # inputs are there
    grid, quarter = (min(MOST_BLOCKS, -(-k // BLOCK)) for k in (n, -(-n // 4 // ranks)))
    launches = {
        "all_reduce_push": (grid, (x, y, boxes, *met[0]), (n,), y),
        "all_reduce_slices": (quarter, (buffers, *met[1]), (n,), buffers),
    }
    if n <= FLAGGED_UP_TO:
        words, turns = memory.take(2 * ranks * n, np.uint64), memory.take(MOST_BLOCKS, np.uint32)
        launches["all_reduce_flagged"] = (grid, (x, y, words, turns), (n, n), y)
    return {
        name: _own_launch(name, blocks, arrays, sizes, world, result[rank], wanted)
        for name, (blocks, arrays, sizes, result) in launches.items()
    }


def _own_launch(
    name: str, blocks: int, arrays: tuple, sizes: tuple, world: Any, result: Any, wanted: Any
) -> Way:
    """The launch as a function, after one that is checked."""
    kernel = load(kernel_file(name, CHAPTER)).kernel
    values = kernel.convert((*map(pointers, arrays), world.rank, world.ranks, *sizes))

    def way() -> None:
        with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            kernel.raw((blocks, 1), (BLOCK,), values)

    torch.cuda.synchronize()
    dist.barrier()  # the kernel is loaded everywhere
    way()
    torch.cuda.synchronize()
    if not np.array_equal(result.get(), wanted):
        raise ValueError(f"{name} of {len(wanted)} floats: wrong on rank {world.rank}")
    result.fill(0)  # so that sums of sums stay small
    torch.cuda.synchronize()
    return way
