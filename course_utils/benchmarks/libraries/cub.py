"""Algorithms of CUB, called from C++ as its users call them. ``cub.cu`` is compiled with nvcc once.

A further algorithm is a function of ``cub.cu`` and one line here.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from ...devices.selection import ON_GPU, cp
from ...errors import LessonError

SOURCE = Path(__file__).with_suffix(".cu")
COMPILE_SECONDS = 300


def available() -> bool:
    """Whether CUB can be measured: on a GPU, with nvcc on the PATH."""
    return ON_GPU and shutil.which("nvcc") is not None


def sum_fp32(x: Any) -> dict[str, Callable[[], Any]]:
    """The sum of fp32 ``x``, as one number in an array."""
    return _library(
        "DeviceReduce::Sum", "sum_fp32", x.size, lambda: _to(cp.empty(1, cp.float32), x)
    )


def histogram_of_bytes(x: Any) -> dict[str, Callable[[], Any]]:
    """How often each byte value occurs in ``x``, 256 counts."""
    name = "DeviceHistogram::HistogramEven"
    return _library(name, "histogram_of_bytes", x.size, lambda: _to(cp.empty(256, cp.int32), x))


def scan_fp32(x: Any) -> dict[str, Callable[[], Any]]:
    """The running sums of fp32 ``x``."""
    return _library(
        "DeviceScan::InclusiveSum", "scan_fp32", x.size, lambda: _to(cp.empty_like(x), x)
    )


def select_above(x: Any, limit: float, kept: int) -> dict[str, Callable[[], Any]]:
    """The elements of fp32 ``x`` that are greater than ``limit``, ``kept`` of them."""

    def arrays() -> tuple[Any, ...]:
        out, count = cp.empty_like(x), cp.empty(1, cp.uint32)
        return x, out, count, c_float(limit), out[:kept]

    return _library("DeviceSelect::If", "select_above", x.size, arrays)


def sort_keys(keys: Any) -> dict[str, Callable[[], Any]]:
    """The uint32 ``keys`` in ascending order."""
    return _library(
        "DeviceRadixSort::SortKeys",
        "sort_keys",
        keys.size,
        lambda: _to(cp.empty_like(keys), keys),
    )


def sort_pairs(keys: Any, values: Any) -> dict[str, Callable[[], Any]]:
    """The 32-bit ``values`` that go with uint32 ``keys``, in the ascending order of these."""

    def arrays() -> tuple[Any, ...]:
        out = cp.empty_like(values)
        return keys, cp.empty_like(keys), values, out, out

    return _library("DeviceRadixSort::SortPairs", "sort_pairs", keys.size, arrays)


def _to(out: Any, x: Any) -> tuple[Any, ...]:
    return x, out, out


def _library(
    name: str, function: str, n: int, arrays: Callable[[], tuple[Any, ...]]
) -> dict[str, Callable[[], Any]]:
    """``arrays()`` are the function's arguments between temporary storage and n, the result
    last."""
    return {f"CUB {name}": _CubCall(function, n, *arrays())} if available() else {}


class _CubCall:
    """One algorithm on its arrays. The first call compiles it and allocates its storage."""

    def __init__(self, function: str, n: int, *arguments: Any) -> None:
        self._function, self._n = function, n
        *self._given, self._out = arguments
        self._temporary: Any = None

    def __call__(self) -> Any:
        if self._temporary is None:
            needed = c_size_t()
            self._call(None, needed)  # computes nothing yet
            self._temporary = cp.empty(max(1, needed.value), cp.uint8)
        self._call(self._temporary.data.ptr, c_size_t(self._temporary.size))
        return self._out

    def _call(self, temporary: int | None, size: c_size_t) -> None:
        given = [x if isinstance(x, c_float) else c_void_p(x.data.ptr) for x in self._given]
        stream = c_void_p(cp.cuda.get_current_stream().ptr)
        error = getattr(_compiled(), self._function)(
            c_void_p(temporary), byref(size), *given, c_int(self._n), stream
        )
        if error:
            raise LessonError(f"CUB's {self._function}: CUDA answers with error {error}")


@cache
def _compiled() -> ctypes.CDLL:
    """``cub.cu`` for this machine's GPU, in a file that lives only until it is loaded."""
    arch = f"sm_{cp.cuda.Device().compute_capability}"
    with tempfile.TemporaryDirectory() as folder:
        return ctypes.CDLL(str(compile_for(arch, Path(folder))))


def compile_for(arch: str, folder: Path) -> Path:
    """The shared library of ``cub.cu`` for ``arch``. Raises LessonError where nvcc fails."""
    library = folder / "cub.so"
    flags = "-O3", "-std=c++17", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC"
    done = subprocess.run(
        ["nvcc", *flags, str(SOURCE), "-o", str(library)],
        capture_output=True,
        text=True,
        timeout=COMPILE_SECONDS,
    )
    if done.returncode:
        raise LessonError(f"nvcc cannot compile {SOURCE.name}:\n{done.stdout}{done.stderr}")
    return library
