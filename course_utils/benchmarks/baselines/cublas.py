"""Matrix products by cuBLAS, typed as the course's kernels are, and by the best of cuBLASLt's list.

The numbers of enumerations and the layout of structures are those of ``library_types.h``,
``cublas_api.h`` and ``cublasLt.h`` of CUDA 12 and 13.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from ctypes import POINTER, byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

from ...devices.selection import ON_GPU, cp
from ...errors import LessonError
from ...observing.timing import bench
from ..case import torch_on_gpu

R_32F, R_16F, R_8I, R_32I, R_16BF = 0, 2, 3, 10, 14  # cudaDataType_t
COMPUTE_32F, COMPUTE_32I, COMPUTE_32F_FAST_TF32 = 68, 72, 77  # cublasComputeType_t
OP_N, OP_T = 0, 1  # cublasOperation_t
GEMM_DEFAULT = -1  # cublasGemmAlgo_t
DESC_TRANSA, DESC_TRANSB = 3, 4  # cublasLtMatmulDescAttributes_t
PREF_MAX_WORKSPACE_BYTES = 1  # cublasLtMatmulPreferenceAttributes_t

WORKSPACE_BYTES = 256 * 2**20
ALGORITHMS = 64  # asked for: the list has fewer
ROUNDS = 5  # in which the algorithms of the list take turns


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
    "int8": Types(R_8I, R_32I, COMPUTE_32I, scale=R_32I),
}


class Algorithm(ctypes.Structure):
    """``cublasLtMatmulAlgo_t``: one way to compute a product."""

    _fields_ = [("data", c_uint64 * 8)]


class HeuristicResult(ctypes.Structure):
    """``cublasLtMatmulHeuristicResult_t``: an algorithm, and what it needs."""

    _fields_ = [
        ("algorithm", Algorithm),
        ("workspace_bytes", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


def products(kind: str, a: Any, b: Any, out: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """C = A B by cuBLAS and cuBLASLt for row-major ``a`` (M, K) and ``b``; ``kind`` of TYPES.

    For fp32 ``b`` is (K, N) and the layout is called NN; for all other kinds it is (N, K),
    transposed, and the layout is called NT. ``out()`` makes an array for C.
    """
    if not ON_GPU:
        return {}
    transposed = kind != "fp32"
    layout = "NT" if transposed else "NN"
    c = out()
    columns = len(b) if transposed else b.shape[1]
    problem = kind, transposed, len(a), columns, a.shape[1]

    def typed() -> Any:
        _plan(*problem).gemm(a, b, c)
        return c

    def best() -> Any:
        _plan(*problem).matmul(a, b, c)
        return c

    return {f"cuBLAS {kind} ({layout})": typed, f"cuBLASLt {kind} ({layout})": best}


def vector_products(a: Any, x: Any, *, transposed: bool = False) -> dict[str, Callable[[], Any]]:
    """y = A x, or A^T x, for a row-major fp32 ``a`` (M, K): by cuBLAS's sgemv, and by cuBLASLt as a
    product with a matrix of one column, or of one row."""
    if not ON_GPU:
        return {}
    rows, columns = a.shape
    y, one, zero = cp.empty(columns if transposed else rows, cp.float32), c_float(1), c_float(0)

    def sgemv() -> Any:
        status = _libraries()[0].cublasSgemv_v2(  # it reads our rows as columns
            *(_handle(_stream()), OP_N if transposed else OP_T, columns, rows),
            *(byref(one), a.data.ptr, columns, x.data.ptr, 1, byref(zero), y.data.ptr, 1),
        )
        _check(status, "cublasSgemv")
        return y

    factors = (x.reshape(1, -1), a) if transposed else (a, x.reshape(-1, 1))
    shape = (1, columns) if transposed else (rows, 1)
    as_matrices = products("fp32", *factors, lambda: cp.empty(shape, cp.float32))
    best = as_matrices["cuBLASLt fp32 (NN)"]
    return {"cuBLAS sgemv": sgemv, "cuBLASLt fp32": lambda: best().reshape(-1)}


def version() -> int | None:
    """cuBLAS's version, such as 130100; None where there is no GPU or no cuBLAS."""
    try:
        return _libraries()[1].cublasLtGetVersion() if ON_GPU else None
    except LessonError:
        return None


