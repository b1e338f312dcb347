"""Triton's runtime with the emulator as its GPU.

Triton asks a *driver* for the target, the device's limits and the way to launch. Here it asks
this one, so that types, specialisation, heuristics and caches are Triton's own.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from ..isa.gpu_constants import MAX_THREADS, SMS, WARP
from .prepared_launch import MOST_SHARED

_ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
_REGISTERS, _SIZED = 0x2F, 0x04  # in .nv.info


class EmulatedDevice:
    """The limits of the emulated GPU: ``driver.active.utils`` of Triton's runtime."""

    def get_device_properties(self, device: Any) -> dict[str, int]:
        """The limits of an H200. Triton's models ask for the rates, in kHz and bits."""
        return {
            "max_shared_mem": MOST_SHARED,
            "max_num_regs": 65536,
            "multiprocessor_count": SMS,
            "warpSize": WARP,
            "sm_clock_rate": 1_980_000,
            "mem_clock_rate": 3_201_000,
            "mem_bus_width": 6144,
        }

    def load_binary(self, name: str, cubin: bytes, shared: int, device: Any) -> tuple[Any, ...]:
        """Module, function, registers per thread, bytes spilled, and most threads of a block."""
        return name, name, registers(cubin), 0, MAX_THREADS

    def unload_module(self, module: Any) -> None:
        """There is nothing to unload."""


class EmulatorDriver:
    """The driver that Triton sees. There are no times: its benchmarks give the order of calls."""

    def __init__(self, arch: int) -> None:
        self.arch, self.utils = arch, EmulatedDevice()

    def get_current_target(self) -> Any:
        """The target of all kernels."""
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.arch, WARP)

    def get_current_device(self) -> str:
        """A key of Triton's caches that no GPU has."""
        return f"emulator of sm_{self.arch}"

    def set_current_device(self, device: Any) -> None:
        """There is one device."""

    def get_current_stream(self, device: Any = None) -> int:
        """Launches run one after another."""
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """(9, 0) for sm_90."""
        return divmod(self.arch, 10)

    def get_active_torch_device(self) -> Any:
        """PyTorch's CPU, whose tensors kernels take."""
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        """PyTorch's module for this device."""
        import torch

        return torch.cpu

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """A function that makes the call it should time, once."""
        return called_once

    def get_empty_cache_for_benchmark(self) -> None:
        """There is no cache."""

    def clear_cache(self, cache: Any) -> None:
        """There is no cache."""

    def launcher_cls(self, source: Any, metadata: Any) -> None:
        """No launcher: it needs more of the kernel than these (see :func:`_init_handles`)."""

    def map_python_to_cpp_type(self, kind: str) -> str:
        """Triton's own name, since no C++ is written."""
        return kind


def called_once(call: Callable[[], Any], quantiles: Any = (0.5, 0.2, 0.8), **_: Any) -> list[float]:
    """Instead of a benchmark: one call, and times that mean nothing."""
    call()
    return [0.0] * len(quantiles or (0,))


def timeless(call: Callable[[], Any], *_: Any, quantiles: Any = None, **__: Any) -> Any:
    """Instead of ``triton.testing.do_bench``: one call, and NaN for its time."""
    call()
    return [math.nan] * len(quantiles) if quantiles else math.nan


def registers(cubin: bytes) -> int:
    """The registers of a thread, which ptxas notes in the section .nv.info, or 0.

    An entry there has a format, a kind, the bytes of its value, and the value: here the number of
    a function's symbol, and the function's registers.
    """
    if cubin[:4] != b"\x7fELF":
        return 0
    table = struct.unpack_from("<Q", cubin, 40)[0]
    size, count, names_at = struct.unpack_from("<HHH", cubin, 58)
    sections = [_ELF_SECTION.unpack_from(cubin, table + n * size) for n in range(count)]
    names, found = sections[names_at][4], 0
    for name, _, _, _, start, length, *_ in sections:
        if cubin[names + name :].startswith(b".nv.info\0"):
            at = start
            while at < start + length:
                kind, entry, value_bytes = struct.unpack_from("<BBH", cubin, at)
                if entry == _REGISTERS:
                    found = max(found, struct.unpack_from("<I", cubin, at + 8)[0])
                at += 4 + (value_bytes if kind == _SIZED else 0)
    return int(found)
