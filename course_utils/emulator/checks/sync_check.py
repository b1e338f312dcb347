"""Finds misuse of barriers that a run gets away with: wrong counts, wrong masks, work left behind.

Source: PTX ISA, "bar, barrier", "bar.warp.sync", "shfl.sync", "mbarrier"; CUDA C++ Programming
Guide, "Synchronization Functions", "Warp Shuffle Functions".
"""

from __future__ import annotations

import numpy as np

from ..machine.async_engine import KEY_SHIFT
from ..machine.faults import where
from ..machine.lanes import Group
from ..machine.report import BARRIER, Finding

EVERYONE = 0xFFFFFFFF


class Numbered(list):
    """Instructions, each with a number that fits into an array."""

    def __init__(self):
        self._numbers: dict[int, int] = {}

    def number(self, instruction) -> int:
        key = id(instruction)
        if key not in self._numbers:
            self._numbers[key] = len(self)
            self.append(instruction)
        return self._numbers[key]


class SyncCheck:
    """Watches the barriers of one launch; ``races`` keeps what is found."""

    def __init__(self, races):
        self.races = races
        self._instructions = Numbered()

    def _add(self, batch, lane: int, instruction, key: str, text: str, other=None) -> None:
        thread, block = batch.who(lane)
        location = instruction.location
        text = f"Barrier misuse: {where(thread, block)} {text}"
        finding = Finding(BARRIER, text, location, thread, block, other_location=other)
        self.races.add((key, location, other), finding)

    # --- warps ---

    def members(self, group: Group, block) -> None:
        """Does each lane that comes to an instruction of a whole warp stand in its member mask?"""
        mask = block.gather(group.R)
        if len(mask) == 1 and mask[0] == EVERYONE:
            return
        strangers = np.flatnonzero(~(group.full(mask) >> (group.lanes & 31)) & 1)
        if len(strangers):
            lane, i = int(group.lanes[strangers[0]]), block.instructions[0]
            shown = int(group.full(mask)[strangers[0]])
            self._add(
                group.batch, lane, i, "member",
                f"is lane {lane & 31} of its warp, which the mask {shown:#010x} at {i.location} "
                "does not name. The threads of the mask, and no others, must come there.",
            )  # fmt: skip

    # --- the barriers of a block ---

    def arrive(self, group: Group, i, number: int, threads: int | None, state) -> None:
        """Lanes are about to arrive at barrier ``number``, which waits for ``threads``."""
        if "cluster" in i.modifiers:
            return
        batch, slots = group.batch, group.blocks
        lane = int(group.lanes[0])
        if number > 15:
            text = f"names barrier {number} at {i.location}. A block has 16, from 0 on."
            self._add(batch, lane, i, "number", text)
        if threads and threads % 32:
            self._add(
                batch, lane, i, "count",
                f"waits for {threads} threads at {i.location}. Whole warps arrive at a barrier: "
                "the count must be a multiple of 32.",
            )  # fmt: skip
        here = self._instructions.number(i)
        met = slots[(state.arrived[slots] > 0) & (state.sites[slots] >= 0)]
        if len(met):
            slot = int(met[0])
            lane = int(group.lanes[group.slots == slot][0])
            first = self._instructions[int(state.sites[slot])]
            asked = int(state.asked[slot])
            if (threads or 0) != asked:
                self._add(
                    batch, lane, i, "counts",
                    f"comes to barrier {number} at {i.location}, where it waits for "
                    f"{threads or 'all'} threads; others wait there for {asked or 'all'}, at "
                    f"{first.location}.", first.location,
                )  # fmt: skip
            elif not threads and first.location != i.location:
                self._add(
                    batch, lane, i, "sites",
                    f"waits at {i.location} while others of its block wait at {first.location}: "
                    "these are two barriers. Every thread must reach the same __syncthreads().",
                    first.location,
                )  # fmt: skip
        new = slots[state.arrived[slots] == 0]
        state.sites[new] = here
        if threads:
            total = state.arrived + np.bincount(group.slots, minlength=batch.block_count)
            over = np.flatnonzero(total > threads)
            if len(over):
                lane = int(group.lanes[group.slots == over[0]][0])
                self._add(
                    batch, lane, i, "over",
                    f"is one of {total[over[0]]} that come to barrier {number} at {i.location}, "
                    f"which was to be for {threads}.",
                )  # fmt: skip

    # --- what a block leaves behind ---

    def _unbalanced(self, batch, lane: int, key: int, barrier) -> None:
        missing = f"{abs(barrier.tx)} bytes were {'announced' if barrier.tx > 0 else 'copied'}"
        missing += " that never came" if barrier.tx > 0 else " that nobody had announced"
        i = barrier.instruction
        _, block = batch.who(lane)
        text = (
            f"Barrier misuse: block {block} ended before {batch.engine.name(key)}, initialised at "
            f"{i.location}, had completed its phase: {missing}."
        )
        self.races.add(("bytes", i.location), Finding(BARRIER, text, i.location, None, block))

    def blocks_end(self, batch, blocks: np.ndarray) -> None:
        """The last threads of some blocks have ended."""
        ended = np.zeros(batch.block_count, bool)
        ended[blocks] = True
        for number, state in batch.barriers.states():
            for slot in np.flatnonzero(ended & (state.arrived > 0))[:1]:
                if state.sites[slot] < 0:
                    continue
                i = self._instructions[int(state.sites[slot])]
                warp = int(np.flatnonzero(state.joined[slot])[0])
                lane = int(slot) * batch.lanes_per_block + 32 * warp
                self._add(
                    batch, lane, i, "left",
                    f"arrived at barrier {number} at {i.location}, but its block ended before "
                    f"{state.asked[slot] or 'all'} threads had: {state.arrived[slot]} came.",
                )  # fmt: skip
        coming = {t.complete[0] for t in batch.engine.flying if t.complete is not None}
        for key, barrier in batch.engine.barriers.items():
            slot = key >> KEY_SHIFT
            if ended[slot] and barrier.tx and key not in coming:
                self._unbalanced(batch, slot * batch.lanes_per_block, key, barrier)
        for transfer in (*batch.engine.flying, *batch.engine.landed):
            slot = int(transfer.lanes[0]) // batch.lanes_per_block
            if ended[slot] and transfer.target is not None:
                self.races.left_in_flight(batch, transfer)
