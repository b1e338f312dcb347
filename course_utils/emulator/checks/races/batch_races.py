"""What the race check remembers of one batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...memory.address_space import Region
from .arrivals import BarrierClocks
from .cluster_lifetimes import RemoteArrivals
from .race_shadow import RaceShadow
from .tile_reads import TileReads
from .vector_clocks import VectorClocks


@dataclass(eq=False)
class BatchRaces:
    """One batch. ``past``: what a copy hands over, by its number;
    ``accesses``: how many there were, and had been when last all arrived for their clusters at
    once; ``waited``: blocks with a thread that has waited for its cluster."""

    clocks: VectorClocks
    barrier_clocks: BarrierClocks
    waited: np.ndarray
    tiles: TileReads
    shadows: dict[Region, RaceShadow] = field(default_factory=dict)
    past: dict[int, np.ndarray] = field(default_factory=dict)
    remote_arrivals: RemoteArrivals = field(default_factory=RemoteArrivals)
    accesses: int = 0
    at_arrival: int = -1
