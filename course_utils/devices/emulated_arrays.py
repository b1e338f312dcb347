"""Arrays of the emulated device: in the host's memory, but kept apart from NumPy's as CuPy's are.

They have the methods of CuPy's arrays with CuPy's arguments (:mod:`.cupy_signatures`) and aren't
NumPy arrays, so they refuse what a GPU refuses: ``numpy.asarray(x)`` asks for ``x.get()``.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

from . import emulated_cuda as cuda
from .cupy_signatures import NO_FUNCTIONS, entry, signature_of, stored
from .emulated_streams import Span, enqueue_copy

CANARY = 0xCD  # every byte of an integer array that was never written
NAN_BITS = {  # NaNs that no kernel computes, where a format has so many
    "float16": 0x7E5A,
    "float32": 0x7FC5A5A5,
    "float64": 0x7FF85A5A5A5A5A5A,
    "bfloat16": 0x7FC5,
    "float8_e5m2": 0x7D,
    "float8_e4m3fn": 0x7F,
}
REFUSED_KINDS = "OSUMm"  # of dtypes: objects, strings, dates
REFUSED_CHARS = "gG"  # numpy.longdouble and its complex


class MemoryPointer:
    """Where an array's first byte is. ``ptr`` is its address in the emulator's memory."""

    def __init__(self, array: ndarray | np.ndarray) -> None:
        self.array = plain(array)

    @property
    def ptr(self) -> int:
        """The address in the emulator's memory."""
        from ..emulator import GLOBAL

        return GLOBAL.pointer(self.array)

    def __int__(self) -> int:
        return self.ptr


class ArrayFlags:
    """How an array is laid out. CuPy knows no more of it."""

    def __init__(self, array: np.ndarray) -> None:
        flags = array.flags
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata = flags.owndata
        self.fnc, self.forc = flags.fnc, flags.forc

    def __getitem__(self, name: str) -> bool:
        if name not in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"):
            raise KeyError(f"{name} is not defined for cp.ndarray.flags")
        return bool(getattr(self, name.lower()))

    def __repr__(self) -> str:
        names = "C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"
        return "\n".join(f"  {name} : {self[name]}" for name in names)


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):  # noqa: N801 (CuPy's own name)
    """An array in the emulated device's memory.

    Its methods are NumPy's with CuPy's arguments. Raises TypeError for an argument that CuPy's
    method does not take and where NumPy would copy the array to the host, AttributeError for a
    method that CuPy lacks.
    """

    __slots__ = ("__weakref__", "_host")
    _host: np.ndarray

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: MemoryPointer | None = None,
        strides: Any = None,
        order: Any = "C",
    ) -> None:
        if memptr is None:
            self._host = empty(shape, dtype, order)._host
        else:
            storage = memptr.array.reshape(-1).view(np.uint8)
            self._host = np.ndarray(shape, dtype, storage, strides=strides, order=order)

    @property
    def data(self) -> MemoryPointer:
        """Where the first byte is."""
        return MemoryPointer(self)

    @property
    def device(self) -> cuda.Device:
        """The one emulated device."""
        return cuda.Device(0)

    @property
    def flags(self) -> ArrayFlags:
        """The layout in memory, as CuPy gives it."""
        return ArrayFlags(self._host)

    @property
    def base(self) -> ndarray | None:
        """The array whose memory a view shares, or None for an array with its own."""
        owner = self._host.base
        return wrap(owner) if isinstance(owner, np.ndarray) else None

    @property
    def dtype(self) -> np.dtype:
        """The type of an element."""
        return self._host.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis. Assigning raises ValueError where that needs a copy."""
        return self._host.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        reshaped = self._host.reshape(shape)
        if reshaped.size and not np.may_share_memory(reshaped, self._host):
            raise ValueError("Unable to avoid creating a copy while reshaping.")
        self._host = reshaped

    @property
    def real(self) -> Any:
        """The real parts, a view."""
        return wrap(self._host.real)

    @real.setter
    def real(self, value: Any) -> None:
        self._host.real = plain(value)

    @property
    def imag(self) -> Any:
        """The imaginary parts, a view of complex arrays."""
        return wrap(self._host.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._host.imag = plain(value)

    def get(
        self, stream: Any = None, order: Any = "C", out: Any = None, blocking: Any = True
    ) -> np.ndarray:
        """A copy as a NumPy array."""
        low, high = np.lib.array_utils.byte_bounds(self._host)
        enqueue_copy(Span.of(self, (int(low), int(high))), stream, bool(blocking))
        if out is None:
            return np.array(self._host, order=order)
        copied: np.ndarray = out
        copied[...] = self._host
        return copied

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        """Copy a NumPy array of the same shape and dtype into this one. Raises ValueError for
        another."""
        if arr.shape != self.shape or arr.dtype != self.dtype:
            raise ValueError(
                f"set needs shape {self.shape} and dtype {self.dtype}, "
                f"got {arr.shape} and {arr.dtype}"
            )
        self._host[...] = plain(arr)

    def item(self) -> Any:
        """The one element as a Python number."""
        return self._host.item()

    def tolist(self) -> Any:
        """The elements in nested lists."""
        return self._host.tolist()

    def view(self, dtype: Any = None, type: Any = None) -> Any:  # noqa: A002 (CuPy's own name)
        """The same memory as elements of ``dtype``. Raises TypeError for an array's class."""
        if type is not None or dtype is np.ndarray:
            raise TypeError("a cp array is no NumPy array: copy it to the host with .get()")
        return wrap(self._host.view() if dtype is None else self._host.view(dtype))

    def ptp(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        """The maximum less the minimum."""
        return called(np.ptp, "cp.ndarray.ptp", (self, axis, out), {"keepdims": keepdims})

    def __getitem__(self, key: Any) -> Any:
        key = unwrap(key)
        found = self._host[key]
        if isinstance(found, np.generic):  # CuPy gives an array of no dimensions, a view
            found = self._host[(*key, ...) if isinstance(key, tuple) else (key, ...)]
        return wrap(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        held = on_host(from_torch(value), "an assignment")
        if isinstance(value, (list, tuple)) and not _has_indices(key):
            raise TypeError(
                f"CuPy assigns no {type(value).__name__} to a part of an array: make it an array "
                "first, cp.array(...)."
            )
        self._host[unwrap(key)] = held

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        if not self._host.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._host)))

    def __eq__(self, other: Any) -> Any:
        return zeros_of(self) if other is None else np.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return ~zeros_of(self) if other is None else np.not_equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __imatmul__(self, other: Any) -> Any:  # CuPy has none: Python then makes a new array
        return self @ other

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __complex__(self) -> complex:
        return complex(self._host)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        from .emulated_functions import of_ufunc

        return of_ufunc(ufunc, method)(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .emulated_functions import of_function

        return of_function(func)(*args, **kwargs)

    def __dlpack__(self, **how: Any) -> Any:
        return self._host.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._host.__dlpack_device__()

    def __repr__(self) -> str:
        return repr(self._host)

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host[()], spec)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            entry("ndarray", name)
            raise AttributeError(f"CuPy's arrays have .{name}; those of the emulator do not.")
        raise AttributeError(name)


