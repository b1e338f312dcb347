"""The benchmarks of chapter 06: a matrix times a vector beside cuBLAS, softmax beside PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ..harness.arrays import double, normal, softmax_of
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels
from ..harness.torch_runs import Runs, as_tensors, compiled, torch_on_gpu
from ..harness.workload import KernelCall, Workload
from ..libraries import cublas, rivals

CHAPTER = ChapterKernels("06_matmul_and_fft")
MatrixSize = tuple[int, int]  # rows, columns


# --- y = A x ---

GEMV_SIZES = (4096, 4096), (8192, 8192), (16384, 16384)
ROWS_OF_A_BLOCK = {"gemv_thread": 256, "gemv_warp": 8, "gemv_vector": 8, "gemv_in_flight": 8}


def _gemv(name: str) -> Callable[[MatrixSize], Workload]:
    def make(n: MatrixSize) -> Workload:
        rows, columns = n
        a, x, y = normal(n), normal(columns, 1), cp.empty(rows, cp.float32)
        grid = ceil_div(rows, ROWS_OF_A_BLOCK.get(name, 1))
        threads = 128 if name == "gemv_in_flight" else 256
        tolerance = _rounding(columns, 1 if name == "gemv_thread" else 32)
        return Workload(
            (KernelCall(CHAPTER.kernel(name), grid, threads, (a, x, y, rows, columns)),),
            output=y,
            expected=lambda: double(a) @ double(x),
            rtol=tolerance,
            atol=4 * tolerance,
            libraries=cublas.vector_products(a, x) | _torch_mv(a, x),
        )

    return make


def _gemv_transposed(n: MatrixSize) -> Workload:
    """A block adds up BAND = 64 rows of 256 columns."""
    rows, columns = n
    a, x, y = normal(n), normal(rows, 1), cp.empty(columns, cp.float32)
    grid = ceil_div(columns, 256), ceil_div(rows, 64)
    tolerance = _rounding(rows, 32)
    return Workload(
        (
            KernelCall(
                CHAPTER.kernel("gemv_transposed", BAND=64), grid, 256, (a, x, y, rows, columns)
            ),
        ),
        output=y,
        expected=lambda: double(a).T @ double(x),
        rtol=tolerance,
        atol=4 * tolerance,
        libraries=cublas.vector_products(a, x, transposed=True) | _torch_mv(a.T, x),
        cleared=(y,),
        same_bits=False,  # blocks meet in an atomicAdd
    )


def _rounding(terms: int, sums: int) -> float:
    """What ``terms`` additions shared by ``sums`` threads may be wrong by, for inputs around 1."""
    return 1e-6 * math.sqrt(terms / sums) * math.sqrt(terms)


def _torch_mv(a: Any, x: Any) -> Runs:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    matrix, vector = as_tensors(a, x)
    return {"torch.mv": lambda: torch.mv(matrix, vector)}


def _gemv_case(name: str, make: Callable[[MatrixSize], Workload], what: str, **other: Any) -> Case:
    return Case(
        name,
        what,
        CHAPTER.files(name),
        make,
        bytes=lambda n: 4 * (n[0] * n[1] + n[0] + n[1]),
        flops=lambda n: 2 * n[0] * n[1],
        ceiling="read",
        **{"gpu_sizes": GEMV_SIZES, "test_sizes": ((1, 1), (5, 3), (9, 1031), (19, 260))} | other,
    )


# --- softmax of rows ---


@dataclass(frozen=True)
class RowShare:
    """How a kernel that keeps a row in registers divides it: CLUSTER blocks of THREADS threads,
    each with GROUPS groups of four numbers."""

    THREADS: int
    GROUPS: int
    CLUSTER: int = 1

    @property
    def columns(self) -> int:
        """The longest row, wherever it begins: three numbers may be left free before it."""
        return 4 * self.THREADS * self.GROUPS * self.CLUSTER - 3

    def holds(self, columns: int) -> bool:
        """Whether rows of ``columns`` fit."""
        return columns <= self.columns + (3 if columns % 4 == 0 else 0)


SOFTMAX_SIZES = (16384, 4096), (8192, 32768), (1024, 131072)
MOST_GROUPS = 8  # of four numbers that fit a thread's registers
KEEP_THE_ROW = "softmax_vector", "softmax_cluster", "softmax_async"


def row_share(columns: int) -> RowShare:
    """How ``softmax_async.cu`` and the rungs before it divide rows of ``columns``, up to 262,141.

    From a search on an H200: blocks as small as the row allows, up to 1024 threads; a longer row
    for a cluster of blocks of 512 threads, of which two share a multiprocessor, or of 1024.
    Raises LessonError where the row is longer.
    """
    for threads, most_blocks in ((128, 1), (256, 1), (512, 1), (1024, 1), (512, 8), (1024, 8)):
        for cluster in range(1, most_blocks + 1):
            if RowShare(threads, MOST_GROUPS, cluster).holds(columns):
                groups = range(1, MOST_GROUPS + 1)
                shares = (RowShare(threads, each, cluster) for each in groups)
                return next(share for share in shares if share.holds(columns))
    most = RowShare(1024, MOST_GROUPS, 8).columns
    raise LessonError(f"A row of {columns} numbers is too long: a cluster's registers hold {most}.")


def _softmax(name: str) -> Callable[[MatrixSize], Workload]:
    def make(n: MatrixSize) -> Workload:
        rows, columns = n
        x, y = normal(n), cp.empty(n, cp.float32)
        arguments = x, y, columns
        if name in KEEP_THE_ROW:
            share = row_share(columns)
            if name == "softmax_vector":
                kernel = CHAPTER.kernel(name, THREADS=share.THREADS, GROUPS=share.GROUPS)
            else:
                kernel = CHAPTER.kernel(name, **vars(share))
            call = KernelCall(kernel, rows * share.CLUSTER, share.THREADS, arguments)
        else:
            dynamic = 0 if name == "softmax_online" else 4 * columns
            call = KernelCall(CHAPTER.kernel(name), rows, 256, arguments, dynamic)

        return Workload(
            (call,),
            output=y,
            expected=lambda: softmax_of(x),
            rtol=1e-5,
            atol=1e-9,
            libraries=_torch_softmaxes(x) | rivals.softmax(x),
            same_bits=False,  # expf may differ in its last digit
        )

    return make


def _backward(n: MatrixSize) -> Workload:
    rows, columns = n
    powers, dy = np.exp(normal(n)), normal(n, 1)
    y, dx = powers / powers.sum(axis=1, keepdims=True), cp.empty(n, cp.float32)
    share = backward_share(columns)
    grid = rows * share.CLUSTER
    kernel = CHAPTER.kernel("softmax_backward", **vars(share))

    def expected() -> Any:
        product = double(y) * double(dy)
        return product - double(y) * product.sum(axis=1, keepdims=True)

    return Workload(
        (KernelCall(kernel, grid, share.THREADS, (y, dy, dx, columns)),),
        output=dx,
        expected=expected,
        rtol=1e-5,
        atol=1e-5 / columns,
        libraries=_torch_gradients(dy, y),
    )


def backward_share(columns: int) -> RowShare:
    """How ``softmax_backward.cu`` divides rows of ``columns``: a thread keeps two arrays, so it has
    half as many groups of each. Raises LessonError past 131,069 columns."""
    for threads, cluster in ((512, 1), (512, 2), (512, 4), (512, 8), (1024, 8)):
        for groups in (1, 2, 3, 4):
            share = RowShare(threads, groups, cluster)
            if share.holds(columns):
                return share
    raise LessonError(
        f"A row of {columns} numbers is too long: a cluster's registers hold {share.columns}."
    )


def _torch_softmax(x: Any) -> Any:
    return torch_on_gpu().softmax(x, dim=1)


def _torch_backward(dy: Any, y: Any) -> Any:
    return y * (dy - (dy * y).sum(dim=1, keepdim=True))


def _torch_softmaxes(x: Any) -> Runs:
    """PyTorch's own kernel, and the same compiled."""
    if torch_on_gpu() is None:
        return {}
    (tensor,) = as_tensors(x)
    own = {"torch.softmax": lambda: _torch_softmax(tensor)}
    return own | compiled(_torch_softmax, tensor, graph=True)


