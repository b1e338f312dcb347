"""Memory of the host: copies to and from a GPU, and managed memory that moves by itself."""

from __future__ import annotations

import ctypes
import statistics
import time
from typing import Any

import numpy as np

from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...launching.modules import load

SCALE = "04_first_kernels/exercises/clamp.cu"
SOURCES = (SCALE,)
COPIED = tuple(2**10 * 4**n for n in range(2, 10))


def transfer_bandwidth(nbytes: int, *, pinned: bool, to_device: bool = True) -> float:
    """Bytes a second of one copy between the host and the device, its start and end included."""
    need_gpu()
    host = _pinned(nbytes) if pinned else np.ones(nbytes, np.uint8)
    device = cp.ones(nbytes, cp.uint8)
    runtime, stream = cp.cuda.runtime, cp.cuda.Stream.null.ptr
    ends = (device.data.ptr, host.ctypes.data) if to_device else (host.ctypes.data, device.data.ptr)
    kind = runtime.memcpyHostToDevice if to_device else runtime.memcpyDeviceToHost
    times = []
    for _ in range(3 + max(5, min(200, 2**30 // nbytes))):
        runtime.deviceSynchronize()
        start = time.perf_counter()
        runtime.memcpyAsync(*ends, nbytes, kind, stream)
        runtime.deviceSynchronize()
        times.append(time.perf_counter() - start)
    return nbytes / statistics.median(times[3:])


def transfers() -> list[dict[str, int]]:
    """Bytes a second in and out, pageable and pinned, for copies of several sizes."""
    found = []
    for size in COPIED:
        entry = {"bytes": size}
        for way in ("in", "out"):
            for kind in ("pageable", "pinned"):
                rate = transfer_bandwidth(size, pinned=kind == "pinned", to_device=way == "in")
                entry[f"{way}_{kind}"] = round(rate)
        found.append(entry)
    return found


def managed_memory(nbytes: int = 2**29) -> dict[str, float]:
    """Milliseconds of one kernel that reads and writes managed memory which the host wrote last.

    ``first``: the pages still lie on the host; ``again``: they have moved; ``plain``: the same
    kernel over memory of the device.
    """
    need_gpu()
    n = nbytes // 4
    scale = load(SCALE)
    grid, block = (sm_count() * 8,), (256,)

    def once(x: Any) -> float:
        cp.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        scale(grid, block, (x, x, -0.5, 0.5, n))
        return (time.perf_counter() - start) * 1e3

    def managed() -> tuple[Any, np.ndarray]:
        import cupy

        memory = cupy.cuda.malloc_managed(nbytes)
        buffer = memoryview((ctypes.c_char * nbytes).from_address(memory.ptr))
        return cp.ndarray(n, cp.float32, memory), np.frombuffer(buffer, np.float32)

    x, host = managed()
    found = {}
    host[:] = 1.0
    once(x)  # compiled and loaded
    firsts, agains = [], []
    for _ in range(3):
        host[:] = 1.0  # the pages come back to the host
        firsts.append(once(x))
        agains.append(min(once(x) for _ in range(3)))
    found["first"], found["again"] = statistics.median(firsts), statistics.median(agains)
    plain = cp.ones(n, cp.float32)
    found["plain"] = min(once(plain) for _ in range(5))
    return {"bytes": nbytes} | {name: round(value, 4) for name, value in found.items()}


def _pinned(nbytes: int) -> np.ndarray:
    import cupy

    array = np.frombuffer(cupy.cuda.alloc_pinned_memory(nbytes), np.uint8, nbytes)
    array[:] = 1
    return array
