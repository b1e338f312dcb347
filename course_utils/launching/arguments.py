"""Converts the arguments of a launch to their parameters' C types, or says why it can't."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from ..compiling.signature import NARROW_FLOATS, Parameter
from ..devices import emulated_cupy
from ..devices.emulated_arrays import plain, wrap
from ..devices.emulated_textures import (
    CUDAarray,
    GpuArray,
    SurfaceObject,
    TextureObject,
    of_gpu,
)
from ..devices.limits import LaunchError
from ..devices.raw_arguments import same_memory
from ..devices.selection import cp
from .pointer_tables import PointerTable
from .struct_values import struct_value
from .tensor_maps import TensorMap


def converted(
    value: Any, parameter: Parameter, where: str, space: Any, size: int | None = None
) -> Any:
    """``value`` for ``parameter``: an array for a pointer, a NumPy scalar of the C type's size.

    ``space`` is the namespace of the kernel's device (CuPy or ``emulated_cupy``). ``size`` is in
    bytes of the parameter, None where they aren't known. ``where`` begins the message of the
    LaunchError raised where the value cannot be meant.
    """
    if parameter.pointer:
        return _pointer(value, parameter, where, space)
    if parameter.dtype is None:
        return struct_value(value, parameter, where, size)
    return _scalar(value, parameter, parameter.dtype, where)


def carry_over(args: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """``args`` for the emulator, and each array of a GPU among them beside its copy there.

    Arrays of a GPU, and tensor maps, pointers, textures and surfaces of them, become the
    emulator's, and the rest stays as it is. Views of one array are views of one copy, where they
    overlap and are aligned as they are here.
    """
    copies: dict[int, tuple[Any, Any]] = {}  # by address, a CUDA array by its identity

    def cuda_array(value: Any) -> Any:
        if value is not None and id(value) not in copies:
            copies[id(value)] = GpuArray(value), CUDAarray.copy_of(value)
        return None if value is None else copies[id(value)][1]

    def carried(value: Any) -> Any:
        if isinstance(value, TensorMap) and value.settings:
            return value.of(carried(value.array))
        if isinstance(value, PointerTable):
            whole = hasattr(value.arrays, "data")  # one array, of whose rows these are pointers
            return PointerTable(carried(value.arrays) if whole else [*map(carried, value.arrays)])
        if hasattr(value, "ResDesc") and not isinstance(value, (TextureObject, SurfaceObject)):
            resource = value.ResDesc
            return of_gpu(value, cuda_array(resource.cuArr), carried(resource.arr))
        value = _without_gradient(value)
        if not hasattr(value, "__cuda_array_interface__"):
            return value
        # A torch tensor shares its memory.
        array = value if hasattr(value, "get") else cp.asarray(value)
        owner = _owner(value, array)
        start = owner.data.ptr
        if start not in copies:  # "A" keeps a transposed array transposed
            copies[start] = owner, emulated_cupy.asarray(owner.get(order="A"))
        copy = copies[start][1]
        return copy if owner is array else _part(copy, array, array.data.ptr - start)

    if not isinstance(args, (tuple, list)):
        return args, []
    return tuple(map(carried, args)), list(copies.values())


def bring_back(copies: Iterable[tuple[Any, Any]]) -> None:
    """Write the contents of the copies that :func:`carry_over` made back to their arrays."""
    for array, copy in copies:
        array.set(copy.get(order="A"))


def _owner(value: Any, array: Any) -> Any:
    """The array of all the memory that ``array``, CuPy's of ``value``, may be a part of."""
    if _is_torch(value):
        whole = value.new_empty(0, dtype=sys.modules["torch"].uint8)
        return cp.asarray(whole.set_(value.untyped_storage()))
    return array if array.base is None else array.base


def _part(whole: Any, array: Any, offset: int) -> Any:
    """The view of ``whole`` that begins ``offset`` bytes after it and is laid out as ``array``."""
    memory = plain(whole.T if whole.flags.f_contiguous else whole)
    return wrap(np.ndarray(array.shape, array.dtype, memory, offset, array.strides))


def _scalar(value: Any, parameter: Parameter, dtype: np.dtype, where: str) -> Any:
    if isinstance(value, np.ndarray):
        value = value[()] if value.ndim == 0 else value
    if not isinstance(value, (Real, np.generic)):
        what = _describe(value)
        remedy = ""
        if hasattr(value, "shape") and value.shape == ():
            remedy = f" Take the number out of it: {_python_type(dtype)}(...)."
        raise LaunchError(f"{where}: wants one {parameter.c_type}, got {what}.{remedy}")
    kind = dtype.kind
    if dtype in NARROW_FLOATS:  # CuPy does not know their numbers: the bits
        return np.array(value, dtype).view(f"u{dtype.itemsize}")[()]
    if kind == "f":
        return dtype.type(value)
    if isinstance(value, (float, np.floating)):
        raise LaunchError(
            f"{where}: wants a whole number ({parameter.c_type}), got the float {value!r}. "
            f"Write int(...) around it, or // where you divide."
        )
    low, high = (0, 1) if kind == "b" else _range(dtype)
    whole = int(value)  # type: ignore[arg-type]  # a Real that isn't a float has __int__
    if not low <= whole <= high:
        raise LaunchError(
            f"{where}: {value} does not fit the type {parameter.c_type}, "
            f"which goes from {low:,} to {high:,}."
        )
    return dtype.type(value)


