"""Counts the work of a launch: requests, sectors, wavefronts, arithmetic and branches.

Rules. A 128-byte line of global memory is four sectors of 32 bytes, and a request of one warp costs
as many sectors as it touches. Local memory is laid out so that the same word of all 32 lanes of a
warp makes one line. Shared memory has 32 banks of 4 bytes. Lanes that want *different* words of one
bank are served one after another, each pass being a wavefront. A warp's 8-byte accesses are served
in two halves, 16-byte accesses in four quarters, and loads whose lanes agree in pairs in half as
many.
Source: Nsight Compute, "Metrics Reference", and CUDA C++ Programming Guide, "Shared Memory".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..findings.report import Counts
from ..isa.gpu_constants import BANK_BYTES, BANKS, SECTOR, WARP
from ..isa.instruction_set import flops_of, traits_of
from ..isa.ptx import Instruction
from ..machine.accesses import AddressPattern, Site
from ..machine.code import Code
from ..machine.lanes import Group
from ..machine.launch_state import LaunchState
from ..machine.observer import Observer
from ..memory.address_space import Region
from .trace_recorder import WarpAccess, reach


def _distinct(keys: np.ndarray) -> np.ndarray:
    keys = np.sort(keys)
    keep = np.ones(len(keys), bool)
    keep[1:] = keys[1:] != keys[:-1]
    return keys[keep]


def sectors(warps: np.ndarray, addresses: np.ndarray, size: int) -> int:
    """Distinct (warp, sector) pairs of aligned accesses of ``size`` bytes at byte ``addresses``."""
    first = addresses // SECTOR
    keys = warps << 40 | first
    if size > SECTOR:
        keys = np.concatenate([keys + n for n in range(size // SECTOR)])
    return len(_distinct(keys))


def local_sectors(warps: np.ndarray, lanes: np.ndarray, offsets: np.ndarray, size: int) -> int:
    """The same for local memory. ``offsets`` are bytes within each lane's own memory."""
    first = offsets // BANK_BYTES * WARP + (lanes & 31)  # as a word of the warp's local memory
    words = [first + n * WARP for n in range(max(1, size // BANK_BYTES))]
    return sectors(np.tile(warps, len(words)), np.concatenate(words) * BANK_BYTES, BANK_BYTES)


def wavefronts(
    warps: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, size: int, paired: bool = False
) -> tuple[int, int]:
    """Wavefronts, and those needed if no bank were asked twice, of accesses at byte ``addresses``.

    The difference is the number of bank conflicts. ``paired``: an ordinary load, whose parts may be
    served together (:func:`_pairs`).
    """
    words = max(1, size // BANK_BYTES)
    part = (lanes & 31) * min(words, 4) // WARP
    if paired and words > 1:
        part >>= _pairs(warps, lanes, addresses)
    turn = warps * 4 + part
    first = addresses // BANK_BYTES
    keys = turn << 24 | first
    keys = _distinct(np.concatenate([keys + n for n in range(words)]))
    cells = np.sort((keys >> 24) * BANKS + keys % BANKS)
    starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    counts = np.diff(np.append(starts, len(cells)))  # different words in one bank
    turns = cells[starts] // BANKS
    begins = np.flatnonzero(np.append(True, turns[1:] != turns[:-1]))
    return int(np.maximum.reduceat(counts, begins).sum()), len(begins)


def atomic_sectors(warps: np.ndarray, addresses: np.ndarray, size: int) -> int:
    """Sectors of atomic operations on global memory. Lanes that share an address are served one
    after another: in as many passes as its lanes, each touching its sectors again.

    Source: measured on an H200, tests/emulator/access_patterns.py. A few scattered patterns took
    one sector more.
    """
    order = np.lexsort((addresses, warps))
    warps, addresses = warps[order], addresses[order]
    first = np.append(True, (np.diff(warps) != 0) | (np.diff(addresses) != 0))
    position = np.arange(len(warps))
    turn = position - np.maximum.accumulate(np.where(first, position, 0))
    return sectors(warps * WARP + turn, addresses, size)


def atomic_wavefronts(warps: np.ndarray, addresses: np.ndarray) -> int:
    """Wavefronts of atomic operations on shared memory: lanes that meet in a bank take turns, even
    at one word. Source: measured as above, with integers of 4 bytes."""
    cells, counts = np.unique(warps * BANKS + addresses // BANK_BYTES % BANKS, return_counts=True)
    begins = np.flatnonzero(np.append(True, np.diff(cells // BANKS) != 0))
    return int(np.maximum.reduceat(counts, begins).sum())


def _pairs(warps: np.ndarray, lanes: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """For each access 1 where its warp's load is served in half as many parts, 0 elsewhere.

    That is so when every active lane n wants the same as lane n ^ 1, or every one the same as lane
    n ^ 2. An idle partner does not matter. Source: measured on an H200, tests/emulator/
    access_patterns.py. No manual says it.
    """
    present, row = np.unique(warps, return_inverse=True)
    table = np.full((len(present), WARP), -1, np.int64)
    table[row, lanes & 31] = addresses
    paired = np.zeros(len(present), bool)
    for bit in (1, 2):
        other = table[:, np.arange(WARP) ^ bit]
        paired |= ((table == other) | (table < 0) | (other < 0)).all(axis=1)
    return paired[row].astype(np.int64)


@dataclass
class Traffic:
    """The requests of one instruction to one memory. ``cost`` is in sectors, or in wavefronts of
    shared memory, ``conflicts`` of which are due to banks asked for several words. ``kind`` is
    "load", "store", "atomic" or, for the shared end of ``cp.async``, "copy". ``bytes`` are the
    bytes that lanes asked for."""

    space: str
    kind: str
    type: str
    requests: int = 0
    cost: int = 0
    bytes: int = 0
    conflicts: int = 0


@dataclass
class InstructionCounts:
    """The work of one instruction of a kernel, over a whole launch.

    ``threads`` and ``warps`` ran it, and ``active`` of the threads had a true guard. ``flops`` in
    all, on numbers of ``flops_type``. ``divergent`` of the warps went several ways at it.
    ``traffic``: for each memory that it reached.
    """

    instruction: Instruction
    threads: int = 0
    warps: int = 0
    active: int = 0
    flops: int = 0
    flops_type: str = ""
    divergent: int = 0
    traffic: tuple[Traffic, ...] = ()

    @property
    def branches(self) -> int:
        """Times that a warp came to a place where it may diverge."""
        branch = traits_of(self.instruction).branch
        unguarded = branch == "guarded" and self.instruction.guard is None
        return self.warps if branch and not unguarded else 0

    @property
    def barriers(self) -> int:
        """Times that a warp came to a barrier of its block."""
        return self.warps if traits_of(self.instruction).barrier == "block" else 0


class CounterRecorder(Observer):
    """Adds up, instruction by instruction, the requests to memory and the divergence of warps.

    ``first_accesses`` keeps the request of each warp of the first block when it first comes to an
    instruction: (instruction, warp) -> its :class:`~.trace_recorder.WarpAccess`.
    """

    def __init__(self, launch: LaunchState) -> None:
        self._launch = launch
        self._traffic: dict[tuple[int, str], Traffic] = {}  # by id of the instruction, and memory
        self._divergent: dict[int, int] = {}
        self._guarded: dict[int, int] = {}
        self._computed: dict[int, tuple[str, int]] = {}
        self.first_accesses: dict[tuple[int, int], WarpAccess] = {}

    # --- while the launch runs ---

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        apart = site.space in ("texture", "surface")  # neither goes by global memory's counters
        traffic = self._traffic_of(site, site.space if apart else region.space)
        cost, conflicts = self._cost(site, group, region, pattern)
        traffic.requests += len(group.warps)
        traffic.cost += cost
        traffic.conflicts += conflicts
        traffic.bytes += group.n * site.bytes
        batch = group.batch
        if batch.first == 0 and group.lanes[0] < batch.lanes_per_block:
            self._keep(site, group, region, pattern)

    def _traffic_of(self, site: Site, space: str) -> Traffic:
        instruction = site.instruction
        found = self._traffic.get((id(instruction), space))
        if found is None:
            kind = "atomic" if site.is_atomic else "store" if site.is_store else "load"
            if site.traits.memory == "copy" and space == "shared":
                kind = "copy"
            found = self._traffic[id(instruction), space] = Traffic(space, kind, site.kind)
        return found

    def _keep(self, site: Site, group: Group, region: Region, pattern: AddressPattern) -> None:
        per_block = group.batch.lanes_per_block // WARP
        for warp in group.warps[group.warps < per_block].tolist():
            key = (id(site.instruction), warp)
            if key not in self.first_accesses:
                low, high = np.searchsorted(group.lanes, (warp * WARP, warp * WARP + WARP))
                self.first_accesses[key] = reach(site, group, low, high, region, pattern)

    def bytes_copied(self, instruction: Instruction, spaces: tuple[str, str], size: int) -> None:
        """A bulk copy makes no request of a warp."""
        for space, kind in zip(spaces, ("load", "store"), strict=True):
            key = id(instruction), f"{space} {kind}"
            traffic = self._traffic.setdefault(key, Traffic(f"{space} (bulk)", kind, "bytes"))
            traffic.bytes += size

    def lanes_diverge(self, group: Group, ways: np.ndarray) -> None:
        """Count the warps that diverge at the end of a block. ``ways``: int64 (n,), where each lane
        goes."""
        instruction = group.code.blocks[group.block].instructions[-1]
        pairs = _distinct(group.lanes >> 5 << 32 | ways)
        _, number = np.unique(pairs >> 32, return_counts=True)
        diverged = int(np.count_nonzero(number > 1))
        self._divergent[id(instruction)] = self._divergent.get(id(instruction), 0) + diverged

    def instruction_masked(self, instruction: Instruction, lanes: int) -> None:
        self._guarded[id(instruction)] = self._guarded.get(id(instruction), 0) + lanes

    def work_done(self, instruction: Instruction, kind: str, flops: int) -> None:
        _, before = self._computed.get(id(instruction), ("", 0))
        self._computed[id(instruction)] = f"{kind} (tensor cores)", before + flops

    def _cost(
        self, site: Site, group: Group, region: Region, pattern: AddressPattern
    ) -> tuple[int, int]:
        """Sectors or wavefronts, and conflicts. Moving all addresses by the same multiple of a
        sector (of a word of shared memory) changes nothing, so the counts are kept with them."""
        space, memory = region.space, site.traits.memory
        low, paired = pattern.low + site.offset, memory == "load"
        key = (space, memory, site.bytes, low % (4 if space == "shared" else SECTOR))
        found = pattern.kept.get(key)
        if found is None:
            delta = pattern.delta
            offsets = np.zeros(1, np.int64) if delta is None else delta.astype(np.int64)
            addresses = group.full(offsets) + low % (1 << 20)  # only the place in a line matters
            warps, lanes, size = group.lanes >> 5, group.lanes, site.bytes
            if space == "local":
                found = local_sectors(warps, lanes, addresses, size), 0
            elif site.is_atomic and space == "shared":
                found = atomic_wavefronts(warps, addresses), 0
            elif site.is_atomic:
                found = atomic_sectors(warps, addresses, size), 0
            elif space == "shared":
                cost, ideal = wavefronts(warps, lanes, addresses, size, paired)
                found = cost, cost - ideal
            else:
                found = sectors(warps, addresses, size), 0
            pattern.kept[key] = found
        return found

    # --- when it has ended ---

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        recorded["tally"] = self
        recorded["instructions"] = self.instructions(self._launch.execution_counts)
        add_up(recorded["instructions"], counts)

    def instructions(
        self, execution_counts: dict[tuple[Code, int], list[int]]
    ) -> list[InstructionCounts]:
        """The work of every instruction, from [threads, warps] that ran each (code, block)."""
        traffic: dict[int, list[Traffic]] = {}
        for (number, _), found in self._traffic.items():
            traffic.setdefault(number, []).append(found)
        counts = []
        for (code, number), (threads, warps) in execution_counts.items():
            for i in code.blocks[number].instructions:
                key, work = id(i), flops_of(i)
                active = threads - self._guarded.get(key, 0)
                kind, flops = self._computed.get(key, ("", 0))
                if work:
                    kind, flops = work.type, active * work.flops // work.threads
                diverged, asked = self._divergent.get(key, 0), tuple(traffic.get(key, ()))
                counts.append(
                    InstructionCounts(i, threads, warps, active, flops, kind, diverged, asked)
                )
        return counts


def add_up(instructions: list[InstructionCounts], counts: Counts) -> None:
    """Enter the sums over all instructions of a launch into ``counts``."""
    counts.flops = sum(found.flops for found in instructions)
    for found in instructions:
        for traffic in found.traffic:
            space, _, bulk = traffic.space.partition(" ")
            if bulk:
                _increase(counts, f"bulk_{space}_{traffic.kind}_bytes", traffic.bytes)
                continue
            unit = "wavefronts" if space == "shared" else "sectors"
            amounts = {
                "requests": traffic.requests,
                unit: traffic.cost,
                "conflicts": traffic.conflicts,
                "bytes": traffic.bytes,
            }
            for name, amount in amounts.items():
                _increase(counts, f"{space}_{traffic.kind}_{name}", amount)
        counts.branches += found.branches
        counts.divergent_branches += found.divergent
        counts.barriers += found.barriers
        if found.flops:
            by_type, by_name = counts.flops_by_type, counts.operations
            by_type[found.flops_type] = by_type.get(found.flops_type, 0) + found.flops
            work = flops_of(found.instruction)
            if work and work.operation:
                by_name[work.operation] = by_name.get(work.operation, 0) + found.active


def _increase(counts: Counts, name: str, amount: int) -> None:
    if hasattr(counts, name):
        setattr(counts, name, getattr(counts, name) + amount)
