"""The polynomial activation beside what PyTorch makes of its formula."""

from __future__ import annotations

from typing import Any

from ....devices.selection import cp
from ...case import Case, KernelCall, Work, blocks, course_kernel, double, normal, torch_on_gpu
from ..first_kernels.common import as_tensors, compiled

FILE = "07_pytorch_extensions/activation/polynomial.cu"


def _formula(x: Any) -> Any:
    return x * x + x + 1


def _polynomial(n: int) -> Work:
    x, y = normal(n), cp.empty(n, cp.float32)
    libraries = {}
    if torch_on_gpu():
        (tensor,) = as_tensors(x)
        libraries = {"torch eager": lambda: _formula(tensor), **compiled(_formula, tensor)}
    kernel = course_kernel("07_pytorch_extensions", "polynomial")
    call = KernelCall(kernel, blocks(n, 256), 256, (x, y, n))
    expected = lambda: _formula(double(x))  # noqa: E731
    return Work((call,), y, expected, rtol=1e-6, atol=1e-6, libraries=libraries)


CASES = (
    Case(
        "polynomial",
        "polynomial activation, fp32",
        (FILE,),
        _polynomial,
        bytes=lambda n: 8 * n,
        flops=lambda n: 4 * n,
        gpu_sizes=(1 << 20, 1 << 24, 1 << 26),
        test_sizes=(1, 255, 257),
    ),
)
