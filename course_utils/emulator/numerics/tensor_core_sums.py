"""Sums of products as Hopper's tensor cores make them, bit for bit.

Source: results of an H200 (``tests/emulator/tensor_core_sums.py``). No manual describes them.

A tensor core doesn't round after each addition. It takes the largest exponent of all terms, the
accumulator among them, cuts each term off a number of bits below it, and adds the rest exactly.
The sum is cut off once more, never rounded up. The exponent of a product is the sum of its factors'
exponents, even where the product itself is one larger. A subnormal number of f16, bf16 or tf32 has
the exponent of the least normal number.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_KEPT = 25
_KEPT_BY_FP8_WGMMA = 13
_FLOAT = 23  # bits of a float after the first
_LEAST = -149, -126  # exponents of floats: of all, and of those with every bit
_LEAST_OF = {"f16": -14, "bf16": -126, "tf32": -126}
_FP8 = {"e4m3", "e5m2"}
_ZERO = -(2**13)  # an exponent below all others
_TERMS = 8  # so many of them, each below 2**28, are added in 32 bits
_IN_CACHE = 2**14  # sums at once


Sums = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], np.ndarray]


def sums_on_hopper(a: str, b: str, k: int, warpgroup: bool = False) -> Sums | None:
    """How factors of the kinds ``a`` and ``b`` are multiplied and added in f32, ``k`` at once.

    ``warpgroup`` is for ``wgmma``. None for combinations that are not measured. The function takes
    (…, M, K) and (…, K, N) in f64 and the accumulators (…, M, N) in f32, or None for zeros. It
    returns f64 (…, M, N), each a float.
    """
    if {a, b} <= _FP8 and k == 32:
        return _of_fp8_wgmma if warpgroup else _of_fp8_mma
    if a == b and a in _LEAST_OF:
        least = _LEAST_OF[a]
        return lambda left, right, added: _cut_off(
            left, right, _start(left, right, added), _KEPT, _FLOAT, least
        )
    return None


def _of_fp8_wgmma(left: np.ndarray, right: np.ndarray, added: np.ndarray | None) -> np.ndarray:
    kept = _KEPT_BY_FP8_WGMMA
    return _cut_off(left, right, _start(left, right, added), kept, kept)


def _of_fp8_mma(left: np.ndarray, right: np.ndarray, added: np.ndarray | None) -> np.ndarray:
    """Hopper has no such instruction. Its assembler converts the factors to f16 and multiplies
    twice, with bytes 0 and 1 of each register and then with 2 and 3. ``added`` comes last, as one
    float is added to another."""
    total = _start(left, right, None)
    of_bytes = np.arange(left.shape[-1]) % 4 // 2
    for half in (0, 1):
        k = np.flatnonzero(of_bytes == half)
        total = _cut_off(left[..., k], right[..., k, :], total, _KEPT, _FLOAT)
    if added is None:
        return total
    result: np.ndarray = (total.astype(np.float32) + added).astype(np.float64)
    return result


def _start(left: np.ndarray, right: np.ndarray, added: np.ndarray | None) -> np.ndarray:
    if added is None:
        return np.zeros((*left.shape[:-1], right.shape[-1]))
    return added.astype(np.float64)


def _cut_off(
    left: np.ndarray,
    right: np.ndarray,
    start: np.ndarray,
    kept: int,
    of_sum: int,
    least: int | None = None,
) -> np.ndarray:
    """The sums, some matrices at a time, with the longer of columns and matrices as last axis."""
    rows, columns = start.shape[-2:]
    count = math.prod(start.shape[:-2])
    left, right = left.reshape(count, rows, -1), right.reshape(count, -1, columns)
    total = np.empty((count, rows, columns))
    flat = start.reshape(total.shape)
    plain = None
    if not (np.isfinite(left).all() and np.isfinite(right).all() and np.isfinite(flat).all()):
        plain = left @ right + flat
        # An infinity's exponent would push the other numbers of a batch out of reach.
        left, right, flat = (np.where(np.isfinite(x), x, 0.0) for x in (left, right, flat))
    many = max(1, _IN_CACHE // (rows * columns))
    for at in range(0, count, many):
        part = slice(at, at + many)
        by_k = left[part].transpose(2, 0, 1)[..., None], right[part].swapaxes(0, 1)[:, :, None]
        each, found = flat[part], total[part]
        if columns < len(each):
            by_k = by_k[0].transpose(0, 2, 3, 1), by_k[1].transpose(0, 2, 3, 1)
            each, found = each.transpose(1, 2, 0), found.transpose(1, 2, 0)
        of_left, of_right, of_start = map(np.ascontiguousarray, (*by_k, each))
        found[...] = _sums(of_left, of_right, of_start, kept, of_sum, least)
    if plain is not None:
        total = np.where(np.isfinite(plain), total, plain)
    return total.reshape(start.shape)


def _sums(
    left: np.ndarray,
    right: np.ndarray,
    start: np.ndarray,
    kept: int,
    of_sum: int,
    least: int | None,
) -> np.ndarray:
    """Σ left[k] · right[k] + start: the products of each k have the shape of ``start``."""
    of_left, of_right, top = _exponents(left, least), _exponents(right, least), _exponents(start)
    left_top, right_top = (max(int(x.max()), 4 * _LEAST[0]) for x in (of_left, of_right))
    exponent = np.empty_like(top)
    for l, r in zip(of_left, of_right, strict=True):  # noqa: E741
        np.maximum(top, np.add(l, r, out=exponent), out=top)
    top[top < 2 * _LEAST[0] - 2**10] = left_top + right_top  # nothing but zeros
    np.maximum(top, _LEAST[0], out=top)

    # Products of two 11-bit numbers are exact in f32, if their exponents are.
    reach = kept + left_top + right_top - int(top.min())
    spread = left_top + right_top - _smallest(of_left) - _smallest(of_right)
    dtype = np.dtype(np.float32 if spread < 100 and reach < 120 else np.float64)
    left = (left * 2.0**-left_top).astype(dtype)
    right = (right * 2.0**-right_top).astype(dtype)
    up, down = _powers(kept + left_top + right_top - top, dtype), _powers(top - kept, start.dtype)
    total = np.trunc(start / down)
    term, whole = np.empty(start.shape, dtype), np.empty(start.shape, np.int32)
    for k in range(0, len(left), _TERMS):
        some = np.zeros(start.shape, np.int32)
        for l, r in zip(left[k : k + _TERMS], right[k : k + _TERMS], strict=True):  # noqa: E741
            np.multiply(np.multiply(l, r, out=term), up, out=term)
            np.copyto(whole, term, casting="unsafe")  # towards 0
            some += whole
        total += some
    total *= down
    return _shortened(total, of_sum)


def _powers(exponents: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """2 to these exponents, 0 for those that are too small."""
    least, bits, word = (-127, 23, np.int32) if dtype == np.float32 else (-1023, 52, np.int64)
    powers: np.ndarray = (np.maximum(exponents, least).astype(word) - least << bits).view(dtype)
    return powers


def _shortened(total: np.ndarray, bits: int) -> np.ndarray:
    """Each number cut off ``bits`` bits after its first, or where floats end."""
    small = np.abs(total) < 2.0 ** _LEAST[1]
    unit = 2.0 ** (_LEAST[1] - bits)
    ends = np.trunc(total[small] / unit) * unit
    total.view(np.int64)[...] &= -(1 << 52 - bits)
    total[small] = ends
    return total


def _exponents(x: np.ndarray, least: int | None = None) -> np.ndarray:
    exponents = (np.ascontiguousarray(x).view(np.int64) >> 52 & 0x7FF).astype(np.int16)
    zeros = exponents == 0
    exponents -= 1023
    if least is not None:
        np.maximum(exponents, least, out=exponents)
    exponents[zeros] = _ZERO
    return exponents


def _smallest(exponents: np.ndarray) -> int:
    some = exponents[exponents > _ZERO]
    return int(some.min()) if some.size else 0
