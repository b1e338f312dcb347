"""Algorithms of CUB, called from C++ as its users call them; ``cub.cu`` is compiled with nvcc once.

A further algorithm is a function of ``cub.cu`` and one line here.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from ctypes import byref, c_int, c_size_t, c_void_p
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
    return _library("DeviceReduce::Sum", "sum_fp32", x, lambda: cp.empty(1, cp.float32))


def histogram_of_bytes(x: Any) -> dict[str, Callable[[], Any]]:
    """How often each byte value occurs in ``x``, 256 counts."""
    name = "DeviceHistogram::HistogramEven"
    return _library(name, "histogram_of_bytes", x, lambda: cp.empty(256, cp.int32))


def _library(
    name: str, function: str, x: Any, out: Callable[[], Any]
) -> dict[str, Callable[[], Any]]:
    return {f"CUB {name}": _Call(function, x, out())} if available() else {}


class _Call:
    """One algorithm on its arrays; the first call compiles it and allocates what it needs."""

    def __init__(self, function: str, x: Any, out: Any) -> None:
        self._function, self._x, self._out = function, x, out
        self._temporary: Any = None

    def __call__(self) -> Any:
        if self._temporary is None:
            needed = c_size_t()
            self._call(None, needed)  # computes nothing yet
            self._temporary = cp.empty(max(1, needed.value), cp.uint8)
        self._call(self._temporary.data.ptr, c_size_t(self._temporary.size))
        return self._out

    def _call(self, temporary: int | None, size: c_size_t) -> None:
        function = getattr(_compiled(), self._function)
        function.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_void_p]
        stream = cp.cuda.get_current_stream().ptr
        x, out = self._x, self._out
        error = function(temporary, byref(size), x.data.ptr, out.data.ptr, x.size, stream)
        if error:
            raise LessonError(f"CUB's {self._function}: CUDA answers with error {error}")


@cache
def _compiled() -> ctypes.CDLL:
    """``cub.cu`` for this machine's GPU, in a file that lives only until it is loaded."""
    arch = f"sm_{cp.cuda.Device().compute_capability}"
    with tempfile.TemporaryDirectory() as folder:
        return ctypes.CDLL(str(compile_for(arch, Path(folder))))


def compile_for(arch: str, folder: Path) -> Path:
    """The shared library of ``cub.cu`` for ``arch``; raises LessonError where nvcc fails."""
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
