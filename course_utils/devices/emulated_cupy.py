"""CuPy's names over NumPy arrays, so that code written for CuPy runs on the emulator unchanged.

Arrays here are device memory: they are kept apart from NumPy's arrays as CuPy's are.
``asarray`` of a NumPy array copies it, mixing the two in one operation is a TypeError, NumPy
converts none of them, and a reduction gives an array of no dimensions rather than a number. Names,
methods and keyword arguments are CuPy's (:mod:`.cupy_signatures`). NumPy's others are refused.
"""

from __future__ import annotations

import sys as _sys
from typing import Any as _Any

import numpy as _np

from . import emulated_cuda as cuda
from . import emulated_functions as _functions
from . import emulated_textures as _textures
from .cupy_signatures import signature_of as _signature_of
from .emulated_arrays import (
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


cuda.texture = _textures  # its arrays need the device in cuda


def get_array_module(*args: _Any) -> _Any:
    """This module if any argument is a cp array, otherwise NumPy."""
    return _sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else _np


# --- everything else is NumPy's ---

random = _functions.RandomNumbers("random", _np.random)
linalg = _functions.Namespace("linalg")
fft = _functions.Namespace("fft")


class _Testing(_functions.Namespace):
    """NumPy's assertions. As in CuPy they take arrays of either kind."""

    def __getattr__(self, name: str) -> _Any:
        cupys = None if name.startswith("__") else _signature_of("testing", name)
        if cupys is None:
            raise AttributeError(name)

        def assertion(*args: _Any, **kwargs: _Any) -> None:
            cupys.check(args, kwargs)
            on_host = (a.get() if isinstance(a, ndarray) else a for a in args)
            getattr(_np.testing, name)(*on_host, **kwargs)

        return assertion


testing = _Testing("testing")


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _functions.named("", name)
