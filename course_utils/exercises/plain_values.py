"""What a student's function returned, as plain values that hold no code of the student's.

A class may say of itself that it equals everything. What is compared is therefore made anew from
the numbers in it, by Python's own types.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

DEEPEST = 20  # lists in lists
OWN_VALUES: dict[type, Any] = {int: int.__int__, float: float.__float__, str: str.__str__}


def plain(value: Any, depth: int = 0) -> Any:
    """Numbers, strings, lists, tuples and arrays as just those; anything else as it is."""
    if depth > DEEPEST:
        return value
    if hasattr(value, "get") and hasattr(value, "dtype"):  # an array of the device
        value = value.get()
    if isinstance(value, np.ndarray):
        return np.array(value.view(np.ndarray), copy=True)
    if isinstance(value, np.generic):
        return value  # its types cannot be changed, and keep what they are
    if isinstance(value, (tuple, list)):
        base = tuple if isinstance(value, tuple) else list
        return base(plain(element, depth + 1) for element in base.__iter__(value))
    if value is True or value is False:
        return value
    for base, own_value in OWN_VALUES.items():
        if isinstance(value, base):
            return own_value(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value
