"""The recording of a small launch: steps, accesses, arrays and mbarriers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

READ, WRITE, UPDATE = "read", "write", "update"
Lanes = tuple[int, ...]


@dataclass(frozen=True)
class Reach:
    """Accesses of a step to one array. ``lanes`` and ``elements`` are pairs."""

    array: int
    kind: str
    lanes: Lanes
    elements: tuple[int, ...]


@dataclass
class LineStep:
    """One source line, run by ``lanes``: threads counted through all blocks of the launch.

    ``changes`` are elements with a new value: (array, element, value). ``waits`` are lanes that
    begin to wait, after the name of the barrier. Those in ``goes`` wait no longer, and those in
    ``ended`` have returned. ``starts`` and ``lands``: (array, elements) of asynchronous copies.
    A copy that lands while no lane runs is a step without lanes, at the line that started it.
    ``phases`` are the mbarriers now, each with its phase, and the arrivals and bytes still missing.
    """

    file: str
    line: int
    lanes: Lanes
    reaches: list[Reach] = field(default_factory=list)
    changes: list[tuple[int, int, Any]] = field(default_factory=list)
    waits: list[tuple[str, Lanes]] = field(default_factory=list)
    goes: list[Lanes] = field(default_factory=list)
    ended: list[Lanes] = field(default_factory=list)
    starts: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    lands: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    phases: list[tuple[int, int, int, int]] = field(default_factory=list)

    @property
    def idle(self) -> bool:
        """Whether nothing but registers has changed."""
        return not (
            self.reaches or self.changes or self.waits or self.starts or self.lands or self.phases
        )


@dataclass(eq=False)
class SteppedArray:
    """An array as far as the launch reached it. ``first`` has its elements before the launch, None
    where nothing had been written. ``block`` is the owner of shared memory, −1 for other arrays."""

    name: str
    space: str
    block: int
    dtype: np.dtype
    first: list[Any]
    bytes: np.ndarray  # of the machine's own memory
    known: np.ndarray  # their values as of the last look
    written: np.ndarray  # bool, of each element


@dataclass(frozen=True)
class SteppedMBarrier:
    """An mbarrier: its variable, "full[0]", the block that owns it, and the arrivals of a phase."""

    name: str
    block: int
    arrivals: int
