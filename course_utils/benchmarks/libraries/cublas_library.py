"""cuBLAS and cuBLASLt through ctypes: the files found and opened, the status of a call in words.

The numbers of enumerations come from ``library_types.h``, ``cublas_api.h`` and ``cublasLt.h`` of
CUDA 12 and 13.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...devices.selection import ON_GPU, cp
from ...errors import LessonError
from ..harness.torch_runs import torch_on_gpu

R_32F, R_16F, R_8I, R_32I, R_16BF, R_8F_E4M3 = 0, 2, 3, 10, 14, 28  # cudaDataType_t
COMPUTE_32F, COMPUTE_32I, COMPUTE_32F_FAST_TF32 = 68, 72, 77  # cublasComputeType_t
OP_N, OP_T = 0, 1  # cublasOperation_t

WORKSPACE_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Types:
    """The types of the factors, of the result, and of the sums with alpha and beta."""

    factors: int
    result: int
    compute: int
    scale: int = R_32F


TYPES = {
    "fp32": Types(R_32F, R_32F, COMPUTE_32F),
    "TF32": Types(R_32F, R_32F, COMPUTE_32F_FAST_TF32),
    "fp16": Types(R_16F, R_32F, COMPUTE_32F),
    "bf16": Types(R_16BF, R_16BF, COMPUTE_32F),
    "fp8": Types(R_8F_E4M3, R_16BF, COMPUTE_32F),  # by cuBLASLt alone
    "int8": Types(R_8I, R_32I, COMPUTE_32I, scale=R_32I),
}


@cache
def cublas_libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """(libcublas, libcublasLt), those that PyTorch or CuPy have loaded where they have.

    Their functions take integers for C's int. Those that take an address or a count of 64
    bits have ``argtypes`` where the course calls them. Elsewhere wrap such a value: ``c_void_p``.
    Raises LessonError where there is no GPU, or no such file.
    """
    if not ON_GPU:
        raise LessonError("cuBLAS runs on a GPU: without one there is nothing to call.")
    torch_on_gpu()  # loads its own
    major = cp.cuda.runtime.runtimeGetVersion() // 1000  # CuPy's
    lt, blas = opened(f"libcublasLt.so.{major}"), opened(f"libcublas.so.{major}")
    blas.cublasGetStatusName.restype = blas.cublasGetStatusString.restype = c_char_p
    blas.cublasCreate_v2.argtypes = [c_void_p]
    blas.cublasSetStream_v2.argtypes = [c_void_p, c_void_p]
    blas.cublasSetWorkspace_v2.argtypes = [c_void_p, c_void_p, c_size_t]
    blas.cublasGemmEx.argtypes = [
        *(c_void_p, c_int, c_int, c_int, c_int, c_int),
        *(c_void_p, c_void_p, c_int, c_int, c_void_p, c_int, c_int),
        *(c_void_p, c_void_p, c_int, c_int, c_int, c_int),
    ]
    blas.cublasSgemv_v2.argtypes = [
        *(c_void_p, c_int, c_int, c_int, c_void_p),
        *(c_void_p, c_int, c_void_p, c_int, c_void_p, c_void_p, c_int),
    ]
    lt.cublasLtGetVersion.restype = c_size_t
    lt.cublasLtCreate.argtypes = [c_void_p]
    lt.cublasLtMatmulDescCreate.argtypes = [c_void_p, c_int, c_int]
    lt.cublasLtMatmulDescDestroy.argtypes = [c_void_p]
    lt.cublasLtMatmulDescSetAttribute.argtypes = [c_void_p, c_int, c_void_p, c_size_t]
    lt.cublasLtMatrixLayoutCreate.argtypes = [c_void_p, c_int, c_uint64, c_uint64, c_int64]
    lt.cublasLtMatrixLayoutDestroy.argtypes = [c_void_p]
    lt.cublasLtMatmulPreferenceCreate.argtypes = [c_void_p]
    lt.cublasLtMatmulPreferenceDestroy.argtypes = [c_void_p]
    lt.cublasLtMatmulPreferenceSetAttribute.argtypes = [c_void_p, c_int, c_void_p, c_size_t]
    lt.cublasLtMatmulAlgoGetHeuristic.argtypes = [
        *(c_void_p,) * 7,
        *(c_int, c_void_p, c_void_p),
    ]
    lt.cublasLtMatmulAlgoConfigGetAttribute.argtypes = [
        *(c_void_p, c_int, c_void_p, c_size_t, c_void_p),
    ]
    lt.cublasLtMatmul.argtypes = [*(c_void_p,) * 14, c_size_t, c_void_p]
    return blas, lt


def version() -> int | None:
    """cuBLAS's version, such as 130100, None where there is no GPU or no cuBLAS."""
    try:
        return cublas_libraries()[1].cublasLtGetVersion() if ON_GPU else None
    except LessonError:
        return None


def checked(status: int, what: str) -> None:
    """Raise a LessonError with the ``status`` of ``what`` in words, unless it is success."""
    if status:
        blas, _ = cublas_libraries()
        name, words = blas.cublasGetStatusName(status), blas.cublasGetStatusString(status)
        raise LessonError(f"{what}: {words.decode()} ({name.decode()}, status {status})")


def stream() -> int:
    """The address of CuPy's current stream."""
    pointer: int = cp.cuda.get_current_stream().ptr
    return pointer


@cache
def workspace() -> Any:
    """The course's one workspace, for whichever product runs."""
    return cp.empty(WORKSPACE_BYTES, cp.uint8)


@cache
def lt_handle() -> c_void_p:
    """The course's one handle of cuBLASLt. Raises LessonError where it can't be created."""
    handle = c_void_p()
    checked(cublas_libraries()[1].cublasLtCreate(byref(handle)), "cublasLtCreate")
    return handle


@cache
def handle_for(on_stream: int) -> c_void_p:
    """A handle of cuBLAS for a stream, with the workspace that cuBLASLt has too."""
    blas, handle = cublas_libraries()[0], c_void_p()
    checked(blas.cublasCreate_v2(byref(handle)), "cublasCreate")
    # In this order: setting the stream takes the workspace away.
    checked(blas.cublasSetStream_v2(handle, on_stream), "cublasSetStream")
    address = workspace().data.ptr
    checked(blas.cublasSetWorkspace_v2(handle, address, WORKSPACE_BYTES), "cublasSetWorkspace")
    return handle


def opened(file: str) -> ctypes.CDLL:
    """A library by its file's name: one loaded already, a wheel's, or the toolkit's. Raises
    LessonError where there is none."""
    for place in (file, *map(str, _places(file))):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise LessonError(f"There is no {file}: neither in a wheel nor in a toolkit.")


def _places(file: str) -> Iterator[Path]:
    packages = Path(cp.__file__).parent.parent
    yield from packages.glob(f"nvidia/*/lib/{file}")
    yield from Path("/usr/local").glob(f"cuda*/lib64/{file}")
