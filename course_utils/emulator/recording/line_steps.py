"""Records a small launch line by line: its threads, their accesses, the new values in memory.

A *step* is one source line as one group of lanes runs it. The lanes may be of several warps, which
then run it together. As long as the same lanes go on with later instructions of the same line it
stays one step. A helper from a header belongs to the line that calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..findings.report import Counts
from ..isa import ptx
from ..isa.location import Location
from ..machine.accesses import AddressPattern, Site
from ..machine.async_state import MBarrier, Transfer
from ..machine.batch import Batch
from ..machine.code import Block, Decoded
from ..machine.lanes import Group
from ..machine.named_barriers import BarrierState
from ..machine.observer import Observer
from ..memory.address_space import Region
from .step_records import READ, UPDATE, WRITE, Lanes, LineStep, Reach, SteppedArray
from .stepped_barriers import SteppedBarriers

Place = tuple[int, int]  # order of the code, place of the block


class StepRecorder(Observer):
    """Fills ``steps``, ``arrays`` and ``barriers``. ``complete`` is False when there were more
    steps than the limit."""

    def __init__(self, file: str, limit: int) -> None:
        self.file, self.limit = file, limit
        self.steps: list[LineStep] = []
        self.complete = True
        self.arrays: list[SteppedArray] = []
        self._barriers = SteppedBarriers()
        self.barriers = self._barriers.all
        self._numbers: dict[tuple[int, int], int] = {}  # (id of region, block) -> array
        self._regions: list[Region] = []  # kept alive, so that ids stay theirs
        self._at: Place = (-1, -1)
        self._places: dict[tuple[int, ...], tuple[Location | None, Place | None]] = {}
        self._runs = False  # an instruction, rather than copies alone
        self._started: dict[int, tuple[str, int]] = {}  # number of a copy -> its file and line
        self._last_lanes: np.ndarray | None = None  # of a group,
        self._last: Lanes = ()  # and the threads that they are
        self._seen: set[int] = set()  # instructions of the step
        self._stored: list[tuple[int, np.ndarray]] = []
        self._waiting: set[int] = set()

    # --- steps ---

    def wants_instructions(self, group: Group, block: Block) -> bool:
        return self.complete

    def _lanes(self, group: Group) -> Lanes:
        if self._last_lanes is not group.lanes:
            self._last_lanes, self._last = group.lanes, self._threads(group.batch, group.lanes)
        return self._last

    def _threads(self, batch: Batch, lanes: np.ndarray) -> Lanes:
        x, y, z = batch.launch.block
        threads = x * y * z
        slot, thread = np.divmod(lanes, batch.lanes_per_block)
        return tuple(((batch.first + slot) * threads + thread).tolist())

    def _place(self, group: Group, decoded: Decoded) -> tuple[Location | None, Place | None]:
        """The line that an instruction belongs to, and where in the code that line's calls are:
        None for an instruction of the line itself."""
        key = (id(decoded), *(n for f in group.stack for n in (id(f.code), f.block)))
        if key not in self._places:
            place, caller = decoded.instruction.place_in(self.file), None
            for frame in reversed(group.stack):
                if place is not None and place.file == self.file:
                    break
                number = frame.block - 1  # that the call ended
                call = frame.code.blocks[number].instructions[-1].place_in(self.file)
                if call is not None and call.file == self.file:
                    place, caller = call, (frame.code.order, frame.code.block_ranks[number])
            self._places[key] = place, caller
        return self._places[key]

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        self._look_at_barriers()
        self._runs = not decoded.ends
        place, caller = self._place(group, decoded)
        if place is None:
            return
        at = caller or (group.code.order, group.code.block_ranks[group.block])
        lanes = self._lanes(group)
        seen = id(decoded) in self._seen and caller is None
        step = LineStep(place.file, place.line, lanes)
        if not self._goes_on(place, lanes, at, seen) and not self._begin(step):
            return
        self._seen.add(id(decoded))
        self._at = at
        if decoded.ends and decoded.instruction.opcode in ("ret", "exit") and not group.stack:
            self.steps[-1].ended.append(lanes)

    def _begin(self, step: LineStep) -> bool:
        """Whether there is still room for another step."""
        if len(self.steps) == self.limit:
            self.complete = False
            return False
        self.steps.append(step)
        self._seen = set()
        return True

    def _goes_on(self, place: Location, lanes: Lanes, at: Place, seen: bool) -> bool:
        """Whether the instruction belongs to the last step: to the same line, for some of the same
        lanes, further on in the code. A step without an access also takes instructions
        before it, as a loop's line has them: the next value of its counter, and the condition."""
        if not self.steps:
            return False
        last = self.steps[-1]
        if (last.file, last.line) != (place.file, place.line) or not _among(lanes, last.lanes):
            return False
        return (self._at[0] == at[0] and self._at[1] <= at[1] and not seen) or last.idle

    def instruction_ends(self, group: Group, decoded: Decoded) -> None:
        self._runs = False
        if self._stored:
            self._look()

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        self._look_at_barriers()
        self._look()

    def _now(self) -> LineStep:
        if not self.steps:
            self.steps.append(LineStep(self.file, 0, ()))
        return self.steps[-1]

    # --- arrays ---

    def _array(self, region: Region, block: int, dtype: np.dtype) -> int:
        key = id(region), block
        if key not in self._numbers:
            start = block * region.stride if region.owner != "all" else 0
            raw = region.storage[start : start + region.size]
            kind = region.dtype if region.dtype is not None else dtype
            if kind.kind == "V":
                kind = dtype
            if region.dtype is None and kind.kind == "u":  # PTX has no other for int
                kind = np.dtype(f"i{kind.itemsize}")
            whole = raw[: len(raw) // kind.itemsize * kind.itemsize]
            values = whole.view(kind)
            written = np.full(len(values), region.space == "global")
            shadow = region.unwritten.shadow(region) if region.unwritten is not None else None
            if shadow is not None:
                unset = shadow.bytes[: len(values) * kind.itemsize].reshape(len(values), -1)
                written &= ~unset.any(1)
            first = [v if w else None for v, w in zip(values.tolist(), written, strict=True)]
            owner = block if region.owner != "all" else -1
            self._numbers[key] = len(self.arrays)
            self._regions.append(region)
            self.arrays.append(
                SteppedArray(
                    region.name, region.space, owner, kind, first, whole, whole.copy(), written
                )
            )
        return self._numbers[key]

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        if site.lands_later or region.space not in ("global", "shared"):
            return
        at = (first + group.full(index)) * site.width
        blocks = group.slots if region.owner == "block" else np.full(group.n, -1)
        if pattern.homes is not None and region.owner == "block":
            blocks = group.full(np.asarray(pattern.homes))
        threads = np.array(self._lanes(group))
        for block in np.unique(blocks):
            chosen = blocks == block
            number = self._array(region, max(int(block), 0), np.dtype(site.dtype))
            array = self.arrays[number]
            size = array.dtype.itemsize
            offset = int(block) * region.stride if region.owner == "block" else 0
            begin = (at[chosen] - offset) // size
            count = max(site.bytes // size, 1)
            elements = (begin[:, None] + np.arange(count)).ravel()
            kind = UPDATE if site.is_atomic else WRITE if site.is_store else READ
            lanes = tuple(np.repeat(threads[chosen], count).tolist())
            self._now().reaches.append(Reach(number, kind, lanes, tuple(elements.tolist())))
            if kind != READ:
                self._stored.append((number, elements))

    def _look(self) -> None:
        """Note all changes since the last look."""
        step = self._now()
        changed: dict[int, set[int]] = {}
        for number, elements in self._stored:
            changed.setdefault(number, set()).update(elements.tolist())
        self._stored.clear()
        for number, array in enumerate(self.arrays):
            different = array.bytes != array.known
            if different.any():
                bytes_there = np.flatnonzero(different)
                changed.setdefault(number, set()).update(
                    (bytes_there // array.dtype.itemsize).tolist()
                )
                array.known[:] = array.bytes
        for number, places in changed.items():
            array = self.arrays[number]
            values = array.bytes.view(array.dtype)
            inside = sorted(e for e in places if 0 <= e < len(values))
            array.written[inside] = True
            step.changes += [(number, e, values[e].item()) for e in inside]

    # --- waiting ---

    def barrier_arrives(
        self,
        group: Group,
        instruction: ptx.Instruction,
        number: int,
        threads: int | None,
        state: BarrierState,
    ) -> None:
        self._wait(self._lanes(group), "barrier" if number == 0 else f"barrier {number}")

    def _wait(self, lanes: Lanes, what: str) -> None:
        self._now().waits.append((what, lanes))
        self._waiting.update(lanes)

    def _go_on(self, batch: Batch, lanes: np.ndarray) -> None:
        gone = tuple(t for t in self._threads(batch, lanes) if t in self._waiting)
        if gone:
            self._waiting.difference_update(gone)
            self._now().goes.append(gone)

    def _warps_go_on(self, batch: Batch, warps: np.ndarray) -> None:
        lanes = (np.flatnonzero(warps.ravel())[:, None] * 32 + np.arange(32)).ravel()
        inside = lanes % batch.lanes_per_block < np.prod(batch.launch.block)
        self._go_on(batch, lanes[inside])

    def barrier_completes(
        self, batch: Batch, joined: np.ndarray, number: int, arrived: np.ndarray
    ) -> None:
        self._warps_go_on(batch, joined)

    def cluster_arrives(self, group: Group, instruction: ptx.Instruction) -> None:
        self._wait(self._lanes(group), "cluster")

    def cluster_barrier_completes(self, batch: Batch, joined: np.ndarray) -> None:
        self._warps_go_on(batch, joined)

    # --- mbarriers ---

    def mbarrier_initialised(self, batch: Batch, barrier: MBarrier) -> None:
        self._barriers.add(batch, barrier)

    def mbarrier_waits(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        name = self._barriers.add(batch, barrier).name
        self._wait(self._threads(batch, lanes), f"mbarrier {name}")

    def mbarrier_passed(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        self._go_on(batch, lanes)

    def _look_at_barriers(self) -> None:
        """Note the mbarriers that have changed since the last look."""
        if self.barriers and self.steps:
            self.steps[-1].phases += self._barriers.changed()

    # --- asynchronous copies ---

    def _target(self, batch: Batch, transfer: Transfer) -> list[tuple[int, tuple[int, ...]]]:
        filled = transfer.filled
        if filled is None:
            return []
        region, elements, index = filled
        if region.space not in ("global", "shared"):
            return []
        at = np.unique(index) * elements.itemsize
        source = transfer.regions[1]
        known = source.dtype if source is not None and source.dtype is not None else None
        dtype = elements.dtype if known is None or known.kind == "V" else known
        blocks = at // region.stride if region.owner == "block" else np.full(len(at), -1)
        found = []
        for block in np.unique(blocks):
            number = self._array(region, max(int(block), 0), dtype)
            array = self.arrays[number]
            offset = int(block) * region.stride if region.owner == "block" else 0
            size = array.dtype.itemsize
            count = max(elements.itemsize // size, 1)
            begin = (at[blocks == block] - offset) // size
            found.append((number, tuple((begin[:, None] + np.arange(count)).ravel().tolist())))
        return found

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        step = self._now()
        self._started[transfer.number] = step.file, step.line
        step.starts += self._target(batch, transfer)

    def copy_lands(self, batch: Batch, transfer: Transfer) -> None:
        lands = self._target(batch, transfer)
        if not lands:
            return
        self._look_at_barriers()
        if not self._runs and self.complete:
            file, line = self._started.get(transfer.number, (self.file, 0))
            if not self._begin(LineStep(file, line, ())):
                return
        self._now().lands += lands
        self._stored += [(number, np.array(elements)) for number, elements in lands]
        if not self._runs:
            self._look()


def _among(some: Lanes, lanes: Lanes) -> bool:
    return some is lanes or some == lanes or set(some) <= set(lanes)