def _torch_gradients(dy: Any, y: Any) -> Runs:
    """PyTorch's own kernel, and the formula compiled."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    tensors = as_tensors(dy, y)

    def own() -> Any:
        return torch.ops.aten._softmax_backward_data(*tensors, 1, torch.float32)

    formula = compiled(_torch_backward, *tensors, graph=True)
    return {"torch._softmax_backward_data": own} | formula


def _softmax_case(name: str, **other: Any) -> Case:
    return Case(
        name,
        "softmax of rows, fp32",
        CHAPTER.files(name),
        _softmax(name),
        bytes=lambda n: 2 * 4 * n[0] * n[1],
        flops=lambda n: 4 * n[0] * n[1],  # subtract, exp, add, multiply
        **{"gpu_sizes": SOFTMAX_SIZES, "test_sizes": ((1, 1), (3, 257), (5, 1003))} | other,
    )


LONG_ROWS = {"test_sizes": ((1, 1), (2, 4095), (2, 33001), (3, 1003))}

CASES = (
    *(
        _gemv_case(name, _gemv(name), "matrix times vector, fp32")
        for name in ("gemv_thread", "gemv_warp", "gemv_vector", "gemv_in_flight")
    ),
    _gemv_case(
        "gemv_block",
        _gemv("gemv_block"),
        "matrix times vector, fp32",
        gpu_sizes=(*GEMV_SIZES, (8192, 8191), (1024, 131072)),
    ),
    _gemv_case("gemv_transposed", _gemv_transposed, "transposed matrix times vector, fp32"),
    _softmax_case("softmax_online"),
    _softmax_case("softmax_shared", gpu_sizes=SOFTMAX_SIZES[:2]),
    _softmax_case("softmax_shuffle", gpu_sizes=SOFTMAX_SIZES[:2]),
    _softmax_case("softmax_vector", gpu_sizes=SOFTMAX_SIZES[:2]),
    _softmax_case("softmax_cluster", **LONG_ROWS),
    _softmax_case(
        "softmax_async",
        **LONG_ROWS | {"gpu_sizes": (*SOFTMAX_SIZES, (16384, 4095), (1024, 131071))},
    ),
    Case(
        "softmax_backward",
        "gradient of softmax, fp32",
        CHAPTER.files("softmax_backward"),
        _backward,
        bytes=lambda n: 3 * 4 * n[0] * n[1],
        flops=lambda n: 4 * n[0] * n[1],  # two products, a sum, a difference
        gpu_sizes=SOFTMAX_SIZES,
        test_sizes=((1, 1), (2, 4095), (2, 33001), (3, 1003)),
    ),
)
