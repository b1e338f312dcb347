"""A short verdict on large arrays, reached on their device: for benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import emulated_cupy
from ..devices.selection import cp
from .tolerance import Tolerance


def difference(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """How ``actual`` differs from ``expected``, such as "1 of 3 elements are wrong; ...", empty
    where it is right by :meth:`Tolerance.wrong`, as ``check`` decides.

    Both are arrays of this machine's device, of the emulator or of NumPy. ``actual`` may also be a
    torch tensor. The work is done in float64 on the device where one of them is there: a GPU's
    arrays are not copied to the host.
    """
    space = cp if hasattr(actual, "detach") else cp.get_array_module(actual, expected)
    # Beside a GPU the emulator's arrays are not arrays of cp.
    actual, expected = (
        each.get() if space is np and isinstance(each, emulated_cupy.ndarray) else each
        for each in (actual, expected)
    )
    got, want = (space.asarray(array).astype(np.float64) for array in (actual, expected))
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
