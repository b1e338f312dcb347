"""Plans of cuFFT by ctypes: inputs that overlap in the layout alone, and callbacks that cuFFT links
into its kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from ...devices.selection import cp
from ...errors import LessonError

TYPES = {"R2C": 0x2A, "C2R": 0x2C}  # of cufftType
LOAD_COMPLEX, STORE_REAL = 0, 6  # of cufftXtCallbackType


@dataclass(frozen=True)
class Callback:
    """The device function ``name`` of ``code``, which a plan calls where it loads or stores
    (``where``) with the address of ``info``. Its name is one of C++: not extern "C"."""

    name: str
    code: str
    where: int
    info: Any
    defines: Mapping[str, int] = field(default_factory=dict)


class CufftPlan:
    """``batch`` transforms of ``points`` points, ``there`` elements from one to the next of the
    input and ``back`` of the output, smaller than a transform where inputs overlap.

    Raises LessonError where there is no cuFFT, or where it cannot make the plan.
    """

    def __init__(
        self,
        kind: str,
        points: int,
        batch: int,
        there: int,
        back: int,
        callbacks: tuple[Callback, ...] = (),
    ) -> None:
        self._plan, size = ctypes.c_int(), ctypes.c_size_t()
        _call("Create", ctypes.byref(self._plan))
        self._kept = [self._set(callback) for callback in callbacks]
        n = (ctypes.c_int * 1)(points)  # also for the extents, which one axis makes no use of
        layouts = n, 1, there, n, 1, back
        _call("MakePlanMany", self._plan, 1, n, *layouts, TYPES[kind], batch, ctypes.byref(size))
        stream = cp.cuda.get_current_stream().ptr
        _call("SetStream", self._plan, ctypes.c_void_p(stream))
        self._execute = getattr(_library(), f"cufftExec{kind}")

    def _set(self, callback: Callback) -> tuple[Any, ...]:
        """Set it. Returns the objects that have to live until the plan is made, and as long as it
        is used."""
        name, code = callback.name.encode(), _ltoir(callback.code, tuple(callback.defines.items()))
        info = ctypes.c_void_p(callback.info.data.ptr)
        size = ctypes.c_size_t(len(code))
        where = callback.where
        _call("XtSetJITCallback", self._plan, name, code, size, where, ctypes.byref(info))
        return name, code, info, callback

    def __call__(self, source: Any, target: Any) -> None:
        pointers = (ctypes.c_void_p(array.data.ptr) for array in (source, target))
        if self._execute(self._plan, *pointers):
            raise LessonError("cuFFT could not execute a plan.")

    def __del__(self) -> None:
        _library().cufftDestroy(self._plan)


@cache
def _ltoir(code: str, defines: tuple[tuple[str, int], ...]) -> bytes:
    """``code`` in the intermediate representation of link-time optimisation, for this GPU."""
    core = import_module("cuda.core")
    options = core.ProgramOptions(
        arch=f"sm_{cp.cuda.Device().compute_capability}",
        relocatable_device_code=True,
        link_time_optimization=True,
        define_macro=[(name, str(value)) for name, value in defines],
    )
    return bytes(core.Program(code, "c++", options).compile("ltoir").code)


@cache
def _library() -> ctypes.CDLL:
    """libcufft, wherever it is. Raises LessonError where there is none."""
    try:
        found = import_module("cuda.pathfinder").load_nvidia_dynamic_lib("cufft")
    except (ImportError, RuntimeError) as error:
        raise LessonError(f"cuFFT is not installed: {error}") from None
    return ctypes.CDLL(found.abs_path)


def _call(name: str, *arguments: Any) -> None:
    """``cufft<name>(*arguments)``. Raises LessonError where its status is not 0."""
    if status := getattr(_library(), f"cufft{name}")(*arguments):
        raise LessonError(f"cufft{name} answers with status {status} of cufftResult in cufft.h.")
