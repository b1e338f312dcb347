"""Memory accesses: the source of an instruction's address, and the pattern of the lanes'.

Most kernels read ``[base + constant]`` again and again from one base register. What the check and
the gather need to know of that register (:class:`AddressPattern`) is worked out once and kept for
as long as the register holds the same value, so that a further access costs a few comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from ..findings.reported_state import ReportedAccess
from ..isa import ptx
from ..isa.instruction_set import DTYPES, Traits, traits_of
from ..memory.address_space import LOCAL_WINDOW, SHARED_WINDOW, Region
from .lanes import Group
from .operands import Get
from .program import Builder

STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}  # not ordinary accesses
SPACES = {
    "global": 0,
    "const": 0,
    "param": 0,
    "param::entry": 0,
    "param::func": 0,
    "shared": SHARED_WINDOW,
    "shared::cta": SHARED_WINDOW,
    "shared::cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
}


Reached = tuple[Region, int, np.ndarray]  # a region, the first element, the lanes' after it

SHIFTS = [np.array(n) for n in range(8)]  # NumPy takes them faster than numbers


class AddressPattern:
    """The addresses in one register: lowest, highest, and the pattern of the lanes between them."""

    __slots__ = ("register", "low", "high", "delta", "bits", "region", "kept", "homes")

    def __init__(
        self, register: np.ndarray, base: np.ndarray, homes: np.ndarray | None = None
    ) -> None:
        self.homes = homes  # in a cluster: the blocks of the batch whose shared memory is meant
        self.register = register  # the very array that was analysed
        self.region: Region | None = None
        self.kept: dict[Any, Any] = {}  # results so far: indices by shift and owner, costs
        if len(base) == 1:
            self.low = self.high = int(base[0])
            self.delta, self.bits = None, 0
            return
        lowest = base[base.argmin(), ...]
        self.low, self.high = int(lowest), int(base[base.argmax()])
        if self.high - self.low >= 1 << 63:  # some lanes' bases are below 0
            signed = base.view(np.int64)
            lowest = base[signed.argmin(), ...]
            self.low, self.high = int(signed.min()), int(signed.max())
        self.delta = base - lowest
        self.bits = int(np.bitwise_or.reduce(self.delta))

    def moved(self, register: np.ndarray, amount: int) -> AddressPattern | None:
        """The pattern of these addresses with ``amount`` bytes added to each."""
        if not self.low + amount >= 0 or self.high + amount >= 1 << 64:
            return None
        other = AddressPattern.__new__(AddressPattern)
        other.register, other.delta, other.bits = register, self.delta, self.bits
        other.low, other.high = self.low + amount, self.high + amount
        other.region, other.kept, other.homes = self.region, self.kept, self.homes
        return other

    def index(self, shift: int, region: Region, group: Group) -> np.ndarray:
        """Elements of ``1 << shift`` bytes from the lowest address, int64, with the lane's or
        block's own copy of the region added in."""
        owner = region.owner
        key = shift if owner == "all" else (shift, owner)
        found = self.kept.get(key)
        if found is None:
            if self.delta is None:
                found = np.zeros(1, np.int64)
            elif self.delta.itemsize == 8:
                found = self.delta.view(np.int64) >> SHIFTS[shift]
            else:
                found = self.delta.astype(np.int64) >> SHIFTS[shift]
            if owner == "block" and self.homes is not None:
                found = found + self.homes * (region.stride >> shift)
            elif owner == "lane" or (owner == "block" and group.batch.block_count > 1):
                found = found + _own_copies(group, owner, region.stride >> shift)
            self.kept[key] = found
        return found


def _own_copies(group: Group, owner: str, stride: int) -> np.ndarray:
    """Where each lane's own copy of a region, or its block's, begins, in elements. Regions of one
    batch are often alike, so it is kept with the group."""
    key = (owner, stride)
    found = group.patterns.get(key)
    if found is None:
        numbers = group.lanes if owner == "lane" else group.slots
        found = group.patterns[key] = numbers * stride
    return found


class WatchedAccess(ReportedAccess, Protocol):
    """An access as observers see it. ``order``: "" for an ordinary one, else the modifier that says
    otherwise, one of STRONG."""

    @property
    def order(self) -> str: ...
    @property
    def traits(self) -> Traits: ...


