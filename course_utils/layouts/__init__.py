"""Layouts as CuTe has them: functions from coordinates to offsets, and their algebra, in Python.

With these a notebook computes and draws the layouts of CuTe's headers. On random layouts
both give the same, number for number (``tests/layouts``).
"""

from __future__ import annotations

from .algebra import (
    LayoutError,
    blocked_product,
    coalesce,
    complement,
    composition,
    filtered,
    left_inverse,
    logical_divide,
    logical_product,
    raked_product,
    right_inverse,
    tiled_divide,
    zipped_divide,
    zipped_product,
)
from .layout import Layout, row_major, together
from .swizzles import Swizzle, SwizzledLayout

__all__ = [
    "Layout",
    "LayoutError",
    "Swizzle",
    "SwizzledLayout",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "filtered",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "raked_product",
    "right_inverse",
    "row_major",
    "tiled_divide",
    "together",
    "zipped_divide",
    "zipped_product",
]
