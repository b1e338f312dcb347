"""The answers to calls about the device, its kernels, streams and tensor maps."""

from __future__ import annotations

import ctypes

import numpy as np

from ..isa.instruction_set import DTYPES
from ..memory import tensor_box
from .call_state import CallState, Words, put, put_int
from .cuda_errors import CudaStatus
from .device_facts import ATTRIBUTES, REGISTERS
from .host_mistakes import HostMistake
from .refusals import Refused

_SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}
_MAP_TYPES = {**dict(enumerate(tensor_box.KINDS)), 10: "f32", 11: "f32", 12: "f32"}


class DeviceCalls(CallState):
    """Each call is answered by the method of its name."""

    def _cudaSetDevice(self, w: Words) -> None:
        if w[0] != 0:
            raise Refused(CudaStatus.cudaErrorInvalidDevice)

    def _cudaDeviceEnablePeerAccess(self, w: Words) -> None:
        raise Refused(CudaStatus.cudaErrorPeerAccessUnsupported)

    def _cudaDeviceGetAttribute(self, w: Words) -> None:
        if w[2] != 0:
            raise Refused(CudaStatus.cudaErrorInvalidDevice)
        put_int(w[0], ATTRIBUTES.get(w[1], 0))

    def _cudaDeviceSynchronize(self, _: Words) -> None:
        pass

    _cudaEventSynchronize = _cudaDeviceSynchronize

    def _cudaStreamSynchronize(self, w: Words) -> None:
        capture = self.captures.get(w[0])
        if capture is not None:
            capture.broken = True
            raise Refused(
                CudaStatus.cudaErrorStreamCaptureUnsupported,
                HostMistake.INVALID_CALL,
                f"{self.call} is called on a stream that is being captured. End the capture first.",
            )

    def _cudaStreamAddCallback(self, _: Words) -> None:
        pass

    _cudaLaunchHostFunc = _cudaStreamAddCallback  # our runtime calls the function itself

    def _cudaDeviceReset(self, _: Words) -> None:
        self.memory.free_all()

    def _cudaEventElapsedTime(self, w: Words) -> None:
        ctypes.c_float.from_address(w[0]).value = 0.0
        self.log.write("timed")

    def _cudaFuncSetAttribute(self, w: Words) -> None:
        self.kernels.entry(w[0])
        if w[1] == 8:
            self.kernels.allow_dynamic(w[0], w[2])

    def _cudaFuncGetAttributes(self, w: Words) -> None:
        entry = self.kernels.entry(w[0])
        registers = min(255, REGISTERS // entry.max_threads)
        most = self.kernels.most_dynamic(w[0])
        facts = (entry.static_shared, entry.local_bytes, entry.max_threads, most, registers)
        for n, value in enumerate(facts):
            put(w[1] + 8 * n, value)

    def _cudaFuncGetName(self, w: Words) -> None:
        put(w[0], self._text(self.kernels.entry(w[1]).name))

    def _cudaOccupancyMaxActiveBlocksPerMultiprocessor(self, w: Words) -> None:
        put_int(w[0], self.kernels.blocks_per_sm(w[1], w[2], w[3]))

    _cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags = (
        _cudaOccupancyMaxActiveBlocksPerMultiprocessor
    )

    def _cudaOccupancyAvailableDynamicSMemPerBlock(self, w: Words) -> None:
        static = self.kernels.entry(w[1]).static_shared
        put(w[0], max(0, ATTRIBUTES[97] // max(w[2], 1) - static))

    def _cuTensorMapEncodeTiled(self, w: Words) -> int:
        target, kind, rank, address, sizes, strides, box, steps, interleave, swizzle, fill = w[0:11]
        if kind not in _MAP_TYPES or swizzle not in _SWIZZLES or interleave:
            return CudaStatus.cudaErrorNotSupported

        def values(at: int, count: int, unit: str) -> tuple[int, ...]:
            size = np.dtype(unit).itemsize * count
            return tuple(np.frombuffer(ctypes.string_at(at, size), unit).tolist())

        name = _MAP_TYPES[kind]
        made = tensor_box.Box(
            address,
            name,
            values(sizes, rank, "u8"),
            (DTYPES[name].itemsize, *values(strides, rank - 1, "u8")),
            values(box, rank, "u4"),
            values(steps, rank, "u4"),
            _SWIZZLES[swizzle],
            bool(fill),
            kind in (11, 12),
        )
        ctypes.memmove(target, made.encode(), tensor_box.ENCODED_BYTES)
        return 0
