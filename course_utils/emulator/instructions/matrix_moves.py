"""Matrices between memory and a warp's registers: ldmatrix, stmatrix, movmatrix, wmma.load.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" ("ldmatrix", "stmatrix",
"movmatrix", "wmma.load", …).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import Traits, step
from ..machine.accesses import Site
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.operands import of_constant
from ..machine.program import Builder
from .fragment_layouts import (
    CHUNK,
    ELEMENTS,
    RAW,
    fragment_a,
    fragment_b,
    fragment_c,
    per_register,
    read_registers,
    write_registers,
)
from .warp import WarpRows, whole_warps


class Chunks:
    """Accesses of 16 bytes (or 8), each by a lane: checked and observed like those of ld and st.

    ``bits``: of an element. Without ``operand`` the instruction works the addresses out itself.
    """

    def __init__(
        self,
        b: Builder,
        i: ptx.Instruction,
        operand: ptx.Operand | None,
        bits: int,
        dtype: np.dtype = CHUNK,
    ) -> None:
        self.dtype = dtype
        computed = operand is None
        if operand is None:
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
        if addresses is not None and self.site.slot is not None:
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
        """Store one chunk for each lane, (n,)."""
        if group.batch.on_access is not None:
            columns = chunks.view(self.site.dtype).reshape(group.n, -1).T
            self.site.values = [of_constant(column) for column in columns]
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
def ldmatrix(b: Builder, i: ptx.Instruction) -> Step | None:
    """Lanes 8 m … 8 m + 7 give the addresses of the rows of matrix m; lane 4 g + t receives
    elements 2 t and 2 t + 1 of row g, or of column g under ``.trans``."""
    count = _eights(i)
    if count is None:
        return None
    chunks = Chunks(b, i, i.operands[1], 16)
    put = write_registers(b, i.operands[0], np.dtype(np.uint32))
    trans = "trans" in i.modifiers

    def act(group: Group) -> None:
        rows = whole_warps(group, i)
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
def stmatrix(b: Builder, i: ptx.Instruction) -> Step | None:
    """The reverse of ldmatrix."""
    count = _eights(i)
    if count is None:
        return None
    chunks = Chunks(b, i, i.operands[0], 16)
    get = read_registers(b, i.operands[1], 32)
    trans = "trans" in i.modifiers

    def act(group: Group) -> None:
        rows = whole_warps(group, i)
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
def movmatrix(b: Builder, i: ptx.Instruction) -> Step:
    """An 8 × 8 matrix of b16 that the lanes hold is transposed."""
    get = read_registers(b, i.operands[1], 32)
    put = write_registers(b, i.operands[0], np.dtype(np.uint32))

    def act(group: Group) -> None:
        rows = whole_warps(group, i)
        matrix = get(group, rows).view(np.uint16).reshape(-1, 8, 8)
        words = np.ascontiguousarray(matrix.swapaxes(1, 2)).view(np.uint32)
        put(group, rows, words.reshape(-1, 32, 1))

    return act


def move_fragment(b: Builder, i: ptx.Instruction, shape: tuple[int, int, int]) -> Step | None:
    """wmma.load.{a,b,c} registers, [address], stride and wmma.store.d [address], registers, stride.

    The lines of the matrix (rows or columns, by its layout) lie ``stride`` elements apart in
    memory. They are moved in chunks of 16 bytes (8 where a line is that short), each by a lane; an
    accumulator of 32 bits in rows in pairs, as its lanes hold it.
    """
    m, n, k = shape
    which, kind = i.modifiers[1], i.modifiers[-1]
    store = i.modifiers[0] == "store"
    bits = ELEMENTS[kind][0] if kind in ELEMENTS else 32
    if bits == 4:
        return None
    where, registers = i.operands[:2] if store else i.operands[1::-1]
    address = ptx.address(where)
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

    def rounds(group: Group, rows: WarpRows) -> Iterator[tuple[np.ndarray, np.ndarray, Group]]:
        """(chunks, positions of lanes, the group that accesses memory), 32 chunks a round."""
        base = group.full(get_base(group.R)).astype(np.uint64)
        base = base + np.uint64(address.offset % 2**64)
        stride = group.full(get_stride(group.R)).astype(np.uint64) * np.uint64(bits // 8)
        for first in range(0, total, 32):
            index = np.flatnonzero(rows.lane < total - first)
            places = order[first : first + 32]
            line, along = np.divmod(places[rows.lane[index]].astype(np.uint64), np.uint64(per_line))
            addresses = base[index] + line * stride[index] + along * np.uint64(chunk.itemsize)
            yield places, index, chunks.part(group, index, addresses)

    def load(group: Group) -> None:
        rows = whole_warps(group, i)
        data = np.zeros((rows.count, total), chunk)
        for places, index, part in rounds(group, rows):
            got = np.zeros(group.n, chunk)
            got[index] = chunks.read(part)
            data[:, places] = rows.spread(got)[:, : len(places)]
        matrix = data.view(dtype).reshape(-1, lines, length)
        put(group, rows, fragment.held(matrix.swapaxes(1, 2) if by_column else matrix))

    def save(group: Group) -> None:
        rows = whole_warps(group, i)
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
