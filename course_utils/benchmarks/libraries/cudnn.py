"""Convolutions by cuDNN, as PyTorch calls it and by the fastest of all its engines, in both
layouts, and by PyTorch's Fourier transforms.

``torch.backends.cudnn.benchmark`` lets PyTorch time every engine that cuDNN's heuristics offer for
a shape and keep the fastest. A limit of 0 means all of them. ``torch.compile`` at its most thorough
took the same engine for every shape that was tried on an H200, or was slower. cuDNN has engines
that no heuristic offers, and for some shapes the fastest in fp32 is one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from ...devices.selection import cp
from ...errors import LessonError
from ...observing.timing import bench
from ..harness.torch_runs import torch_on_gpu
from .cudnn_graph import CudnnGraph

MOST_WORKSPACE = 8 << 30  # bytes


def convolutions(x: Any, w: Any, pad: int) -> dict[str, Callable[[], Any]]:
    """y = x * w with stride 1: fp32 in NCHW and KCRS, or bits of bf16 (uint16) in NHWC and KRSC.

    Each result is a tensor or an array (N, K, OH, OW), whatever its layout in memory.
    """
    if torch_on_gpu() is None:
        return {}
    found: dict[str, Callable[[], Any]] = {
        "cuDNN (NCHW)": _Convolution(x, w, pad, "contiguous_format"),
        "cuDNN (NHWC)": _Convolution(x, w, pad, "channels_last"),
    }
    if x.dtype == np.float32:
        found["cuDNN, any engine (NCHW)"] = FastestEngine(x, w, pad, (0, 1, 2, 3))
        found["cuDNN, any engine (NHWC)"] = FastestEngine(x, w, pad, (0, 2, 3, 1))
    return found


def fourier(x: Any, w: Any, pad: int) -> dict[str, Callable[[], Any]]:
    """The same for fp32: 2-D transforms of x and w, products of complex matrices, and back."""
    return {"torch.fft": _Fourier(x, w, pad)} if torch_on_gpu() else {}


def tensor(array: Any) -> Any:
    """fp32 images as they are, bits of bf16 in NHWC as a tensor (N, C, H, W), without a copy of
    either."""
    torch = torch_on_gpu()
    if array.dtype == np.float32:
        return torch.as_tensor(array, device="cuda")
    bits = torch.as_tensor(array.view(np.int16), device="cuda")
    return bits.view(torch.bfloat16).permute(0, 3, 1, 2)


class _Convolution:
    def __init__(self, x: Any, w: Any, pad: int, layout: str) -> None:
        self._arrays, self._pad, self._layout = (x, w), pad, layout
        self._tensors: tuple[Any, ...] = ()

    def __call__(self) -> Any:
        torch = torch_on_gpu()
        if not self._tensors:
            torch.backends.cudnn.allow_tf32 = False
            torch.backends.cudnn.benchmark = True
            torch.backends.cudnn.benchmark_limit = 0
            layout = getattr(torch, self._layout)
            self._tensors = tuple(tensor(a).contiguous(memory_format=layout) for a in self._arrays)
        return torch.nn.functional.conv2d(*self._tensors, padding=self._pad)


class FastestEngine:
    """y = x * w in fp32 by the fastest engine of cuDNN that computes in fp32.

    The first call makes a plan of each, with the knobs that a heuristic offers and with those that
    are its own, runs it, and keeps the fastest. ``order`` names the axes in memory, slowest first.
    """

    def __init__(self, x: Any, w: Any, pad: int, order: tuple[int, int, int, int]) -> None:
        self._arrays, self._pad, self._order = (x, w), pad, order
        self._run: Callable[[], None] | None = None

    def __call__(self) -> Any:
        if self._run is None:
            self._run = self._fastest()
        self._run()
        return self._y

    def _fastest(self) -> Callable[[], None]:
        graph, order = CudnnGraph(), self._order
        shapes = [array.shape for array in self._arrays]
        (images, _, *sides), (filters, _, *taps) = shapes
        rows, columns = (n + 2 * self._pad - r + 1 for n, r in zip(sides, taps, strict=True))
        shapes.append((images, filters, rows, columns))
        x, w, y = (graph.tensor(shape, order=order) for shape in shapes)
        graph.convolution(x, w, pad=self._pad, out=y)
        arrays = [cp.ascontiguousarray(each.transpose(order)) for each in self._arrays]
        arrays.append(cp.empty(tuple(y.shape[axis] for axis in order), np.float32))
        self._y = arrays[-1].transpose(tuple(map(order.index, range(4))))
        least_ms, fastest = math.inf, None
        for engine in chain(graph.engines("A"), graph.every_engine()):
            if not {"tensor cores", "inputs rounded"} & set(engine.notes):
                with suppress(LessonError):  # listed, but not for this shape
                    plan = engine.plan()
                    if plan.workspace_bytes <= MOST_WORKSPACE:
                        run = plan.bound(dict(zip((x, w, y), arrays, strict=True)))
                        ms = bench(run, warmup=1, repeats=1).median_ms
                        if ms < 2 * least_ms:
                            ms = bench(run, warmup=0, repeats=3).median_ms
                        if ms < least_ms:
                            least_ms, fastest = ms, run
        if fastest is None:
            raise LessonError("No engine of cuDNN computes this convolution in fp32.")
        return fastest


class _Fourier:
    def __init__(self, x: Any, w: Any, pad: int) -> None:
        self._arrays, self._pad = (x, w), pad

    def __call__(self) -> Any:
        torch, pad = torch_on_gpu(), self._pad
        x, w = map(tensor, self._arrays)
        sides = tuple(whole_transform(side + 2 * pad) for side in x.shape[2:])
        of_x = torch.fft.rfft2(torch.nn.functional.pad(x, (pad, 0, pad, 0)), s=sides)
        of_w = torch.fft.rfft2(w, s=sides).conj()
        of_y = torch.einsum("nchw,kchw->nkhw", of_x, of_w)
        rows, columns = (
            n + 2 * pad - side + 1 for n, side in zip(x.shape[2:], w.shape[2:], strict=True)
        )
        return torch.fft.irfft2(of_y, s=sides)[:, :, :rows, :columns]


def whole_transform(least: int) -> int:
    """The smallest even number from ``least`` on that has no prime factor but 2, 3 and 5."""
    for n in range(least, 2 * least + 2):
        rest = n
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1 and n % 2 == 0:
            return n
    raise AssertionError("a power of two is between a number and its double")
