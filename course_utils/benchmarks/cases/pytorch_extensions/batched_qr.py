"""QR factorisations of many matrices, beside PyTorch and cuBLAS, and of a tall one.

A size is (batch, m, n), of a tall matrix (m, n). Results are as LAPACK's geqrf leaves them, but
row-major: R above, below it the reflectors without their ones, and tau.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ctypes import byref, c_int, c_void_p
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from ....devices.selection import ON_GPU, cp
from ....errors import LessonError
from ....integers import ceil_div
from ...harness.arrays import normal
from ...harness.case import Case
from ...harness.torch_runs import as_tensors, torch_on_gpu
from ...harness.workload import Calls, KernelCall, Workload
from ...libraries.cublas_library import cublas_libraries
from .operators import CHAPTER

BatchSize = tuple[int, int, int]  # batch, m, n
PANEL, TILE = 32, 8
MOST_ROWS = 512  # of a block that factors panels
MOST_SHARED = 227 * 1024
FEW_ROWS = 192  # up to here three blocks share an SM
WARPS_FOR_MANY = 16  # of a block; 8 leave room for a second block, and too few registers


@dataclass(frozen=True)
class Factors:
    """Room for ``qr`` (batch, m, n) and ``tau`` (batch, min(m, n)), fp32, in one array."""

    room: Any
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, shape: tuple[int, int, int]) -> Factors:
        """Uninitialised storage for the factors of (batch, m, n) matrices."""
        batch, m, n = shape
        return cls(cp.empty(batch * (m * n + min(m, n)), np.float32), (batch, m, n))

    @property
    def qr(self) -> Any:
        """(batch, m, n): R, and below it the reflectors."""
        batch, m, n = self.shape
        return self.room[: batch * m * n].reshape(self.shape)

    @property
    def tau(self) -> Any:
        """(batch, min(m, n)): the factors of the reflectors."""
        batch, m, n = self.shape
        return self.room[batch * m * n :].reshape(batch, min(m, n))


def _wide(x: Any) -> Any:
    """``x`` in float64, for NumPy's functions: on the GPU where there is one. Converted on the
    host, since CuPy's kernels take subnormal numbers for zeros."""
    wide = cp.asnumpy(x).astype(np.float64)
    return cp.asarray(wide) if ON_GPU else wide


def reflector(qr: Any, j: int) -> Any:
    """v_j of each matrix of ``qr`` (batch, m, n): (batch, m), in its dtype."""
    v = qr[:, :, j].copy()
    v[:, :j] = 0
    v[:, j] = 1
    return v


def q_times(qr: Any, tau: Any, x: Any) -> Any:
    """Q of each matrix times ``x`` (batch, m, columns), in float64."""
    qr, tau, x = _wide(qr), _wide(tau), _wide(x)
    for j in reversed(range(tau.shape[1])):
        v = reflector(qr, j)
        x = x - v[:, :, None] * (tau[:, j, None, None] * (v[:, None, :] @ x))
    return x


def products(qr: Any, tau: Any) -> Any:
    """Q R of each matrix in float64, (batch, m, n)."""
    return q_times(qr, tau, np.triu(_wide(qr)))


def lengths(qr: Any, tau: Any) -> Any:
    """tau (v . v) / 2 of each reflector, which is 1 where it is orthogonal; 1 where tau is 0."""
    tau, count = _wide(tau), tau.shape[1]
    below = np.tril(_wide(qr), -1)[:, :, :count]
    return np.where(tau == 0, 1, tau * (1 + (below * below).sum(axis=1)) / 2)


def backward_errors(a: Any, qr: Any, tau: Any) -> Any:
    """|Q R - A| / |A| of each matrix, in Frobenius norms and float64."""
    a = _wide(a)
    off = products(qr, tau) - a
    return np.sqrt((off * off).sum(axis=(1, 2)) / (a * a).sum(axis=(1, 2)))


# --- calls ---


