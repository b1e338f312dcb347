"""Finds tensor memory that is used while an instruction in flight still needs it.

tcgen05 instructions go on while their thread does other things. Three things put an access behind
an earlier one, and each can be missing: a thread must have *waited* for the earlier one (for mma,
cp and shift a commit to an mbarrier, for ld and st tcgen05.wait::ld and ::st); what was waited for
must have come from thread to thread by a barrier, fenced *before* it on one side, and fenced
*after* it on the other. Only mma, cp and shift follow each other without any waiting.

So the clocks of the race check (:mod:`.vector_clocks`) know more here. Beside what a warp
knows of every other warp's past, it knows how far that warp's mma, cp and shift have been completed
(``tensor``), its ld, its st, and how far it has fenced them. Barriers and mbarriers pass all of
that on.
``usable`` is what a warp knew when it last fenced *after* a barrier.
Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations":
"Pipelined tcgen05 Instructions", "Canonical synchronization patterns".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...findings.causes import Cause
from ...findings.finding_log import FindingLog
from ...findings.report import DATA_RACE, ERROR, TENSOR_MEMORY, WARNING, Finding
from ...isa import ptx
from ...machine.async_state import Transfer
from ...machine.batch import Batch
from ...machine.lanes import Group
from ...machine.observer import Observer
from .race_reports import Races
from .severity import NO_TENSOR_FENCE
from .vector_clocks import VectorClocks

Cells = tuple[int, np.ndarray, slice]  # block, halves of warps, columns

HALF = 16  # lanes to a cell: some instructions use only one half of a warp's 32 lanes
KINDS = ("issued", "tensor", "ld", "st", "fenced")
WAITS = {
    "tensor": "tcgen05.commit to an mbarrier, and a wait for that mbarrier",
    "ld": "tcgen05.wait::ld",
    "st": "tcgen05.wait::st",
}
LANE_BITS, SITE_BITS = 24, 12  # of an entry: time | site | lane that used a cell; 0: none


class TensorClocks(VectorClocks):
    """VectorClocks that also say how far each warp's tcgen05 instructions are.

    ``tensor[row, w, k * warps + v]`` is the time of warp v up to which w knows that those of the
    k-th of ``KINDS`` are done; ``issued`` is w's own time where v is w, and else what w knows of
    v's. A past that is handed over holds both: (warps + 5 · warps,).
    """

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        rows, warps, _ = self.known.shape
        self.tensor = np.zeros((rows, warps, len(KINDS) * warps), np.int64)
        self.tensor[:, range(warps), range(warps)] = 1

    def sync(self, joined: np.ndarray) -> None:
        super().sync(joined)
        rows, warps = np.nonzero(joined)
        self.tensor[rows, warps, warps] += 1
        gathered = np.where(joined[:, :, None], self.tensor, 0).max(axis=1)
        self.tensor = np.where(joined[:, :, None], gathered[:, None, :], self.tensor)

    def sync_warps(self, warps: np.ndarray) -> None:
        self._issued_until_now(warps)
        super().sync_warps(warps)

    def release(self, lanes: np.ndarray, warps: np.ndarray, instruction: ptx.Instruction) -> None:
        self._issued_until_now(warps)
        super().release(lanes, warps, instruction)

    def _issued_until_now(self, warps: np.ndarray) -> None:
        rows, places = self.place(warps)
        self.tensor[rows, places, places] += 1

    def past(self, warps: np.ndarray) -> np.ndarray:
        rows, places = self.place(warps)
        return np.concatenate([super().past(warps), self.tensor[rows, places].max(axis=0)])

    def acquire(self, warps: np.ndarray, past: np.ndarray) -> None:
        super().acquire(warps, past[: self.warps])
        rows, places = self.place(warps)
        self.tensor[rows, places] = np.maximum(self.tensor[rows, places], past[self.warps :])

    def done(self, warps: np.ndarray, kind: str) -> None:
        """All that the warps have issued of a kind is done, and they know it."""
        rows, own = self.place(warps)
        self.tensor[rows, own, own] += 1
        column = KINDS.index(kind) * self.warps + own
        self.tensor[rows, own, column] = self.tensor[rows, own, own]


@dataclass(eq=False)
class TensorSite:
    """An instruction that uses tensor memory; ``kind`` says who completes it."""

    instruction: ptx.Instruction
    kind: str


class TensorMemoryCheck(Observer):
    """Watches the tensor memory of a launch, with the clocks of its race check."""

    def __init__(self, races: Races) -> None:
        self.races, self.findings = races, races.findings
        self._batches: dict[object, TensorUse] = {}

    def batch_starts(self, batch: Batch) -> None:
        self._batches[batch] = TensorUse(batch, self._clocks(batch), self.findings)

    def batch_ends(self, batch: Batch) -> None:
        del self._batches[batch]

    def _clocks(self, batch: Batch) -> TensorClocks:
        clocks = self.races.clocks(batch)
        if not isinstance(clocks, TensorClocks):
            raise TypeError("the race check keeps no clocks of tensor memory")
        return clocks

    def misuse_tolerated(self, finding: Finding) -> None:
        self.findings.add((TENSOR_MEMORY, finding.location), finding)

    # --- order ---

    def tensor_wait(self, group: Group, kind: str) -> None:
        self._clocks(group.batch).done(group.warps, kind)

    def tensor_fence(self, group: Group, before: bool) -> None:
        if before:
            self._clocks(group.batch).done(group.warps, "fenced")
        else:
            self._batches[group.batch].fence_after(group)

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        """Those who wait for a commit will know that what its thread has issued is done."""
        if transfer.queue == "tensor" and transfer.arrivals is not None:
            known = self.races.past(batch, transfer)
            self._batches[batch].committed(int(transfer.lanes[0]), known)

    # --- accesses ---

    def tensor_access(
        self,
        batch: Batch,
        instruction: ptx.Instruction,
        lane: int,
        kind: str,
        block: int,
        lanes: np.ndarray,
        columns: slice,
        writes: bool,
    ) -> None:
        self._batches[batch].access(lane, instruction, kind, block, lanes, columns, writes)

    def tensor_release(
        self, batch: Batch, instruction: ptx.Instruction, lane: int, block: int, columns: slice
    ) -> None:
        self._batches[batch].release(lane, instruction, block, columns)


class TensorUse:
    """Who used the tensor memory of a batch last. Cells are 16 lanes of one column."""

    def __init__(self, batch: Batch, clocks: TensorClocks, findings: FindingLog) -> None:
        self.batch, self.clocks, self.findings = batch, clocks, findings
        self.usable = np.zeros_like(self.clocks.tensor)
        self.write, self.read, self.read_before = np.zeros(
            (3, batch.block_count, 128 // HALF, 512), np.int64
        )
        self._sites: list[TensorSite] = []
        self._numbers: dict[tuple[int, str], int] = {}

    # --- order ---

    def fence_after(self, group: Group) -> None:
        """``tcgen05.fence::after_thread_sync``: the warps can use their knowledge from now on."""
        rows, own = self.clocks.place(group.warps)
        self.usable[rows, own] = self.clocks.tensor[rows, own]

    def committed(self, lane: int, known: np.ndarray) -> None:
        """What those who wait for a commit of ``lane`` will know, entered into ``known``. It
        fences before by itself."""
        warps = self.clocks.warps
        own = (lane >> 5) % warps
        for kind in ("tensor", "fenced"):
            known[warps * (1 + KINDS.index(kind)) + own] = known[warps + own]

    # --- accesses ---

    def _site(self, i: ptx.Instruction, kind: str) -> int:
        key = (id(i), kind)
        if key not in self._numbers:
            self._numbers[key] = len(self._sites)
            self._sites.append(TensorSite(i, kind))
        return self._numbers[key]

    def access(
        self,
        lane: int,
        i: ptx.Instruction,
        kind: str,
        block: int,
        lanes: np.ndarray,
        columns: slice,
        writes: bool,
    ) -> None:
        """``lanes`` × ``columns`` of a block are used by an instruction that ``lane`` has issued"""
        number = self._site(i, kind)
        where = (block, np.unique(lanes // HALF), columns)
        self._compare(lane, number, self.write, where, "write", writes)
        if writes:
            self._compare(lane, number, self.read, where, "read", writes)
            self._compare(lane, number, self.read_before, where, "read", writes)
        row, own = divmod(lane >> 5, self.clocks.warps)
        time = int(self.clocks.tensor[row, own, own])
        entry = (time << SITE_BITS | number) << LANE_BITS | lane
        if writes:
            self.write[where] = entry
            self.read[where] = self.read_before[where] = 0
            return
        before = self.read[where]
        other = before & ((1 << LANE_BITS) - 1) != lane
        self.read_before[where] = np.where(other, before, self.read_before[where])
        self.read[where] = entry

    def release(self, lane: int, i: ptx.Instruction, block: int, columns: slice) -> None:
        """Columns are freed: all that used them must be done."""
        number, where = self._site(i, "dealloc"), (block, np.arange(128 // HALF), columns)
        for table, earlier in (
            (self.write, "write"),
            (self.read, "read"),
            (self.read_before, "read"),
        ):
            self._compare(lane, number, table, where, earlier, True)
            table[where] = 0

    def _compare(
        self, lane: int, number: int, table: np.ndarray, where: Cells, earlier: str, writes: bool
    ) -> None:
        entries = table[where]
        site = self._sites[number]
        for entry in np.unique(entries[entries > 0]).tolist():
            rest, other_lane = divmod(entry, 1 << LANE_BITS)
            time, other_number = divmod(rest, 1 << SITE_BITS)
            other = self._sites[other_number]
            missing = self._missing(lane, site, other_lane, other, time)
            if missing:
                column = where[2].start + int(np.argwhere(entries == entry)[0][1])
                self._report(
                    lane, site, other_lane, other, where[0], column, earlier, writes, missing
                )

    def _missing(
        self, lane: int, site: TensorSite, other_lane: int, other: TensorSite, time: int
    ) -> tuple[Cause, str] | None:
        """What ought to lie between an earlier access and this one, and does not."""
        warps = self.clocks.warps
        row, own = divmod(lane >> 5, warps)
        theirs = (other_lane >> 5) % warps
        known, usable = self.clocks.tensor[row, own], self.usable[row, own]
        pipelined = site.kind == other.kind == "tensor"
        if pipelined and own == theirs:
            return None
        column = KINDS.index("issued" if pipelined else other.kind) * warps + theirs
        if known[column] <= time:
            if pipelined:
                return Cause.TENSOR_MEMORY_BARRIER_MISSING, "a barrier between the two threads"
            barrier = "" if own == theirs or other.kind == "tensor" else ", and then a barrier"
            return Cause.TENSOR_MEMORY_WAIT_MISSING, WAITS[other.kind] + barrier
        if site.kind == "dealloc" or own == theirs and other.kind != "tensor":
            return None
        fenced = known[KINDS.index("fenced") * warps + theirs]
        if (pipelined or other.kind != "tensor") and fenced <= time:
            text = f"tcgen05.fence::before_thread_sync between {_name(other)} and the barrier"
            return Cause.TENSOR_MEMORY_FENCE_MISSING, text
        if usable[column] <= time:
            text = f"tcgen05.fence::after_thread_sync between the wait and {_name(site)}"
            return Cause.TENSOR_MEMORY_FENCE_MISSING, text
        return None

    def _report(
        self,
        lane: int,
        site: TensorSite,
        other_lane: int,
        other: TensorSite,
        block: int,
        column: int,
        earlier: str,
        writes: bool,
        missing: tuple[Cause, str],
    ) -> None:
        cause, lacks = missing
        here, there = site.instruction.location, other.instruction.location
        thread, own = self.batch.thread_and_block(lane)
        other_thread, other_block = self.batch.thread_and_block(other_lane)
        verb = "frees it" if site.kind == "dealloc" else "writes it" if writes else "reads it"
        text = (
            f"Data race on column {column} of tensor memory, block "
            f"{self.batch.block_index(self.batch.first + block)}:\n"
            f"  thread {other_thread} of block {other_block} {earlier}s it at {there} "
            f"({_name(other)})\n"
            f"  thread {thread} of block {own} {verb} at {here} ({_name(site)})"
        )
        unfenced = cause == Cause.TENSOR_MEMORY_FENCE_MISSING
        finding = Finding(
            DATA_RACE,
            f"{text}\n  with no {lacks}.",
            here,
            thread,
            own,
            "tensor memory",
            column,
            other_location=there,
            other_thread=other_thread,
            level=WARNING if unfenced else ERROR,
            cause=cause,
            symptom=text,
        )
        note = NO_TENSOR_FENCE if unfenced else ""
        self.findings.add(("tensor", here, there, lacks), finding, note)


def _name(site: TensorSite) -> str:
    return f"tcgen05.{site.instruction.modifiers[0]}"
