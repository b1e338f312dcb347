"""Checks one access against earlier ones: which of them does nothing order before it?"""

from __future__ import annotations

import numpy as np

from ...isa.instruction_set import DTYPES
from .checked_access import CheckedAccess, reach_of
from .happens_before import BLOCK, CLUSTER, GPU
from .ordering import Ordering
from .race_entries import CLOCK_SHIFT, THREAD, number_of
from .race_shadow import overlap
from .race_words import report_copy, report_race
from .volatile_updates import is_volatile

MOST = 64  # accesses of one instruction for which it is asked whether a flag orders them


class AccessCheck(CheckedAccess):
    """An access that meets earlier ones of the same bytes, and is entered if it is a write."""

    def check_cells(self, piece: int, cells: np.ndarray | None = None) -> None:
        """Check one cell of each lane, the one that holds the ``piece``-th part of its access; a
        write is entered as well. Raises ValueError if neither cells nor elements are known."""
        shadow, site = self.shadow, self.site
        if cells is None and self.elements is not None:
            cells = shadow.cells(self.elements, site.width, piece)
        if cells is None:
            raise ValueError("neither cells nor elements")
        if shadow.bytes_in_flight:
            self.compare_copies(cells)
        if overlap(self.span, shadow.written):
            self._compare("write", shadow.writer, cells, piece)
        if not self.writes:
            return
        if overlap(self.span, shadow.read_in):
            self._compare("read", shadow.reader, cells, piece)
            self._compare("read", shadow.other, cells, piece)
        alone = shadow.enter_write(cells, self.entries, self.span)
        if not alone and site.is_store and not self.strong and self.elements is not None:
            self._compare_lanes(cells, piece)
        if not alone and self.strong and self.races.scopes:
            self._compare_scopes(cells)

    def overwritten(self, cells: np.ndarray, before: np.ndarray) -> None:
        """Report who has written cells, one of each lane, since ``before`` were their writers."""
        entries = self.shadow.writer[cells]
        changed = np.flatnonzero(entries != before)
        for number in np.unique(number_of(entries[changed])):
            alike = changed[number_of(entries[changed]) == number]
            report_race(self, "write", int(number), entries, cells, alike)

    def _compare(self, kind: str, memory: np.ndarray, cells: np.ndarray, piece: int) -> None:
        """Earlier accesses to the same cells, by other threads and with nothing in between."""
        entries = memory.take(cells)
        if self.strong:
            apart = self._reach_each_other(entries) & ~self._updates(entries)
            entries = np.where(apart, 0, entries)
        local = self.region.space == "shared"
        bad = self.clocks.unordered(self.group.lanes, entries, local)
        if len(bad) and self.site.is_store and not local and self.elements is not None:
            changes = self._changes(piece, self.elements)[bad]
            if kind == "read" and self.clocks.order is None:  # a flag may order the two
                self.races.findings.unchanged += len(bad) - int(changes.sum())
            bad = bad[changes]  # writing the value that is there already is harmless
        if len(bad) and kind == "read" and local:
            bad = self._while_tiles_are_read(bad, entries)
        if len(bad) and self.clocks.order is not None:
            bad = self._without_order(self.clocks.order, bad, entries, cells)
        if not len(bad):
            return
        numbers, first = np.unique(number_of(entries[bad]), return_index=True)
        for n in np.argsort(first):
            alike = bad[number_of(entries[bad]) == numbers[n]]
            report_race(self, kind, int(numbers[n]), entries, cells, alike)

    def _while_tiles_are_read(self, bad: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Those of the positions ``bad`` without those that know of the end of a wgmma's read."""
        tiles, lanes = self.races.tiles(self.group.batch), self.group.lanes
        for number in np.unique(number_of(entries[bad])).tolist():
            if self.races.numbers.site(number).instruction.opcode == "wgmma":
                alike = bad[number_of(entries[bad]) == number].tolist()
                known = [
                    a for a in alike if tiles.known(self.clocks, int(lanes[a]), int(entries[a]))
                ]
                bad = bad[~np.isin(bad, known)]
        return bad

    def _reach_each_other(self, entries: np.ndarray) -> np.ndarray:
        """Which entries are of strong accesses too, where the scope of each of the two includes the
        thread of the other ("morally strong")."""
        numbers = number_of(entries)
        strong = numbers & 1 == 1
        if not self.races.scopes:
            return strong
        lanes, earlier = self.group.lanes, (entries & THREAD) - self.clocks.first
        reaches = np.minimum(reach_of(self.site), self.races.numbers.reaches[numbers])
        size, span = self.group.batch.lanes_per_block, self.clocks.span
        apart = np.where(lanes // span == earlier // span, CLUSTER, GPU)
        return strong & (reaches >= np.where(lanes // size == earlier // size, BLOCK, apart))

    def _updates(self, entries: np.ndarray) -> np.ndarray:
        """Which entries are of a volatile access that is one update with this one."""
        found = np.zeros(len(entries), bool)
        i = self.site.instruction
        if not is_volatile(i) or not (pairs := self.races.volatile_updates(self.group.code)):
            return found
        numbers = number_of(entries)
        for number in np.unique(numbers).tolist():
            other = self.races.numbers.site(number).instruction if number & 1 else i
            if {(id(i), id(other)), (id(other), id(i))} & pairs:
                found |= numbers == number
        return found

    def _without_order(
        self, order: Ordering, bad: np.ndarray, entries: np.ndarray, cells: np.ndarray
    ) -> np.ndarray:
        """Those of the positions ``bad`` where not even a flag makes an order in ways that need no
        fence: the earlier access set a flag, at the very place, that this thread has read since; or
        this access is a strong one, made after reading a flag."""
        granule = self.shadow.granule
        kept = []
        for at in bad.tolist():
            lane, entry = int(self.group.lanes[at]), int(entries[at])
            other, time = (entry & THREAD) >> 5, entry >> CLOCK_SHIFT
            if self.strong:
                known = order.handed_over(lane, other, time)
            else:
                known = number_of(entry) & 1 == 1
                known = known and order.observed(lane, self.region, int(cells[at]) * granule, other)
            if not known:
                kept.append(at)
            if len(kept) == MOST:
                return bad[bad >= kept[0]]
        return np.array(kept, np.intp)

    def _compare_lanes(self, cells: np.ndarray, piece: int) -> None:
        """Two lanes of one store at one place, with different values."""
        order = np.argsort(cells, kind="stable")
        first, second = order[:-1], order[1:]
        differ = np.zeros(len(first), bool)
        for n in self._parts(piece):
            bits = _bits(self.group.full(self.values[n](self.group.R)))
            differ |= bits[first] != bits[second]
        clash = np.flatnonzero(differ & (cells[first] == cells[second]))
        if len(clash):
            entries = np.zeros_like(self.entries)
            entries[second] = self.entries[first]
            number = self.races.numbers.of(self.site, self.region)
            report_race(self, "write", number, entries, cells, second[clash], together=True)

    def _compare_scopes(self, cells: np.ndarray) -> None:
        """Two lanes of one strong write at one place, of blocks that its scope does not include."""
        order = np.argsort(cells, kind="stable")
        first, second = order[:-1], order[1:]
        entries = np.zeros_like(self.entries)
        entries[second] = np.where(cells[first] == cells[second], self.entries[first], 0)
        clash = np.flatnonzero((entries > 0) & ~self._reach_each_other(entries))
        if len(clash):
            number = self.races.numbers.of(self.site, self.region)
            report_race(self, "write", number, entries, cells, clash)

    def _changes(self, piece: int, elements: np.ndarray) -> np.ndarray:
        """Where a store puts something else than is there."""
        changes = np.zeros(self.group.n, bool)
        for n in self._parts(piece):
            new = _bits(self.group.full(self.values[n](self.group.R)))
            changes |= self.region.view(new.dtype)[elements + n] != new
        return changes

    def _parts(self, piece: int) -> range:
        """The elements of the access that lie in its ``piece``-th cell, or share it."""
        granule, width = self.shadow.granule, self.site.width
        first = piece * granule // width
        return range(first, first + max(1, granule // width))

    def compare_copies(self, cells: np.ndarray) -> None:
        """Bytes that an asynchronous copy reads or writes at the same time."""
        if self.shadow.in_flight is None:
            return
        entries = self.shadow.in_flight[cells]
        bad, numbers = entries > 0, number_of(entries)
        if not self.writes:
            bad &= numbers & 1 == 1
        if self.site.is_atomic:  # does not race with copies that reduce
            found = np.unique(numbers[bad]).tolist()
            bad &= ~np.isin(numbers, [n for n in found if self.races.numbers.site(n).is_atomic])
        bad = np.flatnonzero(bad)
        if len(bad):
            entry, cell = int(entries[bad[0]]), int(cells[bad[0]])
            report_copy(self, entry, cell, int(bad[0]), len(bad))


def _bits(value: np.ndarray) -> np.ndarray:
    """So that what is not a number equals itself."""
    return value.view(DTYPES[f"u{8 * value.itemsize}"])