def panel_defines(m: int) -> dict[str, int]:
    """What the kernels of panels are compiled with for ``m`` rows.
    Raises LessonError where that is more than a block takes."""
    if m > MOST_ROWS:
        raise LessonError(f"{m} rows: a block takes {MOST_ROWS}. Cut the matrix into parts.")
    warps, at_once = (8, 3) if m <= FEW_ROWS else (WARPS_FOR_MANY, 16 // WARPS_FOR_MANY)
    return {"WARPS": warps, "SLOTS": ceil_div(m, warps * TILE), "MIN_BLOCKS": at_once}


def shared_bytes(name: str, defines: Mapping[str, int], n: int) -> int:
    """Dynamic shared memory of ``qr_panels.cu`` or ``qr_tensor.cu``: their Shared."""
    warps, rows = defines["WARPS"], TILE * defines["WARPS"] * defines["SLOTS"]
    stride = rows + 8
    panel = PANEL * (stride + PANEL + 8 + 1) + rows + 2 * (warps + 1) * PANEL
    strip = warps * 16 * (PANEL + 8) + 16 * (PANEL + 4)
    if name == "qr_panels":
        strip = (warps + 2) * PANEL * PANEL
    return 4 * (panel + strip + warps * PANEL + n)


def warp_calls(a: Any, found: Factors) -> Calls:
    """``qr_warp.cu``. Raises LessonError where a matrix has more than 32 rows or columns."""
    batch, m, n = a.shape
    if max(m, n) > 32:
        raise LessonError(f"{m} x {n}: a warp takes 32 rows and 32 columns at most.")
    arguments = a, found.qr, found.tau, batch, m, n
    kernel = CHAPTER.kernel("qr_warp", ROWS=TILE * ceil_div(m, TILE))
    return (KernelCall(kernel, ceil_div(batch, 8), 256, arguments),)


def block_calls(a: Any, found: Factors) -> Calls:
    """``qr_block.cu``. Raises LessonError where a matrix does not fit into shared memory."""
    batch, m, n = a.shape
    shared = 4 * n * ((m | 1) + 2)
    if shared > MOST_SHARED:
        raise LessonError(f"{m} x {n} is too large for the shared memory of a block.")
    arguments = a, found.qr, found.tau, m, n
    return (KernelCall(CHAPTER.kernel("qr_block"), batch, 512, arguments, shared),)


def _panel_calls(name: str, a: Any, found: Factors, **tried: int) -> Calls:
    """``tried`` are defines in place of ours."""
    batch, m, n = a.shape
    defines = panel_defines(m) | tried
    arguments, shared = (a, found.qr, found.tau, m, n), shared_bytes(name, defines, n)
    kernel = CHAPTER.kernel(name, **defines)
    return (KernelCall(kernel, batch, 32 * defines["WARPS"], arguments, shared),)


panels_calls = partial(_panel_calls, "qr_panels")
tensor_calls = partial(_panel_calls, "qr_tensor")


def parts_at_once(parts: int, n: int) -> int:
    """How many triangles n x n of ``parts`` are factored together: a divisor, so that they fit.
    Raises LessonError where there is none."""
    fit = [count for count in range(2, MOST_ROWS // n + 1) if parts % count == 0]
    if not fit:
        raise LessonError(f"{parts} triangles of {n} columns do not come out even.")
    return max(fit)


def tall_calls(a: Any, rows: int, **tried: int) -> tuple[Calls, Any]:
    """The calls that find R (n, n) of ``a`` (m, n), and the array whose upper triangle it becomes.

    Parts of ``rows`` rows first, then their stacked triangles, until one is left.
    Raises LessonError where the parts do not come out even.
    """
    m, n = a.shape
    if m % rows or rows < n:
        raise LessonError(f"{m} rows do not come out even in parts of {rows}, at least {n}.")
    calls: Calls = ()
    while True:
        parts = m // rows
        part = a.reshape(parts, rows, n)
        found = Factors.of(part.shape)
        calls += tensor_calls(part, found, **tried)
        if parts == 1:
            return calls, found.qr[0, :n]
        a, m = cp.empty((parts * n, n), np.float32), parts * n
        grid = min(1024, ceil_div(a.size, 256))
        stack = KernelCall(CHAPTER.kernel("qr_stack"), grid, 256, (found.qr, a, parts, rows, n))
        calls, rows = (*calls, stack), n * parts_at_once(parts, n)


# --- cases ---


@dataclass(frozen=True)
class QRWork(Workload):
    """Work whose result is a Factors' room, or a pair (qr, tau). What is compared is Q R, and
    whether the reflectors are orthogonal."""

    shape: tuple[int, int, int] = (0, 0, 0)

    def numbers(self, result: Any) -> Any:
        """Q R of every matrix, then the lengths of its reflectors, float64 in one row."""
        if isinstance(result, tuple):
            qr, tau = (cp.asarray(each) for each in result)
        else:
            found = Factors(result, self.shape)
            qr, tau = found.qr, found.tau
        both = products(qr, tau).ravel(), lengths(qr, tau).ravel()
        return cp.asarray(np.concatenate(both))


def expected_of(a: Any) -> Any:
    """What QRWork compares with: the matrices themselves, and ones."""
    batch, m, n = a.shape
    wide = _wide(a).ravel()
    return cp.asarray(np.concatenate([wide, np.ones_like(wide[: batch * min(m, n)])]))


@cache
def _handle() -> c_void_p:
    handle = c_void_p()
    cublas_libraries()[0].cublasCreate_v2(byref(handle))
    return handle


def by_cublas(a: Any) -> Callable[[], Any]:
    """``cublasSgeqrfBatched`` of ``a``: it works in place, so a copy of the matrices, column-major
    as it wants them, is part of each run."""
    batch, m, n = a.shape
    blas, _ = cublas_libraries()
    columns = a.transpose(0, 2, 1).copy()
    work, tau = cp.empty_like(columns), cp.empty((batch, min(m, n)), np.float32)
    starts = [
        cp.asarray(each.data.ptr + np.arange(batch) * each[0].nbytes, np.uint64)
        for each in (work, tau)
    ]

    def run() -> Any:
        cp.copyto(work, columns)
        at, to = (c_void_p(start.data.ptr) for start in starts)
        blas.cublasSetStream_v2(_handle(), cp.cuda.get_current_stream().ptr)
        info = c_int()
        status = blas.cublasSgeqrfBatched(_handle(), m, n, at, m, to, byref(info), batch)
        if status or info.value:
            raise LessonError(f"cublasSgeqrfBatched answered {status}, {info.value}.")
        return work.transpose(0, 2, 1), tau

    return run


def _libraries(a: Any) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    (tensor,) = as_tensors(a)
    return {
        "torch.geqrf": lambda: tuple(torch.geqrf(tensor)),
        "cublasSgeqrfBatched": by_cublas(a),
    }


def _work(calls: Callable[..., Calls], beside: bool) -> Callable[[BatchSize], Workload]:
    def make(n: BatchSize) -> Workload:
        a, found = normal(n), Factors.of(n)
        return QRWork(
            calls(a, found),
            found.room,
            lambda: expected_of(a),
            atol=2e-6 * n[1] ** 0.5,
            libraries=_libraries(a) if beside else {},
            same_bits=False,
            shape=n,
        )

    return make


def flops(m: int, n: int) -> int:
    """Of one factorisation by reflectors, without Q."""
    least, most = sorted((m, n))
    return round(2 * least**2 * (most - least / 3))


@dataclass(frozen=True)
class TallWork(Workload):
    """What is compared is R^T R with A^T A: the signs of R's rows are free."""

    def numbers(self, result: Any) -> Any:
        """R^T R, float64 (n, n)."""
        r = np.triu(_wide(cp.asarray(result)))
        return cp.asarray(r.T @ r)


def _tall(size: tuple[int, int]) -> Workload:
    m, n = size
    a = normal(size)
    calls, r = tall_calls(a, MOST_ROWS if m % MOST_ROWS == 0 else 3 * n)
    torch, libraries = torch_on_gpu(), {}
    if torch is not None:
        (tensor,) = as_tensors(a)
        libraries = {
            "torch.linalg.qr, R only": lambda: torch.linalg.qr(tensor, mode="r")[1],
            "torch.geqrf": lambda: torch.geqrf(tensor)[0][:n],
        }
    return TallWork(
        calls,
        r,
        lambda: cp.asarray(_wide(a).T @ _wide(a)),
        atol=2e-6 * m,
        libraries=libraries,
        same_bits=False,
    )


SMALL, MIDDLE, LARGE = (65536, 32, 32), (640, 176, 176), (640, 512, 512)


def _case(
    name: str, calls: Callable[..., Calls], *sizes: BatchSize, beside: bool = False, **other: Any
) -> Case:
    return Case(
        name,
        "QR of many matrices, fp32",
        CHAPTER.files(name),
        _work(calls, beside),
        bytes=lambda n: 8 * n[0] * n[1] * n[2] + 4 * n[0] * min(n[1:]),
        flops=lambda n: n[0] * flops(*n[1:]),
        gpu_sizes=sizes,
        **other,
    )


CASES = (
    _case("qr_warp", warp_calls, SMALL, beside=True, test_sizes=((3, 7, 5), (1, 32, 32))),
    _case("qr_block", block_calls, MIDDLE, test_sizes=((2, 7, 5), (1, 40, 33))),
    _case("qr_panels", panels_calls, MIDDLE, LARGE, test_sizes=((1, 1, 1), (1, 60, 40))),
    _case(
        "qr_tensor",
        tensor_calls,
        MIDDLE,
        LARGE,
        beside=True,
        test_sizes=((1, 1, 1), (1, 50, 60)),
        sustained_sizes=(MIDDLE, LARGE),
    ),
    Case(
        "qr_tall",
        "R of a tall matrix, fp32",
        CHAPTER.files("qr_stack", "qr_tensor"),
        _tall,
        bytes=lambda n: 4 * n[0] * n[1],
        flops=lambda n: flops(*n),
        gpu_sizes=((131072, 32),),
        test_sizes=((108, 6),),
        ceiling="read",
    ),
)
