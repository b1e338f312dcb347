"""Tensor memory (TMEM): 128 lanes × 512 columns of 32 bits that belong to a block's tensor cores.

An address is ``lane << 16 | column``. One warp allocates columns, all 128 lanes of them,
writes down where they are, and must give them back before the block ends.
Source: PTX ISA, "Tensor Memory", "Tensor Memory Allocation", "Issue Granularity", "CTA Pair",
"tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.report import OUT_OF_BOUNDS, TENSOR_MEMORY, Finding, KernelFault
from ..findings.wording import where
from .async_state import Transfer
from .lanes import Group

if TYPE_CHECKING:
    from ..isa.ptx import Instruction
    from .batch import Batch

LANES, COLUMNS = 128, 512
UNIT = 32  # columns that are allocated together, and lanes that one warp can reach
NEVER_WRITTEN = 0xFFFFFFFF  # a NaN, whatever type it is taken for


@dataclass(eq=False)
class TensorWork(Transfer):
    """A tcgen05.mma, cp, shift or commit that was issued and is not done yet. ``perform`` does it;
    what it reads of shared memory must not change until then."""

    perform: Callable[[], None] | None = None

    def move(self) -> None:
        """Do the work, now."""
        if self.perform is not None:
            self.perform()


@dataclass(eq=False)
class Request:
    """A warp at tcgen05.alloc. ``deliver(group, address)`` tells it where its columns are."""

    group: Group
    instruction: Instruction
    block: int
    columns: int
    pair: bool
    deliver: Callable[[Group, int], None]


@dataclass(frozen=True)
class Allocation:
    """Columns that a block has allocated, and the tcgen05.alloc that did."""

    columns: int
    instruction: Instruction


def warps_of(group: Group) -> list[tuple[int, int]]:
    """(first position, block of the batch) of each warp of a group."""
    firsts = np.searchsorted(group.lanes >> 5, group.warps)
    return list(zip(firsts.tolist(), group.slots[firsts].tolist(), strict=True))


def memory_of(group: Group) -> TensorMemory:
    """The tensor memory of a group's batch. Raises ValueError where its kernel uses none."""
    memory = group.batch.tensor_memory
    if memory is None:
        raise ValueError("a kernel without tensor memory uses some")
    return memory


