"""Records the work beside the threads of one block: copies, phases of mbarriers, waits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..findings.options import TraceOptions
from ..findings.report import Counts
from ..isa import ptx
from ..isa.gpu_constants import WARP
from ..machine.async_state import KEY_SHIFT, MBarrier, Transfer
from ..machine.batch import Batch
from ..machine.code import Block, Decoded
from ..machine.lanes import Group
from ..machine.observer import Observer

Span = tuple[str, str, int, int]


class AsyncRecorder(Observer):
    """Fills ``spans``: (row, label, start, end), in instructions issued by the block's batch.

    A copy is in flight from its start until it lands, a phase of an mbarrier lasts until it is
    complete, and a warp waits from a try_wait until it passes. Blackwell's tensor cores are at work
    from the first of a thread's tcgen05 instructions until the next commit of the thread lands.
    An event without duration has no span.
    """

    def __init__(self, options: TraceOptions) -> None:
        self.block = options.block
        self.spans: list[Span] = []
        self._batch: Batch | None = None
        self._slot = -1
        self._copies: dict[int, int] = {}  # number of a copy -> when it started
        self._phases: dict[int, int] = {}  # mbarrier -> when its phase began
        self._waits: dict[int, int] = {}  # warp of the batch -> since when
        self._begun: dict[int, tuple[int, int]] = {}  # lane -> (when, how many) since its commit
        self._committed: dict[int, tuple[int, int]] = {}  # number of a commit -> the same

    def batch_starts(self, batch: Batch) -> None:
        for slot in range(batch.block_count):
            if batch.block_index(batch.first + slot) == self.block:
                self._batch, self._slot = batch, slot

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        waits_first = sorted(
            self.spans, key=lambda span: (not span[0].startswith("warp"), *span[::2])
        )
        recorded["spans"] = waits_first

    def _note(self, batch: Batch, row: str, label: str, start: int) -> None:
        if batch.scheduler.issued > start:
            self.spans.append((row, label, start, batch.scheduler.issued))

    @staticmethod
    def _name(batch: Batch, key: int) -> str:
        """``full[0]`` of "the mbarrier full[0] (byte 0)"."""
        return batch.engine.name(key).removeprefix("the mbarrier ").partition(" (")[0]

    # --- copies ---

    def _told(self, batch: Batch, transfer: Transfer) -> str | None:
        """The row of a copy of this block, or for it. None for others."""
        if batch is not self._batch or transfer.target is None:
            return None
        if transfer.complete is not None:
            key = transfer.complete[0]
            return f"copy for {self._name(batch, key)}" if key >> KEY_SHIFT == self._slot else None
        mine = int(transfer.lanes[0]) // batch.lanes_per_block == self._slot
        return f"copy by warp {self._warp(batch, transfer.lanes[0])}" if mine else None

    @staticmethod
    def _warp(batch: Batch, lane: int) -> int:
        return int(lane) % batch.lanes_per_block // WARP

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        if transfer.queue == "tensor":
            self._tensor_work_starts(batch, transfer)
        elif self._told(batch, transfer):
            self._copies[transfer.number] = batch.scheduler.issued

    def copy_lands(self, batch: Batch, transfer: Transfer) -> None:
        if transfer.number in self._committed:
            start, count = self._committed.pop(transfer.number)
            self._note(batch, "tensor cores", f"{count}", start)
        row = self._told(batch, transfer)
        if row and transfer.number in self._copies:
            size = transfer.bytes_per_lane * len(transfer.lanes)
            self._note(batch, row, f"{size:,} B", self._copies.pop(transfer.number))

    def _tensor_work_starts(self, batch: Batch, transfer: Transfer) -> None:
        lane = int(transfer.lanes[0])
        if batch is not self._batch or lane // batch.lanes_per_block != self._slot:
            return
        if transfer.arrivals is None:
            start, count = self._begun.get(lane, (batch.scheduler.issued, 0))
            self._begun[lane] = start, count + 1
        elif lane in self._begun:
            self._committed[transfer.number] = self._begun.pop(lane)

    # --- mbarriers ---

    def mbarrier_initialised(self, batch: Batch, barrier: MBarrier) -> None:
        if batch is self._batch and barrier.key >> KEY_SHIFT == self._slot:
            self._phases[barrier.key] = batch.scheduler.issued

    def mbarrier_completes(self, batch: Batch, barrier: MBarrier) -> None:
        if batch is self._batch and barrier.key in self._phases:
            label = f"phase {barrier.phase - 1}"
            self._note(batch, self._name(batch, barrier.key), label, self._phases[barrier.key])
            self._phases[barrier.key] = batch.scheduler.issued

    # --- waits ---

    def wants_instructions(self, group: Group, block: Block) -> bool:
        last = block.instructions[-1] if block.instructions else None
        return group.batch is self._batch and last is not None and last.opcode == "mbarrier"

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        if decoded.instruction.opcode == "mbarrier" and "try_wait" in decoded.instruction.modifiers:
            for lane in group.lanes[group.slots == self._slot].tolist():
                self._waits.setdefault(lane // WARP, group.batch.scheduler.issued)

    def mbarrier_passed(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        if batch is not self._batch:
            return
        for warp in sorted({lane // WARP for lane in lanes.tolist()} & self._waits.keys()):
            row = f"warp {self._warp(batch, warp * WARP)} waits"
            self._note(batch, row, self._name(batch, barrier.key), self._waits.pop(warp))
