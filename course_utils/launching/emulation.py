"""Any kernel of the course, or of CuPy, as the emulator runs it, whatever the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..devices.limits import LaunchError
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


OTHER_LANGUAGES = {"triton", "numba", "numba_cuda", "warp"}  # the packages of their kernels


@dataclass(frozen=True)
class EmulatedCall:
    """A kernel of any language and a launch of it, as the emulator takes both. ``compiled_again``:
    whether it can be compiled with other options."""

    kernel: Any
    grid: Any
    block: Any
    args: Any
    shared_mem: int
    compiled_again: bool = True


def emulated_call(
    kernel: Any, grid: Any, block: Any, args: Any, shared_mem: int, meta: dict[str, Any]
) -> EmulatedCall:
    """The launch of a kernel that :func:`kernel_of` takes, or of one of Triton, Numba or Warp.

    Raises LessonError as :func:`kernel_of` does, LaunchError for a launch that cannot be right.
    """
    modules = (each.__module__.partition(".")[0] for each in type(kernel).__mro__)
    if not OTHER_LANGUAGES.isdisjoint(modules):
        from .other_languages import language_kernel  # with the emulator's machine

        found = language_kernel(kernel, grid, block, args, shared_mem, meta)
        return EmulatedCall(found, found.grid, found.block, found.args, found.shared, False)
    if meta:
        raise LaunchError(f"Only Triton kernels take {', '.join(meta)}: leave it out.")
    return EmulatedCall(on_emulator(kernel), grid, block, args, shared_mem)
