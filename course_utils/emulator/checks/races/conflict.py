"""Checks one access against earlier ones, and words the races that it finds."""

from __future__ import annotations

import numpy as np

from ...findings.causes import Cause
from ...findings.report import DATA_RACE, ERROR, WARNING, Finding
from ...isa.instruction_set import DTYPES
from ...isa.location import Location
from ...machine.accesses import Site, WatchedAccess
from ...machine.lanes import Group
from ...memory.address_space import Region
from .colliding_writes import explained
from .copy_reports import NOT_READ, TWO_BLOCKS, copied_by, copy_at, landed, named, remedy, told
from .copy_sides import CopySide
from .happens_before import BLOCK, CLUSTER, GPU, reach
from .missing_order import missing_order, same_block
from .ordering import Ordering
from .race_entries import CLOCK_SHIFT, THREAD, number_of, pack
from .race_reports import Races
from .race_shadow import RaceShadow, meets
from .severity import (
    IN_LOOP,
    IN_STEP,
    NO_ACQUIRE,
    TOGETHER,
    WITH_SHUFFLE,
    counts,
    in_step,
    passed_by,
)
from .tile_reads import until
from .waiting_loops import LOOP_WAITS, waits_for

Span = tuple[int, int]
SCOPES = "block", "cluster"
NOT_AWAITED = "\n  before the copy was waited for."
MOST = 64  # accesses of one instruction for which it is asked whether a flag orders them


