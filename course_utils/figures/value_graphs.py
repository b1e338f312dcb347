"""How a number was computed: a graph of its values, with the gradient of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .style import BLUE, ORANGE, PALE, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

WIDE, HIGH, APART = 1.5, 0.62, 2.3  # of a box, and from column to column. Rows are 1 apart
BEND = 0.9  # between two arrows from one box to another

Edge = tuple[str, str, float | None]  # from, to, slope
Stop = str | tuple[int, int]  # the name of a value, or an edge's number and a column it crosses


@styled
def value_graph(
    values: Mapping[str, tuple[float, float | None]],
    edges: Sequence[Edge],
    *,
    title: str = "",
) -> Figure:
    """A box for each of ``values``, its name, value and gradient (None: not known), and an arrow
    for each of ``edges``, (from, to, slope): the slope is written at the arrow, unless it is None.

    A box is to the right of all that it was made of. Leaves, and the last result, have their own
    colours. Raises ValueError where an edge names no value, or where the edges run in a circle.
    """
    ways, places = _places(values, edges)
    made = {end for _, end, _ in edges}
    used = {start for start, _, _ in edges}
    across = max(x for x, _ in places.values()) / APART
    down = max(y for _, y in places.values()) + 1
    figure, axes = new(min(1.7 * (across + 1) + 0.4, 10), max(0.95 * down + 0.4, 1.6))
    axes.set_xlim(-WIDE / 2 - 0.1, APART * across + WIDE / 2 + 0.1)
    axes.set_ylim(down - 0.4, -0.6)
    axes.set_axis_off()
    for number, ((start, end, slope), way) in enumerate(zip(edges, ways, strict=True)):
        alike = [k for k, edge in enumerate(edges) if edge[:2] == (start, end)]
        bend = BEND * (alike.index(number) - (len(alike) - 1) / 2) if len(way) == 2 else 0.0
        _arrow(axes, [places[stop] for stop in way], slope, bend)
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


def _columns(values: Mapping[str, object], edges: Sequence[Edge]) -> dict[str, int]:
    """How many arrows the longest way to each value has. A leaf's place is just before its use."""
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


def _places(
    values: Mapping[str, object], edges: Sequence[Edge]
) -> tuple[list[list[Stop]], dict[Stop, tuple[float, float]]]:
    """The stops of each edge, one in every column between its ends, so that it crosses no box, and
    the middle of each stop and box: a column is sorted by the rows of its sources."""
    column: dict[Stop, int] = dict(_columns(values, edges).items())
    ways: list[list[Stop]] = []
    for number, (start, end, _) in enumerate(edges):
        crossed = range(column[start] + 1, column[end])
        column |= {(number, c): c for c in crossed}
        ways.append([start, *((number, c) for c in crossed), end])
    columns = [[at for at, c in column.items() if c == k] for k in range(max(column.values()) + 1)]
    tall = max(map(len, columns))
    places: dict[Stop, tuple[float, float]] = {}
    for k, stops in enumerate(columns):
        before = {
            at: [places[way[way.index(at) - 1]][1] for way in ways if at in way[1:]] for at in stops
        }
        order = {at: sum(rows) / len(rows) if rows else -1.0 for at, rows in before.items()}
        for row, at in enumerate(sorted(stops, key=order.__getitem__)):
            places[at] = (APART * k, row + (tall - len(stops)) / 2)
    return ways, places


def _box(x: float, y: float, colour: tuple[float, float, float] | str) -> FancyBboxPatch:
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(
        (x - WIDE / 2, y - HIGH / 2), WIDE, HIGH, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=colour, edgecolor="#333333", linewidth=0.9, zorder=3,
    )  # fmt: skip


def _arrow(axes: Axes, stops: list[tuple[float, float]], slope: float | None, bend: float) -> None:
    """From the right of a box by way of stops to the left of another, upwards where ``bend`` is
    negative."""
    (x, y), *middle, (end_x, end_y) = stops
    points = [(x + WIDE / 2, y)]
    for stop_x, stop_y in middle:
        points += [(stop_x - WIDE / 2, stop_y), (stop_x + WIDE / 2, stop_y)]
    points.append((end_x - WIDE / 2, end_y))
    axes.plot(*zip(*points[:-1], strict=True), color="#333333", linewidth=1)
    axes.annotate(
        "", points[-1], points[-2],
        arrowprops={"arrowstyle": "-|>", "color": "#333333", "linewidth": 1, "shrinkA": 0,
                    "shrinkB": 0, "connectionstyle": f"arc3,rad={bend}"},
    )  # fmt: skip
    if slope is not None:
        (x, y), (end_x, end_y) = points[:2]
        axes.annotate(
            f"× {slope:.4g}", ((x + end_x) / 2, (y + end_y) / 2 + 0.4 * bend), fontsize=8,
            ha="center", va="center", zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
