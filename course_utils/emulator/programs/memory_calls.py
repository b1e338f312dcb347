"""The answers to calls about memory: to allocate, free, copy and set it."""

from __future__ import annotations

from ..memory.address_space import GLOBAL_WINDOW
from .call_state import CallState, Words, addresses_at, put
from .cuda_errors import CudaStatus
from .host_lines import named_at
from .host_mistakes import HostMistake
from .program_allocations import DEVICE, MANAGED, PINNED, TOTAL
from .refusals import Refused

_TYPES = {DEVICE: 2, MANAGED: 3, PINNED: 1}  # cudaMemoryType


class MemoryCalls(CallState):
    """Each call is answered by the method of its name."""

    def _allocate(self, w: Words, place: str) -> None:
        line = self.line()
        name = named_at(line, self.call)
        put(w[0], self.memory.allocate(w[1], place, self.call, line, name))

    def _cudaMalloc(self, w: Words) -> None:
        self._allocate(w, DEVICE)

    _cudaMallocFromPoolAsync = _cudaMallocPitch = _cudaMalloc3D = _cudaMalloc

    def _cudaMallocAsync(self, w: Words) -> None:
        self._allocate(w, DEVICE)
        if self.captured:
            self.graph_memory.add(addresses_at(w[0], 1)[0])

    def _graph_memory(self, w: Words) -> None:
        self._allocate(w, DEVICE)
        self.graph_memory.add(addresses_at(w[0], 1)[0])

    def _cudaMallocManaged(self, w: Words) -> None:
        self._allocate(w, MANAGED)

    def _cudaMallocHost(self, w: Words) -> None:
        self._allocate(w, PINNED)

    _cudaHostAlloc = _cudaMallocHost

    def _cudaFree(self, w: Words) -> None:
        self.memory.free(w[0], self.call, self.line())

    _cudaFreeAsync = _cudaFreeHost = _cudaHostUnregister = _cudaFree

    def _cudaHostRegister(self, w: Words) -> None:
        self.memory.register(w[0], w[1], self.call, self.line())

    def _cudaHostGetDevicePointer(self, w: Words) -> None:
        found = self.memory.allocation_at(w[1])
        if found is None or found.place != PINNED:
            raise Refused(CudaStatus.cudaErrorInvalidValue)
        put(w[0], w[1])

    def _copy(self, to: int, source: int, size: int, kind: int) -> None:
        self.memory.copy(to, source, size, kind, self.call, self._tell)

    def _cudaMemcpy(self, w: Words) -> None:
        self._copy(w[0], w[1], w[2], w[3])

    _cudaMemcpyAsync = _cudaMemcpyPeer = _cudaMemcpyPeerAsync = _cudaMemcpy

    def _cudaMemcpy2D(self, w: Words) -> None:
        to, to_pitch, source, pitch, width, height, kind = w[0:7]
        if width > min(to_pitch, pitch):
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.INVALID_CALL,
                f"{self.call} copies rows of {width:,} bytes, and a pitch is only "
                f"{min(to_pitch, pitch):,} bytes.",
            )
        for row in range(height):
            self._copy(to + row * to_pitch, source + row * pitch, width, kind)

    _cudaMemcpy2DAsync = _cudaMemcpy2D

    def _cudaMemset(self, w: Words) -> None:
        self.memory.fill(w[0], w[1], w[2], self.call)

    _cudaMemsetAsync = _cudaMemset

    def _cudaMemset2D(self, w: Words) -> None:
        for row in range(w[4]):
            self.memory.fill(w[0] + row * w[1], w[2], w[3], self.call)

    _cudaMemset2DAsync = _cudaMemset2D

    def _fill_elements(self, w: Words) -> None:
        """Set elements of 1, 2 or 4 bytes, as a node of a graph does."""
        to, pitch, value, size, width, height = w
        for row in range(height):
            self.memory.fill(to + row * pitch, value, width * size, self.call, size)

    def _cudaGetSymbolAddress(self, w: Words) -> None:
        put(w[0], self.kernels.variable(w[1]).start)

    def _cudaGetSymbolSize(self, w: Words) -> None:
        put(w[0], self.kernels.variable(w[1]).size)

    def _cudaMemcpyToSymbol(self, w: Words) -> None:
        self._copy(self.kernels.variable(w[0]).start + w[3], w[1], w[2], w[4])

    def _cudaMemcpyFromSymbol(self, w: Words) -> None:
        self._copy(w[0], self.kernels.variable(w[1]).start + w[3], w[2], w[4])

    _cudaMemcpyToSymbolAsync, _cudaMemcpyFromSymbolAsync = (
        _cudaMemcpyToSymbol,
        _cudaMemcpyFromSymbol,
    )

    def _cudaMemGetInfo(self, w: Words) -> None:
        put(w[0], self.memory.left)
        put(w[1], TOTAL)

    def _cudaPointerGetAttributes(self, w: Words) -> None:
        found = self.memory.allocation_at(w[0])
        place = found.place if found is not None else DEVICE if w[0] >= GLOBAL_WINDOW else ""
        put(w[1], _TYPES.get(place, 0))
        put(w[1] + 8, w[0] if place else 0)
        put(w[1] + 16, w[0] if place != DEVICE else 0)

    def _cudaMemPrefetchAsync(self, w: Words) -> None:
        found = self.memory.allocation_at(w[0])
        if found is None or found.place != MANAGED:
            raise Refused(CudaStatus.cudaErrorInvalidValue)

    _cudaMemAdvise = _cudaMemPrefetchAsync