def column_major(transposed: bool, m: int, n: int, k: int) -> tuple[tuple[int, int, int], ...]:
    """(rows, columns, leading dimension) of B, A and C as the libraries see them.

    They read our rows as columns, so that they compute the transpose of C, with B first.
    """
    return ((k, n, k) if transposed else (n, k, n)), (k, m, k), (n, m, n)


@cache
def _plan(kind: str, transposed: bool, m: int, n: int, k: int) -> _Plan:
    """One plan a problem, with one search: every rung of a ladder shares it."""
    return _Plan(TYPES[kind], transposed, m, n, k)


class _Plan:
    """How one problem is put to both libraries."""

    def __init__(self, types: Types, transposed: bool, m: int, n: int, k: int) -> None:
        self._types, self._size = types, (m, n, k)
        self._first = OP_T if transposed else OP_N
        self._layouts = column_major(transposed, m, n, k)
        number = c_int32 if types.scale == R_32I else c_float
        self._one, self._zero = number(1), number(0)
        _, lt = _libraries()
        self._operation = c_void_p()
        made = lt.cublasLtMatmulDescCreate(byref(self._operation), types.compute, types.scale)
        _check(made, "cublasLtMatmulDescCreate")
        for attribute, value in ((DESC_TRANSA, self._first), (DESC_TRANSB, OP_N)):
            set_attribute = lt.cublasLtMatmulDescSetAttribute
            _check(set_attribute(self._operation, attribute, byref(c_int32(value)), 4), "transpose")
        dtypes = types.factors, types.factors, types.result
        self._matrices = [_matrix(*each) for each in zip(dtypes, self._layouts, strict=True)]
        self._best: HeuristicResult | None = None

    def gemm(self, a: Any, b: Any, c: Any) -> None:
        """C by ``cublasGemmEx``."""
        m, n, k = self._size
        types, (of_b, of_a, of_c) = self._types, self._layouts
        status = _libraries()[0].cublasGemmEx(
            *(_handle(_stream()), self._first, OP_N, n, m, k),
            *(byref(self._one), b.data.ptr, types.factors, of_b[2]),
            *(a.data.ptr, types.factors, of_a[2]),
            *(byref(self._zero), c.data.ptr, types.result, of_c[2]),
            *(types.compute, GEMM_DEFAULT),
        )
        _check(status, "cublasGemmEx")

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """C by the fastest algorithm of cuBLASLt's list, which the first call looks for."""
        if self._best is None:
            self._best = self._search(a, b, c)
        self._run(self._best, a, b, c)

    def _run(self, found: HeuristicResult, a: Any, b: Any, c: Any) -> None:
        of_b, of_a, of_c = self._matrices
        status = _libraries()[1].cublasLtMatmul(
            *(_lt_handle(), self._operation),
            *(byref(self._one), b.data.ptr, of_b, a.data.ptr, of_a),
            *(byref(self._zero), c.data.ptr, of_c, c.data.ptr, of_c),
            *(byref(found.algorithm), _workspace().data.ptr, WORKSPACE_BYTES, _stream()),
        )
        _check(status, "cublasLtMatmul")

    def _search(self, a: Any, b: Any, c: Any) -> HeuristicResult:
        """The algorithm of the list with the least median time."""
        candidates = list(self._runnable(a, b, c))
        times: list[list[float]] = [[] for _ in candidates]
        for _ in range(ROUNDS):  # the clock goes up and down: none has all its runs at once
            for found, taken in zip(candidates, times, strict=True):
                run = partial(self._run, found, a, b, c)
                taken += bench(run, warmup=1, repeats=3).times_ms
        medians = list(map(median, times))
        return candidates[medians.index(min(medians))]

    def _runnable(self, a: Any, b: Any, c: Any) -> Iterator[HeuristicResult]:
        for found in self._list():
            try:
                self._run(found, a, b, c)
            except LessonError:  # listed, but not for these pointers
                continue
            yield found

    def _list(self) -> list[HeuristicResult]:
        """cuBLASLt's heuristic list, best guess first."""
        _, lt = _libraries()
        preference, count = c_void_p(), c_int()
        _check(lt.cublasLtMatmulPreferenceCreate(byref(preference)), "cuBLASLt's preference")
        most = c_uint64(WORKSPACE_BYTES)
        status = lt.cublasLtMatmulPreferenceSetAttribute(
            preference, PREF_MAX_WORKSPACE_BYTES, byref(most), 8
        )
        _check(status, "cuBLASLt's workspace")
        results = (HeuristicResult * ALGORITHMS)()
        of_b, of_a, of_c = self._matrices
        status = lt.cublasLtMatmulAlgoGetHeuristic(
            *(_lt_handle(), self._operation, of_b, of_a, of_c, of_c, preference),
            *(ALGORITHMS, results, byref(count)),
        )
        lt.cublasLtMatmulPreferenceDestroy(preference)
        _check(status, "cublasLtMatmulAlgoGetHeuristic")
        return [found for found in results[: count.value] if found.state == 0]


