"""``numba.cuda`` on the emulator: ``kernel[grid, block](...)`` of a ``@cuda.jit`` function.

Numba compiles to PTX with NVIDIA's NVVM, which needs no GPU. Its launch is replaced: the emulator
takes the arguments as Numba's own launcher would lay them out.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..findings.language_words import Language
from ..findings.options import ALL_CHECKS, Options
from ..launching.launch_result import LaunchResult
from ..machine.runtime_functions import BUILTINS
from ..memory.address_space import GLOBAL
from ..numerics.rounding import ceil_div
from .host_arrays import HostArrays, LanguageError, is_array
from .numba_arrays import with_names_of_arrays
from .prepared_launch import Emulation, PreparedLaunch, PythonSource, dimensions, entry_of, instead

INSTALL = "Install it: pip install numba-cuda nvidia-cuda-nvcc-cu12 (70 MB; no GPU is needed)."
_EXTERN = re.compile(r"\.extern\s+\.func\s+(?:\([^)]*\)\s*)?([\w$]+)")
THREADS = 256  # of a block that forall() chooses
Argument = tuple[str, Any]  # the name of a parameter, and an array, bytes or NumPy scalar


class DeviceArray(np.ndarray):
    """What ``cuda.to_device`` gives: an array in the host's memory, with Numba's methods."""

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray:
        """A copy as a NumPy array, or into ``ary``."""
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        result: np.ndarray = ary
        return result

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Take the values of ``ary``."""
        self[...] = ary


@contextmanager
def numba_on_emulator(arch: int = 90, *, options: Options | None = None) -> Iterator[Emulation]:
    """Inside the ``with``, kernels of ``@cuda.jit`` run on the emulator.

    Arrays are NumPy's, PyTorch tensors on the CPU or the course's, and hold the kernel's results.
    ``cuda.to_device``, ``cuda.device_array`` and ``cuda.synchronize`` work. Findings, faults,
    ``options`` and ``arch`` are as for
    :func:`~.triton_launches.triton_on_emulator`. Raises LanguageError
    where numba-cuda is missing.
    """
    cuda = _cuda()
    dispatcher = importlib.import_module("numba.cuda.dispatcher")
    emulation = Emulation(options or Options(checks=ALL_CHECKS), arch)

    def configured(kernel: Any, grid: Any, block: Any, stream: Any = 0, shared: int = 0) -> Any:
        def launch(*args: Any) -> None:
            emulation.launch(_prepared(kernel, grid, block, args, shared, emulation.arch))

        return launch

    def for_all(tasks: Any, *args: Any) -> None:
        threads = tasks.thread_per_block or THREADS
        if tasks.ntasks:
            blocks = ceil_div(tasks.ntasks, threads)
            configured(tasks.dispatcher, blocks, threads, 0, tasks.sharedmem)(*args)

    functions = {
        "to_device": _to_device,
        "device_array": _device_array,
        "device_array_like": lambda like, stream=0: _device_array(like.shape, like.dtype),
        "synchronize": lambda: None,
    }
    with ExitStack() as stack:
        stack.enter_context(instead(dispatcher.CUDADispatcher, configure=configured))
        stack.enter_context(instead(dispatcher.ForAll, __call__=for_all))
        stack.enter_context(instead(cuda, **functions))
        yield emulation


def emulated_numba(
    kernel: Any,
    grid: Any,
    block: Any,
    *args: Any,
    shared: int = 0,
    options: Options | None = None,
    arch: int = 90,
) -> LaunchResult:
    """Run ``kernel[grid, block, 0, shared](*args)`` on the emulator. The result has the findings.

    The rest is as for :func:`numba_on_emulator`.
    """
    _cuda()
    emulation = Emulation(options or Options(checks=ALL_CHECKS), arch, warn=False)
    emulation.launch(_prepared(kernel, grid, block, args, shared, arch))
    return emulation.results[-1]


def is_numba(kernel: Any) -> bool:
    """Whether it is a kernel of ``@cuda.jit``."""
    return type(kernel).__name__ == "CUDADispatcher"


def prepared_numba(
    kernel: Any, grid: Any, block: Any, args: Any, shared: int = 0, arch: int = 90
) -> PreparedLaunch:
    """The launch ``kernel[grid, block, 0, shared](*args)`` without running it."""
    return _prepared(kernel, grid, block, args, shared, arch)


def _cuda() -> Any:
    try:
        cuda = importlib.import_module("numba.cuda")
    except ImportError as error:
        raise LanguageError(f"numba.cuda cannot be imported ({error}). {INSTALL}") from None
    if "numba_cuda" not in str(cuda.__file__):
        raise LanguageError(f"numba.cuda is Numba's old one, without numba-cuda. {INSTALL}")
    return cuda


def _prepared(
    kernel: Any, grid: Any, block: Any, args: Any, shared: int, arch: int
) -> PreparedLaunch:
    if not is_numba(kernel):
        name = getattr(kernel, "__name__", type(kernel).__name__)
        raise LanguageError(f"{name} isn't a Numba kernel: @cuda.jit belongs above it.")
    function = kernel.py_func
    name = function.__name__
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if len(args) != len(names):
        listed = ", ".join(names)
        raise LanguageError(f"{name}: {len(args)} arguments, and it takes {len(names)}: {listed}.")
    arrays = HostArrays()
    places = [f"{name}, {own}" for own in names]
    given = [_given(value, arrays, place) for value, place in zip(args, places, strict=True)]
    types = tuple(_numba_type(value, place) for value, place in zip(given, places, strict=True))
    entry = _compiled(kernel, types, arch)
    flat = [
        part
        for own, kind, value in zip(names, types, given, strict=True)
        for part in _flat(own, kind, value)
    ]
    return PreparedLaunch(
        name,
        entry,
        dimensions(grid, "grid", name),
        dimensions(block, "block", name),
        tuple(value for _, value in flat),
        tuple(own for own, _ in flat),
        PythonSource.of(function.__code__.co_filename),
        int(shared),
        keep=(arrays, args),
        language=Language.NUMBA,
    )


