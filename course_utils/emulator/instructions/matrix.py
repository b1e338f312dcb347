"""Products of a warp's matrices: mma, wmma.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" ("Matrix Fragments for
mma.m16n8k16 …", "Sparse matrix storage", …).

A *fragment* is the share of a matrix that each thread of a warp holds in registers. Which elements
those are is written down once, as a formula in the lane and the number of the element, and used
both ways: registers -> matrix, multiply, matrix -> registers.

Arithmetic. f16, bf16, tf32 and fp8 products with f32 sums are added as Hopper adds them, with its
bits (``tensor_core_sums``). f16 sums, sparse matrices and scaled blocks are not measured: they are
summed in f64 and rounded once to the accumulator's type. A GPU keeps fewer bits on the way, so both
agree to within a few units in the last place of the largest partial sum. f64 is summed by NumPy, in
an order of its own.
Integers are exact; they wrap around modulo 2**32, or stop at the ends of the range under
``.satfinite``.
"""

from __future__ import annotations

import re

import numpy as np

from ..isa import ptx
from ..isa.arithmetic import Arithmetic
from ..isa.gpu_constants import WARP
from ..isa.instruction_set import Traits, gathers, step
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..numerics.tensor_core_sums import sums_on_hopper
from .block_scales import NarrowKind, narrow_kind, read_scales
from .fragment_layouts import (
    ACCUMULATORS,
    ELEMENTS,
    accumulate,
    decode,
    fragment_a,
    fragment_b,
    fragment_c,
    per_register,
    read_registers,
    write_registers,
)
from .matrix_moves import move_fragment
from .warp import whole_warps

