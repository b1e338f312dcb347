"""``cp.RawModule`` and ``cp.RawKernel`` on the emulator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..compiling import signature
from ..compiling.assembly import has_assembly, refused_assembly
from ..compiling.device_functions import missing_kernel
from ..compiling.nvrtc import Compiled, compile_source
from ..compiling.source_text import read_source
from ..emulator import (
    UNKNOWN_INSTRUCTION,
    KernelFault,
    LaunchResult,
    Options,
    PtxError,
)
from ..errors import LessonError
from ..interrupts import interruptible
from ..symptoms import CUDA_ERRORS
from . import emulated_cuda as cuda
from .emulated_arrays import MemoryPointer
from .emulated_streams import Span, enqueue_launch
from .last_launches import Launched, are_unchanged, arrays_of, remember, results_before
from .limits import IMPOSSIBLE_VALUE, LaunchError, Limits, check_shape, dimensions
from .raw_arguments import RawArguments
from .raw_options import macros, split_arch

CODE_NAME = "kernel.cu"  # the name of a RawModule's code for compiler and reports

_recorders: list[tuple[list[LaunchResult], object]] = []


@contextmanager
def recorded_launches(options: Any = None) -> Iterator[list[LaunchResult]]:
    """Collects the result of every launch made inside the ``with``.

    ``options`` are the machine's ``Options`` for launches that name none.
    """
    results: list[LaunchResult] = []
    _recorders.append((results, options))
    try:
        yield results
    finally:
        _recorders.pop()


def recorder_options() -> Any:
    """The ``options`` of the :func:`recorded_launches` that is listening, None where none is."""
    return _recorders[-1][1] if _recorders else None


class KernelNotFound(LessonError, KeyError):
    """A module has no kernel of this name: C++ has changed it, or it names a template."""

    __str__ = Exception.__str__

    def __init__(self, name: str, source: str, symbols: Iterable[str]):
        super().__init__(missing_kernel(name, source, symbols), symptom=CUDA_ERRORS[500].heading)


class SwappedArguments(LessonError, TypeError):
    """The code of a kernel where its name belongs."""


class RawModule:
    """CUDA C++ compiled to PTX for the emulator, with CuPy's arguments.

    Raises :class:`~course_utils.compiling.diagnostics.CompileError`. ``-arch=sm_XX`` among the
    options picks another target than sm_90a.
    """

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:
        from ..emulator import EmulatedModule

        if (code is None) == (path is None):
            raise TypeError("RawModule takes either code= (CUDA C++) or path= (a PTX file)")
        self.code, self.file_path = code, path
        self.options, self.backend = tuple(options), backend
        self.translate_cucomplex = translate_cucomplex
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = tuple(name_expressions or ())
        self.log = ""  # the compiler's
        self.compile_seconds = 0.0
        self._mangled: dict[str, str] = {}
        self._signatures: dict[str, signature.Signature] = {}
        if code is None:
            self._machine = EmulatedModule(read_source(Path(str(path))))
            return
        with interruptible("the code was not compiled."):
            compiled = self.compiled(split_arch(self.options)[0])
        self._mangled, self.log = compiled.mangled, compiled.log
        self.compile_seconds = compiled.seconds
        self._signatures = signature.kernels(code, macros(self.options))
        self._machine = EmulatedModule(compiled.ptx)

    def add_names(self, symbols: Mapping[str, str]) -> None:
        """Further names for kernels, each with its symbol."""
        self._mangled = {**self._mangled, **symbols}  # the other is the compiler's, and kept

    def get_function(self, name: str) -> RawKernel:
        """The kernel called ``name``. An instance of one of the ``name_expressions`` is also found
        by its symbol, as in CuPy."""
        return RawKernel._of_module(self, name)

    def compiled(self, arch: str, *options: str) -> Compiled:
        """``code`` as NVRTC compiles it for ``arch``, such as the cubin of "sm_90a", with further
        ``options``, without loading it. Raises LessonError where the code is not known."""
        if self.code is None:
            raise LessonError(f"{self.file_path} is compiled already: its CUDA C++ is not known.")
        _, own = split_arch(self.options)
        return compile_source(
            self.code,
            filename=CODE_NAME,
            arch=arch,
            options=(*own, *options),
            names=self.name_expressions,
        )

    def get_global(self, name: str) -> MemoryPointer:
        """Where the ``__device__`` or ``__constant__`` variable ``name`` lives."""
        return MemoryPointer(self._machine.global_array(name))


class RawKernel:
    """A kernel that is called as CuPy's are: ``kernel(grid, block, args, shared_mem=bytes)``.

    CuPy's own rules hold, sharp edges included: a Python int is passed as 64 bits and a Python
    float as a double, whatever the parameter's type. If the kernel can't mean that value, one
    line on stderr says so, once for each parameter. ``course_utils.load`` refuses wrong types.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        if "__global__" in name and "__global__" not in code:
            raise SwappedArguments(
                "cp.RawKernel takes the code first and the name second, and got them the other way "
                f"round. Write cp.RawKernel(code, {code.strip()!r})."
            )
        module = RawModule(
            code=code,
            options=options,
            backend=backend,
            translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups,
            jitify=jitify,
        )
        self._bind(module, name)

    @classmethod
    def _of_module(cls, module: RawModule, name: str) -> RawKernel:
        made = cls.__new__(cls)
        made._bind(module, name)
        return made

    def _bind(self, module: RawModule, name: str) -> None:
        symbol = module._mangled.get(name, name)
        self.name = next((n for n, its in module._mangled.items() if its == symbol), name)
        try:
            self.entry = module._machine.entry(symbol)
        except KeyError:
            raise KernelNotFound(name, module.code or "", module._machine.entries) from None
        known = module._signatures.get(self.name.partition("<")[0])
        self._arguments = RawArguments(
            self.name,
            [size for size, _ in self.entry.parameters],
            known.specialise(self.name).parameters if known else (),
        )
        self.code, self.file_path = module.code, module.file_path
        self.options, self.backend = module.options, module.backend
        self.translate_cucomplex = module.translate_cucomplex
        self.enable_cooperative_groups = module.enable_cooperative_groups
        self.name_expressions = module.name_expressions
        self.compiled, self.log = module.compiled, module.log
        self.compile_seconds = module.compile_seconds
        most = cuda.ATTRIBUTES["MaxSharedMemoryPerBlock"]
        self.max_dynamic_shared_size_bytes = max(0, most - self.entry.static_shared)
        self.last_launch: LaunchResult | None = None

    def _enqueue(self, args: Any) -> None:
        """A launch on ``args`` in the stream in use: is it in an order with others?"""
        wrote, read = (
            {name: Span(reference, *bounds) for name, (reference, bounds) in each.items()}
            for each in arrays_of(args, self._arguments.parameters)
        )
        enqueue_launch(self.name, wrote, read)

    @property
    def max_threads_per_block(self) -> int:
        """The most threads that a block of it may have."""
        return self.entry.max_threads

    def resident_blocks(self, block: tuple[int, int, int], shared_mem: int = 0) -> int:
        """How many blocks of this shape run at once."""
        return self.entry.resident_blocks(block, shared_mem)

    def _reduced(self, grid: tuple[int, int, int], most: int) -> tuple[int, int, int]:
        """The grid of a cooperative launch, made smaller if it is too large, as CuPy does."""
        if math.prod(grid) <= most:
            return grid
        if math.prod(grid[1:]) > 1:
            raise ValueError(f"The specified grid size {grid} exceeds the limit ({most})")
        warnings.warn(
            f"The grid size will be reduced from {grid[0]} to {most}, as the specified grid size "
            "exceeds the limit.",
            stacklevel=4,
        )
        return most, 1, 1

    @property
    def shared_size_bytes(self) -> int:
        """Shared memory in bytes that the kernel declares. A launch may add more."""
        return self.entry.static_shared

    @property
    def attributes(self) -> dict[str, int]:
        """The attributes that PTX has. Registers are known to a GPU's own compiler only."""
        return {
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "max_threads_per_block": self.max_threads_per_block,
            "shared_size_bytes": self.shared_size_bytes,
        }

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        self.launch(grid, block, args, shared_mem=shared_mem)

    def launch(
        self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, options: Any = None
    ) -> LaunchResult:
        """Launch and return the emulator's result. ``options`` are the machine's ``Options``.

        Raises LaunchError for a shape, an argument or dynamic shared memory that cannot be.
        """
        grid, block = dimensions(grid, "grid"), dimensions(block, "block")
        check_shape(
            self.name,
            grid,
            block,
            shared_mem,
            Limits(
                self.max_threads_per_block,
                self.shared_size_bytes,
                cuda.ATTRIBUTES["MaxSharedMemoryPerBlockOptin"],
                self.entry.local_bytes,
            ),
        )
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise LaunchError(
                f"{self.name}: {shared_mem:,} bytes of dynamic shared memory, and the kernel may "
                f"have {self.max_dynamic_shared_size_bytes:,} (CUDA's error: INVALID_VALUE). "
                f"Set kernel.max_dynamic_shared_size_bytes = {shared_mem} before the launch.",
                symptom=IMPOSSIBLE_VALUE,
            )
        values = self._arguments.values(args)
        plain_launch = options is None
        options = options or recorder_options()
        options = options or Options()
        if options.cooperative is None:
            options = replace(options, cooperative=bool(self.enable_cooperative_groups))
        if options.cooperative:
            grid = self._reduced(grid, self.resident_blocks(block, shared_mem))
        names = self._arguments.names
        earlier = results_before(self.name, self.code or "", args) if plain_launch else []
        try:
            with interruptible(f"{self.name} was stopped before its end."):
                result = self.entry.launch(
                    grid, block, values, shared=shared_mem, names=names, options=options
                )
        except (PtxError, KernelFault, LookupError, TypeError, ValueError) as error:
            if plain_launch and isinstance(error, KernelFault):
                launched = Launched(self.name, grid, block, faulted=True, shared=shared_mem)
                remember(launched, args, self._arguments.parameters)
            if self.code and has_assembly(self.code) and _told_by_assembler(error):
                target = split_arch(self.options)[0].removeprefix("compute_")
                if refused := refused_assembly(self.compiled, target):
                    raise refused from None
            if type(error) is ValueError:  # a launch that cannot be
                raise LaunchError(str(error)) from None
            raise
        self.last_launch = result
        if plain_launch:
            self._enqueue(args)
        launched = Launched(
            self.name,
            grid,
            block,
            code=self.code or "",
            shared=shared_mem,
            changed_nothing=are_unchanged(earlier),
        )
        remember(launched, args, self._arguments.parameters)
        for results, _ in _recorders:
            results.append(result)
        if result.printed:
            print(result.printed, end="")
        return result


def _told_by_assembler(error: Exception) -> bool:
    """Whether an assembler may know better why a launch came to nothing."""
    return not isinstance(error, KernelFault) or error.finding.kind == UNKNOWN_INSTRUCTION
