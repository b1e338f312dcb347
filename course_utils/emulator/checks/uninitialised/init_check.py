"""Finds uses of uninitialised values: of global, shared and local memory, and of registers.

Reading such a value is often harmless (a padded vector load, a tile's last column), so it is
reported where it is *used*: stored to global memory, deciding a branch, making up an address. Each
uninitialised byte of memory has 0xFF in a *shadow*, every other byte 0. Registers into which
such bytes were loaded carry *marks*, one for each lane, which follow the value from instruction to
instruction. As long as nothing uninitialised was loaded there are no marks, and nothing to follow.

How marks go through an instruction is in :mod:`.init_rules`, and through a matrix multiplication in
:mod:`.init_matrix`.
"""

from __future__ import annotations

import numpy as np

from ...findings.causes import Cause
from ...isa import ptx
from ...machine.accesses import AddressPattern, Site, WatchedAccess
from ...machine.async_state import Transfer
from ...machine.batch import Batch
from ...machine.code import Block, Code, Decoded
from ...machine.lanes import Group
from ...machine.launch_state import LaunchState
from ...machine.observer import Observer
from ...memory.address_space import Region
from ...memory.init_shadows import InitShadow
from .init_matrix import CopySource, MatrixEcho
from .init_records import (
    BatchState,
    MarkKey,
    Marks,
    Reads,
    Record,
    blank,
    byte_mask,
    first_at_each,
    of_address,
)
from .init_rules import BYTES, LANE_SHIFT, RECORD_SHIFT, RULES, over_warps, whole