def _given(value: Any, arrays: HostArrays, where: str) -> Any:
    if is_array(value):
        return arrays.array(value, where).view(np.ndarray)
    if isinstance(value, list):
        raise LanguageError(f"{where}: wants an array, got a list. Make one: np.array(...).")
    return value


def _numba_type(value: Any, where: str) -> Any:
    errors = importlib.import_module("numba.core.errors")
    dispatcher = importlib.import_module("numba.cuda.dispatcher")
    try:
        return dispatcher.typeof(value, dispatcher.Purpose.argument)
    except (errors.NumbaError, ValueError) as error:
        raise LanguageError(f"{where}: Numba takes no {type(value).__name__} ({error}).") from None


def _compiled(kernel: Any, types: tuple[Any, ...], arch: int) -> Any:
    """The kernel for these types, compiled once."""
    known = kernel.__dict__.setdefault("_of_emulator", {})
    if (types, arch) not in known:
        asked = kernel.targetoptions
        if asked.get("link"):
            raise LanguageError(
                f"{kernel.py_func.__name__}: the emulator links no other files (link=...). Write "
                "their functions in Python, with @cuda.jit(device=True)."
            )
        dispatcher = importlib.import_module("numba.cuda.dispatcher")
        target = SimpleNamespace(compute_capability=divmod(arch, 10))
        with instead(dispatcher, get_current_device=lambda: target):  # for its device functions
            ptx, _ = _cuda().compile(
                kernel.py_func,
                types,
                lineinfo=True,
                device=False,
                fastmath=asked.get("fastmath", False),
                cc=target.compute_capability,
                opt=asked.get("opt", True),
                abi="numba",
                launch_bounds=asked.get("launch_bounds"),
            )
        _check_links(kernel.py_func.__name__, ptx)
        named = with_names_of_arrays(ptx, kernel.py_func)
        known[types, arch] = entry_of(named, own=kernel.py_func.__code__.co_filename)
    return known[types, arch]


def _check_links(name: str, ptx: str) -> None:
    """Refuse PTX that Numba would link with its own CUDA C++."""
    missing = [each for each in _EXTERN.findall(ptx) if each not in BUILTINS]
    if not missing:
        return
    if any(each.startswith("cudaCG") for each in missing):
        what, fix = "a barrier of the whole grid", "Split the kernel in two at g.sync()."
    elif any("half" in each or "bfloat16" in each for each in missing):
        what, fix = "arithmetic of 16-bit floats", "Convert to float32 before, and back after."
    else:
        what, fix = f"the function {missing[0]}", "Write it in Python: @cuda.jit(device=True)."
    raise LanguageError(f"{name}: Numba links {what} from CUDA C++, and the emulator cannot. {fix}")


def _flat(name: str, kind: Any, value: Any) -> Iterator[Argument]:
    """The PTX parameters of one argument, as Numba lays it out."""
    types = importlib.import_module("numba").types
    if isinstance(kind, types.Array):
        yield f"{name}'s owner", np.uint64(0)
        yield f"{name}'s parent", np.uint64(0)
        yield f"{name}.size", np.int64(value.size)
        yield f"{name}.itemsize", np.int64(value.itemsize)
        yield name, value if value.size else np.uint64(0)
        yield from ((f"{name}.shape", np.int64(each)) for each in value.shape)
        yield from ((f"{name}.strides", np.int64(each)) for each in value.strides)
    elif isinstance(kind, types.BaseTuple):
        for number, (inner, part) in enumerate(zip(kind, value, strict=True)):
            yield from _flat(f"{name}[{number}]", inner, part)
    elif isinstance(kind, types.Complex):
        part_type = {64: np.float32, 128: np.float64}[kind.bitwidth]
        yield f"{name}.real", part_type(value.real)
        yield f"{name}.imag", part_type(value.imag)
    elif isinstance(kind, types.Boolean):
        yield name, np.uint8(bool(value))
    elif isinstance(kind, types.EnumMember):
        yield from _flat(name, kind.dtype, value.value)
    elif isinstance(kind, (types.Integer, types.Float)):
        yield name, np.dtype(str(kind)).type(value)
    elif isinstance(kind, (types.NPDatetime, types.NPTimedelta)):
        yield name, value.view(np.int64)
    elif isinstance(kind, types.Record):
        yield name, np.asarray(value).reshape(1)
    else:
        raise LanguageError(f"{name}: the emulator cannot pass Numba's type {kind}.")


# --- numba.cuda's own functions for memory ---


def _to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    if to is not None:
        to.copy_to_device(obj)
        return to
    return np.array(obj).view(DeviceArray)


def _device_array(shape: Any, dtype: Any = np.float64, *_: Any, **__: Any) -> Any:
    """An array without values: a kernel that reads them before it writes them is told so."""
    array = np.full(shape, np.nan if np.dtype(dtype).kind in "fc" else 0, dtype)
    GLOBAL.never_written(array)
    return array.view(DeviceArray)
