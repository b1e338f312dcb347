"""Matrix products by cuBLAS, typed as the course's kernels are, and by cuBLASLt's best."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_float, c_int32
from functools import cache, partial
from statistics import median
from typing import Any

from ...devices.selection import ON_GPU, cp
from ...observing.timing import bench
from .cublas_library import OP_N, OP_T, R_32I, TYPES, checked, cublas_libraries, handle_for, stream
from .lt_products import Fp8Product, HeuristicResult, LtProduct, column_major

GEMM_DEFAULT = -1  # cublasGemmAlgo_t
ROUNDS = 5  # in which the algorithms of the list take turns


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
        _problem(*problem).gemm(a, b, c)
        return c

    def best() -> Any:
        _problem(*problem).matmul(a, b, c)
        return c

    typed_call = {} if kind == "fp8" else {f"cuBLAS {kind} ({layout})": typed}
    return typed_call | {f"cuBLASLt {kind} ({layout})": best}


def with_bias(
    kind: str, epilogue: str, a: Any, b: Any, bias: Any, out: Callable[[], Any]
) -> dict[str, Callable[[], Any]]:
    """C = f(A B^T + bias) by cuBLASLt's best, for an ``epilogue`` of EPILOGUES with a bias."""
    if not ON_GPU:
        return {}
    c = out()
    product = LtProduct(
        kind, len(a), len(b), a.shape[1], transposed=True, epilogue=epilogue, bias=bias
    )
    best: list[HeuristicResult] = []  # looked for by the first call

    def run() -> Any:
        if not best:
            best.append(_fastest(product, a, b, c))
        product.run(best[0], a, b, c)
        return c

    return {f"cuBLASLt {kind} (NT), {epilogue}": run}


def vector_products(a: Any, x: Any, *, transposed: bool = False) -> dict[str, Callable[[], Any]]:
    """y = A x, or A^T x, for a row-major fp32 ``a`` (M, K): by cuBLAS's sgemv, and by cuBLASLt as a
    product with a matrix of one column, or of one row."""
    if not ON_GPU:
        return {}
    rows, columns = a.shape
    y, one, zero = cp.empty(columns if transposed else rows, cp.float32), c_float(1), c_float(0)

    def sgemv() -> Any:
        status = cublas_libraries()[0].cublasSgemv_v2(  # it reads our rows as columns
            *(handle_for(stream()), OP_N if transposed else OP_T, columns, rows),
            *(byref(one), a.data.ptr, columns, x.data.ptr, 1, byref(zero), y.data.ptr, 1),
        )
        checked(status, "cublasSgemv")
        return y

    factors = (x.reshape(1, -1), a) if transposed else (a, x.reshape(-1, 1))
    shape = (1, columns) if transposed else (rows, 1)
    as_matrices = products("fp32", *factors, lambda: cp.empty(shape, cp.float32))
    best = as_matrices["cuBLASLt fp32 (NN)"]
    return {"cuBLAS sgemv": sgemv, "cuBLASLt fp32": lambda: best().reshape(-1)}


@cache
def _problem(kind: str, transposed: bool, m: int, n: int, k: int) -> _Problem:
    """One object and one search per problem: every rung of a ladder shares it."""
    return _Problem(kind, transposed, m, n, k)


class _Problem:
    """How one problem is put to both libraries."""

    def __init__(self, kind: str, transposed: bool, m: int, n: int, k: int) -> None:
        self._types, self._size = TYPES[kind], (m, n, k)
        self._first = OP_T if transposed else OP_N
        self._leading = [each[2] for each in column_major(transposed, m, n, k)]
        number = c_int32 if self._types.scale == R_32I else c_float
        self._one, self._zero = number(1), number(0)
        self._lt = (Fp8Product if kind == "fp8" else LtProduct)(
            kind, m, n, k, transposed=transposed
        )
        self._best: HeuristicResult | None = None

    def gemm(self, a: Any, b: Any, c: Any) -> None:
        """C by ``cublasGemmEx``."""
        m, n, k = self._size
        types, (ldb, lda, ldc) = self._types, self._leading
        status = cublas_libraries()[0].cublasGemmEx(
            *(handle_for(stream()), self._first, OP_N, n, m, k),
            *(byref(self._one), b.data.ptr, types.factors, ldb),
            *(a.data.ptr, types.factors, lda),
            *(byref(self._zero), c.data.ptr, types.result, ldc),
            *(types.compute, GEMM_DEFAULT),
        )
        checked(status, "cublasGemmEx")

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """C by the fastest algorithm of cuBLASLt's list, which the first call looks for."""
        if self._best is None:
            self._best = _fastest(self._lt, a, b, c)
        self._lt.run(self._best, a, b, c)


def _fastest(product: LtProduct, a: Any, b: Any, c: Any) -> HeuristicResult:
    """The algorithm of the product's list with the least median time."""
    candidates = list(product.runnable(a, b, c))
    times: list[list[float]] = [[] for _ in candidates]
    for _ in range(ROUNDS):  # the clock goes up and down: none has all its runs at once
        for found, taken in zip(candidates, times, strict=True):
            run = partial(product.run, found, a, b, c)
            taken += bench(run, warmup=1, repeats=3).times_ms
    medians = list(map(median, times))
    return candidates[medians.index(min(medians))]
