"""Picks the machine once: CuPy on a CUDA device, or the emulator's CuPy-shaped arrays.

``COURSE_DEVICE=emulator`` or ``COURSE_DEVICE=cuda`` overrides the choice. Set it before Python
starts.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TypeVar

from ..errors import LessonError

T = TypeVar("T")

EMULATOR, CUDA = "emulator", "cuda"


class DeviceError(LessonError):
    """The device asked for cannot be used."""


def _cuda_problem() -> str | None:
    """Why CuPy cannot compute here, None when it can."""
    try:
        import cupy

        cupy.zeros(1).get()  # a driver without a device, or one too old, fails only here
    except ImportError as error:
        return f"CuPy is not installed ({error})"
    except Exception as error:
        return f"CuPy finds no usable GPU ({error})"
    return None


def _pick(wanted: str | None) -> str:
    if wanted not in (None, "", EMULATOR, CUDA):
        raise DeviceError(
            f"COURSE_DEVICE is {wanted!r}, which is no device of the course.\n"
            f"Set it to {EMULATOR!r} or {CUDA!r}, or unset it to let the course choose."
        )
    if wanted == EMULATOR:
        return EMULATOR
    problem = _cuda_problem()
    if problem is None:
        return CUDA
    if wanted == CUDA:
        raise DeviceError(
            f"COURSE_DEVICE asks for a CUDA device, but {problem}.\n"
            "`python -m course_utils doctor` says what is missing. "
            "Unset COURSE_DEVICE to run on the emulator."
        )
    return EMULATOR


def _chosen() -> tuple[str, str]:
    """The device, and why it is not the one asked for, which only commands without kernels bear."""
    try:
        return _pick(os.environ.get("COURSE_DEVICE")), ""
    except DeviceError as error:
        if not re.search(r" -m course_utils (doctor|progress)\b", " ".join(sys.orig_argv)):
            raise
        return EMULATOR, str(error).splitlines()[0]


_DEVICE, PROBLEM = _chosen()
ON_GPU: bool = _DEVICE == CUDA

if ON_GPU:
    import cupy as cp
else:
    from . import emulated_cupy as cp

__all__ = ["CUDA", "EMULATOR", "ON_GPU", "PROBLEM", "DeviceError", "cp", "device", "size"]


def device() -> str:
    """Where kernels run: ``"cuda"`` or ``"emulator"``."""
    return _DEVICE


def size(*, gpu: T, emulator: T) -> T:
    """``gpu`` on a GPU, ``emulator`` on the emulator: problem sizes that suit each machine."""
    return gpu if ON_GPU else emulator
