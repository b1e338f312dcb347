"""Turns values into the bytes of a parameter that is a struct by value, or of an unknown type."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..compiling.signature import Parameter
from ..devices.limits import LaunchError

INTEGERS = (1, 2, 4, 8)  # bytes


def struct_value(value: Any, parameter: Parameter, where: str, size: int | None) -> Any:
    """``value`` for a parameter of ``size`` bytes (None where they aren't known): ctypes structures
    and several numbers as one element of raw bytes, the rest as it is, a tensor map too.

    ``where`` begins the message of the LaunchError raised for a value of another size, or for one
    that has no bytes.
    """
    if isinstance(value, (tuple, list, dict, str)):
        kind = type(value).__name__
        raise LaunchError(
            f"{where}: wants one {parameter.c_type}, got a {kind}. Make one: "
            "np.array((...), np.dtype([(name, type), ...], align=True))[()]."
        )
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        return _checked(bytes(value), None, parameter, where, size)
    if isinstance(value, np.ndarray) and value.size != 1:
        return _checked(value.tobytes(), value.dtype, parameter, where, size)
    if size is None or not isinstance(value, (np.generic, np.ndarray, bool, int, float, complex)):
        return value
    number = np.asarray(value)
    if number.dtype.kind in "biu" and size in INTEGERS:  # an enum, or an integer by another name
        return number.astype(f"i{size}")[()]
    if number.nbytes != size:
        _checked(number.tobytes(), number.dtype, parameter, where, size)
    return value


def _checked(
    data: bytes, dtype: np.dtype | None, parameter: Parameter, where: str, size: int | None
) -> np.ndarray:
    """The bytes as one element. Raises LaunchError for another number of them than ``size``."""
    if size is not None and len(data) != size:
        fix = "The struct in the kernel's source has other fields."
        if dtype is not None and dtype.names:
            aligned = np.dtype(dtype.descr, align=True)
            if aligned.itemsize == size:
                fix = "NumPy packs its fields, C++ aligns them: np.dtype([...], align=True)."
        elif dtype is not None:
            fix = f"Pass a NumPy scalar of {size} bytes. Are the arguments in order?"
        raise LaunchError(
            f"{where}: {parameter.c_type} has {size} bytes, the value {len(data)}. {fix}"
        )
    return np.frombuffer(data, f"V{len(data)}").reshape(())
