"""CuPy's names over NumPy arrays, so that code written for CuPy runs on the emulator unchanged.

Arrays here stand for device memory: they are kept apart from plain NumPy arrays as CuPy's are.
``asarray`` of a NumPy array copies it, mixing the two in one operation is a TypeError, and a
reduction gives an array of no dimensions rather than a number. One thing cannot be imitated:
``numpy.asarray`` accepts these arrays, where CuPy asks for ``.get()``.
"""

from __future__ import annotations

import sys as _sys
import types as _types
from typing import Any as _Any

import numpy as _np

from . import emulated_arrays as _arrays
from . import emulated_cuda as cuda
from . import emulated_textures as _textures
from .emulated_arrays import (
    MemoryPointer,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    empty,
    empty_like,
    from_dlpack,
    ndarray,
)
from .emulated_kernels import RawKernel, RawModule

__all__ = [
    "MemoryPointer",
    "RawKernel",
    "RawModule",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "cuda",
    "empty",
    "empty_like",
    "fft",
    "from_dlpack",
    "get_array_module",
    "linalg",
    "ndarray",
    "random",
    "testing",
]


cuda.texture = _textures  # type: ignore[attr-defined]  # its arrays need the device in cuda


def get_array_module(*args: _Any) -> _Any:
    """This module if any argument is a cp array, otherwise NumPy."""
    return _sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else _np


# --- everything else is NumPy's ---

# CuPy's random functions take a dtype; NumPy's old ones do not.
_FLOAT_SAMPLERS = (
    "rand",
    "randn",
    "random",
    "random_sample",
    "uniform",
    "normal",
    "standard_normal",
    "exponential",
)
random = _arrays.Namespace(_np.random, _FLOAT_SAMPLERS)
linalg = _arrays.Namespace(_np.linalg)
fft = _arrays.Namespace(_np.fft)


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


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        found = getattr(_np, name)
    except AttributeError:
        raise AttributeError(
            f"cp.{name} does not exist on the emulator: it has what NumPy has, and cp.RawModule"
        ) from None
    if isinstance(found, (type, _types.ModuleType)) or not callable(found):
        return found
    return _arrays.adapt(found, name)
