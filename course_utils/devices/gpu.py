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
from ..symptoms import CUDA_ERRORS


class GpuFault(LessonError):
    """The GPU stopped a kernel, or CUDA refused to start one."""


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
    """Wait for every launch so far, unless suspended. ``prints`` brings printf's text to Python."""
    import cupy

    if _waiting_suspended:
        return
    synchronize = cupy.cuda.runtime.deviceSynchronize
    if prints:
        sys.stdout.write(_captured_output(synchronize))
    else:
        synchronize()


def _captured_output(call: Callable[[], Any]) -> str:
    """The text that C code writes to the standard output during ``call``: a GPU's printf ends
    there."""
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


# By the numbers of CUDA's errors.
_REASONS = {
    700: "it read or wrote memory outside all your arrays",
    702: "it ran too long",
    710: "an assert in it failed",
    715: "it executed an instruction that this GPU can't execute",
    716: "it used an address that isn't a multiple of the size it reads or writes",
    717: "an instruction for one kind of memory, such as shared, got an address of another",
    719: "CUDA doesn't say why. An access outside shared memory and a trap have this error",
    721: "it ended without freeing all the tensor memory that it allocated",
}
# After these the process can't use the GPU any more.
_STICKY = (700, 702, 710, 714, 715, 716, 717, 718, 719, 721)


@contextmanager
def readable_faults(name: str) -> Iterator[None]:
    """CUDA's errors inside become a :class:`GpuFault` with the next step.

    ``name`` is the kernel's, or another subject of "The GPU stopped ...".
    """
    import cupy

    errors = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)
    try:
        yield
    except errors as error:
        raise fault(name, error.status, str(error)) from None


def fault(name: str, number: int, text: str) -> GpuFault:
    """The error for CUDA's error ``number`` with CuPy's ``text``, ``cudaErrorAssert: device-...``.

    It has the reason, and its note names the heading of the page for it.
    """
    known = CUDA_ERRORS.get(number)
    symptom = known.heading if known else ""
    if number not in _STICKY:
        return GpuFault(f"CUDA refused {name}: {text}.", symptom=symptom)
    why = _REASONS.get(number)
    reason = f"{why} ({text.partition(':')[0]})" if why else text
    return GpuFault(
        f"The GPU stopped {name}: {reason}.\n"
        "A GPU doesn't report the line. The emulator reports array, index, thread and line: "
        "set COURSE_DEVICE=emulator.\n"
        "After such a fault this process can't use the GPU any more, so restart the notebook's "
        "kernel first.",
        symptom=symptom,
    )
