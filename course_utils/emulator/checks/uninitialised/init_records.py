"""What the check of uninitialised values remembers, and how it looks at bytes that lack one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...findings.causes import Cause
from ...findings.finding_log import FindingLog
from ...findings.outside import LOCAL
from ...findings.report import UNINITIALISED, Finding
from ...findings.wording import where
from ...isa import ptx
from ...isa.location import Location
from ...machine.batch import Batch
from ...machine.code import Code
from ...machine.lanes import Group
from ...memory.address_space import Region
from ...memory.init_shadows import InitShadow
from .init_rules import BYTES, LANE_SHIFT, RECORD_SHIFT

MOST_RECORDS = 4096  # reads remembered one by one, after that one for each instruction

MarkKey = tuple[int, Code, int]  # depth of calls, code, register
Marks = dict[MarkKey, np.ndarray]  # -> the mark of every lane of the batch, int64


class RecordedRead(Protocol):
    """A read as reports see it, in elements of ``width`` bytes."""

    @property
    def instruction(self) -> ptx.Instruction: ...
    @property
    def width(self) -> int: ...


@dataclass(eq=False)
class BatchState:
    """``marks``: (depth of calls, code, register) -> the mark of every lane; ``uninitialised``:
    shared or local region -> its shadow, None when all is written."""

    marks: Marks = field(default_factory=dict)
    uninitialised: dict[Region, InitShadow | None] = field(default_factory=dict)


@dataclass(eq=False)
class Record:
    """A read of uninitialised memory: ``cells[n]`` is the element that ``lanes[n]`` read."""

    batch: Batch
    lanes: np.ndarray
    site: RecordedRead | None = (
        None  # None for what no memory access gave: see `what`, `location`, `cause`
    )
    region: Region | None = None
    cells: np.ndarray | None = None
    what: str = "a variable that was never given a value"
    location: Location | None = None
    cause: Cause = Cause.VARIABLE_NOT_INITIALISED

    def of(self, lane: int) -> tuple[str, int]:
        """The array and the index that a lane read. Raises ValueError if it read no memory."""
        if self.cells is None or self.site is None or self.region is None:
            raise ValueError(f"no read of memory: {self.what}")
        at = min(int(np.searchsorted(self.lanes, lane)), len(self.lanes) - 1)
        cell, width = int(self.cells[at]), self.site.width
        if self.region.owner != "all":
            cell = cell * width % self.region.stride // width
        return self.region.name, cell


class Reads:
    """The reads of uninitialised values in a launch, by number, and the reports of their use."""

    def __init__(self, findings: FindingLog) -> None:
        self.findings = findings
        self.records: list[Record] = []
        self._last: dict[int, int] = {}  # id of an instruction -> its last record

    def add(self, record: Record) -> int:
        """The number of a new record."""
        self.records.append(record)
        return len(self.records) - 1

    def read(self, site: RecordedRead, group: Group, region: Region, cells: np.ndarray) -> int:
        """The number of a record of this read, or of an earlier one at the same instruction once
        there are many. ``cells``: elements, (n,)."""
        key = id(site.instruction)
        if len(self.records) < MOST_RECORDS or key not in self._last:
            self._last[key] = self.add(Record(group.batch, group.lanes, site, region, cells))
        return self._last[key]

    def report(
        self,
        batch: Batch,
        lanes: np.ndarray,
        marks: np.ndarray,
        instruction: ptx.Instruction,
        what: str,
    ) -> None:
        """Report the first of the lanes whose value is marked. ``what``: its act, a verb first."""
        at = int(np.argmax(marks & BYTES != 0))
        mark = int(marks[at])
        record = self.records[mark >> RECORD_SHIFT]
        reader = mark >> LANE_SHIFT & ((1 << RECORD_SHIFT - LANE_SHIFT) - 1)
        thread, block = batch.thread_and_block(lanes[at])
        here = instruction.location
        head = f"Uninitialised read: {where(thread, block)} {what}"
        if record.site is None or record.region is None:
            text = f"{head} {record.what}, at {here}."
            there, cause = record.location, record.cause
            finding = Finding(
                UNINITIALISED, text, here, thread, block, other_location=there, cause=cause
            )
            self.findings.add(("uninitialised", record.what, here, what.split()[0]), finding)
            return
        name, index = record.of(reader)
        there, other = record.site.instruction.location, record.batch.thread_and_block(reader)[0]
        place = "" if record.region.space == "global" else f" in {record.region.space} memory"
        what_is_read = f"{name}[{index}]{place}"
        if name == LOCAL:
            what_is_read = f"element {index} of {name}"
        text = (
            f"{head} uninitialised memory, at {here}:\n"
            f"  {what_is_read}, read by thread {other} at {there}."
        )
        cause = Cause.MEMORY_NOT_INITIALISED
        finding = Finding(
            UNINITIALISED, text, here, thread, block, name, index, 0, there, other, cause=cause
        )
        self.findings.add(("uninitialised", there, here, what.split()[0]), finding)


def blank(batch: Batch, region: Region) -> InitShadow:
    """A shadow of a region in which nothing is uninitialised."""
    if region.owner == "all":
        return InitShadow(region.storage.size)
    copies = batch.block_count * (1 if region.owner == "block" else batch.lanes_per_block)
    return InitShadow(copies * region.stride, region.stride)


def first_at_each(cells: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The marks of the first lane at each cell; the others get what a lane before them left."""
    _, first = np.unique(cells, return_index=True)
    found = np.zeros_like(marks)
    found[first] = marks[first]
    return found


def byte_mask(bits: np.ndarray, width: int) -> np.ndarray:
    """InitShadow elements as masks with a bit for each uninitialised byte; int64."""
    rows = np.ascontiguousarray(bits).view(np.uint8).reshape(-1, width)
    if width > 8:
        return np.where(rows.any(axis=1), BYTES, 0)
    return (rows & (1 << np.arange(width)).astype(np.uint8)).sum(axis=1, dtype=np.int64)


def of_address(operand: ptx.Operand) -> list[ptx.Operand]:
    """What an address is worked out from: its base, and coordinates."""
    if not isinstance(operand, ptx.Address):
        return []
    return [operand.base, *(item for part in operand.extra for item in ptx.items(part))]