def _has_indices(key: Any) -> bool:
    """Whether an index has arrays or lists, whose elements CuPy gives any values."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, (ndarray, np.ndarray, list)) for part in parts)


def zeros_of(array: ndarray) -> ndarray:
    """No truth anywhere, in the shape of ``array``."""
    none: ndarray = wrap(np.zeros(array.shape, bool))
    return none


def _add_members() -> None:
    """All else that both have: NumPy's methods and attributes under CuPy's rules."""
    for name, text in stored()["ndarray"].items():
        if name in vars(ndarray) or not hasattr(np.ndarray, name):
            continue
        member = getattr(np.ndarray, name)
        if text in NO_FUNCTIONS:
            setattr(ndarray, name, _attribute(member))
        else:
            setattr(ndarray, name, _method(name, member))


def _attribute(member: Any) -> property:
    return property(lambda self: wrap(member.__get__(self._host)), doc=member.__doc__)


def _method(name: str, member: Any) -> Any:
    cupys = signature_of("ndarray", name)
    assert cupys is not None

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        cupys.check(args, kwargs)
        return called(member, cupys.name, (self, *args), kwargs)

    method.__name__, method.__qualname__ = name, f"ndarray.{name}"
    method.__doc__ = member.__doc__
    return method


_add_members()


def called(function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """The result of NumPy's ``function`` for these arguments, as CuPy returns it. Messages call it
    ``name``. Raises TypeError for a NumPy array."""
    found = function(
        *[on_host(value, name) for value in args],
        **{key: on_host(value, name) for key, value in kwargs.items()},
    )
    for value in (*args, *kwargs.values()):  # where it is the array that was given
        if type(value) is ndarray and value._host is found:
            return value
    return wrap(found)


def on_host(value: Any, name: str) -> Any:
    """An argument of ``name`` as NumPy sees it, also inside lists and tuples. Raises TypeError for
    a NumPy array."""
    kind = type(value)
    if kind is ndarray:
        return value._host
    if kind is list or kind is tuple:
        return kind([on_host(item, name) for item in value])
    if kind is np.ndarray:
        raise TypeError(
            f"{name} mixes a NumPy array (the host's memory) with a cp array (the device's). "
            "Copy one to the other side first: cp.asarray(x) or x.get()."
        )
    return value


def plain(value: Any) -> Any:
    """``value`` as NumPy sees it: the same memory, without CuPy's rules."""
    return value._host if isinstance(value, ndarray) else value


