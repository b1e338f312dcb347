"""The order in which a loop walks through a matrix, and the cache lines that it fetches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .style import BLUE, ORANGE, bare, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

Read = tuple[int, int, bool]
CELL = 0.28  # inches


@styled
def access_orders(
    walks: Mapping[str, Sequence[Read]], shape: tuple[int, int], line: int, *, title: str = ""
) -> Figure:
    """One matrix for each walk, with the number of every read in the element that it wants.

    A walk is a list of reads (row, column, fetched), in order, at most one for each element;
    ``fetched`` says whether the read had to fetch a cache line. ``shape`` is (rows, columns),
    ``line`` the elements of a cache line; the matrix begins with a new one. Raises ValueError for a
    read outside the matrix.
    """
    rows, columns = shape
    width = len(walks) * (columns * CELL + 0.4)
    figure, grid = new(width, rows * CELL + 1.5, ncols=len(walks), squeeze=False)
    for axes, (name, reads) in zip(grid[0], walks.items(), strict=True):
        for number, (row, column, fetched) in enumerate(reads):
            if not (0 <= row < rows and 0 <= column < columns):
                raise ValueError(f"{name}: read {number} is at {row}, {column}, outside {shape}")
            _element(axes, row, column, fetched)
            axes.text(column + 0.5, row + 0.5, str(number), ha="center", va="center", fontsize=8)
        _lines(axes, rows, columns, line)
        axes.set_xlim(-0.1, columns + 0.1)
        axes.set_ylim(rows + 0.1, -0.1)
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("column")
        axes.set_ylabel("row")
        bare(axes)
        fetches = sum(fetched for *_, fetched in reads)
        lines = "1 line" if fetches == 1 else f"{fetches} lines"
        axes.set_title(f"{name}: {len(reads)} reads, {lines} fetched", fontsize=10)
    if title:
        figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    legend_below(figure, _key())
    return figure


def _element(axes: Axes, row: int, column: int, fetched: bool) -> None:
    from matplotlib.patches import Rectangle

    style = _fetch_style() if fetched else _hit_style()
    axes.add_patch(Rectangle((column, row), 1, 1, **style))


def _lines(axes: Axes, rows: int, columns: int, line: int) -> None:
    """Thin borders of the elements, thick ones of the cache lines, which may go on in a new row."""
    axes.hlines(range(rows + 1), 0, columns, color="#333333", linewidth=1.4)
    axes.vlines(range(columns + 1), 0, rows, color="#CCCCCC", linewidth=0.6, zorder=1.5)
    axes.vlines([0, columns], 0, rows, color="#333333", linewidth=0.6)
    for first in range(0, rows * columns + 1, line):
        row, column = divmod(first, columns)
        if row < rows:
            axes.vlines(column, row, row + 1, color="#333333", linewidth=2.2)
        if row and not column:
            axes.vlines(columns, row - 1, row, color="#333333", linewidth=2.2)


def _fetch_style() -> dict[str, object]:
    return {"facecolor": blend(ORANGE, 0.35), "edgecolor": ORANGE, "hatch": "///", "linewidth": 0}


def _hit_style() -> dict[str, object]:
    return {"facecolor": blend(BLUE, 0.3), "edgecolor": "#333333", "linewidth": 0}


def _key() -> list[Patch]:
    from matplotlib.patches import Patch

    return [
        Patch(**_fetch_style(), label="fetches a cache line (thick borders)"),
        Patch(**_hit_style(), label="the line is there already"),
    ]
