"""Decoupled look-back: the prefix that each tile of a scan took from a tile before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .style import BLACK, BLUE, GREY, HATCHES, ORANGE, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def look_backs(prefix_of: Sequence[int], looks: Sequence[int], *, title: str = "") -> Figure:
    """A row for each tile: itself, the aggregates that it added, and the prefix that it found.

    ``prefix_of[t]`` is the tile whose prefix tile t took, -1 where none is before it, and
    ``looks[t]`` how often it read the words of others. Raises ValueError where a tile took the
    prefix of one that does not come before it, or the two differ in length.
    """
    from matplotlib.patches import Patch

    found, times = np.asarray(prefix_of), np.asarray(looks)
    tiles = np.arange(len(found))
    if found.shape != times.shape or found.ndim != 1:
        raise ValueError(f"prefix_of has shape {found.shape} and looks {times.shape}")
    if wrong := [int(t) for t in tiles if not -1 <= found[t] < t]:
        raise ValueError(f"tile {wrong[0]} took the prefix of tile {found[wrong[0]]}")
    height = min(7.0, 1.6 + 0.07 * len(found))
    figure, (left, right) = new(9, height, ncols=2, sharey=True, width_ratios=(3, 1))
    before = found >= 0
    left.barh(tiles, tiles - found - 1, 0.8, found + 0.5, color=blend(BLUE, 0.45), hatch=HATCHES[0])
    left.barh(tiles[before], 1, 1.0, found[before] - 0.5, color=ORANGE, hatch=HATCHES[1])
    left.barh(tiles, 1, 1.0, tiles - 0.5, color=BLACK)
    left.set(xlabel="tile looked at", ylabel="tile", xlim=(-1.5, len(found)))
    left.set_ylim(len(found) - 0.5, -0.5)
    right.barh(tiles, times, 0.8, color=GREY)
    right.set(xlabel="times it looked")
    handles = [
        Patch(color=BLACK, label="the tile itself"),
        Patch(color=blend(BLUE, 0.45), label="aggregate added"),
        Patch(facecolor=ORANGE, hatch=HATCHES[1], label="prefix found"),
    ]
    legend_below(figure, handles)
    if title:
        figure.suptitle(title)
    return figure
