"""CuPy's names over NumPy arrays, so that code written for CuPy runs on the emulator unchanged.

Arrays here stand for device memory: they are kept apart from plain NumPy arrays as CuPy's are.
``asarray`` of a NumPy array copies it, mixing the two in one operation is a TypeError, and a
reduction gives an array of no dimensions rather than a number. One thing cannot be imitated:
``numpy.asarray`` accepts these arrays, where CuPy asks for ``.get()``.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as _np

from ..compiling import signature as _signature
from ..compiling.nvrtc import Compiled
from ..compiling.nvrtc import compile_source as _compile_source
from ..emulator import LaunchResult
from . import emulated_cuda as cuda
from .limits import Limits, check_shape, dimensions

CANARY = 0xCD  # every byte of an integer array that was never written
CODE_NAME = "kernel.cu"  # what compiler and reports call the code of a RawModule
NAN_BITS = {2: 0x7E5A, 4: 0x7FC5A5A5, 8: 0x7FF85A5A5A5A5A5A}  # NaNs nobody computes


class MemoryPointer:
    """Where an array's first byte is. ``ptr`` is its address in the emulator's memory."""

    def __init__(self, array: _np.ndarray):
        self.array = array

    @property
    def ptr(self) -> int:
        from ..emulator import GLOBAL

        return GLOBAL.pointer(self.array)

    def __int__(self) -> int:
        return self.ptr


class ndarray(_np.ndarray):  # noqa: N801 (CuPy's own name)
    """An array in the emulated device's memory."""

    def __new__(cls, shape, dtype=float, memptr: MemoryPointer | None = None, order="C"):
        if memptr is None:
            return empty(shape, dtype, order)
        storage = _np.asarray(memptr.array).reshape(-1).view(_np.uint8)
        return super().__new__(cls, shape, dtype, buffer=storage, order=order)

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self)

    @property
    def device(self) -> cuda.Device:
        return cuda.Device(0)

    def get(self, stream=None, order="C", out=None, blocking=True) -> _np.ndarray:
        """A copy as a plain NumPy array."""
        if out is None:
            return _np.array(self, order=order, subok=False)
        out[...] = _plain(self)
        return out

    def set(self, arr: _np.ndarray, stream=None) -> None:
        """Copy a NumPy array of the same shape and dtype into this one."""
        if arr.shape != self.shape or arr.dtype != self.dtype:
            raise ValueError(
                f"set needs shape {self.shape} and dtype {self.dtype}, "
                f"got {arr.shape} and {arr.dtype}"
            )
        _plain(self)[...] = arr

    def __getitem__(self, key):
        found = super().__getitem__(key)
        if isinstance(found, _np.generic):  # CuPy gives an array of no dimensions, a view
            found = super().__getitem__((*key, ...) if isinstance(key, tuple) else (key, ...))
        return found

    def __setitem__(self, key, value):
        _refuse_numpy((value,), "an assignment")
        super().__setitem__(key, value)

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        _refuse_numpy((*inputs, *out), ufunc.__name__)
        if out:
            kwargs["out"] = tuple(_plain(item) for item in out)
        results = getattr(ufunc, method)(*(_plain(item) for item in inputs), **kwargs)
        return out[0] if len(out) == 1 else _wrap(results)

    def __array_function__(self, func, types, args, kwargs):
        if _np.ndarray in types:
            _refuse_numpy(None, func.__name__)
        return _wrap(super().__array_function__(func, types, args, kwargs))

    def __repr__(self) -> str:
        return repr(_plain(self))

    def __str__(self) -> str:
        return str(_plain(self))

    def __format__(self, spec: str) -> str:
        return format(_plain(self)[()], spec)


def _wrap_method(name: str) -> None:
    def method(self, *args, **kwargs):
        return _wrap(getattr(_np.ndarray, name)(self, *args, **kwargs))

    setattr(ndarray, name, functools.wraps(getattr(_np.ndarray, name))(method))


for _name in ("argmax", "argmin", "dot", "trace"):  # no ufuncs, so they give plain numbers
    _wrap_method(_name)


def _plain(value):
    """``value`` as NumPy sees it: the same memory, without CuPy's rules."""
    return value.view(_np.ndarray) if isinstance(value, ndarray) else value


