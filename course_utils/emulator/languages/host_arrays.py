"""The arrays that a kernel of another language may get, as NumPy arrays of the same memory."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

_CONVERTERS: list[tuple[type, Callable[[Any], np.ndarray]]] = []


class LanguageError(Exception):
    """A kernel of another language cannot be compiled or launched as it was asked; the message
    says what to do."""


def register_arrays(kind: type, convert: Callable[[Any], np.ndarray]) -> None:
    """Let kernels take arrays of the type ``kind``. ``convert`` gives the NumPy array that shares
    their memory."""
    _CONVERTERS.append((kind, convert))


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array of any library, on the host or on a GPU."""
    known = isinstance(value, (np.ndarray, *(kind for kind, _ in _CONVERTERS)))
    on_gpu = not known and hasattr(value, "__cuda_array_interface__")
    return known or on_gpu or _is_torch(value)


class HostArrays:
    """The arrays of one launch. Tensors that share their storage become views of one array."""

    def __init__(self) -> None:
        self._storages: dict[int, np.ndarray] = {}
        self._tensors: list[Any] = []

    def array(self, value: Any, where: str) -> np.ndarray:
        """``value`` as a NumPy array of the same memory, with at least one axis.

        ``where`` begins the message of the LanguageError raised for everything else, and for
        arrays in a GPU's memory.
        """
        for kind, convert in _CONVERTERS:
            if isinstance(value, kind):
                value = convert(value)
        if _is_torch(value):
            value = self._of_tensor(value, where)
        if isinstance(value, np.ndarray):
            return value.reshape(1) if value.ndim == 0 else value
        if hasattr(value, "__cuda_array_interface__"):
            raise LanguageError(
                f"{where}: the array is in a GPU's memory, and the emulator runs in the host's. "
                "Pass a copy on the host: .get() of a CuPy array, .copy_to_host() of Numba's."
            )
        name = type(value).__name__
        raise LanguageError(
            f"{where}: wants an array, got {'an' if name[0] in 'aeiou' else 'a'} {name}. Pass a "
            "NumPy array or a PyTorch tensor on the CPU."
        )

    def _of_tensor(self, tensor: Any, where: str) -> np.ndarray:
        if tensor.device.type != "cpu":
            raise LanguageError(
                f"{where}: the tensor is on {tensor.device}, and the emulator runs in the host's "
                "memory. Pass tensor.cpu()."
            )
        dtype = _numpy_dtype(str(tensor.dtype).removeprefix("torch."), where)
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not size:
            return np.empty(0, dtype)
        if start not in self._storages:
            buffer = (ctypes.c_uint8 * size).from_address(start)
            self._storages[start] = np.frombuffer(memoryview(buffer), np.uint8)
        self._tensors.append(tensor)  # whose memory this is
        strides = tuple(step * dtype.itemsize for step in tensor.stride())
        offset = tensor.data_ptr() - start
        return np.ndarray(tuple(tensor.shape), dtype, self._storages[start], offset, strides)


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _numpy_dtype(name: str, where: str) -> np.dtype:
    try:
        return np.dtype(getattr(ml_dtypes, name, None) or name)
    except TypeError:
        raise LanguageError(
            f"{where}: NumPy has no {name}. Convert the tensor: tensor.to(torch.float32)."
        ) from None
