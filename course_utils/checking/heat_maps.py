"""Where the errors are: a small map of an array, as text and as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from ..integers import ceil_div
from .indices import axis_names, plural
from .patterns import FEW, has_pattern, is_noise

RIGHT, PARTLY, ALL_WRONG, UNWRITTEN = ".", "x", "#", "?"
COLOURS = {RIGHT: "#e8eef4", PARTLY: "#f0c36d", ALL_WRONG: "#d55e00", UNWRITTEN: "#b9b9b9"}
WORDS = {
    RIGHT: "right",
    PARTLY: "some wrong",
    ALL_WRONG: "all wrong",
    UNWRITTEN: "unwritten memory",
}
ROWS, COLUMNS = 16, 64  # marks at most
MOSTLY, HARDLY = 0.6, 0.1  # shares of the marks
LARGE = 256  # elements: of more, a few right ones say nothing


@dataclass(frozen=True)
class HeatMap:
    """Where the errors are: one mark for ``step`` = (rows, columns) elements.

    ``axes`` are the names of the array's axes. With ``corner`` the map is of the array's first
    rows and columns.
    """

    rows: tuple[str, ...]
    step: tuple[int, int]
    axes: tuple[str, ...] = ("row", "column")
    corner: bool = False

    def __str__(self) -> str:
        return "\n".join(self.rows)

    @property
    def directions(self) -> str:
        """Which axis goes where: ``rows down, columns across``."""
        names = [plural(name) for name in self.axes]
        if len(names) == 1:
            first = f"the first {self.axes[0]}" if not self.corner else f"{self.axes[0]} 0"
            return f"{first} is at the left"
        above = "".join(f"one {' and '.join(self.axes[:-2])} below another, " for _ in names[2:3])
        corner = ", from the top left corner" if self.corner else ""
        return f"{above}{names[-2]} down, {names[-1]} across{corner}"

    @property
    def meanings(self) -> dict[str, str]:
        """The marks that occur, and their meanings."""
        words = WORDS if self.step != (1, 1) else {**WORDS, ALL_WRONG: "wrong"}
        shown = "".join(self.rows)
        return {mark: words[mark] for mark in WORDS if mark in shown}

    @property
    def legend(self) -> str:
        """The marks that occur and their meanings, in a line."""
        return "   ".join(f"{mark} {words}" for mark, words in self.meanings.items())

    @property
    def caption(self) -> str:
        """The axes, the number of elements per mark, and the legend."""
        return f"{self.scale}: {self.legend}"

    @property
    def scale(self) -> str:
        """The axes, and the number of elements per mark."""
        down, across = self.step
        if len(self.axes) == 1:
            each = "1 element" if across == 1 else f"{across} elements"
        else:
            each = "1 element" if down == across == 1 else f"{down} x {across} elements"
        return f"{self.directions}; each mark is {each}"

    def to_html(self) -> str:
        """The map and its legend as HTML, with the number of right marks as its text
        alternative."""
        legend = " &ensp; ".join(f"{_span(m, 1)} {words}" for m, words in self.meanings.items())
        lines = ["".join(_span(mark, count) for mark, count in _runs(row)) for row in self.rows]
        marks = "".join(self.rows)
        words = f"map of the elements: {marks.count(RIGHT)} of {len(marks)} marks are right"
        return (
            f"<div style='opacity:.8'>{html.escape(self.scale)}: {legend}</div>"
            f"<pre role='img' aria-label='{words}' "
            "style='line-height:1.05;margin:4px 0;width:fit-content;"
            "background:color-mix(in srgb, currentColor 8%, transparent)'>"
            + "\n".join(lines)
            + "</pre>"
        )


def map_of(wrong: np.ndarray, unwritten: np.ndarray, axes: tuple[str, ...] = ()) -> HeatMap | None:
    """The map of a result, None where no element is right, where there is only one, or where
    the wrong ones are here and there with no pattern.

    Where the errors are so even that no mark is right, it is of the array's first elements.
    """
    if wrong.size < 2 or wrong.all():
        return None
    if not unwritten.any() and not has_pattern(wrong):
        return None
    if wrong.size - wrong.sum() <= FEW and wrong.size > LARGE and wrong.reshape(-1)[0]:
        return None  # right by coincidence
    whole = heat_map(wrong, unwritten, axes=axes)
    if RIGHT in "".join(whole.rows):
        return None if not unwritten.any() and _is_illegible(whole, wrong) else whole
    corner = tuple(slice(0, n) for n in (*[1] * (wrong.ndim - 2), ROWS, COLUMNS)[-wrong.ndim :])
    part = heat_map(wrong[corner], unwritten[corner], axes=axes, corner=True)
    return part if RIGHT in "".join(part.rows) else None


def _is_illegible(drawn: HeatMap, wrong: np.ndarray) -> bool:
    """Whether a map says little: its marks are here and there, or some elements are wrong in nearly
    all of them."""
    marks = np.array([list(row) for row in drawn.rows])
    if min(wrong.size - wrong.sum(), wrong.sum()) <= FEW:
        return False
    partly, right = (float((marks == mark).mean()) for mark in (PARTLY, RIGHT))
    return (partly >= MOSTLY and right <= HARDLY) or is_noise(marks != RIGHT)


def heat_map(
    wrong: np.ndarray,
    unwritten: np.ndarray,
    rows: int = ROWS,
    columns: int = COLUMNS,
    axes: tuple[str, ...] = (),
    corner: bool = False,
) -> HeatMap:
    """Summarise two boolean arrays of any shape in at most ``rows`` x ``columns`` marks."""
    flat = wrong.reshape(-1, wrong.shape[-1]) if wrong.ndim > 1 else wrong.reshape(1, -1)
    bare = unwritten.reshape(flat.shape)
    high, wide = flat.shape
    step = ceil_div(high, rows), ceil_div(wide, columns)
    number = _pool(np.ones(flat.shape, int), step)
    bad, empty = _pool(flat.astype(int), step), _pool(bare.astype(int), step)
    marks = np.where(bad == 0, RIGHT, np.where(bad < number, PARTLY, ALL_WRONG))
    marks = np.where((empty == number), UNWRITTEN, marks)
    names = axes or axis_names(wrong.ndim)
    return HeatMap(tuple("".join(line) for line in marks), step, names, corner)


def _pool(array: np.ndarray, step: tuple[int, int]) -> np.ndarray:
    for axis, width in enumerate(step):
        array = np.add.reduceat(array, np.arange(0, array.shape[axis], width), axis=axis)
    return array


def _runs(row: str) -> list[tuple[str, int]]:
    runs: list[tuple[str, int]] = []
    for mark in row:
        if runs and runs[-1][0] == mark:
            runs[-1] = (mark, runs[-1][1] + 1)
        else:
            runs.append((mark, 1))
    return runs


def _span(mark: str, count: int) -> str:
    """Marks in a row. The colours are light, so the marks on them are dark under any theme. Right
    ones have the map's own."""
    marks = mark * count
    if mark == RIGHT:
        return marks
    return f"<span style='background:{COLOURS[mark]};color:#222'>{marks}</span>"
