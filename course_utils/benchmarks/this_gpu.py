"""The GPU that is measured: is there one, what is it called, how many multiprocessors has it?"""

from __future__ import annotations

from ..device import ON_GPU, cp
from ..errors import LessonError


def need_gpu() -> None:
    """Raise LessonError where there is no GPU to measure."""
    if not ON_GPU:
        raise LessonError(
            "This measures a GPU, and this machine has none: use hardware.stored() for the figures "
            "that come with the course."
        )


def device_name() -> str:
    """What the GPU calls itself."""
    return cp.cuda.runtime.getDeviceProperties(0)["name"].decode()


def multiprocessors() -> int:
    """How many the GPU has."""
    return cp.cuda.Device().attributes["MultiProcessorCount"]
