"""Blackwell's tensor memory: tcgen05.alloc, dealloc, ld, st, wait, fence, commit (sm_100a).

Source: PTX ISA, "TensorCore 5th Generation Family Instructions" and the pages of each instruction;
the multiplication is in :mod:`tcgen05_mma`, the copy and the shift in :mod:`tcgen05_copy`.

Not run on a Blackwell GPU. Which lane and column each register of ld and st stands for was checked
against CUTLASS 4.2 (``Copy_Traits<SM100_TMEM_LOAD_…>`` in copy_traits_sm100.hpp), and is what a
public measurement on a B200 found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..findings.causes import Cause
from ..isa import ptx
from ..isa.instruction_set import Traits, ending, gathers
from ..machine.accesses import Site
from ..machine.async_state import KEY_SHIFT, Transfer
from ..machine.code import Ending, Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..machine.tensor_memory import (
    COLUMNS,
    LANES,
    UNIT,
    Request,
    TensorMemory,
    TensorWork,
    memory_of,
    warps_of,
)
from . import tcgen05_copy, tcgen05_mma
from .control import _choose, _go, _then_on
from .fragment_layouts import read_registers, write_registers
from .mbarrier import BarrierSite
from .tcgen05_tiles import GROUPS
from .warp import WarpRows

U32 = np.dtype(np.uint32)


@gathers("tcgen05")
def whole_warp(i: ptx.Instruction) -> ptx.Operand | None:
    """All lanes for the ``.sync`` forms. The others don't wait."""
    return ptx.Immediate(0xFFFFFFFF) if "sync" in i.modifiers else None


def _traits(modifiers: tuple[str, ...]) -> Traits:
    act = {"ld": "fills", "wait::ld": "waits for all"}.get(modifiers[0], "")
    return Traits(async_proxy=modifiers[0] in ("mma", "cp"), registers=act)


@ending("tcgen05", traits=_traits)
def tcgen05(b: Builder, i: ptx.Instruction) -> Ending | None:
    """Each ends its basic block, because alloc may keep a warp waiting."""
    decode = {
        "dealloc": _dealloc,
        "relinquish_alloc_permit": _relinquish,
        "ld": _load,
        "st": _store,
        "wait::ld": _wait,
        "wait::st": _wait,
        "fence::before_thread_sync": _fence,
        "fence::after_thread_sync": _fence,
        "commit": _commit,
        "mma": tcgen05_mma.mma,
        "cp": tcgen05_copy.copy,
        "shift": tcgen05_copy.shift,
    }.get(i.modifiers[0])
    groups = sum(m in GROUPS for m in i.modifiers)
    if groups != (decode not in (_load, _store, _wait, _fence)):
        return None
    if i.modifiers[0] == "alloc":
        end = _alloc(b, i)
    else:
        act = None if decode is None else decode(b, i)
        end = None if act is None else _then_on(b, act)
    if end is None:
        return None
    back = b.next_block
    return end if i.guard is None else _choose(b, i, end, _go(back))


def known_modifiers(i: ptx.Instruction, *words: str) -> bool:
    """Whether the modifiers after the first are all among ``words`` (separated by spaces)."""
    return {*i.modifiers[1:]} <= {word for line in words for word in line.split()}


def is_pair(i: ptx.Instruction) -> bool:
    """Whether it is for the two blocks of a pair."""
    return "cta_group::2" in i.modifiers


# --- Tensor Memory Allocation and Management Instructions -----------------------------------------


