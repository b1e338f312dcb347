"""A block's tile of a matrix product: which results a thread owns, and which factors it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, ORANGE, bare, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

SIDE = 4.6  # inches of the drawn tile of C
THIN = 0.85  # inches of the short side of the tiles of A and B


@styled
def product_tiles(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, *, title: str = "What one thread works on"
) -> Figure:
    """The tile of C with A's tile at its left and B's above it, as rows meet columns.

    ``a`` is (BM, BK), ``b`` (BK, BN) and ``c`` (BM, BN): 2 where the thread reads or writes the
    element, 1 where only others of its warp do, 0 elsewhere. The short side of A and B is drawn
    wider than it is. Raises ValueError when the shapes do not fit together.
    """
    a, b, c = (np.asarray(tile) for tile in (a, b, c))
    if a.ndim != 2 or b.ndim != 2 or c.shape != (len(a), b.shape[1]) or a.shape[1] != len(b):
        raise ValueError(
            f"A's tile has shape {a.shape}, B's {b.shape}, C's {c.shape}; "
            "they are (BM, BK), (BK, BN) and (BM, BN)"
        )
    figure, grid = new(
        SIDE + THIN + 1.2,
        SIDE + THIN + 1.3,
        nrows=2,
        ncols=2,
        width_ratios=[THIN, SIDE],
        height_ratios=[THIN, SIDE],
    )
    grid[0, 0].set_axis_off()
    for axes, tile, name in ((grid[0, 1], b, "B"), (grid[1, 0], a, "A"), (grid[1, 1], c, "C")):
        _tile(axes, tile)
        axes.set_title(f"{name}, {tile.shape[0]} × {tile.shape[1]}", fontsize=9)
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    legend_below(figure, _key())
    return figure


def _tile(axes: Axes, tile: np.ndarray) -> None:
    from matplotlib.patches import Rectangle

    rows, columns = tile.shape
    for value, style in ((1, _warp_style()), (2, _thread_style())):
        for row, column, height, width in rectangles(tile == value):
            axes.add_patch(Rectangle((column, row), width, height, **style))
    axes.add_patch(
        Rectangle((0, 0), columns, rows, facecolor="none", edgecolor="#333333", clip_on=False)
    )
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.set_xticks([0, columns] if columns < 16 else range(0, columns + 1, columns // 4))
    axes.set_yticks([0, rows] if rows < 16 else range(0, rows + 1, rows // 4))
    bare(axes)


def rectangles(mask: np.ndarray) -> list[tuple[int, int, int, int]]:
    """(row, column, height, width) of rectangles that cover the true cells of ``mask``, each cell
    once: as wide as they can be, then as high."""
    left = mask.copy()
    found = []
    for row, column in np.argwhere(mask):
        if not left[row, column]:
            continue
        stop = np.flatnonzero(~left[row, column:])
        width = int(stop[0]) if len(stop) else left.shape[1] - int(column)
        whole = left[row:, column : column + width].all(axis=1)
        height = int(np.argmin(whole)) if not whole.all() else len(left) - int(row)
        left[row : row + height, column : column + width] = False
        found.append((int(row), int(column), height, width))
    return found


def _warp_style() -> dict[str, object]:
    return {"facecolor": blend(ORANGE, 0.25), "edgecolor": ORANGE, "hatch": "////", "linewidth": 0}


def _thread_style() -> dict[str, object]:
    return {"facecolor": BLUE, "edgecolor": BLUE, "linewidth": 0.4}


def _key() -> list[Patch]:
    from matplotlib.patches import Patch

    return [
        Patch(**_thread_style(), label="the thread's"),
        Patch(**_warp_style(), label="other threads of its warp"),
    ]
