"""Convolution, normalisation, ReLU and pooling, apart and fused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import by_torch, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from .common import CHAPTER


def _conv(name: str) -> Callable[[Any], Workload]:
    def make(size: tuple[int, ...]) -> Workload:
        images, channels, filters, height, width = size
        x = normal((images, channels, height, width))
        weights = normal((filters, channels, 3, 3), 1)
        scale, shift = normal(filters, 2), normal(filters, 3)
        planes, pixels = images * filters, height * width
        out = cp.empty((images, filters, height // 2, width // 2), cp.float32)
        pool_grid = ceil_div(width, 64), ceil_div(height, 16), planes
        shape = channels, filters, height, width
        launches: tuple[KernelCall, ...]
        if name != "conv_bn_relu_pool_separate":
            args = x, weights, scale, shift, out, *shape
            if name == "conv_bn_relu_pool_filters":
                pool_grid = *pool_grid[:2], images * ceil_div(filters, 8)
            launches = (KernelCall(CHAPTER.kernel(name), pool_grid, (32, 8), args),)
        else:
            middle = cp.empty((images, filters, height, width), cp.float32)
            grid = ceil_div(width, 32), ceil_div(height, 8), planes
            normed = middle, scale, shift, filters, pixels
            launches = (
                KernelCall(CHAPTER.kernel("conv3x3"), grid, (32, 8), (x, weights, middle, *shape)),
                KernelCall(
                    CHAPTER.kernel("batchnorm"), (ceil_div(pixels, 256), planes), 256, normed
                ),
                KernelCall(
                    CHAPTER.kernel("relu"), ceil_div(middle.size, 256), 256, (middle, middle.size)
                ),
                KernelCall(
                    CHAPTER.kernel("maxpool2x2"), pool_grid, (32, 8), (middle, out, height, width)
                ),
            )
        return Workload(
            launches,
            output=out,
            expected=lambda: _conv_expected(x, weights, scale, shift),
            rtol=1e-5,
            atol=1e-5 * (9 * channels) ** 0.5,
            libraries=_conv_libraries(x, weights, scale, shift) if torch_on_gpu() else {},
        )

    return make


def _conv_expected(x: Any, weights: Any, scale: Any, shift: Any) -> Any:
    _, _, height, width = x.shape
    padded = cp.pad(double(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    total = 0.0
    for dy in range(3):
        for dx in range(3):
            part = padded[:, :, dy : dy + height, dx : dx + width]
            total = total + cp.einsum("nchw,fc->nfhw", part, double(weights[:, :, dy, dx]))
    total = double(scale)[:, None, None] * total + double(shift)[:, None, None]
    total = cp.maximum(total, 0.0)[:, :, : height // 2 * 2, : width // 2 * 2]
    largest = cp.maximum(total[:, :, ::2], total[:, :, 1::2])
    return cp.maximum(largest[:, :, :, ::2], largest[:, :, :, 1::2])


def _conv_libraries(*arrays: Any) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    return by_torch(_torch_conv, *arrays, graph=True)


def _torch_conv(x: Any, weights: Any, scale: Any, shift: Any) -> Any:
    functional = torch_on_gpu().nn.functional
    y = functional.conv2d(x, weights, padding=1)
    y = functional.relu(scale[:, None, None] * y + shift[:, None, None])
    return functional.max_pool2d(y, 2)


def _conv_case(name: str, *files: str) -> Case:
    return Case(
        name,
        "conv 3x3, batchnorm, ReLU, pool",
        CHAPTER.files(*files),
        _conv(name),
        bytes=lambda s: 4 * s[0] * s[3] * s[4] * (s[1] + s[2] // 4),
        flops=lambda s: 18 * s[0] * s[1] * s[2] * s[3] * s[4],
        gpu_sizes=((32, 3, 16, 224, 224),),
        test_sizes=((1, 1, 1, 2, 2), (2, 3, 5, 7, 9), (1, 2, 3, 33, 68)),
    )


CASES = (
    _conv_case("conv_bn_relu_pool_separate", "conv3x3", "batchnorm", "relu", "maxpool2x2"),
    _conv_case("conv_bn_relu_pool", "conv_bn_relu_pool"),
    _conv_case("conv_bn_relu_pool_filters", "conv_bn_relu_pool_filters"),
)
