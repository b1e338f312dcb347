"""Floating-point helpers: single-rounding fma, directed rounding, bf16 and fp8, flushing.

All functions take and return arrays (never scalars), leave their inputs alone, and expect to run
under ``np.errstate(all="ignore")``. Payloads of NaNs are unspecified except where a function says
"canonical". A recurring tool is *rounding to odd* (Boldo and Melquiond, "Emulation of FMA and
correctly rounded sums", IEEE Trans. Computers 57(4), 2008): an inexact value is replaced by the
neighbour whose last bit is 1. Rounding that again to a format with at least two bits fewer gives
the same answer, in every rounding mode, as rounding the exact value once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np

from . import fpenv

F16, F32, F64 = np.float16, np.float32, np.float64
U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
I16, I32, I64 = np.int16, np.int32, np.int64

# What ml_dtypes rounds to nearest even: two to ten times as fast as the same in NumPy.
BF16, E4M3, E5M2 = map(
    np.dtype, (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
)
TINY32 = np.finfo(F32).tiny
_ONE32 = F32(1)


# -- subnormals -----------------------------------------------------------------------------------


def flush(x: np.ndarray) -> np.ndarray:
    """``x`` (f32) with subnormals replaced by zeros of the same sign, as ``.ftz`` asks.

    For inputs and results of arithmetic; free under :func:`fpenv.hardware_ftz`.
    """
    return x if fpenv.is_active() else _flush(x)


def flush_bits(x: np.ndarray) -> np.ndarray:
    """Like :func:`flush`, for values that do not pass through an arithmetic unit (abs, cvt)."""
    return x * _ONE32 if fpenv.is_active() else _flush(x)


def _flush(x: np.ndarray) -> np.ndarray:
    small = np.abs(x) < TINY32
    return np.where(small, np.copysign(F32(0), x), x) if np.count_nonzero(small) else x


# -- sums and products without error --------------------------------------------------------------


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(s, e) with s = RN(a + b) and a + b = s + e exactly (Knuth). e is NaN where s overflows."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b in f64, rounded to odd."""
    s, e = two_sum(a, b)
    bits = s.view(I64)
    step = e.view(I64) ^ bits
    step >>= 63
    step |= 1  # 1 where the exact sum is further from zero than s, else -1
    step *= (np.abs(e) > 0) & ((bits & 1) == 0)  # e is NaN where s is not finite
    step += bits
    return step.view(F64)


# -- f64 -> f32 in every rounding mode ------------------------------------------------------------

_UNSIGNED = {2: U16, 4: U32}


def settle(nearest: np.ndarray, exact: np.ndarray, mode: str) -> np.ndarray:
    """Move ``nearest`` (f16 or f32, owned by the caller), the rounding of ``exact`` (f64) to
    nearest, to the neighbour that ``mode`` asks for: rn, rz, rm, rp or odd."""
    if mode == "rn":
        return nearest
    bits = nearest.view(_UNSIGNED[nearest.itemsize])
    one = bits.dtype.type(1)
    rounded = nearest.astype(F64)
    negative = np.signbit(rounded)
    if mode == "rm":
        away, back = negative & (rounded > exact), ~negative & (rounded > exact)
    elif mode == "rp":
        away, back = ~negative & (rounded < exact), negative & (rounded < exact)
    else:  # towards zero
        away, back = np.zeros(1, bool), np.abs(rounded) > np.abs(exact)
    bits = bits + away.astype(bits.dtype) - back.astype(bits.dtype)
    if mode == "odd":
        bits |= ((rounded < exact) | (rounded > exact)) * one
    return bits.view(nearest.dtype)


def to_f32(x: np.ndarray, mode: str = "rn") -> np.ndarray:
    """f64 -> f32 in mode rn, rz, rm, rp or odd."""
    return settle(x.astype(F32), x, mode)


# -- fma ------------------------------------------------------------------------------------------

_LOW29, _HALF29 = (np.array(n, U64) for n in ((1 << 29) - 1, 1 << 28))  # quicker than U64(n)


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in f32 with one rounding, to nearest even.

    The product of two f32 is exact in f64, so only the sum rounds before the final rounding. That
    matters when the f64 sum is inexact and lies half-way between two f32 (its low 29 bits are
    1000...), or when the result is subnormal, where "half-way" moves; the processor's underflow
    flag tells about those. Both are rare and then repaired by rounding the sum to odd.
    """
    total = a.astype(F64)
    if a.ndim == 1:
        total = np.multiply(total, b, out=total if a.size >= b.size else None)
    else:  # rows and columns of a tile
        total = total * b.astype(F64)
    total = np.add(total, c, out=total if total.size >= c.size else None)
    underflows: list[str] = []
    if fpenv.is_active():  # a subnormal result is flushed, wherever its half-way points are
        result = total.astype(F32)
    else:
        with np.errstate(under="call", call=lambda kind, _: underflows.append(kind)):
            result = total.astype(F32)
    if underflows:
        return odd_sum(a.astype(F64) * b.astype(F64), c.astype(F64)).astype(F32)
    low = total.view(U64)
    low &= _LOW29
    halfway = low == _HALF29
    if halfway.tobytes().find(1) >= 0:  # the quickest question for few lanes
        a, b, c = (np.broadcast_to(x, result.shape)[halfway].astype(F64) for x in (a, b, c))
        result[halfway] = odd_sum(a * b, c).astype(F32)
    return result


def _split(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Veltkamp: a = high + low, each of at most 26 bits, so that products of halves are exact."""
    t = 134217729.0 * a  # 2**27 + 1
    high = t - (t - a)
    return high, a - high


def fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in f64 with one rounding, to nearest even (Boldo and Melquiond, algorithm Fma).

    Operands so large or products so small that a step could overflow or lose bits go through
    exact rational arithmetic lane by lane, which is slow. Where ``p + c`` is right as it is they
    need not: with infinities and NaNs, with a zero (then nothing, or the product alone, is
    rounded), and with a product far below the last bit of c. A product of what once were f32 is
    exact, so that nothing else is needed.
    """
    p = a * b
    size = np.abs(p)
    of_f32 = not ((a.view(U64) | b.view(U64)) & _LOW29).any()
    if of_f32 and (((size > 2.0**-900) & (size < 2.0**1000)) | (a == 0) | (b == 0)).all():
        return p + c
    (ah, al), (bh, bl) = _split(a), _split(b)
    error = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    uh, ul = two_sum(c, error)
    th, tl = two_sum(p, uh)
    result = th + odd_sum(tl, ul)
    tame = (size > 2.0**-900) & (size < 2.0**1000) & (np.abs(c) < 2.0**1000)
    tame &= np.maximum(np.abs(a), np.abs(b)) < 2.0**990
    if not tame.all():
        result = np.where(tame, result, p + c)
        huge = np.isinf(c) & np.isfinite(a) & np.isfinite(b)  # even if the product overflows
        result = np.where(huge, c, result)
        alone = (c == 0) & (a != 0) & (b != 0)  # its sign is the product's, even of an underflow
        result = np.where(alone, p, result)
        plain = alone | (a == 0) | (b == 0)
        plain |= (size <= 2.0**-900) & (np.abs(c) > 2.0**-800)
        exactly(result, ~(tame | plain), "fma", "rn", a, b, c)
    return result


# -- any f64 operation in any rounding mode, one lane at a time -----------------------------------

_EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "cvt": lambda a: a,
}


def round_fraction(value: Fraction, mode: str) -> float:
    """A non-zero rational number rounded to f64 in mode rn, rz, rm or rp."""
    try:
        nearest = value.numerator / value.denominator  # Python rounds this division correctly
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    difference = -nearest if math.isinf(nearest) else value - Fraction(nearest)
    return _toward(nearest, difference, mode)


def _toward(nearest: float, difference: Fraction | float, mode: str) -> float:
    """The neighbour of ``nearest`` that ``mode`` asks for, the exact value less it being given."""
    up = mode == "rp" or (mode == "rz" and math.copysign(1, nearest) < 0)
    down = mode == "rm" or (mode == "rz" and not up)
    if (up and difference > 0) or (down and difference < 0):
        return math.nextafter(nearest, math.inf if difference > 0 else -math.inf)
    return nearest


def exactly(
    result: np.ndarray, lanes: np.ndarray, name: str, mode: str, *sources: np.ndarray
) -> np.ndarray:
    """Recompute ``result`` (f64, in place) where ``lanes`` is True with exact rational arithmetic.

    Lanes with a non-finite source, a division by zero or an exact zero keep what is there.
    """
    spread = [np.broadcast_to(s, result.shape) for s in sources]
    for i in np.flatnonzero(lanes):
        values = [float(s[i]) for s in spread]
        if not all(map(math.isfinite, values)) or (name == "div" and values[1] == 0):
            continue
        if name == "sqrt":
            if values[0] > 0:
                root = math.sqrt(values[0])
                result[i] = _toward(root, Fraction(values[0]) - Fraction(root) ** 2, mode)
            continue
        value = _EXACT[name](*map(Fraction, values))
        if value:
            result[i] = round_fraction(value, mode)
        elif name == "fma" and values[2]:  # a product that cancels or underflowed in f64
            result[i] = 0.0
    return result


# -- f16, bf16, tf32, fp8 -------------------------------------------------------------------------


def canonical(bits: np.ndarray, nan: np.ndarray, pattern: int) -> np.ndarray:
    """``bits`` (owned by the caller) with ``pattern`` where ``nan``."""
    if nan.any():
        bits[nan] = pattern
    return bits


def to_f16(x: np.ndarray, mode: str = "rn") -> np.ndarray:
    """f32 or f64 -> f16 in mode rn, rz, rm or rp, with the canonical NaN 0x7fff."""
    result = x.astype(F16)
    if mode != "rn":
        result = settle(result, x.astype(F64), mode)
    canonical(result.view(U16), np.isnan(x), 0x7FFF)
    return result


_F32_OF_F16 = np.arange(65536, dtype=U16).view(F16).astype(F32)


def read_f16(x: np.ndarray) -> np.ndarray:
    """f16 -> f32, exact, by looking it up (twice as fast as NumPy's conversion)."""
    return _F32_OF_F16.take(x.view(U16))


def from_f16(x: np.ndarray) -> np.ndarray:
    """f16 -> f32, exact, with the canonical NaN 0x7fffffff."""
    result = read_f16(x)
    canonical(result.view(U32), np.isnan(result), 0x7FFFFFFF)
    return result


def _drop(bits: np.ndarray, count: int, mode: str) -> np.ndarray:
    """Round sign-and-magnitude ``bits`` to a multiple of 2**count: the mode's rule on integers.

    A carry out of the fraction moves on into the exponent, and from the largest number to infinity,
    which is what IEEE rounding does.
    """
    unit = bits.dtype.type
    mask, count = unit((1 << count) - 1), unit(count)
    if mode == "rn":
        add = (mask >> unit(1)) + ((bits >> count) & unit(1))
    elif mode == "rna":
        add = (mask >> unit(1)) + unit(1)
    elif mode == "rz":
        add = unit(0)
    else:
        negative = (bits >> unit(bits.itemsize * 8 - 1)) == 1
        add = np.where(negative == (mode == "rm"), mask, unit(0))
    return (bits + add) & ~mask


def to_bf16(x: np.ndarray, mode: str = "rn") -> np.ndarray:
    """f32 -> bf16 bits (u16) in mode rn, rz, rm or rp, with the canonical NaN 0x7fff."""
    if mode == "rn":
        bits = x.astype(BF16).view(U16)
    else:
        bits = (_drop(x.view(U32), 16, mode) >> U32(16)).astype(U16)
    return canonical(bits, np.isnan(x), 0x7FFF)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """bf16 bits (u16) -> f32, exact."""
    return bits.view(BF16).astype(F32)


def to_tf32(x: np.ndarray, mode: str = "rna") -> np.ndarray:
    """f32 -> tf32 bits (u32, low 13 bits zero) in mode rna, rn or rz. A NaN becomes
    0x7fffe000; rna only cuts its low bits off, as an H200 does."""
    bits = _drop(x.view(U32), 13, mode)
    nan = np.isnan(x)
    if mode == "rna":
        return np.where(nan, x.view(U32) & U32(0xFFFFE000), bits)
    return canonical(bits, nan, 0x7FFFE000)


def to_e4m3(x: np.ndarray) -> np.ndarray:
    """f32 -> e4m3 bits (u8), to nearest even; out of range becomes +-448, NaN 0x7f."""
    return _to_fp8(x, E4M3)


def to_e5m2(x: np.ndarray) -> np.ndarray:
    """f32 -> e5m2 bits (u8), to nearest even; out of range becomes +-57344, NaN 0x7f."""
    return _to_fp8(x, E5M2)


def _to_fp8(x: np.ndarray, format: np.dtype) -> np.ndarray:
    largest = F32(ml_dtypes.finfo(format).max)
    code = np.clip(x, -largest, largest).astype(format).view(U8)
    return canonical(code, np.isnan(x), 0x7F)


def _f16_of(format: np.dtype) -> np.ndarray:
    numbers = np.arange(256, dtype=U8).view(format).astype(F16)
    return canonical(numbers.view(U16), np.isnan(numbers), 0x7FFF)


F16_OF_E4M3 = _f16_of(E4M3)
F16_OF_E5M2 = _f16_of(E5M2)
"""The f16 bits of every fp8 code; fp8 -> f16 is exact."""


# -- numbers of four bits, and scales of eight ----------------------------------------------------


def to_e2m1(x: np.ndarray) -> np.ndarray:
    """f32 -> e2m1 code (u8, below 16), to nearest even; out of range becomes +-6, NaN 6."""
    code = np.clip(x, F32(-6), F32(6)).astype(ml_dtypes.float4_e2m1fn).view(U8) & U8(15)
    return canonical(code, np.isnan(x), 7)


def to_ue8m0(x: np.ndarray, mode: str, finite: bool) -> np.ndarray:
    """f32 -> the exponent + 127 (u8) of a power of two next to |x|, down (``rz``) or up (``rp``),
    but no less than 2^-127. 255 is NaN, and infinity unless it is to be ``finite``."""
    bits = x.view(U32) & U32(0x7FFFFFFF)
    code = bits >> U32(23)
    if mode == "rp":
        code = code + ((bits & U32(0x7FFFFF) != 0) & (bits > 0x400000) & (bits < 0x7F800000))
    if finite:
        code = np.where(bits <= 0x7F800000, np.minimum(code, 254), code)
    return code.astype(U8)


F16_OF_E2M1 = np.arange(16, dtype=U8).view(ml_dtypes.float4_e2m1fn).astype(F16).view(U16)
BF16_OF_UE8M0 = np.concatenate([[0x40], np.arange(1, 255) << 7, [0x7FFF]]).astype(U16)
"""The f16 bits of every e2m1 code, the bf16 bits of every ue8m0 code."""
