"""Filters over a long signal and over an image: chapter 05.

A size is (results, taps) for a signal and (side of the results, side of the filter) for an image;
x has as many numbers more on each axis as the results of "valid" lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...devices.selection import ON_GPU, cp
from ...integers import ceil_div
from ..harness.arrays import double, normal
from ..harness.case import Case, Size
from ..harness.chapter_kernels import ChapterKernels
from ..harness.workload import KernelCall, Workload
from ..libraries import filter_libraries
from .fft import Split, in_pairs

CHAPTER = ChapterKernels("05_cuda_libraries")
HELD = 16  # results of a thread of filter_window
SIDE_POINTS = 128  # of the square that a block of filter_fft_2d transforms
SPLITS = {  # the fastest of those that a search on an H200 tried
    split.points: split for split in (Split((16, 8, 16), blocks=6), Split((16, 16, 16), blocks=3))
}
FFT_2D_SHARED = 8 * (SIDE_POINTS * (SIDE_POINTS + 1) + SIDE_POINTS)  # bytes: the square, the roots


@dataclass(frozen=True)
class FilterWorkload(Workload):
    """Work whose libraries may leave their results scattered, and return what collects them."""

    def numbers(self, result: Any) -> Any:
        """``result``, collected where a library left it scattered."""
        return result() if callable(result) else result


def _work(
    x: Any,
    h: Any,
    launch: Callable[[Any], tuple[KernelCall, ...]],
    libraries: filter_libraries.Runs,
) -> Workload:
    """``launch(y)`` computes the valid part of x * h."""
    error = max(5e-6, 4e-7 * h.size**0.5)  # those of taps additions go up and down
    y = cp.empty(tuple(n - r + 1 for n, r in zip(x.shape, h.shape, strict=True)), cp.float32)
    return FilterWorkload(
        launch(y),
        output=y,
        expected=lambda: convolved(x, h),
        rtol=error,
        atol=error * h.size**0.5,
        libraries=libraries,
        same_bits=False,
    )


def convolved(x: Any, h: Any) -> Any:
    """The valid part of x * h in float64, by transforms of all of x."""
    given = [double(array) if ON_GPU else double(array.get()) for array in (x, h)]
    fft = cp.get_array_module(given[0]).fft
    valid = tuple(slice(r - 1, n) for r, n in zip(h.shape, x.shape, strict=True))
    of_x, of_h = (fft.rfftn(array, s=x.shape, axes=range(x.ndim)) for array in given)
    return fft.irfftn(of_x * of_h, s=x.shape, axes=range(x.ndim))[valid]


def direct_call(x: Any, h: Any, y: Any, name: str, block: tuple[int, int]) -> KernelCall:
    """``filter_direct`` or ``filter_window`` on the valid part."""
    (rows, columns), (R, S) = (a.shape if a.ndim == 2 else (1, a.size) for a in (x, h))
    out_rows, out_columns = rows - R + 1, columns - S + 1
    arguments = x, h, y, rows, columns, R, S, R - 1, S - 1, out_rows, out_columns
    if name == "filter_direct":
        grid = ceil_div(out_columns, block[0]), ceil_div(out_rows, block[1])
        return KernelCall(CHAPTER.kernel(name), grid, block, arguments)
    kernel = CHAPTER.kernel(name, BX=block[0], BY=block[1])
    grid = ceil_div(out_columns, HELD * block[0]), ceil_div(out_rows, block[1])
    return KernelCall(kernel, grid, block, arguments, window_bytes(R, S, *block))


def window_bytes(R: int, S: int, across: int, down: int) -> int:
    """Shared memory of ``filter_window``."""
    S4 = ceil_div(S, 4) * 4
    pitch = 20 * (across + ceil_div(S4, 16) + 1)
    return 4 * ((down + R - 1) * pitch + R * S4)


def fft_call(x: Any, h: Any, y: Any, split: Split) -> KernelCall:
    """``filter_fft`` with segments of ``split.points``, whose steps are whole lines of memory."""
    kernel = CHAPTER.kernel("filter_fft", **split.defines)
    step = split.points - h.size + 1
    step -= step % 32 if step > 32 else 0
    spectrum = in_pairs(filter_libraries.spectrum(h.get(), split.points)).astype(np.float32)
    arguments = x, cp.asarray(spectrum), y, y.size, h.size, step
    grid = ceil_div(y.size, 2 * step)
    return KernelCall(kernel, grid, split.threads, arguments, split.shared_bytes)


def fft_2d_call(x: Any, h: Any, y: Any) -> KernelCall:
    """``filter_fft_2d`` on the valid part, for filters of at most 128 x 128."""
    (rows, columns), (R, S), (out_rows, out_columns) = x.shape, h.shape, y.shape
    turned = np.pad(h.get().astype(np.float64), ((0, SIDE_POINTS - R), (0, SIDE_POINTS - S)))
    turned = np.roll(turned, (1 - R, 1 - S), (0, 1))
    transposed = in_pairs(np.fft.fft2(turned).T / SIDE_POINTS**2).astype(np.float32)
    spectrum = cp.asarray(np.ascontiguousarray(transposed))
    arguments = x, spectrum, y, rows, columns, R, S, R - 1, S - 1, out_rows, out_columns
    down, across = SIDE_POINTS + 1 - R, SIDE_POINTS + 1 - S
    grid = ceil_div(out_columns, 2 * across), ceil_div(out_rows, down)
    return KernelCall(CHAPTER.kernel("filter_fft_2d"), grid, 1024, arguments, FFT_2D_SHARED)


def _signal(name: str, with_libraries: bool = False) -> Callable[[tuple[int, int]], Workload]:
    def make(size: tuple[int, int]) -> Workload:
        n, taps = size
        x, h = normal((n + taps - 1,)), normal((taps,), 1)

        def launch(y: Any) -> tuple[KernelCall, ...]:
            if name == "filter_fft":
                return (fft_call(x, h, y, SPLITS[points_for(taps)]),)
            return (direct_call(x, h, y, name, (256, 1)),)

        return _work(x, h, launch, filter_libraries.of_signal(x, h) if with_libraries else {})

    return make


def points_for(taps: int) -> int:
    """The length of segment that was faster for so many taps on an H200."""
    return 2048 if taps <= 600 else 4096


def _image(name: str) -> Callable[[tuple[int, int]], Workload]:
    def make(size: tuple[int, int]) -> Workload:
        side, taps = size
        x, h = normal((side + taps - 1,) * 2), normal((taps, taps), 1)

        def launch(y: Any) -> tuple[KernelCall, ...]:
            if name == "filter_fft_2d":
                return (fft_2d_call(x, h, y),)
            return (direct_call(x, h, y, name, (8, 32)),)

        return _work(x, h, launch, filter_libraries.of_image(x, h))

    return make


SIGNAL, IMAGE = "filter over a signal, fp32", "filter over an image, fp32"
LONG, SHORT, SIDE = 1 << 26, 1 << 24, 4096
SIDES_2D = (3, 7, 11, 15, 31, 63)
TAPS = (3, 9, 33, 65, 129, 257, 1025)


def _signal_bytes(size: tuple[int, int]) -> int:
    n, taps = size
    return 4 * (n + taps - 1 + n + taps)


def _image_bytes(size: tuple[int, int]) -> int:
    side, taps = size
    return 4 * ((side + taps - 1) ** 2 + side**2 + taps**2)


def _signal_case(name: str, sizes: tuple[Size, ...], tests: tuple[Size, ...]) -> Case:
    by_transforms = name == "filter_fft"
    return Case(
        name,
        SIGNAL,
        CHAPTER.files(name),
        _signal(name, by_transforms),
        bytes=_signal_bytes,
        flops=_fft_flops if by_transforms else lambda size: 2 * size[0] * size[1],
        gpu_sizes=sizes,
        test_sizes=tests,
    )


def _image_case(
    name: str, kernel: str, flops: Callable[[tuple[int, int]], int], tests: tuple[Size, ...]
) -> Case:
    return Case(
        name,
        IMAGE,
        CHAPTER.files(kernel),
        _image(kernel),
        bytes=_image_bytes,
        flops=flops,
        gpu_sizes=tuple((SIDE, side) for side in SIDES_2D),
        test_sizes=tests,
    )


def _products(size: tuple[int, int]) -> int:
    """FLOPs of a filter by its definition."""
    return 2 * size[0] ** 2 * size[1] ** 2


def _fft_2d_flops(size: tuple[int, int]) -> int:
    """Two transforms and a product for two squares, 5 P log2(P) + 6 P FLOPs of P points."""
    side, taps = size
    points = SIDE_POINTS**2
    squares = (side / (SIDE_POINTS + 1 - taps)) ** 2 / 2
    return int(squares * points * (10 * np.log2(points) + 6))


def _fft_flops(size: tuple[int, int]) -> int:
    """Two transforms and a product for two segments, 5 P log2(P) + 6 P FLOPs of P points."""
    n, taps = size
    points = points_for(taps)
    rows = n / (2 * (points - taps + 1))
    return int(rows * points * (10 * np.log2(points) + 6))


CASES = (
    _signal_case("filter_direct", tuple((SHORT, taps) for taps in TAPS[:5]), ((1, 1), (300, 33))),
    _signal_case("filter_window", tuple((SHORT, taps) for taps in TAPS), ((1, 1), (5000, 21))),
    _signal_case(
        "filter_fft",
        (*((SHORT, taps) for taps in TAPS), (LONG, 129)),
        ((9000, 129), (5, 700), (1, 1)),
    ),
    _image_case("filter_window_2d", "filter_window", _products, ((1, 1), (70, 7))),
    _image_case("filter_fft_2d", "filter_fft_2d", _fft_2d_flops, ((1, 1), (70, 31))),
)
