"""Kernels of ``cp.RawModule`` and ``cp.RawKernel``, CuPy's own or the emulator's, as a Kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..compiling.nvrtc import Compiled
from ..devices.emulated_kernels import CODE_NAME, RawKernel, RawModule
from ..devices.selection import EMULATOR
from ..errors import LessonError
from .kernels import Kernel
from .modules import DEBUG

KEPT_MODULES = 64  # of CuPy's that were also compiled for the emulator


def kernel_of_raw(kernel: Any) -> Kernel:
    """A raw kernel on the emulator. Its arguments are passed as CuPy does, unchecked.

    One of the emulator's is launched itself. One of CuPy's knows its code and options: the emulator
    compiles them once more. Raises LessonError where it has no code, being from a PTX or cubin
    file, and for anything that isn't a kernel.
    """
    if not all(hasattr(kernel, name) for name in ("code", "name", "options")):
        raise LessonError(_no_kernel(kernel))
    if kernel.code is None:
        file = getattr(kernel, "file_path", None) or "..."
        raise LessonError(
            f"{kernel.name} was loaded from a compiled file (path={str(file)!r}), so its CUDA C++ "
            f"is not known. Load its source instead, with load or cp.RawModule(code=...); "
            f"a PTX file with load_ptx."
        )
    if not isinstance(kernel, RawKernel):
        together = bool(getattr(kernel, "enable_cooperative_groups", False))
        names = _name_expressions(kernel)
        module = _emulated_module(kernel.code, kernel.options, names, together)
        kernel = module.get_function(kernel.name)
    return RawSource(kernel)[kernel.name]


class RawSource:
    """The module of a raw kernel, as far as a
    :class:`~course_utils.launching.kernels.Kernel` asks for it."""

    device = EMULATOR
    filename = CODE_NAME
    source: str

    def __init__(self, kernel: RawKernel):
        self.source, self._kernel = kernel.code or "", kernel

    def __getitem__(self, name: str) -> Kernel:
        return Kernel(self, name, self)

    def get_function(self, name: str) -> RawKernel:
        """The raw kernel."""
        return self._kernel

    def compiled(self, arch: str, *options: str) -> Compiled:
        """The source as NVRTC compiles it for ``arch``, without loading it."""
        return self._kernel.compiled(arch, *options)

    @property
    def emulated(self) -> RawSource:
        """Itself: it is the emulator's already."""
        return self

    @property
    def warnings(self) -> str:
        """The compiler's answer to code that it accepted."""
        return str(getattr(self._kernel, "log", ""))

    @property
    def unoptimised(self) -> RawSource:
        """The same code compiled with ``-G``: the optimiser removes nothing."""
        kernel = self._kernel
        options, names = (*kernel.options, DEBUG), kernel.name_expressions
        together = bool(kernel.enable_cooperative_groups)
        module = _emulated_module(self.source, options, names, together)
        return RawSource(module.get_function(kernel.name))


def _name_expressions(kernel: Any) -> tuple[str, ...]:
    """The name expressions of CuPy's kernel, which only the state for pickle has."""
    return tuple(kernel.__getstate__().get("name_expressions") or ())


@lru_cache(KEPT_MODULES)
def _emulated_module(
    code: str, options: tuple[str, ...], names: tuple[str, ...], cooperative: bool
) -> RawModule:
    return RawModule(
        code=code,
        options=options,
        name_expressions=names,
        enable_cooperative_groups=cooperative,
    )


def _no_kernel(value: Any) -> str:
    wanted = "a kernel of load, load_ptx, cp.RawModule or cp.RawKernel"
    if hasattr(value, "get_function"):
        return f'This is a module, and {wanted} is wanted: module.get_function("name").'
    return f"Wanted {wanted}; got {value!r}."
