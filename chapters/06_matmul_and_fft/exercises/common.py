"""What exercises of several notebooks of this chapter share."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import empty, floats


def matrices(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K), B (K x N) and room for C (M x N)."""
    m, n, k = size
    return {
        "A": floats(rng, (m, k)),
        "B": floats(rng, (k, n)),
        "C": empty((m, n)),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


def product(given) -> dict:
    """The exact product, as far as float64 goes."""
    return {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64)}


def halves(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Normally distributed fp16 values."""
    return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)


def half_matrices(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M x K) and B (N x K) in fp16, and room for C (M x N) in fp32."""
    m, n, k = size
    return {
        "A": halves(rng, (m, k)),
        "B": halves(rng, (n, k)),
        "C": empty((m, n)),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


def product_of_rows(given) -> dict:
    """C = A B^T in float64: the columns of B^T are the rows of B."""
    return {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64).T}
