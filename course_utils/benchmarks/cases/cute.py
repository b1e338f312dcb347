"""The benchmarks of chapter 08's first half: a product in CuTe beside chapter 06 and cuBLAS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ...devices.selection import ON_GPU, cp
from ..case import KernelCall, Work, course_kernel
from .matmul import nt_case, nt_work, pipeline_call, specialized_call

CHAPTER = "08_cute_tma_blackwell"


def _tiled(n: int) -> Work:
    """Tiles of 128 x 128, and only whole ones; the three stages of ``gemm_bf16_tiled.cu``."""
    kernel = course_kernel(CHAPTER, "gemm_bf16_tiled")
    grid, shared = (n // 128) ** 2, 3 * (128 + 128) * 128
    work = nt_work(
        n, "bf16", lambda a, b, c: KernelCall(kernel, grid, 128, (a, b, c, n, n, n), shared)
    )
    return replace(work, libraries=work.libraries | _by_chapter_06(*work.launches[0].args[:2]))


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

    calls = pipeline_call, partial(specialized_call, "gemm_bf16_specialized")
    names = "gemm_bf16_pipeline", "gemm_bf16_specialized"
    return {name: ready(call) for name, call in zip(names, calls, strict=True)}


CASES = (
    nt_case(
        "gemm_bf16_tiled",
        "bf16",
        _tiled,
        chapter=CHAPTER,
        test_sizes=(256,),
        sustained_sizes=(8192,),
    ),
)
