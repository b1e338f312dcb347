"""mma of floats of 4 to 8 bits: its kinds, and the scales of blocks of A and B (sm_120a).

Source: PTX ISA, "mma", "Block Scaling for mma.sync". Which of two lanes scales row g and which row
g + 8 the manual shows in a figure only: here as in CUTLASS (``SFALayout``, mma_traits_sm120.hpp).

Not run on a Blackwell GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..isa import ptx
from ..machine.lanes import Group
from ..machine.operands import Get
from ..machine.program import Builder
from .fragment_layouts import SCALES, GetFragment
from .warp import WarpRows

_NARROW = "e4m3 e5m2 e3m2 e2m3 e2m1"
# kind -> types that A and B may mix, types of C and D, shape, how many scales of which type; where
# the instruction need not say how many, there is only one choice
_KINDS = {
    "kind::f8f6f4": (_NARROW, "f16 f32", "m16n8k32", ()),
    "kind::mxf8f6f4": (_NARROW, "f32", "m16n8k32", ((1, "ue8m0"),)),
    "kind::mxf4": ("e2m1", "f32", "m16n8k64", ((2, "ue8m0"),)),
    "kind::mxf4nvf4": ("e2m1", "f32", "m16n8k64", ((2, "ue8m0"), (4, "ue8m0"), (4, "ue4m3"))),
}
_ALWAYS = {"sync", "aligned", "row", "col"}


@dataclass(frozen=True)
class NarrowKind:
    """``packed``: numbers of 4 bits fill their bytes. ``count`` scales of a row of A or a column of
    B, of ``scale_type``; 0 where the kind has none."""

    packed: bool
    count: int
    scale_type: str


def narrow_kind(i: ptx.Instruction, types: tuple[str, ...]) -> NarrowKind | None:
    """What the ``.kind::`` of an mma says; ``types`` are those of D, A, B and C. None for a form
    that no GPU has. Raises PtxError for a size that is missing, or the wrong number of operands."""
    (name,) = [m for m in i.modifiers if m.startswith("kind::")] or [""]
    if name not in _KINDS:
        return None
    factors, sums, shape, choices = _KINDS[name]
    d, a, b, c = types
    if not {a, b} <= {*factors.split()} or not {c, d} <= {*sums.split()}:
        return None
    rest = {*i.modifiers} - {*types, name, shape} - _ALWAYS
    if not {*types, shape} | _ALWAYS <= {*i.modifiers}:
        return None
    packed = shape == "m16n8k64"
    if not choices:
        return NarrowKind(packed, 0, "") if not rest and len(i.operands) == 4 else None
    sizes = {count for count, _ in choices}
    size = next((m for m in rest if m.startswith("scale_vec::")), None)
    if size is None and len(sizes) > 1:
        raise ptx.PtxError(f"a {name} must say .scale_vec::2X or .scale_vec::4X")
    for count, scale_type in choices:
        needed = {"block_scale", scale_type}
        if size in (None, f"scale_vec::{count}X") and rest - {size} == needed:
            if len(i.operands) != 8:
                raise ptx.PtxError(f"it has {len(i.operands)} operands where 8 are needed")
            return NarrowKind(packed, count, scale_type)
    return None


def read_scales(b: Builder, i: ptx.Instruction, at: int, kind: NarrowKind) -> GetFragment:
    """A getter ``get(group, rows)`` of the scales that operands ``at`` and ``at + 1`` name: f64
    (warps, rows of A, count) for A (``at`` 4), (warps, columns of B, count) for B (``at`` 6).

    The second of these operands says which byte of a word is the first and which lanes of every
    four hold the words: two for A, of row g and of row g + 8, and one for B, of column g.
    """
    holders = ("A", 2) if at == 4 else ("B", 4)
    (word,) = (b.read(item, "b32") for item in ptx.items(i.operands[at]))
    first, which = (b.read(item, "u16") for item in ptx.items(i.operands[at + 1]))
    column = np.arange(8)
    numbers = SCALES[kind.scale_type]
    allowed = range(0, 4, kind.count)

    def one(get: Get, group: Group, known: range, what: str) -> int:
        found = np.unique(get(group.R))
        if len(found) > 1 or found[0] not in known:
            raise ptx.PtxError(
                f"the {what} that scales {holders[0]} is {', '.join(map(str, found))}; it must be "
                f"one of {', '.join(map(str, known))}, the same in all lanes"
            )
        return int(found[0])

    def get(group: Group, rows: WarpRows) -> np.ndarray:
        byte = one(first, group, allowed, "byte")
        thread = one(which, group, range(holders[1]), "thread")
        words = np.ascontiguousarray(rows.spread(word(group.R)))
        codes = words.view(np.uint8).reshape(-1, 32, 4)[:, :, byte : byte + kind.count]
        if at == 4:
            lanes = np.concatenate([4 * column + 2 * thread, 4 * column + 2 * thread + 1])
        else:
            lanes = 4 * column + thread
        return numbers[codes[:, lanes]]

    return get
