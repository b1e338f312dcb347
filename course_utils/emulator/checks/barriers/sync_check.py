"""Finds misuse of barriers that a run gets away with: wrong counts, wrong masks, work left behind.

Source: PTX ISA, "bar, barrier", "bar.warp.sync", "shfl.sync", "mbarrier"; CUDA C++ Programming
Guide, "Synchronization Functions", "Warp Shuffle Functions".
"""

from __future__ import annotations

import numpy as np

from ...findings.causes import Cause
from ...findings.origins import branches_before
from ...findings.report import BARRIER, ERROR, IN_FLIGHT, WARNING, Finding
from ...findings.wording import ENDS, one_condition, where
from ...isa import ptx
from ...isa.location import Location
from ...machine.async_state import KEY_SHIFT, MBarrier, Transfer
from ...machine.batch import Batch
from ...machine.code import Block
from ...machine.lanes import Group
from ...machine.launch_state import LaunchState
from ...machine.named_barriers import BarrierState
from ...machine.observer import Observer
from ..races.copy_reports import completion_target, copy_name
from ..races.severity import LEFT_BEHIND, TWO_LINES, whole_warps_left

EVERYONE = 0xFFFFFFFF


class Numbered(list[ptx.Instruction]):
    """Instructions, each with a number that fits into an array."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number(self, instruction: ptx.Instruction) -> int:
        """The index of an instruction, which is entered when it is new."""
        key = id(instruction)
        if key not in self._numbers:
            self._numbers[key] = len(self)
            self.append(instruction)
        return self._numbers[key]


class SyncCheck(Observer):
    """Watches the barriers of one launch."""

    def __init__(self, launch: LaunchState) -> None:
        self.findings = launch.findings
        self._instructions = Numbered()
        self._firsts: dict[
            tuple[Batch, int], np.ndarray
        ] = {}  # (batch, barrier) -> who came first, by block

    def batch_ends(self, batch: Batch) -> None:
        for key in [key for key in self._firsts if key[0] is batch]:
            del self._firsts[key]

    def _sites(self, batch: Batch, number: int) -> np.ndarray:
        """For each block the number of the instruction by which a thread first came, else -1."""
        return self._firsts.setdefault((batch, number), np.full(batch.block_count, -1))

    def _add(
        self,
        batch: Batch,
        lane: int,
        instruction: ptx.Instruction,
        cause: Cause,
        text: str,
        other: Location | None = None,
        note: str = "",
    ) -> None:
        """``note``: the last lines of what is only a warning."""
        thread, block = batch.thread_and_block(lane)
        location = instruction.location
        text = f"Barrier misuse: {where(thread, block)} {text}"
        finding = Finding(
            BARRIER,
            text,
            location,
            thread,
            block,
            other_location=other,
            level=WARNING if note else ERROR,
            cause=cause,
        )
        self.findings.add((cause, location, other), finding, note)

    # --- warps ---

    def warps_converge(self, group: Group, block: Block) -> None:
        """Does the member mask of a warp's instruction name each lane that executes it?"""
        mask = block.member_mask(group)
        if len(mask) == 1 and mask[0] == EVERYONE:
            return
        strangers = np.flatnonzero(~(group.full(mask) >> (group.lanes & 31)) & 1)
        if len(strangers):
            lane, i = int(group.lanes[strangers[0]]), block.instructions[0]
            shown = int(group.full(mask)[strangers[0]])
            self._add(
                group.batch,
                lane,
                i,
                Cause.LANE_NOT_IN_MASK,
                f"is lane {lane & 31} of its warp, which the mask {shown:#010x} at {i.location} "
                "doesn't name. Only the lanes of the mask may execute it, and all of them must.",
            )

    # --- the barriers of a block ---

    def barrier_arrives(
        self,
        group: Group,
        i: ptx.Instruction,
        number: int,
        threads: int | None,
        state: BarrierState,
    ) -> None:
        if "cluster" in i.modifiers:
            return
        self._some_have_left(group, i, threads)
        batch, slots = group.batch, group.blocks
        sites = self._sites(batch, number)
        lane = int(group.lanes[0])
        if number > 15:
            text = f"names barrier {number} at {i.location}. A block has 16: 0 to 15."
            self._add(batch, lane, i, Cause.BARRIER_NUMBER_INVALID, text)
        if threads and threads % 32:
            self._add(
                batch,
                lane,
                i,
                Cause.BARRIER_COUNT_INVALID,
                f"waits for {threads} threads at {i.location}. Whole warps arrive at a barrier: "
                "the count must be a multiple of 32.",
            )
        here = self._instructions.number(i)
        met = slots[(state.arrived[slots] > 0) & (sites[slots] >= 0)]
        if len(met):
            slot = int(met[0])
            lane = int(group.lanes[group.slots == slot][0])
            first = self._instructions[int(sites[slot])]
            asked = int(state.asked[slot])
            if (threads or 0) != asked:
                self._add(
                    batch,
                    lane,
                    i,
                    Cause.BARRIER_COUNTS_DIFFER,
                    f"arrives at barrier {number} at {i.location}, whose thread count is "
                    f"{threads or 'all'}. Others wait there for {asked or 'all'} threads, at "
                    f"{first.location}.",
                    first.location,
                )
            elif not threads and first.location != i.location:
                self._add(
                    batch,
                    lane,
                    i,
                    Cause.BARRIERS_DIFFER,
                    f"waits at {i.location} while others of its block wait at {first.location}: "
                    "these are two barriers. Every thread must reach the same "
                    f"{batch.launch.options.words.block_barrier}.",
                    first.location,
                    TWO_LINES,
                )
        new = slots[state.arrived[slots] == 0]
        sites[new] = here
        if threads:
            total = state.arrived + np.bincount(group.slots, minlength=batch.block_count)
            over = np.flatnonzero(total > threads)
            if len(over):
                lane = int(group.lanes[group.slots == over[0]][0])
                self._add(
                    batch,
                    lane,
                    i,
                    Cause.BARRIER_TOO_MANY_THREADS,
                    f"is one of {total[over[0]]} threads that arrive at barrier {number} at "
                    f"{i.location}, whose thread count is {threads}.",
                )

    def _some_have_left(
        self, group: Group, instruction: ptx.Instruction, threads: int | None
    ) -> None:
        """``__syncthreads()`` is for every thread of a block; some may have left already."""
        batch = group.batch
        if threads or instruction.opcode != "bar" or int(batch.live_threads.min()) == batch.threads:
            return
        slots = group.blocks
        short = slots[batch.live_threads[slots] < batch.threads]
        if not len(short):
            return
        slot = int(short[0])
        thread, _ = batch.thread_and_block(group.lanes[0])
        self._left_out(batch, slot, instruction, thread)

    def barrier_released_by_exit(
        self, batch: Batch, slots: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        """Some ended while others waited: the same mistake, seen from the other side.

        The PTX manual lets the barrier go ("exit"), but the guide of CUDA C++ asks that a condition
        around ``__syncthreads()`` is the same for all threads of the block.
        """
        if instruction.opcode != "bar":
            return
        self._left_out(batch, int(slots[0]), instruction)

    def _left_out(
        self,
        batch: Batch,
        slot: int,
        instruction: ptx.Instruction,
        waiting: tuple[int, int, int] | None = None,
    ) -> None:
        """Report that threads of a block have ended and can't reach a barrier. ``waiting``: a
        thread that waits there."""
        gone = batch.threads - int(batch.live_threads[slot])
        block = batch.block_index(batch.first + slot)
        text = (
            f"Barrier misuse: {gone} of the {batch.threads} threads of block {block} ended without "
            f"reaching the {batch.launch.options.words.block_barrier} at "
            f"{instruction.location}:\n"
            "  they returned before it, or they skipped the branch that it is in. Every thread "
            "must reach it."
        )
        conditions = branches_before(batch.launch.code, instruction, for_good=True)
        if conditions:
            text += ENDS.format(condition=one_condition(conditions))
        key, cause = ("exit", id(instruction)), Cause.THREADS_RETURNED
        whole = self._whole_warps(batch, slot)
        if self.findings.warns(key) and not whole:
            self.findings.is_error(key)
        level = WARNING if whole else ERROR
        finding = Finding(
            BARRIER,
            text,
            instruction.location,
            waiting,
            block,
            level=level,
            cause=cause,
            condition=next(iter(conditions), None),
        )
        self.findings.add(key, finding, whole_warps_left(batch.launch.options) if whole else "")

    def _whole_warps(self, batch: Batch, slot: int) -> bool:
        """Whether no warp of a block has lost some of its threads and not all."""
        warps = batch.lanes_per_block // 32
        live = batch.live_lanes[slot * warps : (slot + 1) * warps]
        full = np.minimum(32, batch.threads - 32 * np.arange(warps))
        return bool(((live == 0) | (live == full)).all())

    # --- what a block leaves behind ---

    def _unbalanced(self, batch: Batch, lane: int, key: int, barrier: MBarrier) -> None:
        how = "expected and never came" if barrier.tx > 0 else "copied and never expected"
        missing = f"{abs(barrier.tx)} bytes were {how}"
        i = barrier.instruction
        _, block = batch.thread_and_block(lane)
        text = (
            f"Barrier misuse: block {block} ended before {batch.engine.name(key)}, initialised at "
            f"{i.location}, had completed its phase: {missing} ({barrier.bytes_so_far()})."
        )
        short = barrier.tx > 0
        cause = Cause.EXPECTED_BYTES_NEVER_CAME if short else Cause.BYTES_NEVER_EXPECTED
        finding = Finding(BARRIER, text, i.location, None, block, cause=cause)
        self.findings.add(("bytes", i.location), finding)

    def blocks_end(self, batch: Batch, blocks: np.ndarray) -> None:
        """The last threads of some blocks have ended."""
        ended = np.zeros(batch.block_count, bool)
        ended[blocks] = True
        for number, state in batch.barriers.states():
            sites = self._sites(batch, number)
            for slot in np.flatnonzero(ended & (state.arrived > 0))[:1]:
                if sites[slot] < 0:
                    continue
                i = self._instructions[int(sites[slot])]
                warp = int(np.flatnonzero(state.joined[slot])[0])
                lane = int(slot) * batch.lanes_per_block + 32 * warp
                self._add(
                    batch,
                    lane,
                    i,
                    Cause.BARRIER_NOT_COMPLETED,
                    f"arrived at barrier {number} at {i.location}, but its block ended before "
                    f"{state.asked[slot] or 'all'} threads had: {state.arrived[slot]} arrived.",
                )
        coming = {t.complete[0] for t in batch.engine.in_flight.values() if t.complete is not None}
        for key, barrier in batch.engine.barriers.items():
            slot = key >> KEY_SHIFT
            if ended[slot] and barrier.tx and key not in coming:
                self._unbalanced(batch, slot * batch.lanes_per_block, key, barrier)
        for transfer in (*batch.engine.in_flight.values(), *batch.engine.landed):
            slot = int(transfer.lanes[0]) // batch.lanes_per_block
            if (
                transfer.instruction.opcode in ("st", "clusterlaunchcontrol")
                and transfer.complete is not None
            ):  # from no memory: the one it goes to waits
                slot = transfer.complete[0] >> KEY_SHIFT
            if ended[slot] and transfer.target is not None:
                self._left_in_flight(batch, transfer)

    def _left_in_flight(self, batch: Batch, transfer: Transfer) -> None:
        location = transfer.instruction.location
        thread, block = batch.thread_and_block(transfer.lanes[0])
        what = ""
        if transfer.queue != "async":
            what = f" ({copy_name(transfer)}{completion_target(batch, transfer)})"
        text = (
            f"Copy in flight: thread {thread} of block {block} started an asynchronous copy at "
            f"{location}{what}, and its block ended without waiting for it."
        )
        level = WARNING if transfer.queue == "async" else ERROR
        cause = Cause.COPY_IN_FLIGHT_AT_END
        finding = Finding(IN_FLIGHT, text, location, thread, block, level=level, cause=cause)
        self.findings.add(("left", id(transfer.instruction)), finding, LEFT_BEHIND)
