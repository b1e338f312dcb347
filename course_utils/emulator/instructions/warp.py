"""Warp-level instructions: shfl, vote, match, redux, elect, bar.warp.

Source: PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync".

A block of instructions that begins with one of these is run only when every lane named in the
member mask has arrived (see ``Batch.gather``).
"""

from __future__ import annotations

import numpy as np

from ..findings.causes import Cause
from ..findings.report import BARRIER, Finding, KernelFault
from ..findings.wording import at_line, xyz
from ..isa import ptx
from ..isa.instruction_set import DTYPES, Traits, gathers, step
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.missing_lanes import call_of
from ..machine.observer import ignore_event
from ..machine.program import Builder


@gathers("shfl", "vote", "match", "redux")
def mask_last(i: ptx.Instruction) -> ptx.Operand | None:
    """The last operand of the ``.sync`` forms. The others, of old kernels, don't wait."""
    return i.operands[-1] if "sync" in i.modifiers else None


@gathers("elect")
def mask_of_elect(i: ptx.Instruction) -> ptx.Operand:
    """The last operand."""
    return i.operands[-1]


@gathers("bar", "barrier")
def mask_of_barrier(i: ptx.Instruction) -> ptx.Operand | None:
    """A barrier for a block is one for whole warps too, unless it is said not to be aligned."""
    if "warp" in i.modifiers:
        return i.operands[-1]
    aligned = i.opcode == "bar" or "aligned" in i.modifiers
    return ptx.Immediate(0xFFFFFFFF) if aligned and "cluster" not in i.modifiers else None


_HERE = np.ones(1, bool)


class WarpRows:
    """Values of a group laid out as rows of 32 lanes, and back.

    Lanes of one warp that name the same member mask share a row: a warp may work in several parts
    at once, each under a mask of its own.
    """

    def __init__(self, group: Group, mask: np.ndarray | None) -> None:
        self.group = group
        self.lane = group.lanes & 31
        if mask is not None and len(mask) == 1 and mask[0] == 0xFFFFFFFF:
            mask = None  # everyone
        if mask is None and group.n == 32 * len(group.warps):
            self.count, self.dense, self.row = len(group.warps), True, None
            self.here = np.broadcast_to(_HERE, (self.count, 32))
            return
        warp = group.lanes >> 5
        if mask is None or len(mask) == 1:
            self.count = len(group.warps)
            self.dense = group.n == 32 * self.count
            self.row = None if self.dense else np.searchsorted(group.warps, warp)
        else:
            parts, self.row = np.unique(warp << 32 | mask, return_inverse=True)
            self.count, self.dense = len(parts), False
        self.here = np.full((self.count, 32), self.dense)
        if not self.dense:
            self.here[self.row, self.lane] = True
        if mask is not None:
            members = self.spread(mask)
            self.here &= (members >> np.arange(32, dtype=np.uint32)) & np.uint32(1) != 0

    def spread(self, value: np.ndarray) -> np.ndarray:
        """(warps, 32); lanes that are not here hold 0."""
        value = self.group.full(value)
        if self.dense:
            return value.reshape(self.count, 32)
        out = np.zeros((self.count, 32), value.dtype)
        out[self.row, self.lane] = value
        return out

    def gather(self, rows: np.ndarray) -> np.ndarray:
        """(warps, 32) -> (n,): the value of each lane of the group."""
        return rows.reshape(-1) if self.dense else rows[self.row, self.lane]

    def per_lane(self, per_warp: np.ndarray) -> np.ndarray:
        """(warps,) -> (n,): the value of its row for each lane."""
        return np.repeat(per_warp, 32) if self.dense else per_warp[self.row]