def _pointer(value: Any, parameter: Parameter, where: str, space: Any) -> Any:
    if value is None:
        return np.uint64(0)
    if isinstance(value, PointerTable):
        return value.on(space)
    if hasattr(value, "ptr") and not hasattr(value, "dtype"):  # a MemoryPointer
        return np.uint64(value.ptr)
    torch = _is_torch(value)
    if not isinstance(value, space.ndarray):
        value = _without_gradient(value)
        if hasattr(value, "__cuda_array_interface__") or _is_torch(value):
            _check_torch(value, where, space)
            value = space.asarray(value)
        else:
            raise LaunchError(_not_an_array(value, parameter, where))
    if not value.flags.c_contiguous:
        what, remedy = "array", "cp.ascontiguousarray(...) of it"
        if torch:
            what, remedy = "tensor", "its .contiguous()"
        raise LaunchError(
            f"{where}: the {what} is not contiguous (a transpose, or a slice with steps), and a "
            f"kernel sees plain memory. Pass {remedy}."
        )
    wanted = parameter.dtype
    if _is_table(parameter) and (value.dtype.kind not in "iu" or value.dtype.itemsize != 8):
        flat = f"{parameter.c_type} {parameter.name}"
        raise LaunchError(
            f"{where}: wants a table of addresses, the array holds {_dtype_name(value.dtype)}. "
            f"Take {flat} and {parameter.name}[i * columns + j] in the kernel, or pass the "
            "addresses of the rows: pointers(...)."
        )
    if wanted is not None and not same_memory(value.dtype, wanted):
        what, method = ("tensor", "to") if torch else ("array", "astype")
        library = "torch" if torch else "ml_dtypes" if wanted in NARROW_FLOATS else "cp"
        dtype = f"{library}.{wanted.name}"
        raise LaunchError(
            f"{where}: wants elements of {wanted.name}, the {what} holds "
            f"{_dtype_name(value.dtype)}. "
            f"Make it with dtype={dtype}, or convert it: .{method}({dtype})."
        )
    return value


def _dtype_name(dtype: np.dtype) -> str:
    swapped = dtype.newbyteorder("=") != dtype
    return f"{dtype.name} with its bytes in the other order" if swapped else dtype.name


def _is_table(parameter: Parameter) -> bool:
    """Whether it is a pointer to pointers."""
    return parameter.c_type.endswith("*")


def _not_an_array(value: Any, parameter: Parameter, where: str) -> str:
    if isinstance(value, np.ndarray):
        return (
            f"{where}: a NumPy array lies in the host's memory, where a kernel cannot reach it. "
            f"Copy it to the device: cp.asarray(...)."
        )
    if isinstance(value, emulated_cupy.ndarray):
        return f"{where}: the array belongs to the emulator, the kernel runs on a GPU."
    if isinstance(value, (list, tuple)) and _is_table(parameter):
        return (
            f"{where}: wants a table of addresses, got {_describe(value)}. Make one of cp arrays: "
            "pointers([...])."
        )
    if isinstance(value, (list, tuple)):
        return f"{where}: wants an array, got {_describe(value)}. Make one: cp.array(...)."
    return f"{where}: wants an array, got {_describe(value)}. Are the arguments in order?"


def _without_gradient(value: Any) -> Any:
    """``value``, or the same memory as a plain tensor: a torch tensor that asks for its gradient
    gives no address."""
    return value.detach() if _is_torch(value) and value.requires_grad else value


def _is_torch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "data_ptr")


def _check_torch(value: Any, where: str, space: Any) -> None:
    if _is_torch(value) and value.is_cuda == (space is emulated_cupy):
        other = "the GPU" if value.is_cuda else "the host's memory"
        raise LaunchError(f"{where}: the tensor is in {other}, the kernel runs elsewhere.")


def _describe(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"an array of shape {tuple(value.shape)}"
    if isinstance(value, Real):
        return f"the number {value!r}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _python_type(dtype: np.dtype) -> str:
    return "float" if dtype.kind == "f" or dtype in NARROW_FLOATS else "int"


def _range(dtype: np.dtype) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
