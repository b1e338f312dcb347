"""Operands of tcgen05.mma and cp: tiles in shared memory, numbers of 4 to 32 bits, scales.

Source: PTX ISA, "Matrix Descriptors", "Instruction descriptor", "Shared Memory Layout and
Swizzling", "Packing formats of elements in Tensor and Shared memory", "Block Scaling".

Not run on a Blackwell GPU. The fields of both descriptors and the canonical layouts were checked
against CUTLASS 4.2 (mma_sm100_desc.hpp; ``make_umma_desc`` in mma_traits_sm100.hpp).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..findings.causes import Cause
from ..findings.fault_messages import access_fault
from ..isa import ptx
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..machine.tensor_memory import memory_of
from ..memory.address_space import SHARED_WINDOW, Region
from .bulk_copies import Piece
from .fragment_layouts import CHUNK, SMALL, decode
from .wgmma import chunk_offsets, swizzle

GROUPS = {"cta_group::1", "cta_group::2"}
OPERAND_COLUMNS = 8  # a row of A is 32 bytes, and what cp and shift move at once

# --- operands of one thread -----------------------------------------------------------------------


Word = Callable[[Group, int], int]  # of a group, and a position in it


def word(b: Builder, operand: ptx.Operand, kind: str) -> Word:
    """A getter of an operand or an address as a Python int, for the lane at a position."""
    base, offset = (
        (operand.base, operand.offset) if isinstance(operand, ptx.Address) else (operand, 0)
    )
    get = b.read(base, kind)
    return lambda group, n: int(group.full(get(group.R))[n]) + offset


def one_by_one(i: ptx.Instruction, start: Callable[[Group, int], None]) -> Step:
    """A step in which each thread starts its own; that several of a warp do is hardly meant."""

    def act(group: Group) -> None:
        if group.n > len(group.warps):
            memory_of(group).report(
                i,
                int(group.lanes[0]),
                Cause.ISSUED_BY_SEVERAL_THREADS,
                f"issues tcgen05.{i.modifiers[0]}, and so do others of its warp: each starts one "
                "of its own. Let one thread do it, such as the one that elect.sync picks.",
            )
        for n in range(group.n):
            start(group, n)

    return act


# --- elements -------------------------------------------------------------------------------------


_FP8_FP6_FP4 = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
FORMATS = {  # kind -> types of A and B by their code in the instruction descriptor
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": _FP8_FP6_FP4,
    "i8": {0: "u8", 1: "s8"},
    "mxf8f6f4": _FP8_FP6_FP4,
    "mxf4": {1: "e2m1"},
    "mxf4nvf4": {1: "e2m1"},
}
BITS = {"f16": 16, "bf16": 16, "tf32": 32}  # of an element in shared memory; 8 for all others


def unpack(chunks: np.ndarray, bits: int) -> np.ndarray:
    """Bytes (…, 16 n) of packed 4- or 6-bit elements -> their codes, u8 of the same shape: every
    16 bytes hold 16 elements, and then 8 bytes (b4x16_p64) or 4 bytes (b6x16_p32) of padding."""
    rows = chunks.reshape(*chunks.shape[:-1], -1, 16)
    stream = np.unpackbits(rows[..., : 2 * bits], axis=-1, bitorder="little")
    codes = np.packbits(stream.reshape(*rows.shape, bits), axis=-1, bitorder="little")
    return codes[..., 0].reshape(chunks.shape)


def container(codes: np.ndarray, bits: int) -> np.ndarray:
    """Codes of 4 or 6 bits -> the bytes they become in tensor memory: 00xxxx00 or 00xxxxxx.

    The manual shows the places of the bits in figures only. The 4-bit form is the one that CUTLASS
    feeds to mma.sync's kind::f8f6f4 (``fp4_shift_A`` in mma_traits_sm120.hpp)."""
    return codes << np.uint8(2 if bits == 4 else 0)


def numbers(kind: str, element: str, data: np.ndarray, in_tensor_memory: bool) -> np.ndarray:
    """Bytes (…, n) of A or B as f64 numbers (…, elements)."""
    data = np.ascontiguousarray(data)
    if element not in SMALL:
        return decode(element, data)
    if kind in ("mxf4", "mxf4nvf4"):  # two to a byte, with no padding
        codes = np.stack([data & 15, data >> 4], axis=-1).reshape(*data.shape[:-1], -1)
    elif in_tensor_memory:
        codes = data >> 2 & 15 if element == "e2m1" else data & 63
    else:
        codes = unpack(data, 4 if element == "e2m1" else 6)
    return SMALL[element][codes]


# --- descriptors ----------------------------------------------------------------------------------

SPANS = {0: 16, 1: 128, 2: 128, 4: 64, 6: 32}  # swizzling mode -> bytes of a line; 16: no swizzle
WIDE_ATOMS = 1  # the mode that swizzles 128 bytes in pieces of 32


