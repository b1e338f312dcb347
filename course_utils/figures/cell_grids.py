"""Arrays drawn as cells with their numbers: an order in memory, the banks of a tile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .style import PALETTE, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = 0.32  # inches
WIDEST = 9.0  # inches
INK = "#333333"


@styled
def numbered_cells(
    arrays: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    across: bool = True,
    frame: int | None = None,
    title: str = "",
) -> Figure:
    """Each array with its numbers in its cells, cells of one group in one colour.

    ``arrays`` maps a title to (numbers, groups), two integer arrays of one shape (rows, columns).
    They are drawn side by side, or one below the other with ``across=False``. ``frame`` draws a
    frame around that column of each. Raises ValueError when the shapes differ.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    cells = {name: (np.asarray(n), np.asarray(g)) for name, (n, g) in arrays.items()}
    for name, (numbers, groups) in cells.items():
        if numbers.ndim != 2 or numbers.shape != groups.shape:
            raise ValueError(
                f"{name}: numbers of shape {numbers.shape} and groups of shape {groups.shape}; "
                "both are (rows, columns)"
            )
    figure, grid = panels([numbers.shape for numbers, _ in cells.values()], across=across)
    for axes, (name, (numbers, groups)) in zip(grid.flat, cells.items(), strict=True):
        colours = [_tint(group) for group in range(groups.max() + 1)]
        axes.imshow(groups, cmap=ListedColormap(colours), vmin=0, vmax=max(groups.max(), 1))
        for (row, column), number in np.ndenumerate(numbers):
            axes.text(column, row, number, ha="center", va="center", fontsize=8)
        if frame is not None:
            axes.add_patch(
                Rectangle(
                    (frame - 0.5, -0.5), 1, len(numbers), fill=False, linewidth=2.5, edgecolor=INK
                )
            )
        axes.set(xticks=[], yticks=[])
        axes.set_title(name, fontsize=10)
    if title:
        figure.suptitle(title)
    return figure


def panels(
    shapes: list[tuple[int, int]], *, across: bool, cell: float = CELL, least: float = 0.0
) -> tuple[Figure, np.ndarray]:
    """Axes for tables of ``shapes`` (rows, columns), side by side or one below the other, as a 2-D
    array. ``cell`` and ``least``, the least width of the figure, are in inches."""
    rows, columns = np.array(shapes).T
    if across:
        width, height = columns.sum() * cell + 0.6 * len(shapes), rows.max() * cell + 0.8
        layout = {"ncols": len(shapes), "width_ratios": columns}
    else:
        width, height = columns.max() * cell + 0.6, rows.sum() * cell + 2.2 * CELL * len(shapes)
        layout = {"nrows": len(shapes), "height_ratios": rows}
    return new(max(min(width, WIDEST), least), height, squeeze=False, **layout)


def _tint(group: int) -> tuple[float, float, float]:
    """The palette in light, then once more and paler."""
    return blend(PALETTE[group % len(PALETTE)], (0.45, 0.15)[group // len(PALETTE) % 2])