class AccessCheck:
    """One instruction of some lanes on one array.

    ``races``: the :class:`~.race_check.RaceCheck` that gets to know what is found; ``span``: the
    bytes touched, from the start of a copy of the array; ``elements``: where each lane's access
    begins, in elements of the instruction's width.
    """

    def __init__(
        self,
        races: Races,
        site: WatchedAccess,
        group: Group,
        region: Region,
        shadow: RaceShadow,
        span: Span,
        elements: np.ndarray | None = None,
    ) -> None:
        self.races, self.site, self.group = races, site, group
        self.region, self.shadow, self.span, self.elements = region, shadow, span, elements
        self.values = site.values if isinstance(site, Site) else ()
        self.writes = site.is_store or site.is_atomic
        if self.writes:
            shadow.enter(span)
        clocks = self.clocks = races.clocks(group.batch)
        threads, now = clocks.threads(group.lanes), clocks.now(group.lanes)
        number = races.numbers.of(site, region)
        self.strong = number & 1 == 1
        self.entries = pack(threads, now, number)

    def make(self, piece: int, cells: np.ndarray | None = None) -> None:
        """Check one cell of each lane, the one that holds the ``piece``-th part of its access; a
        write is entered as well."""
        shadow, site = self.shadow, self.site
        if cells is None and self.elements is not None:
            cells = shadow.cells(self.elements, site.width, piece)
        if cells is None:
            raise ValueError("neither cells nor elements")
        if shadow.flying:
            self.meet_copies(cells)
        if meets(self.span, shadow.written):
            self._meet("write", shadow.writer, cells, piece)
        if not self.writes:
            return
        if meets(self.span, shadow.read_in):
            self._meet("read", shadow.reader, cells, piece)
            self._meet("read", shadow.other, cells, piece)
        alone = shadow.enter_write(cells, self.entries, self.span)
        if not alone and site.is_store and not self.strong and self.elements is not None:
            self._meet_itself(cells, piece)
        if not alone and self.strong and self.races.scopes:
            self._meet_others(cells)

    def overwritten(self, cells: np.ndarray, before: np.ndarray) -> None:
        """Report who has written cells, one of each lane, since ``before`` were their writers."""
        entries = self.shadow.writer[cells]
        changed = np.flatnonzero(entries != before)
        for number in np.unique(number_of(entries[changed])):
            alike = changed[number_of(entries[changed]) == number]
            self._race("write", int(number), entries, cells, alike)

    # --- meetings ---

    def _meet(self, kind: str, memory: np.ndarray, cells: np.ndarray, piece: int) -> None:
        """Earlier accesses to the same cells, by other threads and with nothing in between."""
        entries = memory.take(cells)
        if self.strong:
            entries = np.where(self._reach_each_other(entries), 0, entries)
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
            self._race(kind, int(numbers[n]), entries, cells, alike)

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

    def _meet_itself(self, cells: np.ndarray, piece: int) -> None:
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
            self._race("write", number, entries, cells, second[clash], together=True)

    def _meet_others(self, cells: np.ndarray) -> None:
        """Two lanes of one strong write at one place, of blocks that its scope does not include."""
        order = np.argsort(cells, kind="stable")
        first, second = order[:-1], order[1:]
        entries = np.zeros_like(self.entries)
        entries[second] = np.where(cells[first] == cells[second], self.entries[first], 0)
        clash = np.flatnonzero((entries > 0) & ~self._reach_each_other(entries))
        if len(clash):
            number = self.races.numbers.of(self.site, self.region)
            self._race("write", number, entries, cells, clash)

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

    def meet_copies(self, cells: np.ndarray) -> None:
        """Bytes that an asynchronous copy reads or writes at the same time."""
        if self.shadow.flight is None:
            return
        entries = self.shadow.flight[cells]
        bad, numbers = entries > 0, number_of(entries)
        if not self.writes:
            bad &= numbers & 1 == 1
        if self.site.is_atomic:  # does not race with copies that reduce
            found = np.unique(numbers[bad]).tolist()
            bad &= ~np.isin(numbers, [n for n in found if self.races.numbers.site(n).is_atomic])
        bad = np.flatnonzero(bad)
        if len(bad):
            entry, cell = int(entries[bad[0]]), int(cells[bad[0]])
            self._copied(entry, cell, int(bad[0]), len(bad))

    # --- words ---

    def _index(self, cell: int) -> int:
        """The element of the array, as this instruction counts them."""
        inside = cell * self.shadow.granule
        return inside % (self.region.stride or self.region.size) // self.site.width

    def _home(self, cell: int) -> tuple[int, int, int]:
        """The block whose shared memory holds a cell."""
        batch, stride = self.group.batch, self.region.stride
        return batch.block_index(batch.first + cell * self.shadow.granule // stride)

    def _race(
        self,
        kind: str,
        number: int,
        entries: np.ndarray,
        cells: np.ndarray,
        bad: np.ndarray,
        together: bool = False,
    ) -> None:
        """Report that lanes, at the positions ``bad``, meet the earlier accesses ``entries``, all
        of one instruction; ``together``: of this one, executed at the same time."""
        region, batch, findings = self.region, self.group.batch, self.races.findings
        there_site = self.races.numbers.site(number)
        there = there_site.instruction.location
        landed_copy = isinstance(there_site, CopySide)
        waited = there_site.waited if isinstance(there_site, CopySide) else None
        here = self.site.instruction.location
        key = ("race", region.space, str(there), str(here), kind, self.writes)
        if findings.warns(key) and not self._note(there_site, entries, cells, bad):
            findings.is_error(key)
        if findings.again(key, len(bad)):
            return
        at = self._widest(entries, bad)
        entry, cell = int(entries[at]), int(cells[at])
        lane, earlier = int(self.group.lanes[at]), (entry & THREAD) - self.clocks.first
        (thread, block), (other, other_block) = batch.who(lane), batch.who(earlier)
        index, verb = self._index(cell), "write" if self.writes else "read"
        home = self._home(cell) if region.space == "shared" else None
        where = f" in shared memory, block {home}" if home else ""
        did, rule = f"{kind}s it at {there}", ""
        if waited:
            did, rule = copied_by(there_site.instruction, waited)
        elif landed_copy:  # a copy that has landed, as this thread cannot know
            did, rule = landed(there_site.instruction, kind)
        cause, missing = self._cause(there_site, entries, cells, at, kind, verb, together)
        if cause not in (Cause.TILE_STILL_READ, Cause.COPIES_OVERLAP):
            missing += rule
        of, of_other = f" of block {block}", f" of block {other_block}"
        if where and block == other_block == home:
            of = of_other = ""
        before = f"  thread {other}{of_other} {did}"
        after = f"  thread {thread}{of} {verb}s it at {here}"
        order = f"{verb} after {kind}"
        if late := until(self.site):
            order, before, after = f"{kind} after {verb}", f"{after}{late}", before
            here, there, thread, block, other = there, here, other, other_block, thread
        text = f"Data race ({order}) on {region.name}[{index}]{where}:\n{before}\n{after}"
        why = (
            f"{missing}"
            f"{passed_by(self.races.paths, self.group, self.site.instruction, earlier, lane)}"
        )
        note = self._note(there_site, entries, cells, bad)
        level = WARNING if note else ERROR
        times = len(bad) - 1
        finding = Finding(
            DATA_RACE,
            text + why,
            here,
            thread,
            block,
            region.name,
            index,
            other_location=there,
            other_thread=other,
            repeats=times,
            level=level,
            cause=cause,
            symptom=f"{text}\n  and nothing orders the two.",
        )
        findings.add(key, finding, note)

    def _widest(self, entries: np.ndarray, bad: np.ndarray) -> int:
        """The first of the positions ``bad`` where two blocks meet, which no barrier of a block
        orders; without one, the first of all."""
        if self.region.space == "global":
            size = self.group.batch.lanes_per_block
            earlier = (entries[bad] & THREAD) - self.clocks.first
            apart = self.group.lanes[bad] // size != earlier // size
            return int(bad[int(apart.argmax())])
        return int(bad[0])

    def _cause(
        self,
        there: WatchedAccess,
        entries: np.ndarray,
        cells: np.ndarray,
        at: int,
        kind: str,
        verb: str,
        together: bool,
    ) -> tuple[Cause, str]:
        """Why nothing orders the two, and the end of a report that says so."""
        if until(self.site):
            return Cause.TILE_STILL_READ, ",\n  before the tile is free."
        batch, here = self.group.batch, self.site.instruction.location
        entry, lane = int(entries[at]), int(self.group.lanes[at])
        if relaxed := self.races.relaxed_between(batch, entry, lane):
            return Cause.ARRIVAL_RELAXED, f"\n  {relaxed}"
        if narrow := self._too_narrow(there, int(number_of(entry))):
            return Cause.SCOPE_TOO_NARROW, f"\n  {narrow}"
        if isinstance(there, CopySide) and there.waited is None:
            earlier = (entry & THREAD) - self.clocks.first
            if earlier // self.clocks.span == lane // self.clocks.span:
                return Cause.COPY_COMPLETION_NOT_SEEN, ""
            if kind == verb == "write":
                return Cause.COPIES_OVERLAP, TWO_BLOCKS
        before = there.instruction.location
        cause, missing = missing_order(batch, self.clocks, entry, lane, before, here, kind, verb)
        if cause in (Cause.NO_ORDER_IN_WARP, Cause.NO_ORDER_IN_BLOCK):
            if self.site.instruction.opcode == "wgmma":
                return Cause.NO_ORDER_BEFORE_WGMMA, "\n  with no __syncthreads() in between."
            if loop := self._loop():
                return Cause.LOOP_WAITS_FOR_WRITE, f"\n  {LOOP_WAITS.format(loop=loop)}"
        if cause != Cause.FLAG_NOT_FENCED:
            paths = self.races.paths(self.group.code)
            pair = there.instruction, self.site.instruction
            stores_too = self._stores_too(entry, cells, at)
            cause, missing = explained(paths, pair, stores_too, together) or (cause, missing)
        return cause, f"\n  {missing}"

    def _loop(self) -> Location | None:
        """The line of a loop that waits for the array of this access to change."""
        return waits_for(self.group.code, self.site.instruction) if self.group.R else None

    def _stores_too(self, entry: int, cells: np.ndarray, at: int) -> bool | None:
        """Whether the thread of an earlier access accesses the same cell as the lane at position
        ``at`` by this very instruction; None where it doesn't execute it now."""
        earlier = (entry & THREAD) - self.clocks.first
        found = np.flatnonzero(self.group.lanes == earlier)
        return bool((cells[found] == cells[at]).any()) if len(found) else None

    def _too_narrow(self, there: WatchedAccess, number: int) -> str:
        """Of two strong accesses that race, that the scope of one is too narrow."""
        if not (self.strong and number & 1):
            return ""
        narrow = self.site if reach_of(self.site) <= reach_of(there) else there
        scope = SCOPES[reach_of(narrow)]
        return (
            f"and the scope of the one at {narrow.instruction.location} is its own {scope}: for "
            f"others it isn't atomic.\n  Give it the scope of the device "
            f"(cuda::thread_scope_device, atomicAdd with no _block)."
        )

    def _note(
        self, there: WatchedAccess, entries: np.ndarray, cells: np.ndarray, bad: np.ndarray
    ) -> str:
        """The note of a race that is only a warning. See :mod:`.severity`."""
        if self.strong and int(number_of(entries[bad[0]])) & 1:
            return ""  # a scope is too narrow
        lanes, earlier = self.group.lanes[bad], (entries[bad] & THREAD) - self.clocks.first
        apart = bad[lanes >> 5 != earlier >> 5]
        notes = [NO_ACQUIRE] if len(apart) else []
        if len(apart) and not all(self._acquire_is_missing(entries, at) for at in _some(apart)):
            return ""
        if len(apart) < len(bad):
            a, b = there.instruction, self.site.instruction
            paths = self.races.paths(self.group.code)
            if not (in_step(a) and in_step(b) and paths.connected(a, b)):
                return ""
            if self.clocks.lane_known is not None:
                return ""  # lanes have met in parts of their warp
            if self.site.is_store and len(np.unique(cells)) < len(cells):
                return ""  # lanes overwrite each other's results
            if self._loop():
                return IN_LOOP
            meeting = paths.meeting(a, b)
            what = meeting and WITH_SHUFFLE.format(
                what=TOGETHER[meeting.opcode], where=meeting.location
            )
            notes.append(what or IN_STEP)
        return notes[-1]

    def _acquire_is_missing(self, entries: np.ndarray, at: int) -> bool:
        """Whether nothing but a fence is missing after an atomic that has counted the blocks."""
        order, entry = self.clocks.order, int(entries[at])
        lane, earlier = int(self.group.lanes[at]), (entry & THREAD) - self.clocks.first
        if order is None or same_block(self.group.batch, earlier, lane) or not order.flags.fences:
            return False
        other, time = (entry & THREAD) >> 5, entry >> CLOCK_SHIFT
        found = order.link(lane, other, time)
        if not found:
            return False
        flag, seen = found
        return bool(flag.fenced[other - flag.first] > time) and counts(seen.site.instruction)

    def _copied(self, entry: int, cell: int, at: int, times: int) -> None:
        """Report that the lane at position ``at`` meets the copy in flight ``entry``."""
        batch = self.group.batch
        number = int(number_of(entry))
        started = self.races.numbers.site(number).instruction
        there, here = started.location, self.site.instruction.location
        key = ("flight", str(there), str(here), self.writes)
        if self.races.findings.again(key, times):
            return
        earlier = (entry & THREAD) - self.clocks.first
        (thread, block), (other, other_block) = batch.who(self.group.lanes[at]), batch.who(earlier)
        index, name = self._index(cell), self.region.name
        copy = copy_at(batch, started, earlier, self.region, cell, self.shadow.granule)
        what = f"\n    ({named(copy)}{told(batch, copy)})" if copy else ""
        shared = self.region.space == "shared"
        place = f" in shared memory, block {self._home(cell)}" if shared else ""
        does, rule = ("writes it" if self.writes else "reads it"), ""
        if isinstance(self.site, CopySide):
            does = f"starts another {'into' if self.writes else 'out of'} it"
        if not shared:
            rule = NOT_READ if block == other_block else TWO_BLOCKS
        elif copy:
            rule = remedy(batch, copy)
        of = "" if shared else f" of block {block}"
        cause, missing = Cause.COPY_NOT_AWAITED, NOT_AWAITED + rule
        if late := until(self.site):
            cause, missing = Cause.TILE_STILL_READ, f"{late}: before that the tile is not free."
        elif rule == TWO_BLOCKS and self.writes and number & 1:
            cause, missing = Cause.COPIES_OVERLAP, TWO_BLOCKS
        text = (
            f"Data race on {name}[{index}]{place}:\n"
            f"  thread {other} of block {other_block} started an asynchronous copy "
            f"{'into' if number & 1 else 'out of'} it at {there}{what}\n"
            f"  thread {thread}{of} {does} at {here}{missing}"
        )
        finding = Finding(
            DATA_RACE,
            text,
            here,
            thread,
            block,
            name,
            index,
            other_location=there,
            other_thread=other,
            repeats=times - 1,
            cause=cause,
        )
        self.races.findings.add(key, finding)


def _some(positions: np.ndarray) -> list[int]:
    return positions[:: len(positions) // MOST + 1].tolist()


def reach_of(site: WatchedAccess) -> int:
    """How far an access counts as a strong one."""
    return reach(site.instruction.modifiers)


def _bits(value: np.ndarray) -> np.ndarray:
    """So that what is not a number equals itself."""
    return value.view(DTYPES[f"u{8 * value.itemsize}"])
