"""Conversions between types.

PTX ISA, "Data Movement and Conversion Instructions: cvt" and "cvt.pack". ``cvt.d.s`` falls into
four cases, by whether each side is an integer; packed formats have tables of their own. A
destination narrower than its register is returned in its own type: extending it to the register is
the machine's part.
"""

from __future__ import annotations

import numpy as np

from ..isa.instruction_set import DTYPES, Compute, Op, instruction
from ..numerics.floats import (
    BF16_OF_UE8M0,
    F16_OF_E2M1,
    F16_OF_E4M3,
    F16_OF_E5M2,
    F32,
    F64,
    I64,
    U8,
    U16,
    U32,
    flush_bits,
    from_bf16,
    from_f16,
    odd_sum,
    to_bf16,
    to_e2m1,
    to_e4m3,
    to_e5m2,
    to_f16,
    to_f32,
    to_tf32,
    to_ue8m0,
    two_sum,
)
from .floating import MODES, mode_of, saturate
from .half import relu

WHOLE = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}
FLOATS = {"f16", "bf16", "f32", "f64"}
TO_WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
READ = {"f16": from_f16, "bf16": from_bf16, "f32": lambda x: x, "f64": lambda x: x}


def _write(target: str, mode: str) -> Compute:
    """From f32 or f64 to ``target`` with a rounding mode."""
    return {
        "f64": lambda x: x.astype(F64),
        "f32": lambda x: x if x.dtype == F32 else to_f32(x, mode),
        "f16": lambda x: to_f16(x, mode),
        "bf16": lambda x: to_bf16(x if x.dtype == F32 else to_f32(x, "odd"), mode),
    }[target]


# -- integer -> integer ---------------------------------------------------------------------------


def _whole_to_whole(flags: frozenset[str], target: str, source: str) -> Compute | None:
    """The low bits, sign- or zero-extended; .sat clamps to the destination's range."""
    if flags - {"sat"}:
        return None
    to, limits, own = DTYPES[target], np.iinfo(DTYPES[target]), np.iinfo(DTYPES[source])
    if not flags:
        return lambda a: a.astype(to)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    return lambda a: np.clip(a, low, high).astype(to)


# -- float -> integer -----------------------------------------------------------------------------


def _float_to_whole(flags: frozenset[str], target: str, source: str) -> Compute | None:
    """Round to a whole number and clamp to the destination's range (.sat is implied).

    A NaN gives 0, or just the top bit for 64-bit destinations and f64 sources (seen on an H200).
    """
    modes = flags & TO_WHOLE.keys()
    if len(modes) != 1 or flags - modes - {"ftz", "sat"}:
        return None
    (mode,) = modes
    to, read, whole, limits = DTYPES[target], READ[source], TO_WHOLE[mode], np.iinfo(DTYPES[target])
    below, above = float(limits.min), float(limits.max + 1)  # powers of two, or 0: exact
    if "ftz" in flags and source == "f32":
        read = flush_bits
    top = to.type(1) << to.type(8 * to.itemsize - 1)
    nan = top if source == "f64" or to.itemsize == 8 else 0

    def convert(a: np.ndarray) -> np.ndarray:
        x = whole(read(a))
        if x.min() >= below and x.max() < above:  # False when there is a NaN
            return x.astype(to)
        inside = (x >= below) & (x < above)
        result = np.where(inside, x, x.dtype.type(0)).astype(to)
        result[x < below], result[x >= above] = limits.min, limits.max
        result[np.isnan(x)] = nan
        return result

    return convert


# -- integer -> float -----------------------------------------------------------------------------


