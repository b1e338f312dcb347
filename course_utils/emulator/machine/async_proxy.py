"""What goes on beside the threads of a batch: copies in flight, and the mbarriers they report to.

A GPU completes an asynchronous copy some time after it was started, and a kernel that forgets to
wait often gets away with it. Here a copy lands as late as it can: when a thread waits for it, when
no thread can go on without it, or after a long delay. A seed other than 0 lets each copy land at a
random moment instead (``Options.seed``).
Source: PTX ISA, "Asynchronous Operations", "Asynchronous Data Movement", "mbarrier".
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.report import BARRIER, Finding, KernelFault
from ..findings.wording import where
from ..memory.address_space import Region
from .async_state import MBarrier, Transfer, Wait, address_of_key
from .group_waits import GroupWaits
from .observer import SILENT

if TYPE_CHECKING:
    from ..isa import ptx
    from .batch import Batch

LATE = 100_000  # instructions until a copy lands by itself
SOON = 400  # the longest random delay under a seed
POLL = 2_000  # what a test_wait that fails adds to the time that seems to pass
TIMEOUTS = 16  # how often every try_wait may give up before that is called a deadlock
QUEUES = ("async", "bulk", "tensor", "tensor store")
IN_ORDER = ("async", "tensor")  # queues whose work is done in the order in which it was started


@dataclass
class AsyncEngine:
    """The copies in flight and the mbarriers of one batch; times are in instructions issued."""

    batch: Batch
    in_flight: dict[int, Transfer] = field(default_factory=dict)  # by number
    due: list[tuple[int, int]] = field(default_factory=list)  # a heap of (due, number)
    skipped: int = 0  # instructions that seem to have passed during failed polls
    landed: list[Transfer] = field(default_factory=list)  # cp.async no thread knows the end of yet
    stored: list[Transfer] = field(default_factory=list)  # bulk copies to global memory, as well
    barriers: dict[int, MBarrier] = field(default_factory=dict)
    waits: list[Wait] = field(default_factory=list)
    timeouts: int = 0
    started: int = 0

    def __post_init__(self) -> None:
        batch = self.batch
        lanes = batch.block_count * batch.lanes_per_block
        self.committed = {queue: np.zeros(lanes, np.int64) for queue in QUEUES}
        self.waited = {queue: GroupWaits(lanes) for queue in ("async", "bulk")}
        self.seed = batch.launch.options.seed
        self._last_due = dict.fromkeys(IN_ORDER, 0)
        self.observers = batch.launch.observers

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng((self.seed, self.batch.first))

    # --- copies ---

    def start(self, transfer: Transfer) -> None:
        """A copy begins: give it a number and the moment at which it lands by itself."""
        delay = int(self._random.integers(1, SOON)) if self.seed else LATE
        transfer.due = self._now + delay
        queue = transfer.queue
        if queue in IN_ORDER:
            transfer.due = self._last_due[queue] = max(transfer.due, self._last_due[queue])
        if transfer.queue and transfer.numbers is None:
            transfer.numbers = self.committed[transfer.queue][transfer.lanes]
        self.started += 1
        transfer.number = self.started
        self.observers.copy_starts(self.batch, transfer)
        self.in_flight[transfer.number] = transfer
        heapq.heappush(self.due, (transfer.due, transfer.number))
        self._schedule_service()

    def commit(self, queue: str, lanes: np.ndarray) -> None:
        """What ``lanes`` have started in ``queue`` since their last commit is a group."""
        self.committed[queue][lanes] += 1

    def wait_group(
        self, queue: str, lanes: np.ndarray, left: int | None, instruction: ptx.Instruction
    ) -> None:
        """Land what the lanes wait for: all groups but the last ``left``; None: everything."""
        limit = np.zeros(len(self.committed[queue]), np.int64)
        limit[lanes] = self.committed[queue][lanes] + (1 if left is None else -left)
        for transfer in list(self.in_flight.values()):
            if transfer.queue == queue:
                ready = transfer.groups < limit[transfer.lanes]
                if ready.any():
                    self._land(transfer, ready)
        if queue in self.waited and self.observers is not SILENT:
            committed = self.committed[queue][lanes]
            self.waited[queue].add(lanes, instruction, left, committed, self.started)
        if queue == "async":
            self._observe(limit, instruction)
        if queue == "bulk" and "read" not in instruction.modifiers:
            self._make_visible(limit, instruction)

    def _make_visible(self, limit: np.ndarray, instruction: ptx.Instruction) -> None:
        """Threads get to know that their bulk copies of groups before ``limit`` are written."""
        for transfer in list(self.stored):
            if (transfer.groups < limit[transfer.lanes]).all():  # one lane each
                self.stored.remove(transfer)
                self.observers.copy_visible(self.batch, transfer, instruction)

    def _observe(self, limit: np.ndarray, instruction: ptx.Instruction) -> None:
        """Threads get to know, each of its own copies alone, that those of groups before ``limit``
        (by lane) have landed: by waiting for them, or when an mbarrier is told."""
        for transfer in list(self.landed):
            ready = transfer.groups < limit[transfer.lanes]
            if ready.any():
                self.landed.remove(transfer)
                if not ready.all():
                    self.landed.append(transfer.rows(~ready))
                    transfer = transfer.rows(ready)
                self.observers.copy_observed(self.batch, transfer, instruction)

    def _land(self, transfer: Transfer, ready: np.ndarray | None = None) -> None:
        if ready is None or ready.all():
            del self.in_flight[transfer.number]
        else:
            self.in_flight[transfer.number] = transfer.rows(~ready)
            transfer = transfer.rows(ready)
        transfer.move()
        watched = self.observers is not SILENT
        if watched and transfer.queue == "async" and transfer.target is not None:
            self.landed.append(transfer)
        if watched and transfer.stores:
            self.stored.append(transfer)
        self.observers.copy_lands(self.batch, transfer)
        if transfer.complete is not None:
            key, size = transfer.complete
            barrier = self.find(key, transfer.lanes[0], transfer.instruction)
            i, lanes = transfer.instruction, transfer.lanes
            self.observers.mbarrier_arrives(self.batch, barrier, lanes, i, transfer)
            self.complete_tx(key, size, transfer.lanes[0], transfer.instruction)
        if transfer.arrivals is not None:
            if transfer.queue == "async":
                limit = np.zeros(len(self.committed["async"]), np.int64)
                limit[transfer.lanes] = transfer.groups + 1
                self._observe(limit, transfer.instruction)
            self.arrive(transfer.arrivals, transfer.lanes, transfer.instruction, transfer=transfer)
        self._schedule_service()

    @property
    def _now(self) -> int:
        return self.batch.scheduler.issued + self.skipped

    def _next(self) -> Transfer | None:
        """The copy that is due first; of those due at once, the one started first."""
        while self.due:
            transfer = self.in_flight.get(self.due[0][1])
            if transfer is not None:
                return transfer
            heapq.heappop(self.due)  # it landed because a thread waited for it
        return None

    def _next_of_blocks(self) -> list[Transfer]:
        """The first copy in flight of each block. One that an mbarrier waits for and no thread
        comes last: threads that wait for another copy must not find it landed."""
        awaited = {key for wait in self.waits for key in wait.keys.tolist()}
        found: dict[int, Transfer] = {}
        later: dict[int, Transfer] = {}
        for transfer in self.in_flight.values():
            complete = transfer.complete
            table = later if complete is not None and complete[0] not in awaited else found
            table.setdefault(int(transfer.lanes[0]) // self.batch.lanes_per_block, transfer)
        return list({**later, **found}.values())

    def _schedule_service(self) -> None:
        budget, first = self.batch.scheduler.budget, self._next()
        self.batch.scheduler.service_at = (
            budget if first is None else min(budget, first.due - self.skipped)
        )

    def service(self) -> None:
        """Land what is due."""
        while (first := self._next()) is not None and first.due <= self._now:
            self._land(first)
        self._schedule_service()

    def skip_ahead(self) -> None:
        """A poll has failed: let time pass."""
        self.skipped += POLL
        self._schedule_service()

    def force_progress(self) -> bool:
        """Nobody can go on: land the next copy, without a seed of each block, so that blocks go on
        side by side; or let waits time out. False: a deadlock."""
        first = self._next()
        if first is not None:
            for transfer in [first] if self.seed else self._next_of_blocks():
                self._land(transfer)
            return True
        if not self.waits or self.timeouts >= TIMEOUTS:
            return False
        self.timeouts += 1
        waits, self.waits = self.waits, []
        for wait in waits:
            wait.put(wait.group.R, np.zeros(1, bool))
            self.batch.scheduler.add(wait.group)
        return True

    def finish(self) -> None:
        """The batch has ended: what was never waited for lands now."""
        for transfer in self.in_flight.values():
            transfer.move()
        self.in_flight.clear()
        self.due.clear()
        self.landed.clear()
        self.stored.clear()

    # --- mbarriers ---

    def initialise(
        self, keys: np.ndarray, counts: np.ndarray, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        """``mbarrier.init`` of the mbarriers ``keys`` for ``counts`` arrivals, int64 (n,). Raises
        KernelFault for one in use and for a count out of range."""
        for key, count, lane in zip(keys.tolist(), counts.tolist(), lanes.tolist(), strict=True):
            old = self.barriers.get(key)
            if old is not None:
                raise self._misuse(
                    instruction,
                    lane,
                    key,
                    Cause.MBARRIER_INITIALISED_TWICE,
                    f"initialises {{}} which is in use already, from {old.instruction.location}. "
                    "One thread must initialise it once, or mbarrier.inval must end its use.",
                )
            if not 1 <= count < 1 << 20:
                raise self._misuse(
                    instruction,
                    lane,
                    key,
                    Cause.MBARRIER_COUNT_INVALID,
                    f"initialises {{}} for {count} arrivals: 1 to {(1 << 20) - 1} are possible.",
                )
            barrier = self.barriers[key] = MBarrier(key, count, count, instruction, lane)
            self.observers.mbarrier_initialised(self.batch, barrier)

    def invalidate(self, keys: np.ndarray, lanes: np.ndarray, instruction: ptx.Instruction) -> None:
        """``mbarrier.inval``: end the use of the mbarriers ``keys``."""
        for key, lane in zip(keys.tolist(), lanes.tolist(), strict=True):
            self.find(key, lane, instruction)
            del self.barriers[key]

    def find(self, key: int, lane: int, instruction: ptx.Instruction) -> MBarrier:
        """The mbarrier ``key``. Raises KernelFault where none was initialised there."""
        barrier = self.barriers.get(int(key))
        if barrier is None:
            raise self._misuse(
                instruction,
                lane,
                key,
                Cause.MBARRIER_NOT_INITIALISED,
                "uses {}, which was never initialised: mbarrier.init must come first.",
            )
        return barrier

    def arrive(
        self,
        keys: np.ndarray,
        lanes: np.ndarray,
        instruction: ptx.Instruction,
        counts: np.ndarray | None = None,
        expect: np.ndarray | None = None,
        drop: bool = False,
        transfer: Transfer | None = None,
    ) -> np.ndarray:
        """One arrival for each lane; returns states: the phase << 32 | arrivals then missing.

        ``transfer``: the one whose end this is, if the lanes do not arrive themselves.
        """
        counts = np.ones(len(keys), np.int64) if counts is None else counts
        states = np.zeros(len(keys), np.uint64)
        for key in np.unique(keys).tolist():
            rows = np.flatnonzero(keys == key)
            barrier = self.find(key, lanes[rows[0]], instruction)
            self.observers.mbarrier_arrives(self.batch, barrier, lanes[rows], instruction, transfer)
            whole = int(counts[rows].sum()) <= barrier.pending
            for part in [rows] if whole else rows[:, None]:
                total = int(counts[part].sum())
                if total > barrier.pending:
                    so_far = f" So far: {self.so_far(barrier)}." if barrier.account else ""
                    expected, left = barrier.expected, barrier.pending
                    often = "once more" if total == 1 else f"{total} times"
                    has = f"this phase already has all its arrivals ({expected} of {expected})"
                    if left:
                        has = f"its phase waits for {left} more of {expected} arrivals"
                    raise self._misuse(
                        instruction,
                        lanes[part[0]],
                        key,
                        Cause.MBARRIER_TOO_MANY_ARRIVALS,
                        f"arrives at {{}} {often}, but {has}.{so_far}",
                    )
                before = barrier.pending - (np.cumsum(counts[part]) - counts[part])
                states[part] = (barrier.phase << 32) + before
                if expect is not None:
                    barrier.expect(int(expect[part].sum()), instruction)
                barrier.pending -= total
                barrier.expected -= total if drop else 0
                self._settle(barrier)
        return states

    def expect_tx(
        self, keys: np.ndarray, lanes: np.ndarray, sizes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        """Expect ``sizes`` bytes more, int64 (n,), in the phases of ``keys``."""
        for key, lane, size in zip(keys.tolist(), lanes.tolist(), sizes.tolist(), strict=True):
            self.find(key, lane, instruction).expect(size, instruction)

    def complete_tx(self, key: int, size: int, lane: int, instruction: ptx.Instruction) -> None:
        """``size`` bytes that an mbarrier expects have arrived."""
        barrier = self.find(key, lane, instruction)
        barrier.receive(size, instruction)
        self._settle(barrier)

    def _settle(self, barrier: MBarrier) -> None:
        if barrier.pending or barrier.tx:
            return
        barrier.phase += 1
        barrier.pending = barrier.expected
        barrier.account.clear()
        self.timeouts = 0
        self.observers.mbarrier_completes(self.batch, barrier)
        waits, self.waits = self.waits, []
        for wait in waits:
            if (wait.keys == barrier.key).any():
                self._resume(wait)
            else:
                self.waits.append(wait)

    def passed(
        self,
        keys: np.ndarray,
        phases: np.ndarray,
        parity: bool,
        lanes: np.ndarray,
        instruction: ptx.Instruction,
    ) -> np.ndarray:
        """For each lane: has the phase it names completed? ``phases``: numbers, or parities."""
        result = np.zeros(len(keys), bool)
        for key in np.unique(keys).tolist():
            rows = np.flatnonzero(keys == key)
            barrier = self.find(key, lanes[rows[0]], instruction)
            asked = phases[rows]
            result[rows] = barrier.phase & 1 != asked & 1 if parity else barrier.phase > asked
            through = rows[result[rows]]
            if len(through):
                self.observers.mbarrier_passed(self.batch, barrier, lanes[through], instruction)
        return result

    def park(self, wait: Wait) -> None:
        """Lanes of ``try_wait`` wait until the phases that they name have completed."""
        self.waits.append(wait)
        if self.observers is SILENT:
            return
        for key in np.unique(wait.keys).tolist():
            lanes = wait.group.lanes[wait.keys == key]
            self.observers.mbarrier_waits(self.batch, self.barriers[key], lanes, wait.instruction)

    def _resume(self, wait: Wait) -> None:
        group = wait.group
        ready = self.passed(wait.keys, wait.phases, wait.parity, group.lanes, wait.instruction)
        if ready.any():
            live = group.code.live[group.block]
            part = group if ready.all() else group.subset(np.flatnonzero(ready), live)
            wait.put(part.R, np.ones(1, bool))
            self.batch.scheduler.add(part)
        if not ready.all():
            if ready.any():
                wait.group = group.subset(np.flatnonzero(~ready), live)
                wait.keys, wait.phases = wait.keys[~ready], wait.phases[~ready]
            self.waits.append(wait)

    def variable_of(self, key: int) -> Region:
        """The shared variable that holds an mbarrier. Raises ValueError where there is none."""
        region = self.batch.memory.region_at(address_of_key(key))
        if region is None:
            raise ValueError(f"no shared variable at {address_of_key(key):#x}")
        return region

    def name(self, key: int) -> str:
        """An mbarrier in words: the variable it is, or its place in an array."""
        region = self.variable_of(key)
        place = address_of_key(key) - region.start
        if region.size == 8:
            return f"the mbarrier {region.name}"
        number = f"{region.name}[{place // 8}]" if region.size % 8 == 0 else region.name
        return f"the mbarrier {number} (byte {place})"

    def so_far(self, barrier: MBarrier) -> str:
        """Bytes of this phase in words: expected, arrived, and in flight."""
        coming = [
            f"{t.complete[1]} bytes in flight from {t.instruction.location}"
            for t in self.in_flight.values()
            if t.complete is not None and t.complete[0] == barrier.key
        ]
        return ", ".join([*filter(None, [barrier.bytes_so_far()]), *coming])

    def _misuse(
        self, instruction: ptx.Instruction, lane: int, key: int, cause: Cause, text: str
    ) -> KernelFault:
        thread, block = self.batch.thread_and_block(lane)
        text = text.format(self.name(int(key)))
        message = f"Barrier misuse: at {instruction.location} {where(thread, block)} {text}"
        return KernelFault(
            Finding(BARRIER, message, instruction.location, thread, block, cause=cause)
        )
