"""A filter over a signal or an image, by cuDNN as PyTorch calls it and by Fourier transforms.

All give the valid part of the convolution, in fp32. Arrays that depend on the filter alone, its
spectrum or the filter backwards, are made before the first run, as plans are.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ...devices.selection import ON_GPU, cp
from ...errors import LessonError
from ...integers import ceil_div
from ..harness.torch_runs import torch_on_gpu
from .cudnn import whole_transform
from .cufft_plans import LOAD_COMPLEX, STORE_REAL, Callback, CufftPlan

SEGMENTS = (
    2048,
    4096,
    8192,
)  # points. cuFFT is timed with the first two that suit: longer is slower
LONG = 1 << 26  # from here on also with callbacks: it takes seconds to link them
Runs = dict[str, Callable[[], Any]]


def of_signal(x: Any, h: Any) -> Runs:
    """``x`` (n + taps - 1) by ``h`` (taps): n results each. None without a GPU."""
    if not ON_GPU:
        return {}
    scipy_signal = import_module("cupyx.scipy.signal")
    lengths = [points for points in SEGMENTS if points >= 2 * h.size][:2]
    runs: Runs = {
        f"cuFFT, segments of {points}": _ThreeLaunches(x, h, points) for points in lengths
    }
    if x.size >= LONG:
        runs |= _with_callbacks(x, h, lengths)
    runs["cupyx oaconvolve"] = lambda: scipy_signal.oaconvolve(x, h, mode="valid")
    if torch_on_gpu():
        runs["cuDNN"] = _Correlation(x, h)
        runs["torch.fft"] = _Whole(x, h)
    return runs


def of_image(x: Any, h: Any) -> Runs:
    """``x`` (rows, columns) by ``h`` (R, S): rows - R + 1 by columns - S + 1 results each. None
    without a GPU and PyTorch."""
    if torch_on_gpu() is None:
        return {}
    return {"cuDNN": _Correlation(x, h), "torch.fft": _Whole(x, h), "cuFFT": _InPlace(x, h)}


def _with_callbacks(x: Any, h: Any, lengths: list[int]) -> Runs:
    """Overlap-save in two launches. None where cuFFT cannot link callbacks."""
    try:
        return {f"cuFFT, callbacks, {points}": _TwoLaunches(x, h, points) for points in lengths}
    except LessonError:
        return {}


def spectrum(h: Any, points: int) -> np.ndarray:
    """The transform of ``h``, complex128, rotated to the left by taps - 1 places and divided by
    ``points``, so that the valid results of a segment are at its front."""
    turned = np.roll(np.pad(h.astype(np.float64), (0, points - h.size)), 1 - h.size)
    return np.fft.fft(turned) / points


class _PlannedOnce:
    """A call on ``x`` and ``h`` that :meth:`_planned` makes when it first runs."""

    def __init__(self, x: Any, h: Any) -> None:
        self._arrays = x, h
        self._call: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        if self._call is None:
            self._call = self._planned(*self._arrays)
        return self._call()

    def _planned(self, x: Any, h: Any) -> Callable[[], Any]:
        raise NotImplementedError


class _Correlation(_PlannedOnce):
    """``torch.nn.functional.conv1d`` or ``conv2d``: a correlation, so the filter goes backwards."""

    def _planned(self, x: Any, h: Any) -> Callable[[], Any]:
        torch = torch_on_gpu()
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.benchmark_limit = 0
        x, h = (torch.as_tensor(array, device="cuda") for array in (x, h))
        backwards = h.flip(tuple(range(h.ndim)))[None, None].contiguous()
        call = torch.nn.functional.conv1d if x.ndim == 1 else torch.nn.functional.conv2d
        return lambda: call(x[None, None], backwards)[0, 0]


def _valid(x: Any, h: Any) -> tuple[slice, ...]:
    """Where in a convolution of ``x`` by ``h`` that goes round every result is valid."""
    return tuple(slice(r - 1, n) for r, n in zip(h.shape, x.shape, strict=True))


class _Whole(_PlannedOnce):
    """One transform of all of x, padded to a length that has small factors only."""

    def _planned(self, x: Any, h: Any) -> Callable[[], Any]:
        torch = torch_on_gpu()
        fft = torch.fft
        x, h = (torch.as_tensor(array, device="cuda") for array in (x, h))
        sides = tuple(map(whole_transform, x.shape))
        of_h = fft.rfftn(h, s=sides)
        valid = _valid(x, h)
        return lambda: fft.irfftn(fft.rfftn(x, s=sides) * of_h, s=sides)[valid]


class _InPlace(_PlannedOnce):
    """As _Whole, by cuFFT through CuPy: x is padded before the first run, the filter's spectrum
    holds the division by the number of points, and C2R overwrites the product, which PyTorch
    copies. Planned at the first call: CuPy has no plan for a single row or column."""

    def _planned(self, x: Any, h: Any) -> Callable[[], Any]:
        fft = import_module("cupyx.scipy.fft")
        plan = import_module("cupyx.scipy.fftpack").get_fft_plan
        sides = tuple(map(whole_transform, x.shape))
        padded = cp.zeros(sides, cp.float32)
        padded[tuple(map(slice, x.shape))] = x
        spectrum = fft.rfftn(h, s=sides, norm="forward")
        forward = plan(padded, value_type="R2C")
        back = plan(spectrum, shape=sides, value_type="C2R")
        whole = {"plan": back, "s": sides, "norm": "forward", "overwrite_x": True}
        valid = _valid(x, h)

        def call() -> Any:
            half = fft.rfftn(padded, plan=forward)
            half *= spectrum
            return fft.irfftn(half, **whole)[valid]

        return call


class _ThreeLaunches:
    """Overlap-save: R2C of segments that overlap in the plan's layout alone, a product in place,
    C2R. The results stay where C2R leaves them, and the returned function collects them."""

    def __init__(self, x: Any, h: Any, points: int) -> None:
        n, stored = x.size - h.size + 1, points // 2 + 1
        step = points - h.size + 1
        segments = ceil_div(n, step)
        self._x = cp.zeros(segments * step + h.size - 1, cp.float32)
        self._x[: x.size] = x
        self._half = cp.empty((segments, stored), cp.complex64)
        self._rows = cp.empty((segments, points), cp.float32)
        self._spectrum = cp.asarray(spectrum(h.get(), points)[:stored].astype(np.complex64))
        self._forward = CufftPlan("R2C", points, segments, step, stored)
        self._back = CufftPlan("C2R", points, segments, stored, points)
        self._collect = lambda: self._rows[:, :step].ravel()[:n]

    def __call__(self) -> Callable[[], Any]:
        self._forward(self._x, self._half)
        cp.multiply(self._half, self._spectrum, out=self._half)
        self._back(self._half, self._rows)
        return self._collect


class _TwoLaunches(_ThreeLaunches):
    """The product where C2R loads, and C2R stores the results that are wanted, in their places."""

    def __init__(self, x: Any, h: Any, points: int) -> None:
        super().__init__(x, h, points)
        n, stored, step = x.size - h.size + 1, points // 2 + 1, points - h.size + 1
        self._y = cp.empty(n, cp.float32)
        target = np.zeros(1, [("y", np.uint64), ("n", np.int32), ("step", np.int32)])
        target["y"], target["n"], target["step"] = self._y.data.ptr, n, step
        defines = {"POINTS": points}
        callbacks = (
            Callback("multiplied", MULTIPLIED, LOAD_COMPLEX, self._spectrum, defines),
            Callback("kept", KEPT, STORE_REAL, cp.asarray(target.view(np.uint8)), defines),
        )
        self._back = CufftPlan("C2R", points, len(self._half), stored, points, callbacks)
        self._collect = lambda: self._y

    def __call__(self) -> Callable[[], Any]:
        self._forward(self._x, self._half)
        self._back(self._half, self._rows)
        return self._collect


MULTIPLIED = """
__device__ float2 multiplied(void *from, unsigned long long at, void *spectrum, void *)
{
    const float2 a = static_cast<float2 *>(from)[at];
    const float2 b = static_cast<float2 *>(spectrum)[(unsigned)at % (POINTS / 2 + 1)];
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
"""
KEPT = """
struct Target { float *y; int n, step; };
__device__ void kept(void *, unsigned long long at, float value, void *info, void *)
{
    const Target *target = static_cast<Target *>(info);
    const unsigned place = (unsigned)at % POINTS, i = (unsigned)at / POINTS * target->step + place;
    if (place < target->step && i < target->n) target->y[i] = value;
}
"""