def whole_warps(group: Group, i: ptx.Instruction) -> WarpRows:
    """The rows of an instruction of whole warps. Raises KernelFault where lanes of one are missing:
    they have ended, their guard is false, or their block has no such threads."""
    rows = WarpRows(group, None)
    if rows.dense:
        return rows
    batch, warp = group.batch, int(group.warps[np.argmin(rows.here.sum(axis=1))])
    lanes = group.lanes[group.lanes >> 5 == warp]
    thread, block = batch.thread_and_block(lanes[0])
    number = warp % (batch.lanes_per_block // 32)
    lacking = number == batch.threads // 32
    advice = f" The block has {batch.threads} threads: launch a multiple of 32." if lacking else ""
    text = (
        f"Barrier misuse: {len(lanes)} of the 32 threads of warp {number} of block {xyz(block)} "
        f"execute the {call_of(i)}{at_line(i.location)}. It is .sync.aligned: all 32 execute it "
        f"together.{advice}"
    )
    cause = Cause.WARP_INCOMPLETE
    raise KernelFault(Finding(BARRIER, text, i.location, thread, block, cause=cause))


_LANE = np.arange(32, dtype=np.int64)


def _sources(mode: str, distance: np.ndarray, control: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What ``shfl`` takes from where: (lane of the warp, whether it is in range)."""
    distance = (distance & np.uint32(31)).astype(np.int64)
    segment = ((control >> np.uint32(8)) & np.uint32(31)).astype(np.int64)
    clamp = (control & np.uint32(31)).astype(np.int64)
    first, last = _LANE & segment, (_LANE & segment) | (clamp & ~segment)
    if mode == "up":
        source = _LANE - distance
        valid = source >= last
    elif mode == "down":
        source = _LANE + distance
        valid = source <= last
    elif mode == "bfly":
        source = _LANE ^ distance
        valid = source <= last
    else:
        source = first | (distance & ~segment)
        valid = source <= last
    return np.where(valid, source, _LANE), valid


@step("shfl")
def shfl(b: Builder, i: ptx.Instruction) -> Step:
    """shfl.mode.b32: the value of another lane, and optionally whether that lane is in range."""
    mode = next(m for m in i.modifiers if m in ("up", "down", "bfly", "idx"))
    target = i.operands[0]
    target, inside = target.items if isinstance(target, ptx.OperandList) else (target, None)
    get = b.read(i.operands[1], "b32")
    get_b, get_c = b.read(i.operands[2], "u32"), b.read(i.operands[3], "u32")
    mask = b.read(i.operands[4], "b32") if len(i.operands) > 4 else None
    put = b.write(target, "b32")
    put_inside = b.write(inside, "pred") if inside is not None else None
    known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def sources(
        rows: WarpRows, distance: np.ndarray, control: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(lane to take the value of, whether it is in range) of each lane."""
        if len(distance) > 1 or len(control) > 1:
            distance, control = (rows.spread(x) if len(x) > 1 else x for x in (distance, control))
            return _sources(mode, distance, control)
        key = int(distance[0]), int(control[0])
        if key not in known:
            known[key] = _sources(mode, distance, control)
        return known[key]

    def act(group: Group) -> None:
        R = group.R
        value = get(R)
        rows = WarpRows(group, mask(R) if mask else None)
        values = rows.spread(value)
        source, valid = sources(rows, get_b(R), get_c(R))
        if source.ndim == 1 or len(source) == 1:
            taken = values.take(source.reshape(-1), axis=1)
        else:
            taken = np.take_along_axis(values, source, axis=1)
        put(R, np.ascontiguousarray(rows.gather(taken)))
        missing = group.batch.launch.observers.values_missing
        if missing is not ignore_event and not rows.here.all():
            asked = np.broadcast_to(source, values.shape)
            absent = ~np.take_along_axis(rows.here, asked, axis=1)
            missing(group, i, target, rows.gather(absent))
        if put_inside:
            valid = np.broadcast_to(valid, values.shape)
            put_inside(R, np.ascontiguousarray(rows.gather(valid)))

    return act


def _weights(flags: np.ndarray) -> np.ndarray:
    """(warps, 32) flags -> one 32-bit mask for each warp."""
    return np.packbits(flags, axis=1, bitorder="little").view(np.uint32)[:, 0]


@step("vote", traits=Traits(over_warp=True))
def vote(b: Builder, i: ptx.Instruction) -> Step:
    """vote.all, .any, .uni and .ballot of a predicate, over the lanes of the mask."""
    mode = next(m for m in i.modifiers if m in ("all", "any", "uni", "ballot"))
    get = b.read(i.operands[1], "pred")
    mask = b.read(i.operands[2], "b32") if len(i.operands) > 2 else None
    put = b.write(i.operands[0], "b32" if mode == "ballot" else "pred")

    def act(group: Group) -> None:
        R = group.R
        rows = WarpRows(group, mask(R) if mask else None)
        flags = rows.spread(get(R)) & rows.here
        if mode == "ballot":
            result = _weights(flags)
        elif mode == "any":
            result = flags.any(axis=1)
        else:
            result = (flags == rows.here).all(axis=1)
            if mode == "uni":
                result |= ~flags.any(axis=1)
        put(R, rows.per_lane(result))

    return act


@step("match", traits=Traits(over_warp=True))
def match(b: Builder, i: ptx.Instruction) -> Step:
    """match.any: the mask of the lanes with the same value. match.all: all of them, or 0."""
    mode = "all" if "all" in i.modifiers else "any"
    kind = i.modifiers[-1]
    target = i.operands[0]
    target, agreed = target.items if isinstance(target, ptx.OperandList) else (target, None)
    get, mask = b.read(i.operands[1], kind), b.read(i.operands[2], "b32")
    put = b.write(target, "b32")
    put_agreed = b.write(agreed, "pred") if agreed is not None else None

    def act(group: Group) -> None:
        R = group.R
        rows = WarpRows(group, mask(R))
        values = rows.spread(get(R))
        equal = (values[:, :, None] == values[:, None, :]) & rows.here[:, None, :]
        masks = np.packbits(equal, axis=2, bitorder="little").view(np.uint32)[:, :, 0]
        if mode == "any":
            put(R, np.ascontiguousarray(rows.gather(masks)))
            return
        all_here = _weights(rows.here)
        alike = (~rows.here | (masks == all_here[:, None])).all(axis=1)
        put(R, rows.per_lane(np.where(alike, all_here, np.uint32(0))))
        if put_agreed:
            put_agreed(R, rows.per_lane(alike))

    return act


@step("redux", traits=Traits(over_warp=True))
def redux(b: Builder, i: ptx.Instruction) -> Step:
    """redux.op: the sum, minimum and so on of the lanes of the mask."""
    kind = i.modifiers[-1]
    operation = next(m for m in i.modifiers if m in ("add", "min", "max", "and", "or", "xor"))
    ufunc: np.ufunc
    start: float | None
    ufunc, start = {
        "add": (np.add, 0),
        "min": (np.minimum, None),
        "max": (np.maximum, None),
        "and": (np.bitwise_and, -1),
        "or": (np.bitwise_or, 0),
        "xor": (np.bitwise_xor, 0),
    }[operation]
    dtype = DTYPES[kind]
    if dtype.kind == "f":
        start = np.inf if operation == "min" else -np.inf
    elif start is None:
        limits = np.iinfo(dtype)
        start = limits.max if operation == "min" else limits.min
    elif start == -1:
        start = np.iinfo(dtype).max if dtype.kind == "u" else -1
    get, mask = b.read(i.operands[1], kind), b.read(i.operands[2], "b32")
    put = b.write(i.operands[0], kind)

    def act(group: Group) -> None:
        R = group.R
        rows = WarpRows(group, mask(R))
        values = np.where(rows.here, rows.spread(get(R)), dtype.type(start))
        put(R, rows.per_lane(ufunc.reduce(values, axis=1, dtype=dtype)))

    return act


@step("elect")
def elect(b: Builder, i: ptx.Instruction) -> Step:
    """The lowest lane of the mask is elected; every lane learns which."""
    leader, chosen = ptx.elements(i.operands[0])
    mask = b.read(i.operands[1], "b32")
    put, put_chosen = b.write(leader, "b32"), b.write(chosen, "pred")

    def act(group: Group) -> None:
        R = group.R
        rows = WarpRows(group, mask(R))
        first = rows.here.argmax(axis=1)
        put(R, rows.per_lane(first.astype(np.uint32)))
        put_chosen(R, rows.per_lane(first) == (group.lanes & 31))

    return act
