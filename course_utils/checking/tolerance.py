"""How far from the expected value a right answer may lie.

Rounding errors of a sum of n terms behave like a random walk: they grow with the square root of n,
not with n (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
Comput. 41, 2019). With u the unit roundoff of the coarser of the two dtypes, we allow

    |actual - expected| <= rtol * |expected| + atol
    rtol = 8 u (1 + sqrt(n)),    atol = rtol * rms(expected)

The second term is for results near zero that come from large terms which cancel. Integers and
booleans must be equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

BFLOAT16_ROUNDOFF = 2.0**-8  # 7 stored bits of fraction
FAR = 0.05  # of a number, or of 1: more than any loss of precision


@dataclass(frozen=True)
class Tolerance:
    """Relative and absolute tolerance; both zero means equal (0.0 and -0.0 count as equal)."""

    rtol: float
    atol: float

    def wrong(self, actual: Any, expected: Any) -> Any:
        """Where ``actual`` is wrong: a boolean array. This decides every check of the course.

        Both are arrays of NumPy or both of CuPy, of one shape; the work is done where they lie.
        Zeros never pass where something else is expected, whatever the tolerance.
        """
        wrong = ~self.close(actual, expected)
        if not actual.any() and not wrong.all():
            wrong |= expected != 0
        return wrong

    def close(self, actual: Any, expected: Any) -> Any:
        """Where the two are as near as allowed. NaN is near only to NaN."""
        equal = actual == expected
        if self.rtol == 0 and self.atol == 0:
            return equal | (np.isnan(actual) & np.isnan(expected)) if is_inexact(actual) else equal
        a, e = wide(actual), wide(expected)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(a - e) <= self.rtol * np.abs(e) + self.atol
        near &= np.isfinite(a) & np.isfinite(e)
        return equal | near | (np.isnan(a) & np.isnan(e))


def is_inexact(array: Any) -> bool:
    """True for floating-point and complex arrays."""
    return array.dtype.kind in "fc"


def unit_roundoff(dtype: np.dtype) -> float:
    """Half the distance from 1 to the next number of ``dtype``; 0 for integers and booleans."""
    return float(np.finfo(dtype).eps) / 2 if dtype.kind in "fc" else 0.0


def tolerance_for(
    expected: np.ndarray,
    roundoff: float,
    reduction: int = 1,
    rtol: float | None = None,
    atol: float | None = None,
) -> Tolerance:
    """The tolerance for results that sum ``reduction`` terms with unit roundoff ``roundoff``.

    A tolerance that is given replaces the computed one; when only ``rtol`` is given, ``atol``
    follows it. Raises ValueError for a ``reduction`` below 1.
    """
    if reduction < 1:
        raise ValueError(
            f"reduction is the number of terms in each sum, at least 1, not {reduction}"
        )
    relative = 8 * roundoff * (1 + math.sqrt(reduction)) if rtol is None else rtol
    absolute = relative * rms(expected) if atol is None else atol
    return Tolerance(float(relative), float(absolute))


def wide(array: Any) -> Any:
    """The array in double precision, so that differences do not overflow."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128, copy=False)
    return array.astype(np.float64, copy=False)


def rms(array: np.ndarray) -> float:
    """The root of the mean square of the finite numbers of ``array``, 0 where there are none."""
    values = np.abs(wide(array))
    values = values[np.isfinite(values)]
    largest = float(values.max()) if values.size else 0.0
    if not largest:
        return 0.0
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))  # no square overflows


def is_far(actual: Any, expected: Any) -> bool:
    """Whether one number is further from another than any loss of precision explains, where both
    come of small integers."""
    if not (np.isfinite(actual) and np.isfinite(expected)):
        return True
    return bool(abs(actual - expected) > FAR * max(abs(expected), 1.0))
