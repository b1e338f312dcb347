"""The memories of the machine, and the check of every access.

All of them are windows of one 64-bit generic address space. A *region* is one array in it: an array
that was passed to a kernel, a ``__shared__`` or ``__device__`` variable, the local arrays of a
thread. Between two regions is a gap that belongs to none, so running past the end of one is
seen, where real memory would hand out its neighbour.
Source: PTX ISA, "State Spaces" and "Generic Addressing".
"""

from __future__ import annotations

import bisect
import ctypes
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..numerics.rounding import round_up
from .init_shadows import Unwritten

SHARED_WINDOW = 0x0001_0000_0000_0000
LOCAL_WINDOW = 0x0002_0000_0000_0000
PARAM_WINDOW = 0x0003_0000_0000_0000
FUNCTION_WINDOW = 0x0004_0000_0000_0000
GLOBAL_WINDOW = 0x0010_0000_0000_0000
WINDOW_SIZE = 0x0001_0000_0000_0000
GAP = 1024  # bytes that belong to no region, after each


@dataclass(eq=False)
class Region:
    """One array: ``size`` bytes from generic address ``start``.

    ``owner`` is "all" (one copy), "block" or "lane" (a copy for each); ``storage`` holds the copies
    one after another, as bytes, each ``stride`` bytes long.
    """

    name: str
    space: str
    start: int
    size: int
    storage: np.ndarray
    owner: str = "all"
    stride: int = 0
    read_only: bool = False
    zeroed: bool = False  # all 0 before anything is written to it, and so initialised
    unwritten: Unwritten | None = None  # for an array that was never filled on the host
    heap: DeviceHeap | None = None  # where a kernel's malloc took it from
    dtype: np.dtype | None = None  # of the array that the host passed last
    dynamic: bool = False  # shared memory whose size the launch gives
    views: dict[np.dtype, np.ndarray] = field(default_factory=dict)
    end: int = 0

    def __post_init__(self) -> None:
        self.end = self.start + self.size

    def view(self, dtype: np.dtype) -> np.ndarray:
        """The storage as elements of ``dtype``; a ragged tail is left out."""
        found = self.views.get(dtype)
        if found is None:
            whole = self.storage.size // dtype.itemsize * dtype.itemsize
            found = self.views[dtype] = self.storage[:whole].view(dtype)
        return found


