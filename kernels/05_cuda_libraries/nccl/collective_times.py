"""What collectives cost by size: the library's, and on GPUs all-reduces of our own as well.

On GPUs each is run 20 times in a CUDA graph, so that the host plays no part, and needs CuPy. On the
CPU the host's clock times gloo's all-reduce. The slowest rank counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

SIZES = tuple(1 << k for k in range(10, 29, 2))  # bytes of the longest vector of a rank
SIZES_ON_CPU = SIZES[:7:2]
IN_A_ROW, REPLAYS = 20, 7
Way = Callable[[], Any]


def library_ways(n: int, world: Any) -> dict[str, Way]:
    """The backend's collectives on vectors of ``n`` floats, by name."""
    x, got = (torch.zeros(n, device=world.device) for _ in range(2))
    piece = torch.zeros(n // world.ranks, device=world.device)
    right, left = (world.rank + 1) % world.ranks, (world.rank - 1) % world.ranks
    # PyTorch 2.13 has new names for these two.
    scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
    gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor

    def send_recv() -> None:
        both = [dist.P2POp(dist.isend, x, right), dist.P2POp(dist.irecv, got, left)]
        for message in dist.batch_isend_irecv(both):
            message.wait()

    return {
        "all_reduce": lambda: dist.all_reduce(x),
        "broadcast": lambda: dist.broadcast(x, src=0),
        "reduce_scatter": lambda: scatter(piece, x[: len(piece) * world.ranks]),
        "all_gather": lambda: gather(got[: len(piece) * world.ranks], piece),
        "send_recv": send_recv,
    }


def in_graph_us(way: Way, world: Any) -> float:
    """Microseconds of one of 20 in a row, as the GPUs see it: a median."""
    for _ in range(3):
        way()
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _ in range(IN_A_ROW):
            way()
    return _slowest([_events_us(graph.replay) for _ in range(REPLAYS)], world)


def from_python_us(way: Way, world: Any) -> float:
    """The same with no graph: Python calls it 20 times in a row."""

    def run() -> None:
        for _ in range(IN_A_ROW):
            way()

    run()
    if world.device.type == "cuda":
        return _slowest([_events_us(run) for _ in range(REPLAYS)], world)
    times = []
    for _ in range(REPLAYS):
        dist.barrier()
        start = time.perf_counter()
        run()
        times.append(1e6 * (time.perf_counter() - start) / IN_A_ROW)
    return _slowest(times, world)


def _events_us(run: Way) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    dist.barrier()
    start.record()
    run()
    end.record()
    end.synchronize()
    return 1e3 * start.elapsed_time(end) / IN_A_ROW


def _slowest(times: list[float], world: Any) -> float:
    found = torch.tensor([statistics.median(times)], device=world.device)
    dist.all_reduce(found, op=dist.ReduceOp.MAX)
    return round(float(found), 3)


def run(world: Any) -> None:
    times: dict[str, list[tuple[int, float]]] = {}

    def add(name: str, size: int, took_us: float) -> None:
        times.setdefault(name, []).append((size, took_us))
        world.keep("times_us", times)

    world.keep("ranks", world.ranks)
    if world.device.type == "cpu":
        for size in SIZES_ON_CPU:
            way = library_ways(size // 4, world)["all_reduce"]
            add("all_reduce", size, from_python_us(way, world))
        return
    from own_all_reduce import memory_for, own_ways  # CuPy and the course, of no use to gloo

    world.keep("nccl", ".".join(map(str, torch.cuda.nccl.version())))
    for size in SIZES:
        ways = library_ways(size // 4, world)
        for name, way in ways.items():
            add(name, size, in_graph_us(way, world))
        add("all_reduce from Python", size, from_python_us(ways["all_reduce"], world))
    memory = memory_for(SIZES[-1], world)
    for size in SIZES:
        for name, way in own_ways(size // 4, world, memory).items():
            add(name, size, in_graph_us(way, world))
    dist.barrier()  # nobody leaves while its memory is in use
