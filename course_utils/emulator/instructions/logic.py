"""Bits, shifts, bytes, comparisons and selection.

PTX ISA, "Logic and Shift Instructions", "Comparison and Selection Instructions" and, for prmt,
"Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..isa.instruction_set import DTYPES, Compute, Op, instruction
from ..numerics.floats import flush_bits, from_bf16
from .forms import form
from .integer import INTEGERS, single

U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
BITS = "b16 b32 b64"

# -- and, or, xor, not, lop3 ----------------------------------------------------------------------

_LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@form("and or xor not", f"{BITS} pred")
def _logic(opcode: str, flags: frozenset[str], kind: str) -> Op:
    if opcode == "not":
        return Op((kind,), (kind,), np.bitwise_not)
    return Op((kind,), (kind, kind), _LOGIC[opcode])


@form("cnot", BITS)
def _cnot(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """1 where a is 0, else 0."""
    return Op((kind,), (kind,), lambda a: (a == 0).astype(a.dtype))


# The sixteen functions of two bits; bit 2x + y of the index is the value for (x, y).
_TWO_BITS: tuple[Callable[..., Any], ...] = (
    lambda x, y: U32(0),
    lambda x, y: ~(x | y),
    lambda x, y: ~x & y,
    lambda x, y: ~x,
    lambda x, y: x & ~y,
    lambda x, y: ~y,
    lambda x, y: x ^ y,
    lambda x, y: ~(x & y),
    lambda x, y: x & y,
    lambda x, y: ~(x ^ y),
    lambda x, y: y,
    lambda x, y: ~x | y,
    lambda x, y: x,
    lambda x, y: x | ~y,
    lambda x, y: x | y,
    lambda x, y: U32(0xFFFFFFFF),
)


@cache
def lop3(table: int) -> Compute:
    """The function of three words that ``table`` (bit 4a + 2b + c) describes.

    Shannon's expansion: the answer where a is 1 and the answer where a is 0, then a chooses.
    """
    if table in (0x96, 0x69):
        flip = U32(0xFFFFFFFF if table == 0x69 else 0)
        return lambda a, b, c: a ^ b ^ c ^ flip
    zero, one = _TWO_BITS[table & 15], _TWO_BITS[table >> 4]
    if zero is one:
        return lambda a, b, c: (a & 0) | zero(b, c)
    return lambda a, b, c: (a & one(b, c)) | (~a & zero(b, c))


@form("lop3", "b32", "and or")
def _lop3(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """lop3.b32 d, a, b, c, table; with .and/.or also p = (d != 0) op q."""
    if not flags:
        return Op(("b32",), ("b32",) * 3 + ("u32",), lambda a, b, c, t: lop3(int(t[0]))(a, b, c))
    if len(flags) != 1:
        return None
    (combine,) = (_LOGIC[f] for f in flags)

    def both(
        a: np.ndarray, b: np.ndarray, c: np.ndarray, t: np.ndarray, q: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        d = lop3(int(t[0]))(a, b, c)
        return d, combine(d != 0, q)

    return Op(("b32", "pred"), ("b32",) * 3 + ("u32", "pred"), both)


# -- shifts and bytes -----------------------------------------------------------------------------


@form("shl", BITS)
def _shl(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """a << b; from the width upwards the result is 0 (and so is NumPy's)."""
    return _shift(np.left_shift, kind)


@form("shr", f"{BITS} {INTEGERS}")
def _shr(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """a >> b; from the width upwards only zeros or copies of the sign are left."""
    return _shift(np.right_shift, kind)


def _shift(shift: np.ufunc, kind: str) -> Op:
    """The amount, an u32, in the type that is shifted; what does not fit stays too large."""
    dtype = DTYPES[kind]
    if dtype.itemsize == 4:
        return Op((kind,), (kind, kind), shift)
    most = U32(255)

    def compute(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        b = single(b)
        return shift(a, (np.minimum(b, most) if dtype.itemsize == 2 else b).astype(dtype))

    return Op((kind,), (kind, "u32"), compute)


@form("shf", "b32", "l r clamp wrap")
def _shf(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """The 64 bits b:a shifted left (upper word returned) or right (lower word returned)."""
    if len(flags & {"l", "r"}) != 1 or len(flags & {"clamp", "wrap"}) != 1:
        return None
    limit = (lambda n: n & U32(31)) if "wrap" in flags else (lambda n: np.minimum(n, U32(32)))

    def left(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> np.ndarray:
        n = limit(n)
        return (b << n) | (a >> (U32(32) - n))

    def right(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> np.ndarray:
        n = limit(n)
        return (b << (U32(32) - n)) | (a >> n)

    return Op(("b32",), ("b32", "b32", "u32"), left if "l" in flags else right)


# selector of each mode for c & 3 = 0..3, one hexadecimal digit a byte, the top byte first
_PRMT_MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def permute(a: np.ndarray, b: np.ndarray, selector: np.ndarray) -> np.ndarray:
    """Four bytes picked from b:a; a digit of 8 or more spreads the sign of its byte."""
    if selector.size == 1:
        result = np.empty((max(a.size, b.size), 4), U8)
        for i in range(4):
            digit = int(selector[0]) >> 4 * i & 15
            byte = (b if digit & 4 else a).view(U8).reshape(-1, 4)[:, digit & 3]
            result[:, i] = (byte >> U8(7)) * U8(0xFF) if digit & 8 else byte
        return result.reshape(-1).view(U32)
    word = a.astype(U64) | (b.astype(U64) << U64(32))
    picked = np.zeros(1, U64)
    for i in range(4):
        digits = (selector >> U32(4 * i)).astype(U64)
        bytes_ = (word >> ((digits & U64(7)) << U64(3))) & U64(0xFF)
        bytes_ = np.where(digits & U64(8), (bytes_ >> U64(7)) * U64(0xFF), bytes_)
        picked = picked | (bytes_ << U64(8 * i))
    return picked.astype(U32)


@instruction("prmt")
def _prmt(modifiers: tuple[str, ...]) -> Op | None:
    """prmt.b32 takes its selector from c; prmt.b32.mode from the mode's table."""
    if modifiers == ("b32",):
        return Op(("b32",), ("b32",) * 3, permute)
    if len(modifiers) != 2 or modifiers[0] != "b32" or modifiers[1] not in _PRMT_MODES:
        return None
    selectors = np.array(_PRMT_MODES[modifiers[1]], U32)
    return Op(("b32",), ("b32",) * 3, lambda a, b, c: permute(a, b, selectors[c & U32(3)]))


# -- comparisons ----------------------------------------------------------------------------------

_INTEGER: dict[str, Compute] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}


def _not(compare: Compute) -> Compute:
    return lambda a, b: ~compare(a, b)


def _unequal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a < b) | (a > b)


# A comparison with a NaN is false; one whose name ends in u is then true.
_FLOAT: dict[str, Compute] = {
    "eq": np.equal,
    "ne": _unequal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "equ": _not(_unequal),
    "neu": np.not_equal,
    "ltu": _not(np.greater_equal),
    "leu": _not(np.greater),
    "gtu": _not(np.less_equal),
    "geu": _not(np.less),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_COMBINE = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def flush16(x: np.ndarray) -> np.ndarray:
    """f16 with subnormals replaced by zeros of the same sign."""
    bits = x.view(U16)
    return np.where(bits & U16(0x7C00), bits, bits & U16(0x8000)).view(np.float16)


def _prepare(kind: str, ftz: bool) -> Compute | None:
    """From registers of a type to something NumPy compares; x2 types become (n, 2)."""
    if kind == "f32" and ftz:
        return flush_bits
    halves = (lambda x: x.view(U16).reshape(-1, 2)) if kind.endswith("x2") else (lambda x: x)
    if kind.startswith("bf16"):
        return lambda x: from_bf16(halves(x))
    if kind.startswith("f16"):
        view = lambda x: halves(x).view(np.float16)  # noqa: E731
        return (lambda x: flush16(view(x))) if ftz else view
    return None


def _comparison(modifiers: list[str], kind: str) -> tuple[Compute, Compute | None] | None:
    """(compare, combine or None) for ``cmp[.bool][.ftz]`` on ``kind``; None if unknown."""
    words = [m for m in modifiers if m != "ftz"]
    table = _FLOAT if kind in ("f32", "f64", *_HALVES) else _INTEGER
    if kind not in DTYPES or kind == "pred" or not words or words[0] not in table:
        return None
    if kind[0] == "b" and kind not in _HALVES and words[0] not in ("eq", "ne"):
        return None
    if len(words) > 2 or (len(words) == 2 and words[1] not in _COMBINE):
        return None
    compare, prepare = table[words[0]], _prepare(kind, "ftz" in modifiers)
    combine = _COMBINE[words[1]] if len(words) == 2 else None
    if prepare is None:
        return compare, combine
    return (lambda a, b: compare(prepare(a), prepare(b))), combine


@instruction("setp", flushed=True)
def _setp(modifiers: tuple[str, ...]) -> Op | None:
    """p = (a cmp b) bool c and q = !(a cmp b) bool c; for x2 types p and q are the two halves."""
    *words, kind = modifiers
    known = _comparison(words, kind)
    if known is None:
        return None
    compare, combine = known

    def first(a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
        t = compare(a, b)
        return t if combine is None else combine(t, c)

    def both(
        a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        t = compare(a, b)
        if t.ndim == 2:
            t, other = np.ascontiguousarray(t[:, 0]), np.ascontiguousarray(t[:, 1])
        else:
            other = ~t
        return (t, other) if combine is None else (combine(t, c), combine(other, c))

    alone = None if kind.endswith("x2") else compare if combine is None else first
    sources = (kind, kind) + ("pred",) * (combine is not None)
    return Op(("pred", "pred"), sources, both, first=alone)


_SET_TRUE = {"f32": 1.0, "f16": 1.0, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}


@instruction("set", flushed=True)
def _set(modifiers: tuple[str, ...]) -> Op | None:
    """d = all ones (integer types) or 1.0 where the comparison holds, else 0."""
    if len(modifiers) < 3:
        return None
    *words, result, kind = modifiers
    known = _comparison(words, kind)
    paired = kind.endswith("x2")
    if known is None or result not in ("u16", "s16", "u32", "s32", *_SET_TRUE):
        return None
    if result.endswith("x2") and not paired:
        return None
    compare, combine = known
    dtype = np.dtype(U16) if paired else DTYPES[result]
    ones = -1 if dtype.kind == "i" else 2 ** (8 * dtype.itemsize) - 1
    true = dtype.type(_SET_TRUE.get(result, ones))

    def choose(a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
        t = compare(a, b)
        if combine is not None and c is not None:
            t = combine(t, c[:, None] if paired else c)
        chosen = np.where(t, true, dtype.type(0))
        return chosen.reshape(-1).view(DTYPES[result]) if paired else chosen

    return Op((result,), (kind, kind) + ("pred",) * (combine is not None), choose)


# -- selection ------------------------------------------------------------------------------------


@form("selp", f"{BITS} {INTEGERS} f32 f64 pred f16 bf16 f16x2 bf16x2")
def _selp(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """d = p ? a : b."""

    def select(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> np.ndarray:
        if p.size == 1:
            return a if p[0] else b
        return np.where(p, a, b)

    return Op((kind,), (kind, kind, "pred"), select)


@instruction("slct", flushed=True)
def _slct(modifiers: tuple[str, ...]) -> Op | None:
    """d = c >= 0 ? a : b; -0 counts as 0, and a NaN selects b."""
    words = [m for m in modifiers if m != "ftz"]
    if len(words) != 2 or words[0] not in DTYPES or words[1] not in ("s32", "f32"):
        return None
    kind, test = words
    prepare = flush_bits if "ftz" in modifiers else (lambda c: c)
    return Op((kind,), (kind, kind, test), lambda a, b, c: np.where(prepare(c) >= 0, a, b))