def _wrap(value):
    """NumPy's answer as CuPy would give it: arrays, also for single numbers."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, (_np.ndarray, _np.generic)):
        return _np.asarray(value).view(ndarray)
    if isinstance(value, (_np.random.Generator, _np.random.RandomState)):
        return _Namespace(value)
    if isinstance(value, (tuple, list)):
        items = [_wrap(item) for item in value]
        named = hasattr(value, "_fields")  # linalg's results
        return type(value)(*items) if named else type(value)(items)
    return value


def _refuse_numpy(values, what: str) -> None:
    if values is None or any(type(v) is _np.ndarray for v in values):
        raise TypeError(
            f"{what} mixes a NumPy array (the host's memory) with a cp array (the device's). "
            "Copy one to the other side first: cp.asarray(x) or x.get()."
        )


# --- making arrays ---


def empty(shape, dtype=float, order="C") -> ndarray:
    """An array nobody has written yet: NaN, or 0xCD in every byte of an integer.

    Whatever a kernel leaves out then shows, where real memory would hold anything at all; and
    ``sanitize`` knows a use of it.
    """
    from ..emulator import GLOBAL

    made = _np.empty(shape, dtype, order).view(ndarray)
    plain = _plain(made)
    if made.dtype.kind in "fc":
        parts = (plain.real, plain.imag) if made.dtype.kind == "c" else (plain,)
        for part in parts:
            part[...] = _np.array(NAN_BITS[part.itemsize], f"u{part.itemsize}").view(part.dtype)
    elif made.dtype.kind in "iu":
        plain[...] = _np.frombuffer(bytes([CANARY]) * made.itemsize, made.dtype)[0]
    else:
        plain[...] = _np.zeros((), made.dtype)
        return made
    GLOBAL.never_written(made)
    return made


def empty_like(prototype, dtype=None, order="C", subok=None, shape=None) -> ndarray:
    """As :func:`empty`, with the shape and dtype of ``prototype``."""
    shape = prototype.shape if shape is None else shape
    return empty(shape, dtype or prototype.dtype, "F" if order == "F" else "C")


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0) -> ndarray:
    """A new array from numbers, a NumPy array, a cp array or a torch tensor."""
    source = _plain(_from_torch(obj))
    if isinstance(source, (list, tuple)):
        source = _np.array(_unwrap_items(source))
    if not copy and isinstance(obj, ndarray):
        return _np.asarray(source, dtype, order=order).view(ndarray)
    return _np.array(source, dtype, copy=True, order=order, ndmin=ndmin).view(ndarray)


def asarray(a, dtype=None, order="K") -> ndarray:
    """``a`` on the device: a cp array or CPU torch tensor shares its memory, others are copied."""
    source = _from_torch(a)
    if isinstance(source, ndarray):
        return _np.asarray(_plain(source), dtype, order=order).view(ndarray)
    if source is not a:
        return _np.asarray(source, dtype, order=order).view(ndarray)
    return array(a, dtype, order=order)


def asanyarray(a, dtype=None, order="K") -> ndarray:
    """As :func:`asarray`."""
    return asarray(a, dtype, order)


def ascontiguousarray(a, dtype=None) -> ndarray:
    """``a`` on the device, its rows one after another in memory."""
    return asarray(a, dtype, "C")


def asfortranarray(a, dtype=None) -> ndarray:
    """``a`` on the device, its columns one after another in memory."""
    return asarray(a, dtype, "F")


def asnumpy(a, stream=None, order="C", out=None, blocking=True) -> _np.ndarray:
    """``a`` as a plain NumPy array."""
    if isinstance(a, ndarray):
        return a.get(order=order, out=out)
    return _np.asarray(_from_torch(a), order=order)


def get_array_module(*args):
    """This module if any argument is a cp array, otherwise NumPy."""
    return sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else _np


def _unwrap_items(items):
    return [_unwrap_items(i) if isinstance(i, (list, tuple)) else _plain(i) for i in items]


def _from_torch(obj):
    """A CPU torch tensor as a NumPy array of the same memory; anything else as it is."""
    if type(obj).__module__.partition(".")[0] != "torch" or not hasattr(obj, "detach"):
        return obj
    tensor, torch = obj.detach(), sys.modules["torch"]
    if tensor.dtype == torch.bfloat16:  # NumPy has none: its bits
        tensor = tensor.view(torch.uint16)
    return tensor.numpy()


# --- everything else is NumPy's ---

_CONVERTING = {"allclose", "array_equal", "array_equiv"}  # arrays of no dimensions in CuPy


def _adapt(function, name: str):
    """NumPy's ``function`` with CuPy's manners."""

    @functools.wraps(function)
    def adapted(*args, **kwargs):
        _refuse_numpy((*args, *kwargs.values()), name)
        args = [_plain(a) for a in args]
        kept = kwargs.get("out")
        kwargs = {key: _plain(value) for key, value in kwargs.items()}
        args = [_unwrap_items(a) if type(a) in (list, tuple) else a for a in args]
        result = function(*args, **kwargs)
        if kept is not None:
            return kept
        return _wrap(_np.bool_(result) if name in _CONVERTING else result)

    return adapted


class _Namespace:
    """A part of NumPy (``linalg``, a random generator) whose functions return cp arrays."""

    def __init__(self, part, casting: tuple[str, ...] = ()):
        self._part = part
        self._casting = casting

    def __getattr__(self, name: str):
        found = getattr(self._part, name)
        if isinstance(found, type) or not callable(found):
            return found
        if name not in self._casting:
            return _adapt(found, name)

        def cast(*args, dtype=float, **kwargs):
            return _wrap(_np.asarray(found(*args, **kwargs), dtype))

        return cast


# CuPy's random functions take a dtype; NumPy's old ones do not.
_FLOAT_SAMPLERS = ("rand", "randn", "random", "random_sample", "uniform", "normal",
                   "standard_normal", "exponential")  # fmt: skip
random = _Namespace(_np.random, _FLOAT_SAMPLERS)
linalg = _Namespace(_np.linalg)
fft = _Namespace(_np.fft)


class testing:  # noqa: N801 (CuPy's own name)
    """NumPy's assertions; as in CuPy they take arrays of either kind."""

    assert_allclose = staticmethod(
        lambda a, b, *args, **kw: _np.testing.assert_allclose(asnumpy(a), asnumpy(b), *args, **kw)
    )
    assert_array_equal = staticmethod(
        lambda a, b, *args, **kw: _np.testing.assert_array_equal(
            asnumpy(a), asnumpy(b), *args, **kw
        )
    )


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        found = getattr(_np, name)
    except AttributeError:
        raise AttributeError(
            f"cp.{name} does not exist on the emulator: it has what NumPy has, and cp.RawModule"
        ) from None
    if isinstance(found, (type, types.ModuleType)) or not callable(found):
        return found
    return _adapt(found, name)


