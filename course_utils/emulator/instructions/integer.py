"""Integer arithmetic, and dot products of bytes.

PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
Arithmetic wraps around unless ``.sat`` is given, which NumPy's does too; most entries are therefore
a NumPy function and the types of its operands.
"""

from __future__ import annotations

import numpy as np

from ..isa.instruction_set import DTYPES, Compute, Op, OpBuilder, instruction
from .forms import form

U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
I32, I64 = np.int32, np.int64

INTEGERS = "u16 s16 u32 s32 u64 s64"
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
UNSIGNED = {2: U16, 4: U32, 8: U64}


def unsigned(x: np.ndarray) -> np.ndarray:
    """The same bits as an unsigned integer."""
    return x.view(UNSIGNED[x.itemsize])


def bits_of(kind: str) -> str:
    """The unsigned type of a width, for what is the same with and without a sign: most registers
    hold that, and no operand has to be viewed as another type."""
    return "u" + kind[1:]


def single(x: np.ndarray) -> np.ndarray:
    """``x`` with no dimension where it has one element: NumPy broadcasts that faster, and divides
    by it much faster. What it is combined with keeps its dimension, and so does the result."""
    return x[0, ...] if x.size == 1 and x.ndim else x


def pairs(kind: str, compute: Compute) -> Compute:
    """``compute`` on the two 16-bit halves of every 32-bit source (``kind`` u16 or s16)."""
    dtype = DTYPES[kind]

    def on_halves(*sources: np.ndarray) -> np.ndarray:
        result = compute(*(s.view(dtype).reshape(-1, 2) for s in sources))
        return np.ascontiguousarray(result).reshape(-1).view(U32)

    return on_halves


# -- add, sub and the carry flag ------------------------------------------------------------------


def _saturate(exact: np.ndarray) -> np.ndarray:
    return np.clip(exact, -(2**31), 2**31 - 1).astype(I32)