class Site:
    """One memory instruction: the source of its address, and ``count`` elements of type ``kind``
    that it moves at once. Raises PtxError for an ``operand`` that isn't an address."""

    def __init__(
        self, b: Builder, i: ptx.Instruction, operand: ptx.Operand, kind: str, count: int
    ) -> None:
        self.instruction = i
        self.kind = kind
        self.dtype = DTYPES[kind]
        self.width = self.dtype.itemsize
        self.bytes = self.width * count
        self.shift = self.width.bit_length() - 1
        self.space = next((m for m in i.modifiers if m in SPACES), "generic")
        self.window = SPACES.get(self.space, 0)
        self.traits = traits_of(i)
        self.is_store = self.traits.memory == "store"
        self.is_atomic = self.traits.memory == "atomic"
        self.order = next((m for m in i.modifiers if m in STRONG), "")
        address = ptx.address(operand)
        self.offset = address.offset
        self.distance = self.window + self.offset  # of the access from the base register
        base = address.base
        self.slot = base.slot if isinstance(base, ptx.Register) else None
        if isinstance(base, ptx.Register) and ptx.SIZES[base.type] == 4:
            self.base = b.read(base, "u32")
        else:
            self.base = b.read(base, "u64")
        self.values: Sequence[Get] = ()  # values that a store writes, by element

    @property
    def writes(self) -> bool:
        """Whether it changes memory: a store or an atomic."""
        return self.is_store or self.is_atomic

    @property
    def lands_later(self) -> bool:
        """Whether it is the store of cp.async, whose bytes ``Observer.copy_lands`` brings."""
        return self.is_store and self.instruction.opcode == "cp"

    def pattern(self, group: Group) -> AddressPattern:
        """The pattern of the addresses in the base register of a group, without the offset."""
        if self.slot is None:  # the address of a variable
            return self._new_pattern(group, self.base(group.R))
        register = group.R[self.slot]
        found = group.patterns.get(self.slot)
        if found is None or found.register is not register:
            found = group.patterns[self.slot] = self._new_pattern(group, register)
        return found

    def _new_pattern(self, group: Group, register: np.ndarray) -> AddressPattern:
        base = self.base(group.R)
        if group.batch.clusters is None:
            return AddressPattern(register, base)
        window = np.uint64(self.window)
        base, homes = group.batch.clusters.strip(base + window, group)
        return AddressPattern(register, base - window, homes)

    def addresses(self, group: Group) -> tuple[np.ndarray, np.ndarray | None]:
        """Each lane's generic address with its offset, uint64. In a cluster: without ranks, and the
        block of the batch that each lane reaches, which must be there."""
        base = self.base(group.R)
        base = base + base.dtype.type(self.offset % (1 << 8 * base.itemsize))
        addresses, homes = group.full(base).astype(np.uint64) + np.uint64(self.window), None
        if group.batch.clusters is not None:
            addresses, homes = group.batch.clusters.strip(addresses, group)
            if homes is not None:
                group.batch.clusters.check(self, group, homes)
        return addresses, homes

    def locate(self, group: Group) -> Reached | None:
        """The region, the first element and the lanes' elements after it.

        None when the lanes fall into several regions. :meth:`pieces` then takes them apart.
        """
        pattern = self.pattern(group)
        low = pattern.low + self.distance
        region = pattern.region
        if (
            region is None
            or low < region.start
            or low + pattern.high - pattern.low + self.bytes > region.end
            or (low | pattern.bits) & (self.bytes - 1)
            or (region.read_only and self.writes)
        ):
            low %= 2**64  # a base may be below 0
            region = self._region(pattern, low, group)
        if region is not None and pattern.homes is not None:
            clusters = group.batch.clusters
            if clusters is not None:
                clusters.check(self, group, pattern.homes)
        if region is None:  # with bases outside the array only the sums have a region
            addresses, homes = self.addresses(group)
            pattern = AddressPattern(addresses, addresses, homes)
            low = pattern.low
            region = self._region(pattern, low, group)
            if region is None:
                return None
        index = pattern.index(self.shift, region, group)
        first = (low - region.start) >> self.shift
        on_access = group.batch.on_access
        if on_access is not None:
            on_access(self, group, region, first, index, pattern)
        return region, first, index

    def reached(self, group: Group) -> Reached:
        """As :meth:`locate`, for lanes that reach one region. Raises KernelFault for one that
        reaches none."""
        found = self.locate(group)
        if found is None:
            group.batch.memory.region_starts(self, group, self.addresses(group)[0])
            raise AssertionError(f"several regions, where one is meant: {self.instruction.text}")
        return found

    def _region(self, pattern: AddressPattern, low: int, group: Group) -> Region | None:
        """The region of all addresses, ``low`` being the lowest. None if any is at fault."""
        region = pattern.region = group.batch.memory.region_at(low)
        if (
            region is None
            or low + pattern.high - pattern.low + self.bytes > region.end
            or (low | pattern.bits) & (self.bytes - 1)
            or (region.read_only and self.writes)
        ):
            return None
        return region

    def pieces(self, group: Group) -> Iterator[np.ndarray]:
        """Check lane by lane, and yield the group of some lanes and their positions per region."""
        addresses, _ = self.addresses(group)
        homes = group.batch.memory.region_starts(self, group, addresses)
        for home in np.unique(homes):
            index = np.flatnonzero(homes == home)
            if len(index) == group.n:
                raise AssertionError(f"one region, yet not located: {self.instruction.text}")
            yield index
