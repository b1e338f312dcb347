"""The emulator's own tensor maps: 128 bytes that describe a box of a tensor.

On a GPU the driver writes them in a form that NVIDIA does not publish. Ours holds the same facts.
Source: PTX ISA, "Tensors", "Swizzling Modes", and CUDA Driver API, "cuTensorMapEncodeTiled".
"""

from __future__ import annotations

import builtins
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..isa.instruction_set import DTYPES
from ..numerics.rounding import ceil_div

ENCODED_BYTES = 128
_LAYOUT = struct.Struct("<4sBBBBQ5I4Q5H5B")
_MAGIC = b"CTM1"
FLAGS, ROUNDS_TO_TF32 = 7, 2  # the byte of flags, and one of them
# Of each field of tensormap.replace: its first byte, the bytes of a number, how many there are.
PLACES = {
    "rank": (4, 1, 0),
    "elemtype": (5, 1, 0),
    "swizzle_mode": (6, 1, 0),
    "fill_mode": (FLAGS, 1, 0),
    "interleave_layout": (FLAGS, 1, 0),
    "swizzle_atomicity": (FLAGS, 1, 0),
    "global_address": (8, 8, 0),
    "global_dim": (16, 4, 5),
    "global_stride": (36, 8, 4),
    "box_dim": (68, 2, 5),
    "element_stride": (78, 1, 5),
}
KINDS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16")


@dataclass(frozen=True)
class Box:
    """A decoded tensor map. Everything is listed innermost dimension first.

    ``address`` is generic. ``sizes`` count elements, ``strides`` bytes, the innermost being the
    element's size. ``box`` counts elements of the tensor, and every ``steps``-th is copied.
    ``swizzle`` is the span in bytes, 0 for none. ``tf32``: a load rounds the f32 elements.
    """

    address: int
    kind: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    fill_nan: bool
    tf32: bool = False

    @cached_property
    def unit(self) -> np.dtype:
        """The dtype of an element."""
        return DTYPES[self.kind]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Elements that are copied, innermost last (as in NumPy)."""
        return tuple(ceil_div(b, s) for b, s in zip(self.box, self.steps, strict=True))[::-1]

    @cached_property
    def bytes(self) -> int:
        """Bytes of shared memory, which arrive at an mbarrier even for elements outside."""
        return int(np.prod(self.shape)) * self.unit.itemsize

    @property
    def fill(self) -> np.generic | int:
        """The value of elements outside: 0, or an H200's NaN, which no rounding touches."""
        return np.frombuffer(b"\xf7\x7f" * 4, self.unit)[0] if self.fill_nan else 0

    def tensor_offsets(self, start: list[int]) -> tuple[np.ndarray, np.ndarray | None]:
        """Bytes after ``address`` of each element, and which of them are outside (None: none is),
        for the box whose first element has the coordinates ``start``. Flat, innermost fastest."""
        offsets = np.zeros((1,) * len(start), np.int64)
        outside = np.zeros((1,) * len(start), bool)
        for axis, (first, size, stride) in enumerate(
            zip(start, self.sizes, self.strides, strict=True)
        ):
            places = first + np.arange(0, self.box[axis], self.steps[axis])
            form = [1] * len(start)
            form[len(start) - 1 - axis] = -1
            offsets = offsets + (places * stride).reshape(form)
            outside = outside | ((places < 0) | (places >= size)).reshape(form)
        flat = np.broadcast_to(outside, self.shape).ravel()
        return np.broadcast_to(offsets, self.shape).ravel(), flat if flat.any() else None

    def shared_offsets(self, address: int) -> np.ndarray:
        """Bytes of each element after ``address``. The swizzle depends on the address."""
        places = address + np.arange(0, self.bytes, self.unit.itemsize)
        if self.swizzle:
            places = places ^ ((places >> 7 & (self.swizzle // 16 - 1)) << 4)
        return places - address

    def encode(self) -> builtins.bytes:
        """The 128 bytes that :func:`decode` reads."""
        rank = len(self.sizes)

        def padded(values: Sequence[int], count: int = 5) -> tuple[int, ...]:
            return (*values, *[0] * (count - len(values)))

        data = _LAYOUT.pack(
            _MAGIC,
            rank,
            KINDS.index(self.kind),
            self.swizzle,
            self.fill_nan | ROUNDS_TO_TF32 * self.tf32,
            self.address,
            *padded([s - 1 for s in self.sizes]),
            *padded(self.strides[1:], 4),
            *padded(self.box),
            *padded(self.steps),
        )
        return data.ljust(ENCODED_BYTES, b"\0")


def begin_map(data: np.ndarray) -> None:
    """Let 128 zeroed bytes, uint8, be a map whose fields are set one by one."""
    if not data[:4].any():
        data[:4] = np.frombuffer(_MAGIC, np.uint8)


def decode(data: bytes, rank: int, bad: Callable[[str], None]) -> Box:
    """The box of a map. ``bad(text)`` is called, and must raise, where there is no map."""
    if len(data) < ENCODED_BYTES or data[:4] != _MAGIC:
        bad(
            "there is no tensor map at that address: pass what tensor_map(...) returns to a "
            "parameter `const __grid_constant__ CUtensorMap`"
        )
    _, own, kind, swizzle, flags, address, *rest = _LAYOUT.unpack_from(data)
    if own != rank:
        bad(f"the map has {own} dimensions and the instruction {rank}")
    if not all((*rest[9 : 9 + rank], *rest[14 : 14 + rank])):
        bad("a side of its box or one of its element strides is 0")
    kind = KINDS[kind]
    sizes = tuple(s + 1 for s in rest[:rank])
    strides = (DTYPES[kind].itemsize, *rest[5 : 4 + rank])
    return Box(
        address,
        kind,
        sizes,
        strides,
        tuple(rest[9 : 9 + rank]),
        tuple(rest[14 : 14 + rank]),
        swizzle,
        bool(flags & 1),
        bool(flags & ROUNDS_TO_TF32),
    )
