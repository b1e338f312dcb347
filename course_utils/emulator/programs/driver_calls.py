"""The answers to calls of the driver: modules, memory, and the names of errors."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from ..isa.linked_ptx import link
from ..isa.ptx import PtxError
from ..launching.emulated_module import EmulatedModule
from .call_state import Words, put
from .cuda_errors import UNKNOWN_TEXT, CudaStatus
from .device_calls import DeviceCalls
from .fat_binary import NoPtx, ptx_of_image
from .host_mistakes import HostMistake
from .memory_calls import MemoryCalls
from .refusals import Refused

# The names that aren't the runtime's in other letters.
_NAMES = {
    CudaStatus.cudaSuccess: "CUDA_SUCCESS",
    CudaStatus.cudaErrorMemoryAllocation: "CUDA_ERROR_OUT_OF_MEMORY",
    CudaStatus.cudaErrorInitializationError: "CUDA_ERROR_NOT_INITIALIZED",
    CudaStatus.cudaErrorInvalidKernelImage: "CUDA_ERROR_INVALID_IMAGE",
    CudaStatus.cudaErrorNoKernelImageForDevice: "CUDA_ERROR_NO_BINARY_FOR_GPU",
    CudaStatus.cudaErrorInvalidResourceHandle: "CUDA_ERROR_INVALID_HANDLE",
    CudaStatus.cudaErrorSymbolNotFound: "CUDA_ERROR_NOT_FOUND",
    CudaStatus.cudaErrorLaunchFailure: "CUDA_ERROR_LAUNCH_FAILED",
}
_INVALID_CONTEXT = 201
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def driver_name(error: int) -> str:
    """The name of a CUresult, or CUDA's words for none."""
    if error == _INVALID_CONTEXT:
        return "CUDA_ERROR_INVALID_CONTEXT"
    if error not in CudaStatus._value2member_map_:
        return UNKNOWN_TEXT
    known = CudaStatus(error)  # type: ignore[call-arg]
    return _NAMES.get(known, _CAPITAL.sub("_", known.name).upper())


class DriverCalls(MemoryCalls, DeviceCalls):
    """Each call is answered by the method of its name."""

    _cuMemAlloc, _cuMemAllocManaged = MemoryCalls._cudaMalloc, MemoryCalls._cudaMallocManaged
    _cuMemFree = MemoryCalls._cudaFree
    _cuMemcpy = _cuMemcpyHtoD = _cuMemcpyDtoH = _cuMemcpyDtoD = MemoryCalls._cudaMemcpy
    _cuCtxSynchronize = DeviceCalls._cudaDeviceSynchronize

    def _cuGetErrorName(self, w: Words) -> int:
        return self._text(driver_name(w[0]))

    # --- modules ---

    def _cuModuleLoadData(self, w: Words) -> None:
        self._load(w[0], w[1])

    def _cuModuleLoad(self, w: Words) -> None:
        path = Path(ctypes.string_at(w[1]).decode())
        if not path.is_file():
            raise Refused(CudaStatus.cudaErrorFileNotFound)
        kept = ctypes.create_string_buffer(path.read_bytes())
        self._load(w[0], ctypes.addressof(kept))

    def _load(self, out: int, image: int) -> None:
        number = 0x1000 + next(self.numbers)
        try:
            self.kernels.modules[number] = EmulatedModule(self._ptx(image))
        except PtxError as error:
            raise self._unreadable(error) from None
        put(out, number)

    def _ptx(self, image: int) -> str:
        try:
            return ptx_of_image(image)
        except NoPtx as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> Refused:
        return Refused(
            CudaStatus.cudaErrorNoKernelImageForDevice,
            HostMistake.LAUNCH_REFUSED,
            f"{self.call} gets an image whose kernels can't be read: {error}.",
        )

    # --- the linker ---

    def _cuLinkCreate(self, w: Words) -> None:
        number = 0x1000 + next(self.numbers)
        self.links[number] = []
        put(w[0], number)

    def _link(self, number: int) -> list[str]:
        if number not in self.links:
            raise Refused(CudaStatus.cudaErrorInvalidResourceHandle)
        return self.links[number]

    def _cuLinkAddData(self, w: Words) -> None:
        self._link(w[0]).append(self._ptx(w[1]))

    def _cuLinkComplete(self, w: Words) -> None:
        text = link(self._link(w[0]))
        put(w[1], self._text(text))
        put(w[2], len(text.encode()) + 1)

    def _cuLinkDestroy(self, w: Words) -> None:
        self._link(w[0])
        del self.links[w[0]]

    # --- functions and variables of modules ---

    def _module(self, number: int) -> EmulatedModule:
        found = self.kernels.modules.get(number)
        if not isinstance(found, EmulatedModule):
            raise Refused(CudaStatus.cudaErrorInvalidResourceHandle)
        return found

    def _cuModuleUnload(self, w: Words) -> None:
        self._module(w[0])
        del self.kernels.modules[w[0]]

    def _cuModuleGetFunction(self, w: Words) -> None:
        name = ctypes.string_at(w[2]).decode()
        module = self._module(w[1])
        if name not in module.functions:
            raise Refused(CudaStatus.cudaErrorSymbolNotFound)
        number = 0x1000 + next(self.numbers)
        self.kernels.functions[number] = w[1], name
        put(w[0], number)

    def _cuModuleGetGlobal(self, w: Words) -> None:
        name = ctypes.string_at(w[3]).decode()
        module = self._module(w[2])
        if name not in module.variables:
            raise Refused(CudaStatus.cudaErrorSymbolNotFound)
        region = module.region_of(name)
        put(w[0], region.start)
        put(w[1], region.size)
