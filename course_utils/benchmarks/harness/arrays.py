"""Inputs drawn at random, and references in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices.selection import ON_GPU, cp
from .case import Size


def normal(shape: Size, seed: int = 0) -> Any:
    """fp32 numbers of a standard normal distribution on this machine's device."""
    if ON_GPU:
        return cp.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return cp.asarray(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32))


def double(array: Any) -> Any:
    """``array`` in float64, for a reference."""
    return array.astype(np.float64)


def softmax_of(x: Any) -> Any:
    """The softmax of each row of ``x`` in float64, for a reference."""
    powers = np.exp(double(x) - double(x).max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
