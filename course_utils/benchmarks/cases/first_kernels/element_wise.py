"""Element by element, and neighbours: vector addition, falling particles, a blur."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....devices.selection import ON_GPU, cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import as_tensors, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from .common import CHAPTER, FROM_SMALL_TO_LARGE


def _vec_add_vector(n: int) -> Workload:
    work = _vec_add(n)
    a, b, c, _ = work.launches[0].args
    launch = KernelCall(CHAPTER.kernel("vec_add_vector"), ceil_div(n, 1024), 256, (a, b, c, n // 4))
    return replace(work, launches=(launch,))


def _vec_add(n: int) -> Workload:
    a, b, c, theirs = normal(n), normal(n, 1), cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    libraries = {}
    if ON_GPU:
        libraries["cupy.add"] = lambda: cp.add(a, b, out=theirs)
    if torch := torch_on_gpu():
        x, y, z = as_tensors(a, b, theirs)
        libraries["torch.add"] = lambda: torch.add(x, y, out=z)
    return Workload(
        (KernelCall(CHAPTER.kernel("vec_add"), ceil_div(n, 256), 256, (a, b, c, n)),),
        output=c,
        expected=lambda: double(a) + double(b),
        rtol=1e-6,
        atol=1e-7,
        libraries=libraries,
    )


def _fall(name: str) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        particles, later, dt = normal((n, 8)), cp.empty(n, cp.float32), 0.01
        z, vz = (cp.ascontiguousarray(particles[:, k]) for k in (2, 5))
        data = (particles,) if name == "fall_aos" else (z, vz)
        return Workload(
            (KernelCall(CHAPTER.kernel(name), ceil_div(n, 256), 256, (*data, later, dt, n)),),
            output=later,
            expected=lambda: double(z) + dt * double(vz),
            rtol=1e-6,
            atol=1e-6,
        )

    return make


def _fall_case(name: str) -> Case:
    return Case(
        name,
        "falling particles",
        CHAPTER.files(name),
        _fall(name),
        bytes=lambda n: 12 * n,
        flops=lambda n: 2 * n,
        gpu_sizes=(1 << 25,),
        test_sizes=(1, 61, 1009),
    )


def _blur(size: tuple[int, int]) -> Workload:
    """Each pixel becomes the mean of those up to two rows and columns away; for the emulator."""
    (height, width), radius = size, 2
    grey, out = normal(size), cp.empty(size, cp.float32)
    grid = ceil_div(width, 16), ceil_div(height, 16)

    def expected() -> Any:
        total, count = cp.zeros((2, height, width), cp.float64)
        for down in range(-radius, radius + 1):
            for right in range(-radius, radius + 1):
                rows = slice(max(0, -down), max(0, height - max(0, down)))
                columns = slice(max(0, -right), max(0, width - max(0, right)))
                count[rows, columns] += 1
                total[rows, columns] += double(grey)[
                    max(0, down) : max(0, height + min(0, down)),
                    max(0, right) : max(0, width + min(0, right)),
                ]
        return total / count

    arguments = grey, out, height, width, radius
    return Workload(
        (KernelCall(CHAPTER.kernel("image_blur"), grid, (16, 16), arguments),),
        output=out,
        expected=expected,
        rtol=1e-5,
        atol=1e-6,
    )


CASES = (
    Case(
        "vec_add",
        "vector addition, fp32",
        CHAPTER.files("vec_add"),
        _vec_add,
        bytes=lambda n: 3 * 4 * n,
        flops=lambda n: n,
        gpu_sizes=(1 << 20, 1 << 28),
        emulator_sizes=(1 << 20,),
        ceiling="read",  # two thirds of the bytes are read: faster than a copy's half and half
    ),
    Case(
        "vec_add_vector",
        "vector addition, fp32",
        CHAPTER.files("vec_add_vector"),
        _vec_add_vector,
        bytes=lambda n: 3 * 4 * n,
        flops=lambda n: n,
        gpu_sizes=FROM_SMALL_TO_LARGE,
        test_sizes=(4, 260, 1012),
        ceiling="read",
    ),
    _fall_case("fall_aos"),
    _fall_case("fall_soa"),
    Case(
        "image_blur",
        "blur of a picture, fp32",
        CHAPTER.files("image_blur"),
        _blur,
        bytes=lambda size: 8 * size[0] * size[1],
        flops=lambda size: 25 * size[0] * size[1],
        gpu_sizes=(),
        emulator_sizes=((512, 512),),
        test_sizes=((1, 1), (2, 40), (37, 50)),
    ),
)
