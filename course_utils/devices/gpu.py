"""Waiting for a GPU: its faults made readable, its printf brought into the notebook."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import LessonError


class GpuFault(LessonError):
    """The GPU stopped a kernel."""


_waiting_suspended = 0


@contextmanager
def without_waiting() -> Iterator[None]:
    """Inside, launches return at once, as CUDA's do: for measuring."""
    global _waiting_suspended
    _waiting_suspended += 1
    try:
        yield
    finally:
        _waiting_suspended -= 1


def wait(*, prints: bool) -> None:
    """Wait for every launch so far, unless suspended; ``prints``: bring printf's text to Python."""
    import cupy

    if _waiting_suspended:
        return
    synchronize = cupy.cuda.runtime.deviceSynchronize
    if prints:
        sys.stdout.write(_captured_output(synchronize))
    else:
        synchronize()


def _captured_output(call: Callable[[], Any]) -> str:
    """What C code writes to the standard output during ``call``: a GPU's printf ends there."""
    sys.stdout.flush()
    flush = ctypes.CDLL(None).fflush
    flush(None)
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            call()
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode("utf-8", "replace")


_GPU_FAULTS = {
    "IllegalAddress": "it read or wrote memory that belongs to none of your arrays",
    "ILLEGAL_ADDRESS": "it read or wrote memory that belongs to none of your arrays",
    "Misaligned": "it used an address that is no multiple of the size it reads or writes",
    "MISALIGNED": "it used an address that is no multiple of the size it reads or writes",
    "Assert": "an assert failed in it",
    "ASSERT": "an assert failed in it",
    "Timeout": "it ran too long",
    "TIMEOUT": "it ran too long",
}


@contextmanager
def readable_faults(name: str) -> Iterator[None]:
    """CUDA's errors inside become a :class:`GpuFault` that says what to do."""
    import cupy

    errors = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)
    try:
        yield
    except errors as error:
        text = str(error)
        why = next((_GPU_FAULTS[key] for key in _GPU_FAULTS if key in text), None)
        reason = f"{why} ({text.split(':')[0]})" if why else text
        raise GpuFault(
            f"The GPU stopped {name}: {reason}.\n"
            "A GPU does not say where. The emulator does, with array, index, thread and line: "
            "set COURSE_DEVICE=emulator.\n"
            "After such a fault this process cannot use the GPU any more: restart the kernel "
            "of the notebook first."
        ) from None
