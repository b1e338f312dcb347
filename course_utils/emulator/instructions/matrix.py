"""Matrices of a warp: ldmatrix, stmatrix, movmatrix, mma, wmma.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" ("Matrix Fragments for
mma.m16n8k16 …", "Sparse matrix storage", "ldmatrix", "stmatrix", "movmatrix", "wmma.load", …).

A *fragment* is the share of a matrix that each thread of a warp holds in registers. Which elements
those are is written down once, as a formula in the lane and the number of the element, and used
both ways: registers -> matrix, multiply, matrix -> registers.

Arithmetic. Products of f16, bf16, tf32 and fp8 numbers are exact in f64; they are summed there
with the accumulator and rounded once to the accumulator's type. A GPU keeps fewer bits on the way,
so both agree to within a few units in the last place of the largest partial sum; except for fp8 on
Hopper, which keeps some 14 bits (DeepSeek-V3 Technical Report, section 3.3.2), where these results
are the better ones. f64 is summed by NumPy, in an order of its own. Integers are exact; they wrap
around modulo 2**32, or stop at the ends of the range under ``.satfinite``.
"""

from __future__ import annotations

import re

import numpy as np

from ..machine import ptx
from ..machine.arithmetic import Arithmetic
from ..machine.gpu_constants import WARP
from ..machine.instruction_set import Traits, gathers, step
from ..machine.lanes import Group
from ..machine.program import Builder
from .block_scales import NarrowKind, narrow_kind, read_scales
from .fragment_layouts import (
    ACCUMULATORS,
    CHUNK,
    ELEMENTS,
    RAW,
    accumulate,
    decode,
    fragment_a,
    fragment_b,
    fragment_c,
    per_register,
    read_registers,
    write_registers,
)
from .loads_stores import Site
from .warp import Rows

