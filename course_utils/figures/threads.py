"""Which thread wrote which element: the grid laid over the array that it filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..emulator import WARP
from ..integers import ceil_div
from .style import GREY, PALETTE, bare, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Indices = np.ndarray | tuple[np.ndarray, ...]

LEGEND_ENTRIES = 12
LEGEND_WIDTH = 1.6  # inches
SMALLEST_FONT = 5.5
LARGEST_FONT = 9.0


@styled
def thread_map(
    blocks: Indices,
    threads: Indices,
    *,
    colour: str = "block",
    title: str = "Which thread wrote each element",
    per_row: int = WARP,
) -> Figure:
    """One cell an element, coloured by the block (or warp) and labelled with the thread.

    ``blocks`` and ``threads`` are integers as a kernel recorded them, of the array's shape: (n,) is
    folded into rows of ``per_row``, (rows, columns) is drawn as it is. Two- and three-dimensional
    indices are tuples of such arrays, x first: ``thread_map((bx, by), (tx, ty))``. −1 (in x) means
    that no thread wrote the element, which is then hatched. ``colour="warp"`` colours by warp and
    needs linear thread indices. Raises ValueError for another ``colour``, and where blocks and
    threads differ in shape.
    """
    if colour not in ("block", "warp"):
        raise ValueError(f'colour is "block" or "warp", not {colour!r}')
    block_values, thread_values = _stack("blocks", blocks), _stack("threads", threads)
    dimensions = block_values.ndim - 1
    if block_values.shape[:-1] != thread_values.shape[:-1]:
        raise ValueError(
            f"blocks describes an array of shape {block_values.shape[:-1]}, "
            f"threads one of {thread_values.shape[:-1]}; both follow the array that was written"
        )
    block_cells = _Cells(block_values, per_row)
    thread_cells = _Cells(thread_values, per_row)
    groups = block_cells if colour == "block" else _warps(block_cells, thread_cells)

    rows, columns = block_cells.shape
    side = min(7.6 / columns, 0.5)
    font = _font(side, thread_cells.names)
    in_place = font is None and groups.smallest_box() >= 0.3 / side
    height = rows * side + 0.9
    beside = 0.7 if in_place else 0.7 + LEGEND_WIDTH
    figure, axes = new(max(columns * side + beside, 5), height)
    axes.imshow(_colours(groups), aspect="equal", extent=(0, columns, rows, 0))
    _borders(axes, groups.ids)
    _unwritten(axes, groups)
    if font is not None:
        for row, column in np.argwhere((thread_cells.ids >= 0) & (block_cells.ids >= 0)):
            name = thread_cells.names[thread_cells.ids[row, column]]
            axes.text(column + 0.5, row + 0.5, name, ha="center", va="center", fontsize=font)
    word = "block" if colour == "block" else "warp"
    if in_place:
        for index, name in enumerate(groups.names):
            row, column = np.argwhere(groups.ids == index).mean(axis=0) + 0.5
            axes.text(column, row, f"{word}\n{name}", ha="center", va="center", fontsize=8)
    else:
        _legend(figure, groups, word)
    _label_axes(axes, rows, columns, dimensions)
    axes.set_title(title)
    return figure


class _Cells:
    """Each cell's value as a number into ``names``: −1 unwritten, −2 beyond the array's end."""

    def __init__(self, values: np.ndarray, per_row: int):
        shape = values.shape[:-1]
        flat = values.reshape(-1, values.shape[-1]).astype(np.int64)
        written = flat[:, 0] >= 0
        keys, inverse = np.unique(flat[written][:, ::-1], axis=0, return_inverse=True)
        self.keys = [tuple(int(part) for part in key[::-1]) for key in keys]
        self.names = [",".join(str(part) for part in key) for key in self.keys]
        ids = np.full(len(flat), -1)
        ids[written] = inverse.reshape(-1)
        self.ids = _fold(ids, per_row) if len(shape) == 1 else ids.reshape(shape)
        self.shape = self.ids.shape

    def smallest_box(self) -> int:
        """The shorter side, in cells, of the smallest group."""
        sides = [
            np.ptp(np.argwhere(self.ids == index), axis=0).min() + 1
            for index in range(len(self.names))
        ]
        return min(sides, default=0)


def _stack(name: str, values: Indices) -> np.ndarray:
    """(…array, coordinates) of a single array or of a tuple (x, y[, z]) of them."""
    parts = [np.asarray(part) for part in (values if isinstance(values, tuple) else (values,))]
    if any(part.shape != parts[0].shape or part.ndim not in (1, 2) for part in parts):
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ValueError(f"{name} is (n,) or (rows, columns), or a tuple of such; it has {shapes}")
    return np.stack(parts, axis=-1)


def _fold(ids: np.ndarray, per_row: int) -> np.ndarray:
    columns = min(per_row, len(ids))
    rows = ceil_div(len(ids), columns)
    folded = np.full(rows * columns, -2)
    folded[: len(ids)] = ids
    return folded.reshape(rows, columns)


def _warps(blocks: _Cells, threads: _Cells) -> _Cells:
    if any(len(key) > 1 for key in threads.keys):
        raise ValueError('colour="warp" needs linear thread indices: x + width * (y + height * z)')
    numbers = np.array([key[0] for key in threads.keys] + [-1])
    warp = np.where(threads.ids >= 0, numbers[threads.ids] // WARP, -1)
    cells = _Cells(np.stack([warp, blocks.ids], axis=-1), WARP)
    cells.ids[blocks.ids == -2] = -2
    cells.names = [f"{number} of block {blocks.names[block]}" for number, block in cells.keys]
    return cells


def _colours(cells: _Cells) -> np.ndarray:
    """(rows, columns, 3) in 0…1: light tints, so that black labels can be read on them."""
    tints = np.array([_tint(index) for index in range(max(len(cells.names), 1))])
    picture: np.ndarray = tints[cells.ids.clip(0)]
    picture[cells.ids < 0] = 1.0
    return picture


def _tint(index: int) -> tuple[float, float, float]:
    """The palette, then the palette again but paler, and so on in turn."""
    return blend(PALETTE[index % len(PALETTE)], (0.6, 0.3)[index // len(PALETTE) % 2])


def _borders(axes: Axes, ids: np.ndarray) -> None:
    """Thin lines between cells, thick ones where the group changes."""
    from matplotlib.collections import LineCollection

    rows, columns = ids.shape
    padded = np.pad(ids, 1, constant_values=-2)
    thick: list[list[tuple[int, int]]] = []
    thin: list[list[tuple[int, int]]] = []
    for row in range(rows + 1):
        for column in range(columns + 1):
            here = padded[row + 1, column + 1]
            for other, end in (
                (padded[row, column + 1], (column + 1, row)),
                (padded[row + 1, column], (column, row + 1)),
            ):
                if here == other == -2:
                    continue
                (thin if here == other else thick).append([(column, row), end])
    if max(rows, columns) <= 64:
        axes.add_collection(LineCollection(thin, colors="white", linewidths=0.8))
    axes.add_collection(LineCollection(thick, colors="#333333", linewidths=1.6, capstyle="round"))
    axes.set_xlim(-0.05, columns + 0.05)
    axes.set_ylim(rows + 0.05, -0.05)


def _unwritten(axes: Axes, cells: _Cells) -> None:
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(cells.ids == -1):
        axes.add_patch(
            Rectangle((column, row), 1, 1, facecolor="white", edgecolor=GREY, hatch="///", lw=0)
        )


def _font(side: float, names: list[str]) -> float | None:
    """A size at which the longest name fits a cell of ``side`` inches, or None."""
    longest = max((len(name) for name in names), default=1)
    size = min(side * 72 * 0.9 / (longest * 0.72), side * 72 * 0.6, LARGEST_FONT)
    return size if size >= SMALLEST_FONT else None


def _legend(figure: Figure, cells: _Cells, word: str) -> None:
    from matplotlib.patches import Patch

    shown = cells.names[:LEGEND_ENTRIES]
    handles = [
        Patch(
            facecolor=_tint(index),
            edgecolor="#333333",
            label=f"{word} {name}",
        )
        for index, name in enumerate(shown)
    ]
    if len(cells.names) > len(shown):
        more = len(cells.names) - len(shown)
        handles.append(Patch(facecolor="none", edgecolor="none", label=f"… and {more} more"))
    if (cells.ids == -1).any():
        handles.append(Patch(facecolor="white", edgecolor=GREY, hatch="///", label="not written"))
    figure.legend(handles=handles, loc="outside right upper")


def _label_axes(axes: Axes, rows: int, columns: int, dimensions: int) -> None:
    bare(axes)
    step, step_down = (max(1, 2 ** int(np.ceil(np.log2(n / 8)))) for n in (columns, rows))
    axes.set_xticks(np.arange(0, columns, step) + 0.5, np.arange(0, columns, step))
    down = np.arange(0, rows, step_down)
    if dimensions == 1:
        axes.set_yticks(down + 0.5, down * columns)
        axes.set_xlabel("element = number at the left + column")
    else:
        axes.set_yticks(down + 0.5, down)
        axes.set_xlabel("column")
        axes.set_ylabel("row")