def _alloc(b: Builder, i: ptx.Instruction) -> Ending | None:
    """tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols;
    waits while the columns are not free, and for the other block of a pair."""
    if not known_modifiers(i, *GROUPS, "sync aligned shared::cta b32"):
        return None
    site = Site(b, i, i.operands[0], "b32", 1)
    site.is_store, site.values = True, [lambda R: np.zeros(1, U32)]
    count, back = b.read(i.operands[1], "u32"), b.next_block

    def deliver(group: Group, address: int) -> None:
        first = group.subset(np.arange(1), tuple(range(len(group.R))))
        region, start, index = site.reached(first)
        region.view(U32)[start:][index] = address
        group.block = back
        group.batch.scheduler.add(group)

    def end(group: Group) -> None:
        counts = group.full(count(group.R))
        for first, block in memory_of(group).whole_warps(group, i):
            lanes = np.flatnonzero(group.lanes >> 5 == group.lanes[first] >> 5)
            part = group.split_off(lanes)
            memory_of(group).request(
                Request(part, i, block, int(counts[first]), is_pair(i), deliver)
            )

    return end


def _dealloc(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, nCols;"""
    if not known_modifiers(i, *GROUPS, "sync aligned b32"):
        return None
    address, count = b.read(i.operands[0], "u32"), b.read(i.operands[1], "u32")

    def act(group: Group) -> None:
        addresses, counts = group.full(address(group.R)), group.full(count(group.R))
        for first, _ in memory_of(group).whole_warps(group, i):
            memory_of(group).release(
                i,
                int(group.lanes[first]),
                int(addresses[first]),
                int(counts[first]),
                is_pair(i),
            )

    return act


def _relinquish(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.relinquish_alloc_permit.cta_group.sync.aligned;"""
    if not known_modifiers(i, *GROUPS, "sync aligned"):
        return None

    def act(group: Group) -> None:
        for first, block in memory_of(group).whole_warps(group, i):
            memory_of(group).relinquish(i, int(group.lanes[first]), block, is_pair(i))

    return act


# --- Tensor Memory Load and Store Instructions ----------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """Which cell each register of a warp stands for: ``place(thread, register)`` gives the lane
    and the column from the address on. ``per_x1``: registers for .x1; ``lanes``: how many lanes."""

    lanes: int
    per_x1: int
    place: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


SHAPES = {  # Source: "Data Movement Shape"
    "32x32b": Shape(32, 1, lambda t, r: (t, r)),
    "16x64b": Shape(16, 1, lambda t, r: (8 * (t & 1) + (t >> 2), (t >> 1 & 1) + 2 * r)),
    "16x128b": Shape(16, 2, lambda t, r: ((t >> 2) + 8 * (r & 1), (t & 3) + 4 * (r >> 1))),
    "16x256b": Shape(
        16,
        4,
        lambda t, r: ((t >> 2) + 8 * (r >> 1 & 1), 2 * (t & 3) + (r & 1) + 8 * (r >> 2)),
    ),
    "16x32bx2": Shape(16, 1, lambda t, r: (t & 15, r)),  # threads 16 to 31 start further right
}


@dataclass(frozen=True)
class TensorCells:
    """The cells that a tcgen05.ld or st moves: ``lane`` and ``column``, both (32, n), count from
    the address on. ``packed``: registers hold the lower halves of two columns, n is twice their
    number."""

    lane: np.ndarray
    column: np.ndarray
    lanes: int
    packed: bool

    @staticmethod
    def of(i: ptx.Instruction, registers: int, half_offset: int) -> TensorCells | None:
        """The cells that the modifiers name, or None if no GPU has the form. Raises PtxError for
        another number of ``registers``."""
        names = [m for m in i.modifiers if m in SHAPES]
        repeats = [
            int(m[1:])
            for m in i.modifiers
            if m in ("x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128")
        ]
        if len(names) != 1 or len(repeats) != 1:
            return None
        shape, packed = SHAPES[names[0]], any(m.endswith("pack::16b") for m in i.modifiers)
        needed = repeats[0] * shape.per_x1
        if needed > 128:
            return None
        if registers != needed:
            raise ptx.PtxError(f"it has {registers} registers where {needed} are needed")
        t, r = np.arange(32)[:, None], np.arange(needed)
        lane, column = np.broadcast_arrays(*shape.place(t, r))
        if packed:
            lane = lane.repeat(2, axis=1)
            column = (2 * column[:, :, None] + np.arange(2)).reshape(32, -1)
        if names[0] == "16x32bx2":
            column = column + half_offset * (t >> 4)
        return TensorCells(lane, column, shape.lanes, packed)

    def locate(
        self, group: Group, i: ptx.Instruction, rows: WarpRows, addresses: np.ndarray, verb: str
    ) -> np.ndarray:
        """Indices into the batch's cells, (warps, 32, n); checks and watches the access."""
        batch = group.batch
        memory = memory_of(group)
        if not rows.here.all():
            row = int(np.argwhere(~rows.here)[0][0])
            lane = int(group.lanes[group.lanes >> 5 == group.warps[row]][0])
            text = f"{verb} tensor memory without all 32 threads of a warp."
            raise memory.misuse(i, lane, Cause.WARP_INCOMPLETE, text)
        first = int(self.column.min())
        count = int(self.column.max()) + 1 - first
        at, column = np.zeros((2, rows.count), np.int64)
        for row, (position, block) in enumerate(warps_of(group)):
            lane, own = int(group.lanes[position]), addresses[row]
            if (own != own[0]).any():
                text = "gives another address than other threads of its warp."
                raise memory.misuse(i, lane, Cause.ADDRESSES_DIFFER, text)
            at[row], column[row] = divmod(int(own[0]), 1 << 16)
            reach = UNIT * (int(group.warps[row]) % (batch.lanes_per_block // 32) % 4)
            at[row] = self._reachable(memory, i, lane, int(at[row]), reach, verb)
            start = int(column[row]) + first
            memory.use(
                i,
                lane,
                i.modifiers[0],
                [block],
                at[row] + np.arange(self.lanes),
                slice(start, start + count),
                verb == "writes",
            )
            at[row] += block * 128
        lane, column = at[:, None, None] + self.lane, column[:, None, None] + self.column
        return lane * COLUMNS + column

    def _reachable(
        self, memory: TensorMemory, i: ptx.Instruction, lane: int, at: int, reach: int, verb: str
    ) -> int:
        """The first lane of an access; a warp reaches the 32 from ``reach`` on.

        The lanes of warp 0 in an address mean, to other warps of a B200, their own; and lanes 128
        to 255, in a pair of blocks, those of 0 to 127: public kernels rest on that. The manual
        knows nothing of either, so it is reported.
        """
        text = (
            f"{verb} lanes {at} to {at + self.lanes - 1} of tensor memory, but its warp reaches "
            f"lanes {reach} to {reach + UNIT - 1} only: add 32 times (the warp's number modulo 4) "
            "to the lane, which is the upper 16 bits of the address."
        )
        own = at % LANES if memory.pairs and at < 2 * LANES else at
        if own % UNIT % self.lanes or not (own < UNIT or reach <= own < reach + UNIT):
            raise memory.misuse(i, lane, Cause.LANES_OF_OTHER_WARP, text)
        if own != at:
            text += f" Each block of a pair has its own {LANES} lanes, from 0 on."
        if own < reach or own != at:
            memory.report(i, lane, Cause.LANES_OF_OTHER_WARP, text)
        return reach + own % UNIT


def _address(b: Builder, operand: ptx.Operand) -> Callable[[Group], np.ndarray]:
    """A getter of a tensor memory address, for every lane."""
    where = ptx.address(operand)
    get, offset = b.read(where.base, "u32"), np.uint32(where.offset % 2**32)
    return lambda group: group.full(get(group.R)) + offset


def _load(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32 r, [taddr]{, immHalfSplitoff};

    The registers get their values at once; that they are used before tcgen05.wait::ld is seen in
    the program itself: see :mod:`..checks.barriers.early_use`."""
    flags = [m for m in i.modifiers if m not in SHAPES and m[:1] != "x"]
    if not {*flags} <= {"ld", "sync", "aligned", "pack::16b", "b32"}:
        return None
    offset = ptx.integer(i.operands[2]) if len(i.operands) > 2 else 0
    cells = TensorCells.of(i, len(ptx.items(i.operands[0])), offset)
    if cells is None or ("16x32bx2" in i.modifiers) != (len(i.operands) > 2):
        return None
    address, put = _address(b, i.operands[1]), write_registers(b, i.operands[0], U32)

    def act(group: Group) -> None:
        rows = WarpRows(group, None)
        places = cells.locate(group, i, rows, rows.spread(address(group)), "reads")
        data = memory_of(group).cells.reshape(-1)[places]
        if cells.packed:
            data = data[..., 0::2] & np.uint32(0xFFFF) | data[..., 1::2] << np.uint32(16)
        put(group, rows, data)

    return act


def _store(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr], {immHalfSplitoff,} r;"""
    flags = [m for m in i.modifiers if m not in SHAPES and m[:1] != "x"]
    if not {*flags} <= {"st", "sync", "aligned", "unpack::16b", "b32"}:
        return None
    offset = ptx.integer(i.operands[1]) if len(i.operands) > 2 else 0
    cells = TensorCells.of(i, len(ptx.items(i.operands[-1])), offset)
    if cells is None or ("16x32bx2" in i.modifiers) != (len(i.operands) > 2):
        return None
    address, get = _address(b, i.operands[0]), read_registers(b, i.operands[-1], 32)

    def act(group: Group) -> None:
        rows = WarpRows(group, None)
        places = cells.locate(group, i, rows, rows.spread(address(group)), "writes")
        data = get(group, rows)
        if cells.packed:
            halves = np.stack([data & np.uint32(0xFFFF), data >> np.uint32(16)], axis=-1)
            data = halves.reshape(*data.shape[:2], -1)
        places = places.reshape(group.n, -1)
        group.batch.engine.start(
            Transfer(
                i,
                group.lanes,
                memory_of(group).cells.reshape(-1),
                places,
                data.reshape(-1),
                np.arange(places.size).reshape(places.shape),
                queue="tensor store",
            )
        )

    return act


def _wait(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.wait::ld.sync.aligned; tcgen05.wait::st.sync.aligned;"""
    if not known_modifiers(i, "sync aligned"):
        return None
    kind = i.modifiers[0][-2:]

    def act(group: Group) -> None:
        memory_of(group).whole_warps(group, i)
        if kind == "st":
            group.batch.engine.wait_group("tensor store", group.lanes, None, i)
        group.batch.launch.observers.tensor_wait(group, kind)

    return act


# --- Synchronisation ------------------------------------------------------------------------------


def _fence(b: Builder, i: ptx.Instruction) -> Step:
    """tcgen05.fence::before_thread_sync; tcgen05.fence::after_thread_sync;"""
    before = "before" in i.modifiers[0]

    return lambda group: group.batch.launch.observers.tensor_fence(group, before)


def _commit(b: Builder, i: ptx.Instruction) -> Step | None:
    """tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64
    [mbar] {, ctaMask}; arrives once all mma, cp and shift of the thread so far are done."""
    words = "mbarrier::arrive::one shared::cluster multicast::cluster b64"
    if not known_modifiers(i, *GROUPS, words):
        return None
    site = BarrierSite(b, i, i.operands[0])
    mask = b.read(i.operands[1], "u16") if "multicast::cluster" in i.modifiers else None

    def act(group: Group) -> None:
        batch = group.batch
        memory, clusters = memory_of(group), batch.clusters
        masks = None if mask is None else group.full(mask(group.R)).tolist()
        for n, key in enumerate(site.keys(group).tolist()):
            lane = int(group.lanes[n])
            memory.blocks_of(i, lane, is_pair(i))
            keys = np.array([key])
            if masks is not None:
                size = clusters.size if clusters else 1
                first = int(group.slots[n]) // size * size
                ranks = np.array([r for r in range(size) if masks[n] >> r & 1])
                keys = first + ranks << KEY_SHIFT | key & (1 << KEY_SHIFT) - 1
            work = TensorWork(i, np.repeat(lane, len(keys)), queue="tensor", arrivals=keys)
            batch.engine.start(work)

    return act
