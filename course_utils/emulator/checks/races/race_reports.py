"""The race check as its parts see it: clocks, numbers of accesses, findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...findings.finding_log import FindingLog
from ...machine.async_state import Transfer
from ...machine.batch import Batch
from ...machine.code import Code
from .access_numbers import AccessNumbers
from .arrivals import RelaxedArrival
from .severity import Paths
from .tile_reads import TileReads
from .vector_clocks import VectorClocks


class Races(Protocol):
    """A race check under way: :class:`.race_check.RaceCheck`."""

    findings: FindingLog
    numbers: AccessNumbers
    scopes: bool

    @property
    def paths(self) -> Callable[[Code], Paths]: ...
    @property
    def volatile_updates(self) -> Callable[[Code], frozenset[tuple[int, int]]]: ...
    def clocks(self, batch: Batch) -> VectorClocks: ...
    def tiles(self, batch: Batch) -> TileReads: ...
    def past(self, batch: Batch, transfer: Transfer) -> np.ndarray: ...
    def relaxed_between(self, batch: Batch, entry: int, lane: int) -> RelaxedArrival | None: ...
