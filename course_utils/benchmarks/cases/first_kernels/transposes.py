"""The ladder of transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import ON_GPU, cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import as_tensors, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from .common import CHAPTER


def transpose_libraries(a: Any, out: Any) -> dict[str, Callable[[], Any]]:
    """What else transposes ``a`` into arrays like ``out``, where there is a GPU."""
    libraries: dict[str, Callable[[], Any]] = {}
    if ON_GPU:
        from cupy import cublas

        theirs = cp.empty_like(out)

        def geam() -> Any:  # column-major: it sees both matrices transposed already
            cublas.geam("T", "T", 1.0, a.T, 0.0, a.T, out=theirs.T)
            return theirs

        libraries["cuBLAS geam"] = geam
    if torch_on_gpu():
        x, y = as_tensors(a, cp.empty_like(out))
        libraries["torch"] = lambda: y.copy_(x.T)
    return libraries


def transpose_call(name: str, a: Any, out: Any) -> KernelCall:
    """The kernel ``name`` of the ladder, for matrices of its shape."""
    rows, columns = a.shape
    arguments = a, out, rows, columns
    if name == "transpose_vector":
        grid = ceil_div(rows, 64), ceil_div(columns, 64)
        return KernelCall(CHAPTER.kernel(name), grid, 256, arguments)
    grid = ceil_div(columns, 32), ceil_div(rows, 32)
    return KernelCall(CHAPTER.kernel(name), grid, (32, 32), arguments)


def _transpose(name: str) -> Callable[[Any], Workload]:
    def make(size: tuple[int, int]) -> Workload:
        a, out = normal(size), cp.empty(size[::-1], cp.float32)
        return Workload(
            (transpose_call(name, a, out),),
            output=out,
            expected=lambda: double(a.T),
            libraries=transpose_libraries(a, out),
        )

    return make


def _transpose_case(name: str, **more: Any) -> Case:
    return Case(
        name,
        "transpose, fp32",
        CHAPTER.files(name),
        _transpose(name),
        bytes=lambda size: 8 * size[0] * size[1],
        flops=lambda size: 0,
        **(
            {
                "gpu_sizes": ((8192, 8192),),
                "test_sizes": ((1, 1), (37, 70), (33, 1), (64, 96)),
            }
            | more
        ),
    )


CASES = (
    _transpose_case("transpose_naive"),
    _transpose_case("transpose_shared"),
    _transpose_case("transpose_padded", emulator_sizes=((512, 512),)),
    _transpose_case("transpose_swizzled"),
    _transpose_case(
        "transpose_vector",
        gpu_sizes=tuple((n, n) for n in (256, 1024, 4096, 8192)),
        test_sizes=((4, 4), (36, 132), (128, 4), (64, 192)),
    ),
)
