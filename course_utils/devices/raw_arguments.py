"""Arguments of a raw launch: the bytes that CuPy passes, and the values that a kernel misreads.

A raw launch copies bytes and compares nothing. The emulator copies the same bytes, and says in one
line where the kernel can't mean them: its source's signature is known.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiling.signature import NARROW_FLOATS, Parameter
from ..errors import LessonError
from .emulated_arrays import CANARY, MemoryPointer, ndarray, plain
from .emulated_textures import SurfaceObject, TextureObject

_PYTHON_NUMBERS = {bool: np.bool_, float: np.float64, complex: np.complex128}  # and int
ADDRESS_BYTES = 8


class UnsupportedArgument(LessonError, TypeError):
    """A value that CuPy passes to no kernel."""


class RawArguments:
    """The arguments of one kernel. ``sizes`` are its parameters' sizes in bytes.

    ``parameters`` are as its source has them. They aren't used if they are too few or too many,
    because a macro may make some.
    """

    def __init__(self, kernel: str, sizes: Sequence[int], parameters: Sequence[Parameter]) -> None:
        known = len(parameters) == len(sizes)
        self._kernel, self._sizes = kernel, sizes
        self.parameters: Sequence[Parameter | None] = parameters if known else [None] * len(sizes)
        self.names = tuple(parameter.name for parameter in parameters) if known else ()
        self._warned: set[int] = set()

    def values(self, args: Any) -> list[Any]:
        """Arrays and bytes for the machine, one for each of ``args``.

        The first time that the kernel misreads an argument, a line on stderr says so. Raises
        TypeError for another number of them, UnsupportedArgument as :func:`passed` does.
        """
        if len(args) != len(self._sizes):
            raise TypeError(
                f"{self._kernel} takes {len(self._sizes)} arguments, {len(args)} were given"
            )
        found = []
        for number, (value, size) in enumerate(zip(args, self._sizes, strict=True)):
            parameter = self.parameters[number]
            where = f"{self._kernel}, argument {number + 1}"
            where += f" ({parameter})" if parameter else ""
            found.append(passed(value, size, where, parameter))
            text = parameter and misread(value, parameter, size)
            if text and isinstance(value, ndarray) and size != ADDRESS_BYTES:
                raise UnsupportedArgument(
                    f"{self._kernel}: {text}"
                )  # of an address, no part is known
            if text and number not in self._warned:
                self._warned.add(number)
                print(f"warning: {self._kernel}: {text}", file=sys.stderr)
        return found


def passed(value: Any, size: int, where: str, parameter: Parameter | None = None) -> Any:
    """An array, or as many bytes as the parameter's ``size``.

    As on a GPU, these are the first bytes of a larger value. Unrelated bytes follow a smaller one,
    here the canary. ``parameter`` is None if the source doesn't show it. Raises UnsupportedArgument
    for None and for values that CuPy refuses, with a message that begins with ``where``.
    """
    if isinstance(value, ndarray):
        return plain(value.reshape(1) if value.ndim == 0 else value)
    if isinstance(value, (MemoryPointer, TextureObject, SurfaceObject)):
        return value.ptr.to_bytes(ADDRESS_BYTES, "little")
    try:
        return _number(value).tobytes()[:size].ljust(size, bytes([CANARY]))
    except UnsupportedArgument as refused:
        text = f"{where}: {refused} {_remedy(value, parameter)}"
        raise UnsupportedArgument(text) from None


def misread(value: Any, parameter: Parameter, size: int) -> str | None:
    """How the kernel misreads ``value``, one :func:`passed` for ``parameter``, and the fix. None if
    it reads the value that was meant.

    ``size`` is the parameter's, in bytes. Bits passed on purpose are let through: integers of the
    other sign, uint16 for a bfloat16, an integer of 8 bytes for an address.
    """
    if isinstance(value, (MemoryPointer, TextureObject, SurfaceObject)):
        return None
    if isinstance(value, ndarray):
        if parameter.pointer:
            return _misread_array(value, parameter)
        if parameter.dtype is None and size == ADDRESS_BYTES:
            return None  # a type that may be a pointer by another name
        hint = " It holds one number: pass array.item()." if value.size == 1 else ""
        return f"{parameter} isn't a pointer, and the array passes its address.{hint}"
    number = np.asarray(_number(value))
    shown = _shown(value, number)
    if parameter.pointer:
        if number.dtype.kind in "iu" and number.nbytes == ADDRESS_BYTES:
            return None
        return (
            f"{parameter} is a pointer, and {shown} isn't an address. Are the arguments in order?"
        )
    if parameter.dtype is None:
        return _misread_struct(shown, number, parameter, size)
    return _misread_number(shown, number, parameter, parameter.dtype)


def same_memory(given: np.dtype, wanted: np.dtype) -> bool:
    """Whether an array of ``given`` can hold elements of ``wanted``, or their bits."""
    if given == wanted:
        return True
    if given in NARROW_FLOATS and wanted in NARROW_FLOATS:
        return False
    if wanted.itemsize == 1 == given.itemsize:  # char, unsigned char, bool, the bits of an fp8
        return True
    return wanted.name == "bfloat16" and given == np.uint16  # its bits


def _number(value: Any) -> np.ndarray | np.generic:
    """``value`` as CuPy stores a number. Raises UnsupportedArgument as CuPy refuses others."""
    if value is None:
        raise UnsupportedArgument(
            "CuPy 14 passes no valid address for None, and the launch may crash Python."
        )
    if isinstance(value, np.ndarray) and value.size != 1:
        raise UnsupportedArgument(f"a NumPy array of shape {value.shape} isn't on the device.")
    if isinstance(value, (np.generic, np.ndarray)):
        return value
    if type(value) is int:
        return np.uint64(value) if value >= 1 << 63 else np.int64(value)
    if dtype := _PYTHON_NUMBERS.get(type(value)):
        number: np.generic = dtype(value)
        return number
    raise UnsupportedArgument(f"Unsupported type {type(value)}.")


def _remedy(value: Any, parameter: Parameter | None) -> str:
    if value is None:
        return "Pass np.uint64(0) for a null pointer."
    if parameter and not parameter.pointer:
        if parameter.dtype is not None:
            return f"Pass {_numpy_name(parameter.dtype)}(...)."
        return "Pass one struct: np.array([(...)], np.dtype([...], align=True))[0]."
    if hasattr(value, "data_ptr"):
        return "An array can share the tensor's memory: pass cp.asarray(tensor)."
    return "Copy it to the device: cp.asarray(...)."


def _misread_array(array: Any, parameter: Parameter) -> str | None:
    if not array.flags.c_contiguous and array.base is not None:
        return (
            f"{parameter} gets a view that isn't contiguous, and the kernel sees the memory of "
            f"the whole array. Pass cp.ascontiguousarray(...) of it."
        )
    given, wanted = array.dtype, parameter.dtype
    if wanted is None or same_memory(given, wanted):
        return None
    if given.itemsize == wanted.itemsize and given.kind in "iu" and wanted.kind in "iu":
        return None
    dtype = _numpy_name(wanted, "cp")
    return (
        f"{parameter} reads {wanted.name}, {wanted.itemsize} bytes an element, and the array holds "
        f"{given.name}, {given.itemsize} bytes. Convert it: .astype({dtype})."
    )


def _misread_struct(shown: str, number: np.ndarray, parameter: Parameter, size: int) -> str | None:
    if number.nbytes == size:
        return None
    packed = number.dtype.names and np.dtype(number.dtype.descr, align=True).itemsize == size
    fix = "Pass a NumPy scalar of that size."
    if packed:
        fix = "NumPy packs its fields, C++ aligns them: np.dtype([...], align=True)."
    return f"{parameter} has {size} bytes, {shown} has {number.nbytes}. {fix}"


def _misread_number(
    shown: str, number: np.ndarray, parameter: Parameter, wanted: np.dtype
) -> str | None:
    if wanted in NARROW_FLOATS and number.dtype.kind == "u" and number.nbytes == wanted.itemsize:
        return None
    fix = f"Pass {_numpy_name(wanted)}({number.item()!r})."
    sizes = f"{parameter} has {_bytes(wanted.itemsize)}, {shown} has {number.nbytes}"
    if number.nbytes < wanted.itemsize:
        return f"{sizes}, and unrelated bytes follow them. {fix}"
    read, given = np.frombuffer(number.tobytes(), wanted, 1)[0], number.item()
    if read == given or (read != read and given != given):
        return None
    if wanted.kind in "iu" and number.dtype.kind in "iu":
        limits = np.iinfo(wanted)
        fix = f"It holds {limits.min:,} to {limits.max:,}."
    return f"{sizes}: it reads {read!s}. {fix}"


def _numpy_name(dtype: np.dtype, space: str = "np") -> str:
    return f"{'ml_dtypes' if dtype in NARROW_FLOATS else space}.{dtype.name}"


def _bytes(count: int) -> str:
    return f"{count} byte" + "s" * (count != 1)


def _shown(value: Any, number: np.ndarray) -> str:
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return f"the Python {type(value).__name__} {value!r}"
    if number.dtype.names:
        return f"the value with the fields {', '.join(number.dtype.names)}"
    return f"the {number.dtype.name} {number.item()!r}"
