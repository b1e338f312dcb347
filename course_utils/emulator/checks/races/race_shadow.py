"""The shadow of memory: the last accesses of each cell, their lines and their times.

A :class:`RaceShadow` keeps for each cell of an array the entries (:mod:`.race_entries`) of its last
writer and its last reader, and of one more reader that is another thread than the last.

Most accesses need no look at single cells. Between two barriers a tile is either written or read,
and most arrays of a launch are only ever read: so reads are deferred as they come, and entered
cell by cell only when something is written where they were.
"""

from __future__ import annotations

import numpy as np

from ...memory.address_space import Region
from ...numerics.rounding import ceil_div
from .race_entries import MAX_CLOCK, THREAD, pack
from .vector_clocks import VectorClocks

Read = tuple[int, int, int, int]  # see `_DeferredReads`

DEFERRED_LANES = 1 << 22  # deferred addresses (32 MB), and reads, before all are entered
DEFERRED_READS = 1 << 15
ENOUGH_LOOKS = 1 << 12  # looks at the deferred reads before all of it is entered
ENTERED_AT_ONCE = 1 << 16  # addresses
EMPTY = (1 << 62, -1)  # a range of bytes that overlaps no other


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two ranges [from, to) have something in common."""
    return a[0] < b[1] and b[0] < a[1]


def hull(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """The smallest range that holds two ranges."""
    return min(a[0], b[0]), max(a[1], b[1])


class _DeferredReads:
    """Deferred reads: those of the same lanes at the same time whose addresses differ by where
    they begin only. ``reads``: (first element, to which ``index`` is added; instruction's number;
    bytes of an element; bytes of the access) of each, in order. ``length``: bytes from the lowest
    address to the highest."""

    def __init__(
        self, index: np.ndarray, lanes: np.ndarray, clocks: VectorClocks, length: int
    ) -> None:
        self.index, self.lanes, self.length = index, lanes, length
        self.clocks, self.level, self.own = clocks, clocks.level, clocks.own
        self.range = EMPTY
        self.reads: dict[tuple[int, int, int, int], None] = {}

    def range_of(self, read: Read) -> tuple[int, int]:
        low = read[0] * read[2]
        return low, low + self.length + read[3]

    def take(self, span: tuple[int, int]) -> dict[tuple[int, int, int], list[int]]:
        """Remove the reads that touch a range of bytes: first elements, by the rest of a read's
        key."""
        chosen: dict[tuple[int, int, int], list[int]] = {}
        for read in list(self.reads):
            if overlap(self.range_of(read), span):
                del self.reads[read]
                chosen.setdefault(read[1:], []).append(read[0])
        return chosen

    def elements(self, firsts: list[int]) -> np.ndarray:
        """The elements of all lanes, of one read after the other."""
        if len(firsts) == 1 and len(self.index) == len(self.lanes):
            return self.index + firsts[0]
        at = np.array(firsts)[:, None]
        return np.broadcast_to(self.index + at, (len(firsts), len(self.lanes))).ravel()

    def entries(self, number: int) -> np.ndarray:
        clock = self.level if self.own is None else self.own[self.lanes >> 5]
        return pack(self.clocks.threads(self.lanes), np.minimum(clock, MAX_CLOCK), number)


class RaceShadow:
    """The entries of one array, in cells of ``granule`` bytes.

    ``size``: bytes of all its copies: one for each block, or one that all share.
    ``written`` and ``read_in`` are ranges of bytes in a copy. Outside them no cell has a writer
    or a reader since the last barrier for all threads.
    """

    def __init__(self, size: int, granule: int) -> None:
        self.size, self.granule = size, granule
        cells = ceil_div(size, granule)
        self.writer, self.reader, self.other = np.zeros((3, cells), np.int64)
        self.in_flight: np.ndarray | None = None  # copies in flight, odd numbers those that write
        self.bytes_in_flight = 0
        self.filled: np.ndarray | None = None  # whether a copy has landed in a cell
        self.forget()

    def forget(self) -> None:
        """Everything so far is known to everybody: from now on it races with nothing."""
        self.level = 0
        self.written = self.read_in = EMPTY
        self._deferred: dict[tuple[int, ...], _DeferredReads] = {}
        self._deferred_lanes = self._deferred_reads = self._looks = 0

    # --- cells ---

    def fit(self, width: int, size: int) -> None:
        """Make cells small enough for accesses of ``size`` bytes, in elements of ``width``."""
        granule = max(width, min(size, 4))
        if granule >= self.granule:
            return
        times = self.granule // granule
        for name in ("writer", "reader", "other", "in_flight", "filled"):
            if getattr(self, name) is not None:
                setattr(self, name, np.repeat(getattr(self, name), times))
        self.granule = granule

    def cells(self, elements: np.ndarray, width: int, piece: int = 0) -> np.ndarray:
        """The cells where elements of ``width`` bytes begin, ``piece`` cells further on.
        ``elements`` are int64 (n,), as are the cells."""
        if width > self.granule:
            elements = elements * (width // self.granule)
        elif width < self.granule:
            elements = elements // (self.granule // width)
        return elements + piece if piece else elements

    # --- reads ---

    def defer_read(
        self, clocks: VectorClocks, lanes: np.ndarray, index: np.ndarray, length: int, read: Read
    ) -> None:
        """Remember a read by some lanes, now, as :class:`_DeferredReads`."""
        key = (id(index), id(lanes), clocks.level, id(clocks.own))
        deferred = self._deferred.get(key)
        if deferred is None:
            deferred = self._deferred[key] = _DeferredReads(index, lanes, clocks, length)
            self._deferred_lanes += len(index)
        if read not in deferred.reads:
            deferred.reads[read] = None
            deferred.range = hull(deferred.range, deferred.range_of(read))
            self._deferred_reads += 1
            if self._deferred_lanes > DEFERRED_LANES or self._deferred_reads > DEFERRED_READS:
                self.enter((0, self.size))

    def enter(self, span: tuple[int, int]) -> None:
        """Enter the deferred reads that touch a range of bytes, or all when looking for those has
        taken long enough."""
        if not self._deferred:
            return
        self._looks += len(self._deferred)
        if self._looks > ENOUGH_LOOKS:
            self._looks, span = 0, (0, self.size)
        for key, deferred in list(self._deferred.items()):
            if not overlap(deferred.range, span):
                continue
            self._looks += len(deferred.reads)
            for (number, width, size), firsts in deferred.take(span).items():
                self._deferred_reads -= len(firsts)
                entries, lanes = deferred.entries(number), len(deferred.lanes)
                ends = (min(firsts), number, width, size), (max(firsts), number, width, size)
                touched = hull(*map(deferred.range_of, ends))
                some = max(1, ENTERED_AT_ONCE // lanes)
                for start in range(0, len(firsts), some):
                    part = firsts[start : start + some]
                    elements = deferred.elements(part)
                    each = entries if len(part) == 1 else np.tile(entries, len(part))
                    for piece in range(max(1, size // self.granule)):
                        self.enter_read(self.cells(elements, width, piece), each, touched)
            if not deferred.reads:
                del self._deferred[key]
                self._deferred_lanes -= len(deferred.index)

    def enter_read(self, cells: np.ndarray, entries: np.ndarray, span: tuple[int, int]) -> None:
        """Enter reads of cells, within the range of bytes ``span``. ``cells`` and ``entries`` are
        int64 (n,)."""
        self.read_in = hull(self.read_in, span)
        before = self.reader[cells]
        self.reader[cells] = entries
        theirs = ((before > 0) & ((before ^ entries) & THREAD != 0)).nonzero()[0]
        self.other[cells[theirs]] = before[theirs]
        lost = (self.reader[cells] != entries).nonzero()[0]  # another lane read the same cell
        self.other[cells[lost]] = entries[lost]

    # --- writes ---

    def enter_write(self, cells: np.ndarray, entries: np.ndarray, span: tuple[int, int]) -> bool:
        """The readers of these cells have been compared with this writer, and are forgotten.
        Returns whether each lane has its own cell."""
        self.written = hull(self.written, span)
        self.writer[cells] = entries
        if overlap(span, self.read_in):
            self.reader[cells] = self.other[cells] = 0
        return self.writer.take(cells).tobytes() == entries.tobytes()

    # --- copies in flight ---

    def copy_started(self, cells: np.ndarray, marks: np.ndarray) -> None:
        """A copy that touches cells is in flight. ``marks``: entries, odd where it writes."""
        if self.in_flight is None:
            self.in_flight = np.zeros(len(self.writer), np.int64)
        self.in_flight[cells] = marks
        self.bytes_in_flight += len(cells) * self.granule

    def copy_landed(self, cells: np.ndarray) -> None:
        """A copy that touched cells has landed. ``cells``: int64 (n,)."""
        if self.in_flight is not None:
            self.in_flight[cells] = 0
        if self.filled is None:
            self.filled = np.zeros(len(self.writer), bool)
        self.filled[cells] = True
        self.bytes_in_flight -= len(cells) * self.granule


def span_of(region: Region, shadow: RaceShadow, cells: np.ndarray) -> tuple[int, int]:
    """The range of bytes, in a block's copy of an array, that holds some cells."""
    inside = cells * shadow.granule % (region.stride or region.size)
    return int(inside.min()), int(inside.max()) + shadow.granule


def cells_of(view: np.ndarray, index: np.ndarray, granule: int) -> np.ndarray:
    """The cells of elements of ``view``, lane by lane. Elements smaller than a cell belong to
    one lane."""
    per = view.itemsize // granule
    if per == 0:
        cells = index.ravel() * view.itemsize // granule
        low = int(cells.min())
        touched = np.zeros(int(cells.max()) - low + 1, bool)
        touched[cells - low] = True
        return np.flatnonzero(touched) + low
    return (index[..., None] * per + np.arange(per)).ravel()
