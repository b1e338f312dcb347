"""The benchmarks of chapter 06: matrix products beside cuBLAS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...devices.properties import sm_count
from ...devices.selection import ON_GPU, cp
from ...integers import ceil_div
from ...launching.tensor_maps import tensor_map
from ..harness.arrays import double, normal
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels
from ..harness.float_bits import from_bf16, from_e4m3, to_bf16, to_e4m3
from ..harness.stream_k_plan import bytes_of_tiles, plan
from ..harness.torch_runs import as_tensors, torch_on_gpu
from ..harness.workload import KernelCall, Workload
from ..libraries import cublas, rivals

CHAPTER = ChapterKernels("06_matmul_and_fft")
ProductSize = tuple[int, int, int]  # rows of A, columns of C, K
EMULATED_MULTIPROCESSORS = 3  # of a grid that has a block for each: enough to share tiles
SIZES = 1024, 2048, 4096, 8192
MORE_SIZES = 512, 640, 768, 896, 1152, 1280, 1408, 1536, 1792, 2304, 3072, 6144  # last fp32 rung


def sms_for_tiles() -> int:
    """How many share the tiles of C: the GPU's, or a few on the emulator."""
    return sm_count() if ON_GPU else EMULATED_MULTIPROCESSORS


def grid_for(tiles: int, steps: int) -> int:
    """How many blocks share ``tiles`` of C, each the sum over ``steps`` tiles along K.

    A block for each multiprocessor. Where there are fewer tiles, as many blocks for each tile as
    fit with four steps each; one where a tile has less than sixteen, which a search on an H200
    found to be faster than adding up partial sums.
    """
    if tiles >= sms_for_tiles():
        return sms_for_tiles()
    shared_by = min(sms_for_tiles() // tiles, steps // 4) if steps >= 16 else 1
    return tiles * shared_by


def _product(n: int, launch: Callable[..., KernelCall]) -> Workload:
    """C = A B for n x n matrices; ``launch(a, b, c)`` calls the kernel."""
    a, b = normal((n, n)), normal((n, n), 1)
    c, theirs = cp.empty((n, n), cp.float32), cp.empty((n, n), cp.float32)
    libraries = cublas.products("fp32", a, b, lambda: cp.empty_like(c))
    if ON_GPU:
        libraries["cupy.matmul"] = lambda: cp.matmul(a, b, out=theirs)
    # An error of rounding for each of n additions, and they go up and down.
    tolerance = 4e-6 * n**0.5
    return Workload(
        (launch(a, b, c),),
        output=c,
        expected=lambda: double(a) @ double(b),
        rtol=tolerance,
        atol=4 * tolerance,
        libraries=libraries,
    )


def _tiled(
    file: str,
    tile: tuple[int, int],
    block: int | tuple[int, ...],
    defines: dict[str, int],
) -> Callable[[int], Workload]:
    """A block of the grid for each tile (rows, columns) of C."""

    def make(n: int) -> Workload:
        kernel = CHAPTER.kernel(file, **defines)
        grid = ceil_div(n, tile[1]), ceil_div(n, tile[0])
        return _product(n, lambda a, b, c: KernelCall(kernel, grid, block, (a, b, c, n, n, n)))

    return make


def _wide(file: str, stages: int) -> Callable[[int], Workload]:
    """Tiles of 128 x 256, and only whole ones."""

    def make(n: int) -> Workload:
        kernel = CHAPTER.kernel(file)
        grid = n // 256, n // 128
        shared = bytes_of_tiles(BM=128, BN=256, BK=8, STAGES=stages)
        return _product(
            n, lambda a, b, c: KernelCall(kernel, grid, 256, (a, b, c, n, n, n), shared)
        )

    return make


def _stream_k(n: int) -> Workload:
    """Blocks that share the tiles of C, with the tile and the grid of the shape."""
    found = plan(n, n, n, sms_for_tiles())
    tile, grid = found.tile, found.grid
    kernel = CHAPTER.kernel("sgemm_stream_k", **tile.defines)
    partial = cp.empty((2 * grid, tile.BM, tile.BN), cp.float32)
    arrived = cp.zeros(found.tiles, cp.int32)

    def launch(a: Any, b: Any, c: Any) -> KernelCall:
        arguments = a, b, c, partial, arrived, n, n, n
        return KernelCall(kernel, grid, tile.threads, arguments, tile.shared_bytes)

    return _product(n, launch)


def _case(name: str, file: str, make: Callable[[int], Workload], **other: Any) -> Case:
    return Case(
        name,
        "GEMM, fp32",
        CHAPTER.files(file),
        make,
        bytes=lambda n: 3 * 4 * n * n,
        flops=lambda n: 2 * n**3,
        **{"gpu_sizes": SIZES} | other,
    )


def _square(name: str, file: str, tile: int, **defines: int) -> Case:
    make = _tiled(file, (tile, tile), (tile, tile), defines)
    return _case(name, file, make, emulator_sizes=(256, tile))


# --- C = A B^T: both factors are read along K ---


SUM_ERROR = 2**-20  # of one sum over K in fp32, for each addition


@dataclass(frozen=True)
class _OperandTypes:
    """The operands' dtype, C's, torch's own, and a key of a GPU's ``PEAKS``.

    ``rtol`` covers the rounding of a result (to fp16 by torch, to bf16 by all) or, for TF32, of
    the operands, which a library may truncate instead of rounding them. A TF32 product errs by
    ``noise`` times the square root of K more. Any product errs by ``sum_error`` for each addition:
    tensor cores cut off what does not fit, and of fp8 little does. bf16 and fp8 arrays carry bits.
    """

    dtype: type
    result: type
    theirs: type
    peak: str
    rtol: float
    noise: float = 0.0
    sum_error: float = SUM_ERROR


OPERAND_TYPES = {
    "fp16": _OperandTypes(np.float16, np.float32, np.float16, "bf16", 2**-10),
    "bf16": _OperandTypes(np.uint16, np.uint16, np.uint16, "bf16", 2**-8),
    "TF32": _OperandTypes(np.float32, np.float32, np.float32, "tf32", 2**-9, 2**-8),
    "fp8": _OperandTypes(np.uint8, np.uint16, np.uint16, "fp8", 2**-8, sum_error=2**-10),
    "int8": _OperandTypes(np.int8, np.int32, np.int32, "int8", 0.0),
}


class Bf16Work(Workload):
    """Work whose results are the bits of bf16 numbers."""

    def numbers(self, result: Any) -> Any:
        """fp32, from uint16."""
        return from_bf16(result)


def nt_work(n: int, kind: str, launch: Callable[..., KernelCall]) -> Workload:
    """C = A B^T for n x n matrices, ``kind`` a key of OPERAND_TYPES. ``launch(a, b, c)`` calls the
    kernel.

    torch gives fp16 for fp16, where C is fp32: it has less to write.
    """
    factors = OPERAND_TYPES[kind]
    a, b = _random(kind, n, 0), _random(kind, n, 1)
    c = cp.empty((n, n), factors.result)
    exact = {"bf16": from_bf16, "fp8": from_e4m3}.get(kind, double)
    return (Bf16Work if kind in ("bf16", "fp8") else Workload)(
        (launch(a, b, c),),
        output=c,
        expected=lambda: double(exact(a)) @ double(exact(b)).T,
        rtol=factors.rtol,
        atol=0.0 if kind == "int8" else n * factors.sum_error + n**0.5 * factors.noise,
        libraries=cublas.products(kind, a, b, lambda: cp.empty_like(c))
        | torch_product(kind, a, b)
        | (rivals.product(a, b) if kind == "bf16" else {}),
    )


def _random(kind: str, n: int, seed: int) -> Any:
    """n x n factors of a ``kind``, from a normal distribution."""
    numbers = normal((n, n), seed)
    if kind == "int8":
        return cp.clip(cp.rint(40 * numbers), -127, 127).astype(np.int8)
    if kind == "fp8":
        return to_e4m3(numbers)
    return to_bf16(numbers) if kind == "bf16" else numbers.astype(OPERAND_TYPES[kind].dtype)


def torch_product(kind: str, a: Any, b: Any) -> dict[str, Callable[[], Any]]:
    """torch's product with sums of full width, where torch and a GPU are there."""
    torch = torch_on_gpu()
    if torch is None or kind == "fp8":
        return {}

    theirs = cp.empty((len(a), len(b)), OPERAND_TYPES[kind].theirs)
    x, across, z = as_tensors(a, b, theirs)
    y = across.T
    multiply = torch._int_mm if kind == "int8" else torch.matmul
    settings = torch.backends.cuda.matmul
    wanted = {
        "allow_tf32": kind == "TF32",
        "allow_fp16_reduced_precision_reduction": False,
        "allow_bf16_reduced_precision_reduction": False,
    }

    def run() -> Any:
        with _set(settings, wanted):
            multiply(x, y, out=z)
        return theirs

    return {f"torch.{multiply.__name__}": run}


@contextmanager
def _set(settings: Any, wanted: Mapping[str, bool]) -> Iterator[None]:
    """Attributes of ``settings`` as ``wanted``, until the end of the block."""
    before = {name: getattr(settings, name) for name in wanted}
    try:
        for name, value in wanted.items():
            setattr(settings, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)


def nt_case(
    name: str,
    kind: str,
    make: Callable[[int], Workload],
    chapter: ChapterKernels = CHAPTER,
    **other: Any,
) -> Case:
    """The product of ``NAME.cu`` in a ``chapter``; ``make(n)`` ends in :func:`nt_work`."""
    factors = OPERAND_TYPES[kind]
    moved = 2 * np.dtype(factors.dtype).itemsize + np.dtype(factors.result).itemsize
    return Case(
        name,
        f"GEMM, {kind}",
        chapter.files(name),
        make,
        bytes=lambda n: moved * n * n,
        flops=lambda n: 2 * n**3,
        peak=factors.peak,
        **{"gpu_sizes": SIZES} | other,
    )


def _nt_tiled(name: str, kind: str, **other: Any) -> Case:
    """A rung whose blocks of 256 threads compute 128 x 128 results each, at any size."""

    def make(n: int) -> Workload:
        kernel = CHAPTER.kernel(name)
        grid = ceil_div(n, 128), ceil_div(n, 128)
        return nt_work(n, kind, lambda a, b, c: KernelCall(kernel, grid, 256, (a, b, c, n, n, n)))

    return nt_case(name, kind, make, **other)


def _pipeline(n: int) -> Workload:
    """Tiles of 128 x 256, and only whole ones; the four stages of ``gemm_bf16_pipeline.cu``."""
    return nt_work(n, "bf16", pipeline_call)


def pipeline_call(a: Any, b: Any, c: Any) -> KernelCall:
    """``gemm_bf16_pipeline`` for n x n matrices, n a multiple of 256."""
    n = len(a)
    grid, shared = n // 128 * (n // 256), 4 * (128 + 256) * 128
    return KernelCall(CHAPTER.kernel("gemm_bf16_pipeline"), grid, 256, (a, b, c, n, n, n), shared)


def specialized_arguments(a: Any, b: Any, c: Any, blocks: int) -> tuple[Any, ...]:
    """What a specialised kernel takes for C = A B^T on a grid of ``blocks``.

    ``a`` (M, K) and ``b`` (N, K) have to live as long as the result is used, since their tensor
    maps do not keep them; ``c`` (M, N). Factors in float32 are rounded to TF32.
    """
    (m, k), n = a.shape, len(b)
    width = 128 // a.dtype.itemsize  # elements of a row of a tile
    maps = (
        tensor_map(x, (rows, width), swizzle=128, tf32=a.dtype == np.float32)
        for x, rows in ((a, 128), (b, 256))
    )
    partial = cp.empty((2 * blocks, 128, 256), np.int32 if c.dtype == np.int32 else np.float32)
    arrived = cp.zeros(m // 128 * (n // 256), np.int32)
    return *maps, c, partial, arrived, m, n, k


def specialized_call(name: str, a: Any, b: Any, c: Any) -> KernelCall:
    """The specialised kernel ``name`` for n x n matrices, n a multiple of 256."""
    n = len(a)
    step = 128 // a.dtype.itemsize  # elements of a row of a tile
    grid = grid_for(n // 128 * (n // 256), n // step)
    arguments = specialized_arguments(a, b, c, grid)
    kernel = CHAPTER.kernel(name, "sm_90a")
    return KernelCall(kernel, grid, 384, arguments, 3 * (128 + 256) * 128)


def _specialized(kind: str) -> Case:
    """Tiles of 128 x 256, and only whole ones; as many blocks as multiprocessors share them."""
    name = f"gemm_{kind.lower()}_specialized"

    def make(n: int) -> Workload:
        return nt_work(n, kind, partial(specialized_call, name))

    return nt_case(name, kind, make, test_sizes=(256,), sustained_sizes=(8192,))


CASES = (
    _square("sgemm_naive", "sgemm_naive", 32),
    _square("sgemm_coalesced", "sgemm_coalesced", 32),
    _square("sgemm_shared_16", "sgemm_shared", 16, TILE=16),
    _square("sgemm_shared_32", "sgemm_shared", 32, TILE=32),
    _case("sgemm_column_tile", "sgemm_column_tile", _tiled("sgemm_column_tile", (64, 64), 512, {})),
    *(
        _case(name, name, _tiled(name, (128, 128), 256, {}), emulator_sizes=(256,))
        for name in (
            "sgemm_register_tile",
            "sgemm_vector",
            "sgemm_conflict_free",
            "sgemm_warp_tile",
            "sgemm_double_buffer",
            "sgemm_cp_async",
        )
    ),
    _case("sgemm_autotuned", "sgemm_autotuned", _wide("sgemm_autotuned", 3), test_sizes=(256,)),
    _case(
        "sgemm_ordered",
        "sgemm_ordered",
        _wide("sgemm_ordered", 4),
        test_sizes=(256,),
        sustained_sizes=(8192,),
    ),
    _case(
        "sgemm_stream_k",
        "sgemm_stream_k",
        _stream_k,
        gpu_sizes=tuple(sorted((*SIZES, *MORE_SIZES))),
        test_sizes=(256,),
        sustained_sizes=(4096, 8192),
    ),
    _nt_tiled("hgemm_wmma", "fp16"),
    _nt_tiled("hgemm_mma", "fp16"),
    _nt_tiled("hgemm_ldmatrix", "fp16"),
    _nt_tiled("hgemm_swizzle", "fp16", sustained_sizes=(8192,)),
    nt_case("gemm_bf16_pipeline", "bf16", _pipeline, test_sizes=(256,)),
    _specialized("bf16"),
    _nt_tiled("gemm_tf32", "TF32"),
    _specialized("TF32"),
    _nt_tiled("igemm_dp4a", "int8"),
    _specialized("int8"),
)
