"""How a benchmark lies on a GPU: each figure wrong and right, for chapter 06's last notebook."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...devices import gpu
from ...devices.properties import sm_count
from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.modules import load
from ...observing.timing import FLUSH_BYTES, bench
from ..harness import nvml
from ..harness.arrays import normal
from ..harness.float_bits import to_bf16
from ..harness.sustained import Turn, back_to_back, mean_of
from ..harness.torch_runs import need_torch
from ..libraries import cublas

READ = "04_first_kernels/coalescing/read_only.cu"
SOURCES = (READ,)
LAUNCHES = tuple(1 << k for k in range(13))
LOOPS = 5
COLD_CALLS = 20
READ_BYTES = tuple(1 << k for k in range(20, 31))
PREPARED_RUNS = 31
TURNS = 2  # of each kind of input
ROUNDS = 5  # of each layout
N = 8192  # of the matrix products
SUSTAINED_S = 2.0
SETTLING_S, SETTLING_RUNS = 4.0, 25
REPEATS = 600
FRESH = """
extern "C" __global__ void fresh(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * STAMPf;
}
"""


def measure() -> dict[str, Any]:
    """Every figure. Raises LessonError where PyTorch or the GPU is missing, or a result wrong."""
    torch = need_torch("lies")
    with gpu.readable_faults("the work measured"), gpu.without_waiting():
        return {
            "torch": torch.__version__,
            "queue": queue(),
            "cold_start": cold_start(),
            "caches": caches(),
            "repeats": repeats(),
            "inputs": inputs(),
            "settling": settling(),
            "precision": precision(torch),
            "layouts": layouts(torch),
            "transposes": transposes(torch),
        }


def reader(size: int) -> Callable[[], None]:
    """A function that launches a read of ``size`` bytes, and does not wait."""
    words, never = cp.zeros(size // 4, cp.float32), cp.zeros(1, cp.float32)
    kernel = load(READ).kernel
    values = kernel.convert((words, never, words.size // 4))
    grid = min(16 * sm_count(), ceil_div(words.size // 4, 256))
    return lambda: kernel.raw((grid,), (256,), values)


def host_ms(run: Callable[[], Any], *, count: int = 1, wait: bool) -> float:
    """Milliseconds of ``count`` calls by the host's clock, with or without waiting for the GPU."""
    device = cp.cuda.Device()
    device.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        run()
    if wait:
        device.synchronize()
    taken = 1e3 * (time.perf_counter() - start)
    device.synchronize()
    return round(taken, 5)


def queue() -> dict[str, Any]:
    """The host's clock around ever more launches of one kernel, without and with waiting; medians
    of LOOPS loops. ``idle_ms`` is the time between events on a GPU that had nothing to do before.
    """
    run = reader(1 << 28)

    def loops_ms(count: int, wait: bool) -> float:
        return statistics.median(host_ms(run, count=count, wait=wait) for _ in range(LOOPS))

    idle = bench(run, flush_l2=False).median_ms
    return {
        "bytes": 1 << 28,
        "launches": list(LAUNCHES),
        "not_waited_ms": [loops_ms(n, wait=False) for n in LAUNCHES],
        "waited_ms": [loops_ms(n, wait=True) for n in LAUNCHES],
        "idle_ms": round(idle, 5),
    }


def cold_start() -> dict[str, Any]:
    """Milliseconds of the first calls of a kernel that no cache has, each waited for."""
    n = 1 << 24
    x, y = normal(n), cp.empty(n, cp.float32)
    source = FRESH.replace("STAMP", f"{1 + time.time_ns() % 10**6 / 1e7:.7f}")
    made: list[Any] = []

    def run() -> None:
        if not made:
            made.append(cp.RawKernel(source, "fresh"))
        made[0]((ceil_div(n, 256),), (256,), (x, y, np.int32(n)))

    times = [host_ms(run, wait=True) for _ in range(COLD_CALLS)]
    return {"elements": n, "ms": times, "true_ms": round(bench(run).median_ms, 5)}


