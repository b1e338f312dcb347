"""Fourier transforms by cuFFT: plans made once, executed from one array into another."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ...devices.selection import ON_GPU, cp


def transforms(x: Any, axes: tuple[int, ...] = (-1,)) -> dict[str, Callable[[], Any]]:
    """The transforms of ``x`` along ``axes``, as an array of pairs of float32; none without a GPU.

    ``x`` has pairs of float32 along its last axis (C2C; ``axes`` do not count it) or, where its
    rows are of another length than two, real numbers (R2C).
    """
    if not ON_GPU:
        return {}
    get_fft_plan = import_module("cupyx.scipy.fft").get_fft_plan

    real = x.shape[-1] != 2
    given = x if real else x.view(cp.complex64)[..., 0]
    shape = (*given.shape[:-1], given.shape[-1] // 2 + 1) if real else given.shape
    theirs = cp.empty(shape, cp.complex64)
    plan = get_fft_plan(given, axes=axes, value_type="R2C" if real else "C2C")

    def run() -> Any:
        plan.fft(given, theirs, cp.cuda.cufft.CUFFT_FORWARD)
        return theirs.view(cp.float32).reshape(*shape, 2)

    return {"cuFFT": run}
