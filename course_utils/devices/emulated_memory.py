"""``cp.cuda``'s own ways to allocate memory, without a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .emulated_arrays import MemoryPointer


class PinnedMemoryPointer(bytearray):
    """Memory of the host, for ``np.frombuffer``. Here none needs to be locked."""

    @property
    def ptr(self) -> int:
        """The address of the first byte."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self)) if self else 0

    def size(self) -> int:
        """Bytes."""
        return len(self)


def malloc_managed(size: int) -> MemoryPointer:
    """``size`` bytes for ``cp.ndarray(..., memptr=)``. The host reads them by ``.get()`` or
    ``cp.asnumpy``."""
    from .emulated_arrays import MemoryPointer, ndarray  # which imports cp.cuda, and so this

    return MemoryPointer(ndarray((_checked(size),), np.uint8))


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """``size`` bytes of the host, zero."""
    return PinnedMemoryPointer(_checked(size))


def set_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Do nothing: the emulator gives every array its own allocation. Raises TypeError, as CuPy
    does, for an allocator that can't be called."""
    if allocator is not None and not callable(allocator):
        raise TypeError("CuPy memory allocator is not callable")


def _checked(size: int) -> int:
    if int(size) < 0:
        raise ValueError(f"an allocation of {size} bytes: it can't be negative")
    return int(size)