# --- kernels ---

_recorders: list[tuple[list[LaunchResult], object]] = []


@contextmanager
def recorded_launches(options=None) -> Iterator[list[LaunchResult]]:
    """Collects the result of every launch made inside the ``with``.

    ``options`` are the machine's ``Options`` for launches that name none of their own.
    """
    results: list[LaunchResult] = []
    _recorders.append((results, options))
    try:
        yield results
    finally:
        _recorders.pop()


class RawModule:
    """CUDA C++ compiled to PTX for the emulator, with CuPy's arguments.

    Raises :class:`~course_utils.compiling.diagnostics.CompileError`. ``-arch=sm_XX`` among the
    options picks another target than sm_90a.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions=None,
        jitify: bool = False,
    ):
        from ..emulator import EmulatedModule

        if (code is None) == (path is None):
            raise TypeError("RawModule takes either code= (CUDA C++) or path= (a PTX file)")
        self.code, self.file_path = code, path
        self.options, self.backend = tuple(options), backend
        self.translate_cucomplex = translate_cucomplex
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = tuple(name_expressions or ())
        self._mangled: dict[str, str] = {}
        self._signatures: dict[str, _signature.Signature] = {}
        if path is not None:
            with open(path, encoding="utf-8") as file:
                self._machine = EmulatedModule(file.read())
            return
        compiled = self.compiled(_split_arch(self.options)[0])
        self._mangled = compiled.mangled
        self._signatures = _signature.kernels(code)
        self._machine = EmulatedModule(compiled.code)

    def get_function(self, name: str) -> RawKernel:
        """The kernel called ``name``; an instance of one of the ``name_expressions`` also by the
        symbol it became, which is what CuPy calls it."""
        symbol = self._mangled.get(name, name)
        name = next((known for known, its in self._mangled.items() if its == symbol), name)
        known = self._signatures.get(name.partition("<")[0])
        names = tuple(parameter.name for parameter in known.parameters) if known else ()
        return RawKernel._of_module(self, name, self._machine.entry(symbol), names)

    def compiled(self, arch: str, *options: str) -> Compiled:
        """``code`` as NVRTC compiles it for ``arch``, such as the cubin of "sm_90a", with further
        ``options``; it is not loaded."""
        _, own = _split_arch(self.options)
        return _compile_source(
            self.code,
            filename=CODE_NAME,
            arch=arch,
            options=(*own, *options),
            names=self.name_expressions,
        )

    def get_global(self, name: str) -> MemoryPointer:
        """Where the ``__device__`` or ``__constant__`` variable ``name`` lives."""
        return MemoryPointer(self._machine.global_array(name))


def _split_arch(options: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    arch, others = "compute_90a", []
    for option in options:
        flag, _, value = option.partition("=")
        if flag in ("-arch", "--gpu-architecture"):
            arch = value.replace("sm_", "compute_")
        else:
            others.append(option)
    return arch, tuple(others)


class RawKernel:
    """A kernel that is called as CuPy's are: ``kernel(grid, block, args, shared_mem=bytes)``.

    CuPy's own rules hold, sharp edges included: a Python int is passed as 64 bits and a Python
    float as a double, whatever the parameter's type. ``course_utils.load`` is what checks types.
    """

    def __init__(self, code: str, name: str, options: tuple[str, ...] = (), **kwargs):
        made = RawModule(code=code, options=options, **kwargs).get_function(name)
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of_module(
        cls, module: RawModule, name: str, entry, parameter_names: tuple[str, ...]
    ) -> RawKernel:
        made = cls.__new__(cls)
        for attribute in (
            "code",
            "file_path",
            "options",
            "backend",
            "translate_cucomplex",
            "enable_cooperative_groups",
            "name_expressions",
        ):
            setattr(made, attribute, getattr(module, attribute))
        made.name, made.entry, made._names = name, entry, parameter_names
        made.compiled = module.compiled
        made.max_dynamic_shared_size_bytes = cuda.ATTRIBUTES["MaxSharedMemoryPerBlock"]
        made.last_launch = None
        return made

    @property
    def max_threads_per_block(self) -> int:
        return self.entry.max_threads

    @property
    def shared_size_bytes(self) -> int:
        return self.entry.static_shared

    @property
    def attributes(self) -> dict[str, int]:
        """What PTX tells of the kernel; registers are known to a GPU's own compiler only."""
        return {
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "max_threads_per_block": self.max_threads_per_block,
            "shared_size_bytes": self.shared_size_bytes,
        }

    def __call__(self, grid, block, args, *, shared_mem: int = 0) -> None:
        self.launch(grid, block, args, shared_mem=shared_mem)

    def launch(self, grid, block, args, *, shared_mem: int = 0, options=None) -> LaunchResult:
        """Launch and return what the emulator saw; ``options`` are the machine's ``Options``."""
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
            ),
        )
        sizes = [size for size, _ in self.entry.parameters]
        if len(args) != len(sizes):
            raise TypeError(f"{self.name} takes {len(sizes)} arguments, {len(args)} were given")
        values = [_argument(arg, size) for arg, size in zip(args, sizes, strict=True)]
        if options is None and _recorders:
            options = _recorders[-1][1]
        result = self.entry.launch(
            grid, block, values, shared=shared_mem, names=self._names, options=options
        )
        self.last_launch = result
        for results, _ in _recorders:
            results.append(result)
        if result.printed:
            print(result.printed, end="")
        return result


def _argument(value, size: int):
    """What the machine takes: an array, or exactly ``size`` bytes.

    Like the hardware, take the first bytes of a value that is too large; one that is too small is
    followed by whatever lies behind it, here canary bytes.
    """
    if isinstance(value, ndarray):
        return _plain(value.reshape(1) if value.ndim == 0 else value)
    if isinstance(value, MemoryPointer):
        return value.ptr.to_bytes(8, "little")
    if value is None:
        return bytes(8)
    if isinstance(value, _np.ndarray) and value.size != 1:
        raise TypeError("a kernel takes cp arrays: copy it to the device with cp.asarray(...)")
    data = value if isinstance(value, bytes) else _np.asarray(value).tobytes()
    return data[:size].ljust(size, bytes([CANARY]))
