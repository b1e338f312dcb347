"""Tensor maps that a kernel makes or changes itself: tensormap.replace, tensormap.cp_fenceproxy.

Source: PTX ISA, "tensormap.replace" (its table of field3 numbers the types, swizzles and fills) and
"tensormap.cp_fenceproxy".
"""

from __future__ import annotations

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import gathers, step
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..memory.tensor_box import ENCODED_BYTES, FLAGS, PLACES, ROUNDS_TO_TF32, begin_map
from .bulk_copies import CopyPlace, bytes_at
from .warp import whole_warps

# By number. f32 has a second form that flushes subnormals, and tf32 rounds on a load.
TYPES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 7, 9: 8, 10: 9, 11: 7, 12: 7}
TF32 = {11, 12}
SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}
ADDED = {"rank": 1, "global_dim": -1}  # to the operand, in the map's own bytes


@gathers("tensormap")
def whole_warp(i: ptx.Instruction) -> ptx.Operand | None:
    """``cp_fenceproxy`` is one for all lanes of a warp."""
    return ptx.Immediate(0xFFFFFFFF) if "cp_fenceproxy" in i.modifiers else None


@step("tensormap")
def tensormap(b: Builder, i: ptx.Instruction) -> Step | None:
    """tensormap.replace.tile.field{.space}.b1024.type [map], {ord,} value; and
    tensormap.cp_fenceproxy.global.shared::cta….sync.aligned [to], [from], 128."""
    return _copy(b, i) if i.modifiers[0] == "cp_fenceproxy" else _replace(b, i)


def _space(i: ptx.Instruction) -> str:
    return next((m for m in i.modifiers if m.startswith("shared")), "generic")


def _replace(b: Builder, i: ptx.Instruction) -> Step | None:
    fields = [m for m in i.modifiers if m in PLACES]
    if len(fields) != 1 or i.modifiers[:2] != ("replace", "tile") or "b1024" not in i.modifiers:
        return None
    field, place = fields[0], CopyPlace(b, i.operands[0], _space(i))
    get = b.read(i.operands[-1], i.modifiers[-1])
    number = ptx.integer(i.operands[1]) if len(i.operands) == 3 else 0
    first, width, count = PLACES[field]
    if number >= max(count, 1):
        return None

    def act(group: Group) -> None:
        values = group.full(get(group.R)).tolist()
        for n, (address, value) in enumerate(zip(place.of(group), values, strict=True)):
            _, _, data = bytes_at(group, n, i, address, ENCODED_BYTES, True)
            begin_map(data)
            whole = _encoded(field, int(value), int(data[first]))
            at = first + number * width
            data[at : at + width] = np.frombuffer(whole.to_bytes(width, "little"), np.uint8)
            if field == "elemtype":
                rest = int(data[FLAGS]) & ~ROUNDS_TO_TF32
                data[FLAGS] = rest | ROUNDS_TO_TF32 * (value in TF32)

    return act


def _encoded(field: str, value: int, before: int) -> int:
    """``value`` in the form of the map's own bytes, the first of which was ``before``."""
    if field == "elemtype":
        if value not in TYPES:
            raise ptx.PtxError(f"elements of type number {value} are not known here")
        return TYPES[value]
    if field == "swizzle_mode":
        if value not in SWIZZLES:
            raise ptx.PtxError(f"the swizzle number {value} is not known here")
        return SWIZZLES[value]
    if field == "fill_mode":
        return before & ~1 | value & 1
    if field in ("interleave_layout", "swizzle_atomicity"):
        if value:
            raise ptx.PtxError(f"{field} {value} is not known here")
        return before
    return value + ADDED.get(field, 0)


def _copy(b: Builder, i: ptx.Instruction) -> Step | None:
    if not {"global", "shared::cta", "sync", "aligned"} <= {*i.modifiers}:
        return None
    target, source = CopyPlace(b, i.operands[0], "global"), CopyPlace(b, i.operands[1], "shared")

    def act(group: Group) -> None:
        rows = whole_warps(group, i)
        places = list(zip(target.of(group), source.of(group), strict=True))
        for n in range(0, 32 * rows.count, 32):
            to, from_ = places[n]
            _, _, data = bytes_at(group, n, i, from_, ENCODED_BYTES, False)
            bytes_at(group, n, i, to, ENCODED_BYTES, True)[2][:] = data

    return act
