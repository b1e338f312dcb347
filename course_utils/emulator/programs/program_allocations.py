"""The memory that a program allocates and frees."""

from __future__ import annotations

import ctypes
from collections import deque
from dataclasses import dataclass

import numpy as np

from ..memory.address_space import GLOBAL, GLOBAL_WINDOW, Region
from ..memory.init_shadows import InitShadow, Unwritten
from .cuda_errors import CudaStatus
from .host_lines import HostLine
from .host_mistakes import HostMistake
from .refusals import Refused

DEVICE, MANAGED, PINNED = "device", "managed", "pinned"
ARRAYS = "cudaMallocArray", "cudaMalloc3DArray"
TOTAL = 8 << 30  # bytes of the GPU's memory


@dataclass(eq=False)
class ProgramAllocation:
    """Memory that a call allocated. ``place`` is DEVICE, MANAGED or PINNED. ``name`` is the
    variable that got the pointer, or ""."""

    start: int
    size: int
    place: str
    call: str
    line: HostLine
    name: str
    region: Region
    registered: bool = False  # the program's own memory, by cudaHostRegister

    def __str__(self) -> str:
        size = f"{self.size:,} bytes of {self.call}{self.line.at}"
        return f"{self.name}, {size}" if self.name else f"the {size}"


class ProgramAllocations:
    """All allocations of a program. ``library`` is our runtime: it maps pages and copies."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.emulator_pages.restype = ctypes.c_void_p
        library.emulator_pages.argtypes = [ctypes.c_size_t]
        library.emulator_close_pages.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        library.emulator_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        library.emulator_host_block.argtypes = [ctypes.c_void_p] * 3
        self.allocations: dict[int, ProgramAllocation] = {}
        self._freed: deque[tuple[ProgramAllocation, HostLine]] = deque(maxlen=10_000)

    @property
    def left(self) -> int:
        """Bytes of the GPU's memory that are free."""
        return TOTAL - sum(a.size for a in self.allocations.values() if a.place != PINNED)

    def allocate(self, size: int, place: str, call: str, line: HostLine, name: str) -> int:
        """The address of ``size`` new bytes, or 0 for none. Raises Refused if too few are free."""
        if size == 0:
            return 0
        if size > self.left:
            raise Refused(CudaStatus.cudaErrorMemoryAllocation)
        title = name or (f"{call}@{line}" if line.file else call)
        if place == DEVICE:
            storage = np.full(size, 0xFF, np.uint8)
            region = GLOBAL.add(title, storage)
            region.unwritten = Unwritten(storage)
            region.unwritten.found = shadow = InitShadow(size)
            shadow.forget(size)
        else:
            start = self.library.emulator_pages(size)
            if not start:
                raise Refused(CudaStatus.cudaErrorMemoryAllocation)
            region = GLOBAL.share(title, bytes_at(start, size))
        made = ProgramAllocation(region.start, size, place, call, line, name, region)
        self.allocations[region.start] = made
        return region.start

    def register(self, start: int, size: int, call: str, line: HostLine) -> None:
        """Let kernels reach memory of the host. Raises Refused where it is reached already."""
        if start in self.allocations:
            raise Refused(CudaStatus.cudaErrorHostMemoryAlreadyRegistered)
        region = GLOBAL.share("registered memory", bytes_at(start, size))
        made = ProgramAllocation(start, size, PINNED, call, line, "", region, registered=True)
        self.allocations[start] = made

    def free(self, start: int, call: str, line: HostLine) -> None:
        """Free an allocation of :meth:`allocate`. Raises Refused for any other pointer."""
        if start == 0:
            return
        found = self.allocations.get(start)
        if found is None:
            raise self._not_to_free(start, call)
        if found.call in ARRAYS and call not in ("cudaFreeArray", "cudaDeviceReset"):
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.NOT_ALLOCATED,
                f"{call} is called on {found}: cudaFreeArray frees that.",
            )
        pinned = call in ("cudaFreeHost", "cudaHostUnregister")
        if pinned != (found.place == PINNED):
            wanted = {PINNED: "cudaFreeHost"}.get(found.place, "cudaFree")
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.NOT_ALLOCATED,
                f"{call} is called on {found}: {wanted} frees that.",
            )
        del self.allocations[start]
        GLOBAL.free(found.region)
        self._freed.append((found, line))
        if found.place != DEVICE and not found.registered:
            self.library.emulator_close_pages(found.start, found.size)

    def forget(self, start: int) -> None:
        """Let an allocation be as if it were new: nothing in it has a value."""
        found = self.allocations.get(start)
        if found is not None and found.region.unwritten is not None:
            shadow = found.region.unwritten.found
            if shadow is not None:
                shadow.forget(found.size)

    def renew(self, start: int) -> None:
        """Allocate a graph's memory at its launch, at the old address again if it was freed."""
        before = self._freed_at(start)
        if start not in self.allocations and before is not None:
            self._freed.remove(before)
            self.allocations[start] = before[0]
            GLOBAL.regions.add(before[0].region)
        self.forget(start)

    def free_all(self) -> None:
        """Free everything that is allocated, as cudaDeviceReset does."""
        for found in list(self.allocations.values()):
            pinned = "cudaFreeHost" if found.place == PINNED else "cudaDeviceReset"
            self.free(found.start, pinned, HostLine())

    def _not_to_free(self, start: int, call: str) -> Refused:
        before = self._freed_at(start)
        if before is not None:
            found, line = before
            return Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.FREED_TWICE,
                f"{call} frees {found} again: it was freed{line.at or ' before'}.",
            )
        inside = self.allocation_at(start)
        what = "a pointer that no allocation gave"
        if inside is not None:
            what = f"a pointer to byte {start - inside.start:,} of {inside}"
        elif start < GLOBAL_WINDOW:
            what = "a pointer of the host"
        return Refused(
            CudaStatus.cudaErrorInvalidValue,
            HostMistake.NOT_ALLOCATED,
            f"{call} is called on {what}: pass the pointer that the allocation gave.",
        )

    def _freed_at(self, address: int) -> tuple[ProgramAllocation, HostLine] | None:
        was = (pair for pair in reversed(self._freed) if self._covers(pair[0], address))
        return next(was, None)

    def title(self, address: int) -> str:
        """The allocation at an address in words."""
        return str(self.allocation_at(address) or "memory")

    @staticmethod
    def _covers(allocation: ProgramAllocation, address: int) -> bool:
        return allocation.start <= address < allocation.start + allocation.size

    # --- pointers ---

    def region_at(self, address: int) -> Region | None:
        """The region of kernels' memory that contains an address. Its end counts as inside."""
        regions = GLOBAL.regions if address >= GLOBAL_WINDOW else GLOBAL.shared
        found = regions.below(address)
        return found if found is not None and address <= found.end else None

    def allocation_at(self, address: int) -> ProgramAllocation | None:
        """The allocation that contains an address."""
        region = self.region_at(address)
        return self.allocations.get(region.start) if region is not None else None


def bytes_at(start: int, size: int) -> np.ndarray:
    """Memory of this process as an array: uint8 (size,)."""
    buffer = (ctypes.c_uint8 * size).from_address(start)
    return np.frombuffer(memoryview(buffer), np.uint8)
