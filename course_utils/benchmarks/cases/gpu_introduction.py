"""The benchmarks of chapter 03: one kernel for each part of the roofline."""

from __future__ import annotations

from typing import Any

from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.modules import load
from ..harness.arrays import double, normal, softmax_of
from ..harness.case import Case
from ..harness.workload import KernelCall, Workload

FOLDER = "03_gpu_introduction/roofline"


def _softmax(n: tuple[int, int]) -> Workload:
    rows, columns = n
    x, y = normal(n), cp.empty(n, cp.float32)
    kernel = load(f"{FOLDER}/softmax_rows.cu").kernel
    return Workload(
        (KernelCall(kernel, rows, 256, (x, y, columns)),),
        output=y,
        expected=lambda: softmax_of(x),
        rtol=1e-5,
        atol=1e-9,
        same_bits=False,  # expf may differ in its last digit
    )


def _gemv(n: tuple[int, int]) -> Workload:
    rows, columns = n
    a, x, y = normal(n), normal(columns, 1), cp.empty(rows, cp.float32)
    kernel = load(f"{FOLDER}/gemv_rows.cu").kernel
    tolerance = 1e-6 * columns**0.5
    return Workload(
        (KernelCall(kernel, rows, 256, (a, x, y, columns)),),
        output=y,
        expected=lambda: double(a) @ double(x),
        rtol=tolerance,
        atol=4 * tolerance,
    )


def _conv(n: tuple[int, int, int, int]) -> Workload:
    channels, filters, height, width = n
    image, weights = normal((channels, height, width)), normal((filters, channels, 3, 3), 1)
    out = cp.empty((filters, height, width), cp.float32)

    def expected() -> Any:
        padded = cp.pad(double(image), ((0, 0), (1, 1), (1, 1)))
        total = cp.zeros((filters, height * width))
        for down in range(3):
            for right in range(3):
                part = padded[:, down : down + height, right : right + width]
                part = part.reshape(channels, height * width)
                total = total + double(weights)[:, :, down, right] @ part
        return total.reshape(filters, height, width)

    grid = ceil_div(width, 32), ceil_div(height, 8), filters
    kernel = load(f"{FOLDER}/conv3x3.cu").kernel
    tolerance = 1e-6 * (9 * channels) ** 0.5
    return Workload(
        (KernelCall(kernel, grid, (32, 8), (image, weights, out, channels, height, width)),),
        output=out,
        expected=expected,
        rtol=tolerance,
        atol=4 * tolerance,
    )


CASES = (
    Case(
        "softmax_rows",
        "softmax of rows, fp32",
        (f"{FOLDER}/softmax_rows.cu",),
        _softmax,
        bytes=lambda n: 2 * 4 * n[0] * n[1],
        flops=lambda n: 4 * n[0] * n[1],  # subtract, exp, add, multiply
        gpu_sizes=((16384, 4096),),
        test_sizes=((1, 1), (3, 257), (5, 1000)),
    ),
    Case(
        "gemv_rows",
        "matrix times vector, fp32",
        (f"{FOLDER}/gemv_rows.cu",),
        _gemv,
        bytes=lambda n: 4 * (n[0] * n[1] + n[0] + n[1]),
        flops=lambda n: 2 * n[0] * n[1],
        gpu_sizes=((16384, 16384),),
        test_sizes=((1, 1), (3, 257), (5, 1000)),
        ceiling="read",
    ),
    Case(
        "conv3x3",
        "convolution 3 x 3, fp32",
        (f"{FOLDER}/conv3x3.cu",),
        _conv,
        bytes=lambda n: 4 * ((n[0] + n[1]) * n[2] * n[3] + 9 * n[0] * n[1]),
        flops=lambda n: 2 * 9 * n[0] * n[1] * n[2] * n[3],
        gpu_sizes=((64, 64, 512, 512),),
        test_sizes=((1, 1, 1, 1), (2, 3, 9, 33), (3, 2, 17, 40)),
    ),
)
