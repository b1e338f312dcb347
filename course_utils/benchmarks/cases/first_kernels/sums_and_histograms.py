"""The ladders of sums and of histograms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import ON_GPU, cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import as_tensors, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from ...libraries import cub
from .common import CHAPTER, FROM_SMALL_TO_LARGE, resident_grid


def _sum_launches(name: str, x: Any, total: Any) -> tuple[KernelCall, ...]:
    kernel, n = CHAPTER.kernel(name), x.size
    if name == "sum_atomic":
        return (KernelCall(kernel, ceil_div(n, 256), 256, (x, total, n)),)
    if name == "sum_single_pass":
        grid = resident_grid(n, 1024, 16)
        args = x, total, cp.empty(grid, cp.float32), cp.zeros(1, cp.uint32), n
        return (KernelCall(kernel, grid, 1024, args),)
    launches: list[KernelCall] = []
    while n > 1 or not launches:  # again on its own results until one is left
        block = 1024 if name == "sum_vector" else 256
        grid = ceil_div(n, 256)
        if name == "sum_vector":
            grid = 1 if launches else resident_grid(n, 1024, 16)
        sums = total if grid == 1 else cp.empty(grid, cp.float32)
        launches.append(KernelCall(kernel, grid, block, (x, sums, n)))
        x, n = sums, grid
    return tuple(launches)


def _sum(name: str) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        x, total = normal(n), cp.empty(1, cp.float32)
        launches = _sum_launches(name, x, total)
        libraries = cub.sum_fp32(x)
        if ON_GPU:
            libraries["cupy.sum"] = lambda: cp.sum(x).reshape(1)
        if torch := torch_on_gpu():
            (tensor,) = as_tensors(x)
            libraries["torch.sum"] = lambda: torch.sum(tensor).reshape(1)
        # The sum goes up and down like sqrt(n), and so many of its additions come one by one.
        in_a_row = n if name == "sum_atomic" else 64 + n // (1 << 18)
        return Workload(
            launches,
            output=total,
            expected=lambda: double(x).sum().reshape(1),
            atol=2**-22 * (n * in_a_row) ** 0.5,
            libraries=libraries,
            cleared=(total,) if name == "sum_atomic" else (),
            same_bits=name != "sum_atomic",
        )

    return make


def _sum_case(name: str, **more: Any) -> Case:
    return Case(
        name,
        "sum, fp32",
        CHAPTER.files(name),
        _sum(name),
        bytes=lambda n: 4 * n,
        flops=lambda n: n,
        ceiling="read",
        **({"gpu_sizes": (1 << 28,), "test_sizes": (1, 255, 1009, 70001)} | more),
    )


def _histogram(name: str, equal: bool) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        pixels = cp.full(n, 77, cp.uint8)
        if not equal:
            pixels = cp.clip(128 + 40 * normal(n), 0, 255).astype(cp.uint8)
        counts = cp.empty(256, cp.uint32)
        one_by_one = name in ("histogram_global", "histogram_aggregated")
        block = 1024 if name == "histogram_lanes" else 256
        grid = ceil_div(n, 256) if one_by_one else resident_grid(n, block, 1)
        libraries = cub.histogram_of_bytes(pixels)
        if ON_GPU:
            libraries["cupy.bincount"] = lambda: cp.bincount(pixels, minlength=256)
        if torch := torch_on_gpu():
            (tensor,) = as_tensors(pixels)
            libraries["torch.bincount"] = lambda: torch.bincount(tensor, minlength=256)
        return Workload(
            (KernelCall(CHAPTER.kernel(name), grid, block, (pixels, counts, n)),),
            output=counts,
            expected=lambda: double(cp.bincount(pixels, minlength=256)),
            libraries=libraries,
            cleared=(counts,),
        )

    return make


def _histogram_case(file: str, equal: bool = False) -> Case:
    return Case(
        f"{file}_equal" if equal else file,
        "histogram of equal bytes" if equal else "histogram of bytes",
        CHAPTER.files(file),
        _histogram(file, equal),
        bytes=lambda n: n,
        flops=lambda n: 0,
        gpu_sizes=FROM_SMALL_TO_LARGE if file == "histogram_lanes" else (1 << 28,),
        test_sizes=(1, 17, 1009),
        ceiling="read",
    )


CASES = (
    _sum_case("sum_atomic"),
    _sum_case("sum_shared_interleaved"),
    _sum_case("sum_shared_sequential"),
    _sum_case("sum_warp_shuffle", emulator_sizes=(1 << 18, 256)),
    _sum_case("sum_vector"),
    _sum_case("sum_single_pass", gpu_sizes=(*FROM_SMALL_TO_LARGE, 1 << 30)),
    _histogram_case("histogram_global"),
    _histogram_case("histogram_shared"),
    _histogram_case("histogram_aggregated"),
    _histogram_case("histogram_vector"),
    _histogram_case("histogram_lanes"),
    _histogram_case("histogram_global", equal=True),
    _histogram_case("histogram_shared", equal=True),
    _histogram_case("histogram_aggregated", equal=True),
    _histogram_case("histogram_vector", equal=True),
    _histogram_case("histogram_lanes", equal=True),
)