def _matrix(dtype: int, layout: tuple[int, int, int]) -> c_void_p:
    made = c_void_p()
    create = _libraries()[1].cublasLtMatrixLayoutCreate
    _check(create(byref(made), dtype, *layout), "cublasLtMatrixLayoutCreate")
    return made


def _stream() -> int:
    return cp.cuda.get_current_stream().ptr


@cache
def _workspace() -> Any:
    return cp.empty(WORKSPACE_BYTES, cp.uint8)


@cache
def _lt_handle() -> c_void_p:
    handle = c_void_p()
    _check(_libraries()[1].cublasLtCreate(byref(handle)), "cublasLtCreate")
    return handle


@cache
def _handle(stream: int) -> c_void_p:
    """A handle of cuBLAS for ``stream``, with the workspace that cuBLASLt has too."""
    blas, handle = _libraries()[0], c_void_p()
    _check(blas.cublasCreate_v2(byref(handle)), "cublasCreate")
    # In this order: setting the stream takes the workspace away.
    _check(blas.cublasSetStream_v2(handle, stream), "cublasSetStream")
    workspace = _workspace().data.ptr
    _check(blas.cublasSetWorkspace_v2(handle, workspace, WORKSPACE_BYTES), "cublasSetWorkspace")
    return handle


def _check(status: int, what: str) -> None:
    if status:
        raise LessonError(f"{what}: cuBLAS answers with status {status}")


@cache
def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """(libcublas, libcublasLt), those that PyTorch or CuPy have loaded where they have."""
    torch_on_gpu()  # loads its own
    lt, blas = _load("cublasLt"), _load("cublas")
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
    lt.cublasLtMatmulDescSetAttribute.argtypes = [c_void_p, c_int, c_void_p, c_size_t]
    lt.cublasLtMatrixLayoutCreate.argtypes = [c_void_p, c_int, c_uint64, c_uint64, c_int64]
    lt.cublasLtMatmulPreferenceCreate.argtypes = [c_void_p]
    lt.cublasLtMatmulPreferenceDestroy.argtypes = [c_void_p]
    lt.cublasLtMatmulPreferenceSetAttribute.argtypes = [c_void_p, c_int, c_void_p, c_size_t]
    lt.cublasLtMatmulAlgoGetHeuristic.argtypes = [
        *(c_void_p,) * 7,
        *(c_int, POINTER(HeuristicResult), c_void_p),
    ]
    lt.cublasLtMatmul.argtypes = [*(c_void_p,) * 14, c_size_t, c_void_p]
    return blas, lt


def _load(name: str) -> ctypes.CDLL:
    """The library of CuPy's CUDA version: one loaded already, a wheel's, or the toolkit's."""
    file = f"lib{name}.so.{cp.cuda.runtime.runtimeGetVersion() // 1000}"
    for place in (file, *map(str, _places(file))):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise LessonError(f"There is no {file} to compare with: neither in a wheel nor in a toolkit.")


def _places(file: str) -> Iterator[Path]:
    packages = Path(cp.__file__).parent.parent
    yield from packages.glob(f"nvidia/*/lib/{file}")
    yield from Path("/usr/local").glob(f"cuda*/lib64/{file}")