@dataclass(frozen=True)
class SharedTile:
    """A matrix in shared memory, as its 64-bit descriptor tells."""

    start: int
    leading: int
    stride: int
    mode: int

    @staticmethod
    @lru_cache(1024)
    def of(descriptor: int) -> SharedTile | str:
        """The tile, or what is wrong with the descriptor."""
        if descriptor >> 46 & 7 != 1:
            return (
                f"whose bits 46 to 48 are {descriptor >> 46 & 7:03b}; tcgen05's descriptors "
                "(unlike wgmma's) have 001 there"
            )
        mode = descriptor >> 61
        if mode not in SPANS:
            return f"with the swizzling mode {mode} in bits 61 to 63; there are 0, 1, 2, 4 and 6"
        if descriptor >> 49 & 7:
            return (
                "with a base offset, which the emulator does not know: start swizzled tiles at "
                "multiples of 1024 bytes"
            )
        if descriptor >> 52 & 1:
            return "with an absolute leading dimension (bit 52), which sm_100a does not have"
        start, leading, stride = ((descriptor >> bit & 0x3FFF) << 4 for bit in (0, 16, 32))
        if start >> 7 & (SPANS[mode] // 16 - 1):
            return (
                f"of a tile that starts at byte {start} of shared memory: its swizzle repeats "
                f"at multiples of {8 * SPANS[mode]} bytes, and the tile must start in the first "
                f"{SPANS[mode]} bytes after one: declare its array __align__(1024), and count the "
                "address in units of 16 bytes"
            )
        return SharedTile(start, leading, stride, mode)

    def chunks(self, size: int, k: int, per: int, mn_major: bool, count: int = 2) -> np.ndarray:
        """Addresses in shared memory of the tile's chunks of 16 bytes; int64.

        K-major: (size, count), chunks along k. MN-major: (k, size / per), ``per`` elements each.
        """
        span = SPANS[self.mode]
        wide = self.mode == WIDE_ATOMS
        offsets = _offsets(
            self.leading, self.stride, span, size, k, per, mn_major, 4 if wide else 8
        )
        addresses = self.start + (offsets if mn_major else offsets[:, :count])
        if wide:
            return addresses ^ ((addresses >> 7 & 3) << 5)
        return swizzle(addresses, span)


@lru_cache(256)
def _offsets(
    leading: int, stride: int, span: int, size: int, k: int, per: int, mn_major: bool, lines: int
) -> np.ndarray:
    return chunk_offsets(leading, stride, span, size, k, mn_major, per, lines)


@dataclass(frozen=True)
class InstructionDescriptor:
    """A decoded instruction descriptor."""

    m: int
    n: int
    a: str
    b: str
    d: str
    signs: int  # of the product: -1 or 1
    a_mn_major: bool
    b_mn_major: bool
    saturate: bool
    scale_type: str
    a_scale: int  # which byte of a word of tensor memory holds the (first) scale
    b_scale: int

    @staticmethod
    @lru_cache(256)
    def of(bits: int, kind: str) -> InstructionDescriptor | str:
        """The instruction, or what is wrong with the descriptor."""

        def field(low: int, width: int) -> int:
            return bits >> low & (1 << width) - 1

        scaled = kind.startswith("mx")
        types = FORMATS[kind]
        if field(2, 1):
            return "asks for a sparse A (bit 2), which the emulator does not know"
        for name, low in (("A", 7), ("B", 10)):
            if field(low, 3) not in types:
                known = ", ".join(f"{code} ({t})" for code, t in types.items())
                return f"gives {name} the type {field(low, 3)}; kind::{kind} has {known}"
        d = "f32" if scaled else {0: "f16", 1: "f32", 2: "s32"}.get(field(4, 2), "3")
        allowed = {"i8": ("s32",), "f16": ("f16", "f32"), "f8f6f4": ("f16", "f32")}
        if d not in allowed.get(kind, ("f32",)):
            return f"gives D the type {d}, which kind::{kind} does not have"
        if d == "f16" and field(7, 3) + field(10, 3) and kind == "f16":
            return "asks for sums in f16 of bf16 numbers; those need f32"
        if kind == "i8" and field(13, 2):
            return "negates A or B, which integers cannot be"
        if kind == "mxf4" and not field(23, 1):
            return "gives the scales the type UE4M3 (bit 23); kind::mxf4 has UE8M0"
        if scaled and field(31, 1):
            return "asks for K = 96 (bit 31), which sm_100a does not have"
        return InstructionDescriptor(
            16 * field(24, 5),
            8 * field(17, 6),
            types[field(7, 3)],
            types[field(10, 3)],
            d,
            -1 if field(13, 1) != field(14, 1) else 1,
            bool(field(15, 1)),
            bool(field(16, 1)),
            kind == "i8" and bool(field(3, 1)),
            "ue8m0" if field(23, 1) else "ue4m3",
            field(29, 2) if scaled else 0,
            field(4, 2) if scaled else 0,
        )


# --- reading shared memory ------------------------------------------------------------------------


class Tile:
    """Chunks of one block's shared memory, found and checked when the instruction is issued and
    read when it is done."""

    def __init__(
        self, group: Group, n: int, i: ptx.Instruction, addresses: np.ndarray, block: int
    ) -> None:
        self.shape = addresses.shape
        self.pieces: list[
            tuple[Region, slice | np.ndarray, np.ndarray]
        ] = []  # region, which chunks, their indices
        flat = addresses.reshape(-1)
        left = np.ones(len(flat), bool)
        for region in group.batch.memory.shared:
            offset = flat - (region.start - SHARED_WINDOW)
            inside = (offset >= 0) & (offset <= region.size - 16)
            if inside.any():
                which: slice | np.ndarray = slice(None) if inside.all() else inside
                index = offset[which] + block * region.stride >> 4
                self.pieces.append((region, which, index))
                left &= ~inside
        if left.any():
            address = SHARED_WINDOW + int(flat[left][0])
            raise access_fault(
                group.batch,
                Piece(i, False, "shared"),
                group,
                n,
                address,
                group.batch.memory.region_at(address),
            )

    def touched(self) -> list[tuple[Region, np.ndarray, np.ndarray]]:
        """(region, its chunks, indices) of all that is read."""
        return [(region, region.view(CHUNK), index[None]) for region, _, index in self.pieces]

    def bytes(self) -> np.ndarray:
        """(lines, 16 · chunks) u8."""
        data = np.empty(self.shape[0] * self.shape[1], CHUNK)
        for region, which, index in self.pieces:
            data[which] = region.view(CHUNK)[index]
        return data.reshape(self.shape).view(np.uint8)