def add_carry(
    a: np.ndarray, b: np.ndarray, carry: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(a + b + carry, carry out); add.cc, addc."""
    x, y = unsigned(a), unsigned(b)
    total = x + y
    out = total < x
    if carry is not None:
        total = total + carry
        out = out | (total < carry)
    return total.view(a.dtype), out


def sub_borrow(
    a: np.ndarray, b: np.ndarray, borrow: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(a - b - borrow, borrow out); sub.cc, subc: the carry flag holds the borrow."""
    x, y = unsigned(a), unsigned(b)
    total = x - y
    out = x < y
    if borrow is not None:
        out = out | (total < borrow)
        total = total - borrow
    return total.view(a.dtype), out


_PLAIN = {"add": np.add, "sub": np.subtract}
_CARRY = {"add": add_carry, "sub": sub_borrow}


@form("add sub", INTEGERS, "sat cc")
def _add(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """d = a + b, d = a - b; .sat clamps to the range of s32, .cc writes the carry flag."""
    if "cc" in flags:
        return Op((kind,), (kind, kind), _CARRY[opcode], carry_out=True)
    plain = _PLAIN[opcode]
    if "sat" in flags:
        return Op((kind,), (kind, kind), lambda a, b: _saturate(plain(a.astype(I64), b)))
    bits = bits_of(kind)
    return Op((bits,), (bits, bits), plain)


@form("addc subc", "u32 s32 u64 s64 b32", "cc")
def _addc(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """d = a + b + CC.CF, d = a - (b + CC.CF)."""
    compute = _CARRY[opcode[:3]]
    if "cc" in flags:
        return Op((kind,), (kind, kind), compute, carry_in=True, carry_out=True)
    return Op((kind,), (kind, kind), lambda a, b, c: compute(a, b, c)[0], carry_in=True)


@form("add sub", "u16x2 s16x2")
def _add_pairs(opcode: str, flags: frozenset[str], kind: str) -> Op:
    return Op(("b32",), ("b32", "b32"), pairs("u16", _PLAIN[opcode]))


# -- mul, mad -------------------------------------------------------------------------------------


def _wide(kind: str) -> Compute:
    dtype = DTYPES[WIDE[kind]]

    return lambda a, b: a.astype(dtype) * single(b).astype(dtype)


def _high64(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The upper half of the 128-bit product, from four 64-bit products of 32-bit halves."""
    x, y, half, low = a.view(U64), b.view(U64), U64(32), U64(0xFFFFFFFF)
    (xh, xl), (yh, yl) = (x >> half, x & low), (y >> half, y & low)
    middle = xh * yl + (xl * yl >> half)
    other = xl * yh + (middle & low)
    high = xh * yh + (middle >> half) + (other >> half)
    if a.dtype == I64:
        high = high - np.where(a < 0, y, U64(0)) - np.where(b < 0, x, U64(0))
    return high.view(a.dtype)


def _high(kind: str) -> Compute:
    if kind.endswith("64"):
        return _high64
    wide, bits = _wide(kind), DTYPES[kind].itemsize * 8
    return lambda a, b: (wide(a, b) >> bits).astype(a.dtype)


def _product(flags: frozenset[str], kind: str) -> tuple[str, Compute] | None:
    """(type of the product, function) for .lo, .hi or .wide."""
    part = flags - {"cc", "sat"}
    if part == {"lo"} and not flags & {"cc", "sat"}:
        return bits_of(kind), np.multiply
    if part == {"lo"}:
        return kind, np.multiply
    if part == {"hi"}:
        return kind, _high(kind)
    if part == {"wide"} and kind in WIDE:
        return WIDE[kind], _wide(kind)
    return None


@form("mul", INTEGERS, "lo hi wide")
def _mul(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """The low half, the high half or all of the bits of a * b."""
    product = _product(flags, kind)
    if product is None:
        return None
    result, multiply = product
    source = result if flags == {"lo"} else kind
    return Op((result,), (source, source), multiply)


@form("mad", INTEGERS, "lo hi wide sat cc")
def _mad(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """A part of a * b, plus c, which has the type of that part."""
    product = _product(flags, kind)
    if product is None:
        return None
    result, multiply = product
    source = result if flags == {"lo"} else kind
    types = (result,), (source, source, result)
    if "cc" in flags:
        return Op(*types, lambda a, b, c: add_carry(multiply(a, b), c), carry_out=True)
    if "sat" in flags:
        return Op(*types, lambda a, b, c: _saturate(multiply(a, b).astype(I64) + c))
    return Op(*types, lambda a, b, c: multiply(a, single(b)) + single(c))


@form("madc", INTEGERS, "lo hi cc")
def _madc(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    product = _product(flags, kind)
    if product is None:
        return None
    types, multiply = ((kind,), (kind,) * 3), product[1]
    if "cc" in flags:
        both = lambda a, b, c, carry: add_carry(multiply(a, b), c, carry)  # noqa: E731
        return Op(*types, both, carry_in=True, carry_out=True)
    return Op(*types, lambda a, b, c, f: add_carry(multiply(a, b), c, f)[0], carry_in=True)


@form("mul24 mad24", "u32 s32", "lo hi sat")
def _mul24(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """Bits 31..0 (.lo) or 47..16 (.hi) of the product of two 24-bit numbers."""
    part, dtype, wide = flags - {"sat"}, DTYPES[kind], DTYPES[WIDE[kind]]
    if part not in ({"lo"}, {"hi"}):
        return None
    shift, eight = (16 if part == {"hi"} else 0), dtype.type(8)

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = ((x << eight >> eight).astype(wide) for x in (a, b))
        return (a * b >> shift).astype(dtype)

    if opcode == "mul24":
        return Op((kind,), (kind, kind), product)
    if "sat" in flags:
        return Op((kind,), (kind,) * 3, lambda a, b, c: _saturate(product(a, b).astype(I64) + c))
    return Op((kind,), (kind,) * 3, lambda a, b, c: product(a, b) + c)


# -- div, rem and the rest of the arithmetic ------------------------------------------------------


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b towards zero. The manual leaves a zero divisor open; an H200 then gives all ones."""
    divisor = single(b)
    exact = a if a.dtype.kind == "u" else a - np.fmod(a, divisor)
    quotient = exact // divisor
    return quotient if _no_zeros(b) else np.where(b == 0, ~np.zeros_like(b), quotient)


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b * divide(a, b), with the sign of a; all ones (on an H200) for a zero divisor."""
    rest = np.fmod(a, b)
    return rest if _no_zeros(b) else np.where(b == 0, ~np.zeros_like(b), rest)


def _no_zeros(x: np.ndarray) -> bool:
    return np.count_nonzero(x) == x.size


_ARITHMETIC: dict[str, tuple[int, Compute]] = {
    "div": (2, divide),
    "rem": (2, remainder),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "sad": (3, lambda a, b, c: c + (np.maximum(a, b) - np.minimum(a, b))),
}


@form("div rem min max sad", INTEGERS)
def _arithmetic(opcode: str, flags: frozenset[str], kind: str) -> Op:
    count, compute = _ARITHMETIC[opcode]
    return Op((kind,), (kind,) * count, compute)


@form("abs neg", "s16 s32 s64")
def _sign(opcode: str, flags: frozenset[str], kind: str) -> Op:
    return Op((kind,), (kind,), np.abs if opcode == "abs" else np.negative)


@form("min max", "s32 u16x2 s16x2", "relu")
def _relu(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """min and max of 16-bit pairs; .relu clamps negative results to zero."""
    plain = _ARITHMETIC[opcode][1]
    compute = (lambda a, b: np.maximum(plain(a, b), 0)) if flags else plain
    if kind.endswith("x2"):
        return Op(("b32",), ("b32", "b32"), pairs(kind[:3], compute))
    return Op((kind,), (kind, kind), compute)


@form("min max", "relu", "s32 s16x2")
def _relu_last(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """The spelling max.s32.relu, which the compiler also writes."""
    return _relu(opcode, frozenset({kind}), *flags) if len(flags) == 1 else None


# -- dot products ---------------------------------------------------------------------------------


@instruction("dp4a")
def _dp4a(modifiers: tuple[str, ...]) -> Op | None:
    """d = c + the dot product of four bytes of a and of b."""
    if len(modifiers) != 2 or not {*modifiers} <= {"u32", "s32"}:
        return None
    a_byte, b_byte = (f"{m[0]}8" for m in modifiers)
    kind = "u32" if modifiers == ("u32", "u32") else "s32"

    def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        a = a.view(DTYPES[a_byte]).reshape(-1, 4).astype(I32)
        b = b.view(DTYPES[b_byte]).reshape(-1, 4).astype(I32)
        return c + (a * b).sum(axis=1, dtype=I32).view(c.dtype)

    return Op((kind,), (*modifiers, kind), dot)


@instruction("dp2a")
def _dp2a(modifiers: tuple[str, ...]) -> Op | None:
    """d = c + the dot product of the halves of a and two bytes of b (.lo: 0 and 1, .hi: 2, 3)."""
    if len(modifiers) != 3 or modifiers[0] not in ("lo", "hi"):
        return None
    part, *types = modifiers
    if not {*types} <= {"u32", "s32"}:
        return None
    a_half, b_byte = DTYPES[f"{types[0][0]}16"], DTYPES[f"{types[1][0]}8"]
    kind, first = ("u32" if types == ["u32", "u32"] else "s32"), 0 if part == "lo" else 2

    def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        a = a.view(a_half).reshape(-1, 2).astype(I32)
        b = b.view(b_byte).reshape(-1, 4)[:, first : first + 2].astype(I32)
        return c + (a * b).sum(axis=1, dtype=I32).view(c.dtype)

    return Op((kind,), (*types, kind), dot)


def _absolute_differences(width: int) -> OpBuilder:
    """vabsdiff4 (bytes) and vabsdiff2 (halves), "SIMD Video Instructions": |a - b| of each part;
    .add sums them and c instead."""

    def builder(modifiers: tuple[str, ...]) -> Op | None:
        types, flags = modifiers[:3], {*modifiers[3:]}
        if len(types) != 3 or not {*types} <= {"u32", "s32"} or not flags <= {"sat", "add"}:
            return None
        parts, limit = 32 // width, np.iinfo(DTYPES[f"{types[0][0]}{width}"]).max
        dtypes = [DTYPES[f"{t[0]}{width}"] for t in types[1:]]

        def difference(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
            a, b = (
                x.view(t).reshape(-1, parts).astype(I32)
                for x, t in zip((a, b), dtypes, strict=True)
            )
            result = np.abs(a - b)
            if "add" in flags:
                return c + result.sum(axis=1, dtype=I32).view(c.dtype)
            if "sat" in flags:
                result = np.minimum(result, limit)
            return result.astype(f"u{width // 8}").reshape(-1).view(c.dtype)

        return Op((types[0],), (types[1], types[2], types[0]), difference)

    return builder


instruction("vabsdiff4")(_absolute_differences(8))
instruction("vabsdiff2")(_absolute_differences(16))
