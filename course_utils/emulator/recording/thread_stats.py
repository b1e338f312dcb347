"""Counts the work of each thread of a launch: is it balanced, do copies overlap with it?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..findings.report import Counts
from ..isa import ptx
from ..isa.gpu_constants import WARP
from ..isa.instruction_set import flops_of
from ..machine.accesses import AddressPattern, Site
from ..machine.async_state import KEY_SHIFT, Transfer
from ..machine.batch import Batch
from ..machine.code import Block, Decoded
from ..machine.lanes import Group
from ..machine.launch_state import LaunchState
from ..machine.observer import Observer
from ..memory.address_space import Region
from ..numerics.rounding import round_up

PER_THREAD = (
    "instructions",
    "loaded",
    "stored",
    "atomics",
    "shared_atomics",
    "touched",
    "started",
)


class ThreadStats(Observer):
    """The work of every thread, (blocks × threads of a block,) each.

    ``instructions`` that it ran, bytes of global memory that it ``loaded`` and ``stored``, and
    bytes of global and shared memory together that it ``touched``, ``atomics`` that it did in
    global and ``shared_atomics`` in shared memory, asynchronous copies and tcgen05 instructions
    that it ``started``. ``loaded_from`` has the bytes that all of them loaded, by the name of the
    array. Of all ``flops``, ``overlapped`` were done by
    threads with a ``cp.async`` in flight whose end they did not know. ``awaited`` counts each as
    often as such copies were in flight. ``fed`` were done while bytes were on their way to an
    mbarrier of the block, and ``met`` are the bytes of global memory that threads loaded and stored
    meanwhile. ``most_products`` is how many tcgen05.mma were in flight at once.
    """

    instructions: np.ndarray
    loaded: np.ndarray
    stored: np.ndarray
    atomics: np.ndarray
    shared_atomics: np.ndarray
    touched: np.ndarray
    started: np.ndarray

    def __init__(self, launch: LaunchState) -> None:
        self._threads = math.prod(launch.block)
        self._row = round_up(self._threads, WARP)
        lanes = math.prod(launch.grid) * self._row
        for name in PER_THREAD:
            setattr(self, name, np.zeros(lanes, np.int64))
        self.loaded_from: dict[str, int] = {}
        self._in_flight = np.zeros(lanes, np.int64)
        self._coming = np.zeros(lanes, np.int64)  # to an mbarrier of the lane's block
        self._in_all = 0  # of these copies
        self._products = self.most_products = 0
        self._blocks: dict[int, tuple[int, bool]] = {}  # by id of the block of code
        self.flops = self.overlapped = self.awaited = self.fed = self.met = 0

    @staticmethod
    def _at(batch: Batch, lanes: np.ndarray) -> np.ndarray:
        return lanes + batch.first * batch.lanes_per_block

    def _places(self, group: Group) -> slice | np.ndarray:
        """Where the lanes of a group are among all of the launch."""
        run, first = group.lane_index, group.batch.first * group.batch.lanes_per_block
        if isinstance(run, slice):
            return slice(run.start + first, run.stop + first)
        return run + first if first else run

    def wants_instructions(self, group: Group, block: Block) -> bool:
        """Called before each block of code. Where copies begin or end in the middle of one, its
        arithmetic is counted instruction by instruction."""
        self.instructions[self._places(group)] += len(block.instructions)
        flops, copies = self._known(block)
        if not copies:
            self._count(group, flops)
        return copies

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        self._count(group, _flops(decoded.instruction))

    def _count(self, group: Group, flops: int) -> None:
        if flops:
            self.flops += flops * group.n
            in_flight = self._in_flight[self._places(group)]
            self.overlapped += flops * int(np.count_nonzero(in_flight))
            self.awaited += flops * int(in_flight.sum())
            self.fed += flops * self._fed_lanes(group)

    def _fed_lanes(self, group: Group) -> int:
        """How many lanes are in a block to which bytes are on their way."""
        if not self._in_all:
            return 0
        return int(np.count_nonzero(self._coming[self._places(group)]))

    def _known(self, block: Block) -> tuple[int, bool]:
        """The FLOPs of a thread in a block of code, and whether copies begin or end in it."""
        key = id(block)
        if key not in self._blocks:
            flops = sum(map(_flops, block.instructions))
            self._blocks[key] = flops, any(map(_is_copy, block.instructions))
        return self._blocks[key]

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        places = self._places(group)
        if region.space in ("global", "shared"):
            self.touched[places] += site.bytes
        if region.space == "shared" and site.is_atomic:
            self.shared_atomics[places] += 1
        if region.space != "global" or site.traits.memory == "copy":
            return
        self.met += site.bytes * self._fed_lanes(group)
        if site.is_atomic:
            self.atomics[places] += 1
        elif site.is_store:
            self.stored[places] += site.bytes
        else:
            self.loaded[places] += site.bytes
            before = self.loaded_from.get(region.name, 0)
            self.loaded_from[region.name] = before + site.bytes * group.n

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        if transfer.target is not None or transfer.queue == "tensor":
            self.started[self._at(batch, transfer.lanes)] += 1
        if transfer.queue == "async" and transfer.target is not None:
            self._in_flight[self._at(batch, transfer.lanes)] += 1
        self._comes(batch, transfer, 1)
        self._products += _is_product(transfer)
        self.most_products = max(self.most_products, self._products)

    def copy_lands(self, batch: Batch, transfer: Transfer) -> None:
        self._comes(batch, transfer, -1)
        self._products -= _is_product(transfer)

    def _comes(self, batch: Batch, transfer: Transfer, more: int) -> None:
        if transfer.complete is not None:
            lanes = batch.lanes_per_block
            first = (batch.first + (transfer.complete[0] >> KEY_SHIFT)) * lanes
            self._coming[first : first + lanes] += more
            self._in_all += more

    def copy_observed(self, batch: Batch, transfer: Transfer, instruction: ptx.Instruction) -> None:
        self._in_flight[self._at(batch, transfer.lanes)] -= 1

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        keep = np.arange(len(self.instructions)) % self._row < self._threads
        for name in PER_THREAD:
            setattr(self, name, getattr(self, name)[keep])
        recorded["threads"] = self


def _is_product(transfer: Transfer) -> bool:
    return transfer.queue == "tensor" and transfer.instruction.modifiers[:1] == ("mma",)


def _is_copy(instruction: ptx.Instruction) -> bool:
    return instruction.opcode == "cp"


def _flops(instruction: ptx.Instruction) -> int:
    work = flops_of(instruction)
    return work.flops // work.threads if work else 0
