"""The benchmarks of chapter 06: matrix products beside cuBLAS."""

from __future__ import annotations

from collections.abc import Callable

from ..device import ON_GPU, cp
from ..kernels import load
from .case import Case, Launch, Work, blocks, double, normal
from .this_gpu import multiprocessors

FOLDER = "06_matmul_and_fft"
EMULATED_MULTIPROCESSORS = 3  # of a grid that has a block for each: enough to share tiles


def _product(n: int, launch: Callable[..., Launch]) -> Work:
    """C = A B for n x n matrices; ``launch(a, b, c)`` calls the kernel."""
    a, b = normal((n, n)), normal((n, n), 1)
    c, theirs = cp.empty((n, n), cp.float32), cp.empty((n, n), cp.float32)
    # An error of rounding for each of n additions, and they go up and down.
    tolerance = 4e-6 * n**0.5
    return Work(
        (launch(a, b, c),),
        output=c,
        expected=lambda: double(a) @ double(b),
        rtol=tolerance,
        atol=4 * tolerance,
        libraries={"cuBLAS SGEMM": lambda: cp.matmul(a, b, out=theirs)} if ON_GPU else {},
    )


def _tiled(file: str, tile: tuple[int, int], block, defines: dict[str, int]):
    """A block of the grid for each tile (rows, columns) of C."""

    def make(n: int) -> Work:
        kernel = load(f"{FOLDER}/{file}.cu", defines=defines).kernel
        grid = blocks(n, tile[1]), blocks(n, tile[0])
        return _product(n, lambda a, b, c: Launch(kernel, grid, block, (a, b, c, n, n, n)))

    return make


def dynamic_shared(BM: int = 128, BN: int = 256, BK: int = 8, STAGES: int = 3) -> int:
    """Bytes of dynamic shared memory of ``sgemm_autotuned.cu`` and the rungs after it."""
    return STAGES * BK * (BM + 4 + BN) * 4


def _wide(file: str, stages: int):
    """Tiles of 128 x 256, and only whole ones."""

    def make(n: int) -> Work:
        kernel = load(f"{FOLDER}/{file}.cu").kernel
        grid = n // 256, n // 128
        shared = dynamic_shared(STAGES=stages)
        return _product(n, lambda a, b, c: Launch(kernel, grid, 256, (a, b, c, n, n, n), shared))

    return make


def _stream_k(n: int) -> Work:
    """As many blocks as multiprocessors; they share the tiles of C."""
    kernel = load(f"{FOLDER}/sgemm_stream_k.cu").kernel
    steps = (n // 128) * (n // 256) * (n // 8)
    grid = min(
        multiprocessors() if ON_GPU else EMULATED_MULTIPROCESSORS, steps
    )  # each block has something to do
    partial = cp.empty((2 * grid, 128, 256), cp.float32)
    arrived = cp.zeros((n // 128) * (n // 256), cp.int32)
    shared = dynamic_shared(STAGES=4)

    def launch(a, b, c) -> Launch:
        return Launch(kernel, grid, 256, (a, b, c, partial, arrived, n, n, n), shared)

    return _product(n, launch)


def _case(name: str, file: str, make: Callable[[int], Work], **other) -> Case:
    return Case(
        name,
        "matrix product, fp32",
        (f"{FOLDER}/{file}.cu",),
        make,
        bytes=lambda n: 3 * 4 * n * n,
        flops=lambda n: 2 * n**3,
        gpu_sizes=(1024, 2048, 4096, 8192),
        **other,
    )


def _square(name: str, file: str, tile: int, **defines: int) -> Case:
    make = _tiled(file, (tile, tile), (tile, tile), defines)
    return _case(name, file, make, emulator_size=256)


CASES = (
    _square("sgemm_naive", "sgemm_naive", 32),
    _square("sgemm_coalesced", "sgemm_coalesced", 32),
    _square("sgemm_shared_16", "sgemm_shared", 16, TILE=16),
    _square("sgemm_shared_32", "sgemm_shared", 32, TILE=32),
    _case("sgemm_column_tile", "sgemm_column_tile", _tiled("sgemm_column_tile", (64, 64), 512, {})),
    *(
        _case(name, name, _tiled(name, (128, 128), 256, {}), emulator_size=256)
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
    _case("sgemm_ordered", "sgemm_ordered", _wide("sgemm_ordered", 4), test_sizes=(256,)),
    _case("sgemm_stream_k", "sgemm_stream_k", _stream_k, test_sizes=(256,)),
)
