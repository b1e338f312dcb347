"""f32 and f64 arithmetic.

PTX ISA, "Floating Point Instructions". The order inside every entry is: flush the sources (.ftz),
compute with the rounding mode, flush the result, clamp to [0, 1] (.sat).

The ``.approx`` functions are computed by NumPy in f32, within about an ulp; the manual promises
less: rcp and sqrt 1 ulp, rsqrt a relative error of 2**-22.9, div and ex2 2 ulp, lg2 an absolute
error of 2**-22 in [0.5, 2] (and that relative error elsewhere), sin and cos an absolute error of
2**-20.5 in [-pi, pi] (and none further out, where a GPU's answers are poor and ours stay good),
tanh a relative error of 2**-11. Lessons must not expect these to agree bit for bit.
"""

from __future__ import annotations

import numpy as np

from ..isa.instruction_set import Compute, Op
from ..numerics import fpenv
from ..numerics.floats import (
    F32,
    F64,
    TINY32,
    U32,
    U64,
    exactly,
    flush,
    flush_bits,
    fma32,
    fma64,
    odd_sum,
    to_f32,
)
from .forms import form

MODES = {"rn", "rz", "rm", "rp"}


def mode_of(flags: frozenset[str]) -> str:
    """The rounding mode among the modifiers; rn when none is written."""
    return next(iter(flags & MODES), "rn")


def saturate(x: np.ndarray) -> np.ndarray:
    """Clamp to [+0, 1]; NaN becomes +0."""
    return np.minimum(np.fmax(x, x.dtype.type(0)), x.dtype.type(1)) + x.dtype.type(0)


def dressed(
    compute: Compute,
    flags: frozenset[str],
    kind: str,
    scaled: Compute | None = None,
) -> Compute:
    """``compute`` with flushing and saturation around it, as the modifiers ask.

    A GPU, like x86, flushes a result that is subnormal when rounded to 24 bits with an unbounded
    exponent. Of the results rounded in the usual way only 2**-126 can still be one of those;
    ``scaled`` gives the result times 2**64 to tell.
    """
    result = compute
    if "ftz" in flags and kind == "f32":
        to_nearest = flags & MODES <= {"rn"}
        finish = flush if to_nearest else flush_bits

        def result(*sources: np.ndarray) -> np.ndarray:
            if fpenv.is_active():
                return compute(*sources) if to_nearest else finish(compute(*sources))
            sources = tuple(flush(s) for s in sources)
            answer = finish(compute(*sources))
            if scaled is None:
                return answer
            edge = np.abs(answer) == TINY32
            if np.count_nonzero(edge):
                edge &= np.abs(scaled(*sources)) < TINY32 * F32(2.0**64)
                answer = np.where(edge, np.copysign(F32(0), answer), answer)
            return answer

    return (lambda *s: saturate(result(*s))) if "sat" in flags else result


# -- add, sub, mul, fma, div, rcp, sqrt in four rounding modes ------------------------------------


def _reciprocal(a: np.ndarray) -> np.ndarray:
    return np.divide(a.dtype.type(1), a)


_NEAREST: dict[tuple[str, str], Compute] = {
    ("add", "f32"): np.add,
    ("sub", "f32"): np.subtract,
    ("mul", "f32"): np.multiply,
    ("fma", "f32"): fma32,
    ("div", "f32"): np.divide,
    ("rcp", "f32"): _reciprocal,
    ("sqrt", "f32"): np.sqrt,
    ("add", "f64"): np.add,
    ("sub", "f64"): np.subtract,
    ("mul", "f64"): np.multiply,
    ("fma", "f64"): fma64,
    ("div", "f64"): np.divide,
    ("rcp", "f64"): _reciprocal,
    ("sqrt", "f64"): np.sqrt,
}

# In f64, from f32 sources: the exact result, or one that every rounding to f32 takes for it. For
# quotients and roots the f64 nearest will do: an inexact one is never that close to an f32.
_PROXY: dict[str, Compute] = {
    "add": odd_sum,
    "sub": lambda a, b: odd_sum(a, -b),
    "mul": np.multiply,
    "fma": lambda a, b, c: odd_sum(a * b, c),
    "div": np.divide,
    "rcp": _reciprocal,
    "sqrt": np.sqrt,
}
COUNT = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "rcp": 1, "sqrt": 1}

# Sources to negate so that the result is negated: rm is rp seen in that mirror, and a sum that
# cancels to zero is then -0, as IEEE 754 asks of rm.
_MIRROR = {"add": (0, 1), "sub": (0, 1), "mul": (0,), "fma": (0, 2), "div": (0,), "rcp": (0,)}


