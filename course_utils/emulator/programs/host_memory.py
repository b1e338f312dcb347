"""Copies between a program's memory and the host's, and their mistakes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..memory.address_space import GLOBAL_WINDOW, Region, address_of
from ..memory.init_shadows import InitShadow
from .cuda_errors import CudaStatus
from .host_mistakes import HostMistake
from .program_allocations import DEVICE, MANAGED, PINNED, ProgramAllocations
from .refusals import Refused

HOST = "host"
_KINDS = {0: (HOST, HOST), 1: (HOST, DEVICE), 2: (DEVICE, HOST), 3: (DEVICE, DEVICE)}
_WORDS = {
    0: "cudaMemcpyHostToHost",
    1: "cudaMemcpyHostToDevice",
    2: "cudaMemcpyDeviceToHost",
    3: "cudaMemcpyDeviceToDevice",
}


@dataclass(frozen=True)
class Side:
    """One end of a copy: where it is, and the real address of its first byte."""

    place: str
    real: int
    region: Region | None = None
    offset: int = 0


class HostMemory(ProgramAllocations):
    """The memory of a program, its host's as well."""

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
        shadow = shadow_of(end.region)
        if shadow is None:
            return
        part = slice(end.offset, end.offset + size)
        before = shadow_of(start.region) if start is not None else None
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

    def fill(self, address: int, value: int, size: int, call: str, unit: int = 1) -> None:
        """Set bytes as ``cudaMemset`` does, or elements of ``unit`` bytes. Raises Refused."""
        if size == 0:
            return
        end = self.side(address, size, call, "sets")
        if end.region is None:
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.NOT_ALLOCATED,
                f"{call} sets memory of the host: use memset for that.",
            )
        element = np.frombuffer((value & (1 << 8 * unit) - 1).to_bytes(unit, "little"), np.uint8)
        end.region.storage[end.offset : end.offset + size] = np.tile(element, size // unit)
        self._written(end, None, size)


def shadow_of(region: Region | None) -> InitShadow | None:
    """The record of which bytes of a region have a value, or None where none is kept."""
    return region.unwritten.found if region is not None and region.unwritten is not None else None
