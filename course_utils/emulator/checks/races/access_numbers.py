"""A number for each kind of access at each line, which fits into an entry."""

from __future__ import annotations

import numpy as np

from ...machine.accesses import WatchedAccess
from ...memory.address_space import Region
from .copy_sides import CopySide
from .happens_before import GPU, is_strong, reach
from .race_entries import MAX_SITES, SITE


class AccessNumbers:
    """The accesses of a launch by number. ``optimistic_loads``: ids of loads that count as strong.

    ``reaches``: int8, by number, how far the scope of a strong access reaches.
    """

    def __init__(self, optimistic_loads: frozenset[int]) -> None:
        self._optimistic_loads = optimistic_loads
        self._numbers: dict[tuple[int, str], int] = {}
        self._kinds: dict[tuple[object, ...], int] = {}
        self._sites: dict[int, WatchedAccess] = {}
        self.reaches = np.full(SITE + 1, GPU, np.int8)

    def of(self, site: WatchedAccess, region: Region) -> int:
        """The number of an access, odd for a strong one."""
        number = self._numbers.get((id(site), region.space))
        if number is None:
            strong = is_strong(site, region) or id(site.instruction) in self._optimistic_loads
            i = site.instruction
            waited = site.waited.locations if isinstance(site, CopySide) and site.waited else None
            scope = reach(i.modifiers) if strong else GPU
            how = site.is_store, site.is_atomic, site.width, site.bytes, strong, scope
            key = i.locations, *how, waited
            known = self._kinds.setdefault(key, len(self._kinds))
            known = min(known, MAX_SITES - 1)  # beyond them a report may name a wrong line
            self._sites.setdefault(known, site)
            number = self._numbers[id(site), region.space] = 2 * known + strong
            self.reaches[number] = min(scope, self.reaches[number])
        return number

    def site(self, number: int) -> WatchedAccess:
        """The first memory instruction that got this number."""
        return self._sites[number >> 1]
