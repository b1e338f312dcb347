"""Matrices of a warp: the lane of each element, the chunks of rows, the bits of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..integers import ceil_div
from .style import BLUE, GREEN, ORANGE, PALE, bare, blend, ink, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

LANES = 32
ROW_BYTES = 128  # all 32 banks


PANELS = 2  # of chunks, side by side


@styled
def fragments(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    *,
    lane: int = 5,
    title: str = "Which lane holds which element",
) -> Figure:
    """The matrices of one ``mma``, each element with its lane. ``lane`` has a stronger colour.

    ``a``, ``b`` and ``c`` are (32, n) integers: the elements that each lane holds, in the order of
    its registers, numbered row by row. A is 16 rows high, C as A, and B as wide as C. The lane's
    elements carry their number in the lane (0, 1, …) instead of the lane's.
    Raises ValueError unless each element of a matrix is held exactly once.
    """
    a, b, c = (np.asarray(held) for held in (a, b, c))
    rows = 16
    columns = c.size // rows
    shapes = {"A": (rows, a.size // rows), "B": (b.size // columns, columns), "C": (rows, columns)}
    places = {name: _places(held, name) for name, held in zip("ABC", (a, b, c), strict=True)}
    cell = 0.25  # inches
    wide, high = shapes["A"][1] + columns, shapes["B"][0] + rows
    figure, grid = new(
        cell * wide + 1.3,
        cell * high + 1.5,
        nrows=2,
        ncols=2,
        width_ratios=[shapes["A"][1], columns],
        height_ratios=[shapes["B"][0], rows],
    )
    grid[0, 0].set_axis_off()
    for axes, name in ((grid[1, 0], "A"), (grid[0, 1], "B"), (grid[1, 1], "C")):
        lanes, place = (part.reshape(shapes[name]) for part in places[name])
        _fragment(axes, lanes, place, lane)
        down, across = shapes[name]
        axes.set_title(f"{name}, {down} × {across}", fontsize=9)
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    legend_below(figure, _lane_key(lane))
    return figure


def _places(held: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """For every element its lane, and its place among those that the lane holds."""
    if held.ndim != 2 or len(held) != LANES:
        raise ValueError(
            f"{name} has shape {held.shape}; give what each of 32 lanes holds: (32, n)"
        )
    if not np.array_equal(np.sort(held, axis=None), np.arange(held.size)):
        raise ValueError(f"the elements of {name} are not held once each: 0 to {held.size - 1}")
    order = np.argsort(held, axis=None)
    return order // held.shape[1], order % held.shape[1]


def _fragment(axes: Axes, lanes: np.ndarray, places: np.ndarray, lane: int) -> None:
    from matplotlib.patches import Rectangle

    rows, columns = lanes.shape
    for (row, column), owner in np.ndenumerate(lanes):
        mine = owner == lane
        face = BLUE if mine else blend(ORANGE, 0.3) if owner // 4 % 2 else "white"
        axes.add_patch(
            Rectangle((column, row), 1, 1, facecolor=face, edgecolor="#BBBBBB", linewidth=0.5)
        )
        axes.text(
            column + 0.5,
            row + 0.5,
            f"{places[row, column]}" if mine else f"{owner}",
            ha="center",
            va="center",
            fontsize=8 if mine else 7,
            fontweight="bold" if mine else "normal",
            color=ink(face) if mine else "black",
        )
    for row in range(0, rows + 1, 8):
        axes.plot([0, columns], [row, row], color="#333333", linewidth=1.2, clip_on=False)
    for column in range(0, columns + 1, 8):
        axes.plot([column, column], [0, rows], color="#333333", linewidth=1.2, clip_on=False)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.set_xticks(np.arange(0, columns, 4) + 0.5, range(0, columns, 4))
    axes.set_yticks(np.arange(0, rows, 4) + 0.5, range(0, rows, 4))
    axes.tick_params(labelsize=7)
    bare(axes)


def _lane_key(lane: int) -> list[Patch]:
    from matplotlib.patches import Patch

    grey = {"edgecolor": "#BBBBBB"}
    return [
        Patch(facecolor=BLUE, label=f"lane {lane}: the numbers count its own elements"),
        Patch(facecolor=blend(ORANGE, 0.3), label="lanes 4–7, 12–15, …", **grey),
        Patch(facecolor="white", label="lanes 0–3, 8–11, …", **grey),
    ]


@styled
def swizzle(
    layouts: Mapping[str, np.ndarray], *, chunk: int = 2, title: str = "Where the chunks lie"
) -> Figure:
    """Rows of shared memory, 128 bytes each, as eight chunks of 16 bytes: one panel a layout, two
    side by side.

    A layout is (rows, 8) integers: the position in its row of each chunk, ``[row, chunk]``.
    The boxes carry the chunk's number, and ``chunk`` has a stronger colour. A position is four
    banks wide, so boxes below one another share their banks. Raises ValueError where two chunks
    share one.
    """
    rows = ceil_div(len(layouts), PANELS)
    figure, grid = new(9, 3.5 * rows, nrows=rows, ncols=min(len(layouts), PANELS), squeeze=False)
    for axes in grid.flat[len(layouts) :]:
        axes.set_axis_off()
    for axes, (name, places) in zip(grid.flat, layouts.items(), strict=False):
        places = np.asarray(places)
        if places.ndim != 2 or (np.sort(places, axis=1) != np.arange(places.shape[1])).any():
            raise ValueError(
                f"{name}: give for each row the position of every chunk, each position once"
            )
        _chunks(axes, places, chunk)
        hit = len(set(places[:, chunk].tolist()))
        words = "one position" if hit == 1 else f"{hit} different positions"
        axes.set_title(f"{name}: chunk {chunk} of {len(places)} rows in {words}", fontsize=9)
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    return figure


def _chunks(axes: Axes, places: np.ndarray, chunk: int) -> None:
    from matplotlib.patches import Rectangle

    rows, count = places.shape
    for (row, number), place in np.ndenumerate(places):
        mine = number == chunk
        face = BLUE if mine else PALE
        axes.add_patch(
            Rectangle((place, row), 1, 1, facecolor=face, edgecolor="white", linewidth=1.5)
        )
        axes.text(
            place + 0.5,
            row + 0.5,
            f"{number}",
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold" if mine else "normal",
            color=ink(face) if mine else "#333333",
        )
    axes.set_xlim(0, count)
    axes.set_ylim(rows, 0)
    banks = ROW_BYTES // count // 4
    ticks = [f"{banks * place}–{banks * place + banks - 1}" for place in range(count)]
    axes.set_xticks(np.arange(count) + 0.5, ticks)
    axes.set_yticks(np.arange(rows) + 0.5, range(rows))
    axes.tick_params(labelsize=7)
    axes.set_xlabel("banks", fontsize=9)
    axes.set_ylabel("row", fontsize=9)
    bare(axes)


@styled
def number_formats(
    formats: Mapping[str, tuple[int, int, int]], *, title: str = "What the bits stand for"
) -> Figure:
    """One row of boxes a format: its bits of sign, exponent and fraction, or of an integer.

    ``formats`` maps a name to (sign, exponent, fraction) bits. One without exponent is an integer.
    """
    from matplotlib.patches import Patch, Rectangle

    styles = (
        ("sign", blend("#000000", 0.35), ""),
        ("exponent: the power of two", blend(ORANGE, 0.6), "///"),
        ("fraction: the digits", blend(BLUE, 0.45), ""),
        ("digits of an integer", blend(GREEN, 0.45), "..."),
    )
    figure, axes = new(9, 0.42 * len(formats) + 1.1)
    widest = max(sum(bits) for bits in formats.values())
    for row, bits in enumerate(formats.values()):
        kinds = (0, 1, 2 if bits[1] else 3)
        start = 0
        for count, kind in zip(bits, kinds, strict=True):
            _, face, hatch = styles[kind]
            for place in range(start, start + count):
                axes.add_patch(
                    Rectangle(
                        (place, row + 0.12),
                        1,
                        0.76,
                        facecolor=face,
                        edgecolor="white",
                        hatch=hatch,
                        linewidth=1,
                    )
                )
            if count > 1:
                axes.text(
                    start + count / 2,
                    row + 0.5,
                    f"{count}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
                )
            start += count
    axes.set_xlim(0, widest)
    axes.set_ylim(len(formats), 0)
    axes.set_xticks([])
    axes.set_yticks(np.arange(len(formats)) + 0.5, formats)
    bare(axes)
    legend_below(
        figure, [Patch(facecolor=f, edgecolor="white", hatch=h, label=n) for n, f, h in styles]
    )
    axes.set_title(title)
    return figure
