"""``bench``: the time of work on a GPU, or its counts on the emulator. Never a made-up time."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..devices import gpu
from ..devices.emulated_cuda import NoTimesError
from ..devices.emulated_kernels import recorded_launches
from ..devices.selection import ON_GPU, cp
from ..emulator import Counts, Options
from ..launching.older_gpus import GpuTooOld

if TYPE_CHECKING:
    from ..emulator import LaunchResult


FLUSH_BYTES = 256 * 2**20  # more than any GPU's L2
HEAD_START = 600_000  # clocks, 0.3 ms at 2 GHz, in which the host issues the timed work
BUSY = """
extern "C" __global__ void busy(long long clocks)
{
    const long long start = clock64();
    while (clock64() - start < clocks) {
    }
}
"""


@dataclass(frozen=True)
class Bench:
    """A result of :func:`bench`.

    On a GPU ``times_ms`` holds one time for each run. On the emulator it is empty, ``counts``
    counts the work of the ``launches`` kernels of one run, and asking for a time raises
    ``NoTimesError``.
    """

    times_ms: tuple[float, ...] = ()
    counts: Counts | None = None
    launches: int = 0
    bytes: int | None = field(default=None, kw_only=True)
    flops: int | None = field(default=None, kw_only=True)

    @property
    def median_ms(self) -> float:
        """The median time of a run in milliseconds."""
        return statistics.median(self._times())

    @property
    def spread_ms(self) -> float:
        """The distance between the first and the third quartile of the times, in milliseconds."""
        times = self._times()
        if len(times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(times, n=4, method="inclusive")
        return third - first

    @property
    def bytes_per_second(self) -> float:
        """The ``bytes`` given to :func:`bench` over the median time."""
        return self._rate(self.bytes, "bytes")

    @property
    def flops_per_second(self) -> float:
        """The ``flops`` given to :func:`bench` over the median time."""
        return self._rate(self.flops, "flops")

    def _times(self) -> tuple[float, ...]:
        if not self.times_ms and ON_GPU:
            raise GpuTooOld(
                "There is no time to tell: a kernel ran on the emulator, because this GPU is too "
                "old for it."
            )
        if not self.times_ms:
            raise NoTimesError
        return self.times_ms

    def _rate(self, amount: int | None, name: str) -> float:
        median = self.median_ms
        if amount is None:
            raise ValueError(f"no rate without an amount: bench(..., {name}=...)")
        return amount / (median * 1e-3)

    def __repr__(self) -> str:
        if self.counts is not None:
            kernels = "1 launch" if self.launches == 1 else f"{self.launches} launches"
            return (
                f"{kernels}: {self.counts.thread_instructions:,} thread instructions, "
                f"{self.counts.warp_instructions:,} warp instructions "
                f"(emulated: times are measured on a GPU only)"
            )
        text = (
            f"{self.median_ms:.4g} ms, spread {self.spread_ms:.2g} ms in {len(self.times_ms)} runs"
        )
        if self.bytes is not None:
            text += f", {self.bytes_per_second / 1e12:.3g} TB/s"
        if self.flops is not None:
            text += f", {self.flops_per_second / 1e12:.3g} TFLOP/s"
        return text


def bench(
    fn: Callable[[], Any],
    *,
    warmup: int = 3,
    repeats: int = 20,
    flush_l2: bool = True,
    bytes: int | None = None,
    flops: int | None = None,
) -> Bench:
    """Measure ``fn()`` on a GPU, or count its work on the emulator.

    On a GPU: ``warmup`` runs that are not measured, then ``repeats`` runs, each between two CUDA
    events. With ``flush_l2``, 256 MB are written before each, so that nothing of the inputs is left
    in the L2 cache, and then another 256 MB read: the lines just written would have to go to memory
    while ``fn`` runs, at its cost. Before the first event the GPU is kept busy, 0.3 ms at 2 GHz:
    the result is the GPU's time for ``fn``, if the host needs less than that to issue it.
    On the emulator ``fn`` runs once, as it does where the emulator runs a kernel for which the GPU
    is too old. ``bytes`` and ``flops`` are the least that one run has to move and compute. They
    turn times into rates. Raises ValueError for a negative ``warmup`` and for no ``repeats``.
    """
    if warmup < 0 or repeats < 1:
        raise ValueError(f"warmup must be 0 or more, repeats at least 1; got {warmup}, {repeats}")
    if not ON_GPU:
        return _count(fn, bytes, flops)
    flush, busy = _flusher() if flush_l2 else None, cp.RawKernel(BUSY, "busy")
    times = []
    with (
        gpu.readable_faults("the work measured"),
        gpu.without_waiting(),
        recorded_launches(Options(counters=True)) as emulated,
    ):
        for run in range(warmup + repeats):
            if flush is not None:
                flush()
            busy((1,), (1,), (HEAD_START,))
            start, end = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            fn()
            end.record()
            end.synchronize()
            if emulated:  # a kernel that this GPU is too old for
                return _counted(emulated, bytes, flops)
            if run >= warmup:
                times.append(cp.cuda.get_elapsed_time(start, end))
    return Bench(tuple(times), bytes=bytes, flops=flops)


def _flusher() -> Callable[[], Any]:
    """A function that leaves nothing in L2 but zeros that memory holds too."""
    shape = 4096, FLUSH_BYTES // 4096 // 4  # rows, so that many blocks share the reading
    dirty, clean = cp.empty(shape, cp.float32), cp.zeros(shape, cp.float32)
    sums = cp.empty(len(clean), cp.float32)

    def flush() -> None:
        dirty.fill(0)
        clean.sum(axis=1, out=sums)

    return flush


def _count(fn: Callable[[], Any], bytes: int | None, flops: int | None) -> Bench:
    with recorded_launches(Options(counters=True)) as results:
        fn()
    return _counted(results, bytes, flops)


def _counted(results: list[LaunchResult], bytes: int | None, flops: int | None) -> Bench:
    """The counts of one run's launches on the emulator."""
    total = Counts.total(result.counts for result in results)
    return Bench(counts=total, launches=len(results), bytes=bytes, flops=flops)
