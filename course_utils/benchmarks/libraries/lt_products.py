"""A matrix product put to cuBLASLt: its opaque types filled, its list of algorithms, its call."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_int8, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any

from ...errors import LessonError
from .cublas_library import (
    OP_N,
    OP_T,
    R_32I,
    TYPES,
    WORKSPACE_BYTES,
    checked,
    cublas_libraries,
    lt_handle,
    stream,
    workspace,
)

# cublasLtMatmulDescAttributes_t
TRANSA, TRANSB, EPILOGUE, BIAS_POINTER, AUX_POINTER, AUX_LD = 3, 4, 7, 8, 11, 12
FAST_ACCUM = 25
MAX_WORKSPACE_BYTES = 1  # cublasLtMatmulPreferenceAttributes_t
CONFIG = {"algorithm": 0, "tile": 1, "split K": 2, "stages": 6}  # cublasLtMatmulAlgoConfig...
EPILOGUES = {  # cublasLtEpilogue_t
    "": 1,
    "relu": 2,
    "bias": 4,
    "relu bias": 6,
    "gelu": 32,
    "gelu bias": 36,
    "relu mask bias": 134,
}
ALGORITHMS = 64  # asked for: the list has fewer


class Algorithm(ctypes.Structure):
    """``cublasLtMatmulAlgo_t``: one way to compute a product."""

    _fields_ = [("data", c_uint64 * 8)]


class HeuristicResult(ctypes.Structure):
    """``cublasLtMatmulHeuristicResult_t``: an algorithm, and its needs."""

    _fields_ = [
        ("algorithm", Algorithm),
        ("workspace_bytes", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]

    def configuration(self) -> dict[str, int]:
        """Which algorithm it is, and its tile, split of K and stages, as ``cublasLt.h`` numbers
        them."""
        get = cublas_libraries()[1].cublasLtMatmulAlgoConfigGetAttribute
        values = {}
        for name, attribute in CONFIG.items():
            value = c_int32()
            checked(get(byref(self.algorithm), attribute, byref(value), 4, None), name)
            values[name] = value.value
        return values


def column_major(transposed: bool, m: int, n: int, k: int) -> tuple[tuple[int, int, int], ...]:
    """(rows, columns, leading dimension) of B, A and C as the libraries see them.

    They read our rows as columns, so that they compute the transpose of C, with B first.
    """
    return ((k, n, k) if transposed else (n, k, n)), (k, m, k), (n, m, n)


class LtProduct:
    """C = A B for row-major A (m, k) and B: (k, n), or (n, k) with ``transposed``.

    ``kind`` is one of fp32, TF32, fp16, bf16, fp8, int8. ``epilogue``, one of EPILOGUES, is an
    operation on C before it is stored: with a ``bias`` (n numbers of C's type), and with a ``mask``
    (uint8, m rows of n bits, padded to a multiple of 128 bits) that gets a 1 where C was positive.
    """

    def __init__(
        self,
        kind: str,
        m: int,
        n: int,
        k: int,
        *,
        transposed: bool = False,
        epilogue: str = "",
        bias: Any = None,
        mask: Any = None,
    ) -> None:
        types, (_, lt) = TYPES[kind], cublas_libraries()
        number = c_int32 if types.scale == R_32I else c_float
        self._one, self._zero = number(1), number(0)
        self._kept = bias, mask  # as long as the description holds their addresses
        self._operation = c_void_p()
        made = lt.cublasLtMatmulDescCreate(byref(self._operation), types.compute, types.scale)
        checked(made, "cublasLtMatmulDescCreate")
        self._set(TRANSA, c_int32(OP_T if transposed else OP_N))
        self._set(TRANSB, c_int32(OP_N))
        self._set(EPILOGUE, c_int32(EPILOGUES[epilogue]))
        if bias is not None:
            self._set(BIAS_POINTER, c_void_p(bias.data.ptr))
        if mask is not None:
            self._set(AUX_POINTER, c_void_p(mask.data.ptr))
            self._set(AUX_LD, c_int64(8 * mask.shape[1]))
        dtypes = types.factors, types.factors, types.result
        layouts = zip(dtypes, column_major(transposed, m, n, k), strict=True)
        self._matrices = [_matrix(*each) for each in layouts]
        weakref.finalize(self, _destroy, self._operation, self._matrices).atexit = False

    def algorithms(self, workspace_bytes: int = WORKSPACE_BYTES) -> list[HeuristicResult]:
        """cuBLASLt's heuristic list, best guess first: those that need no larger workspace."""
        _, lt = cublas_libraries()
        preference, count = c_void_p(), c_int()
        checked(lt.cublasLtMatmulPreferenceCreate(byref(preference)), "cuBLASLt's preference")
        most = c_uint64(workspace_bytes)
        status = lt.cublasLtMatmulPreferenceSetAttribute(
            preference, MAX_WORKSPACE_BYTES, byref(most), 8
        )
        checked(status, "cuBLASLt's workspace")
        results = (HeuristicResult * ALGORITHMS)()
        of_b, of_a, of_c = self._matrices
        status = lt.cublasLtMatmulAlgoGetHeuristic(
            *(lt_handle(), self._operation, of_b, of_a, of_c, of_c, preference),
            *(ALGORITHMS, results, byref(count)),
        )
        lt.cublasLtMatmulPreferenceDestroy(preference)
        checked(status, "cublasLtMatmulAlgoGetHeuristic")
        return [found for found in results[: count.value] if found.state == 0]

    def runnable(self, a: Any, b: Any, c: Any, **limit: int) -> Iterator[HeuristicResult]:
        """The algorithms of the list that run. Each was run once."""
        for found in self.algorithms(**limit):
            try:
                self.run(found, a, b, c)
            except LessonError:  # listed, but not for these pointers
                continue
            yield found

    def run(self, found: HeuristicResult, a: Any, b: Any, c: Any) -> None:
        """C by one algorithm of the list."""
        of_b, of_a, of_c = self._matrices
        status = cublas_libraries()[1].cublasLtMatmul(
            *(lt_handle(), self._operation),
            *(byref(self._one), b.data.ptr, of_b, a.data.ptr, of_a),
            *(byref(self._zero), c.data.ptr, of_c, c.data.ptr, of_c),
            *(byref(found.algorithm), workspace().data.ptr, WORKSPACE_BYTES, stream()),
        )
        checked(status, "cublasLtMatmul")

    def _set(self, attribute: int, value: Any) -> None:
        set_attribute = cublas_libraries()[1].cublasLtMatmulDescSetAttribute
        status = set_attribute(self._operation, attribute, byref(value), ctypes.sizeof(value))
        checked(status, f"cublasLtMatmulDescSetAttribute {attribute}")


class Fp8Product(LtProduct):
    """The same for ``kind`` fp8 (e4m3), summed by the tensor cores alone: otherwise cuBLASLt adds
    up partial sums at full width, which takes longer."""

    def __init__(self, *problem: Any, **more: Any) -> None:
        super().__init__(*problem, **more)
        self._set(FAST_ACCUM, c_int8(1))


def _matrix(dtype: int, layout: tuple[int, int, int]) -> c_void_p:
    made = c_void_p()
    create = cublas_libraries()[1].cublasLtMatrixLayoutCreate
    checked(create(byref(made), dtype, *layout), "cublasLtMatrixLayoutCreate")
    return made


def _destroy(operation: c_void_p, matrices: list[c_void_p]) -> None:
    _, lt = cublas_libraries()
    lt.cublasLtMatmulDescDestroy(operation)
    for matrix in matrices:
        lt.cublasLtMatrixLayoutDestroy(matrix)
