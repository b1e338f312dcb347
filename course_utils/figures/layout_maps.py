"""Layouts drawn: the offset in each cell of a matrix, and which thread holds which element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..layouts.int_tuples import IntTuple, flatten, modes, product
from ..layouts.layout import Layout
from ..layouts.swizzles import SwizzledLayout
from .cell_grids import CELL, INK, WIDEST, panels
from .style import BLUE, PALETTE, blend, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawable: TypeAlias = "Layout | SwizzledLayout"
MOST = 4096  # cells


@styled
def layout_map(
    layouts: Mapping[str, Drawable],
    *,
    group: Callable[[np.ndarray], np.ndarray] | None = None,
    title: str = "",
) -> Figure:
    """The offsets of each layout as a matrix: mode 0 downwards, mode 1 to the right.

    A layout of one mode is drawn as a row. Modes after the second are joined to it. Heavier lines
    separate the steps of a nested mode's outer extent. The colour goes from pale to dark with
    the offset or, with ``group``, shows the group of each: ``group`` maps an int64 array of offsets
    to one of group numbers, of the same shape (``lambda offset: offset % 32`` for banks).
    Raises ValueError for more than 4,096 cells.
    """
    tables = {name: matrix(layout) for name, layout in layouts.items()}
    figure, grid = as_panels([table.shape for table in tables.values()])
    for axes, (name, layout) in zip(grid.flat, layouts.items(), strict=True):
        table = tables[name]
        groups = None if group is None else np.asarray(group(table))
        if groups is None:
            shades = 0.08 + 0.5 * table / max(table.max(), 1)
            colours = np.array([blend(BLUE, shade) for shade in shades.flat])
        else:
            colours = np.array([tint(number) for number in groups.flat])
        fill(axes, table.shape, colours, [str(number) for number in table.flat])
        borders(axes, layout.shape, table.shape)
        axes.set_title(name, fontsize=10)
    if title:
        figure.suptitle(title)
    return figure


@styled
def thread_values(
    held: Mapping[str, tuple[Layout, tuple[int, int]]],
    *,
    thread: int | None = None,
    title: str = "",
) -> Figure:
    """Which thread holds which element of a tile, and as its how-manieth value.

    ``held`` maps a title to (layout, (rows, columns)): the layout sends (thread, value) to an
    element of the tile, counted down the columns, as CuTe's thread-value layouts do. Each cell
    carries ``T`` and the thread above ``V`` and the value, in the thread's colour. With
    ``thread`` its own cells stand out alone. Raises ValueError where an element is beyond the tile
    or held twice.
    """
    figure, grid = as_panels([shape for _, shape in held.values()], cell=1.25 * CELL)
    for axes, (name, (layout, shape)) in zip(grid.flat, held.items(), strict=True):
        owner, value = owners(layout, shape)
        faint = (owner < 0) | (owner != thread if thread is not None else False)
        colours = np.array(
            [
                blend(PALETTE[max(t, 0) % len(PALETTE)], 0.06 if pale else 0.5)
                for t, pale in zip(owner.flat, np.broadcast_to(faint, shape).flat, strict=True)
            ]
        )
        texts = [
            f"T{t}\nV{v}" if t >= 0 else "" for t, v in zip(owner.flat, value.flat, strict=True)
        ]
        fill(axes, shape, colours, texts)
        axes.set_title(name, fontsize=10)
    if title:
        figure.suptitle(title)
    return figure


def matrix(layout: Drawable) -> np.ndarray:
    """The offsets of ``layout`` as int64 (rows, columns): (mode 0, all other modes). Raises
    ValueError for more offsets than can be drawn."""
    if layout.size > MOST:
        raise ValueError(f"{layout} has {layout.size:,} cells; at most {MOST:,} are drawn")
    parts = modes(layout.shape)
    rows = product(parts[0]) if len(parts) > 1 else 1
    return layout.offsets().reshape(layout.size // rows, rows).T


def owners(layout: Layout, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Thread and value that hold each element of the tile ``shape``, -1 where none does. Both are
    int64 of that shape. Raises ValueError for a layout that hasn't two modes, leaves the tile or
    holds an element twice."""
    if layout.rank != 2:
        raise ValueError(f"{layout} has {layout.rank} modes; a thread-value layout has two")
    elements = layout.offsets()
    threads = layout[0].size
    if elements.max() >= shape[0] * shape[1]:
        raise ValueError(
            f"{layout} reaches element {elements.max()}, beyond a tile of {shape[0]} × {shape[1]}"
        )
    if len(np.unique(elements)) < len(elements):
        raise ValueError(f"{layout} gives one element of the tile to two threads or values")
    found = np.full((2, shape[0] * shape[1]), -1)
    number = np.arange(layout.size)
    found[:, elements] = number % threads, number // threads
    owner, value = (row.reshape(shape[::-1]).T for row in found)
    return owner, value


def as_panels(shapes: list[tuple[int, int]], cell: float = CELL) -> tuple[Figure, np.ndarray]:
    """Panels side by side, or one below the other where that would be too wide."""
    width = sum(columns for _, columns in shapes) * cell + 0.6 * len(shapes)
    return panels(shapes, across=width <= WIDEST, cell=cell, least=1.6)


def fill(axes: Axes, shape: tuple[int, int], colours: np.ndarray, texts: list[str]) -> None:
    """Cells with their colour and text."""
    axes.imshow(colours.reshape(*shape, 3))
    for place, text in zip(np.ndindex(shape), texts, strict=True):
        axes.text(place[1], place[0], text, ha="center", va="center", fontsize=7, linespacing=0.9)
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)


def borders(axes: Axes, shape: IntTuple, table: tuple[int, int]) -> None:
    """A heavier line wherever an outer number of a nested mode moves on."""
    parts = modes(shape)
    down = parts[0] if len(parts) > 1 else 1
    across = parts[1:] if len(parts) > 1 else parts
    for mode, draw, extent in ((down, axes.axhline, table[0]), (across, axes.axvline, table[1])):
        step = 1
        for level, number in enumerate(flatten(mode)[:-1]):
            step *= number
            for at in range(step, extent, step):
                draw(at - 0.5, color=INK, linewidth=1.0 + 0.8 * level)


def tint(number: int) -> tuple[float, float, float]:
    """The palette in three strengths, then again."""
    return blend(PALETTE[number % len(PALETTE)], (0.5, 0.3, 0.12)[number // len(PALETTE) % 3])
