"""Blackwell's tensor memory: 128 lanes of 512 columns, and the areas in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..emulator import WARP
from .style import HATCHES, PALE, PALETTE, blend, ink, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANES, COLUMNS = 128, 512
Area = tuple[int, int, int, int]  # first lane, lanes, first column, columns


@styled
def tensor_memory_areas(panels: Mapping[str, Mapping[str, Area]], *, title: str = "") -> Figure:
    """Areas of the tensor memories of a few blocks, one panel each, one below the other.

    ``panels`` maps a heading to its areas, each (first lane, lanes, first column, columns) by name.
    The lines between the lanes of the warps are drawn as well. Raises ValueError for a panel
    without areas, and for an area that is not inside 128 lanes and 512 columns.
    """
    if not panels or not all(panels.values()):
        raise ValueError("tensor_memory_areas draws areas; a panel has no areas")
    names = list(dict.fromkeys(name for areas in panels.values() for name in areas))
    figure, grid = new(9, 2.1 * len(panels) + 0.5, nrows=len(panels), squeeze=False, sharex=True)
    for axes, (heading, areas) in zip(grid[:, 0], panels.items(), strict=True):
        for name, area in areas.items():
            _area(axes, name, area, names.index(name))
        axes.set_facecolor(PALE)
        for lane in range(WARP, LANES, WARP):
            axes.axhline(lane, color="#333333", linestyle="--", linewidth=1)
        axes.set_xlim(0, COLUMNS)
        axes.set_ylim(LANES, 0)
        axes.set_yticks(range(0, LANES + 1, WARP))
        axes.set_xticks(range(0, COLUMNS + 1, 64))
        axes.set_ylabel("lane")
        axes.grid(visible=False)
        axes.set_title(heading, loc="left", fontsize=10)
    grid[-1, 0].set_xlabel("column")
    if title:
        figure.suptitle(title)
    return figure


def _area(axes: Axes, name: str, area: Area, number: int) -> None:
    from matplotlib.patches import Rectangle

    lane, lanes, column, columns = area
    if min(lane, column) < 0 or lane + lanes > LANES or column + columns > COLUMNS:
        raise ValueError(
            f"{name}: lanes {lane} to {lane + lanes - 1} and columns {column} to "
            f"{column + columns - 1} are not inside {LANES} lanes and {COLUMNS} columns"
        )
    face = blend(PALETTE[number % len(PALETTE)], 0.5)
    axes.add_patch(
        Rectangle(
            (column, lane),
            columns,
            lanes,
            facecolor=face,
            edgecolor="#333333",
            hatch=HATCHES[number % len(HATCHES)],
            linewidth=1,
        )
    )
    axes.text(
        column + columns / 2,
        lane + lanes / 2,
        name,
        ha="center",
        va="center",
        fontsize=9,
        color=ink(face),
        bbox={"facecolor": face, "edgecolor": "none", "pad": 1},
    )
