"""The memory that a program allocates, and copies between it and the host's."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..memory.address_space import GLOBAL, GLOBAL_WINDOW, Region, address_of
from ..memory.uninitialised import InitShadow, Unwritten
from .cuda_errors import CudaStatus
from .host_lines import HostLine
from .host_mistakes import HostMistake

DEVICE, MANAGED, PINNED = "device", "managed", "pinned"
HOST = "host"
TOTAL = 8 << 30  # bytes of the GPU's memory
_KINDS = {0: (HOST, HOST), 1: (HOST, DEVICE), 2: (DEVICE, HOST), 3: (DEVICE, DEVICE)}
_WORDS = {
    0: "cudaMemcpyHostToHost",
    1: "cudaMemcpyHostToDevice",
    2: "cudaMemcpyDeviceToHost",
    3: "cudaMemcpyDeviceToDevice",
}


class Refused(Exception):
    """A call that CUDA answers with ``error``. ``mistake``, with the message, where it is one."""

    def __init__(
        self,
        error: CudaStatus,
        mistake: HostMistake | None = None,
        message: str = "",
        size: int = 0,
    ) -> None:
        super().__init__(message)
        self.error, self.mistake, self.message, self.bytes = error, mistake, message, size


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


@dataclass(frozen=True)
class Side:
    """One end of a copy: where it is, and the real address of its first byte."""

    place: str
    real: int
    region: Region | None = None
    offset: int = 0


class HostMemory:
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

    # --- to allocate and to free ---

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
            shadow.bytes[:size] = 0xFF
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

    def side(self, address: int, size: int, call: str, what: str) -> Side:
        """One end of a copy of ``size`` bytes. ``what``: "reads" or "writes".

        Raises Refused for memory that isn't there, or not so much of it.
        """
        region = self.region_at(address)
        if region is None:
            return self._host_side(address, size, call, what)
        found = self.allocations.get(region.start)
        self._fits(region, str(found) if found else region.name, address, size, call, what)
        place = found.place if found is not None else DEVICE
        offset = address - region.start
        return Side(place, address_of(region.storage) + offset, region, offset)

    def _fits(
        self, region: Region, title: str, address: int, size: int, call: str, what: str
    ) -> None:
        if address + size > region.end:
            at = address - region.start
            start = f" from byte {at:,} on" if at else ""
            past = address + size - region.end
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.OUTSIDE_ALLOCATION,
                f"{call} {what} {size:,} bytes{start}, {past:,} past the end of {title}.",
                past,
            )

    def _host_side(self, address: int, size: int, call: str, what: str) -> Side:
        before = self._freed_at(address)
        if before is not None and address not in self.allocations:
            found, line = before
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.FREED_MEMORY,
                f"{call} {what} {found}, which was freed{line.at or ' before'}.",
            )
        if address >= GLOBAL_WINDOW or address == 0:
            pointer = "a null pointer" if address == 0 else f"{address:#x}"
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.NOT_ALLOCATED,
                f"{call} {what} {size:,} bytes at {pointer}, where nothing is allocated.",
            )
        start, known = ctypes.c_longlong(), ctypes.c_longlong()
        places = ctypes.addressof(start), ctypes.addressof(known)
        if self.library.emulator_host_block(address, *places):
            past = address + size - (start.value + known.value)
            if past > 0:
                raise Refused(
                    CudaStatus.cudaSuccess,
                    HostMistake.OUTSIDE_ALLOCATION,
                    f"{call} {what} {size:,} bytes of host memory, {past:,} past the end of an "
                    f"allocation of {known.value:,} bytes.",
                    past,
                )
        return Side(HOST, address)

    # --- to copy ---

    def copy(
        self,
        to: int,
        source: int,
        size: int,
        kind: int,
        call: str,
        tell: Callable[[Refused], None],
    ) -> None:
        """Copy bytes as ``cudaMemcpy`` does. ``tell`` gets mistakes that a GPU ignores. Raises
        Refused for the others."""
        if size == 0:
            return
        ends = []
        for address, what in ((source, "reads"), (to, "writes")):
            try:
                ends.append(self.side(address, size, call, what))
            except Refused as refused:
                if refused.error != CudaStatus.cudaSuccess:
                    raise
                tell(refused)  # a GPU's runtime copies on
                size -= refused.bytes
                ends.append(Side(HOST, address))
        start, end = ends
        self._direction(start, end, kind, call)
        if not self.library.emulator_copy(end.real, start.real, size):
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.NOT_ALLOCATED,
                f"{call} copies {size:,} bytes to {to:#x} from {source:#x}, and the host can't "
                "reach them all.",
            )
        self._written(end, start, size)

    @staticmethod
    def _direction(start: Side, end: Side, kind: int, call: str) -> None:
        if kind not in _KINDS:
            if kind != 4:
                raise Refused(CudaStatus.cudaErrorInvalidMemcpyDirection)
            return
        for side, wanted, what in zip(
            (start, end), _KINDS[kind], ("source", "destination"), strict=True
        ):
            both = side.place in (MANAGED, PINNED)
            if side.place != wanted and not both:
                name = f" ({side.region.name})" if side.region is not None else ""
                right = next(
                    word
                    for number, word in _WORDS.items()
                    if all(
                        s.place in (w, MANAGED, PINNED)
                        for s, w in zip((start, end), _KINDS[number], strict=True)
                    )
                )
                raise Refused(
                    CudaStatus.cudaErrorInvalidValue,
                    HostMistake.WRONG_DIRECTION,
                    f"{call} has the direction {_WORDS[kind]}, and its {what}{name} is memory of "
                    f"the {side.place}. The pointers want {right}.",
                )

    @staticmethod
    def _written(end: Side, start: Side | None, size: int) -> None:
        """Note which bytes of ``end`` have values now: those that had one in ``start``."""
        shadow = _shadow(end.region)
        if shadow is None:
            return
        part = slice(end.offset, end.offset + size)
        before = _shadow(start.region) if start is not None else None
        if before is None or start is None:
            shadow.bytes[part] = 0
        else:
            shadow.bytes[part] = before.bytes[start.offset : start.offset + size]

    def store(self, address: int, data: bytes, call: str) -> str:
        """Write bytes as a library's kernel would, and return their place. Raises Refused."""
        end = self.side(address, len(data), call, "writes")
        ctypes.memmove(end.real, data, len(data))
        self._written(end, None, len(data))
        return end.place

    def fill(self, address: int, value: int, size: int, call: str) -> None:
        """Set bytes as ``cudaMemset`` does. Raises Refused."""
        if size == 0:
            return
        end = self.side(address, size, call, "sets")
        if end.region is None:
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.NOT_ALLOCATED,
                f"{call} sets memory of the host: use memset for that.",
            )
        end.region.storage[end.offset : end.offset + size] = value & 0xFF
        self._written(end, None, size)


def _shadow(region: Region | None) -> InitShadow | None:
    return region.unwritten.found if region is not None and region.unwritten is not None else None


def bytes_at(start: int, size: int) -> np.ndarray:
    """Memory of this process as an array: uint8 (size,)."""
    buffer = (ctypes.c_uint8 * size).from_address(start)
    return np.frombuffer(memoryview(buffer), np.uint8)
