"""A kernel and its arguments as the emulator takes them, whatever the machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import emulated_cupy
from .modules import Kernel, Module
from .raw_kernels import kernel_of_raw
from .tensor_maps import TensorMap


def on_emulator(kernel: Any) -> Kernel:
    """``kernel`` as the emulator runs it: one of ``load`` (or its module, where that has only one),
    of ``load_ptx``, of ``cp.RawModule(code=...)`` or a ``cp.RawKernel``.

    Raises LessonError for anything else, and for a raw kernel that was loaded from a file.
    """
    if isinstance(kernel, Module):
        kernel = kernel.kernel
    return kernel.emulated if isinstance(kernel, Kernel) else kernel_of_raw(kernel)


def emulator_arguments(args: tuple) -> tuple:
    """Arrays of a GPU, and tensor maps of them, become the emulator's; the rest stays as it is."""
    copies: dict[int, Any] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, TensorMap) and value.settings:
            return value.of(copy(value.array))
        if isinstance(value, np.ndarray) or not hasattr(value, "__cuda_array_interface__"):
            return value
        if id(value) not in copies:
            copies[id(value)] = emulated_cupy.asarray(value.get())
        return copies[id(value)]

    return tuple(copy(value) for value in args) if isinstance(args, (tuple, list)) else args
