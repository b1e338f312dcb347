"""Matrices as the lanes of a warp hold them: elements in registers, fragments, accumulators.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 ..." and the pages beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ..isa import ptx
from ..machine.lanes import Group
from ..machine.program import Builder
from ..numerics import floats
from .warp import WarpRows

GetFragment = Callable[[Group, WarpRows], np.ndarray]
PutFragment = Callable[[Group, WarpRows, np.ndarray], None]

CHUNK: np.dtype = np.dtype(np.complex128)  # 16 bytes at once; moved, never computed with
G, T = np.divmod(np.arange(32)[:, None], 4)  # the manual's groupID and threadID_in_group; (32, 1)


def _fp8(table: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    values = table.view(np.float16).astype(np.float64)
    return lambda bits: values[bits]


def _nibbles(words: np.ndarray) -> np.ndarray:
    """(…, n) u32 -> (…, 8 n) u8, the lowest four bits of a word first."""
    low_high = np.stack([words.view(np.uint8) & 15, words.view(np.uint8) >> 4], axis=-1)
    return low_high.reshape(*words.shape[:-1], -1)


def _small_floats(exponent_bits: int, fraction_bits: int, bias: int) -> np.ndarray:
    """The values of all codes of a small float with no infinity and no NaN; f64."""
    code = np.arange(1 << (1 + exponent_bits + fraction_bits))
    fraction = code & (1 << fraction_bits) - 1
    exponent = code >> fraction_bits & (1 << exponent_bits) - 1
    whole = fraction + np.where(exponent > 0, 1 << fraction_bits, 0)
    sign = np.where(code >> (exponent_bits + fraction_bits), -1.0, 1.0)
    return sign * whole * 2.0 ** (np.maximum(exponent, 1) - bias - fraction_bits)


SMALL = {
    "e2m1": _small_floats(2, 1, 1),
    "e2m3": _small_floats(2, 3, 1),
    "e3m2": _small_floats(3, 2, 3),
}


# type of A and B -> bits, values of raw bits (unsigned integers of that width)
ELEMENTS: dict[str, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "f16": (16, floats.read_f16),
    "bf16": (16, floats.from_bf16),
    "tf32": (32, lambda bits: (bits & np.uint32(0xFFFFE000)).view(np.float32)),
    "e4m3": (8, _fp8(floats.F16_OF_E4M3)),
    "e5m2": (8, _fp8(floats.F16_OF_E5M2)),
    "s8": (8, lambda bits: bits.view(np.int8)),
    "u8": (8, lambda bits: bits),
    "s4": (4, lambda bits: (bits ^ 8).astype(np.int8) - np.int8(8)),
    "u4": (4, lambda bits: bits),
    "f64": (64, lambda bits: bits.view(np.float64)),
    "e3m2": (8, lambda bits: SMALL["e3m2"][bits & 63]),  # in the lower 6 bits of a byte
    "e2m3": (8, lambda bits: SMALL["e2m3"][bits & 63]),
    "e2m1": (8, lambda bits: SMALL["e2m1"][bits >> 2 & 15]),  # in the middle 4 bits of a byte
    "e2m1 packed": (4, lambda bits: SMALL["e2m1"][bits]),
}
SCALES = {  # of blocks of A and B -> the numbers that the codes stand for
    "ue8m0": np.append(2.0 ** (np.arange(255) - 127.0), np.nan),
    "ue4m3": ELEMENTS["e4m3"][1](np.arange(256) & 127),
}
ACCUMULATORS: dict[str, np.dtype] = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "s32": np.dtype(np.int32),
    "f64": np.dtype(np.float64),
}
RAW: dict[int, np.dtype] = {bits: np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)}


def per_register(bits: int) -> int:
    """Elements of this width in a register of 32 bits, or 1 if they are wider."""
    return max(1, 32 // bits)


def decode(kind: str, words: np.ndarray) -> np.ndarray:
    """Registers (…, n) as numbers: f64 (…, n times elements in a register)."""
    bits, values = ELEMENTS[kind]
    return values(_nibbles(words) if bits == 4 else words.view(RAW[bits])).astype(np.float64)


def read_registers(b: Builder, operand: ptx.Operand, bits: int) -> GetFragment:
    """A getter ``get(group, rows)`` of an operand's n registers: u32 or u64 (warps, 32, n)."""
    gets = [b.read(item, "b64" if bits == 64 else "b32") for item in ptx.items(operand)]

    def get(group: Group, rows: WarpRows) -> np.ndarray:
        return np.stack([rows.spread(one(group.R)) for one in gets], axis=-1)

    return get


