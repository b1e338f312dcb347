"""The mbarriers of a recorded launch, and which of them have changed."""

from __future__ import annotations

from ..machine.async_state import KEY_SHIFT, MBarrier
from ..machine.batch import Batch
from .step_records import SteppedMBarrier

State = tuple[int, int, int]  # phase, arrivals missing, bytes missing


class SteppedBarriers:
    """``all``: the mbarriers in the order in which they were initialised."""

    def __init__(self) -> None:
        self.all: list[SteppedMBarrier] = []
        self._numbers: dict[tuple[int, int], int] = {}  # (block, offset) -> position in `all`
        self._objects: list[MBarrier] = []
        self._known: list[State | None] = []

    def add(self, batch: Batch, barrier: MBarrier) -> SteppedMBarrier:
        """The record of an mbarrier, made if there is none yet."""
        block = batch.first + (barrier.key >> KEY_SHIFT)
        key = block, barrier.key & (1 << KEY_SHIFT) - 1
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            name = batch.engine.name(barrier.key).removeprefix("the mbarrier ").partition(" (")[0]
            self.all.append(SteppedMBarrier(name, block, barrier.expected))
            self._objects.append(barrier)
            self._known.append(None)
        self._objects[self._numbers[key]] = barrier  # initialised again after an inval
        return self.all[self._numbers[key]]

    def changed(self) -> list[tuple[int, int, int, int]]:
        """Each mbarrier that is no longer as it was at the last call: its position in ``all``, its
        phase, and the arrivals and bytes that it misses."""
        found = []
        for number, barrier in enumerate(self._objects):
            state = barrier.phase, barrier.pending, barrier.tx
            if state != self._known[number]:
                self._known[number] = state
                found.append((number, *state))
        return found