_FLOATS = ("f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
_OTHERS = ("f32", "s32", "s8", "u8", "s4", "u4", "b1")


@gathers("ldmatrix", "stmatrix", "movmatrix", "mma", "wmma", "wgmma")
def whole_warp(i: ptx.Instruction):
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


def shape_of(i: ptx.Instruction) -> tuple[int, int, int] | None:
    found = [match for m in i.modifiers if (match := _SHAPE.fullmatch(m))]
    return tuple(map(int, found[0].groups())) if found else None


def types_of(i: ptx.Instruction) -> tuple[str, ...]:
    return tuple(m for m in i.modifiers if m in ELEMENTS or m in ACCUMULATORS)


def known(i: ptx.Instruction, *also: str) -> bool:
    """Whether the modifiers are a shape, known types and flags."""
    names = _FLAGS | ELEMENTS.keys() | ACCUMULATORS.keys() | {*also}
    shapes = [m for m in i.modifiers if _SHAPE.fullmatch(m)]
    return len(shapes) == 1 and {*i.modifiers} <= names | {*shapes}


def check_registers(i: ptx.Instruction, operand: ptx.Operand, elements: int, bits: int) -> None:
    """``operand`` must hold a lane's share of ``elements``, once or several times."""
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


def _multiply(b: Builder, i: ptx.Instruction, kinds: tuple[str, str, str, str], form: int):
    """d = a · b + c for fragments of types ``kinds`` (d, a, b, c)."""
    shapes = shapes_for(*kinds)
    if shapes is None or not {*shapes[form].split()} & {*i.modifiers}:
        return None
    return _product(b, i, kinds, form == _MMA_SP)


def _product(b: Builder, i: ptx.Instruction, kinds, sparse=False, narrow: NarrowKind | None = None):
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
    if sparse:
        metadata, selector = b.read(i.operands[4], "b32"), i.operands[5].value
    blocks = narrow.count if narrow is not None else 0
    if blocks:
        scale_a, scale_b = read_scales(b, i, 4, narrow), read_scales(b, i, 6, narrow)

    def act(group: Group):
        rows = Rows(group, None)
        left = place_a.matrix(decode(a_kind, get_a(group, rows)))
        if sparse:
            left = spread_out(left, rows.spread(metadata(group.R)), selector, bits)
        right = place_b.matrix(decode(b_kind, get_b(group, rows)))
        if blocks:
            left = left * scale_a(group, rows).repeat(k // blocks, axis=2)
            right = right * scale_b(group, rows).repeat(k // blocks, axis=2).swapaxes(1, 2)
        added = place_c.matrix(get_c(group, rows).view(c_type))
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
def mma(b: Builder, i: ptx.Instruction):
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


# --- rows of 16 bytes in memory -------------------------------------------------------------------


class Chunks:
    """Accesses of 16 bytes (or 8), each by a lane: checked and observed like those of ld and st.

    ``bits``: of an element. Without ``operand`` the instruction works the addresses out itself.
    """

    def __init__(self, b: Builder, i: ptx.Instruction, operand, bits: int, dtype=CHUNK):
        self.dtype = dtype
        computed = operand is None
        if computed:
            slot = b.function.new_slot("b64")
            operand = ptx.Address(ptx.Register(slot, "b64", "computed"))
        before = set(b.reads)
        self.site = Site(b, i, operand, f"b{bits}", dtype.itemsize * 8 // bits)
        self.shift = dtype.itemsize.bit_length() - 1 - self.site.shift
        self.site.is_store = i.opcode == "stmatrix" or "store" in i.modifiers
        if computed:
            b.reads.intersection_update(before)
        self.slots = () if self.site.slot is None else (self.site.slot,)

    def part(self, group: Group, index: np.ndarray, addresses: np.ndarray | None = None) -> Group:
        """The lanes at positions ``index``, which access memory at their ``addresses``."""
        part = group.subset(index, () if addresses is not None else self.slots)
        if addresses is not None:
            part.R[self.site.slot] = addresses
        return part

    def read(self, group: Group) -> np.ndarray:
        """One chunk for each lane."""
        found = self.site.locate(group)
        if found is not None:
            region, first, index = found
            return region.view(self.dtype).take(group.full(index + first) >> self.shift)
        chunks = np.empty(group.n, self.dtype)
        for index in self.site.pieces(group):
            chunks[index] = self.read(group.subset(index, self.slots))
        return chunks

    def write(self, group: Group, chunks: np.ndarray) -> None:
        if group.batch.on_access is not None:
            columns = chunks.view(self.site.dtype).reshape(group.n, -1).T
            self.site.values = [lambda R, column=column: column for column in columns]
        found = self.site.locate(group)
        if found is not None:
            region, first, index = found
            region.view(self.dtype)[group.full(index + first) >> self.shift] = chunks
            return
        for index in self.site.pieces(group):
            self.write(group.subset(index, self.slots), chunks[index])


def _eights(i: ptx.Instruction) -> int | None:
    """How many 8 × 8 matrices of b16 an ldmatrix or stmatrix moves; None for other forms."""
    count = {"x1": 1, "x2": 2, "x4": 4}
    rest = {*i.modifiers} - {"sync", "aligned", "m8n8", "trans", "shared", "shared::cta", "b16"}
    if len(rest) != 1 or not rest <= count.keys() or "m8n8" not in i.modifiers:
        return None
    needed = count[rest.pop()]
    given = len(ptx.items(i.operands[1 if i.opcode == "stmatrix" else 0]))
    if given != needed:
        raise ptx.PtxError(f"it has {given} registers where {needed} are needed")
    return needed


@step("ldmatrix", traits=Traits(matrix=lambda i: ()))
def ldmatrix(b: Builder, i: ptx.Instruction):
    """Lanes 8 m … 8 m + 7 give the addresses of the rows of matrix m; lane 4 g + t receives
    elements 2 t and 2 t + 1 of row g, or of column g under ``.trans``."""
    count = _eights(i)
    if count is None:
        return None
    chunks = Chunks(b, i, i.operands[1], 16)
    put = write_registers(b, i.operands[0], np.dtype(np.uint32))
    trans = "trans" in i.modifiers

    def act(group: Group):
        rows = Rows(group, None)
        if count == 4:
            data = chunks.read(group)
        else:
            index = np.flatnonzero(rows.lane < 8 * count)
            data = np.zeros(group.n, CHUNK)
            data[index] = chunks.read(chunks.part(group, index))
        data = rows.spread(data)[:, : 8 * count]
        matrices = np.ascontiguousarray(data).view(np.uint16).reshape(-1, count, 8, 8)
        if trans:
            matrices = np.ascontiguousarray(matrices.swapaxes(2, 3))
        words = matrices.view(np.uint32).reshape(-1, count, 32)
        put(group, rows, words.swapaxes(1, 2))

    return act


@step("stmatrix", traits=Traits(results=0, matrix=lambda i: i.operands[1:]))
def stmatrix(b: Builder, i: ptx.Instruction):
    """The reverse of ldmatrix."""
    count = _eights(i)
    if count is None:
        return None
    chunks = Chunks(b, i, i.operands[0], 16)
    get = read_registers(b, i.operands[1], 32)
    trans = "trans" in i.modifiers

    def act(group: Group):
        rows = Rows(group, None)
        words = np.ascontiguousarray(get(group, rows).swapaxes(1, 2))
        matrices = words.view(np.uint16).reshape(-1, count, 8, 8)
        if trans:
            matrices = np.ascontiguousarray(matrices.swapaxes(2, 3))
        data = np.zeros((rows.count, 32), CHUNK)
        data[:, : 8 * count] = matrices.view(CHUNK).reshape(-1, 8 * count)
        index = np.flatnonzero(rows.lane < 8 * count)
        chunks.write(chunks.part(group, index), rows.gather(data)[index])

    return act


@step("movmatrix", traits=Traits(matrix=lambda i: i.operands[1:2]))
def movmatrix(b: Builder, i: ptx.Instruction):
    """An 8 × 8 matrix of b16 that the lanes hold is transposed."""
    get = read_registers(b, i.operands[1], 32)
    put = write_registers(b, i.operands[0], np.dtype(np.uint32))

    def act(group: Group):
        rows = Rows(group, None)
        matrix = get(group, rows).view(np.uint16).reshape(-1, 8, 8)
        words = np.ascontiguousarray(matrix.swapaxes(1, 2)).view(np.uint32)
        put(group, rows, words.reshape(-1, 32, 1))

    return act


# --- wmma -----------------------------------------------------------------------------------------

_PARTS = ("load", "store", "mma", "a", "b", "c", "d", "shared", "shared::cta", "global")


def _wmma_traits(modifiers: tuple[str, ...]) -> Traits:
    if modifiers[0] == "mma":
        return _mma_traits(modifiers)
    data = slice(1, 2) if modifiers[0] == "store" else slice(0)
    return Traits(matrix=lambda i: i.operands[data])


@step("wmma", traits=_wmma_traits)
def wmma(b: Builder, i: ptx.Instruction):
    """Fragments of wmma have no layout of their own: PTX leaves it open. Ours is that of mma."""
    if not known(i, *_PARTS):
        return None
    if i.modifiers[0] == "mma":
        kinds = types_of(i)
        if len(kinds) == 2:  # f16 is not spelled out
            kinds = (kinds[0], "f16", "f16", kinds[1])
        return _multiply(b, i, kinds, _WMMA)
    return _move_fragment(b, i)


def _move_fragment(b: Builder, i: ptx.Instruction):
    """wmma.load.{a,b,c} registers, [address], stride and wmma.store.d [address], registers, stride.

    The lines of the matrix (rows or columns, by its layout) lie ``stride`` elements apart in
    memory. They are moved in chunks of 16 bytes (8 where a line is that short), each by a lane; an
    accumulator of 32 bits in rows in pairs, as its lanes hold it.
    """
    m, n, k = shape_of(i)
    which, kind = i.modifiers[1], i.modifiers[-1]
    store = i.modifiers[0] == "store"
    bits = ELEMENTS[kind][0] if kind in ELEMENTS else 32
    if bits == 4:
        return None
    address, registers = i.operands[:2] if store else i.operands[1::-1]
    per, count = per_register(bits), len(ptx.items(registers)) * per_register(bits)
    rows_, columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
    fragment = {
        "a": lambda: fragment_a(m, k, per, count),
        "b": lambda: fragment_b(k, n, per, count),
    }.get(which, lambda: fragment_c(m, n))()
    by_column = "col" in i.modifiers
    lines, length = (columns, rows_) if by_column else (rows_, columns)
    pairs = which in "cd" and bits == 32 and not by_column
    chunk = RAW[64] if pairs or length * bits < 128 else CHUNK
    per_line = length * bits // (chunk.itemsize * 8)
    total = lines * per_line
    order = _order(lines, per_line, pairs, which in "ab" and bits == 16)

    wide = isinstance(address.base, ptx.Register) and ptx.SIZES[address.base.type] == 4
    get_base = b.read(address.base, "u32" if wide else "u64")
    get_stride = b.read(i.operands[2] if len(i.operands) > 2 else ptx.Immediate(length), "u32")
    chunks = Chunks(b, i, None, bits, chunk)
    dtype = RAW[bits]
    if store:
        get = read_registers(b, registers, bits)
    else:
        put = write_registers(b, registers, dtype)

    def rounds(group: Group, rows: Rows):
        """(chunks, positions of lanes, the group that accesses memory), 32 chunks a round."""
        base = group.full(get_base(group.R)).astype(np.uint64) + np.uint64(address.offset % 2**64)
        stride = group.full(get_stride(group.R)).astype(np.uint64) * np.uint64(bits // 8)
        for first in range(0, total, 32):
            index = np.flatnonzero(rows.lane < total - first)
            places = order[first : first + 32]
            line, along = np.divmod(places[rows.lane[index]].astype(np.uint64), np.uint64(per_line))
            addresses = base[index] + line * stride[index] + along * np.uint64(chunk.itemsize)
            yield places, index, chunks.part(group, index, addresses)

    def load(group: Group):
        rows = Rows(group, None)
        data = np.zeros((rows.count, total), chunk)
        for places, index, part in rounds(group, rows):
            got = np.zeros(group.n, chunk)
            got[index] = chunks.read(part)
            data[:, places] = rows.spread(got)[:, : len(places)]
        matrix = data.view(dtype).reshape(-1, lines, length)
        put(group, rows, fragment.held(matrix.swapaxes(1, 2) if by_column else matrix))

    def save(group: Group):
        rows = Rows(group, None)
        matrix = fragment.matrix(get(group, rows).view(dtype))
        matrix = np.ascontiguousarray(matrix.swapaxes(1, 2) if by_column else matrix)
        data = matrix.reshape(len(matrix), -1).view(chunk)
        for places, index, part in rounds(group, rows):
            held = np.zeros((len(data), 32), chunk)
            held[:, : len(places)] = data[:, places]
            chunks.write(part, rows.gather(held)[index])

    return save if store else load


def _order(lines: int, per_line: int, pairs: bool, by_ldmatrix: bool) -> np.ndarray:
    """The chunks of a matrix, numbered line by line, in the order that lanes take them.

    As a GPU does: 16-bit factors like ldmatrix, a column of 16-byte chunks at a time; the pairs of
    an accumulator in tiles of 8 lines by 4 pairs. Others, which we have not measured, line by line.
    """
    places = np.arange(lines * per_line)
    if pairs:
        return places.reshape(-1, 8, per_line // 4, 4).swapaxes(1, 2).ravel()
    if by_ldmatrix:
        return places.reshape(-1, min(lines, 16), per_line).swapaxes(1, 2).ravel()
    return places
