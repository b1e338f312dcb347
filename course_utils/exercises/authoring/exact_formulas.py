"""Formulas in float64 that the references of several chapters need."""

from __future__ import annotations

import numpy as np

from .domain import Given


def in_float64(given: Given, *names: str) -> list[np.ndarray]:
    """These inputs, each as a float64 array of its shape."""
    return [given[name].astype(np.float64) for name in names]


def exact_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A B. Where an operand is infinite or NaN, the sums may be NaN."""
    return a.astype(np.float64) @ b.astype(np.float64)


def row_softmax(x: np.ndarray) -> np.ndarray:
    """The softmax along the last axis."""
    powers = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    result: np.ndarray = powers / powers.sum(axis=-1, keepdims=True)
    return result
