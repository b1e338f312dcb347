"""Groups of lanes that stand at the same instruction, and the registers they carry.

A lane is one thread of a batch of blocks. Lanes that run together form a :class:`Group`; each of
its registers is one NumPy array with an element per lane, or with a single element when all lanes
agree (a *uniform* value, which costs next to nothing to compute with). When a branch sends lanes
two ways they diverge and the group is split; when they reconverge it is merged.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .batch import Batch
    from .code import Code

UNSIGNED = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)} | {16: np.dtype("V16")}

Registers = list[np.ndarray]  # by slot, each (n,), or (1,) where all lanes agree


@dataclass(frozen=True, slots=True)
class Frame:
    """A caller waiting for the function it called: where to go on, and its registers."""

    code: Code
    block: int
    registers: Registers
    results: tuple[tuple[int, int], ...]  # (slot in the caller, slot in the callee)
    local_top: int


@dataclass(frozen=True, slots=True)
class SplitParent:
    """The group that one was split from at a branch, and what it got of it. Where all parts of a
    group meet again, a register that none of them has written to is the group's own."""

    group: Group
    registers: tuple[np.ndarray, ...]
    stack: tuple[Frame, ...]
    depth: int  # of groups that were split from one another


MAX_SPLIT_DEPTH = 8  # remembered: a loop that lanes leave one by one splits its group often
MANY = 1000  # lanes from which on `take` is a third quicker than an index in brackets


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
        "patterns",
        "quantum_left",
        "quantum_extended",
        "stalled",
        "local_top",
        "sort_key",
        "split_parent",
        "_whole",
        "_lane_index",
        "_slots",
        "_warps",
    )

    def __init__(
        self, batch: Batch, lanes: np.ndarray, code: Code, block: int, registers: Registers
    ) -> None:
        self.batch, self.lanes, self.n = batch, lanes, len(lanes)
        self.code, self.block, self.R = code, block, registers
        self.stack: tuple[Frame, ...] = ()
        self.patterns: dict[Any, Any] = {}  # addresses already analysed, by register slot
        self.quantum_left = 0
        self.quantum_extended = (
            False  # it has had another turn for parting: see `Scheduler.diverge`
        )
        self.stalled = False
        self.local_top = 0
        self.sort_key: tuple[int, ...] = ()  # set while it waits for its turn
        self.split_parent: SplitParent | None = None
        self._whole = -1
        self._lane_index: slice | np.ndarray | None = None
        self._slots: np.ndarray | None = None
        self._warps: np.ndarray | None = None

    @staticmethod
    def of_copy(batch: Batch, lanes: np.ndarray) -> Group:
        """The lanes that started a copy, with no registers: only their numbers are asked for."""
        return Group(batch, lanes, batch.launch.code, 0, [])

    def first_of(self, slot: int) -> int | None:
        """The integer in a register of the first lane, None where the register holds no value now,
        or another kind of it."""
        value = self.R[slot]
        if value is None or np.asarray(value).dtype.kind not in "iu":
            return None
        return int(np.asarray(value).reshape(-1)[0])

    # --- where the lanes are ---

    def update_sort_key(self) -> None:
        """Set the sort key. Groups with equal keys can merge. Keys sort in the order in
        which groups should run: deeper calls first, then those that are behind."""
        self.sort_key = (-len(self.stack), self.code.order, self.code.block_ranks[self.block])

    def same_callers(self, other: Group) -> bool:
        """Whether the calls of both groups, which are equally deep, return to the same places."""
        return all(
            a.code is b.code and a.block == b.block
            for a, b in zip(self.stack, other.stack, strict=True)
        )

    @property
    def slots(self) -> np.ndarray:
        """The block (counted within the batch) of every lane; int64, length n."""
        if self._slots is None:
            self._slots = self.batch.slots[self.lane_index]
        return self._slots

    @property
    def lane_index(self) -> slice | np.ndarray:
        """Where the group's lanes are among all of its batch: a slice when there are no gaps."""
        if self._lane_index is None:
            first, last = int(self.lanes[0]), int(self.lanes[-1])
            gaps = last - first != self.n - 1
            self._lane_index = self.lanes if gaps else slice(first, last + 1)
        return self._lane_index

    @property
    def warps(self) -> np.ndarray:
        """The warps (counted within the batch) that have a lane here; sorted."""
        if self._warps is None:
            run = self.lane_index
            if isinstance(run, slice):
                self._warps = np.arange(run.start >> 5, (run.stop - 1 >> 5) + 1)
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
        """True when no warp has a live lane elsewhere."""
        if self._whole != self.batch.exits:
            live = int(self.batch.live_lanes[self.warps].sum())
            self._whole = self.batch.exits if live == self.n else -1
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
        """The lanes at positions ``index`` (sorted), with the registers named in ``live``."""
        first, last = int(index[0]), int(index[-1])
        gaps = last - first != len(index) - 1
        which = index if gaps else slice(first, last + 1)  # parts of arrays need no copy
        registers = _pick(self.R, self.code, live, which)
        group = Group(self.batch, self.lanes[which], self.code, self.block, registers)
        group.stack = tuple(
            Frame(
                f.code,
                f.block,
                _pick(f.registers, f.code, f.code.live[f.block], which),
                f.results,
                f.local_top,
            )
            for f in self.stack
        )
        group.quantum_left, group.quantum_extended = self.quantum_left, self.quantum_extended
        group.local_top = self.local_top
        return group

    def split_off(self, index: np.ndarray) -> Group:
        """Some lanes at the block's end, with the registers that later blocks may read."""
        return self.subset(index, self.code.after(self.block))

    def split(self, flags: np.ndarray, live: tuple[int, ...]) -> tuple[Group, Group]:
        """The lanes with a false flag, and those with a true one."""
        depth = 1 if self.split_parent is None else self.split_parent.depth + 1
        if depth > MAX_SPLIT_DEPTH:
            self.split_parent, depth = None, 1
        no, yes = (self.subset(chosen.nonzero()[0], live) for chosen in (~flags, flags))
        no.split_parent = SplitParent(self, tuple(no.R), no.stack, depth)
        yes.split_parent = SplitParent(self, tuple(yes.R), yes.stack, depth)
        return no, yes

    def _reconverged(self, others: list[Group]) -> Group | None:
        """The group that ``self`` and ``others`` are all the parts of, with what they wrote."""
        parent = self.split_parent
        if parent is None or self.stack is not parent.stack:
            return None
        whole, count, before = parent.group, self.n, [parent.registers]
        for g in others:
            theirs = g.split_parent
            if theirs is None or theirs.group is not whole or g.stack is not theirs.stack:
                return None
            before.append(theirs.registers)
            count += g.n
        if count != whole.n or whole.code is not self.code:
            return None
        groups = [self, *others]
        merged = Group(self.batch, whole.lanes, self.code, self.block, list(self.code.blank))
        merged.stack, merged.patterns = whole.stack, whole.patterns
        merged.split_parent = whole.split_parent
        merged._lane_index = whole._lane_index
        merged._slots, merged._warps = whole._slots, whole._warps
        live = self.code.live[self.block]
        parts = zip(groups, before, strict=True)
        written = {s for g, own in parts for s in live if g.R[s] is not own[s]}
        for slot in live:
            merged.R[slot] = whole.R[slot]
        if written:
            groups.sort(key=lambda g: g.lanes[0])
            _, order = _in_order(groups)
            _join(groups, [g.R for g in groups], merged.R, written, order)
        return merged

    def merge(self, others: list[Group]) -> Group:
        """One group of the lanes of all; every group stands at the same place."""
        merged = self._reconverged(others) or self._merged(others)
        merged.quantum_left = max(self.quantum_left, *(g.quantum_left for g in others))
        merged.quantum_extended = self.quantum_extended or any(g.quantum_extended for g in others)
        merged.local_top = self.local_top
        return merged

    def _merged(self, others: list[Group]) -> Group:
        groups = sorted([self, *others], key=lambda g: g.lanes[0])
        lanes, order = _in_order(groups)

        def joined(registers: list[Registers], code: Code, block: int) -> Registers:
            out = list(code.blank)
            _join(groups, registers, out, code.live[block], order)
            return out

        own = joined([g.R for g in groups], self.code, self.block)
        merged = Group(self.batch, lanes, self.code, self.block, own)
        stack = []
        for depth, f in enumerate(self.stack):
            registers = joined([g.stack[depth].registers for g in groups], f.code, f.block)
            stack.append(Frame(f.code, f.block, registers, f.results, f.local_top))
        merged.stack = tuple(stack)
        return merged


