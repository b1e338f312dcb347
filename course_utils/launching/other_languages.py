"""Triton's, Numba's and Warp's kernels, with the course's arrays, reports and errors.

The emulator's :mod:`~course_utils.emulator.languages` compiles and launches them. Here a kernel and
its launch get the form that ``sanitize``, ``profile`` and ``trace`` run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from .. import emulator
from ..devices.emulated_arrays import ndarray, plain
from ..devices.limits import LaunchError
from ..emulator import Emulation, KernelFault, LaunchResult, Options, PreparedLaunch
from .kernels import LaunchFault

emulator.register_arrays(ndarray, plain)

Given = ParamSpec("Given")
Value = TypeVar("Value")
OF_TRITON = "give block=None: the block is num_warps * 32 threads, which Triton decides."


@contextmanager
def readable_errors() -> Iterator[None]:
    """Raises LaunchFault for a fault, and LaunchError for a launch that cannot be right, instead of
    the emulator's own errors."""
    try:
        yield
    except KernelFault as fault:
        raise LaunchFault(fault.finding, fault.earlier) from None
    except emulator.LanguageError as error:
        raise LaunchError(str(error)) from None


def _readable(function: Callable[Given, Value]) -> Callable[Given, Value]:
    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Value:
        with readable_errors():
            return function(*args, **kwargs)

    return called


def _opened(
    launcher: Callable[Given, AbstractContextManager[Emulation]],
) -> Callable[Given, AbstractContextManager[Emulation]]:
    @wraps(launcher)
    @contextmanager
    def opened(*args: Given.args, **kwargs: Given.kwargs) -> Iterator[Emulation]:
        with readable_errors(), launcher(*args, **kwargs) as emulation:
            yield emulation

    return opened


triton_on_emulator = _opened(emulator.triton_on_emulator)
numba_on_emulator = _opened(emulator.numba_on_emulator)
warp_on_emulator = _opened(emulator.warp_on_emulator)
emulated_triton = _readable(emulator.emulated_triton)
emulated_numba = _readable(emulator.emulated_numba)
emulated_warp = _readable(emulator.emulated_warp)


class LanguageKernel:
    """A kernel of another language for one launch, as the reports ask for a kernel: they launch it
    with its own ``grid``, ``block``, ``args`` and ``shared``."""

    def __init__(self, prepared: PreparedLaunch) -> None:
        self.prepared, self.name = prepared, prepared.name
        self.grid, self.block = prepared.grid, prepared.block
        self.args, self.shared = prepared.args, prepared.shared
        self.source, self.filename = prepared.source.text, prepared.source.filename
        self.module = SimpleNamespace(warnings="")
        self.raw = SimpleNamespace(entry=prepared.entry, last_launch=None)

    def check(self, grid: Any, block: Any, args: Any, shared_mem: int = 0) -> tuple[Any, ...]:
        """The arguments as the emulator takes them."""
        return self.args

    def launch(
        self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, options: Any = None
    ) -> LaunchResult:
        """Run it, and print its output."""
        with readable_errors():
            result = self.prepared.run(options or Options())
        self.raw.last_launch = result
        if result.printed:
            print(result.printed, end="")
        return result


@_readable
def language_kernel(
    kernel: Any, grid: Any, block: Any, args: Any, shared_mem: int, meta: dict[str, Any]
) -> LanguageKernel:
    """A kernel of another language, compiled for these arguments. ``sanitize`` has the same
    arguments, and ``meta`` are Triton's constants and options such as num_warps.

    Raises LaunchError where they do not fit the language.
    """
    if not isinstance(args, (tuple, list)):
        raise LaunchError("The arguments are one tuple, such as (a, b, n). Write (a,) for one.")
    if emulator.is_triton(kernel):
        if block is not None:
            raise LaunchError(f"A Triton kernel has no block in its launch: {OF_TRITON}")
        return LanguageKernel(emulator.prepared_triton(kernel, grid, args, meta))
    if meta:
        raise LaunchError(f"Only Triton kernels take {', '.join(meta)}: leave it out.")
    if emulator.is_numba(kernel):
        found = emulator.prepared_numba(kernel, grid, block, args, shared_mem)
    elif emulator.is_warp(kernel):  # counts threads: grid is dim, and block its block_dim
        found = emulator.prepared_warp(kernel, grid, block, args)
    else:
        raise LaunchError(
            f"{type(kernel).__name__} isn't a kernel. Decorate its function with @triton.jit (and "
            "without TRITON_INTERPRET), @cuda.jit or @wp.kernel."
        )
    return LanguageKernel(found)
