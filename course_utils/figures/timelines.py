"""Work over time: bars on a common axis, one row for each engine or stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .labels import number_label
from .style import HATCHES, PALETTE, blend, ink, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

Span = tuple[str, str, float, float]
NARROWEST_LABEL = 0.014  # of the width of the axes, for each character
RING = {  # how the names of a kind of row begin or end, from the top
    "copy by TMA": ("copy",),
    "full: a phase that bytes end": ("full", "arrived"),
    "empty: a phase that readers end": ("empty",),
    "tensor cores": ("tensor cores",),
    "a warp waits": (" waits",),
}


@styled
def timeline(
    panels: Mapping[str, Sequence[Span]], *, unit: str = "ms", title: str = "", ring: bool = False
) -> Figure:
    """Bars over time. ``panels`` maps a heading to its spans, and all share one axis.

    A span is (row, label, start, end), the times in ``unit``. Rows are drawn from the top in the
    order in which they first appear, each in its own colour and hatch. A row has the same
    colour in every panel. The label is inside the bar where it fits. The vertical line in each
    panel is the end of its last span. Raises ValueError for a panel without spans and for a span
    that ends before it starts.

    With ``ring`` the rows belong to a ring of mbarriers, from a trace: copies, phases of full
    and empty, tensor cores and waits are sorted in this order, each kind has one colour, and a
    legend names it.
    """
    if not panels or not all(panels.values()):
        raise ValueError("timeline draws spans (row, label, start, end); a panel has none")
    every = [span for spans in panels.values() for span in spans]
    for row, label, start, end in every:
        if end < start:
            raise ValueError(f"{row} {label} ends at {end:g}, before it starts at {start:g}")
    rows = list(dict.fromkeys(span[0] for span in every))
    if ring:
        rows.sort(key=lambda row: (_kind(row), row))
    last = max(span[3] for span in every)
    heights = [len({span[0] for span in spans}) for spans in panels.values()]
    figure, grid = new(
        8,
        0.36 * sum(heights) + 0.5 * len(panels) + 0.7,
        nrows=len(panels),
        sharex=True,
        squeeze=False,
        height_ratios=heights,
    )
    for axes, (heading, spans) in zip(grid[:, 0], panels.items(), strict=True):
        here = [row for row in rows if any(span[0] == row for span in spans)]
        for row, label, start, end in spans:
            number = _kind(row) if ring else rows.index(row)
            face = blend(PALETTE[number % len(PALETTE)], 0.55)
            axes.barh(
                here.index(row),
                end - start,
                left=start,
                height=0.72,
                facecolor=face,
                edgecolor="#333333",
                hatch=HATCHES[number % len(HATCHES)],
                linewidth=0.8,
            )
            if (end - start) / last > NARROWEST_LABEL * len(label):
                axes.text(
                    (start + end) / 2,
                    here.index(row),
                    label,
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    color=ink(face),
                    bbox={"facecolor": face, "edgecolor": "none", "pad": 1},
                )
        stop = max(span[3] for span in spans)
        axes.axvline(stop, color="#333333", linestyle="--", linewidth=1.2)
        axes.set_yticks(range(len(here)), here)
        axes.set_ylim(len(here) - 0.5, -0.5)
        axes.set_xlim(0, last * 1.03)
        axes.tick_params(axis="y", length=0)
        axes.set_title(f"{heading}: {number_label(stop)} {unit}", loc="left", fontsize=10)
        axes.grid(axis="x")
    if all(float(moment).is_integer() for span in every for moment in span[2:]):
        grid[-1, 0].xaxis.get_major_locator().set_params(integer=True)
    grid[-1, 0].set_xlabel(f"time ({unit})")
    if title:
        figure.suptitle(title)
    if ring:
        legend_below(figure, _key(rows), columns=3)
    return figure


def _kind(row: str) -> int:
    """The number of a row's kind in RING, and one more than the last for a row of no kind."""
    for number, names in enumerate(RING.values()):
        if row.startswith(names) or row.endswith(names):
            return number
    return len(RING)


def _key(rows: Sequence[str]) -> list[Patch]:
    from matplotlib.patches import Patch

    kinds = [*RING, "others"]
    return [
        Patch(
            facecolor=blend(PALETTE[number % len(PALETTE)], 0.55),
            edgecolor="#333333",
            hatch=HATCHES[number % len(HATCHES)],
            label=kinds[number],
        )
        for number in sorted({_kind(row) for row in rows})
    ]
