"""Sums of fp8 products as Hopper's tensor cores make them, bit for bit.

Source: results of an H200 (``tests/emulator/fp8_sums.py``). No manual describes them.

A tensor core doesn't round after each addition. It takes the largest exponent of all terms, the
accumulator among them, cuts each term off a number of bits below it, and adds the rest exactly.
The sum is cut off once more, never rounded up. The exponent of a product is the sum of its factors'
exponents, even where the product itself is one larger.
"""

from __future__ import annotations

import numpy as np

_KEPT_BY_WGMMA = 13
_KEPT_BY_MMA = 25
_FLOAT = 23  # bits of a float after the first
_ZERO = -(2**14)  # an exponent below all others
_LEAST = -149  # of floats


def sums_of_wgmma(left: np.ndarray, right: np.ndarray, added: np.ndarray | None) -> np.ndarray:
    """left @ right + added of a ``wgmma`` with fp8 factors and f32 sums: all 32 products at once.

    ``left`` (…, M, 32) and ``right`` (…, 32, N) are f64, ``added`` (…, M, N) is f32 or None.
    Returns f64 (…, M, N), each a float.
    """
    start = np.zeros((*left.shape[:-1], right.shape[-1])) if added is None else added
    return _each(left, right, start.astype(np.float64), _KEPT_BY_WGMMA, _KEPT_BY_WGMMA)


def sums_of_mma(left: np.ndarray, right: np.ndarray, added: np.ndarray) -> np.ndarray:
    """left @ right + added of an ``mma.sync`` with fp8 factors and f32 sums.

    Hopper has no such instruction: its assembler converts the factors to f16 and multiplies twice,
    with bytes 0 and 1 of each register and then with 2 and 3. ``added`` comes last, as one float is
    added to another. Shapes and types are as for ``sums_of_wgmma``.
    """
    total = np.zeros((*left.shape[:-1], right.shape[-1]))
    of_bytes = np.arange(left.shape[-1]) % 4 // 2
    for half in (0, 1):
        k = np.flatnonzero(of_bytes == half)
        total = _each(left[..., k], right[..., k, :], total, _KEPT_BY_MMA, _FLOAT)
    result: np.ndarray = (total.astype(np.float32) + added).astype(np.float64)
    return result


def _each(
    left: np.ndarray, right: np.ndarray, start: np.ndarray, kept: int, of_sum: int
) -> np.ndarray:
    """One matrix after the other, so that it stays in the processor's cache."""
    plain = left @ right + start
    total = np.empty(plain.shape)
    for at in np.ndindex(plain.shape[:-2]):
        total[at] = _truncated(left[at], right[at], start[at], kept, of_sum)
    return np.where(np.isfinite(plain), total, plain)


def _truncated(
    left: np.ndarray, right: np.ndarray, start: np.ndarray, kept: int, of_sum: int
) -> np.ndarray:
    of_left, of_right, top = _exponents(left), _exponents(right), _exponents(start)
    ks = range(left.shape[1])
    for k in ks:
        np.maximum(top, of_left[:, k, None] + of_right[k], out=top)
    np.maximum(top, _LEAST, out=top)
    up = np.ldexp(1.0, kept - top)
    total = np.trunc(start * up)
    term = np.empty_like(total)
    for k in ks:
        np.multiply(left[:, k, None], right[k], out=term)
        term *= up
        total += np.trunc(term, out=term)
    total /= up
    unit = np.ldexp(1.0, np.maximum(_exponents(total), -126) - of_sum)
    result: np.ndarray = np.trunc(total / unit) * unit
    return result


def _exponents(x: np.ndarray) -> np.ndarray:
    exponents = np.frexp(x)[1].astype(np.int16)
    exponents -= 1
    exponents[x == 0] = _ZERO
    return exponents
