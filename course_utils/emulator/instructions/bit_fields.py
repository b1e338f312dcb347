"""Bits counted, found, turned round, and moved between words.

PTX ISA, "Integer Arithmetic Instructions: popc, clz, bfind, fns, brev, bfe, bfi, szext, bmsk".
"""

from __future__ import annotations

import numpy as np

from ..isa.instruction_set import DTYPES, Op
from .forms import form
from .integer import I64, U8, U32, U64, UNSIGNED, unsigned


def bits_used(a: np.ndarray) -> np.ndarray:
    """The number of bits of unsigned ``a`` without its leading zeros, as u32."""
    if a.itemsize == 8:
        high = bits_used((a >> U64(32)).astype(U32))
        return np.where(high > 0, high + U32(32), bits_used(a.astype(U32)))
    return np.frexp(a.astype(np.float64))[1].astype(U32)


@form("popc clz", "b32 b64")
def _count(opcode: str, flags: frozenset[str], kind: str) -> Op:
    width = U32(DTYPES[kind].itemsize * 8)
    if opcode == "popc":
        return Op(("u32",), (kind,), lambda a: np.bitwise_count(a).astype(U32))
    return Op(("u32",), (kind,), lambda a: width - bits_used(a))


@form("bfind", "u32 s32 u64 s64", "shiftamt")
def _bfind(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """The position of the highest bit that differs from the sign, 0xffffffff if none does;
    .shiftamt gives the left shift that moves it to the top instead."""
    top = U32(DTYPES[kind].itemsize * 8 - 1)

    def find(a: np.ndarray) -> np.ndarray:
        position = bits_used(unsigned(a ^ (a >> top.astype(a.dtype)) if kind[0] == "s" else a)) - 1
        return np.where(position > top, position, top - position) if flags else position

    return Op(("u32",), (kind,), find)


@form("fns", "b32")
def _fns(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """The position of the n-th set bit of a mask from a base upwards (n > 0) or downwards."""

    def find(mask: np.ndarray, base: np.ndarray, n: np.ndarray) -> np.ndarray:
        mask, base, n = np.broadcast_arrays(mask, base, n)
        step, left = np.where(n < 0, -1, 1), np.maximum(np.abs(n.astype(I64)), 1)
        position, found = base.astype(I64), np.full(mask.shape, 0xFFFFFFFF, U32)
        for _ in range(32):
            left = np.where((position >= 0) & (position < 32), left, 0)
            hit = (left > 0) & ((mask >> (position & 31).astype(U32)) & 1 == 1)
            left = left - hit
            found[hit & (left == 0)] = position[hit & (left == 0)]
            left = np.where(n == 0, 0, left)
            position = position + step
        return found

    return Op(("u32",), ("b32", "b32", "s32"), find)


def _reverse(a: np.ndarray) -> np.ndarray:
    flipped = np.packbits(np.unpackbits(a.view(U8), bitorder="little"), bitorder="big")
    return flipped.view(a.dtype).byteswap().reshape(-1) if a.itemsize > 1 else flipped


@form("brev", "b32 b64")
def _brev(opcode: str, flags: frozenset[str], kind: str) -> Op:
    return Op((kind,), (kind,), _reverse)


def low_mask(length: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``length`` ones from bit 0; NumPy's shifts give 0 from the width upwards, as needed here."""
    return (dtype.type(1) << length.astype(dtype)) - dtype.type(1)


def _place(value: np.ndarray, width: int) -> np.ndarray:
    """A position or length of a bit field, at most 255. The manual allows 0..255; for larger ones
    an H200 takes them modulo 256 in 32-bit instructions and as they are in 64-bit ones."""
    return value & U32(255) if width == 32 else np.minimum(value, U32(255))


@form("bfe", "u32 s32 u64 s64")
def _bfe(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """Bits pos .. pos+len-1 of a, zero- or sign-extended; see :func:`_place`."""
    signed, dtype = DTYPES[kind], np.dtype(UNSIGNED[DTYPES[kind].itemsize])
    width = dtype.itemsize * 8

    def extract(a: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
        position, length = _place(position, width), _place(length, width)
        field = a >> position.astype(signed)
        if kind[0] == "u":
            return field & low_mask(length, dtype)
        spare = (width - np.clip(length, 1, width)).astype(signed)
        return np.where(length == 0, signed.type(0), field << spare >> spare)

    return Op((kind,), (kind, "u32", "u32"), extract)


@form("bfi", "b32 b64")
def _bfi(opcode: str, flags: frozenset[str], kind: str) -> Op:
    """b with the low len bits of a put in from bit pos."""
    dtype, width = DTYPES[kind], DTYPES[kind].itemsize * 8

    def insert(
        a: np.ndarray, b: np.ndarray, position: np.ndarray, length: np.ndarray
    ) -> np.ndarray:
        position = _place(position, width).astype(dtype)
        mask = low_mask(_place(length, width), dtype) << position
        return (b & ~mask) | ((a << position) & mask)

    return Op((kind,), (kind, kind, "u32", "u32"), insert)


@form("bmsk", "b32", "clamp wrap")
def _bmsk(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """b ones from bit a upwards; .wrap takes both modulo 32."""

    def mask(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if flags == {"wrap"}:
            a, b = a & U32(31), b & U32(31)
        return low_mask(b, np.dtype(U32)) << a

    return Op(("b32",), ("u32", "u32"), mask) if len(flags) == 1 else None


@form("szext", "u32 s32", "clamp wrap")
def _szext(opcode: str, flags: frozenset[str], kind: str) -> Op | None:
    """The low n bits of a, zero- or sign-extended."""
    dtype = DTYPES[kind]

    def extend(a: np.ndarray, n: np.ndarray) -> np.ndarray:
        n = n & U32(31) if flags == {"wrap"} else np.minimum(n, U32(32))
        spare = (U32(32) - n).astype(dtype)
        return np.where(n == 0, dtype.type(0), a << spare >> spare)

    return Op((kind,), (kind, "u32"), extend) if len(flags) == 1 else None
