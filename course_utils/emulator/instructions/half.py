"""f16 and bf16 arithmetic, single and in pairs.

PTX ISA, "Half Precision Floating Point Instructions". A pair is a 32-bit word, the first half in
its low 16 bits; seen as an (n, 2) array of halves it needs no code of its own. Results that are NaN
are canonical (0x7fff).

f16 sums and products are computed in f32 and rounded again, which is exact because f32 has
2 * 11 + 2 bits; fma is computed in f64, where an f16 sum that is close to a tie is exact. bf16 has
the exponents of f32, so its products and sums are rounded to odd in f64 first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..isa.instruction_set import Compute, Op
from ..numerics.floats import (
    F16,
    F32,
    F64,
    U16,
    U32,
    canonical,
    flush_bits,
    from_bf16,
    odd_sum,
    read_f16,
    to_bf16,
    to_f16,
    to_f32,
)
from .floating import WORK, extremum, saturate
from .forms import form
from .logic import flush16


def _bf16_of_f64(x: np.ndarray) -> np.ndarray:
    return to_bf16(to_f32(x, "odd"))


def _f64(*sources: np.ndarray) -> list[np.ndarray]:
    return [s.astype(F64) for s in sources]


def _bf16_fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    a, b, c = _f64(a, b, c)
    return odd_sum(a * b, c)


def _fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    a, b, c = _f64(a, b, c)
    return a * b + c


def _bf16_mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = _f64(a, b)
    return a * b


@dataclass(frozen=True)
class Half:
    """One of the two formats: reading it as f32, arithmetic on that, and writing it."""

    array: type  # dtype of the registers of single halves
    read: Compute
    write: Compute  # from f32 or f64
    arithmetic: dict[str, Compute]  # f32 sources -> f32 or f64
    one: int


def _bf16_write(x: np.ndarray) -> np.ndarray:
    return to_bf16(x) if x.dtype == F32 else _bf16_of_f64(x)


FORMATS = {
    "f16": Half(
        F16,
        read_f16,
        to_f16,
        {"add": np.add, "sub": np.subtract, "mul": np.multiply, "fma": _fma64},
        0x3C00,
    ),
    "bf16": Half(
        U16,
        from_bf16,
        _bf16_write,
        {"add": np.add, "sub": np.subtract, "mul": _bf16_mul, "fma": _bf16_fma},
        0x3F80,
    ),
}
KINDS = "f16 f16x2 bf16 bf16x2"


def _write_flushed(x: np.ndarray) -> np.ndarray:
    """To f16; zero where the result is subnormal when rounded with an unbounded exponent."""
    tiny = np.abs(to_f16(x * x.dtype.type(256))) < F16(256 * 2.0**-14)
    return np.where(tiny, np.copysign(F16(0), x).astype(F16), to_f16(x))


def _halves(kind: str) -> tuple[Half, Compute, Compute]:
    """(format, to an array of halves, back to registers) for a type."""
    half = FORMATS[kind.removesuffix("x2")]
    if kind.endswith("x2"):
        into = lambda x: x.view(U16).reshape(-1, 2).view(half.array)  # noqa: E731
        back = lambda x: np.ascontiguousarray(x).reshape(-1).view(U32)  # noqa: E731
        return half, into, back
    return half, (lambda x: x), (lambda x: x)


def relu(x: np.ndarray) -> np.ndarray:
    """Negative numbers (and -0) become +0; NaN stays."""
    return np.where(x > 0, x, np.where(np.isnan(x), x, x.dtype.type(0)))


def on_halves(
    kind: str,
    compute: Compute,
    flags: frozenset[str] = frozenset(),
    count: int = 2,
) -> Op:
    """An Op that reads halves as f32, computes, applies .relu and .sat, and rounds back."""
    half, into, back = _halves(kind)
    read, write = half.read, half.write
    if "ftz" in flags:
        if half.array is F16:
            read, write = (lambda x: read_f16(flush16(x))), _write_flushed
        else:
            read = lambda x: flush_bits(from_bf16(x))  # noqa: E731
            write = lambda x: to_bf16(flush_bits(x))  # noqa: E731

    def run(*sources: np.ndarray) -> np.ndarray:
        result = compute(*(read(into(s)) for s in sources))
        if "relu" in flags:
            result = relu(result)
        if "sat" in flags:
            result = saturate(result)
        return back(write(result))

    return Op((kind,), (kind,) * count, run)


def _unknown(flags: frozenset[str], kind: str) -> bool:
    """.ftz and .sat exist for f16 only (but for ex2.approx.ftz.bf16)."""
    return kind.startswith("bf16") and bool(flags & {"ftz", "sat"})


@form("add sub mul", KINDS, "rn ftz sat", flushed=True, work=WORK)
def _add(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    if _unknown(flags, kind):
        return None
    return on_halves(kind, _arithmetic(opcode, kind), flags)


def _arithmetic(opcode: str, kind: str) -> Compute:
    return FORMATS[kind.removesuffix("x2")].arithmetic[opcode]


@form("fma", KINDS, "rn ftz sat relu", flushed=True, work=WORK)
def _fma(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    if "rn" not in flags or {"sat", "relu"} <= flags or _unknown(flags, kind):
        return None
    return on_halves(kind, _arithmetic("fma", kind), flags, count=3)


@form("min max", KINDS, "ftz NaN xorsign abs", flushed=True)
def _extremum(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    if ("xorsign" in flags) != ("abs" in flags) or _unknown(flags, kind):
        return None
    return on_halves(kind, extremum(opcode, flags), flags)


@form("ex2 tanh", KINDS, "approx ftz", flushed=True)
def _approx(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """Computed in f32; the manual allows 2**-9.9 (f16 ex2), 2**-7 (bf16 ex2), 2**-10.987 (tanh)."""
    if "approx" not in flags:
        return None
    return on_halves(kind, np.exp2 if opcode == "ex2" else np.tanh, flags, count=1)


@form("abs neg", KINDS, "ftz")
def _sign(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """The sign bit alone changes; NaN becomes canonical."""
    if _unknown(flags, kind):
        return None
    half, into, back = _halves(kind)
    change = {
        "abs": lambda bits: bits & U16(0x7FFF),
        "neg": lambda bits: bits ^ U16(0x8000),
    }[opcode]
    infinity = U16(0x7C00 if half.array is F16 else 0x7F80)

    def run(a: np.ndarray) -> np.ndarray:
        halves = into(a)
        if "ftz" in flags:
            halves = flush16(halves)
        bits = change(halves.view(U16))
        bits = canonical(bits, (bits & U16(0x7FFF)) > infinity, 0x7FFF)
        return back(bits.view(half.array))

    return Op((kind,), (kind,), run)