def directed(opcode: str, kind: str, mode: str) -> Compute:
    """``opcode`` rounded in mode rz, rm or rp."""
    if mode == "rm" and opcode in _MIRROR:
        mirrored, flip = directed(opcode, kind, "rp"), _MIRROR[opcode]
        return lambda *s: -mirrored(*(-x if i in flip else x for i, x in enumerate(s)))
    if kind == "f32":
        proxy = _PROXY[opcode]
        return lambda *s: to_f32(proxy(*(x.astype(F64) for x in s)), mode)
    nearest = _NEAREST[opcode, kind]

    def compute(*sources: np.ndarray) -> np.ndarray:
        result = nearest(*sources)
        if opcode == "rcp":
            sources = (np.ones(1), *sources)
        name = "div" if opcode == "rcp" else opcode
        return exactly(result, np.ones(result.shape, bool), name, mode, *sources)

    return compute


def _arithmetic(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    if len(flags & MODES) > 1 or (kind == "f64" and flags & {"ftz", "sat"}):
        return None
    mode = mode_of(flags)
    compute = _NEAREST[opcode, kind] if mode == "rn" else directed(opcode, kind, mode)
    proxy = _PROXY[opcode]

    def scaled(*sources: np.ndarray) -> np.ndarray:
        return to_f32(proxy(*(x.astype(F64) for x in sources)) * 2.0**64, mode)

    heavy = opcode == "fma" and kind == "f32"
    return Op((kind,), (kind,) * COUNT[opcode], dressed(compute, flags, kind, scaled), heavy=heavy)


WORK = {"add": "add", "sub": "add", "mul": "mul", "fma": "fma", "mad": "fma"}


@form("add sub mul", "f32 f64", "rn rz rm rp ftz sat", flushed=True, work=WORK)
def _add(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    return _arithmetic(opcode, flags, kind)


@form("fma mad", "f32 f64", "rn rz rm rp ftz sat", flushed=True, work=WORK)
def _fma(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """One rounding; mad of these types is fma."""
    return _arithmetic("fma", flags, kind)


@form("div rcp sqrt", "f32 f64", "rn rz rm rp ftz", flushed=True)
def _div(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    return _arithmetic(opcode, flags, kind) if flags & MODES else None


# -- approximations -------------------------------------------------------------------------------


def _div_approx(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a * (1/b): where |b| > 2**126 the reciprocal is flushed, and so is the quotient."""
    quotient, large = a / b, np.abs(b) > F32(2.0**126)
    return np.where(large, a * F32(0), quotient) if large.any() else quotient


def _rsqrt(a: np.ndarray) -> np.ndarray:
    return a.dtype.type(1) / np.sqrt(a)


_APPROX: dict[str, Compute] = {
    "div": _div_approx,
    "rcp": _reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "sin": np.sin,
    "cos": np.cos,
    "lg2": lambda a: np.log2(a * F32(1)),  # log2 itself ignores the processor's flushing
    "ex2": np.exp2,
    "tanh": np.tanh,
}


@form("div rcp sqrt rsqrt sin cos lg2 ex2 tanh", "f32", "approx full ftz", flushed=True)
def _approx(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    if len(flags & {"approx", "full"}) != 1 or ("full" in flags and opcode != "div"):
        return None
    compute = np.divide if "full" in flags else _APPROX[opcode]
    return Op(("f32",), ("f32",) * (2 if opcode == "div" else 1), dressed(compute, flags, kind))


@form("rcp rsqrt", "f64", "approx ftz")
def _approx64(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """The upper 32 bits of the result; the lower word is zero. .ftz flushes subnormals."""
    if "approx" not in flags:
        return None

    def flushed(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < np.finfo(F64).tiny, np.copysign(0.0, x), x)

    def compute(a: np.ndarray) -> np.ndarray:
        result = _APPROX[opcode](flushed(a) if "ftz" in flags else a)
        if opcode == "rsqrt" and "ftz" not in flags:
            return result
        return flushed((result.view(U64) & U64(0xFFFFFFFF00000000)).view(F64))

    return Op(("f64",), ("f64",), compute)


# -- signs, minimum, maximum, classes -------------------------------------------------------------


@form("abs neg", "f32 f64", "ftz")
def _sign(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    compute = np.abs if opcode == "abs" else np.negative
    if "ftz" in flags:
        return Op((kind,), (kind,), lambda a: compute(flush_bits(a))) if kind == "f32" else None
    return Op((kind,), (kind,), compute)


@form("copysign", "f32 f64")
def _copysign(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """b with the sign of a."""
    return Op((kind,), (kind, kind), lambda a, b: np.copysign(b, a))


_BITS: dict[str, np.dtype] = {"f32": np.dtype(U32), "f64": np.dtype(U64)}
_FRACTION: dict[str, np.unsignedinteger] = {"f32": U32((1 << 23) - 1), "f64": U64((1 << 52) - 1)}


def _number_wins(choose: Compute) -> Compute:
    """np.fmax and np.fmin, in which a signalling NaN wins in the last few elements of an array."""

    def chosen(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        result = choose(a, b)
        if np.count_nonzero(np.isnan(result)):
            result = np.where(np.isnan(a), b, np.where(np.isnan(b), a, result))
        return result

    return chosen


_fmax, _fmin = _number_wins(np.fmax), _number_wins(np.fmin)


def maximum(a: np.ndarray, b: np.ndarray, propagate: bool = False) -> np.ndarray:
    """The larger of a and b (f32 or f64), where +0 > -0. A NaN loses, or wins if ``propagate``.

    NumPy returns either zero of (+0, -0) depending on the order of the operands; the sign bit that
    both orders share is that of +0. (The fraction is kept: two NaNs could share no bit of theirs.)
    """
    kind = f"f{a.itemsize * 8}"
    choose, bits = (np.maximum if propagate else _fmax), _BITS[kind]
    other = choose(b, a).view(bits)
    other |= _FRACTION[kind]
    return np.bitwise_and(choose(a, b).view(bits), other, out=other).view(a.dtype)


def minimum(a: np.ndarray, b: np.ndarray, propagate: bool = False) -> np.ndarray:
    """The smaller of a and b (f32 or f64), where -0 < +0. A NaN loses, or wins if ``propagate``."""
    choose, bits = (np.minimum if propagate else _fmin), _BITS[f"f{a.itemsize * 8}"]
    return (choose(a, b).view(bits) | choose(b, a).view(bits)).view(a.dtype)


def extremum(opcode: str, flags: frozenset[str]) -> Compute:
    """min or max with the modifiers .NaN and .xorsign.abs (given as "xorsign" and "abs")."""
    choose, propagate = (minimum if opcode == "min" else maximum), "NaN" in flags
    if "xorsign" not in flags:
        return lambda a, b: choose(a, b, propagate)

    def with_sign(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        sign = np.where(np.signbit(a) ^ np.signbit(b), a.dtype.type(-1), a.dtype.type(1))
        return np.copysign(choose(np.abs(a), np.abs(b), propagate), sign)

    return with_sign


@form("min max", "f32 f64", "ftz NaN xorsign abs", flushed=True)
def _extremum(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """Without .NaN a NaN loses to a number; .xorsign.abs compares sizes and multiplies signs."""
    if (kind == "f64" and flags) or ("xorsign" in flags) != ("abs" in flags):
        return None
    compute = extremum(opcode, flags)
    if "ftz" in flags:
        return Op((kind,), (kind, kind), lambda a, b: compute(flush_bits(a), flush_bits(b)))
    return Op((kind,), (kind, kind), compute)


def _magnitude(a: np.ndarray) -> np.ndarray:
    """The bits of |a|, whose order is that of the numbers; immune to hardware flushing."""
    bits = a.view(_BITS[f"f{a.itemsize * 8}"])
    return bits & ~(bits.dtype.type(1) << bits.dtype.type(bits.itemsize * 8 - 1))


def _limits(a: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.array(v, a.dtype).reshape(1) for v in (np.finfo(a.dtype).tiny, np.inf))


_CLASSES = {
    "finite": lambda m, tiny, inf: m < inf,
    "infinite": lambda m, tiny, inf: m == inf,
    "number": lambda m, tiny, inf: m <= inf,
    "notanumber": lambda m, tiny, inf: m > inf,
    "normal": lambda m, tiny, inf: ((m >= tiny) & (m < inf)) | (m == 0),  # zero counts as normal
    "subnormal": lambda m, tiny, inf: (m > 0) & (m < tiny),
}


@form("testp", "f32 f64", " ".join(_CLASSES))
def _testp(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    if len(flags) != 1:
        return None
    (name,) = flags
    test = _CLASSES[name]
    return Op(("pred",), (kind,), lambda a: test(_magnitude(a), *map(_magnitude, _limits(a))))
