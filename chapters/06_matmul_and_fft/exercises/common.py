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
