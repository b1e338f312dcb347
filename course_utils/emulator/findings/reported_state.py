"""The parts of the machine that reports use: an access, its array, its lanes, their code.

The machine is above this room, so these are protocols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ..isa.ptx import Instruction

Index = tuple[int, int, int]  # x, y, z of a thread in its block, or of a block in its grid


class ReportedArray(Protocol):
    """An array of the kernel: ``size`` bytes from the generic address ``start``. ``dtype``: as the
    host passes it, None where it doesn't. ``dynamic``: whether it is the shared memory
    whose size the launch gives. ``storage``: its bytes, uint8."""

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def dtype(self) -> np.dtype | None: ...
    @property
    def dynamic(self) -> bool: ...
    @property
    def storage(self) -> np.ndarray: ...


class ReportedArrays(Protocol):
    """The arrays of one memory, by address."""

    def below(self, address: int) -> ReportedArray | None: ...
    def above(self, address: int) -> ReportedArray | None: ...


class ReportedAccess(Protocol):
    """A memory access: ``bytes`` that a lane moves at once, in elements of ``width`` bytes."""

    @property
    def instruction(self) -> Instruction: ...
    @property
    def space(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def is_store(self) -> bool: ...
    @property
    def is_atomic(self) -> bool: ...


class ReportedStep(Protocol):
    """A decoded instruction, and the registers that it reads and writes."""

    @property
    def instruction(self) -> Instruction: ...
    @property
    def reads(self) -> frozenset[int]: ...
    @property
    def writes(self) -> frozenset[int]: ...


class ReportedBlock(Protocol):
    """A basic block. ``successors``: the numbers of those that may come next."""

    @property
    def instructions(self) -> Sequence[Instruction]: ...
    @property
    def decoded(self) -> Sequence[ReportedStep]: ...
    @property
    def successors(self) -> Sequence[int]: ...


class ReportedCode(Protocol):
    """A decoded function."""

    @property
    def blocks(self) -> Sequence[ReportedBlock]: ...


class ReportedMemory(Protocol):
    """The arrays that the lanes of a batch can reach."""

    def freed_at(self, address: int) -> tuple[int, str] | None: ...
    def regions_of(self, address: int) -> ReportedArrays | None: ...
    def arguments(self) -> Iterator[ReportedArray]: ...
    def argument(self, name: str) -> ReportedArray | None: ...


class ReportedScheduler(Protocol):
    """The groups that wait for a turn. ``budget``: instructions that a batch may issue.
    ``issued``: those that it has issued."""

    @property
    def issued(self) -> int: ...
    @property
    def budget(self) -> int: ...
    def waiting(self) -> Sequence[ReportedGroup]: ...


class ReportedBatch(Protocol):
    """Blocks that run together."""

    @property
    def memory(self) -> ReportedMemory: ...
    @property
    def scheduler(self) -> ReportedScheduler: ...
    def thread_and_block(self, lane: int) -> tuple[Index, Index]: ...
    def thread_in_grid(self, lane: int) -> Index: ...


class ReportedGroup(Protocol):
    """Lanes at basic block ``block`` of ``code``. ``lanes``: int64 (n,)."""

    @property
    def batch(self) -> ReportedBatch: ...
    @property
    def lanes(self) -> np.ndarray: ...
    @property
    def code(self) -> ReportedCode: ...
    @property
    def block(self) -> int: ...
    def first_of(self, slot: int) -> int | None: ...
