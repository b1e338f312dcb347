"""Blackwell's tensor cores: tcgen05.mma (sm_100a).

Source: PTX ISA, "tcgen05.mma", "tcgen05.mma.ws", "Matrix Shape", "Data Path Layout Organization",
"Scale Factor A ID", "Scale Factor B ID".

One thread issues, and the work is done later, in the order in which it was issued. What it needs
from shared memory is found and checked at once but read only when it is done.

Not run on a Blackwell GPU. Where rows of A, D and the scales lie in tensor memory was checked
against CUTLASS 4.2 (``tmem_frg``, ``tmem_frg_ws``, ``tmem_sf_frg`` in mma_traits_sm100.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..findings.causes import Cause
from ..findings.report import KernelFault
from ..isa import ptx
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..machine.tensor_memory import LANES, TensorWork, memory_of
from ..numerics.rounding import ceil_div
from .fragment_layouts import ACCUMULATORS, SCALES, accumulate
from .tcgen05_tiles import (
    BITS,
    FORMATS,
    GROUPS,
    OPERAND_COLUMNS,
    WIDE_ATOMS,
    InstructionDescriptor,
    SharedTile,
    Tile,
    Word,
    numbers,
    one_by_one,
    word,
)

VECTORS = {  # kind and qualifier -> scales along K; Source: "Valid combinations of …"
    ("mxf8f6f4", ""): 1,
    ("mxf8f6f4", "scale_vec::1X"): 1,
    ("mxf8f6f4", "block32"): 1,
    ("mxf4", ""): 2,
    ("mxf4", "scale_vec::2X"): 2,
    ("mxf4", "block32"): 2,
    ("mxf4nvf4", "scale_vec::2X"): 2,
    ("mxf4nvf4", "block32"): 2,
    ("mxf4nvf4", "scale_vec::4X"): 4,
    ("mxf4nvf4", "block16"): 4,
}


@dataclass(frozen=True)
class Part:
    """Some lanes of D: their rows (of the block's own share of A) and their columns (of D)."""

    lanes: np.ndarray
    rows: np.ndarray
    columns: slice


def data_path(m: int, n: int, blocks: int, stationary: bool, half: int = 0) -> list[Part]:
    """Where D lies in each block; ``half``: 16 for the upper halves of the subpartitions.

    128 rows to a block: lane = row (layouts A and D). 64 rows: 16 in each 32 lanes (F); for a pair
    or .ws 64 lanes, and the columns in two halves (B, E). 32 rows: the columns in quarters (G).
    """
    rows = np.arange(m // blocks)
    if len(rows) == 64 and blocks == 1 and not stationary:
        return [Part(rows // 16 * 32 + rows % 16 + half, rows, slice(0, n))]
    count = LANES // len(rows)
    width = n // count
    return [
        Part(rows + p * len(rows), rows, slice(p * width, (p + 1) * width)) for p in range(count)
    ]


def _shape_problem(kind: str, one: InstructionDescriptor, blocks: int, stationary: bool) -> str:
    """What is wrong with M, N and the transpositions; "" if nothing is. Source: "Matrix Shape"."""
    m, n = one.m, one.n
    good_m: tuple[int, ...]
    if stationary:
        good_m, good_n = (32, 64, 128), n in (64, 128, 256)
    elif blocks == 2:
        good_m, good_n = (128, 256), 0 < n <= 256 and n % (32 if kind == "i8" else 16) == 0
    else:
        good_m = (128,) if kind.startswith("mx") else (64, 128)
        good_n = 0 < n <= 256 and n % (16 if kind == "i8" and n > 32 else 8) == 0
    if m not in good_m or not good_n:
        return f"has M = {m} and N = {n}, a shape that kind::{kind} does not have"
    if (one.a_mn_major and one.a in ("e2m3", "e3m2", "e2m1")) or (
        one.b_mn_major and one.b in ("e2m3", "e3m2", "e2m1")
    ):
        return "has an MN-major operand of 4 or 6 bits; those must be K-major"
    if one.b_mn_major and one.b not in BITS and n % (16 * blocks):
        return f"has N = {n}: an MN-major B of 8 bits needs a multiple of {16 * blocks}"
    return ""


# --- tcgen05.mma ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """What the text of a tcgen05.mma says."""

    kind: str
    pair: bool
    stationary: bool
    scales: int  # along K; 0 for no block scaling
    a_in_tensor_memory: bool

    @staticmethod
    def of(i: ptx.Instruction) -> Form | None:
        """The form that the modifiers name, or None where no GPU has it."""
        words = [m for m in i.modifiers[1:] if m not in GROUPS]
        kinds = [m[6:] for m in words if m.startswith("kind::")]
        stationary = "ws" in words
        collectors = {f"collector::a::{op}" for op in ("fill", "use", "lastuse", "discard")}
        if stationary:
            collectors = {
                f"collector::b{n}::{op}"
                for n in range(4)
                for op in ("fill", "use", "lastuse", "discard")
            }
        rest = {m for m in words if not m.startswith("kind::")} - collectors - {"ws"}
        if len(kinds) != 1 or kinds[0] not in FORMATS:
            return None
        (kind,), scales = kinds, 0
        if kind.startswith("mx"):
            if "block_scale" not in rest or stationary:
                return None
            rest -= {"block_scale"}
            scales = VECTORS.get((kind, "".join(rest)), 0)
            if len(rest) > 1 or not scales:
                return None
        elif rest or (stationary and "cta_group::2" in i.modifiers):
            return None
        return Form(
            kind,
            "cta_group::2" in i.modifiers,
            stationary,
            scales,
            isinstance(i.operands[1], ptx.Address),
        )


@dataclass
class Operands:
    """What the registers of one thread say."""

    d: int
    a: int
    b: int
    instruction: int
    keep: bool
    scale_a: int = 0
    scale_b: int = 0
    disabled: np.ndarray | None = None  # (blocks, 128) bool
    shift: int = 0  # D comes in divided by 2 ** shift


def mma(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.mma.cta_group.kind [d-tmem], a-desc | [a-tmem], b-desc, idesc,
    { disable-output-lane }, enable-input-d {, scale-input-d};
    tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize} [d-tmem], a-desc | [a-tmem], b-desc,
    idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d;
    tcgen05.mma.ws.cta_group::1.kind [d-tmem], a-desc | [a-tmem], b-desc, idesc, enable-input-d;
    Not here: .sp, .ashift and .ws's zero-column-mask-desc. Collector buffers are a permission to
    read A or B once for several instructions; nothing here depends on it. Raises PtxError for
    a mask of the wrong length."""
    form = Form.of(i)
    if form is None:
        return None
    operands = list(i.operands)
    d = word(b, operands[0], "u32")
    a = word(b, operands[1], "u32" if form.a_in_tensor_memory else "u64")
    b_, idesc = word(b, operands[2], "u64"), word(b, operands[3], "u32")
    rest = operands[4:]
    masks: list[Word] = []
    scales: list[Word] = []
    if isinstance(rest[0], ptx.OperandList) and not form.scales and not form.stationary:
        masks = [word(b, one, "u32") for one in ptx.items(rest.pop(0))]
        if len(masks) != (8 if form.pair else 4):
            raise ptx.PtxError(f"disable-output-lane needs {8 if form.pair else 4} words")
    if form.scales:
        scales = [word(b, rest.pop(0), "u32") for _ in range(2)]
    keep = b.read(rest.pop(0), "pred")
    shift = ptx.integer(rest.pop(0)) if rest and isinstance(rest[0], ptx.Immediate) else 0
    if rest or not 0 <= shift <= 15 or shift and form.kind not in ("f16", "tf32"):
        return None

    def start(group: Group, n: int) -> None:
        words = [get(group, n) for get in masks]
        bits = np.array(words, np.uint32).view(np.uint8)
        disabled = np.unpackbits(bits, bitorder="little").astype(bool).reshape(-1, LANES)
        scale_a, scale_b = [s(group, n) for s in scales] or [0, 0]
        operands = Operands(
            d(group, n),
            a(group, n),
            b_(group, n),
            idesc(group, n),
            bool(group.full(keep(group.R))[n]),
            scale_a,
            scale_b,
            disabled if disabled.any() else None,
            shift,
        )
        Multiplication(group, n, i, form, operands).start()

    return one_by_one(i, start)


class Multiplication:
    """One tcgen05.mma of one thread: everything is looked up and checked when it is issued."""

    def __init__(
        self, group: Group, n: int, i: ptx.Instruction, form: Form, operands: Operands
    ) -> None:
        self.group, self.n, self.i, self.form, self.o = group, n, i, form, operands
        self.memory = memory_of(group)
        self.lane = int(group.lanes[n])
        self.blocks = self.memory.blocks_of(i, self.lane, form.pair)
        one = InstructionDescriptor.of(operands.instruction, form.kind)
        if isinstance(one, str):
            raise self._wrong(f"whose instruction descriptor {one}.")
        problem = _shape_problem(form.kind, one, len(self.blocks), form.stationary)
        if problem:
            raise self._wrong(f"that {problem}.")
        self.one = one
        self.d_lane, self.d_column = divmod(operands.d, 1 << 16)
        halves = (0, 16) if one.m == 64 and len(self.blocks) == 1 and not form.stationary else (0,)
        if self.d_lane not in halves:
            places = " or ".join(map(str, halves))
            raise self._wrong(f"whose D is at lane {self.d_lane}; it must be {places}.")
        self.parts = data_path(one.m, one.n, len(self.blocks), form.stationary, self.d_lane)
        rows = one.m // len(self.blocks)
        self.b = [
            self._tile("B", operands.b, one.b, one.n // len(self.blocks), one.b_mn_major, x)
            for x in self.blocks
        ]
        self.a = None
        if not form.a_in_tensor_memory:
            self.a = [
                self._tile("A", operands.a, one.a, rows, one.a_mn_major, x) for x in self.blocks
            ]
        elif one.a_mn_major:
            raise self._wrong("with an MN-major A in tensor memory, where A is always K-major.")
        for name, byte in (("A", one.a_scale), ("B", one.b_scale)):
            if form.scales and byte % form.scales:
                raise self._wrong(
                    f"with {form.scales} scales along K, whose scale factor ID for {name} is "
                    f"{byte}; it must be a multiple of {form.scales}."
                )

    def _wrong(self, text: str) -> KernelFault:
        text = f"issues a tcgen05.mma {text}"
        return self.memory.misuse(self.i, self.lane, Cause.TENSOR_OPERAND_INVALID, text)

    def _tile(
        self, name: str, descriptor: int, element: str, size: int, mn_major: bool, block: int
    ) -> Tile:
        tile = SharedTile.of(descriptor)
        if isinstance(tile, str):
            raise self._wrong(f"whose {name} has a shared memory descriptor {tile}.")
        bits = BITS.get(element, 8)
        if (tile.mode == WIDE_ATOMS) != (mn_major and bits == 32):
            raise self._wrong(
                f"whose {name} is {'MN' if mn_major else 'K'}-major, of {bits} bits, with the "
                f"swizzling mode {tile.mode}: mode 1 (128 bytes in pieces of 32) is for MN-major "
                "tf32, and that needs it."
            )
        addresses = tile.chunks(size, 256 // bits, 128 // bits, mn_major)
        return Tile(self.group, self.n, self.i, addresses, block)

    def start(self) -> None:
        """Issue it: check its reads and writes, and queue the work."""
        self._watch()
        one = self.one
        if one.d != "s32":
            k = 64 if self.form.kind.startswith("mxf4") else 256 // BITS.get(one.a, 8)
            done = self.group.batch.launch.observers.work_done
            done(self.i, one.a, 2 * one.m * one.n * k)
        reads = [piece for tile in (*self.b, *(self.a or ())) for piece in tile.touched()]
        self.group.batch.engine.start(
            TensorWork(
                self.i, np.array([self.lane]), queue="tensor", perform=self.perform, reads=reads
            )
        )

    def _watch(self) -> None:
        """Check what the instruction reads and writes of tensor memory, and tell the race check."""
        width = self.parts[0].columns.stop
        lanes = np.concatenate([p.lanes for p in self.parts])
        uses = [(lanes, self.d_column, width, True)]
        if self.form.a_in_tensor_memory:
            uses.append((lanes, self.o.a & 0xFFFF, OPERAND_COLUMNS, False))
        if self.form.scales:
            all_lanes, rows = np.arange(LANES), self.one.m // len(self.blocks)
            uses += [
                (all_lanes, self.o.scale_a & 0xFFFF, ceil_div(rows, 32), False),
                (all_lanes, self.o.scale_b & 0xFFFF, ceil_div(width, 32), False),
            ]
        for lanes, column, count, writes in uses:
            columns = slice(column, column + count)
            self.memory.use(self.i, self.lane, "tensor", self.blocks, lanes, columns, writes)

    def perform(self) -> None:
        """Read A and B, and write D."""
        one = self.one
        right = np.concatenate([self._numbers(tile, one.b, one.b_mn_major) for tile in self.b])
        for rank, block in enumerate(self.blocks):
            cells = self.memory.cells[block]
            left = self._numbers(self.a[rank], one.a, one.a_mn_major) if self.a else None
            for part in self.parts:
                self._multiply(cells, part, left, right[part.columns], rank)

    def _numbers(self, tile: Tile, element: str, mn_major: bool) -> np.ndarray:
        """(rows of A or columns of B, k) in f64."""
        values = numbers(self.form.kind, element, tile.bytes(), False)
        return values.T if mn_major else values

    def _multiply(
        self, cells: np.ndarray, part: Part, left: np.ndarray | None, right: np.ndarray, rank: int
    ) -> None:
        one, lanes = self.one, part.lanes
        if left is None:
            columns = slice(self.o.a & 0xFFFF, (self.o.a & 0xFFFF) + OPERAND_COLUMNS)
            rows = np.ascontiguousarray(cells[lanes, columns]).view(np.uint8)
            mine = numbers(self.form.kind, one.a, rows, True)
        else:
            mine = left[part.rows]
        if self.form.scales:
            product = self._scaled(cells, part, mine, right)
        else:
            product = mine @ right.T
        places = np.s_[:, self.d_column : self.d_column + product.shape[1]]
        dtype = ACCUMULATORS[one.d]
        added = None
        if self.o.keep:
            added = cells[lanes][places].astype(f"u{dtype.itemsize}").view(dtype)
            if self.o.shift:
                added = added * 2.0**-self.o.shift
        result = accumulate(one.signs * product, added, dtype, one.saturate)
        result = result.view(f"u{dtype.itemsize}").astype(np.uint32)
        if self.o.disabled is not None:
            enabled = ~self.o.disabled[rank][lanes]
            lanes, result = lanes[enabled], result[enabled]
        cells[lanes, places[1]] = result

    def _scaled(
        self, cells: np.ndarray, part: Part, left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        """The product of scaled A and B. Each 32 lanes read their own copy of the scales: those of
        row r and column c of D in lanes r % 32 and c % 32, r // 32 and c // 32 columns further."""
        one, count = self.one, self.form.scales
        values = SCALES[one.scale_type]
        product = np.empty((len(left), len(right)))

        def scaled(
            matrix: np.ndarray, numbers_: np.ndarray, first: int, address: int, byte: int
        ) -> np.ndarray:
            words = cells[first + numbers_ % 32, (address & 0xFFFF) + numbers_ // 32]
            bytes_ = np.ascontiguousarray(words).view(np.uint8).reshape(-1, 4)
            scales = values[bytes_[:, byte : byte + count]]
            return matrix * scales.repeat(matrix.shape[1] // count, axis=1)

        for first in range(0, len(part.lanes), 32):
            some, lane = slice(first, first + 32), int(part.lanes[first]) // 32 * 32
            a = scaled(left[some], part.rows[some], lane, self.o.scale_a, one.a_scale)
            columns = np.arange(len(right))
            b = scaled(right, columns, lane, self.o.scale_b, one.b_scale)
            product[some] = a @ b.T
        return product
