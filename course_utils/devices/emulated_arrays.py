"""Arrays of the emulated device: NumPy's, kept apart from plain ones as CuPy's are."""

from __future__ import annotations

import functools
import sys
from typing import Any

import ml_dtypes
import numpy as np

from . import emulated_cuda as cuda

CANARY = 0xCD  # every byte of an integer array that was never written
NAN_BITS = {  # NaNs that nobody computes, where a format has so many
    "float16": 0x7E5A,
    "float32": 0x7FC5A5A5,
    "float64": 0x7FF85A5A5A5A5A5A,
    "bfloat16": 0x7FC5,
    "float8_e5m2": 0x7D,
    "float8_e4m3fn": 0x7F,
}


class MemoryPointer:
    """Where an array's first byte is. ``ptr`` is its address in the emulator's memory."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def ptr(self) -> int:
        from ..emulator import GLOBAL

        return GLOBAL.pointer(self.array)

    def __int__(self) -> int:
        return self.ptr


class ndarray(np.ndarray):  # noqa: N801 (CuPy's own name)
    """An array in the emulated device's memory."""

    def __new__(
        cls, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None, order: Any = "C"
    ) -> Any:
        if memptr is None:
            return empty(shape, dtype, order)
        storage = np.asarray(memptr.array).reshape(-1).view(np.uint8)
        return super().__new__(cls, shape, dtype, buffer=storage, order=order)

    @property
    def data(self) -> MemoryPointer:  # type: ignore[override]  # CuPy's, not NumPy's
        return MemoryPointer(self)

    @property
    def device(self) -> cuda.Device:  # type: ignore[override]
        return cuda.Device(0)

    def get(
        self, stream: Any = None, order: Any = "C", out: Any = None, blocking: Any = True
    ) -> np.ndarray:
        """A copy as a plain NumPy array."""
        if out is None:
            return np.array(self, order=order, subok=False)
        out[...] = plain(self)
        return out

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        """Copy a NumPy array of the same shape and dtype into this one."""
        if arr.shape != self.shape or arr.dtype != self.dtype:
            raise ValueError(
                f"set needs shape {self.shape} and dtype {self.dtype}, "
                f"got {arr.shape} and {arr.dtype}"
            )
        plain(self)[...] = arr

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, np.generic):  # CuPy gives an array of no dimensions, a view
            found = super().__getitem__((*key, ...) if isinstance(key, tuple) else (key, ...))
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse_numpy((value,), "an assignment")
        super().__setitem__(key, value)

    def __array_ufunc__(
        self, ufunc: Any, method: Any, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        refuse_numpy((*inputs, *out), ufunc.__name__)
        if out:
            kwargs["out"] = tuple(plain(item) for item in out)
        results = getattr(ufunc, method)(*(plain(item) for item in inputs), **kwargs)
        return out[0] if len(out) == 1 else wrap(results)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if np.ndarray in types:
            refuse_numpy(None, func.__name__)
        return wrap(super().__array_function__(func, types, args, kwargs))

    def __repr__(self) -> str:
        return repr(plain(self))

    def __str__(self) -> str:
        return str(plain(self))

    def __format__(self, spec: str) -> str:
        return format(plain(self)[()], spec)


def _wrap_method(name: str) -> None:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return wrap(getattr(np.ndarray, name)(self, *args, **kwargs))

    setattr(ndarray, name, functools.wraps(getattr(np.ndarray, name))(method))


for _name in ("argmax", "argmin", "dot", "trace"):  # no ufuncs, so they give plain numbers
    _wrap_method(_name)


def plain(value: Any) -> Any:
    """``value`` as NumPy sees it: the same memory, without CuPy's rules."""
    return value.view(np.ndarray) if isinstance(value, ndarray) else value


def wrap(value: Any) -> Any:
    """NumPy's answer as CuPy would give it: arrays, also for single numbers."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).view(ndarray)
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return Namespace(value)
    if isinstance(value, (tuple, list)):
        items = [wrap(item) for item in value]
        named = hasattr(value, "_fields")  # linalg's results
        return type(value)(*items) if named else type(value)(items)
    return value


def refuse_numpy(values: Any, what: str) -> None:
    if values is None or any(type(v) is np.ndarray for v in values):
        raise TypeError(
            f"{what} mixes a NumPy array (the host's memory) with a cp array (the device's). "
            "Copy one to the other side first: cp.asarray(x) or x.get()."
        )


# --- making arrays ---


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> ndarray:
    """An uninitialised array: NaN, or 0xCD in every byte of an integer.

    Whatever a kernel leaves out then shows, where real memory would hold anything at all; and
    ``sanitize`` knows a use of it.
    """
    from ..emulator import GLOBAL

    made = np.empty(shape, dtype, order).view(ndarray)
    bare = plain(made)
    parts = (bare.real, bare.imag) if made.dtype.kind == "c" else (bare,)
    if parts[0].dtype.name in NAN_BITS:
        for part in parts:
            part[...] = np.array(NAN_BITS[part.dtype.name], f"u{part.itemsize}").view(part.dtype)
    elif made.dtype.kind in "iu":
        bare[...] = np.frombuffer(bytes([CANARY]) * made.itemsize, made.dtype)[0]
    else:
        bare[...] = np.zeros((), made.dtype)
        return made
    GLOBAL.never_written(made)
    return made


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "C", subok: Any = None, shape: Any = None
) -> ndarray:
    """As :func:`empty`, with the shape and dtype of ``prototype``."""
    shape = prototype.shape if shape is None else shape
    return empty(shape, dtype or prototype.dtype, "F" if order == "F" else "C")


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: Any = 0,
) -> ndarray:
    """A new array from numbers, a NumPy array, a cp array or a torch tensor."""
    source = plain(from_torch(obj))
    if isinstance(source, (list, tuple)):
        source = np.array(unwrap_items(source))
    if not copy and isinstance(obj, ndarray):
        return np.asarray(source, dtype, order=order).view(ndarray)
    return np.array(source, dtype, copy=True, order=order, ndmin=ndmin).view(ndarray)


def asarray(a: Any, dtype: Any = None, order: Any = "K") -> ndarray:
    """``a`` on the device: a cp array or CPU torch tensor shares its memory, others are copied."""
    source = from_torch(a)
    if isinstance(source, ndarray):
        return np.asarray(plain(source), dtype, order=order).view(ndarray)
    if source is not a:
        return np.asarray(source, dtype, order=order).view(ndarray)
    return array(a, dtype, order=order)


def asanyarray(a: Any, dtype: Any = None, order: Any = "K") -> ndarray:
    """As :func:`asarray`."""
    return asarray(a, dtype, order)


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """``a`` on the device, its rows one after another in memory."""
    return asarray(a, dtype, "C")


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """``a`` on the device, its columns one after another in memory."""
    return asarray(a, dtype, "F")


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, blocking: Any = True
) -> np.ndarray:
    """``a`` as a plain NumPy array."""
    if isinstance(a, ndarray):
        return a.get(order=order, out=out)
    return np.asarray(from_torch(a), order=order)


def unwrap_items(items: Any) -> Any:
    return [unwrap_items(i) if isinstance(i, (list, tuple)) else plain(i) for i in items]


def from_torch(obj: Any) -> Any:
    """A CPU torch tensor as a NumPy array of the same memory; anything else as it is."""
    if type(obj).__module__.partition(".")[0] != "torch" or not hasattr(obj, "detach"):
        return obj
    tensor, torch = obj.detach(), sys.modules["torch"]
    if tensor.dtype == torch.bfloat16:  # NumPy has none of its own
        return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def from_dlpack(obj: Any, **how: Any) -> Any:
    """An array that shares the memory of ``obj``: of another library's, by DLPack. From torch it
    comes as the tensor itself gives it, for before version 2.2 NumPy makes it read-only."""
    shared = from_torch(obj)
    if shared is not obj and not how:
        return wrap(shared)
    return adapt(np.from_dlpack, "from_dlpack")(obj, **how)


# --- NumPy's functions ---

_CONVERTING = {"allclose", "array_equal", "array_equiv"}  # arrays of no dimensions in CuPy


def adapt(function: Any, name: str) -> Any:
    """NumPy's ``function`` with CuPy's manners."""

    @functools.wraps(function)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        refuse_numpy((*args, *kwargs.values()), name)
        values = [unwrap_items(a) if type(a) in (list, tuple) else plain(a) for a in args]
        kept = kwargs.get("out")
        kwargs = {key: plain(value) for key, value in kwargs.items()}
        result = function(*values, **kwargs)
        if kept is not None:
            return kept
        return wrap(np.bool_(result) if name in _CONVERTING else result)

    return adapted


class Namespace:
    """A part of NumPy (``linalg``, a random generator) whose functions return cp arrays."""

    def __init__(self, part: Any, casting: tuple[str, ...] = ()) -> None:
        self._part = part
        self._casting = casting

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if isinstance(found, type) or not callable(found):
            return found
        if name not in self._casting:
            return adapt(found, name)

        def cast(*args: Any, dtype: Any = float, **kwargs: Any) -> Any:
            return wrap(np.asarray(found(*args, **kwargs), dtype))

        return cast