def write_registers(b: Builder, operand: ptx.Operand, dtype: np.dtype) -> PutFragment:
    """A setter ``put(group, rows, held)`` of registers; ``held`` is (warps, 32, elements)."""
    bits = dtype.itemsize * 8
    puts = [b.write(item, "b64" if bits == 64 else "b32") for item in ptx.items(operand)]
    raw = RAW[max(bits, 32)]

    def put(group: Group, rows: WarpRows, held: np.ndarray) -> None:
        columns = np.ascontiguousarray(np.moveaxis(np.ascontiguousarray(held).view(raw), -1, 0))
        for one, column in zip(puts, columns, strict=True):
            one(group.R, np.ascontiguousarray(rows.gather(column)))

    return put


# --- fragments ------------------------------------------------------------------------------------


class Fragment:
    """Which elements of a matrix each lane holds. ``place``: (32, n), row · columns + column."""

    def __init__(self, rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> None:
        self.shape = rows, columns
        self.place = np.broadcast_arrays(row * columns + column)[0]
        flat = self.place.reshape(-1)
        self.holder = np.zeros(rows * columns, np.int64)  # where an element is, the first if twice
        self.holder[flat[::-1]] = np.arange(len(flat))[::-1]

    def matrix(self, held: np.ndarray) -> np.ndarray:
        """(warps, 32, n) -> (warps, rows, columns)."""
        flat = held.reshape(len(held), -1)
        return flat.take(self.holder, axis=1).reshape(-1, *self.shape)

    def held(self, matrix: np.ndarray) -> np.ndarray:
        """(warps, rows, columns) -> (warps, 32, n)."""
        return matrix.reshape(len(matrix), -1).take(self.place, axis=1)


@cache
def fragment_a(m: int, k: int, per: int, count: int) -> Fragment:
    """A (m × k), ``per`` elements to a register, ``count`` to a lane. Registers go down in steps of
    8 rows first, then along k; a lane that holds more than its share holds it twice."""
    i = np.arange(count) % (m * k // 32)
    register, down = i // per, m // 8
    return Fragment(
        m, k, G + 8 * (register % down), per * T + i % per + 4 * per * (register // down)
    )


@cache
def fragment_b(k: int, n: int, per: int, count: int) -> Fragment:
    """B (k × n): registers go along k first, then in steps of 8 columns."""
    i = np.arange(count) % (k * n // 32)
    register, along = i // per, max(1, k // (4 * per))
    return Fragment(
        k, n, per * T + i % per + 4 * per * (register % along), G + 8 * (register // along)
    )


@cache
def fragment_c(m: int, n: int) -> Fragment:
    """C and D (m × n), whatever their type: pairs go down in steps of 8 rows, then 8 columns."""
    i = np.arange(m * n // 32)
    pair, down = i // 2, m // 8
    return Fragment(m, n, G + 8 * (pair % down), 2 * T + i % 2 + 8 * (pair // down))


def accumulate(
    product: np.ndarray, c: np.ndarray | None, dtype: np.dtype, saturate: bool
) -> np.ndarray:
    """product (f64, exact or nearly) + c, rounded to the accumulator's ``dtype``."""
    if dtype.kind == "i":
        total = product.astype(np.int64)
        if c is not None:
            total += c
        if saturate:
            np.clip(total, -(2**31), 2**31 - 1, out=total)
        return total.astype(np.int32)
    if c is not None:
        product = product + c
    if dtype.itemsize == 2:
        return floats.to_f16(product)
    result = product.astype(dtype)
    if dtype.itemsize == 4:
        floats.canonical(result.view(np.uint32), np.isnan(result), 0x7FFFFFFF)
    return result
