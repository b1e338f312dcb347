"""CuTe's swizzle: an exclusive or of address bits, and a layout that goes through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .int_tuples import IntTuple
from .layout import Layout


@dataclass(frozen=True)
class Swizzle:
    """``Swizzle<bits, base, shift>``: of an offset, the ``bits`` bits from ``base + shift`` on are
    XORed onto those from ``base`` on. The lowest ``base`` bits stay, so 2^base elements stay
    together. The pattern repeats after 2^(bits + base + shift) elements.

    Raises ValueError unless 0 ≤ bits ≤ shift and 0 ≤ base. CuTe also has negative shifts,
    which XOR the lower bits onto the upper ones. They are not taken here.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if not (0 <= self.bits <= self.shift and self.base >= 0):
            raise ValueError(
                f"{self} is not taken: 0 <= bits <= shift and 0 <= base, since bits are not XORed "
                "with themselves, nor lower ones onto upper ones"
            )

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"

    def __call__(self, offset: int | np.ndarray) -> int | np.ndarray:
        """``offset`` after the exclusive or."""
        upper = ((1 << self.bits) - 1) << (self.base + self.shift)
        return offset ^ ((offset & upper) >> self.shift)


@dataclass(frozen=True)
class SwizzledLayout:
    """``swizzle`` after ``layout``: ``composition(Swizzle<…>{}, layout)`` of CuTe."""

    swizzle: Swizzle
    layout: Layout

    def __str__(self) -> str:
        return f"{self.swizzle} o {self.layout}"

    @property
    def shape(self) -> IntTuple:
        """The layout's shape."""
        return self.layout.shape

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.layout.size

    def __call__(self, *coordinate: IntTuple) -> int:
        """The offset of ``coordinate``."""
        return int(self.swizzle(self.layout(*coordinate)))

    def offsets(self) -> np.ndarray:
        """The offset of each coordinate, as int64 of shape (size,), leftmost number fastest."""
        return np.asarray(self.swizzle(self.layout.offsets()))
