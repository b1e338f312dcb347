"""How a GPU runs warps and blocks: latency hidden by more warps, and the waves of a grid.

The notebook on the execution model draws what :func:`measure` found, on every machine.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...devices.properties import sm_count, threads_per_sm
from ...devices.selection import cp
from ...launching.modules import load
from ...observing.timing import bench

TOPIC = "03_gpu_introduction/execution"
SOURCES = tuple(f"{TOPIC}/{name}.cu" for name in ("fma_chain", "load_chain", "block_diary"))
WARP = 32
WARPS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64)
FMA_STEPS, LOAD_STEPS = 65536, 256
LINES = 1 << 22  # of 128 bytes: 512 MB, more than any L2
BLOCK, CYCLES = 1024, 200_000


def latency_hiding(warps: int) -> tuple[float, float]:
    """Milliseconds of a chain of FMAs and of a chain of loads with ``warps`` warps on each SM."""
    per_block = warps if warps <= WARP else warps // 2
    grid, block = (sm_count() * warps // per_block,), (WARP * per_block,)
    n = grid[0] * block[0]
    x, y, at = cp.ones(n, cp.float32), cp.empty(n, cp.float32), cp.empty(n, cp.int32)
    fma, chase = load(f"{TOPIC}/fma_chain.cu"), load(f"{TOPIC}/load_chain.cu")
    ring = _ring()
    return (
        bench(lambda: fma(grid, block, (x, y, FMA_STEPS)), repeats=10).median_ms,
        bench(lambda: chase(grid, block, (ring, at, LOAD_STEPS)), repeats=10).median_ms,
    )


@functools.cache
def _ring() -> cp.ndarray:
    """One random tour of all lines; lane l of a warp stays at element l of each line."""
    tour = np.random.default_rng(0).permutation(LINES).astype(np.int32)
    following = np.empty(LINES, np.int32)
    following[tour] = np.roll(tour, -1)
    lanes = cp.arange(WARP, dtype=cp.int32)
    return (cp.asarray(following)[:, None] * WARP + lanes).ravel()


def block_times() -> dict[str, list[int] | int]:
    """Where and when, in nanoseconds, each block of two and a half waves ran."""
    each = threads_per_sm() // BLOCK
    blocks = sm_count() * each * 5 // 2
    diary = load(f"{TOPIC}/block_diary.cu")
    sm, ticket, counter = (cp.zeros(n, cp.int32) for n in (blocks, blocks, 1))
    begin, end = (cp.zeros(blocks, cp.int64) for _ in range(2))
    for _ in range(2):  # the first run warms up
        counter[:] = 0
        diary((blocks,), (BLOCK,), (sm, ticket, begin, end, counter, CYCLES))
    zero = begin.min()
    return {
        "threads": BLOCK,
        "blocks_each": each,
        "sm": sm.get().tolist(),
        "begin_ns": (begin - zero).get().tolist(),
        "end_ns": (end - zero).get().tolist(),
    }


def measure() -> dict[str, Any]:
    """Milliseconds of both chains by warps on an SM, and the blocks of a grid in their waves."""
    times = [latency_hiding(warps) for warps in WARPS]
    return {
        "warps_per_sm": list(WARPS),
        "fma_ms": [round(fma, 5) for fma, _ in times],
        "load_ms": [round(chase, 5) for _, chase in times],
        "blocks": block_times(),
    }
