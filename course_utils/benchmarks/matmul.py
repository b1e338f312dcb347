"""The benchmarks of chapter 06: matrix products beside cuBLAS."""

from __future__ import annotations

from collections.abc import Callable

from ..device import ON_GPU, cp
from ..kernels import load
from .case import Case, Launch, Work, blocks, double, normal

FOLDER = "06_matmul_and_fft"


def _sgemm(file: str, tile: int, defines: dict[str, int]) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        a, b = normal((n, n)), normal((n, n), 1)
        c, theirs = cp.empty((n, n), cp.float32), cp.empty((n, n), cp.float32)
        kernel = load(f"{FOLDER}/{file}.cu", defines=defines).kernel
        grid = blocks(n, tile), blocks(n, tile)
        # An error of rounding for each of n additions, and they go up and down.
        tolerance = 4e-6 * n**0.5
        return Work(
            (Launch(kernel, grid, (tile, tile), (a, b, c, n, n, n)),),
            output=c,
            expected=lambda: double(a) @ double(b),
            rtol=tolerance,
            atol=4 * tolerance,
            libraries={"cuBLAS SGEMM": lambda: cp.matmul(a, b, out=theirs)} if ON_GPU else {},
        )

    return make


def _case(name: str, file: str, tile: int, **defines: int) -> Case:
    return Case(
        name,
        "matrix product, fp32",
        (f"{FOLDER}/{file}.cu",),
        _sgemm(file, tile, defines),
        bytes=lambda n: 3 * 4 * n * n,
        flops=lambda n: 2 * n**3,
        gpu_sizes=(1024, 4096),
        emulator_size=256,
    )


CASES = (
    _case("sgemm_naive", "sgemm_naive", 32),
    _case("sgemm_coalesced", "sgemm_coalesced", 32),
    _case("sgemm_shared_16", "sgemm_shared", 16, TILE=16),
    _case("sgemm_shared_32", "sgemm_shared", 32, TILE=32),
)