def caches() -> dict[str, Any]:
    """Median milliseconds of reads by what was launched before them, the ways in turn.

    ``written``: 256 MB were written, and ``written_and_read``: as many were then read. ``warm``:
    after both the same read, so that the GPU is busy when the events are launched.
    """
    shape = 4096, FLUSH_BYTES // 4096 // 4
    dirty, clean = cp.empty(shape, cp.float32), cp.zeros(shape, cp.float32)
    sums = cp.empty(len(clean), cp.float32)

    def write() -> None:
        dirty.fill(0)

    def write_and_read() -> None:
        dirty.fill(0)
        clean.sum(axis=1, out=sums)

    def write_and_read_and(run: Callable[[], None]) -> None:
        write_and_read()
        run()

    ways: dict[str, Callable[[Callable[[], None]], None]] = {
        "warm": write_and_read_and,
        "written": lambda run: write(),
        "written_and_read": lambda run: write_and_read(),
    }
    found: dict[str, Any] = {"bytes": list(READ_BYTES), **{name: [] for name in ways}}
    for size in READ_BYTES:
        run = reader(size)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(PREPARED_RUNS):
            for name, prepare in ways.items():
                prepare(run)
                times[name].append(_event_ms(run))
        for name in ways:
            found[name].append(round(statistics.median(times[name]), 5))
    return found


def _event_ms(run: Callable[[], Any]) -> float:
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    run()
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(start, end))


def repeats() -> dict[str, list[float]]:
    """Milliseconds of REPEATS runs of two pieces of work, each run with a cold cache."""
    a, b = normal((2048, 2048)), normal((2048, 2048), 1)
    c = cp.empty_like(a)
    works = {"read of 4 MB": reader(1 << 22), "SGEMM 2048": lambda: cp.matmul(a, b, out=c)}
    return {
        name: [round(ms, 5) for ms in bench(run, repeats=REPEATS).times_ms]
        for name, run in works.items()
    }


def _bf16_product(a: Any, b: Any) -> Callable[[], Any]:
    """cuBLAS's product of these fp32 matrices in bf16, the second transposed."""
    a, b = to_bf16(a), to_bf16(b)
    return cublas.products("bf16", a, b, lambda: cp.empty_like(a))["cuBLAS bf16 (NT)"]


def inputs() -> dict[str, Any]:
    """The same product in bf16, of zeros, of ones and of random numbers, TURNS times in turn: the
    median of all bursts, and the means of seconds, with the clock and the power."""
    kinds = {
        "random": normal((N, N)),
        "zeros": cp.zeros((N, N), cp.float32),
        "ones": cp.ones((N, N), cp.float32),
    }
    runs = {name: _bf16_product(x, x) for name, x in kinds.items()}
    bursts: dict[str, list[float]] = {name: [] for name in runs}
    turns: dict[str, list[Turn]] = {name: [] for name in runs}
    for _ in range(TURNS):
        for name, run in runs.items():
            bursts[name] += bench(run, warmup=10, repeats=50).times_ms
            turns[name].append(back_to_back(run, SUSTAINED_S))
    found: dict[str, Any] = {"n": N, "seconds": SUSTAINED_S, "turns": TURNS}
    for name in runs:
        mean = mean_of(turns[name])
        mhz, watts = mean.clock_and_power or (None, None)
        found[name] = {
            "burst_ms": round(statistics.median(bursts[name]), 5),
            "sustained_ms": round(mean.ms, 5),
            "mhz": mhz,
            "watts": watts,
        }
    return found