class Regions:
    """Regions sorted by address."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._regions: list[Region] = []

    def __iter__(self) -> Iterator[Region]:
        return iter(self._regions)

    def add(self, region: Region) -> Region:
        """Enter a region at its place, and return it."""
        at = bisect.bisect(self._starts, region.start)
        self._starts.insert(at, region.start)
        self._regions.insert(at, region)
        return region

    def remove(self, region: Region) -> None:
        """Take a region out, which must be one of these."""
        at = bisect.bisect(self._starts, region.start) - 1
        assert self._regions[at] is region
        del self._starts[at], self._regions[at]

    def below(self, address: int) -> Region | None:
        """The last region that starts at or below ``address``; it need not reach that far."""
        at = bisect.bisect(self._starts, address) - 1
        return self._regions[at] if at >= 0 else None

    def above(self, address: int) -> Region | None:
        """The first region that starts after ``address``."""
        at = bisect.bisect(self._starts, address)
        return self._regions[at] if at < len(self._starts) else None


class GlobalMemory:
    """Gives NumPy arrays addresses for as long as they live.

    Addresses are multiples of 256 bytes, as ``cudaMalloc`` gives, whatever NumPy's own alignment.
    """

    def __init__(self) -> None:
        self.regions = Regions()
        self.shared = Regions()  # with the host: at the addresses that they have there
        self._by_root: dict[int, Region] = {}
        self._unwritten: dict[int, Unwritten] = {}
        self._freed: deque[tuple[int, int, str]] = deque(maxlen=1000)  # start, end, name
        self._next = GLOBAL_WINDOW

    def reserve(self, size: int, align: int = 256) -> int:
        """The start of ``size`` bytes of addresses that are no other's, and a gap after them."""
        align = max(align, 256)
        start = round_up(self._next, align)
        self._next = start + size + GAP
        return start

    def add(
        self, name: str, storage: np.ndarray, align: int = 256, read_only: bool = False
    ) -> Region:
        """Give ``storage``, uint8 (bytes,), its own addresses. ``align`` is in bytes."""
        start = self.reserve(storage.size, align)
        return self.regions.add(
            Region(name, "global", start, storage.size, storage, read_only=read_only)
        )

    def share(self, name: str, storage: np.ndarray) -> Region:
        """Let kernels reach ``storage``, uint8 (bytes,), at the host's own addresses."""
        region = Region(name, "global", address_of(storage), storage.size, storage)
        return self.shared.add(region)

    def free(self, region: Region) -> None:
        """An array is gone. No other array gets its addresses, except for addresses of the host."""
        root = id(_root(region.storage))
        if self._by_root.get(root) is region:
            del self._by_root[root]
        (self.regions if region.start >= GLOBAL_WINDOW else self.shared).remove(region)
        self._freed.append((region.start, region.end, region.name))

    def forget_freed(self) -> None:
        """Speak no more of arrays that were freed: they are nothing to who launches next."""
        self._freed.clear()

    def freed_at(self, address: int) -> tuple[int, str] | None:
        """(first byte, name) of the array that lay at an address before it was freed."""
        found = ((start, name) for start, end, name in self._freed if start <= address < end)
        return next(found, None)

    def know(self, region: Region) -> None:
        """Let views of a region's storage have its addresses."""
        self._by_root[id(_root(region.storage))] = region

    def pointer(self, array: np.ndarray, name: str | None = None) -> int:
        """The address of ``array[0]``; the bounds checked are those of the whole allocation."""
        root = _root(array)
        region = self._by_root.get(id(root))
        if region is None:
            region = self._adopt(root)
        if name:
            region.name, region.dtype = name, array.dtype
        return region.start + address_of(array) - address_of(region.storage)

    def never_written(self, array: np.ndarray) -> None:
        """Note that ``array`` was just made, full of one value that stands for none."""
        root = _root(array)
        if root.size:
            self._unwritten[id(root)] = Unwritten(root)
            weakref.finalize(root, self._unwritten.pop, id(root), None).atexit = False

    def made_without_values(self, array: np.ndarray) -> bool:
        """True for an array of :meth:`never_written`, and for a view of one."""
        return id(_root(array)) in self._unwritten

    def untouched(self, array: np.ndarray) -> bool:
        """True when no kernel that was checked has written to an array made without values."""
        known = self._unwritten.get(id(_root(array)))
        return known is not None and (known.found is None or known.found.untouched(array.nbytes))

    def contents(self, args: Iterable[object] = ()) -> list[tuple[Region, np.ndarray]]:
        """A copy of every array that kernels may write to, the arrays among ``args`` included; see
        :meth:`put_back`."""
        for value in args:
            if isinstance(value, np.ndarray) and value.size:
                self.pointer(value)
        return [(r, r.storage.copy()) for r in self.regions if not r.read_only]

    def put_back(self, contents: list[tuple[Region, np.ndarray]]) -> None:
        """Let the arrays that still exist hold what they held then."""
        here = set(map(id, self.regions))
        for region, copy in contents:
            if id(region) in here:
                region.storage[:] = copy

    def _adopt(self, root: np.ndarray) -> Region:
        low, high = np.lib.array_utils.byte_bounds(root)
        size = high - low if root.size else 0
        buffer = (ctypes.c_uint8 * size).from_address(low) if size else b""
        region = self.add("array", np.frombuffer(memoryview(buffer), np.uint8))
        key = id(root)
        self._by_root[key] = region
        region.unwritten = self._unwritten.get(key)

        def forget() -> None:
            del self._by_root[key]
            self.free(region)

        weakref.finalize(root, forget).atexit = False
        return region


class DeviceHeap:
    """What the kernels of a module get from ``malloc``: 8 MB, as cudaLimitMallocHeapSize has it."""

    SIZE = 8 * 2**20
    UNIT = 64  # bytes in which it is given out here; CUDA does not say

    def __init__(self) -> None:
        self.regions: dict[int, Region] = {}
        self._left = self.SIZE

    def take(self, size: int) -> int:
        """The address of ``size`` bytes; 0, which is NULL, where there are not so many."""
        needed = round_up(size, self.UNIT)
        if not 0 < needed <= self._left:
            return 0
        self._left -= needed
        storage = np.full(size, 0xFF, np.uint8)
        region = GLOBAL.add("device malloc", storage)
        region.unwritten, region.heap = Unwritten(storage), self
        self.regions[region.start] = region
        return region.start

    def give_back(self, region: Region) -> None:
        """Free what :meth:`take` gave."""
        del self.regions[region.start]
        self._left += round_up(region.size, self.UNIT)
        GLOBAL.free(region)

    def clear(self) -> None:
        """Free all that is still allocated."""
        for region in reversed(list(self.regions.values())):  # the last is removed the fastest
            self.give_back(region)


def _root(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def address_of(array: np.ndarray) -> int:
    """The address in this process of the first byte of an array."""
    return array.__array_interface__["data"][0]


GLOBAL = GlobalMemory()
