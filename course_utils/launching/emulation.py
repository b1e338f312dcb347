"""Any kernel of the course, or of CuPy, as the emulator runs it, whatever the machine."""

from __future__ import annotations

from typing import Any

from .arguments import carry_over
from .kernels import Kernel
from .modules import Module
from .raw_kernels import kernel_of_raw


def on_emulator(kernel: Any) -> Kernel:
    """``kernel`` as the emulator runs it: one of ``load`` (or its module, where that has only one),
    of ``load_ptx``, of ``cp.RawModule(code=...)`` or a ``cp.RawKernel``.

    Raises LessonError for anything else, and for a raw kernel that was loaded from a file.
    """
    if isinstance(kernel, Module):
        kernel = kernel.kernel
    return kernel.emulated if isinstance(kernel, Kernel) else kernel_of_raw(kernel)


def emulator_arguments(args: Any) -> Any:
    """Arrays of a GPU, and tensor maps of them, become the emulator's; the rest stays as it is."""
    return carry_over(args)[0]