def settling() -> dict[str, Any]:
    """The product in bf16 for seconds, after a rest: the mean time of a run in each batch of
    SETTLING_RUNS, and when that batch ended; clock and power every 50 ms, as the driver has them.
    """
    run = _bf16_product(normal((N, N)), normal((N, N), 1))
    run()
    cp.cuda.Device().synchronize()
    time.sleep(2.0)
    ended, means = [], []
    with nvml.sampled() as samples:
        start = _mark()
        marks, before = [start], start
        while True:
            for _ in range(SETTLING_RUNS):
                run()
            marks.append(_mark())
            before.synchronize()  # the GPU always has another batch to do
            if cp.cuda.get_elapsed_time(start, before) >= 1e3 * SETTLING_S:
                break
            before = marks[-1]
        marks[-1].synchronize()
    for first, last in zip(marks, marks[1:], strict=False):
        means.append(round(cp.cuda.get_elapsed_time(first, last) / SETTLING_RUNS, 5))
        ended.append(round(cp.cuda.get_elapsed_time(start, last) / 1e3, 4))
    clocks, watts = zip(*samples.pairs, strict=True) if samples.pairs else ((), ())
    return {
        "n": N,
        "runs_of_a_batch": SETTLING_RUNS,
        "ended_s": ended,
        "ms": means,
        "mhz": list(clocks),
        "watts": [round(value) for value in watts],
    }


def _mark() -> Any:
    event = cp.cuda.Event()
    event.record()
    return event


def precision(torch: Any) -> dict[str, Any]:
    """The product of fp32 matrices as PyTorch does it by itself, with TF32 allowed, and in bf16:
    milliseconds, and the largest error over the largest result."""
    n = 4096
    a, b = (torch.as_tensor(normal((n, n), seed), device="cuda") for seed in (0, 1))
    exact = a.double() @ b.double()
    half = a.bfloat16(), b.bfloat16()
    settings, found = torch.backends.cuda.matmul, {}
    before = settings.allow_tf32
    ways = {"fp32": (False, a, b), "TF32 allowed": (True, a, b), "bf16": (False, *half)}
    try:
        for name, (allowed, left, right) in ways.items():
            settings.allow_tf32 = allowed
            out = torch.empty((n, n), device="cuda", dtype=left.dtype)
            taken = bench(partial(torch.matmul, left, right, out=out)).median_ms
            error = ((out.double() - exact).abs().max() / exact.abs().max()).item()
            found[name] = {"ms": round(taken, 5), "error": float(f"{error:.2e}")}
    finally:
        settings.allow_tf32 = before
    return {"n": n, "flops": 2 * n**3, **found}


def layouts(torch: Any) -> dict[str, Any]:
    """Median milliseconds of one product by PyTorch, for factors that lie along their rows (N) or
    along their columns (T); the layouts in turn."""
    found: dict[str, Any] = {"n": N}
    settings = torch.backends.cuda.matmul
    before, settings.allow_tf32 = settings.allow_tf32, False
    try:
        for dtype in (torch.float32, torch.bfloat16):
            a, b = (
                torch.as_tensor(normal((N, N), seed), device="cuda").to(dtype) for seed in (0, 1)
            )
            out = torch.empty_like(a)
            pairs = {
                left + right: (a if left == "N" else a.T, b if right == "N" else b.T)
                for left in "NT"
                for right in "NT"
            }
            times: dict[str, list[float]] = {name: [] for name in pairs}
            for _ in range(ROUNDS):
                for name, (x, y) in pairs.items():
                    run = partial(torch.matmul, x, y, out=out)
                    times[name] += bench(run, warmup=1, repeats=4).times_ms
            found[str(dtype).removeprefix("torch.")] = {
                name: round(statistics.median(taken), 5) for name, taken in times.items()
            }
    finally:
        settings.allow_tf32 = before
    return found


def transposes(torch: Any) -> dict[str, Any]:
    """Milliseconds of ``x.t()``, which moves nothing, and of a copy of it."""
    x = torch.as_tensor(normal((N, N)), device="cuda")
    out = torch.empty_like(x)
    calls = 1000
    return {
        "n": N,
        "view_ms": round(host_ms(lambda: x.t(), count=calls, wait=True) / calls, 6),
        "copy_ms": round(bench(lambda: out.copy_(x.t())).median_ms, 5),
    }