def unwrap(value: Any) -> Any:
    """As :func:`plain`, also inside lists and tuples."""
    if isinstance(value, ndarray):
        return value._host
    if type(value) in (list, tuple) and any(isinstance(v, (ndarray, list, tuple)) for v in value):
        return type(value)(map(unwrap, value))
    return value


def wrap(value: Any) -> Any:
    """NumPy's answer as CuPy would give it: arrays, also for single numbers. Raises ValueError for
    a dtype that CuPy lacks."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        dtype = array.dtype
        if dtype.kind in REFUSED_KINDS or dtype.char in REFUSED_CHARS:
            raise ValueError(f"Unsupported dtype {dtype}: a GPU's arrays hold numbers.")
        made = ndarray.__new__(ndarray)
        made._host = array
        return made
    if isinstance(value, (tuple, list)):
        items = [wrap(item) for item in value]
        named = hasattr(value, "_fields")  # linalg's results
        return type(value)(*items) if named else type(value)(items)
    return value


# --- making arrays ---


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> ndarray:
    """An uninitialised array: NaN, or 0xCD in every byte of an integer.

    Whatever a kernel leaves out then shows, where real memory would hold anything at all, and
    ``sanitize`` knows a use of it.
    """
    from ..emulator import GLOBAL

    made: ndarray = wrap(np.empty(unwrap(shape), dtype, order))
    bare = made._host
    parts = (bare.real, bare.imag) if made.dtype.kind == "c" else (bare,)
    if parts[0].dtype.name in NAN_BITS:
        for part in parts:
            part[...] = np.array(NAN_BITS[part.dtype.name], f"u{part.itemsize}").view(part.dtype)
    elif made.dtype.kind in "iu":
        bare[...] = np.frombuffer(bytes([CANARY]) * made.itemsize, made.dtype)[0]
    else:
        bare[...] = np.zeros((), made.dtype)
        return made
    GLOBAL.never_written(bare)
    return made


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "C", subok: Any = None, shape: Any = None
) -> ndarray:
    """As :func:`empty`, with the shape and dtype of ``prototype``. Raises TypeError where that
    isn't a cp array."""
    wants_array(prototype, "cp.empty_like")
    shape = prototype.shape if shape is None else shape
    return empty(shape, dtype or prototype.dtype, "F" if order == "F" else "C")


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: Any = 0,
    *,
    blocking: Any = False,
) -> ndarray:
    """A new array from numbers, a NumPy array, a cp array or a torch tensor."""
    source = plain(from_torch(obj))
    if not copy and isinstance(obj, ndarray):
        return asarray(obj, dtype, order)
    copied: ndarray = wrap(np.array(unwrap(source), dtype, copy=True, order=order, ndmin=ndmin))
    return copied


def asarray(a: Any, dtype: Any = None, order: Any = "K", *, blocking: Any = False) -> ndarray:
    """``a`` on the device: a cp array or CPU torch tensor shares its memory, others are copied."""
    source = from_torch(a)
    if source is a and not isinstance(a, ndarray):
        return array(a, dtype, order=order)
    found: np.ndarray = np.asarray(plain(source), dtype, order=order)
    if isinstance(source, ndarray) and found is source._host:
        return source
    wrapped: ndarray = wrap(found)
    return wrapped


def asanyarray(a: Any, dtype: Any = None, order: Any = "K", *, blocking: Any = False) -> ndarray:
    """As :func:`asarray`."""
    return asarray(a, dtype, order)


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """The cp array ``a``, its rows one after another in memory. Raises TypeError for another."""
    wants_array(a, "cp.ascontiguousarray")
    return asarray(a, dtype, "C")


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """The cp array ``a``, its columns one after another in memory. Raises TypeError for another."""
    wants_array(a, "cp.asfortranarray")
    return asarray(a, dtype, "F")


def wants_array(value: Any, name: str) -> None:
    """Raise TypeError where ``value`` isn't a cp array."""
    if not isinstance(value, ndarray):
        raise TypeError(
            f"{name} takes a cp array, got {type(value).__name__}: CuPy makes one of it only with "
            "cp.asarray(...)."
        )


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: Any = True
) -> np.ndarray:
    """``a`` as a plain NumPy array."""
    if isinstance(a, ndarray):
        return a.get(order=order, out=out)
    return np.asarray(from_torch(a), order=order)


def from_torch(obj: Any) -> Any:
    """A CPU torch tensor as a NumPy array of the same memory. Anything else stays as it is."""
    if type(obj).__module__.partition(".")[0] != "torch" or not hasattr(obj, "detach"):
        return obj
    tensor, torch = obj.detach(), sys.modules["torch"]
    if tensor.dtype == torch.bfloat16:  # NumPy has no such type
        return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> Any:
    """An array that shares the memory of ``array``: of another library's, by DLPack. From torch it
    comes as the tensor itself gives it, for before version 2.2 NumPy makes it read-only."""
    shared = plain(from_torch(array))
    if shared is array:
        shared = np.from_dlpack(array)
    return wrap(np.array(shared) if copy else shared)
