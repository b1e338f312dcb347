"""One access, while it is checked for races: its array, its lanes, their clocks."""

from __future__ import annotations

import numpy as np

from ...isa.location import Location
from ...machine.accesses import Site, WatchedAccess
from ...machine.lanes import Group
from ...memory.address_space import Region
from .happens_before import reach
from .race_entries import THREAD, pack
from .race_reports import Races
from .race_shadow import RaceShadow
from .waiting_loops import waits_for

Span = tuple[int, int]


class CheckedAccess:
    """One instruction of some lanes on one array.

    The findings go to ``races``, a :class:`~.race_check.RaceCheck`. ``span`` are the bytes touched,
    from the start of a copy of the array. ``elements`` are the first ones of each lane's access, in
    elements of the instruction's width.
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

    def index(self, cell: int) -> int:
        """The element of the array, as this instruction counts them."""
        inside = cell * self.shadow.granule
        return inside % (self.region.stride or self.region.size) // self.site.width

    def home(self, cell: int) -> tuple[int, int, int]:
        """The block whose shared memory holds a cell."""
        batch, stride = self.group.batch, self.region.stride
        return batch.block_index(batch.first + cell * self.shadow.granule // stride)

    def earlier(self, entry: int) -> int:
        """The lane of the thread that made an earlier access ``entry``."""
        return (entry & THREAD) - self.clocks.first

    def loop(self) -> Location | None:
        """The line of a loop that waits for the array of this access to change."""
        return waits_for(self.group.code, self.site.instruction) if self.group.R else None


def reach_of(site: WatchedAccess) -> int:
    """How far an access counts as a strong one."""
    return reach(site.instruction.modifiers)
