"""Which bytes of an array are uninitialised: never written since it was made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.rounding import round_up

if TYPE_CHECKING:
    from .address_space import Region


class InitShadow:
    """Which bytes of a region are uninitialised: 0xFF for each of them, 0 for the others.

    ``low`` and ``high``: of the copies of the region, ``stride`` bytes each, no byte below or above
    is uninitialised.
    """

    def __init__(self, size: int, stride: int = 0) -> None:
        self.stride = stride or size
        self.low, self.high = 0, self.stride
        self.bytes = np.zeros(round_up(size, 16) + 16, np.uint8)
        self.marks: np.ndarray | None = None  # of every 4 bytes: where uninitialised ones came from
        self._views: dict[int, np.ndarray] = {}
        self._looks, self._next = 0, 1

    def view(self, width: int) -> np.ndarray:
        """The bytes in elements of ``width``: 1, 2, 4, 8, or 16 (as complex numbers)."""
        found = self._views.get(width)
        if found is None:
            found = self._views[width] = self.bytes.view(f"u{width}" if width < 16 else "c16")
        return found

    def complete(self) -> bool:
        """True when everything has been written; looks less and less often."""
        self._looks += 1
        if self._looks < self._next:
            return False
        self._next *= 2
        whole = len(self.bytes) // self.stride * self.stride
        left = np.flatnonzero(self.bytes[:whole].reshape(-1, self.stride).any(axis=0))
        if len(left):
            self.low, self.high = int(left[0]), int(left[-1])
        return not len(left)

    def forget(self, size: int) -> None:
        """Let the first ``size`` bytes be as if they had never been written."""
        self.bytes[:size] = 0xFF
        self.low, self.high, self.marks = 0, self.stride, None
        self._looks, self._next = 0, 1

    def untouched(self, size: int) -> bool:
        """True when none of the first ``size`` bytes has been written."""
        return bool((self.bytes[:size] == 0xFF).all())

    def write(self, cells: np.ndarray, width: int, marks: np.ndarray | None) -> None:
        """Elements were written, with values that carry ``marks``."""
        if marks is None:
            self.view(width)[cells] = 0
            return
        self.low, self.high = 0, self.stride
        bits = np.zeros((len(marks), width), np.uint8)
        bits[(marks[:, None] >> np.arange(width) % 8) & 1 == 1] = 0xFF
        self.view(width)[cells] = bits.view(self.view(width).dtype)[:, 0]
        if self.marks is None:
            self.marks = np.zeros(len(self.bytes) // 4 + 1, np.int64)
        self.marks[cells * width // 4] = marks


class Unwritten:
    """An array that was made without values: which of its bytes are uninitialised still.

    It was filled with one pattern; whatever differs from it now was written, by the host or by a
    kernel. In arrays of elements of one or two bytes the pattern may well be a value, so there a
    difference anywhere means that all was written, unless kernels were checked all along.
    """

    def __init__(self, array: np.ndarray) -> None:
        self.pattern = np.ascontiguousarray(array).reshape(-1)[:1].view(np.uint8).copy()
        self.found: InitShadow | None = None

    def shadow(self, region: Region) -> InitShadow | None:
        """The shadow of what is unwritten still; None when nothing is."""
        width = len(self.pattern)
        unit = np.dtype(f"u{math.gcd(width, 8)}")
        count = region.size // width

        def rows(storage: np.ndarray) -> np.ndarray:
            return storage[: count * width].view(unit).reshape(count, -1)

        same = np.ones(count, bool)
        for column, part in zip(rows(region.storage).T, self.pattern.view(unit), strict=True):
            same &= column == part
        if self.found is None:
            if width <= 2 and not same.all():
                same[:] = False
            found = self.found = InitShadow(region.storage.size)
            rows(found.bytes)[same] = np.iinfo(unit).max
        else:
            found = self.found
            rows(found.bytes)[~same] = 0
        return found if found.bytes.any() else None
