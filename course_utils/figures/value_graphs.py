"""How a number was computed: a graph of its values, with the gradient of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .style import BLUE, ORANGE, PALE, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, HIGH = 1.5, 0.62  # of a box, where columns lie 2.3 apart and rows 1
BEND = 0.9  # between two arrows from one box to another


@styled
def value_graph(
    values: Mapping[str, tuple[float, float | None]],
    edges: Sequence[tuple[str, str, float | None]],
    *,
    title: str = "",
) -> Figure:
    """A box for each of ``values``, its name, value and gradient (None: not known), and an arrow
    for each of ``edges``, (from, to, slope): the slope stands at the arrow, unless it is None.

    A box stands right of all that it was made of. Leaves, and the last result, have colours of
    their own. Raises ValueError where an edge names no value, or where the edges run in a circle.
    """
    column = _columns(values, edges)
    made = {end for _, end, _ in edges}
    used = {start for start, _, _ in edges}
    places = _places(column, edges)
    across, down = max(column.values()) + 1, max(y for _, y in places.values()) + 1
    figure, axes = new(min(1.7 * across + 0.4, 10), max(0.95 * down + 0.4, 1.6))
    axes.set_xlim(-WIDE / 2 - 0.1, 2.3 * (across - 1) + WIDE / 2 + 0.1)
    axes.set_ylim(down - 0.4, -0.6)
    axes.set_axis_off()
    drawn: list[tuple[str, str]] = []
    for start, end, slope in edges:
        alike = sum(edge[:2] == (start, end) for edge in edges)
        bend = BEND * (drawn.count((start, end)) - (alike - 1) / 2)
        _arrow(axes, places[start], places[end], slope, bend)
        drawn.append((start, end))
    for name, (value, gradient) in values.items():
        x, y = places[name]
        colour = blend(ORANGE, 0.35) if name not in made else PALE
        colour = blend(BLUE, 0.3) if name not in used and name in made else colour
        axes.add_patch(_box(x, y, colour))
        lines = [name, f"value {value:.4g}"]
        if gradient is not None:
            lines.append(f"gradient {gradient:.4g}")
        axes.text(x, y, "\n".join(lines), ha="center", va="center", fontsize=8, zorder=4)
    axes.set_title(title)
    return figure


def _columns(values: Mapping[str, object], edges: Sequence[tuple]) -> dict[str, int]:
    """How many arrows the longest way to each value has; a leaf's place is just before its use."""
    for start, end, _ in edges:
        if start not in values or end not in values:
            raise ValueError(f"the edge {start} -> {end} names no value")
    column = dict.fromkeys(values, 0)
    for _ in values:
        later = {end: column[start] + 1 for start, end, _ in edges if column[start] >= column[end]}
        if not later:
            break
        column |= later
    else:
        raise ValueError("the edges run in a circle")
    made = {end for _, end, _ in edges}
    for name in values:
        uses = [column[end] for start, end, _ in edges if start == name]
        if name not in made and uses:
            column[name] = min(uses) - 1
    return column


def _places(column: Mapping[str, int], edges: Sequence[tuple]) -> dict[str, tuple[float, float]]:
    """The middle of each box: rows in the order of the names, and each column in the middle."""
    tall = max(list(column.values()).count(c) for c in set(column.values()))
    places = {}
    for c in sorted(set(column.values())):
        names = [name for name, at in column.items() if at == c]
        for row, name in enumerate(names):
            places[name] = (2.3 * c, row + (tall - len(names)) / 2)
    return places


def _box(x: float, y: float, colour):
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(
        (x - WIDE / 2, y - HIGH / 2), WIDE, HIGH, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=colour, edgecolor="#333333", linewidth=0.9, zorder=3,
    )  # fmt: skip


def _arrow(axes, start, end, slope: float | None, bend: float) -> None:
    """From the right of a box to the left of another, upwards where ``bend`` is negative."""
    begin, tip = (start[0] + WIDE / 2, start[1]), (end[0] - WIDE / 2, end[1])
    axes.annotate(
        "", tip, begin,
        arrowprops={"arrowstyle": "-|>", "color": "#333333", "linewidth": 1, "shrinkA": 0,
                    "shrinkB": 0, "connectionstyle": f"arc3,rad={bend}"},
    )  # fmt: skip
    if slope is not None:
        middle = (begin[0] + tip[0]) / 2, (begin[1] + tip[1]) / 2 + 0.4 * bend
        axes.annotate(
            f"× {slope:.4g}", middle, fontsize=8, ha="center", va="center", zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
