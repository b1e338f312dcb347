"""The clock and the power of the GPU while work runs, as NVIDIA's driver reports them (NVML)."""

from __future__ import annotations

import ctypes
import statistics
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from ...devices.selection import cp

SM_CLOCK = 1  # nvmlClockType_t
INTERVAL_S = 0.05


@dataclass
class Samples:
    """MHz of the SMs and watts, one pair each 50 ms, empty where the driver does not say."""

    pairs: list[tuple[int, float]] = field(default_factory=list)

    def settled(self) -> tuple[int, int] | None:
        """The medians of the second half: the power reported is a mean over about a second."""
        last = self.pairs[len(self.pairs) // 2 :]
        if not last:
            return None
        clocks, watts = zip(*last, strict=True)
        return round(statistics.median(clocks)), round(statistics.median(watts))


@contextmanager
def sampled(read: Callable[[], tuple[int, float]] | None = None) -> Iterator[Samples]:
    """Inside, a thread reads clock and power. They are complete when the block ends.

    ``read()`` gives one pair: NVML's unless another is given.
    """
    read, samples, ended = read or _reader(), Samples(), threading.Event()

    def collect() -> None:
        while read and not ended.wait(INTERVAL_S):
            samples.pairs.append(read())

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


@cache
def _reader() -> Callable[[], tuple[int, float]] | None:
    """A function that reads (MHz, watts) of this GPU, None where NVML cannot be asked."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    device, bus = ctypes.c_void_p(), cp.cuda.Device().pci_bus_id.encode()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(device)):
        return None
    value = ctypes.c_uint()

    def read() -> tuple[int, float]:
        nvml.nvmlDeviceGetClockInfo(device, SM_CLOCK, ctypes.byref(value))
        clock = value.value
        nvml.nvmlDeviceGetPowerUsage(device, ctypes.byref(value))  # in milliwatts
        return clock, value.value / 1000

    return read
