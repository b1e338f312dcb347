"""What ran when: bars on a common axis of time, one row for each engine or stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .labels import number_label
from .style import HATCHES, PALETTE, blend, ink, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Span = tuple[str, str, float, float]
NARROWEST_LABEL = 0.014  # of the width of the axes, for each character


@styled
def timeline(panels: Mapping[str, Sequence[Span]], *, unit: str = "ms", title: str = "") -> Figure:
    """Bars over time; ``panels`` maps a heading to its spans, and all share one axis.

    A span is (row, label, start, end), the times in ``unit``. Rows are drawn from the top in the
    order in which they first appear, each in a colour and hatch of its own; a row has the same
    colour in every panel. The label stands inside the bar where it fits. The vertical line in each
    panel is the end of its last span. Raises ValueError for a panel without spans and for a span
    that ends before it starts.
    """
    if not panels or not all(panels.values()):
        raise ValueError("timeline draws spans (row, label, start, end); a panel has none")
    every = [span for spans in panels.values() for span in spans]
    for row, label, start, end in every:
        if end < start:
            raise ValueError(f"{row} {label} ends at {end:g}, before it starts at {start:g}")
    rows = list(dict.fromkeys(span[0] for span in every))
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
            number = rows.index(row)
            colour = PALETTE[number % len(PALETTE)]
            face = blend(colour, 0.55)
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
    return figure
