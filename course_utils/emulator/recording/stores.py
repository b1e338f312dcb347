"""Records which bytes of the arrays in global memory were stored to, whatever value was stored."""

from __future__ import annotations

import numpy as np

from ..machine.accesses import AddressPattern, Site
from ..machine.async_state import Transfer
from ..machine.batch import Batch
from ..machine.lanes import Group
from ..machine.observer import Observer
from ..memory.address_space import GLOBAL, Region


class StoreRecorder(Observer):
    """Watches launches, of which it's the ``Options.recorder``, one after another.

    A store of the value that an element holds already leaves no trace in memory. Here it does. So
    does an atomic operation, even one that adds 0.
    """

    def __init__(self) -> None:
        self._stored: dict[int, np.ndarray] = {}  # by a region's address, bool for each byte

    def stored(self, array: np.ndarray) -> np.ndarray:
        """Which elements of ``array`` any byte of was stored to: bool, the array's shape.
        ``array`` is contiguous memory that a launch was given."""
        address = GLOBAL.pointer(array)
        found = np.zeros(array.nbytes, bool)
        for start, marks in self._stored.items():
            if start <= address < start + max(len(marks), 1):
                part = marks[address - start :][: array.nbytes]
                found[: len(part)] = part
        return np.asarray(found.reshape(*array.shape, array.itemsize).any(axis=-1))

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        """A group accesses ``region``."""
        stores = (site.is_store or site.is_atomic) and not site.lands_later
        if region.space == "global" and stores:
            self._mark(region, (first + index) * site.width, site.bytes)

    def copy_lands(self, batch: Batch, transfer: Transfer) -> None:
        """An asynchronous copy has written to memory."""
        if transfer.filled is None:
            return
        region, elements, index = transfer.filled
        if region.space == "global":
            self._mark(region, np.asarray(index).reshape(-1) * elements.itemsize, elements.itemsize)

    def _mark(self, region: Region, begin: np.ndarray, size: int) -> None:
        marks = self._stored.setdefault(region.start, np.zeros(region.storage.size, bool))
        for byte in range(size):
            marks[begin + byte] = True