def _two_words(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A 64-bit integer as the exact sum of two f64."""
    high, low = a >> a.dtype.type(32), a & a.dtype.type(0xFFFFFFFF)
    return high.astype(F64) * 2.0**32, low.astype(F64)


def _exact_f64(a: np.ndarray) -> np.ndarray:
    """An integer in f64: exact, or rounded to odd, which any narrower format takes for exact."""
    return odd_sum(*_two_words(a)) if a.itemsize == 8 else a.astype(F64)


def _whole_to_f64(a: np.ndarray, mode: str) -> np.ndarray:
    if a.itemsize < 8 or mode == "rn":
        return a.astype(F64)
    total, error = two_sum(*_two_words(a))
    if mode == "rz":
        mode_up, mode_down = total < 0, total > 0
    else:
        mode_up, mode_down = np.array([mode == "rp"]), np.array([mode == "rm"])
    step = ((error > 0) & mode_up).astype(I64) - ((error < 0) & mode_down).astype(I64)
    return (total.view(I64) + np.where(total < 0, -step, step)).view(F64)


def _whole_to_float(flags: frozenset[str], target: str, source: str) -> Compute | None:
    if flags - MODES - {"sat"} or len(flags & MODES) > 1:
        return None
    mode = mode_of(flags)
    write = _write(target, mode)
    if target == "f64":
        convert = lambda a: _whole_to_f64(a, mode)  # noqa: E731
    elif target == "f32" and mode == "rn":
        convert = lambda a: a.astype(F32)  # noqa: E731
    else:
        convert = lambda a: write(_exact_f64(a))  # noqa: E731
    return (lambda a: saturate(convert(a))) if "sat" in flags else convert


# -- float -> float -------------------------------------------------------------------------------

_LARGEST = {"f16": (0x7BFF, 0x7C00), "bf16": (0x7F7F, 0x7F80)}


def _finite(x: np.ndarray, target: str) -> np.ndarray:
    """.satfinite: an infinity becomes the largest number of its sign."""
    largest, infinity = map(U16, _LARGEST[target])
    bits = x.view(U16)
    limited = np.where(bits & U16(0x7FFF) == infinity, bits & U16(0x8000) | largest, bits)
    return limited.view(x.dtype)


def _float_to_float(flags: frozenset[str], target: str, source: str) -> Compute | None:
    """Round to ``target`` (.rn ...) or to a whole number of the same type (.rni ...)."""
    whole = flags & TO_WHOLE.keys()
    if (
        flags - MODES - whole - {"ftz", "sat", "relu", "satfinite"}
        or len(whole | flags & MODES) > 1
    ):
        return None
    if flags & {"relu", "satfinite"} and target not in _LARGEST:
        return None
    steps = [READ[source]]
    if "ftz" in flags and source == "f32" and target in ("f32", "f64"):
        steps.append(flush_bits)
    steps += [TO_WHOLE[mode] for mode in whole]
    if "relu" in flags:
        steps.append(relu)
    if "sat" in flags:
        steps.append(saturate)
    steps.append(_write(target, mode_of(flags)))
    if "ftz" in flags and target == "f32":
        steps.append(flush_bits)
    if "satfinite" in flags:
        steps.append(lambda x: _finite(x, target))

    def convert(x: np.ndarray) -> np.ndarray:
        for step in steps:
            x = step(x)
        return x

    return convert


# -- tf32 and packed formats ----------------------------------------------------------------------


def _tf32(flags: frozenset[str]) -> Op | None:
    """cvt.rna.tf32.f32, also .rn and .rz, with .relu and .satfinite."""
    modes = flags & {"rna", "rn", "rz"}
    if len(modes) != 1 or flags - modes - {"relu", "satfinite"}:
        return None
    (mode,) = modes

    def convert(a: np.ndarray) -> np.ndarray:
        bits = to_tf32(relu(a) if "relu" in flags else a, mode)
        if "satfinite" in flags:
            infinite = bits & U32(0x7FFFFFFF) == 0x7F800000
            bits = np.where(infinite, bits & U32(0x80000000) | U32(0x7F7FE000), bits)
        return bits

    return Op(("tf32",), ("f32",), convert)


def pack(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Two arrays of 8- or 16-bit elements side by side in words of twice the width."""
    both = np.empty((max(low.size, high.size), 2), low.dtype)
    both[:, 0], both[:, 1] = low, high
    return both.reshape(-1).view({1: U16, 2: U32}[low.itemsize])


_FP8 = {"e4m3x2": (to_e4m3, F16_OF_E4M3), "e5m2x2": (to_e5m2, F16_OF_E5M2)}


def _packed(flags: frozenset[str], target: str, source: str) -> Op | None:
    """Pairs: of two f32 the first source goes to the upper half."""
    prepare = relu if "relu" in flags else (lambda x: x)
    if target in ("f16x2", "bf16x2") and source == "f32":
        half = _float_to_float(flags, target[:-2], "f32")
        if half is None:
            return None
        bits = lambda x: half(x).view(U16)  # noqa: E731
        return Op((target,), ("f32", "f32"), lambda a, b: pack(bits(b), bits(a)))
    if target in _FP8 and flags - {"relu"} == {"rn", "satfinite"}:
        encode = _FP8[target][0]
        if source == "f32":
            one = lambda x: encode(prepare(x))  # noqa: E731
            return Op((target,), ("f32", "f32"), lambda a, b: pack(one(b), one(a)))
        if source == "f16x2":
            two = lambda a: encode(prepare(from_f16(a.view(np.float16)))).view(U16)  # noqa: E731
            return Op((target,), ("f16x2",), two)
    if target == "f16x2" and source in _FP8 and flags - {"relu"} == {"rn"}:
        table = _FP8[source][1]

        def decode(a: np.ndarray) -> np.ndarray:
            halves = table[a.view(U8)]
            if "relu" in flags:
                halves = np.where((halves >> U16(15)) == 1, U16(0), halves)
            return halves.view(U32)

        return Op((target,), (source,), decode)
    return _scaled_formats(flags, target, source)


def _scaled_formats(flags: frozenset[str], target: str, source: str) -> Op | None:
    """Numbers of e2m1, two in a byte, and scales in ue8m0 (sm_100a). Not run on a Blackwell GPU."""
    prepare = relu if "relu" in flags else (lambda x: x)
    if (target, source) == ("e2m1x2", "f32") and flags - {"relu"} == {"rn", "satfinite"}:
        one = lambda x: to_e2m1(prepare(x))  # noqa: E731
        return Op((target,), ("f32", "f32"), lambda a, b: one(a) << U8(4) | one(b))
    if (target, source) == ("f16x2", "e2m1x2") and flags - {"relu"} == {"rn"}:
        half = lambda a: prepare(F16_OF_E2M1[a].view(np.float16)).view(U16)  # noqa: E731
        return Op((target,), (source,), lambda a: pack(half(a & U8(15)), half(a >> U8(4))))
    modes = flags & {"rz", "rp"}
    if (target, source) == ("ue8m0x2", "f32") and len(modes) == 1:
        (mode,) = modes
        if flags - modes - {"satfinite"}:
            return None
        scale = lambda x: to_ue8m0(x, mode, "satfinite" in flags)  # noqa: E731
        return Op((target,), ("f32", "f32"), lambda a, b: pack(scale(b), scale(a)))
    if (target, source) == ("bf16x2", "ue8m0x2") and flags == {"rn"}:
        return Op((target,), (source,), lambda a: BF16_OF_UE8M0[a.view(U8)].view(U32))
    return None


def _pack_saturated(modifiers: tuple[str, ...]) -> Op | None:
    """cvt.pack.sat: a above b, each clamped to 16 bits, or to 8 bits with c << 16 above them."""
    target, _, *third = modifiers
    if modifiers[1] != "s32" and modifiers[1] != "u32":
        return None
    clamp = _whole_to_whole(frozenset({"sat"}), target, modifiers[1])
    if clamp is None:
        return None
    kinds = (modifiers[1],) * 2
    if target in ("u16", "s16") and not third:
        return Op(("b32",), kinds, lambda a, b: pack(clamp(b), clamp(a)))
    if target in ("u8", "s8") and third == ["b32"]:
        eight = lambda a, b, c: pack(clamp(b), clamp(a)) | (c << U32(16))  # noqa: E731
        return Op(("b32",), (*kinds, "b32"), eight)
    return None


@instruction("cvt", flushed=True)
def _cvt(modifiers: tuple[str, ...]) -> Op | None:
    if modifiers[:2] == ("pack", "sat") and len(modifiers) in (4, 5):
        return _pack_saturated(modifiers[2:])
    if len(modifiers) < 2:
        return None
    *words, target, source = modifiers
    flags = frozenset(words)
    if (target, source) == ("tf32", "f32"):
        return _tf32(flags)
    if target in WHOLE and source in WHOLE:
        convert = _whole_to_whole(flags, target, source)
    elif target in WHOLE and source in FLOATS:
        convert = _float_to_whole(flags, target, source)
    elif target in FLOATS and source in WHOLE:
        convert = _whole_to_float(flags, target, source)
    elif target in FLOATS and source in FLOATS:
        convert = _float_to_float(flags, target, source)
    else:
        return _packed(flags, target, source)
    return None if convert is None else Op((target,), (source,), convert)
