"""Records the work of one warp, instruction by instruction: which lanes, and which addresses.

The machine moves all warps of a batch together. A :class:`TraceRecorder` picks the lanes of one of
them out of every group that has some, in the order in which the groups run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..findings.options import TraceOptions
from ..findings.report import Counts
from ..isa import ptx
from ..isa.gpu_constants import WARP
from ..machine.accesses import AddressPattern, Site
from ..machine.batch import Batch
from ..machine.code import Block, Decoded
from ..machine.lanes import Group
from ..machine.observer import Observer
from ..memory.address_space import Region


@dataclass(frozen=True, eq=False)
class WarpAccess:
    """The memory access of one warp in one instruction.

    ``array`` is the array's name, ``space`` is "global", "shared" or "local", and each lane moves
    ``bytes``. ``addresses``, (32,) int64, counts bytes from the array's start, −1 for a lane that
    takes no part. Arrays start at multiples of 128 bytes, so sectors and banks can be read off.
    """

    array: str
    space: str
    store: bool
    bytes: int
    addresses: np.ndarray

    @property
    def elements(self) -> np.ndarray:
        """(32,) int64: the index of each lane's element of ``bytes`` bytes, −1 without one."""
        return np.where(self.addresses < 0, -1, self.addresses // self.bytes)


@dataclass(frozen=True, eq=False)
class WarpStep:
    """One instruction as one warp runs it.

    ``line`` is the line of ``file`` that it comes from, 0 when unknown. ``opcode`` is the PTX
    instruction, such as "add.s32", ``active``, (32,) bool, are the lanes that take part, and
    ``access`` is their memory access, None without one.
    """

    file: str
    line: int
    opcode: str
    active: np.ndarray
    access: WarpAccess | None = None

    @property
    def mask(self) -> int:
        """The active lanes as a number: bit n is lane n, as ``__activemask()`` gives them."""
        return sum(1 << n for n in np.flatnonzero(self.active).tolist())


def reach(
    site: Site, group: Group, low: int, high: int, region: Region, pattern: AddressPattern
) -> WarpAccess:
    """What lanes ``low`` … ``high`` of a group (positions; all of one warp) access at ``site``."""
    start = (pattern.low + site.offset + site.window) % 2**64 - region.start
    addresses = np.full(WARP, -1, np.int64)
    lanes = group.lanes[low:high] % WARP
    addresses[lanes] = start
    if pattern.delta is not None:
        addresses[lanes] += pattern.delta[low:high].astype(np.int64)
    return WarpAccess(region.name, region.space, site.is_store, site.bytes, addresses)


class TraceRecorder(Observer):
    """Fills ``steps``. ``complete`` is False when there were more than the limit."""

    def __init__(self, options: TraceOptions) -> None:
        self.options = options
        self.steps: list[WarpStep] = []
        self.complete = True
        self._accesses: list[WarpAccess] = []
        self._batch: Batch | None = None  # where the warp is,
        self._first = 0  # and its first lane there
        self._lanes = np.zeros(0, np.int64)  # those that the instruction being run is for

    def batch_starts(self, batch: Batch) -> None:
        for slot in range(batch.block_count):
            if batch.block_index(batch.first + slot) == self.options.block:
                self._batch = batch
                self._first = slot * batch.lanes_per_block + WARP * self.options.warp

    def _span(self, group: Group) -> tuple[int, int]:
        """The positions in a group of the lanes of the warp: [from, to)."""
        if group.batch is not self._batch:
            return 0, 0
        low, high = np.searchsorted(group.lanes, (self._first, self._first + WARP))
        return int(low), int(high)

    def wants_instructions(self, group: Group, block: Block) -> bool:
        low, high = self._span(group)
        return low < high

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        low, high = self._span(group)
        self._lanes, guard = group.lanes[low:high], decoded.instruction.guard
        self._accesses.clear()
        if decoded.ends:
            self._note(decoded.instruction, self._lanes)
        elif guard is not None:
            self._lanes = self._lanes[self._chosen(guard, group)[low:high]]

    def instruction_ends(self, group: Group, decoded: Decoded) -> None:
        self._note(decoded.instruction, self._lanes)

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        recorded["trace"] = self

    @staticmethod
    def _chosen(guard: ptx.Register, group: Group) -> np.ndarray:
        value = group.full(group.R[guard.slot])
        return ~value if guard.negated else value

    def _note(self, instruction: ptx.Instruction, lanes: np.ndarray) -> None:
        if len(self.steps) == self.options.limit:
            self.complete = False
            return
        active = np.zeros(WARP, bool)
        active[lanes % WARP] = True
        place = instruction.place_in(self.options.file)
        self.steps.append(
            WarpStep(
                place.file if place else "",
                place.line if place else 0,
                instruction.full_opcode,
                active,
                self._together(),
            )
        )

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        low, high = self._span(group)
        if low < high:
            self._accesses.append(reach(site, group, low, high, region, pattern))

    def _together(self) -> WarpAccess | None:
        """One access of all that an instruction made: lanes that reach several arrays are noted
        array by array, and the first of them names it."""
        if not self._accesses:
            return None
        head, *rest = self._accesses
        for other in rest:
            if other.array == head.array:
                head.addresses[other.addresses >= 0] = other.addresses[other.addresses >= 0]
        return head
