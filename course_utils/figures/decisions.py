"""The answer of a classifier of two classes at every point of the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..integers import ceil_div
from .style import BLUE, MARKERS, ORANGE, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3  # panels side by side


@styled
def decision_regions(
    panels: Mapping[str, np.ndarray],
    points: np.ndarray,
    labels: np.ndarray,
    extent: tuple[float, float, float, float],
    *,
    title: str = "",
) -> Figure:
    """One map per panel: the probability of class 1, (rows, columns) over ``extent`` (left, right,
    bottom, top). The first row is the lowest. There is a line where it is one half, and the
    ``points`` (n, 2) with a mark for each of the ``labels`` 0 and 1.

    Raises ValueError where a map isn't a matrix of numbers from 0 to 1.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("two", [blend(ORANGE, 0.6), "white",
                                                        blend(BLUE, 0.6)])  # fmt: skip
    points, labels = np.asarray(points), np.asarray(labels)
    across = min(COLUMNS, len(panels))
    down = ceil_div(len(panels), across)
    left, right, bottom, top = extent
    height = 8 / across * (top - bottom) / (right - left)
    figure, grid = new(8, (height + 0.35) * down + 0.4, nrows=down, ncols=across, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, (name, map_) in zip(grid.flat, panels.items(), strict=False):
        map_ = np.asarray(map_, dtype=float)
        if map_.ndim != 2 or not ((map_ >= 0) & (map_ <= 1)).all():
            raise ValueError(f"{name}: give a matrix of probabilities, from 0 to 1")
        axes.imshow(map_, extent=extent, origin="lower", cmap=colours, vmin=0, vmax=1,
                    aspect="auto", interpolation="nearest")  # fmt: skip
        if map_.min() < 0.5 < map_.max():
            axes.contour(map_, levels=[0.5], extent=extent, colors="#333333", linewidths=1.3)
        for label, colour in ((0, ORANGE), (1, BLUE)):
            axes.scatter(*points[labels == label].T, s=9, marker=MARKERS[label], color=colour,
                         edgecolor="#333333", linewidth=0.3)  # fmt: skip
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        axes.set_title(name, fontsize=10, pad=3)
    figure.suptitle(title)
    return figure
