"""Values that a Python answer takes and returns, as far as a reader will follow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SHOWN = 200  # characters of a value in a message
DIGITS = 6  # of a float that is returned
MANY = 12  # items that are all alike, which are counted then
SHOWN_ARRAY = 80  # characters of an array that is written out


def show(value: Any) -> str:
    """``value`` as Python writes it, as far as it can and as far as a reader will follow."""
    try:
        text = _written_out(value)
    except ValueError:  # Python writes integers of at most 4,300 digits
        digits = value.bit_length() * math.log10(2) if isinstance(value, int) else math.nan
        return f"<an integer of about {digits:,.0f} digits>"
    except RecursionError:
        return f"<a deeply nested {type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def show_both(got: Any, want: Any) -> tuple[str, str]:
    """Two values that differ, their floats with few digits where that still shows it."""
    short = show(_of_few_digits(got)), show(_of_few_digits(want))
    return short if short[0] != short[1] else (show(got), show(want))


def _of_few_digits(value: Any) -> Any:
    """``value`` with its floats rounded, in tuples and lists too."""
    if isinstance(value, (list, tuple)):
        items = [_of_few_digits(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _alike(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all items are the same number, string or None."""
    one = value[0]
    plain = one is None or isinstance(one, (bool, int, float, str))
    return plain and all(type(x) is type(one) and x == one for x in value)


def _written_out(value: Any) -> str:
    """``repr(value)``, with each array on one line: a large one as its type and its shape, which
    say more than the numbers that it begins with."""
    if isinstance(value, np.ndarray):
        text = " ".join(repr(value).split())
        return text if len(text) <= SHOWN_ARRAY else f"<{value.dtype} array of shape {value.shape}>"
    if isinstance(value, (list, tuple)) and len(value) >= MANY and _alike(value):
        one = value[:1]
        return f"{one!r} * {len(value)}"
    if isinstance(value, np.floating):
        return repr(value.item())
    if isinstance(value, (list, tuple)) and any(
        isinstance(x, (np.ndarray, np.floating)) for x in value
    ):
        inner = ", ".join(map(_written_out, value)) + "," * (len(value) == 1)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return repr(value)