class TensorMemory:
    """The tensor memory of every block of a batch. ``cells``: u32 (blocks, 128, 512)."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        count = batch.block_count
        self.cells = np.full((count, LANES, COLUMNS), NEVER_WRITTEN, np.uint32)
        self.allocated: list[dict[int, Allocation]] = [{} for _ in range(count)]  # by first column
        self.relinquished: list[Instruction | None] = [None] * count  # by which instruction
        self.asked_for: list[Allocation | None] = [None] * count  # last
        self.waiting: list[Request] = []
        self.pairs: bool | None = None  # whether this kernel's instructions are of .cta_group::2

    def parked(self) -> list[tuple[Group, Instruction]]:
        """(group, instruction) of the warps that wait for columns."""
        return [(r.group, r.instruction) for r in self.waiting]

    def misuse(self, i: Instruction, lane: int, cause: Cause, text: str) -> KernelFault:
        """What ``lane`` did wrong; ``text`` goes on from "at file:line thread … of block …"."""
        thread, block = self.batch.thread_and_block(lane)
        message = f"Tensor memory misuse: at {i.location} {where(thread, block)} {text}"
        return KernelFault(Finding(TENSOR_MEMORY, message, i.location, thread, block, cause=cause))

    def report(self, i: Instruction, lane: int, cause: Cause, text: str) -> None:
        """What is wrong and yet has a meaning to go on with: a finding for those who look."""
        self.batch.launch.observers.misuse_tolerated(self.misuse(i, lane, cause, text).finding)

    def stays_with(self, i: Instruction, lane: int, pair: bool) -> None:
        """Raises KernelFault for an instruction of another .cta_group than the kernel's first."""
        if self.pairs is None:
            self.pairs = pair
        if self.pairs != pair:
            raise self.misuse(
                i,
                lane,
                Cause.CTA_GROUPS_MIXED,
                "mixes .cta_group::1 and .cta_group::2: a kernel must stay with one.",
            )

    def blocks_of(self, i: Instruction, lane: int, pair: bool) -> list[int]:
        """The blocks (of the batch) that an instruction works on: one, or a pair, even one first.

        Two blocks of a cluster whose ranks differ in the last bit only are a pair.
        """
        block = lane // self.batch.lanes_per_block
        self.stays_with(i, lane, pair)
        if not pair:
            return [block]
        clusters = self.batch.clusters
        if clusters is None or clusters.size % 2:
            raise self.misuse(
                i,
                lane,
                Cause.NO_PAIR_OF_BLOCKS,
                "uses .cta_group::2, which needs a pair of blocks: launch clusters of an even "
                "number of blocks.",
            )
        if not self.batch.live_threads[block ^ 1]:
            raise self.misuse(
                i,
                lane,
                Cause.NO_PAIR_OF_BLOCKS,
                "uses .cta_group::2, but the other block has ended.",
            )
        return [block & ~1, block | 1]

    def whole_warps(self, group: Group, i: Instruction) -> list[tuple[int, int]]:
        """The warps of a group, as :func:`warps_of`, each of which has to be there as a whole."""
        found = warps_of(group)
        ends = [*(first for first, _ in found[1:]), group.n]
        for (first, _), end, warp in zip(found, ends, group.warps.tolist(), strict=True):
            before = UNIT * (warp % (self.batch.lanes_per_block // UNIT))
            wanted = min(UNIT, self.batch.threads - before)
            if end - first < wanted:
                text = f"executes a tcgen05.{i.modifiers[0]} with {end - first} of the {wanted} "
                text += "threads of its warp there. It is .sync.aligned: all of them have to."
                raise self.misuse(i, int(group.lanes[first]), Cause.WARP_INCOMPLETE, text)
        return found

    # --- allocation ---

    def request(self, request: Request) -> None:
        """A warp asks for columns, and waits until it has them. Raises KernelFault for a number of
        columns that cannot be, and for a block that gave up the right."""
        lane, i = int(request.group.lanes[0]), request.instruction
        columns = request.columns
        if not UNIT <= columns <= COLUMNS or columns & columns - 1:
            raise self.misuse(
                i,
                lane,
                Cause.COLUMN_COUNT_INVALID,
                f"allocates {columns} columns: the number must be a power of two from {UNIT} to "
                f"{COLUMNS}.",
            )
        given_up = self.relinquished[request.block]
        if given_up is not None:
            raise self.misuse(
                i,
                lane,
                Cause.ALLOCATION_RELINQUISHED,
                "allocates columns after a thread of its block relinquished the permit to do so, "
                f"by tcgen05.relinquish_alloc_permit at {given_up.location}.",
            )
        self.blocks_of(i, lane, request.pair)
        earlier = self.asked_for[request.block]
        if earlier is not None and columns > earlier.columns:
            text = (
                f"allocates {columns} columns after its block asked for {earlier.columns} at "
                f"{earlier.instruction.location}: each number must be at most the one before it."
            )
            self.report(i, lane, Cause.COLUMNS_INCREASE, text)
        self.asked_for[request.block] = Allocation(columns, i)
        if request.pair:
            observers = self.batch.launch.observers
            observers.pair_allocates(request.group, i, request.block ^ 1)
        self.waiting.append(request)
        self._grant()

    def _grant(self) -> None:
        """Give columns to those who wait and can have them; blocks of a pair get them together."""
        for request in list(self.waiting):
            if request not in self.waiting:
                continue
            together = [request]
            if request.pair:
                other = (r for r in self.waiting if r.block == request.block ^ 1 and r.pair)
                together = [request, *list(other)[:1]]
                if len(together) < 2:
                    continue
                if together[0].columns != together[1].columns:
                    raise self.misuse(
                        request.instruction,
                        int(request.group.lanes[0]),
                        Cause.COLUMN_COUNTS_DIFFER,
                        f"allocates {request.columns} columns and its pair "
                        f"{together[1].columns}: both must ask for the same number.",
                    )
            start = self._free_columns([r.block for r in together], request.columns)
            if start is None:
                continue
            for one in together:
                self.waiting.remove(one)
                self.allocated[one.block][start] = Allocation(one.columns, one.instruction)
                one.deliver(one.group, start)

    def _free_columns(self, blocks: list[int], columns: int) -> int | None:
        """The first of that many columns in a row that are free in all of ``blocks``."""
        used = np.zeros(COLUMNS, bool)
        for block in blocks:
            for start, allocation in self.allocated[block].items():
                used[start : start + allocation.columns] = True
        for start in range(0, COLUMNS - columns + 1, UNIT):
            if not used[start : start + columns].any():
                return start
        return None

    def release(self, i: Instruction, lane: int, address: int, columns: int, pair: bool) -> None:
        """tcgen05.dealloc frees exactly the columns of one tcgen05.alloc."""
        self.stays_with(i, lane, pair)
        block = lane // self.batch.lanes_per_block
        allocation = self.allocated[block].get(address)
        if allocation is None or allocation.columns != columns:
            have = ", ".join(f"{r.columns} from {s}" for s, r in self.allocated[block].items())
            raise self.misuse(
                i,
                lane,
                Cause.COLUMNS_NOT_ALLOCATED,
                f"frees {columns} columns from address {address:#x}, which isn't an allocation: "
                f"its block has {have or 'none'}.",
            )
        columns_of = slice(address, address + columns)
        self.batch.launch.observers.tensor_release(self.batch, i, lane, block, columns_of)
        del self.allocated[block][address]
        self.cells[block][:, address : address + columns] = NEVER_WRITTEN
        self._grant()

    def relinquish(self, i: Instruction, lane: int, block: int, pair: bool) -> None:
        """A block allocates no more."""
        self.stays_with(i, lane, pair)
        self.relinquished[block] = i

    def leave(self, group: Group) -> None:
        """Lanes have ended. A block must have freed all its columns when its last lane ends."""
        for block in np.unique(group.slots).tolist():
            if self.batch.live_threads[block] or not self.allocated[block]:
                continue
            start, allocation = next(iter(self.allocated[block].items()))
            lane = int(group.lanes[group.slots == block][0])
            raise self.misuse(
                allocation.instruction,
                lane,
                Cause.COLUMNS_NOT_FREED,
                f"was the last of its block to end, and the {allocation.columns} columns allocated "
                f"there (address {start:#x}) were never freed: tcgen05.dealloc is missing.",
            )

    def why(self, group: Group) -> str:
        """What a warp at tcgen05.alloc waits for."""
        for request in self.waiting:
            if request.group is group:
                used = sum(r.columns for r in self.allocated[request.block].values())
                if used + request.columns <= COLUMNS and request.pair:
                    return " for the other block of its pair to allocate too"
                return f" for {request.columns} columns of tensor memory ({COLUMNS - used} free)"
        return ""

    # --- access ---

    def use(
        self,
        i: Instruction,
        lane: int,
        kind: str,
        blocks: list[int],
        lanes: np.ndarray,
        columns: slice,
        writes: bool,
    ) -> None:
        """Check an access to ``lanes`` × ``columns`` of each block, and tell the race check of it.

        ``kind`` is one of those in :mod:`~..checks.tensor_memory_check`.
        """
        tell = self.batch.launch.observers.tensor_access
        for block in blocks:
            self._check_columns(i, lane, block, columns, "writes" if writes else "reads")
            tell(self.batch, i, lane, kind, block, lanes, columns, writes)

    def _check_columns(
        self, i: Instruction, lane: int, block: int, columns: slice, verb: str
    ) -> None:
        """All of an access must lie within one allocation of the block."""
        for start, allocation in self.allocated[block].items():
            if start <= columns.start and columns.stop <= start + allocation.columns:
                return
        have = [f"{s} to {s + r.columns - 1}" for s, r in self.allocated[block].items()]
        thread, own = self.batch.thread_and_block(lane)
        at = self.batch.block_index(self.batch.first + block)
        text = (
            f"Out of bounds: {where(thread, own)} {verb} columns {columns.start} to "
            f"{columns.stop - 1} of tensor memory of block {at} at {i.location}, but the block has "
            f"allocated {'columns ' + ', '.join(have) if have else 'none'}."
        )
        cause, name = Cause.OUTSIDE_ALLOCATED_COLUMNS, "tensor memory"
        raise KernelFault(Finding(OUT_OF_BOUNDS, text, i.location, thread, own, name, cause=cause))
