"""The GPU at hand: its name, its size, and its entry in a file of measurements."""

from __future__ import annotations

from typing import Any

from ..errors import LessonError
from .selection import ON_GPU, cp


def need_gpu() -> None:
    """Raise LessonError where there is no GPU to measure."""
    if not ON_GPU:
        raise LessonError(
            "This measures a GPU, and this machine has none: measurements(NAME) has the figures "
            "that come with the course."
        )


def device_name() -> str:
    """The GPU's own name."""
    name: bytes = cp.cuda.runtime.getDeviceProperties(0)["name"]
    return name.decode()


def own_gpu() -> str | None:
    """The name of the GPU that kernels run on, None on the emulator."""
    return device_name() if ON_GPU else None


def sm_count() -> int:
    """How many multiprocessors (SMs) the GPU has."""
    return int(cp.cuda.Device().attributes["MultiProcessorCount"])


def threads_per_sm() -> int:
    """How many threads an SM of the GPU has room for."""
    return int(cp.cuda.Device().attributes["MaxThreadsPerMultiProcessor"])


def description() -> dict[str, Any]:
    """The head of every file of measurements: the GPU's name, its driver and CUDA."""
    runtime = cp.cuda.runtime
    return {
        "device": device_name(),
        "driver": runtime.driverGetVersion(),
        "cuda": runtime.runtimeGetVersion(),
    }
