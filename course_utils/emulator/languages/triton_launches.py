"""``kernel[grid](...)`` of a ``@triton.jit`` kernel on the emulator."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ..findings.options import ALL_CHECKS, Options
from ..launching.launch_result import LaunchResult
from ..memory.address_space import GLOBAL
from .host_arrays import HostArrays, LanguageError, is_array
from .prepared_launch import Emulation, PreparedLaunch, instead
from .triton_arguments import TritonArguments
from .triton_driver import EmulatorDriver, timeless
from .triton_tuning import tuned_on

INSTALL = "Install it: pip install triton (Linux, 1 GB; no GPU and no PyTorch are needed)."
_open: list[Emulation] = []


@contextmanager
def triton_on_emulator(
    arch: int = 90, *, options: Options | None = None, every_config: bool = False
) -> Iterator[Emulation]:
    """Inside the ``with``, ``kernel[grid](...)`` of a ``@triton.jit`` kernel runs on the emulator.

    Arrays may be NumPy's, PyTorch tensors on the CPU or the course's; they hold what the kernel
    stored. ``options`` are the emulator's, every check unless you say otherwise. A finding is a
    :class:`~.prepared_launch.FindingWarning`, and a fault raises
    :class:`~course_utils.emulator.KernelFault`; both name the line of the Python. ``arch`` is the
    compute capability to compile for, 90 for sm_90.

    There are no times, so ``@triton.autotune`` takes the first configuration that fits the GPU;
    ``every_config`` launches them all, each under the checks, and then the first once more.
    Raises LanguageError where Triton is missing.
    """
    try:
        from triton import testing
        from triton.compiler import CompiledKernel
        from triton.runtime import driver
        from triton.runtime.autotuner import Autotuner
        from triton.runtime.jit import JITFunction
    except ImportError as error:
        raise LanguageError(f"Triton cannot be imported ({error}). {INSTALL}") from None
    emulation = Emulation(options or Options(checks=ALL_CHECKS), arch, every_config)
    active = "_active" if hasattr(driver, "_active") else "active"  # the latter before Triton 3.6
    before, run = getattr(driver, active), JITFunction.run
    driver.set_active(EmulatorDriver(arch))
    _open.append(emulation)
    started = _init_handles(CompiledKernel._init_handles)
    try:
        with ExitStack() as stack, warnings.catch_warnings():
            # of a default that Triton is about to change
            warnings.filterwarnings("ignore", category=UserWarning, module=r"triton\.knobs")
            stack.enter_context(instead(JITFunction, run=functools.partialmethod(_run, run)))
            stack.enter_context(instead(CompiledKernel, _init_handles=started))
            stack.enter_context(tuned_on(emulation, Autotuner))
            stack.enter_context(instead(testing, do_bench=timeless))
            yield emulation
    finally:
        _open.pop()
        setattr(driver, active, before)


def emulated_triton(
    kernel: Any, grid: Any, *args: Any, options: Options | None = None, arch: int = 90, **meta: Any
) -> LaunchResult:
    """Run ``kernel[grid](*args, **meta)`` on the emulator. The result has the findings.

    The rest is as for :func:`triton_on_emulator`. Raises LanguageError if it isn't a
    Triton kernel.
    """
    with triton_on_emulator(arch, options=options) as emulation:
        emulation.warn = False
        launched(kernel, grid, args, meta)
    return emulation.results[-1]


def prepared_triton(kernel: Any, grid: Any, args: Any, meta: Any, arch: int = 90) -> PreparedLaunch:
    """The launch ``kernel[grid](*args, **meta)`` without running it."""
    with triton_on_emulator(arch) as emulation:
        emulation.take = lambda prepared: None
        launched(kernel, grid, args, meta)
    return emulation.launches[-1]


def launched(kernel: Any, grid: Any, args: Any, meta: Any) -> None:
    """Call ``kernel[grid](*args, **meta)``. Raises LanguageError if it isn't a kernel."""
    if type(kernel).__name__ == "InterpretedFunction":
        raise LanguageError(
            f"{kernel.fn.__name__} was made for Triton's interpreter. Unset TRITON_INTERPRET "
            "before @triton.jit is reached, and define it again."
        )
    if not is_triton(kernel):
        raise LanguageError(
            f"{getattr(kernel, '__name__', type(kernel).__name__)} isn't a Triton kernel: "
            "@triton.jit belongs above it."
        )
    kernel[(grid,) if isinstance(grid, int) else grid](*args, **meta)


def is_triton(kernel: Any) -> bool:
    """Whether it is a kernel of ``@triton.jit``, tuned or not."""
    inside = type(kernel).__mro__
    return any(each.__module__.startswith("triton.") for each in inside) and hasattr(kernel, "run")


class Pointer:
    """An array as Triton wants a tensor: with ``data_ptr()``, its address on the emulator."""

    def __init__(self, given: Any, array: np.ndarray, arrays: HostArrays) -> None:
        self.given, self.array, self._arrays = given, array, arrays
        self.dtype = array.dtype

    def data_ptr(self) -> int:
        """The address of the first element."""
        return GLOBAL.pointer(self.array) if self.array.size else 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.given, name)


def _pointers(value: Any, arrays: HostArrays, where: str) -> Any:
    """``value`` with a :class:`Pointer` for each array, in tuples and tensor descriptors too."""
    if is_array(value):
        array = arrays.array(value, where)
        if array.dtype.kind not in "biufV" or array.dtype.names:
            raise LanguageError(
                f"{where}: Triton has no {array.dtype}. Convert the array, or pass a view of it: "
                "x.view(np.float32)."
            )
        return Pointer(value, array, arrays)
    if isinstance(value, np.generic):
        kind = {"b": "bool", "f": "float"}.get(value.dtype.kind, "int")
        raise LanguageError(
            f"{where}: Triton takes Python's numbers, not NumPy's {value.dtype}. Pass {kind}(...)."
        )
    if isinstance(value, list):
        raise LanguageError(f"{where}: wants an array, got a list. Make one: np.array(...).")
    if isinstance(value, tuple):
        parts = [_pointers(part, arrays, where) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if hasattr(value, "block_shape") and hasattr(value, "base"):  # a TensorDescriptor
        replaced = copy.copy(value)
        replaced.base = _pointers(value.base, arrays, where)
        return replaced
    return value


def _run(kernel: Any, run: Any, *args: Any, **kwargs: Any) -> Any:
    """``JITFunction.run`` for arrays of the host."""
    arrays = HostArrays()
    name = kernel.__name__
    names = [*kernel.arg_names, *(["?"] * len(args))]
    given = [
        _pointers(value, arrays, f"{name}, {own}")
        for value, own in zip(args, names[: len(args)], strict=True)
    ]
    by_name = {
        own: _pointers(value, arrays, f"{name}, {own}") if own in names else value
        for own, value in kwargs.items()
    }
    return run(kernel, *given, **by_name)


def _init_handles(original: Any) -> Any:
    """``CompiledKernel._init_handles``, whose ``_run`` launches on the emulator."""

    def init(compiled: Any) -> None:
        if isinstance(compiled._run, TritonArguments):
            return
        original(compiled)
        compiled._run = TritonArguments(compiled, _open)
        compiled.module = None  # which is unloaded later, by whatever driver is active then

    return init
