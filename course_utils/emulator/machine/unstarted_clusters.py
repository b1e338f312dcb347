"""Cluster launch control: clusters of a launch that haven't started, and requests to cancel one.

A launch has its unstarted blocks in a row. Batches start at the front, or at the back where warps
are out of step. Requests cancel at the front. A cancelled cluster never starts.
Source: PTX ISA, "clusterlaunchcontrol.try_cancel", and the CUDA Programming Guide, "Cluster Launch
Control".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.report import LAUNCH_CONTROL, Finding, KernelFault
from ..findings.wording import where
from .async_state import Transfer

if TYPE_CHECKING:
    from ..isa.ptx import Instruction
    from .batch import Batch
    from .lanes import Group

# A GPU keeps the use of these 16 bytes to itself. Here they hold x, y and z of the first block of
# the cluster, and whether it was cancelled, unreadable without query_cancel.
SCRAMBLED = np.array([0x9E3779B9, 0x7F4A7C15, 0xF39CC060, 0x5CEDC834], np.uint32)
CANCELLED, REFUSED = 0x636C6301, 0x636C6300


@dataclass
class UnstartedBlocks:
    """The blocks ``first`` to ``end`` - 1 of a launch, which haven't started. ``cluster`` blocks
    start or are cancelled together. ``forward``: whether the first ones start first."""

    first: int
    end: int
    cluster: int
    forward: bool = True
    cancelled: int = 0

    def following(self, size: int) -> tuple[int, int] | None:
        """(first block, count) of the next batch, up to ``size`` blocks. None after the last."""
        if self.first >= self.end:
            return None
        if self.forward:
            return self.first, min(size, self.end - self.first)
        first = max(self.first, (self.end - 1) // size * size)
        return first, self.end - first

    def start(self, first: int, count: int) -> None:
        """The batch that :meth:`following` named starts."""
        if self.forward:
            self.first = first + count
        else:
            self.end = first

    def cancel(self) -> int | None:
        """Cancel the first cluster. Returns its first block, or None where all have started."""
        if self.first >= self.end:
            return None
        self.first += self.cluster
        self.cancelled += self.cluster
        return self.first - self.cluster


@dataclass(eq=False)
class CancelRequest:
    """A request, decided when the first of its answers is written."""

    batch: Batch
    answer: np.ndarray | None = None

    def decide(self) -> np.ndarray:
        """The four words of the answer."""
        if self.answer is None:
            block = self.batch.launch.unstarted.cancel()
            index = (0, 0, 0) if block is None else self.batch.block_index(block)
            words = *index, REFUSED if block is None else CANCELLED
            self.answer = np.array(words, np.uint32) ^ SCRAMBLED
        return self.answer


@dataclass(eq=False)
class CancelAnswer(Transfer):
    """The answer to a request, on its way to the shared memory of one block."""

    request: CancelRequest | None = None

    def move(self) -> None:
        if self.request is not None and self.source is not None:
            self.source[:] = self.request.decide()
        super().move()


class LaunchControl:
    """For each block of a batch, the query by which it learnt of a refusal."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.refusal_seen: list[Instruction | None] = [None] * batch.block_count

    def misuse(self, i: Instruction, lane: int, cause: Cause, text: str) -> KernelFault:
        """The fault of ``lane``. ``text`` goes on from "at file:line thread … of block …"."""
        thread, block = self.batch.thread_and_block(lane)
        message = f"Launch control misuse: at {i.location} {where(thread, block)} {text}"
        return KernelFault(Finding(LAUNCH_CONTROL, message, i.location, thread, block, cause=cause))

    def may_ask(self, i: Instruction, lane: int) -> None:
        """Raises KernelFault for a request of a block that has seen one refused."""
        seen = self.refusal_seen[lane // self.batch.lanes_per_block]
        if seen is not None:
            text = (
                "asks for another cluster after its block has seen a request refused, at "
                f"{seen.location}. The behaviour of a GPU is then undefined."
            )
            raise self.misuse(i, lane, Cause.CANCEL_AFTER_REFUSAL, text)

    def read(self, group: Group, i: Instruction, answers: np.ndarray) -> np.ndarray:
        """The words of each lane's answer, u32 (n, 4). Raises KernelFault for other bytes."""
        bytes_ = np.ascontiguousarray(group.full(answers))
        words = bytes_.view(np.uint32).reshape(group.n, 4) ^ SCRAMBLED
        bad = np.flatnonzero((words[:, 3] != CANCELLED) & (words[:, 3] != REFUSED))
        if len(bad):
            text = (
                "queries 16 bytes that aren't an answer of clusterlaunchcontrol.try_cancel. Wait "
                "for the request's mbarrier, and then load the bytes that it names."
            )
            raise self.misuse(i, int(group.lanes[bad[0]]), Cause.QUERY_OF_NO_ANSWER, text)
        return words


def control_of(group: Group) -> LaunchControl:
    """The launch control of a group's batch."""
    control = group.batch.launch_control
    if control is None:
        control = group.batch.launch_control = LaunchControl(group.batch)
    return control
