"""What the asynchronous engine keeps: copies in flight, mbarriers, and who waits for them.

Source: PTX ISA, "Asynchronous Data Movement", "mbarrier".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..isa.location import Location
from ..isa.ptx import Instruction
from ..memory.address_space import SHARED_WINDOW, Region
from .lanes import Group
from .operands import Put

Part = tuple[Region, np.ndarray, np.ndarray]  # an array, its elements, indices (lanes, n)

KEY_SHIFT = 24  # an mbarrier's key: block of the batch << 24 | offset in its shared memory


def address_of_key(key: int) -> int:
    """The generic address of an mbarrier, in its own block."""
    return (key & (1 << KEY_SHIFT) - 1) + SHARED_WINDOW


@dataclass(eq=False)
class Transfer:
    """A copy in flight, a row for each lane that started one.

    ``source[take] -> target[put]``: arrays of elements, and indices of shape (lanes, elements).
    ``convert`` changes the elements; those that are not ``valid`` become ``fill``. ``regions`` are
    those of target and source; ``reads`` are other pieces of shared memory that are read: (region,
    its elements, indices).
    ``queue`` (one of ``QUEUES``) and ``numbers`` say to which group of each lane it belongs;
    ``arrivals`` are mbarriers to arrive at, ``complete`` (mbarrier, bytes) one to tell of bytes.
    """

    instruction: Instruction
    lanes: np.ndarray
    target: np.ndarray | None = None
    put: np.ndarray | None = None
    source: np.ndarray | None = None
    take: np.ndarray | None = None
    valid: np.ndarray | None = None
    fill: object = 0
    convert: Callable[[np.ndarray], np.ndarray] | None = None
    operation: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    regions: tuple[Region | None, Region | None] = (None, None)
    reads: Sequence[Part] = ()
    queue: str | None = None
    numbers: np.ndarray | None = None
    arrivals: np.ndarray | None = None
    complete: tuple[int, int] | None = None
    number: int = 0  # counts the transfers of a batch; parts of one keep it
    due: int = 0  # when it lands by itself, in instructions issued and skipped over

    @property
    def stores(self) -> bool:
        """Whether it is a bulk copy to global memory, which lands twice: its source has been read,
        and then its target has been written."""
        target = self.regions[0]
        return self.queue == "bulk" and target is not None and target.space == "global"

    @property
    def groups(self) -> np.ndarray:
        """The group of its queue that each lane's part belongs to: int64, (lanes,). Raises
        ValueError for a copy of no queue."""
        if self.numbers is None:
            raise ValueError(f"a copy of no queue: {self.instruction.text}")
        return self.numbers

    @property
    def filled(self) -> Part | None:
        """The target's array and the part that is written, or None for a copy into no array."""
        region, elements, index = self.regions[0], self.target, self.put
        if region is None or elements is None or index is None:
            return None
        return region, elements, index

    @property
    def taken(self) -> Part | None:
        """The source's array and the part that is read, or None for a copy out of no array."""
        region, elements, index = self.regions[1], self.source, self.take
        if region is None or elements is None or index is None:
            return None
        return region, elements, index

    @property
    def bytes_per_lane(self) -> int:
        """Bytes of the target that each lane's part fills, or 0 for work that copies nothing."""
        if self.target is None or self.put is None:
            return 0
        return self.put.shape[-1] * self.target.itemsize

    def rows(self, chosen: np.ndarray) -> Transfer:
        """The part of some lanes. ``chosen``: bool or positions, (n,)."""
        names = ("lanes", "put", "take", "valid", "numbers", "arrivals")
        parts = {n: getattr(self, n) for n in names}
        return replace(self, **{n: v[chosen] for n, v in parts.items() if v is not None})

    def move(self) -> None:
        """Move the data, now."""
        target, put, source, take = self.target, self.put, self.source, self.take
        if target is None or put is None or source is None or take is None:
            return
        data = source[take]
        if self.convert is not None:
            data = self.convert(data)
        if self.valid is not None:
            data = np.where(self.valid, data, np.asarray(self.fill, data.dtype))
        if self.operation is not None:
            data = self.operation(target[put].ravel(), data.ravel())
            data = data.reshape(put.shape)
        target[put] = data


@dataclass(eq=False)
class MBarrier:
    """Arrivals and bytes that the current phase still waits for. Source: "mbarrier object".

    ``lane`` is who made it, by ``instruction``; ``account`` says of the phase where how many bytes
    were expected and where copies started whose bytes have come.
    """

    key: int
    expected: int
    pending: int
    instruction: Instruction
    lane: int
    tx: int = 0
    phase: int = 0
    account: dict[tuple[str, Location | None], int] = field(default_factory=dict)

    def expect(self, size: int, instruction: Instruction) -> None:
        """Expect ``size`` bytes more in this phase."""
        self.tx += size
        self._enter(size, "expected", instruction)

    def receive(self, size: int, instruction: Instruction) -> None:
        """``size`` bytes of this phase have arrived."""
        self.tx -= size
        self._enter(size, "copied", instruction)

    def _enter(self, size: int, word: str, instruction: Instruction) -> None:
        entry = word, instruction.location
        self.account[entry] = self.account.get(entry, 0) + size

    def bytes_so_far(self) -> str:
        """Of this phase: ``512 bytes expected at x.cu:4, 256 bytes copied at x.cu:5``."""
        parts = [f"{n} bytes {word} at {place}" for (word, place), n in self.account.items()]
        return ", ".join(parts)


@dataclass(eq=False)
class Wait:
    """Lanes parked at a try_wait: for the end of ``phases``, or of the phase of that parity."""

    group: Group
    keys: np.ndarray
    phases: np.ndarray
    parity: bool
    instruction: Instruction
    put: Put
