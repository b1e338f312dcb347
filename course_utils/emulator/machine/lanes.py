"""Groups of lanes that stand at the same instruction, and the registers they carry.

A lane is one thread of a batch of blocks. Lanes that run together form a :class:`Group`; each of
its registers is one NumPy array with an element per lane, or with a single element when all lanes
agree (a *uniform* value, which costs next to nothing to compute with). When a branch sends lanes
two ways they diverge and the group is split; when they reconverge it is merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .batch import Batch
    from .program import Code

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.dtype("V16")}


@dataclass(frozen=True, slots=True)
class Frame:
    """A caller waiting for the function it called: where to go on, and its registers."""

    code: Code
    block: int
    registers: list
    results: tuple[tuple[int, int], ...]  # (slot in the caller, slot in the callee)
    local_top: int


class Group:
    """Lanes of one batch at one instruction. ``lanes`` is sorted, dtype int64, never empty."""

    __slots__ = (
        "batch",
        "lanes",
        "n",
        "code",
        "block",
        "R",
        "stack",
        "spreads",
        "credit",
        "stalled",
        "local_top",
        "_whole",
        "_slots",
        "_warps",
    )

    def __init__(self, batch: Batch, lanes: np.ndarray, code: Code, block: int, registers: list):
        self.batch, self.lanes, self.n = batch, lanes, len(lanes)
        self.code, self.block, self.R = code, block, registers
        self.stack: tuple[Frame, ...] = ()
        self.spreads: dict = {}  # addresses already analysed, by register slot
        self.credit = 0
        self.stalled = False
        self.local_top = 0
        self._whole = -1
        self._slots = self._warps = None

    # --- where the lanes are ---

    @property
    def place(self) -> tuple:
        """Groups at equal places can merge. Places sort in the order in which groups should run:
        deeper calls first, then those that are behind."""
        return (-len(self.stack), self.code.order, self.code.places[self.block])

    def same_callers(self, other: Group) -> bool:
        return all(
            a.code is b.code and a.block == b.block
            for a, b in zip(self.stack, other.stack, strict=True)
        )

    @property
    def slots(self) -> np.ndarray:
        """The block (counted within the batch) of every lane; int64, length n."""
        if self._slots is None:
            self._slots = self.lanes // self.batch.lanes_per_block
        return self._slots

    @property
    def warps(self) -> np.ndarray:
        """The warps (counted within the batch) that have a lane here; sorted."""
        if self._warps is None:
            first, last = int(self.lanes[0]), int(self.lanes[-1])
            if last - first == self.n - 1:  # no gaps
                self._warps = np.arange(first >> 5, (last >> 5) + 1)
                return self._warps
            numbers = self.lanes >> 5
            keep = np.empty(self.n, bool)
            keep[0] = True
            np.not_equal(numbers[1:], numbers[:-1], out=keep[1:])
            self._warps = numbers[keep]
        return self._warps

    @property
    def blocks(self) -> np.ndarray:
        """The blocks (counted within the batch) that have a lane here; sorted."""
        return np.unique(self.warps // (self.batch.lanes_per_block // 32))

    @property
    def whole_warps(self) -> bool:
        """True when no warp has a living lane elsewhere."""
        if self._whole != self.batch.exits:
            living = int(self.batch.living[self.warps].sum())
            self._whole = self.batch.exits if living == self.n else -1
        return self._whole == self.batch.exits

    # --- registers ---

    def full(self, value: np.ndarray) -> np.ndarray:
        """``value`` with one element for each lane; read-only when all are one."""
        if len(value) == self.n:
            return value
        same = np.ndarray((self.n,), value.dtype, value, strides=(0,))  # as broadcast_to, but quick
        same.flags.writeable = False
        return same

    def subset(self, index: np.ndarray, live: tuple[int, ...]) -> Group:
        """The lanes at positions ``index``, with the registers named in ``live``."""
        group = Group(self.batch, self.lanes[index], self.code, self.block, None)
        group.R = _pick(self.R, self.code, live, index)
        group.stack = tuple(
            Frame(
                f.code,
                f.block,
                _pick(f.registers, f.code, f.code.live[f.block], index),
                f.results,
                f.local_top,
            )
            for f in self.stack
        )
        group.credit, group.local_top = self.credit, self.local_top
        return group

    def merge(self, others: list[Group]) -> Group:
        """One group of the lanes of all; every group stands at the same place."""
        groups = [self, *others]
        lanes = np.concatenate([g.lanes for g in groups])
        order = np.argsort(lanes, kind="stable")
        places = np.empty(len(order), np.intp)
        places[order] = np.arange(len(order))
        places = np.split(places, np.cumsum([g.n for g in groups[:-1]]))
        merged = Group(self.batch, lanes[order], self.code, self.block, None)
        merged.R = _join([g.R for g in groups], self.code, self.code.live[self.block], places)
        stack = []
        for depth, f in enumerate(self.stack):
            registers = [g.stack[depth].registers for g in groups]
            live = f.code.live[f.block]
            stack.append(
                Frame(
                    f.code,
                    f.block,
                    _join(registers, f.code, live, places),
                    f.results,
                    f.local_top,
                )
            )
        merged.stack = tuple(stack)
        merged.credit = max(g.credit for g in groups)
        merged.local_top = self.local_top
        return merged


def lane_masks(group: Group) -> tuple[np.ndarray, np.ndarray]:
    """(warps, lane masks): the warps of a group and which of their lanes are in it; uint32."""
    bits = np.uint32(1) << (group.lanes & 31).astype(np.uint32)
    starts = np.searchsorted(group.lanes >> 5, group.warps)
    return group.warps, np.bitwise_or.reduceat(bits, starts)


def _pick(registers: list, code: Code, live: tuple[int, ...], index: np.ndarray) -> list:
    out = list(code.blank)
    for slot in live:
        value = registers[slot]
        out[slot] = value if len(value) == 1 else value[index]
    return out


def _join(
    registers: list[list], code: Code, live: tuple[int, ...], places: list[np.ndarray]
) -> list:
    """The registers of all groups in one list; ``places``: where the lanes of each group go."""
    out = list(code.blank)
    n = sum(map(len, places))
    own, *others = registers
    for slot in live:
        first = own[slot]
        dtype = first.dtype
        alike, single, mixed = True, len(first) == 1, False
        for r in others:
            v = r[slot]
            if v is not first:
                alike = False
                single = single and len(v) == 1
                mixed = mixed or v.dtype != dtype
        if alike and single:  # not written since they parted
            out[slot] = first
            continue
        values = [r[slot] for r in registers]
        if mixed:
            values = [v.view(UNSIGNED[v.itemsize]) for v in values]
        if single and len({v.tobytes() for v in values}) == 1:
            out[slot] = values[0]
        else:
            out[slot] = joined = np.empty(n, values[0].dtype)
            for value, at in zip(values, places, strict=True):
                joined[at] = value
    return out


def blend(group: Group, old: np.ndarray, index: np.ndarray, new: np.ndarray) -> np.ndarray:
    """``old`` with ``new`` at positions ``index``; a fresh array of length n."""
    if old.dtype != new.dtype:
        old, new = old.view(UNSIGNED[old.itemsize]), new.view(UNSIGNED[new.itemsize])
    out = np.array(group.full(old))
    out[index] = new
    return out
