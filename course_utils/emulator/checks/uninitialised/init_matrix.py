"""Uninitialised values that go through a matrix multiplication, or through another mix of lanes.

Such an instruction is run once more on its marks: ones in place of what is uninitialised, zeros
elsewhere. What comes out other than 0 is uninitialised: ones are NaN as a floating-point number,
which goes through every sum. Integers have no NaN: their factors are ones, and zeros where they are
uninitialised, so that every term counts, and a sum that lacks one is another than the full sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...isa import ptx
from ...machine.batch import Batch
from ...machine.code import Decoded
from ...machine.lanes import Group, Registers
from ...machine.observer import SILENT
from ...memory.address_space import Region
from .init_rules import BYTES, LANE_SHIFT, RECORD_SHIFT, echo_of

if TYPE_CHECKING:
    from .init_check import InitCheck


@dataclass(eq=False)
class CopySource:
    """Stands for the instruction that reads, where it is no load."""

    instruction: ptx.Instruction
    width: int


class MatrixEcho:
    """Follows one instruction at a time. ``met``: bytes of an element, once it has read
    uninitialised ones from memory; ``reached``: the arrays it accesses; ``before``: the registers
    before it."""

    def __init__(self, check: InitCheck) -> None:
        self.check = check
        self.met = 0
        self.reached: list[Region] = []
        self.before: Registers = []

    def started(self, group: Group) -> None:
        """The instruction is about to run."""
        self.met, self.reached, self.before = 0, [], list(group.R)

    def ended(self, group: Group, decoded: Decoded) -> None:
        """It has run: give its results their marks, and report a store of marked values."""
        i, batch, check = decoded.instruction, group.batch, self.check
        marked = check.marks(batch)
        mixed = decoded.traits.matrix
        slots = [r for operand in (mixed(i) if mixed else ()) for r in _registers(operand)]
        found = {s: check.marks_of(group, s) for s in slots} if marked else {}
        kept = next((r for r in self.reached if r.space == "global"), None)
        if kept is not None and not decoded.writes:  # a tile is stored, and leaves the kernel
            bad = next((m for m in found.values() if m is not None and (m & BYTES).any()), None)
            if bad is not None:
                check.reads.report(batch, group.lanes, bad, i, f"stores in {kept.name} a result of")
            found = {}
        if not self.met and not any(m is not None for m in found.values()):
            if marked:
                for slot in decoded.writes:
                    check.put_marks(group, group.lanes, slot, None)
            return
        factors = _integer_factors(i)
        out = self._run_on(group, decoded, slots, found, factors)
        full = self._run_on(group, decoded, slots, None, factors) if factors else None
        results = {
            slot: group.full(out.R[slot] != (0 if full is None else full.R[slot]))
            for slot in decoded.writes
        }
        if any(bad.any() for bad in results.values()):
            inside = [m for m in found.values() if m is not None and m.any()]
            origin = int(inside[0].max()) if inside else self._mark_of_memory(group, i)
            results = {slot: np.where(bad, origin | BYTES, 0) for slot, bad in results.items()}
        for slot, marks in results.items():
            check.put_marks(group, group.lanes, slot, marks)

    def _run_on(
        self,
        group: Group,
        decoded: Decoded,
        slots: Sequence[ptx.Register],
        found: dict[ptx.Register, np.ndarray | None] | None,
        factors: set[ptx.Register],
    ) -> Group:
        """Run the instruction on the marks ``found``, or as if there were none at all; with ones
        and zeros the other way round for ``factors``, and memory if there are some."""
        replaced = {}
        for register in slots:
            dtype = np.dtype(f"u{max(ptx.SIZES[register.type], 1)}")
            marks = found.get(register) if found else None
            bits = np.zeros(group.n, dtype)
            if marks is not None:
                bits[marks != 0] = np.iinfo(dtype).max
            replaced[register.slot] = ~bits if register in factors else bits
        echo = echo_of(group, self.before, replaced)
        batch = group.batch
        marked = found is not None
        regions = {*batch.memory.shared, *self.reached}
        with _ShadowsAsMemory(self.check, batch, regions, marked, bool(factors)):
            decoded.act(echo)
        return echo

    def _mark_of_memory(self, group: Group, i: ptx.Instruction) -> int:
        """A mark for memory that a matrix instruction read; which element is not known."""
        shadows = (
            (r, self.check.shadow(group.batch, r))
            for r in (*self.reached, *group.batch.memory.shared)
        )
        region, shadow = next((r, s) for r, s in shadows if s is not None and s.bytes.any())
        site = CopySource(i, self.met)
        cell = np.flatnonzero(shadow.bytes)[:1] // self.met
        record = self.check.reads.read(site, group, region, np.broadcast_to(cell, group.n))
        return record << RECORD_SHIFT | int(group.lanes[0]) << LANE_SHIFT | BYTES


def _integer_factors(i: ptx.Instruction) -> set[ptx.Register]:
    """The registers of A and B of a product of integers; of anything else, none."""
    if "s32" in i.modifiers and {"mma", "mma_async"} & {i.opcode, *i.modifiers}:
        return {r for operand in i.operands[1:3] for r in _registers(operand)}
    return set()


def _registers(operand: ptx.Operand) -> list[ptx.Register]:
    return [item for item in ptx.items(operand) if isinstance(item, ptx.Register)]


class _ShadowsAsMemory:
    """While it is entered, the regions hold their own shadows, and no access is observed.
    ``marked``: or else shadows of no marks; ``turned``: ones and zeros the other way round."""

    def __init__(
        self, check: InitCheck, batch: Batch, regions: set[Region], marked: bool, turned: bool
    ) -> None:
        self.check, self.batch, self.regions = check, batch, regions
        self.marked, self.turned = marked, turned

    def __enter__(self) -> None:
        batch = self.batch
        self.kept = [(r, r.storage, r.views) for r in self.regions]
        self.observers = batch.on_access, batch.launch.observers
        for region in self.regions:
            shadow = self.check.shadow(batch, region) if self.marked else None
            size = region.storage.size
            marks = np.zeros(size, np.uint8) if shadow is None else shadow.bytes[:size]
            region.storage = ~marks if self.turned else marks
            region.views = {}
        batch.on_access, batch.launch.observers = None, SILENT

    def __exit__(self, *error: object) -> None:
        self.batch.on_access, self.batch.launch.observers = self.observers
        for region, storage, views in self.kept:
            region.storage, region.views = storage, views
