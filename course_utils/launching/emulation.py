"""Any kernel of the course, or of CuPy, as the emulator runs it, whatever the machine."""

from __future__ import annotations

from typing import Any

from .kernels import Kernel
from .modules import Module
from .raw_kernels import kernel_of_raw


def kernel_of(kernel: Any) -> Kernel:
    """``kernel`` as a :class:`Kernel`: one of ``load`` (or its module, where that has only one), of
    ``load_ptx``, of ``cp.RawModule(code=...)`` or a ``cp.RawKernel``.

    Raises LessonError for anything else, and for a raw kernel that was loaded from a file.
    """
    if isinstance(kernel, Module):
        return kernel.kernel
    return kernel if isinstance(kernel, Kernel) else kernel_of_raw(kernel)


def on_emulator(kernel: Any) -> Kernel:
    """``kernel``, one that :func:`kernel_of` takes, as the emulator runs it."""
    return kernel_of(kernel).emulated
