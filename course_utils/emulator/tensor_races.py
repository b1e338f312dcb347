"""Finds tensor memory that is used while an instruction in flight still needs it.

tcgen05 instructions go on while their thread does other things. Three things put an access behind
an earlier one, and each can be missing: somebody must have *waited* for the earlier one (for mma,
cp and shift a commit to an mbarrier, for ld and st tcgen05.wait::ld and ::st); what was waited for
must have come from thread to thread by a barrier, fenced *before* it on one side, and fenced
*after* it on the other. Only mma, cp and shift follow each other without any waiting.

So the vector clocks of the race check are made wider. Beside what a warp knows of every other
warp's past (``base``), it knows how far that warp's mma, cp and shift have been completed
(``tensor``), its ld, its st, and how far it has fenced them. Barriers and mbarriers pass all of
that on. ``usable`` is what a warp knew when it last fenced *after* a barrier.
Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations":
"Pipelined tcgen05 Instructions", "Canonical synchronization patterns".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .lanes import Group
from .report import DATA_RACE, Finding
from .sanitizer import _NOBODY, _pack, _unpack

HALF = 16  # lanes to a cell: some instructions use only one half of a warp's 32 lanes
KINDS = ("base", "tensor", "ld", "st", "fenced")
WAITS = {
    "tensor": "tcgen05.commit to an mbarrier, and a wait for that mbarrier",
    "ld": "tcgen05.wait::ld",
    "st": "tcgen05.wait::st",
}


@dataclass(eq=False)
class TensorSite:
    """An instruction that uses tensor memory; ``kind`` says who completes it."""

    instruction: object
    kind: str


class TensorRaces:
    """Watches the tensor memory of a batch. Cells are 16 lanes of one column."""

    def __init__(self, batch):
        self.batch, self.races = batch, batch.launch.races
        rows, warps, _ = batch.clocks.shape
        self.warps = warps
        batch.clocks = np.concatenate(
            [batch.clocks, np.zeros((rows, warps, 4 * warps), np.int64)], axis=2
        )
        self.usable = np.zeros_like(batch.clocks)
        shape = (batch.block_count, 128 // HALF, 512)
        self.write, self.read, self.read_before = (
            np.full(shape, _NOBODY, np.int64) for _ in range(3)
        )
        self._sites: dict[tuple, TensorSite] = {}

    # --- order ---

    def _where(self, warps: np.ndarray):
        """(cluster, warp within it) of warps of the batch."""
        return np.divmod(warps, self.warps)

    def _tick(self, warps: np.ndarray, kind: str) -> None:
        rows, own = self._where(warps)
        clocks = self.batch.clocks
        clocks[rows, own, own] += 1
        clocks[rows, own, KINDS.index(kind) * self.warps + own] = clocks[rows, own, own]

    def waited(self, group: Group, kind: str) -> None:
        """tcgen05.wait::ld or ::st."""
        self._tick(group.warps, kind)

    def fence_before(self, group: Group) -> None:
        self._tick(group.warps, "fenced")

    def fence_after(self, group: Group) -> None:
        rows, own = self._where(group.warps)
        self.usable[rows, own] = self.batch.clocks[rows, own]

    def committed(self, lane: int, known: np.ndarray) -> None:
        """What those who wait for a commit of ``lane`` will know, entered into ``known``. It
        fences before by itself."""
        _, own = self._where(lane >> 5)
        for kind in ("tensor", "fenced"):
            known[KINDS.index(kind) * self.warps + own] = known[own]

    # --- accesses ---

    def _site(self, i, kind: str) -> TensorSite:
        return self._sites.setdefault((id(i), kind), TensorSite(i, kind))

    def access(
        self, lane: int, i, kind: str, block: int, lanes: np.ndarray, columns: slice, writes: bool
    ) -> None:
        """``lanes`` × ``columns`` of a block are used by an instruction that ``lane`` has issued"""
        site = self._site(i, kind)
        where = (block, np.unique(lanes // HALF), columns)
        self._compare(lane, site, self.write, where, "write", writes)
        if writes:
            self._compare(lane, site, self.read, where, "read", writes)
            self._compare(lane, site, self.read_before, where, "read", writes)
        row, own = self._where(lane >> 5)
        entry = _pack(lane, int(self.batch.clocks[row, own, own]), self.races.number(site), 0)
        if writes:
            self.write[where] = entry
            self.read[where] = self.read_before[where] = _NOBODY
            return
        before = self.read[where]
        other = before & ((1 << 20) - 1) != lane
        self.read_before[where] = np.where(other, before, self.read_before[where])
        self.read[where] = entry

    def release(self, lane: int, i, block: int, columns: slice) -> None:
        """Columns are given back: all that used them must be done."""
        site, where = self._site(i, "dealloc"), (block, np.arange(128 // HALF), columns)
        for table, earlier in ((self.write, "write"), (self.read, "read"),
                               (self.read_before, "read")):  # fmt: skip
            self._compare(lane, site, table, where, earlier, True)
            table[where] = _NOBODY

    def _compare(self, lane: int, site, table, where, earlier: str, writes: bool) -> None:
        entries = table[where]
        for entry in np.unique(entries).tolist():
            if entry == _NOBODY:
                continue
            other_lane, clock, number, _ = _unpack(entry)
            other = self.races.sites[number]
            missing = self._missing(lane, site, other_lane, other, clock)
            if missing:
                column = where[2].start + int(np.argwhere(entries == entry)[0][1])
                self._report(lane, site, other_lane, other, where[0], column, earlier, writes,
                             missing)  # fmt: skip

    def _missing(self, lane: int, site, other_lane: int, other, clock: int) -> str:
        """What ought to lie between an earlier access and this one, and does not; else ""."""
        row, own = self._where(lane >> 5)
        _, theirs = self._where(other_lane >> 5)
        known, usable = self.batch.clocks[row, own], self.usable[row, own]
        pipelined = site.kind == other.kind == "tensor"
        if pipelined and own == theirs:
            return ""
        column = (0 if pipelined else KINDS.index(other.kind)) * self.warps + theirs
        if known[column] <= clock:
            if pipelined:
                return "a barrier between the two threads"
            barrier = "" if own == theirs or other.kind == "tensor" else ", and then a barrier"
            return WAITS[other.kind] + barrier
        if site.kind == "dealloc" or own == theirs and other.kind != "tensor":
            return ""
        if (pipelined or other.kind != "tensor") and known[4 * self.warps + theirs] <= clock:
            return f"tcgen05.fence::before_thread_sync between {_name(other)} and the barrier"
        if usable[column] <= clock:
            return f"tcgen05.fence::after_thread_sync between the wait and {_name(site)}"
        return ""

    def _report(
        self, lane, site, other_lane, other, block, column, earlier, writes, missing
    ) -> None:
        here, there = site.instruction.location, other.instruction.location
        thread, own = self.batch.who(lane)
        other_thread, other_block = self.batch.who(other_lane)
        verb = "gives it back" if site.kind == "dealloc" else "writes it" if writes else "reads it"
        text = (
            f"Data race on column {column} of tensor memory, block "
            f"{self.batch.block_index(self.batch.first + block)}:\n"
            f"  thread {other_thread} of block {other_block} {earlier}s it at {there} "
            f"({_name(other)})\n"
            f"  thread {thread} of block {own} {verb} at {here} ({_name(site)})\n"
            f"  with no {missing}."
        )
        finding = Finding(
            DATA_RACE, text, here, thread, own, "tensor memory", column, 0, there, other_thread
        )
        self.races.add(("tensor", here, there, missing), finding)


def _name(site: TensorSite) -> str:
    return f"tcgen05.{site.instruction.modifiers[0]}"
