"""fp32 numbers as the bits of bf16 and of e4m3, and back, on this machine's device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices.selection import cp


def to_bf16(numbers: Any) -> Any:
    """fp32 numbers as the bits of bf16 (uint16), their upper halves, rounded to even."""
    bits = numbers.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: Any) -> Any:
    """The fp32 numbers that bf16 ``bits`` encode: uint16, of any shape."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_e4m3(numbers: Any) -> Any:
    """fp32 numbers as the bits of e4m3 (uint8), rounded to even and clipped to 448."""
    size = cp.minimum(abs(numbers), np.float32(448))
    bits = size.view(np.uint32)
    rounded = (bits + 0x7FFFF + (bits >> 20 & 1)) >> 20  # exponent, and three bits of the fraction
    small = cp.rint(size * 512).astype(np.uint32)  # below 2**-6 all steps are 2**-9
    codes = cp.where(size < 2**-6, small, rounded - (120 << 3))  # exponents count from 7, not 127
    return (codes | numbers.view(np.uint32) >> 24 & 0x80).astype(np.uint8)


def from_e4m3(bits: Any) -> Any:
    """The fp32 numbers that e4m3 ``bits`` encode: uint8, of any shape."""
    exponent, fraction = (bits >> 3 & 15).astype(np.int32), (bits & 7).astype(np.float32)
    whole = fraction + 8 * (exponent > 0).astype(np.float32)
    size = cp.ldexp(whole, cp.maximum(exponent, 1) - 10)
    return cp.where(bits >> 7, -size, size)
