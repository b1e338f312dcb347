"""Convolutions by cuDNN as PyTorch calls it, in both layouts, and by PyTorch's Fourier transforms.

``torch.backends.cudnn.benchmark`` lets PyTorch time every engine that cuDNN offers for a shape and
keep the fastest; a limit of 0 means all of them. ``torch.compile`` at its most thorough took the
same engine for every shape that was tried on an H200, or was slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import torch_on_gpu


def convolutions(x: Any, w: Any, pad: int) -> dict[str, Callable[[], Any]]:
    """y = x * w with stride 1: fp32 in NCHW and KCRS, or bits of bf16 (uint16) in NHWC and KRSC.

    Each result is a tensor (N, K, OH, OW), whatever its layout in memory.
    """
    if torch_on_gpu() is None:
        return {}
    return {
        "cuDNN (NCHW)": _Convolution(x, w, pad, "contiguous_format"),
        "cuDNN (NHWC)": _Convolution(x, w, pad, "channels_last"),
    }


def fourier(x: Any, w: Any, pad: int) -> dict[str, Callable[[], Any]]:
    """The same for fp32: 2-D transforms of x and w, products of complex matrices, and back."""
    return {"torch.fft": _Fourier(x, w, pad)} if torch_on_gpu() else {}


def tensor(array: Any) -> Any:
    """fp32 images as they are, bits of bf16 in NHWC as a tensor (N, C, H, W); no copy of either."""
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
    raise AssertionError("a power of two lies between a number and its double")
