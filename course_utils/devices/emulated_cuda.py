"""``cp.cuda`` without a GPU: the modelled device.

The machine modelled is an H200's: compute capability 9.0, 132 SMs, 227 KB of shared memory a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from ..emulator import SMS
from ..errors import LessonError
from .cupy_signatures import entry
from .emulated_memory import alloc_pinned_memory, malloc_managed, set_allocator
from .emulated_streams import Event, Stream, current_stream, synchronize_device

__all__ = [  # the names of CuPy
    "Device",
    "Event",
    "Stream",
    "alloc_pinned_memory",
    "get_current_stream",
    "get_elapsed_time",
    "is_available",
    "malloc_managed",
    "nvtx",
    "runtime",
    "set_allocator",
]

NAME = "emulated sm_90a (no GPU)"
ATTRIBUTES = {  # names as in cudaDeviceGetAttribute, values of an H200
    "ClockRate": 1980000,
    "ComputeCapabilityMajor": 9,
    "ComputeCapabilityMinor": 0,
    "ConcurrentKernels": 1,
    "CooperativeLaunch": 1,
    "GlobalMemoryBusWidth": 6144,
    "L2CacheSize": 62914560,
    "MaxBlockDimX": 1024,
    "MaxBlockDimY": 1024,
    "MaxBlockDimZ": 64,
    "MaxBlocksPerMultiprocessor": 32,
    "MaxGridDimX": 2147483647,
    "MaxGridDimY": 65535,
    "MaxGridDimZ": 65535,
    "MaxRegistersPerBlock": 65536,
    "MaxRegistersPerMultiprocessor": 65536,
    "MaxSharedMemoryPerBlock": 49152,
    "MaxSharedMemoryPerBlockOptin": 232448,
    "MaxSharedMemoryPerMultiprocessor": 233472,
    "MaxThreadsPerBlock": 1024,
    "MaxThreadsPerMultiProcessor": 2048,
    "MultiProcessorCount": SMS,
    "ReservedSharedMemoryPerBlock": 1024,
    "TotalConstantMemory": 65536,
    "WarpSize": 32,
}


class NoTimesError(LessonError):
    """Someone asked the emulator how long something took."""

    def __init__(self) -> None:
        super().__init__(
            "Times are measured on a GPU only: the emulator counts what a kernel does, it does not "
            "know how long a GPU would take."
        )


class Device:
    """The one device, number 0."""

    compute_capability = "90"

    def __init__(self, device: int = 0) -> None:
        if int(device) != 0:
            raise ValueError(f"there is one emulated device, number 0; got {device}")
        self.id = 0

    @property
    def attributes(self) -> dict[str, int]:
        """The device's limits by CuPy's names for them."""
        return dict(ATTRIBUTES)

    @property
    def mem_info(self) -> tuple[int, int]:
        """(free, total) bytes. The emulator keeps arrays in the host's memory."""
        total = getDeviceProperties(0)["totalGlobalMem"]
        return total, total

    def synchronize(self) -> None:
        """The host waits for all work, which has run already."""
        synchronize_device()

    def use(self) -> Device:
        """Return this device: there is no other to switch from."""
        return self

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "<CUDA Device 0>"


def get_current_stream() -> Stream:
    """The stream in use."""
    return current_stream()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Raise :class:`NoTimesError`: the emulator invents no times."""
    raise NoTimesError


def is_available() -> bool:
    """True: kernels can be launched here."""
    return True


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def getDeviceProperties(device: int) -> dict[str, Any]:  # noqa: N802 (CUDA's own name)
    """The properties of the modelled device, under CUDA's names."""
    Device(device)
    return {
        "name": NAME.encode(),
        "major": 9,
        "minor": 0,
        "multiProcessorCount": SMS,
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiProcessor": 2048,
        "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": (2147483647, 65535, 65535),
        "regsPerBlock": 65536,
        "regsPerMultiprocessor": 65536,
        "sharedMemPerBlock": 49152,
        "sharedMemPerBlockOptin": 232448,
        "sharedMemPerMultiprocessor": 233472,
        "totalConstMem": 65536,
        "l2CacheSize": 62914560,
        "memoryBusWidth": 6144,
        "totalGlobalMem": 143771 * 2**20,
        "clockRate": 1980000,
    }


def _version() -> int:
    from ..compiling.bindings import nvrtc_version

    major, minor = nvrtc_version()
    return 1000 * major + 10 * minor


runtime = SimpleNamespace(
    getDeviceProperties=getDeviceProperties,
    getDeviceCount=lambda: 1,
    getDevice=lambda: 0,
    setDevice=lambda device: Device(device) and None,
    deviceSynchronize=synchronize_device,
    memGetInfo=lambda: Device().mem_info,
    runtimeGetVersion=_version,
    driverGetVersion=_version,
    cudaChannelFormatKindSigned=0,
    cudaChannelFormatKindUnsigned=1,
    cudaChannelFormatKindFloat=2,
    cudaChannelFormatKindNone=3,
    cudaArrayDefault=0,
    cudaArraySurfaceLoadStore=2,
    cudaResourceTypeArray=0,
    cudaResourceTypeMipmappedArray=1,
    cudaResourceTypeLinear=2,
    cudaResourceTypePitch2D=3,
    cudaAddressModeWrap=0,
    cudaAddressModeClamp=1,
    cudaAddressModeMirror=2,
    cudaAddressModeBorder=3,
    cudaFilterModePoint=0,
    cudaFilterModeLinear=1,
    cudaReadModeElementType=0,
    cudaReadModeNormalizedFloat=1,
)
nvtx = SimpleNamespace(
    RangePush=lambda *_: None,
    RangePop=lambda: None,
    Mark=lambda *_: None,
    range=lambda *_: _nothing(),
)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    entry("cuda", name)
    raise AttributeError(f"CuPy has cp.cuda.{name}; the emulator does not.")
