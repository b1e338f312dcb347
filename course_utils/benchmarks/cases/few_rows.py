"""The benchmarks of chapter 06: products with few tiles of C, or few rows of A, beside cuBLAS."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np

from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.kernels import Kernel
from ...launching.tensor_maps import tensor_map
from ..harness.arrays import double, normal
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.workload import KernelCall, Workload
from ..libraries import cublas
from .matmul import OPERAND_TYPES, SUM_ERROR, Bf16Work, ProductSize, sms_for_tiles, torch_product

CHAPTER = ChapterKernels("06_matmul_and_fft")

SPLIT_SIZES = (128, 128, 16384), (256, 256, 16384), (512, 512, 8192)
UNROLL = 8  # of sgemm_split_k_wide: the fastest on an H200, with the most instructions
ROWS_FP32 = 1, 4, 8, 16, 32
ROWS_BF16 = 1, 8, 16, 32, 64
COLUMNS = 8192
# Of gemm_bf16_few_rows_tma.cu, by the rows of a block: what a search on an H200 found.
TMA_TILES = {
    16: {"BN": 64, "STAGES": 10, "BLOCKS": 2},
    32: {"BN": 128, "STAGES": 5, "BLOCKS": 2},
    64: {"BN": 64, "STAGES": 7, "BLOCKS": 2},
}
WGMMA_TILE = {"BN": 64, "STAGES": 7, "BLOCKS": 2}  # likewise, for any rows


def slices_for(tiles: int, steps: int, slots: int, least: int) -> int:
    """How many blocks share a tile of C: as many as fit on the GPU at once, in ``slots``, each with
    ``least`` of the tile's ``steps`` along K or more; at least one."""
    return max(1, min(slots // tiles, steps // least))


class _Tolerances(TypedDict):
    rtol: float
    atol: float


def _tolerances(k: int) -> _Tolerances:
    tolerance = 4e-6 * k**0.5
    return {"rtol": tolerance, "atol": 4 * tolerance}


# --- few tiles: a second pass adds up what the slices of K give ---


def split_calls(
    arrays: tuple[Any, Any, Any], slices: int, sums: Any, kernels: tuple[Kernel, Kernel]
) -> tuple[KernelCall, KernelCall]:
    """Both passes of C = A B for ``arrays`` (A, B, C); ``sums`` holds ``slices`` times C."""
    a, b, c = arrays
    (m, k), n = a.shape, b.shape[1]
    product, finish = kernels
    grid = ceil_div(n, 64), ceil_div(m, 64), slices
    one, zero = np.float32(1), np.float32(0)
    finishing = sums, c, c, c, one, zero, slices, m, n  # no bias and no residual: C stands for both
    return (
        KernelCall(product, grid, 256, (a, b, sums, m, n, k)),
        KernelCall(finish, ceil_div(m * n, 256), 256, finishing),
    )


def _split_k(size: ProductSize) -> Workload:
    m, n, k = size
    a, b, c = normal((m, k)), normal((k, n), 1), cp.empty((m, n), cp.float32)
    slots = 4 * sms_for_tiles()  # blocks of 256 threads
    slices = slices_for(ceil_div(m, 64) * ceil_div(n, 64), ceil_div(k, 16), slots, least=8)
    sums = cp.empty((slices, m, n), cp.float32)
    kernels = CHAPTER.kernel("sgemm_split_k"), CHAPTER.kernel("split_k_finish")
    return Workload(
        split_calls((a, b, c), slices, sums, kernels),
        output=c,
        expected=lambda: double(a) @ double(b),
        libraries=cublas.products("fp32", a, b, lambda: cp.empty_like(c)),
        **_tolerances(k),
    )


def split_wide_calls(
    arrays: tuple[Any, Any, Any], slices: int, sums: Any
) -> tuple[KernelCall, KernelCall]:
    """The same with the loop of ``sgemm_stream_k``, for rows of B that are whole 16 bytes."""
    a, b, c = arrays
    (m, k), n = a.shape, b.shape[1]
    product = CHAPTER.kernel("sgemm_split_k_wide", UNROLL=UNROLL)
    grid = ceil_div(n, 128), ceil_div(m, 128), slices
    return (
        KernelCall(product, grid, 128, (a, b, sums, m, n, k), 4 * 8 * (128 + 4 + 128) * 4),
        KernelCall(
            CHAPTER.kernel("split_k_sum"),
            ceil_div(m * n, 128),
            256,
            (sums, c, slices, m, n),
            early=True,
        ),
    )


def _split_k_wide(size: ProductSize) -> Workload:
    m, n, k = size
    a, b, c = normal((m, k)), normal((k, n), 1), cp.empty((m, n), cp.float32)
    tiles, slots = ceil_div(m, 128) * ceil_div(n, 128), 2 * sms_for_tiles()
    slices = slices_for(tiles, ceil_div(k, 8), slots, least=16)
    sums = cp.empty((slices, m, n), cp.float32)
    return Workload(
        split_wide_calls((a, b, c), slices, sums),
        output=c,
        expected=lambda: double(a) @ double(b),
        libraries=cublas.products("fp32", a, b, lambda: cp.empty_like(c)),
        **_tolerances(k),
    )


# --- few rows: what is read of B is the time ---


def few_rows_call(
    a: Any, b: Any, c: Any, slices: int | None = None, **defines: int
) -> tuple[KernelCall, Any]:
    """The call of ``sgemm_few_rows.cu`` for C = A B, and its array of counts, zeros before."""
    (m, k), n = a.shape, b.shape[1]
    rows = defines.setdefault("ROWS", next((r for r in (1, 2, 4, 8, 16) if m <= r), 32))
    large = rows > 16
    defines = {"DEPTH": 4, "STAGES": 6 if large else 4, "BLOCKS": 1 if large else 2} | defines
    tiles = ceil_div(n, 128) * ceil_div(m, rows)
    slots = defines["BLOCKS"] * sms_for_tiles()
    slices = slices or slices_for(tiles, ceil_div(k, defines["DEPTH"]), slots, least=32)
    shared = max(8 * defines["STAGES"] * defines["DEPTH"] * (rows + 128) * 4, 32768)
    grid = ceil_div(n, 128), slices, ceil_div(m, rows)
    partial_sums, arrived = cp.empty((slices, m, n), cp.float32), cp.zeros(tiles, cp.int32)
    arguments = a, b, c, partial_sums, arrived, m, n, k
    kernel = CHAPTER.kernel("sgemm_few_rows", **defines)
    return KernelCall(kernel, grid, 256, arguments, shared), arrived


def _few_rows(size: ProductSize) -> Workload:
    m, n, k = size
    a, b, c = normal((m, k)), normal((k, n), 1), cp.empty((m, n), cp.float32)
    call, arrived = few_rows_call(a, b, c)
    return Workload(
        (call,),
        output=c,
        expected=lambda: double(a) @ double(b),
        libraries=cublas.products("fp32", a, b, lambda: cp.empty_like(c)),
        cleared=(arrived,),
        **_tolerances(k),
    )


def bf16_few_rows_call(
    a: Any, b: Any, c: Any, slices: int | None = None, **defines: int
) -> tuple[KernelCall, Any]:
    """The call of ``gemm_bf16_few_rows.cu`` for C = A B^T, and its array of counts, zeros
    before."""
    (m, k), n = a.shape, len(b)
    rows = defines.setdefault("ROWS", min(16 * ceil_div(m, 16), 64))
    defines = {"BN": 128, "STAGES": 5 if rows <= 32 else 4, "BLOCKS": 2} | defines
    width = defines["BN"]
    tiles = ceil_div(n, width) * ceil_div(m, rows)
    slots = defines["BLOCKS"] * sms_for_tiles()
    slices = slices or slices_for(tiles, ceil_div(k, 64), slots, least=4)
    grid = ceil_div(n, width), slices, ceil_div(m, rows)
    partial_sums, arrived = cp.empty((slices, m, n), cp.float32), cp.zeros(tiles, cp.int32)
    arguments = a, b, c, partial_sums, arrived, m, n, k
    kernel = CHAPTER.kernel("gemm_bf16_few_rows", **defines)
    shared = defines["STAGES"] * (width + rows) * 128
    return KernelCall(kernel, grid, 2 * width, arguments, shared), arrived


def tma_call(a: Any, b: Any, c: Any, **defines: int) -> KernelCall:
    """The call of ``gemm_bf16_few_rows_tma.cu`` for C = A B^T; ``a`` and ``b`` have to live as long
    as it is used."""
    rows = defines.setdefault("ROWS", min(16 * ceil_div(len(a), 16), 64))
    defines = TMA_TILES.get(rows, TMA_TILES[64]) | {"CLUSTER": 2, "WM": 16} | defines
    threads = defines["BN"] // defines["WM"] * 32
    return _mapped_call("gemm_bf16_few_rows_tma", (a, b, c), threads, defines)


def wgmma_call(a: Any, b: Any, c: Any, **defines: int) -> KernelCall:
    """The same of ``gemm_bf16_few_rows_wgmma.cu``."""
    rows = next((r for r in (16, 32) if len(a) <= r), 64)
    defines = WGMMA_TILE | {"CLUSTER": 2, "ROWS": rows} | defines
    return _mapped_call("gemm_bf16_few_rows_wgmma", (a, b, c), 2 * defines["BN"], defines)


def _mapped_call(
    name: str, arrays: tuple[Any, Any, Any], threads: int, defines: dict[str, int]
) -> KernelCall:
    a, b, c = arrays
    (m, k), n = a.shape, len(b)
    rows, width = defines["ROWS"], defines["BN"]
    maps = (tensor_map(x, (box, 64), swizzle=128) for x, box in ((a, rows), (b, width)))
    grid = ceil_div(n, width), defines["CLUSTER"], ceil_div(m, rows)
    shared = defines["STAGES"] * (width + rows) * 128
    kernel = CHAPTER.kernel(name, "sm_90a", **defines)
    return KernelCall(kernel, grid, threads, (*maps, c, m, n, k), shared)


MAPPED = {"gemm_bf16_few_rows_tma": tma_call, "gemm_bf16_few_rows_wgmma": wgmma_call}


def _in_bf16(size: ProductSize, name: str) -> Workload:
    m, n, k = size
    a, b = to_bf16(normal((m, k))), to_bf16(normal((n, k), 1))
    c = cp.empty((m, n), cp.uint16)
    cleared: tuple[Any, ...] = ()
    if name in MAPPED:
        call = MAPPED[name](a, b, c)
    else:
        call, arrived = bf16_few_rows_call(a, b, c)
        cleared = (arrived,)
    return Bf16Work(
        (call,),
        output=c,
        expected=lambda: double(from_bf16(a)) @ double(from_bf16(b)).T,
        rtol=OPERAND_TYPES["bf16"].rtol,
        atol=k * SUM_ERROR,
        libraries=cublas.products("bf16", a, b, lambda: cp.empty_like(c))
        | torch_product("bf16", a, b),
        cleared=cleared,
    )


def _case(
    name: str, files: tuple[str, ...], make: Callable[[ProductSize], Workload], **other: Any
) -> Case:
    width = 2 if "bf16" in name else 4
    return Case(
        name,
        files=CHAPTER.files(*files),
        make=make,
        bytes=lambda n: width * (n[0] * n[2] + n[1] * n[2] + n[0] * n[1]),
        flops=lambda n: 2 * n[0] * n[1] * n[2],
        ceiling="read",
        **other,
    )


CASES = (
    _case(
        "sgemm_split_k",
        ("sgemm_split_k", "split_k_finish"),
        _split_k,
        what="GEMM with a long K, fp32",
        gpu_sizes=SPLIT_SIZES,
        test_sizes=((65, 3, 37), (5, 68, 520)),
    ),
    _case(
        "sgemm_split_k_wide",
        ("sgemm_split_k_wide", "split_k_sum"),
        _split_k_wide,
        what="GEMM with a long K, fp32",
        gpu_sizes=SPLIT_SIZES,
        test_sizes=((65, 4, 37), (5, 132, 520)),
    ),
    _case(
        "sgemm_few_rows",
        ("sgemm_few_rows",),
        _few_rows,
        what="few rows times a matrix, fp32",
        gpu_sizes=tuple((m, COLUMNS, COLUMNS) for m in ROWS_FP32),
        test_sizes=((2, 130, 37),),
    ),
    *(
        _case(
            name,
            (name,),
            partial(_in_bf16, name=name),
            what="few rows times a matrix, bf16",
            gpu_sizes=tuple((m, COLUMNS, COLUMNS) for m in ROWS_BF16),
            test_sizes=((17, 129, 264),),
            peak="bf16",
        )
        for name in ("gemm_bf16_few_rows", *MAPPED)
    ),
)
