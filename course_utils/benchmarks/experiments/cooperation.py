"""Steps of a whole grid four ways, what a window of the L2 cache buys, and memory of the host read
by kernels.

The notebook on cooperation draws what :func:`measure` found, on every machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ...checking import difference
from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.early_launch import launch_early
from ...launching.modules import load
from ...observing.timing import bench
from ...paths import KERNELS
from .transfers import SCALE

TOPIC = "04_first_kernels/cooperation"
STEP, GRID, BARRIER, LOOKUP = (
    f"{TOPIC}/{name}.cu"
    for name in ("smooth_step", "smooth_steps_grid", "smooth_steps_barrier", "table_lookup")
)
SOURCES = (STEP, GRID, BARRIER, LOOKUP, SCALE)
STEPS, BLOCK = 200, 256
STEP_SIZES = tuple(1 << k for k in range(10, 23, 2))
GROUPS, MIB = 1 << 24, 1 << 20
TABLES_MB = (4, 8, 16, 20, 24, 28, 32, 40, 48, 64)
HOST_SIZES = tuple(1 << k for k in range(8, 27, 2))
PASSES = (1, 4)


def smoothed(x: np.ndarray, steps: int) -> np.ndarray:
    """float64: ``steps`` times the mean of each element and its two neighbours."""
    x = x.astype(np.float64)
    for _ in range(steps):
        wide = np.pad(x, 1, mode="edge")
        x = (wide[:-2] + wide[1:-1] + wide[2:]) / 3
    return x


def grid_steps(n: int) -> dict[str, float]:
    """Microseconds of one step of smoothing ``n`` floats, of 200 in a row: ``launches`` one after
    the other in a graph, the same begun ``early``, and in one launch with cooperative groups'
    ``grid_sync`` or with a ``barrier`` made by hand. At most one block on each SM.

    Raises LessonError where a way gives a wrong result.
    """
    need_gpu()
    blocks = min(sm_count(), ceil_div(n, BLOCK))
    start = np.random.default_rng(n).random(n, np.float32)
    x, y, arrived = cp.asarray(start), cp.empty(n, cp.float32), cp.zeros(1, cp.uint32)
    cp.cuda.Device().synchronize()
    exact = smoothed(start[:4096], 8)[:2048]
    stream = cp.cuda.Stream(non_blocking=True)
    module = cp.RawModule(code=_text(GRID), enable_cooperative_groups=True, backend="nvrtc")
    together = module.get_function("smooth_steps_grid")
    by_hand = load(BARRIER).kernel.raw

    def cooperative(steps: int) -> None:
        together((blocks,), (BLOCK,), (x, y, np.int32(n), np.int32(steps)))

    def own(steps: int) -> None:
        arrived.fill(0)
        by_hand((blocks,), (BLOCK,), (x, y, arrived, np.int32(n), np.int32(steps)))

    found = {}
    with stream:
        ways = {
            "launches": _chain(x, y, blocks, early=False),
            "early": _chain(x, y, blocks, early=True),
            "grid_sync": cooperative,
            "barrier": own,
        }
        for name, way in ways.items():
            x[...] = cp.asarray(start)
            way(8)
            if wrong := difference(x[:2048], exact, rtol=1e-5, atol=1e-6):
                raise LessonError(f"Smoothing {n} floats, {name}: {wrong}.")
            graph = _captured(stream, partial(way, STEPS))
            found[name] = round(1e3 * bench(graph, repeats=9, flush_l2=False).median_ms / STEPS, 3)
    return found


def _chain(x: Any, y: Any, blocks: int, early: bool) -> Callable[[int], None]:
    raw = load(STEP).kernel.raw
    shape, n = ((blocks, 1, 1), (BLOCK, 1, 1)), np.int32(x.size)

    def run(steps: int) -> None:
        for step in range(steps):
            arguments = (x, y, n) if step % 2 == 0 else (y, x, n)
            if early:
                launch_early(raw, *shape, arguments, 0)
            else:
                raw(*shape, arguments)

    return run


def _captured(stream: Any, run: Callable[[], None]) -> Callable[[], None]:
    """What ``run`` launches, as a graph."""
    run()
    stream.begin_capture()
    run()
    launch: Callable[[], None] = stream.end_capture().launch
    return launch


def _text(name: str) -> str:
    return (KERNELS / name).read_text(encoding="utf-8")


@contextmanager
def window(stream: Any, array: Any, bytes_kept: int, others_stream: bool) -> Iterator[None]:
    """Inside the ``with``, kernels on ``stream`` have the L2 cache keep ``array``, as much of it as
    goes into ``bytes_kept`` bytes put aside for that. ``others_stream``: the rest of it may be
    evicted first, rather than like anything else."""
    from cuda.bindings import driver

    def call(result: Any) -> None:
        if result[0]:
            raise LessonError(f"The driver refused a window of the L2 cache: {result[0].name}.")

    limit, kinds = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, driver.CUaccessProperty
    name = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
    normal, streaming = kinds.CU_ACCESS_PROPERTY_NORMAL, kinds.CU_ACCESS_PROPERTY_STREAMING
    value = driver.CUstreamAttrValue()

    def point(nbytes: int) -> None:
        wanted = value.accessPolicyWindow
        wanted.base_ptr, wanted.num_bytes = array.data.ptr, nbytes
        wanted.hitRatio = min(1.0, bytes_kept / array.nbytes)
        wanted.hitProp = kinds.CU_ACCESS_PROPERTY_PERSISTING
        wanted.missProp = streaming if others_stream else normal
        value.accessPolicyWindow = wanted
        call(driver.cuStreamSetAttribute(driver.CUstream(stream.ptr), name, value))

    call(driver.cuCtxSetLimit(limit, bytes_kept))
    point(array.nbytes)
    try:
        yield
    finally:
        point(0)
        call(driver.cuCtxResetPersistingL2Cache())
        call(driver.cuCtxSetLimit(limit, 0))


def _attribute(name: str) -> int:
    """What the driver says of the GPU at hand."""
    from cuda.bindings import driver

    which = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    value: int
    error, value = driver.cuDeviceGetAttribute(which, cp.cuda.Device().id)
    if error:
        raise LessonError(f"The driver does not tell {name}: {error.name}.")
    return value


def l2_windows() -> dict[str, Any]:
    """Milliseconds of table_lookup.cu by the size of its table: ``plain``; with a ``window`` and
    all that may be put aside for it; with ``fitted``, as much put aside as the table takes; and
    with no window, but x and y ``streamed``."""
    need_gpu()
    most = _attribute("MAX_PERSISTING_L2_CACHE_SIZE")
    kernel = load(LOOKUP).kernel.raw
    streamed = load(LOOKUP, defines={"STREAMED": 1}).kernel.raw
    x, y = cp.ones(4 * GROUPS, cp.float32), cp.empty(GROUPS, cp.float32)
    rows = []
    stream = cp.cuda.Stream(non_blocking=True)
    for megabytes in TABLES_MB:
        table = cp.ones(megabytes * MIB // 4, cp.float32)
        cp.cuda.Device().synchronize()
        arguments = x, table, y, np.int32(GROUPS), np.uint32(table.size)

        def took(kernel: Any, arguments: tuple[Any, ...] = arguments) -> float:
            y.fill(0)
            run = partial(kernel, (GROUPS // BLOCK,), (BLOCK,), arguments)
            found = bench(run, warmup=3, repeats=9, flush_l2=False).median_ms
            if not bool((y == 5).all()):
                raise LessonError("table_lookup: wrong.")
            return round(found, 5)

        with stream:
            row = {"megabytes": megabytes, "plain_ms": took(kernel)}
            row["streamed_ms"] = took(streamed)
            with window(stream, table, most, others_stream=True):
                row["window_ms"] = took(kernel)
            with window(stream, table, min(table.nbytes, most), others_stream=False):
                row["fitted_ms"] = took(kernel)
        rows.append(row)
    return {
        "l2_bytes": _attribute("L2_CACHE_SIZE"),
        "kept_bytes": most,
        "groups": GROUPS,
        "tables": rows,
    }


def host_memory(n: int, passes: int) -> dict[str, float]:
    """Microseconds, seen by the host, until y = clamp(x) of ``n`` floats, which lie in pinned
    memory of the host, is there again: ``copied`` to the device and back, or ``mapped``, where the
    kernel reads and writes the host's memory itself. ``passes``: times that the kernel runs.
    Raises LessonError for a wrong y."""
    need_gpu()
    import cupy

    nbytes, stream = 4 * n, cp.cuda.Stream(non_blocking=True)
    memories = [cupy.cuda.alloc_pinned_memory(nbytes) for _ in range(2)]
    hosts = [np.frombuffer(memory, np.float32, n) for memory in memories]
    hosts[0][:] = np.linspace(-1, 1, n)
    mapped = [
        cp.ndarray(
            n,
            cp.float32,
            cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(memory.ptr, nbytes, memory), 0),
        )
        for memory in memories
    ]
    device = [cp.empty(n, cp.float32) for _ in range(2)]
    runtime, kernel = cp.cuda.runtime, load(SCALE).kernel.raw
    grid = (min(8 * sm_count(), ceil_div(n, BLOCK)),)

    def launch(x: Any, y: Any) -> None:
        for _ in range(passes):
            kernel(grid, (BLOCK,), (x, y, np.float32(-0.5), np.float32(0.5), np.int32(n)))

    def copied() -> None:
        ends = device[0].data.ptr, hosts[0].ctypes.data
        runtime.memcpyAsync(*ends, nbytes, runtime.memcpyHostToDevice, stream.ptr)
        launch(*device)
        ends = hosts[1].ctypes.data, device[1].data.ptr
        runtime.memcpyAsync(*ends, nbytes, runtime.memcpyDeviceToHost, stream.ptr)

    ways: dict[str, Callable[[], None]] = {"copied": copied, "mapped": partial(launch, *mapped)}
    found = {}
    with stream:
        for name, way in ways.items():
            hosts[1][:] = np.nan
            times = []
            for _ in range(25):
                stream.synchronize()
                start = time.perf_counter()
                way()
                stream.synchronize()
                times.append(time.perf_counter() - start)
            if not np.array_equal(hosts[1], np.clip(hosts[0], -0.5, 0.5)):
                raise LessonError(f"clamp of {n} floats, {name}: wrong.")
            found[name] = round(1e6 * statistics.median(times[5:]), 2)
    return found


def measure() -> dict[str, Any]:
    """Microseconds of steps, milliseconds of lookups, microseconds with memory of the host."""
    return {
        "steps": [{"elements": n, **grid_steps(n)} for n in STEP_SIZES],
        "l2": l2_windows(),
        "host": [
            {"elements": n, "passes": passes, **host_memory(n, passes)}
            for passes in PASSES
            for n in HOST_SIZES
        ],
    }
