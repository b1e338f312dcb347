"""A short verdict on large arrays, reached where they lie: for benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices.selection import cp
from .tolerance import Tolerance


def difference(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """How ``actual`` differs from ``expected``, such as "1 of 3 elements are wrong; ..."; empty
    where it is right by :meth:`Tolerance.wrong`, as ``check`` decides.

    ``expected`` is an array of this machine's device or of NumPy, and the work is done there, in
    float64; a GPU's arrays are not copied to the host. ``actual`` may be a torch tensor, too.
    """
    space = cp.get_array_module(expected)
    got = space.asarray(actual).astype(np.float64)
    want = expected.astype(np.float64, copy=False)
    if got.shape != want.shape:
        return f"its shape is {got.shape}, expected {want.shape}"
    wrong = Tolerance(rtol, atol).wrong(got, want)
    if not bool(wrong.any()):
        return ""
    first = int(wrong.ravel().argmax())
    return (
        f"{int(wrong.sum()):,} of {wrong.size:,} elements are wrong; element {first} is "
        f"{float(got.ravel()[first])!r}, expected {float(want.ravel()[first])!r}"
    )