_FLOATS = ("f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
_OTHERS = ("f32", "s32", "s8", "u8", "s4", "u4", "b1")


@gathers("ldmatrix", "stmatrix", "movmatrix", "mma", "wmma", "wgmma")
def whole_warp(i: ptx.Instruction) -> ptx.Operand:
    """All lanes, whatever the operands say."""
    return ptx.Immediate(0xFFFFFFFF)


# --- mma ------------------------------------------------------------------------------------------

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_FLAGS = {"sync", "aligned", "row", "col", "satfinite", "rn"}
_SPARSE = ("sp", "sp::ordered_metadata")
_WMMA_16 = "m16n16k16 m32n8k16 m8n32k16"
# types that A and B may mix, types of C and D, shapes of mma, of mma.sp, of wmma
_FORMS = (
    ("f16", "f16 f32", "m16n8k8 m16n8k16", "m16n8k16 m16n8k32", _WMMA_16),
    ("bf16", "f32", "m16n8k8 m16n8k16", "m16n8k16 m16n8k32", _WMMA_16),
    ("tf32", "f32", "m16n8k4 m16n8k8", "m16n8k8 m16n8k16", "m16n16k8"),
    ("e4m3 e5m2", "f16 f32", "m16n8k16 m16n8k32", "m16n8k64", ""),
    ("s8 u8", "s32", "m8n8k16 m16n8k16 m16n8k32", "m16n8k32 m16n8k64", _WMMA_16),
    ("s4 u4", "s32", "m8n8k32 m16n8k32 m16n8k64", "", ""),
    ("f64", "f64", "m8n8k4 m16n8k4 m16n8k8 m16n8k16", "", "m8n8k4"),
)
_MMA, _MMA_SP, _WMMA = range(3)


def shapes_for(d: str, a: str, b: str, c: str) -> tuple[str, ...] | None:
    """The shapes of mma, mma.sp and wmma for operands of these types; None if they do not go
    together. Source: PTX ISA, "Matrix Shape"."""
    for types, sums, *shapes in _FORMS:
        if {a, b} <= {*types.split()} and {c, d} <= {*sums.split()}:
            return tuple(shapes)
    return None


def shape_of(i: ptx.Instruction) -> tuple[int, int, int]:
    """(M, N, K) of an instruction. Raises PtxError where none of its modifiers is a shape."""
    for match in filter(None, map(_SHAPE.fullmatch, i.modifiers)):
        return int(match[1]), int(match[2]), int(match[3])
    raise ptx.PtxError(ptx.UNEXPECTED)


def types_of(i: ptx.Instruction) -> tuple[str, ...]:
    """The types of elements and accumulators among its modifiers, in their order."""
    return tuple(m for m in i.modifiers if m in ELEMENTS or m in ACCUMULATORS)


def known(i: ptx.Instruction, *also: str) -> bool:
    """Whether the modifiers are a shape, known types and flags."""
    names = _FLAGS | ELEMENTS.keys() | ACCUMULATORS.keys() | {*also}
    shapes = [m for m in i.modifiers if _SHAPE.fullmatch(m)]
    return len(shapes) == 1 and {*i.modifiers} <= names | {*shapes}


def check_registers(i: ptx.Instruction, operand: ptx.Operand, elements: int, bits: int) -> None:
    """Raises PtxError unless ``operand`` holds a lane's share of ``elements``, once or several
    times."""
    needed, given = max(1, elements * bits // (32 * max(bits, 32))), len(ptx.items(operand))
    if given % needed:
        raise ptx.PtxError(f"it has {given} registers where {needed} are needed")


def spread_out(stored: np.ndarray, metadata: np.ndarray, selector: int, bits: int) -> np.ndarray:
    """A sparse A (warps, 16, k/2) as a full one (warps, 16, k), its zeros put back.

    Of 4 elements in a row 2 are stored (1 of 2 for tf32); four bits of ``metadata`` (warps, 32)
    say which: two places of two bits (0b0100 or 0b1110 for tf32). Four lanes, 4 g + t, describe
    rows g and g + 8. For b16 and tf32 a lane has 16 bits of row g, then 16 of row g + 8, and the
    next lane goes on in both rows; for b8 it has 32 bits of row g, the next lane 32 of row g + 8.
    Where that takes less than four lanes, ``selector`` says which.
    Source: PTX ISA, "Sparse matrix storage"; the figures of the metadata as CUTLASS lays it out
    (``reorder_meta`` in host_reorder.h, followed by ldmatrix).
    """
    warps, rows, half = stored.shape
    row, n = np.arange(rows)[:, None], np.arange(half)
    share = {8: 16, 16: 8, 32: 4}[bits]  # stored elements of a row that one lane describes
    if bits == 8:
        lane, shift = 2 * selector + 2 * (n // share) + row // 8, 0 * row + 2 * (n % share)
    else:
        lane = selector * (half // share) + n // share + 0 * row
        shift = 16 * (row // 8) + 16 // share * (n % share)
    place = (metadata[:, 4 * (row % 8) + lane] >> shift.astype(np.uint32) & 3).astype(np.int64)
    column = n * 2 + (place >> 1) if bits == 32 else n // 2 * 4 + place
    full = np.zeros((warps, rows, 2 * half))
    np.put_along_axis(full, column, stored, axis=2)
    return full


def _multiply(b: Builder, i: ptx.Instruction, kinds: tuple[str, ...], form: int) -> Step | None:
    """d = a · b + c for fragments of types ``kinds`` (d, a, b, c)."""
    shapes = shapes_for(*kinds)
    if shapes is None or not {*shapes[form].split()} & {*i.modifiers}:
        return None
    return _product(b, i, kinds, form == _MMA_SP)


def _product(
    b: Builder,
    i: ptx.Instruction,
    kinds: tuple[str, ...],
    sparse: bool = False,
    narrow: NarrowKind | None = None,
) -> Step:
    """The product of fragments whose types and shape are known to go together."""
    m, n, k = shape_of(i)
    d_kind, a_kind, b_kind, c_kind = kinds
    if narrow is not None and narrow.packed:
        a_kind = b_kind = "e2m1 packed"
    d_type, c_type = ACCUMULATORS[d_kind], ACCUMULATORS[c_kind]
    bits = ELEMENTS[a_kind][0]
    per = per_register(bits)
    d, a, b_, c = i.operands[:4]
    check_registers(i, a, m * k // (2 if sparse else 1), bits)
    check_registers(i, b_, k * n, bits)
    check_registers(i, c, m * n, c_type.itemsize * 8)
    check_registers(i, d, m * n, d_type.itemsize * 8)
    place_a = fragment_a(m, k // 2 if sparse else k, per, len(ptx.items(a)) * per)
    place_b = fragment_b(k, n, per, len(ptx.items(b_)) * per)
    place_c = fragment_c(m, n)
    get_a, get_b = read_registers(b, a, bits), read_registers(b, b_, bits)
    get_c, put_d = read_registers(b, c, c_type.itemsize * 8), write_registers(b, d, d_type)
    saturate = "satfinite" in i.modifiers
    plain = narrow is None and not sparse and d_kind == "f32"
    sums = sums_on_hopper(a_kind, b_kind, k) if plain else None
    if sparse:
        metadata, selector = b.read(i.operands[4], "b32"), ptx.integer(i.operands[5])
    blocks = narrow.count if narrow is not None else 0
    if narrow is not None and blocks:
        scale_a, scale_b = read_scales(b, i, 4, narrow), read_scales(b, i, 6, narrow)

    def act(group: Group) -> None:
        rows = whole_warps(group, i)
        left = place_a.matrix(decode(a_kind, get_a(group, rows)))
        if sparse:
            left = spread_out(left, rows.spread(metadata(group.R)), selector, bits)
        right = place_b.matrix(decode(b_kind, get_b(group, rows)))
        if blocks:
            left = left * scale_a(group, rows).repeat(k // blocks, axis=2)
            right = right * scale_b(group, rows).repeat(k // blocks, axis=2).swapaxes(1, 2)
        added = place_c.matrix(get_c(group, rows).view(c_type))
        if sums is not None:
            result = accumulate(sums(left, right, added), None, d_type, saturate)
        else:
            result = accumulate(left @ right, added, d_type, saturate)
        put_d(group, rows, place_c.held(result))

    return act


def matrix_work(modifiers: tuple[str, ...], threads: int = WARP) -> Arithmetic | None:
    """The work of a product, from its shape and types: (D, A, B, C), (D, A, B), or (D, C) where A
    and B are f16."""
    shape = next(filter(None, map(_SHAPE.fullmatch, modifiers)), None)
    if shape is None:
        return None
    m, n, k = map(int, shape.groups())
    types = modifiers[modifiers.index(shape[0]) + 1 :]
    kinds = [t for t in types if t in _FLOATS or t in _OTHERS]
    factor = "f16" if len(kinds) == 2 else kinds[1]
    if factor not in _FLOATS:
        return None
    return Arithmetic(f"{factor} (tensor cores)", "", 2 * m * n * k, threads)


def _mma_traits(modifiers: tuple[str, ...]) -> Traits:
    scales = slice(4, 8 if "block_scale" in modifiers else 4, 2)
    return Traits(
        matrix=lambda i: (*i.operands[1:4], *i.operands[scales]), work=matrix_work(modifiers)
    )


@step("mma", traits=_mma_traits)
def mma(b: Builder, i: ptx.Instruction) -> Step | None:
    """mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c and, with a sparse A,
    mma.sp… d, a, b, c, metadata, selector; under ``.block_scale`` d, a, b, c, scales of A, {byte,
    thread}, scales of B, {byte, thread}. Not here: the 8×8×4 shape for f16, which works in quarters
    of a warp, and sparse matrices of 4 bits or of a ``.kind``."""
    if len(types_of(i)) == 4 and any(m.startswith("kind::") for m in i.modifiers):
        narrow = narrow_kind(i, types_of(i))
        return None if narrow is None else _product(b, i, types_of(i), narrow=narrow)
    if not known(i, *_SPARSE) or len(types_of(i)) != 4:
        return None
    return _multiply(b, i, types_of(i), _MMA_SP if i.modifiers[0] in _SPARSE else _MMA)


# --- wmma -----------------------------------------------------------------------------------------

_PARTS = ("load", "store", "mma", "a", "b", "c", "d", "shared", "shared::cta", "global")


def _wmma_traits(modifiers: tuple[str, ...]) -> Traits:
    if modifiers[0] == "mma":
        return _mma_traits(modifiers)
    data = slice(1, 2) if modifiers[0] == "store" else slice(0)
    return Traits(matrix=lambda i: i.operands[data])


@step("wmma", traits=_wmma_traits)
def wmma(b: Builder, i: ptx.Instruction) -> Step | None:
    """Fragments of wmma have no layout of their own: PTX leaves it open. Ours is that of mma."""
    if not known(i, *_PARTS):
        return None
    if i.modifiers[0] == "mma":
        kinds = types_of(i)
        if len(kinds) == 2:  # f16 is not spelled out
            kinds = (kinds[0], "f16", "f16", kinds[1])
        return _multiply(b, i, kinds, _WMMA)
    return move_fragment(b, i, shape_of(i))