class InitCheck(Observer):
    """Follows uninitialised values through one launch."""

    def __init__(self, launch: LaunchState) -> None:
        self._batches: dict[object, BatchState] = {}
        self.reads = Reads(launch.findings)
        self._global: dict[Region, InitShadow | None] = {}
        self._matrix = MatrixEcho(self)
        self.field_masks: dict[Code, frozenset[int]] = {}  # see `init_rules`

    def batch_starts(self, batch: Batch) -> None:
        self._batches[batch] = BatchState()

    def batch_ends(self, batch: Batch) -> None:
        del self._batches[batch]

    def marks(self, batch: Batch) -> Marks:
        """The marks of the registers of a batch."""
        return self._batches[batch].marks

    def uninitialised(self, batch: Batch) -> dict[Region, InitShadow | None]:
        """The shadows of the shared and local arrays of a batch; None where all is written."""
        return self._batches[batch].uninitialised

    # --- memory ---

    def shadow(self, batch: Batch, region: Region) -> InitShadow | None:
        """The shadow of a region; None when all of it has been written."""
        table = self._global if region.owner == "all" else self.uninitialised(batch)
        if region not in table:
            table[region] = self._new_shadow(batch, region)
        found = table[region]
        if found is not None and found.complete():
            found = table[region] = None
        return found

    def _new_shadow(self, batch: Batch, region: Region) -> InitShadow | None:
        if region.owner == "all":
            return None if region.unwritten is None else region.unwritten.shadow(region)
        if region.space not in ("shared", "local") or region.zeroed:
            return None
        shadow = blank(batch, region)
        whole = len(shadow.bytes) // region.stride * region.stride
        shadow.bytes[:whole].reshape(-1, region.stride)[:, : region.size] = 0xFF
        return shadow

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        traits = site.traits
        if traits.memory == "copy":
            return  # see `copy_starts`
        if traits.matrix and region not in self._matrix.reached:
            self._matrix.reached.append(region)
        marks, shadow = self.marks(group.batch), self.shadow(group.batch, region)
        if shadow is not None and not (marks and site.is_store):
            start = first * site.width
            stop = start + pattern.high - pattern.low + site.bytes
            if stop <= shadow.low or start > shadow.high:
                shadow = None  # all is written there
        if shadow is None and not marks:
            return
        cells = group.full(index + first)
        if traits.matrix:
            self._matrix.met = self._matrix.met or (0 if shadow is None else site.width)
            if site.is_store and not marks and shadow is not None:
                for piece in range(site.bytes // site.width):
                    shadow.write(cells + piece, site.width, None)
        elif site.is_atomic:
            self._update(site, group, region, shadow, cells)
        elif site.is_store:
            self._store(site, group, region, shadow, cells)
        else:
            self._load(site, group, region, shadow, cells)

    def _load(
        self, site: Site, group: Group, region: Region, shadow: InitShadow | None, cells: np.ndarray
    ) -> None:
        target = site.instruction.operands[0]
        for piece, item in enumerate(ptx.items(target)):
            marks = None
            if shadow is not None and piece * site.width < site.bytes:  # a texel may have fewer
                marks = self._read(site, group, region, shadow, cells + piece)
            if isinstance(item, ptx.Register):
                if marks is not None and site.kind[0] == "s" and ptx.SIZES[item.type] > site.width:
                    marks = whole(marks)
                self.put_marks(group, group.lanes, item.slot, marks)

    def _read(
        self, site: Site, group: Group, region: Region, shadow: InitShadow, cells: np.ndarray
    ) -> np.ndarray | None:
        """The marks of elements read; None when all are defined."""
        bits = shadow.view(site.width).take(cells)
        if not bits.any():
            return None
        mask = byte_mask(bits, site.width)
        record = self.reads.read(site, group, region, cells)
        marks = np.where(mask, record << RECORD_SHIFT | group.lanes << LANE_SHIFT | mask, 0)
        if shadow.marks is not None:
            before = shadow.marks[cells * site.width // 4]
            marks = np.where((before > 0) & (mask > 0), before & ~BYTES | mask, marks)
        return marks

    def _store(
        self, site: Site, group: Group, region: Region, shadow: InitShadow | None, cells: np.ndarray
    ) -> None:
        source = site.instruction.operands[1]
        for piece, item in enumerate(ptx.items(source)):
            marks = self.marks_of(group, item)
            if marks is not None:
                every = (1 << min(site.width, 8)) - 1
                marks = marks & ~BYTES | marks & every
                marks = np.where(marks & BYTES, marks, 0)
                if region.space == "global":
                    whole = marks & BYTES == every
                    if whole.any():  # parts of a value may be the padding of a structure
                        index = int(cells[np.argmax(whole)]) + piece
                        text = f"stores in {region.name}[{index}] a result of"
                        found = np.where(whole, marks, 0)
                        self.reads.report(group.batch, group.lanes, found, site.instruction, text)
                    marks = np.where(whole, 0, marks)
                if not marks.any():
                    marks = None
            if marks is not None and shadow is None:
                shadow = blank(group.batch, region)
                table = self._global if region.owner == "all" else self.uninitialised(group.batch)
                table[region] = shadow
            if shadow is not None:
                shadow.write(cells + piece, site.width, marks)

    def _update(
        self, site: Site, group: Group, region: Region, shadow: InitShadow | None, cells: np.ndarray
    ) -> None:
        where_to = f"{region.name}[{int(cells[0])}]" if region.owner == "all" else region.name
        for operand in site.instruction.operands[1:]:
            for item in ptx.items(operand):
                marks = self.marks_of(group, item)
                if marks is not None and marks.any():
                    text = f"updates {where_to} with a result of"
                    self.reads.report(group.batch, group.lanes, marks, site.instruction, text)
        fetched = None
        for piece in range(site.bytes // site.width):
            if shadow is None:
                break
            marks = self._read(site, group, region, shadow, cells + piece)
            fetched = None if marks is None else first_at_each(cells, marks)  # for its user
            if marks is not None and "exch" not in site.instruction.modifiers:
                self.reads.report(group.batch, group.lanes, marks, site.instruction, "updates")
            shadow.write(cells + piece, site.width, None)
        target = site.instruction.operands[0]
        for item in ptx.items(target):
            if isinstance(item, ptx.Register):
                self.put_marks(group, group.lanes, item.slot, fetched)

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        """A copy defines what it writes, unless its source is not."""
        filled, taken = transfer.filled, transfer.taken
        if filled is None:  # no copy, or one into tensor memory
            return
        target, elements, put = filled
        width = elements.dtype.itemsize
        here = self.shadow(batch, target)
        shadow = None if taken is None else self.shadow(batch, taken[0])
        if taken is None or shadow is None:
            if here is not None:
                here.view(width)[put] = 0
            return
        source, _, take = taken
        bits = shadow.view(width)[take]
        bad = bits != 0
        if transfer.valid is not None:
            bad &= transfer.valid
        if not bad.any():
            if here is not None:
                here.view(width)[put] = 0
            return
        row, column = (int(x[0]) for x in np.nonzero(bad))
        lanes = transfer.lanes[row : row + 1]
        site = CopySource(transfer.instruction, width)
        group = Group.of_copy(batch, lanes)
        cells = take[row : row + 1, column].astype(np.int64)
        record = self.reads.read(site, group, source, cells)
        mark = np.array([record << RECORD_SHIFT | int(lanes[0]) << LANE_SHIFT | BYTES])
        if target.space == "global":
            index = int(put[row, column])
            text = f"copies to {target.name}[{index}]"
            self.reads.report(batch, lanes, mark, transfer.instruction, text)
            return
        if here is None:
            here = self.uninitialised(batch)[target] = blank(batch, target)
        here.low, here.high = 0, here.stride
        here.view(width)[put] = np.where(bad, bits, 0)

    def tiles_read(
        self,
        reader: WatchedAccess,
        group: Group,
        firsts: np.ndarray,
        region: Region,
        index: np.ndarray,
        inside: np.ndarray,
    ) -> None:
        shadow = self.shadow(group.batch, region)
        if shadow is not None and not self._matrix.met:
            self._matrix.met = reader.width if shadow.view(16).take(index[inside]).any() else 0

    # --- registers ---

    def function_starts(self, group: Group) -> None:
        """Registers that may be read before they are set are uninitialised."""
        batch, depth = group.batch, len(group.stack)
        for key in [k for k in self.marks(batch) if k[0] == depth]:
            self.put_marks(group, group.lanes, key[2], None, key)
        if group.code.unset:
            record = self.reads.add(Record(batch, group.lanes))
            for slot in group.code.unset:
                marks = record << RECORD_SHIFT | group.lanes << LANE_SHIFT | BYTES
                self.put_marks(group, group.lanes, slot, marks)

    def values_missing(
        self, group: Group, instruction: ptx.Instruction, target: ptx.Operand, lanes: np.ndarray
    ) -> None:
        lanes = group.lanes[lanes]
        if len(lanes) and isinstance(target, ptx.Register):
            what = f"a lane that takes no part in the shuffle at {instruction.location}"
            cause = Cause.LANE_NOT_IN_SHUFFLE
            place = instruction.location
            record = self.reads.add(
                Record(group.batch, lanes, what=what, location=place, cause=cause)
            )
            marks = record << RECORD_SHIFT | lanes << LANE_SHIFT | BYTES
            self.put_marks(group, lanes, target.slot, marks)

    def registers_pass(
        self, group: Group, depth: int, code: Code, pairs: list[tuple[int, int]]
    ) -> None:
        marks = self.marks(group.batch)
        for there, here in pairs if marks else ():
            found = marks.get((depth, code, there))
            self.put_marks(group, group.lanes, here, None if found is None else found[group.lanes])

    def marks_of(self, group: Group, operand: ptx.Operand) -> np.ndarray | None:
        """The marks of a register for the lanes of a group; None when it has none."""
        if not isinstance(operand, ptx.Register):
            return None
        found = self.marks(group.batch).get((len(group.stack), group.code, operand.slot))
        return None if found is None else found[group.lanes]

    def put_marks(
        self,
        group: Group,
        lanes: np.ndarray,
        slot: int,
        marks: np.ndarray | None,
        key: MarkKey | None = None,
    ) -> None:
        """Give a register its marks; None: it is defined in these lanes."""
        batch = group.batch
        key = key or (len(group.stack), group.code, slot)
        all_marks = self.marks(batch)
        found = all_marks.get(key)
        if marks is None or not marks.any():
            if found is not None:
                found[lanes] = 0
                if not found.any():
                    del all_marks[key]
            return
        if found is None:
            if not all_marks:
                batch.scheduler.subscribing.append(self)
            found = all_marks[key] = np.zeros(batch.block_count * batch.lanes_per_block, np.int64)
        found[lanes] = marks

    def wants_instructions(self, group: Group, block: Block) -> bool:
        if self.marks(group.batch):
            self._forget(group, block)
            return True
        return block.matrix

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        if decoded.traits.matrix:
            self._matrix.started(group)
        elif self.marks(group.batch):
            (self._ending if decoded.ends else self._follow)(group, decoded)

    def instruction_ends(self, group: Group, decoded: Decoded) -> None:
        if decoded.traits.matrix:
            self._matrix.ended(group, decoded)

    def _forget(self, group: Group, block: Block) -> None:
        """Drop the marks of registers that nothing will read again."""
        depth, code = len(group.stack), group.code
        live = code.live[block.number]
        for key in list(self.marks(group.batch)):
            if key[0] == depth and key[1] is code and key[2] not in live:
                self.put_marks(group, group.lanes, key[2], None)

    def _follow(self, group: Group, decoded: Decoded) -> None:
        """Bring the marks up to date for an instruction that is about to run."""
        i, lanes, code = decoded.instruction, group.lanes, group.code
        marks, depth = self.marks(group.batch), len(group.stack)
        chosen = None
        if i.guard is not None:
            self._decides(group, i.guard, i)
            guard = group.full(group.R[i.guard.slot]) != i.guard.negated
            if not guard.all():
                chosen = np.flatnonzero(guard)
                lanes = lanes[chosen]
                if not len(lanes):
                    return
        self._addresses(group, i, lanes, chosen)
        if decoded.traits.memory and not decoded.parameter:
            if (
                decoded.traits.memory == "load"
            ):  # of surfaces, lanes that lie outside make no access
                for slot in decoded.writes:
                    self.put_marks(group, lanes, slot, None)
            return
        sources = [s for s in decoded.reads if (depth, code, s) in marks]
        if not sources:
            for slot in decoded.writes:
                if (depth, code, slot) in marks:
                    self.put_marks(group, lanes, slot, None)
            return
        rule = RULES.get(i.opcode)
        results = rule(self, group, decoded) if rule is not None else None
        if results is None:
            total = np.zeros(group.n, np.int64)
            for slot in sources:
                found = marks[depth, code, slot][group.lanes]
                total = np.where(total, total, found)
            if decoded.traits.over_warp:
                total = over_warps(group, total)
            results = dict.fromkeys(decoded.writes, whole(total))
        for slot, value in results.items():
            self.put_marks(group, lanes, slot, value if chosen is None else value[chosen])

    def _ending(self, group: Group, decoded: Decoded) -> None:
        i = decoded.instruction
        if i.guard is not None:
            self._decides(group, i.guard, i)
        if decoded.traits.branch == "indexed":
            self._decides(group, i.operands[0], i)
        self._addresses(group, i, group.lanes)
        for slot in decoded.writes:
            self.put_marks(group, group.lanes, slot, None)

    def _addresses(
        self, group: Group, i: ptx.Instruction, lanes: np.ndarray, chosen: np.ndarray | None = None
    ) -> None:
        """Report addresses worked out from marked registers; ``lanes`` are those ``chosen``."""
        for register in (r for operand in i.operands for r in of_address(operand)):
            found = self.marks_of(group, register)
            found = found if found is None or chosen is None else found[chosen]
            if found is not None and found.any():
                self.reads.report(group.batch, lanes, found, i, "works out an address from")

    def _decides(self, group: Group, register: ptx.Operand, instruction: ptx.Instruction) -> None:
        marks = self.marks_of(group, register)
        if marks is not None and marks.any() and isinstance(register, ptx.Register):
            self.reads.report(group.batch, group.lanes, marks, instruction, "decides a branch by")
            self.put_marks(group, group.lanes, register.slot, None)
