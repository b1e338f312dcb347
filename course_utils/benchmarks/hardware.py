"""What a GPU's memories and arithmetic can do: measured here, or the figures the course comes with.

``python -m course_utils bench --only hardware`` measures everything in :data:`MEASURES` and writes
``assets/benchmarks/memory/<device>.json``. The functions that measure are in :mod:`.memories`,
:mod:`.transfers`, :mod:`.roofline`, :mod:`.launches` and :mod:`.registers`; they raise LessonError
where there is no GPU.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..devices.properties import description, device_name, multiprocessors, need_gpu
from ..devices.selection import ON_GPU
from ..paths import KERNELS, ROOT
from ..records.store import store
from . import launches, memories, registers, roofline, transfers
from .memories import ring

__all__ = ["MEASURES", "SOURCES", "measure", "measured", "ring", "stored", "write"]

FOLDER = ROOT / "assets" / "benchmarks" / "memory"
SOURCES = (
    "03_gpu_introduction/memory/pointer_chase.cu",
    "03_gpu_introduction/memory/shared_chase.cu",
    "03_gpu_introduction/roofline/fma_chains.cu",
    "03_gpu_introduction/memory/read_again.cu",
    "03_gpu_introduction/memory/shared_again.cu",
    "03_gpu_introduction/memory/constant_read.cu",
    "03_gpu_introduction/memory/window_each.cu",
    "03_gpu_introduction/memory/window_shared.cu",
    "03_gpu_introduction/memory/delay_line.cu",
)


def stored() -> dict:
    """The figures measured on the GPU that the course comes with; ``["device"]`` names it."""
    (file,) = FOLDER.glob("*.json")
    return json.loads(file.read_text(encoding="utf-8"))


# What can be measured, by the name it has in the file; each is a function of nothing.
MEASURES: dict[str, Callable[[], Any]] = {
    "latency": memories.latencies,
    "small_latency": memories.small_latencies,
    "l1_bandwidth": lambda: memories.sweep(private=True),
    "l2_bandwidth": lambda: memories.sweep(private=False),
    "shared_bandwidth": lambda: round(memories.shared_bandwidth()),
    "copy_bandwidth": lambda: round(memories.copy_bandwidth()),
    "peak_flops": lambda: {name: round(roofline.peak_flops(name)) for name in ("float", "double")},
    "matmul": roofline.matmul_rates,
    "transfers": transfers.transfers,
    "managed": transfers.managed_memory,
    "constant": memories.constant_times,
    "window": memories.window_times,
    "delay": memories.delay_times,
    "short_vectors": roofline.short_vectors,
    "launches": launches.chain_times,
    "register_limits": registers.register_limits,
    "sum_bounds": registers.sum_bounds,
    "kernels": lambda: [roofline.kernel_rate(name) for name in roofline.launches()],
    "traffic": lambda: {name: roofline.traffic(name) for name in roofline.launches()},
}


def measured(name: str) -> tuple[Any, str]:
    """``name`` of :data:`MEASURES`, and the GPU it was measured on.

    On a machine with a GPU it is measured here and now; elsewhere these are the figures that come
    with the course. ``traffic`` is always the stored one, since ncu is rarely allowed to count.
    """
    if ON_GPU and name != "traffic":
        return MEASURES[name](), device_name()
    content = stored()
    return content[name], content["device"]


def measure() -> dict:
    """Everything, on this machine's GPU: what the file holds. Takes about a minute."""
    need_gpu()
    return {
        **description(),
        "date": datetime.date.today().isoformat(),
        "sources": {file: _hash(file) for file in SOURCES},
        "multiprocessors": multiprocessors(),
        **{name: run() for name, run in MEASURES.items()},
    }


def write(folder: Path = FOLDER) -> Path:
    """Measure this GPU and store the result; returns the file."""
    return store(folder, measure())


def _hash(name: str) -> str:
    return hashlib.sha256((KERNELS / name).read_bytes()).hexdigest()[:12]
