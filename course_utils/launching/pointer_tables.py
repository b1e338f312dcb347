"""Arrays for a parameter that is a pointer to pointers, ``float *const *``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class PointerTable:
    """The addresses of ``arrays``, in an array on their device. Keeps them alive.

    ``arrays``: several of them, or one, whose rows are meant.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = arrays
        self._table: Any = None

    def on(self, space: Any) -> Any:
        """The table as an array of uint64. ``space`` is CuPy, or the emulator's namespace."""
        if self._table is None:
            addresses = [array.data.ptr for array in self.arrays]
            self._table = space.asarray(np.array(addresses, np.uint64))
        return self._table


def pointers(arrays: Sequence[Any]) -> PointerTable:
    """The argument for a parameter such as ``float *const *rows``: the addresses of cp
    arrays, or of the rows of one, whose elements have that type."""
    return PointerTable(arrays)
