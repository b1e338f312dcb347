"""The answers to calls about CUDA arrays, textures and surfaces."""

from __future__ import annotations

import struct

import numpy as np

from ..memory.address_space import GLOBAL
from ..memory.texels import ADDRESSING, Surface, Texels, Texture
from ..numerics.rounding import round_up
from .call_state import CallState, Words, put, words_at
from .cuda_errors import CudaStatus
from .host_lines import named_at
from .host_mistakes import HostMistake
from .program_allocations import DEVICE
from .program_arrays import ProgramArray
from .refusals import Refused

LAYERED, STORED, CUBE = 1, 2, 4  # flags of an array; STORED: surfaces may write to it
ROW_BYTES = 32  # that the rows of an array are multiples of
RESOURCE_ARRAY, RESOURCE_LINEAR = 0, 2
_KINDS = {0: "i", 1: "u", 2: "f"}  # of channels: cudaChannelFormatKind


class ArrayCalls(CallState):
    """Each call is answered by the method of its name."""

    def _cudaMalloc3DArray(self, w: Words) -> None:
        out, shape, width, height, depth, flags = w
        dtype, channels = _element(shape)
        if width == 0:
            raise Refused(CudaStatus.cudaErrorInvalidValue)
        texel = dtype.itemsize * channels
        rows, slices = max(height, 1), max(depth, 1)
        row = round_up(width * texel, ROW_BYTES)
        line = self.line()
        name = named_at(line, self.call)
        start = self.memory.allocate(row * rows * slices, DEVICE, self.call, line, name)
        region = self.memory.allocations[start].region
        GLOBAL.know(region)
        elements: np.ndarray = np.ndarray(
            (slices, rows, width, channels),
            dtype,
            region.storage,
            strides=(row * rows, row, texel, dtype.itemsize),
        )
        layered, cube = bool(flags & LAYERED), bool(flags & CUBE)
        dimensions = 2 if cube else 1 + (height > 0) + (depth > 0 and not layered)
        texels = Texels(elements, dimensions, layered, cube)
        extents = width, height, depth
        self.arrays[start] = ProgramArray(region, texels, shape, extents, flags, row)
        put(out, start)

    _cudaMallocArray = _cudaMalloc3DArray

    def _array(self, number: int) -> ProgramArray:
        if number not in self.arrays:
            raise Refused(CudaStatus.cudaErrorInvalidResourceHandle)
        return self.arrays[number]

    def _cudaFreeArray(self, w: Words) -> None:
        self.memory.free(w[0], self.call, self.line())
        self.arrays.pop(w[0], None)

    def _cudaArrayGetInfo(self, w: Words) -> None:
        array = self._array(w[0])
        channels = (array.shape >> 8 * n & 0xFF for n in range(5))
        for n, value in enumerate((*channels, *array.extents, array.flags)):
            put(w[1] + 8 * n, value)

    # --- to copy ---

    def _cudaMemcpy3D(self, w: Words) -> None:
        """Copy boxes between arrays and memory. Positions and widths of cudaMemcpy3D count texels
        where an array takes part, and all others count bytes."""
        ends, (width, height, depth, kind) = (w[:7], w[7:14]), w[14:]
        arrays = [self._array(end[0]) if end[0] else None for end in ends]
        texel = next((a.texels.texel_bytes for a in arrays if a is not None), 1)
        counts = self.call.startswith("cudaMemcpy3D") or self.call == "launch"
        unit = texel if counts else 1
        starts, pitches, planes = [], [], []
        for (_, pointer, pitch, rows, x, y, z), array in zip(ends, arrays, strict=True):
            if array is None:
                begin, offset = pointer, x
            else:
                begin, pitch, offset = array.region.start, array.row, x * unit
                rows = max(array.extents[1], 1)
                self._fits(array, offset + width * unit, y + height, z + depth)
            if width * unit > pitch and height * depth > 1:
                raise Refused(CudaStatus.cudaErrorInvalidValue)
            starts.append(begin + offset + pitch * (y + rows * z))
            pitches.append(pitch)
            planes.append(pitch * rows)
        for z in range(depth):
            for y in range(height):
                to, source = (
                    start + z * plane + y * pitch
                    for start, plane, pitch in zip(starts, planes, pitches, strict=True)
                )
                self.memory.copy(to, source, width * unit, kind, self.call, self._tell)

    _cudaMemcpy3DAsync = _cudaMemcpy2DToArray = _cudaMemcpy2DToArrayAsync = _cudaMemcpy3D
    _cudaMemcpy2DFromArray = _cudaMemcpy2DFromArrayAsync = _cudaMemcpy2DArrayToArray = _cudaMemcpy3D

    def _fits(self, array: ProgramArray, row: int, rows: int, slices: int) -> None:
        width, height, depth = array.extents
        most = width * array.texels.texel_bytes, max(height, 1), max(depth, 1)
        for what, asked, there in zip(
            ("bytes in a row", "rows", "slices"), (row, rows, slices), most, strict=True
        ):
            if asked > there:
                found = self.memory.allocations[array.region.start]
                raise Refused(
                    CudaStatus.cudaErrorInvalidValue,
                    HostMistake.OUTSIDE_ALLOCATION,
                    f"{self.call} reaches {asked:,} {what} of {found}, which has {there:,}.",
                )

    def _cudaMemcpyToArray(self, w: Words) -> None:
        """Copy bytes that run on from row to row."""
        number, x, y, pointer, size, kind, to_array = w
        array = self._array(number)
        row = array.extents[0] * array.texels.texel_bytes
        while size > 0:
            part = min(size, row - x)
            self._fits(array, x + part, y + 1, 1)
            inside = array.region.start + y * array.row + x
            ends = (inside, pointer) if to_array else (pointer, inside)
            self.memory.copy(*ends, part, kind, self.call, self._tell)
            x, y, pointer, size = 0, y + 1, pointer + part, size - part

    # --- textures and surfaces ---

    def _texels_of(self, resource: int) -> Texels:
        kind, place, shape, width, height, pitch = words_at(resource, 6)
        if kind == RESOURCE_ARRAY:
            return self._array(place).texels
        dtype, channels = _element(shape)
        texel = dtype.itemsize * channels
        if kind == RESOURCE_LINEAR:
            width, height, pitch = width // texel, 1, width // texel * texel
        size = pitch * (height - 1) + width * texel
        side = self.memory.side(place, size, self.call, "reads")
        if side.region is None or width < 1 or height < 1 or pitch < width * texel:
            raise Refused(CudaStatus.cudaErrorInvalidValue)
        GLOBAL.know(side.region)
        elements: np.ndarray = np.ndarray(
            (1, height, width, channels),
            dtype,
            side.region.storage,
            side.offset,
            (pitch * height, pitch, texel, dtype.itemsize),
        )
        linear = kind == RESOURCE_LINEAR
        return Texels(elements, 1 if linear else 2, linear=linear)

    def _cudaCreateTextureObject(self, w: Words) -> None:
        out, resource, *modes, filtering, reading, normalized = w[:8]
        border = struct.unpack("<dddd", struct.pack("<qqqq", *w[8:12]))
        texels = self._texels_of(resource)
        dtype, linear, unit = texels.elements.dtype, bool(filtering), bool(reading)
        if linear and dtype.kind != "f" and not unit:
            raise Refused(
                CudaStatus.cudaErrorInvalidFilterSetting,
                HostMistake.INVALID_CALL,
                "A texture that reads integers can't be filtered: use cudaFilterModePoint or "
                "cudaReadModeNormalizedFloat.",
            )
        if unit and dtype.kind != "f" and dtype.itemsize == 4:
            raise Refused(CudaStatus.cudaErrorInvalidNormSetting)
        made = Texture(
            texels,
            ("clamp",) * 3 if texels.cube else tuple(ADDRESSING[mode] for mode in modes),
            linear,
            bool(normalized),
            unit and dtype.kind != "f",
            border,
        )
        self.textures[made.handle] = made
        put(out, made.handle)

    def _cudaCreateSurfaceObject(self, w: Words) -> None:
        kind, place = words_at(w[1], 2)
        if kind != RESOURCE_ARRAY or not self._array(place).flags & STORED:
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.INVALID_CALL,
                "A surface needs an array that was allocated with cudaArraySurfaceLoadStore.",
            )
        made = Surface(self._array(place).texels)
        self.textures[made.handle] = made
        put(w[0], made.handle)

    def _cudaDestroyTextureObject(self, w: Words) -> None:
        if self.textures.pop(w[0], None) is None:
            raise Refused(CudaStatus.cudaErrorInvalidValue)

    _cudaDestroySurfaceObject = _cudaDestroyTextureObject


def _element(shape: int) -> tuple[np.dtype, int]:
    """The type of a texel's elements, and how many it has. Raises Refused for no such."""
    *bits, kind = (shape >> 8 * n & 0xFF for n in range(5))
    channels = next((n for n, size in enumerate(bits) if not size), 4)
    known = kind in _KINDS and bits[0] in (8, 16, 32) and (kind != 2 or bits[0] > 8)
    if not known or channels not in (1, 2, 4) or {*bits[:channels]} != {bits[0]}:
        raise Refused(CudaStatus.cudaErrorInvalidChannelDescriptor)
    return np.dtype(f"{_KINDS[kind]}{bits[0] // 8}"), channels
