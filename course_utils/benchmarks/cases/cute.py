"""The benchmarks of chapter 08: a product in CuTe, a transpose by TMA, beside what came before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ...devices.selection import ON_GPU, cp
from ...integers import ceil_div
from ...launching.tensor_maps import tensor_map
from ..harness.arrays import double, normal
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels
from ..harness.workload import KernelCall, Workload
from .first_kernels.transposes import transpose_call, transpose_libraries
from .matmul import nt_case, nt_work, pipeline_call, specialized_call

CHAPTER = ChapterKernels("08_cute_tma_blackwell")


def _tiled(n: int) -> Workload:
    """Tiles of 128 x 128, and only whole ones; the three stages of ``gemm_bf16_tiled.cu``."""
    kernel = CHAPTER.kernel("gemm_bf16_tiled")
    grid, shared = (n // 128) ** 2, 3 * (128 + 128) * 128
    work = nt_work(
        n, "bf16", lambda a, b, c: KernelCall(kernel, grid, 128, (a, b, c, n, n, n), shared)
    )
    a, b, *_ = work.launches[0].args
    return replace(work, libraries={**work.libraries, **_by_chapter_06(a, b)})


def _by_chapter_06(a: Any, b: Any) -> dict[str, Callable[[], Any]]:
    """Chapter 06's two kernels for the same product, where there is a GPU."""
    if not ON_GPU:
        return {}

    def ready(call: Callable[..., KernelCall]) -> Callable[[], Any]:
        c = cp.empty_like(a)
        launch = call(a, b, c).ready()

        def run() -> Any:
            launch()
            return c

        return run

    specialized = partial(specialized_call, "gemm_bf16_specialized")
    return {"gemm_bf16_pipeline": ready(pipeline_call), "gemm_bf16_specialized": ready(specialized)}


def _transpose(size: tuple[int, int]) -> Workload:
    """Whole tiles of 64 x 64; chapter 04's best is among the libraries."""
    rows, columns = size
    a, out = normal(size), cp.empty((columns, rows), cp.float32)
    maps = tuple(tensor_map(x, (64, 32), swizzle=128) for x in (a, out))
    grid = ceil_div(rows, 64), ceil_div(columns, 64)
    libraries = transpose_libraries(a, out)
    if ON_GPU:
        theirs = cp.empty_like(out)
        launch = transpose_call("transpose_vector", a, theirs).ready()
        libraries["transpose_vector"] = lambda: (launch(), theirs)[1]
    return Workload(
        (KernelCall(CHAPTER.kernel("transpose_tma"), grid, 256, maps),),
        output=out,
        expected=lambda: double(a.T),
        libraries=libraries,
    )


CASES = (
    Case(
        "transpose_tma",
        "transpose, fp32",
        CHAPTER.files("transpose_tma"),
        _transpose,
        bytes=lambda size: 8 * size[0] * size[1],
        flops=lambda size: 0,
        gpu_sizes=((8192, 8192),),
        test_sizes=((4, 4), (36, 132), (128, 4), (64, 192)),
    ),
    nt_case(
        "gemm_bf16_tiled",
        "bf16",
        _tiled,
        chapter=CHAPTER,
        test_sizes=(256,),
        sustained_sizes=(8192,),
    ),
)