def _in_order(groups: list[Group]) -> tuple[np.ndarray, np.ndarray | None]:
    """The lanes of groups, which come in the order of their first lanes: sorted, and the order that
    sorts them; None where they are sorted one group after the other."""
    lanes = np.concatenate([g.lanes for g in groups])
    if all(a.lanes[-1] < b.lanes[0] for a, b in itertools.pairwise(groups)):
        return lanes, None
    order = np.argsort(lanes, kind="stable")
    return lanes[order], order


def lane_masks(group: Group) -> tuple[np.ndarray, np.ndarray]:
    """(warps, lane masks): the warps of a group and which of their lanes are in it; uint32."""
    bits = np.uint32(1) << (group.lanes & 31).astype(np.uint32)
    starts = np.searchsorted(group.lanes >> 5, group.warps)
    return group.warps, np.bitwise_or.reduceat(bits, starts)


def _pick(
    registers: Registers, code: Code, live: tuple[int, ...], index: np.ndarray | slice
) -> Registers:
    out = list(code.blank)
    if isinstance(index, np.ndarray) and len(index) > MANY:
        for slot in live:
            value = registers[slot]
            out[slot] = value if len(value) == 1 else value.take(index)
        return out
    for slot in live:
        value = registers[slot]
        out[slot] = value if len(value) == 1 else value[index]
    return out


def _join(
    groups: list[Group],
    registers: list[Registers],
    out: Registers,
    slots: Iterable[int],
    order: np.ndarray | None,
) -> None:
    """Put what the ``registers`` of all ``groups`` hold into ``out``, one array for each of
    ``slots``; ``order``: see :func:`_in_order`."""
    own, *others = registers
    for slot in slots:
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
            continue
        joined = np.concatenate([g.full(v) for g, v in zip(groups, values, strict=True)])
        out[slot] = joined if order is None else joined.take(order)


def blend(group: Group, old: np.ndarray, index: np.ndarray, new: np.ndarray) -> np.ndarray:
    """``old`` with ``new`` at positions ``index``; a fresh array of length n."""
    if old.dtype != new.dtype:
        old, new = old.view(UNSIGNED[old.itemsize]), new.view(UNSIGNED[new.itemsize])
    out = np.array(group.full(old))
    out[index] = new
    return out
