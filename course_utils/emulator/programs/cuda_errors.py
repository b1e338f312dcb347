"""CUDA's error codes: their names and texts, and which of them a fault of a kernel gives.

Source: CUDA Runtime API, "cudaError_t".
"""

from __future__ import annotations

from enum import IntEnum

from ..findings.report import (
    ASSERTION,
    DEADLOCK,
    ENDLESS_LOOP,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TRAP,
    USE_AFTER_FREE,
)


class CudaStatus(IntEnum):
    """A ``cudaError_t``. ``text`` is the string that ``cudaGetErrorString`` returns for it."""

    text: str

    def __new__(cls, value: int, text: str) -> CudaStatus:
        made = int.__new__(cls, value)
        made._value_, made.text = value, text
        return made

    cudaSuccess = 0, "no error"
    cudaErrorInvalidValue = 1, "invalid argument"
    cudaErrorMemoryAllocation = 2, "out of memory"
    cudaErrorInitializationError = 3, "initialization error"
    cudaErrorInvalidConfiguration = 9, "invalid configuration argument"
    cudaErrorInvalidSymbol = 13, "invalid device symbol"
    cudaErrorInvalidChannelDescriptor = 20, "invalid channel descriptor"
    cudaErrorInvalidMemcpyDirection = 21, "invalid copy direction for memcpy"
    cudaErrorInvalidFilterSetting = 26, "linear filtering not supported for non-float type"
    cudaErrorInvalidNormSetting = (
        27,
        "read as normalized float not supported for 32-bit non float type",
    )
    cudaErrorInvalidDeviceFunction = 98, "invalid device function"
    cudaErrorNoDevice = 100, "no CUDA-capable device is detected"
    cudaErrorInvalidDevice = 101, "invalid device ordinal"
    cudaErrorInvalidKernelImage = 200, "device kernel image is invalid"
    cudaErrorNoKernelImageForDevice = (
        209,
        "no kernel image is available for execution on the device",
    )
    cudaErrorPeerAccessUnsupported = 217, "peer access is not supported between these two devices"
    cudaErrorFileNotFound = 301, "file not found"
    cudaErrorInvalidResourceHandle = 400, "invalid resource handle"
    cudaErrorSymbolNotFound = 500, "named symbol not found"
    cudaErrorNotReady = 600, "device not ready"
    cudaErrorIllegalAddress = 700, "an illegal memory access was encountered"
    cudaErrorLaunchOutOfResources = 701, "too many resources requested for launch"
    cudaErrorLaunchTimeout = 702, "the launch timed out and was terminated"
    cudaErrorAssert = 710, "device-side assert triggered"
    cudaErrorHostMemoryAlreadyRegistered = (
        712,
        "part or all of the requested memory range is already mapped",
    )
    cudaErrorHostMemoryNotRegistered = (
        713,
        "pointer does not correspond to a registered memory region",
    )
    cudaErrorMisalignedAddress = 716, "misaligned address"
    cudaErrorLaunchFailure = 719, "unspecified launch failure"
    cudaErrorCooperativeLaunchTooLarge = (
        720,
        "too many blocks in cooperative launch",
    )
    cudaErrorNotSupported = 801, "operation not supported"
    cudaErrorStreamCaptureUnsupported = 900, "operation not permitted when stream is capturing"
    cudaErrorStreamCaptureInvalidated = (
        901,
        "operation failed due to a previous error during capture",
    )
    cudaErrorStreamCaptureUnmatched = 903, "capture was not ended in the same stream as it began"
    cudaErrorStreamCaptureUnjoined = 904, "capturing stream has unjoined work"
    cudaErrorStreamCaptureImplicit = (
        906,
        "operation would make the legacy stream depend on a capturing blocking stream",
    )
    cudaErrorGraphExecUpdateFailure = (
        910,
        "the graph update was not performed because it included changes which violated "
        "constraints specific to instantiated graph update",
    )
    cudaErrorInvalidClusterSize = 912, "invalid cluster size"
    cudaErrorUnknown = 999, "unknown error"


UNKNOWN_TEXT = "unrecognized error code"
_OF_KINDS = {
    OUT_OF_BOUNDS: CudaStatus.cudaErrorIllegalAddress,
    USE_AFTER_FREE: CudaStatus.cudaErrorIllegalAddress,
    NULL_POINTER: CudaStatus.cudaErrorIllegalAddress,
    MISALIGNED: CudaStatus.cudaErrorMisalignedAddress,
    ASSERTION: CudaStatus.cudaErrorAssert,
    TRAP: CudaStatus.cudaErrorLaunchFailure,
    DEADLOCK: CudaStatus.cudaErrorLaunchTimeout,
    ENDLESS_LOOP: CudaStatus.cudaErrorLaunchTimeout,
}


def error_of(kind: str) -> CudaStatus:
    """The error that a GPU would give for a finding of this kind that ends a launch."""
    return _OF_KINDS.get(kind, CudaStatus.cudaErrorLaunchFailure)
