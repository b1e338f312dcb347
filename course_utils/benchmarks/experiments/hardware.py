"""What a GPU's memories and arithmetic can do: measured here, or the figures the course comes with.

``python -m course_utils bench --only hardware`` measures everything in :data:`MEASURES` and stores
it. The functions that measure are in :mod:`.memories`, :mod:`.transfers`, :mod:`.peaks`,
:mod:`.launch_costs` and :mod:`.registers`; they raise LessonError where there is no GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...devices.properties import device_name, need_gpu, sm_count
from ...devices.selection import ON_GPU
from ...records.measured_files import measurements
from . import launch_costs, memories, peaks, registers, transfers
from .memories import ring

__all__ = ["MEASURES", "SOURCES", "measure", "measured", "ring"]

NAME = "hardware"
SOURCES = (
    *memories.SOURCES,
    *transfers.SOURCES,
    *launch_costs.SOURCES,
    *registers.SOURCES,
    *peaks.sources(),
)


# What can be measured, by the name it has in the file; each is a function of nothing.
MEASURES: dict[str, Callable[[], Any]] = {
    "latency": memories.latencies,
    "small_latency": memories.small_latencies,
    "l1_bandwidth": lambda: memories.sweep(private=True),
    "l2_bandwidth": lambda: memories.sweep(private=False),
    "shared_bandwidth": lambda: round(memories.shared_bandwidth()),
    "copy_bandwidth": lambda: round(memories.copy_bandwidth()),
    "peak_flops": lambda: {name: round(peaks.peak_flops(name)) for name in ("float", "double")},
    "matmul": peaks.matmul_rates,
    "transfers": transfers.transfers,
    "managed": transfers.managed_memory,
    "constant": memories.constant_times,
    "window": memories.window_times,
    "delay": memories.delay_times,
    "short_vectors": peaks.short_vectors,
    "launches": launch_costs.chain_times,
    "register_limits": registers.register_limits,
    "sum_bounds": registers.sum_bounds,
    "kernels": lambda: [peaks.kernel_rate(name) for name in peaks.launches()],
    "traffic": lambda: {name: peaks.traffic(name) for name in peaks.launches()},
}


def measured(name: str) -> tuple[Any, str]:
    """``name`` of :data:`MEASURES`, and the GPU it was measured on.

    On a machine with a GPU it is measured here and now; elsewhere these are the stored
    figures. ``traffic`` is always the stored one, since ncu is rarely allowed to count.
    """
    if ON_GPU and name != "traffic":
        return MEASURES[name](), device_name()
    content = measurements(NAME)
    return content[name], content["device"]


def measure() -> dict[str, Any]:
    """Everything, on this machine's GPU. Takes about a minute."""
    need_gpu()
    return {
        "multiprocessors": sm_count(),
        **{name: run() for name, run in MEASURES.items()},
    }
