"""The kernels launched last, with the arrays that each may have written, for a check that fails."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .emulated_arrays import ndarray, plain

KEPT = 32  # launches


@dataclass(frozen=True)
class Launched:
    """A launch: the kernel's name, its grid and block, and whether a fault ended it."""

    kernel: str
    grid: Sequence[int]
    block: Sequence[int]
    faulted: bool = False

    @property
    def as_sanitized(self) -> str:
        """The call that examines it: ``sanitize(vec_add, 4, 256, args)``."""
        return f"sanitize({self.kernel}, {_shape(self.grid)}, {_shape(self.block)}, args)"


_launches: deque[tuple[Launched, list[Any]]] = deque(maxlen=KEPT)  # with weak references


def remember(launched: Launched, args: Any, parameters: Sequence[Any] = ()) -> None:
    """Note a launch on ``args``. ``parameters`` are the ones in the kernel's signature, where
    known: an array that it takes as const isn't written."""
    known = parameters if len(parameters) == len(args) else [None] * len(args)
    written = []
    for value, parameter in zip(args, known, strict=True):
        if _bounds(value) is None or (parameter is not None and parameter.const):
            continue
        try:
            written.append(weakref.ref(value))
        except TypeError:  # nothing shows whether it still exists
            continue
    _launches.append((launched, written))


def last_launch_on(array: Any) -> Launched | None:
    """The last launch that may have written to ``array``, of those that are remembered."""
    here = _bounds(array)
    if here is None:
        return None
    found: Launched | None = None
    for launched, written in _launches:
        places = (_bounds(reference()) for reference in written)
        if any(there and here[0] < there[1] and there[0] < here[1] for there in places):
            found = launched
    return found


def _bounds(array: Any) -> tuple[int, int] | None:
    """The addresses of an array on the device, from its first byte to past its last, None for
    any other value."""
    if isinstance(array, ndarray):
        low, high = np.lib.array_utils.byte_bounds(plain(array))
        return int(low), int(high)
    if hasattr(array, "data_ptr"):  # torch
        start = int(array.data_ptr())
        return start, start + int(array.numel()) * int(array.element_size())
    if hasattr(array, "__cuda_array_interface__") and hasattr(array, "nbytes"):  # CuPy
        start = int(array.data.ptr)
        return start, start + int(array.nbytes)
    return None


def _shape(size: Sequence[int]) -> str:
    """A grid or a block as it is written: without the ones at its end."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return str(kept[0]) if len(kept) == 1 else str(tuple(kept))
