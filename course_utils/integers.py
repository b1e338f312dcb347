"""Whole numbers: how many pieces of a size cover a length."""

from __future__ import annotations

from typing import Any, overload


@overload
def ceil_div(n: int, k: int) -> int: ...
@overload
def ceil_div(n: Any, k: Any) -> Any: ...
def ceil_div(n: Any, k: Any) -> Any:
    """n / k, rounded up: how many blocks of ``k`` threads ``n`` elements take.

    1000 elements take ``ceil_div(1000, 256) == 4`` blocks. It's ``(n + k - 1) // k``, but no sum
    overflows. ``n`` and ``k`` are ints, NumPy integers or arrays of integers, signed or unsigned;
    of arrays each element is divided, and their shapes broadcast. Raises ZeroDivisionError for
    ints if ``k`` is 0.
    """
    return n // k + (n % k != 0)
