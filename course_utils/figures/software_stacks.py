"""The software between a model and a GPU: the packages installed, and the cost of each way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .labels import number_label
from .style import BLUE, GREY, HATCHES, PALE, PALETTE, bare, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 0.06  # of a layer's height, around a box
ABSENT = "not here"


@styled
def software_stack(layers: Mapping[str, Mapping[str, str | None]], *, title: str = "") -> Figure:
    """Layers from top to bottom, each with its parts side by side.

    ``layers`` maps a layer's name to its parts, and those to a version or another short word, or
    to None for a part that this machine lacks: it is drawn pale and hatched. Raises ValueError for
    a layer without parts.
    """
    if not layers or not all(layers.values()):
        raise ValueError("software_stack needs layers, each with at least one part")
    figure, axes = new(9, 0.4 + 0.62 * len(layers))
    for row, parts in enumerate(layers.values()):
        width = 1 / len(parts)
        for column, (name, version) in enumerate(parts.items()):
            here = version is not None
            axes.barh(
                row,
                width - 0.012,
                left=column * width + 0.006,
                height=1 - 2 * GAP,
                facecolor=blend(PALETTE[row % len(PALETTE)], 0.3) if here else PALE,
                edgecolor=PALETTE[row % len(PALETTE)] if here else GREY,
                hatch="" if here else "///",
                linewidth=0.8,
            )
            axes.text(
                (column + 0.5) * width,
                row,
                f"{name}\n{version if here else ABSENT}",
                ha="center",
                va="center",
                fontsize=7.5,
                color="black",
                bbox={
                    "facecolor": "white",
                    "edgecolor": "none",
                    "pad": 1,
                    "alpha": 0.0 if here else 1,
                },
            )
    axes.set_xlim(0, 1)
    axes.set_ylim(len(layers) - 0.5, -0.5)
    axes.set_yticks(range(len(layers)), list(layers))
    axes.set_xticks([])
    bare(axes)
    if title:
        axes.set_title(title)
    return figure


@styled
def lines_and_times(
    ways: Mapping[str, tuple[int, float]],
    *,
    baseline: tuple[str, float] | None = None,
    on: Mapping[str, str] | None = None,
    title: str = "",
) -> Figure:
    """Ways to compute one thing: the lines of code that each takes, and its milliseconds.

    ``ways`` maps a name to (lines, milliseconds). The times have a logarithmic axis. ``on`` says
    on which machine a way ran: bars of one machine share a colour and a hatch. ``baseline`` is a
    name and its milliseconds, drawn as a line. Raises ValueError for a time that is not positive.
    """
    if not ways or min(time for _, time in ways.values()) <= 0:
        raise ValueError("lines_and_times needs ways, each with a positive time")
    figure, (left, right) = new(
        9, 0.42 * len(ways) + 1.3, ncols=2, sharey=True, width_ratios=(1, 1.8)
    )
    machines = list(dict.fromkeys((on or {}).values()))
    for row, (name, (lines, milliseconds)) in enumerate(ways.items()):
        kind = machines.index(on[name]) if on and name in on else 0
        colour = PALETTE[kind] if machines else BLUE
        look = {
            "height": 0.66,
            "facecolor": blend(colour, 0.5),
            "edgecolor": colour,
            "hatch": HATCHES[kind],
        }
        left.barh(row, lines, **look)
        label = on[name] if on and name in on else None
        seen = {bar.get_label() for bar in right.containers}
        right.barh(row, milliseconds, label=label if label not in seen else None, **look)
        for axes, value, text in (
            (left, lines, str(lines)),
            (right, milliseconds, f"{number_label(milliseconds)} ms"),
        ):
            axes.annotate(
                text,
                (value, row),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},  # over the baseline
            )
    if baseline:
        name, level = baseline
        right.axvline(level, color="#333333", linestyle="--", linewidth=1.2)
        right.set_xlabel(f"milliseconds (dashed: {name}, {number_label(level)} ms)")
    else:
        right.set_xlabel("milliseconds")
    right.set_xscale("log")
    times = [time for _, time in ways.values()] + ([baseline[1]] if baseline else [])
    right.set_xlim(min(times) / 3, 12 * max(times))
    left.set_xlim(0, 1.25 * max(lines for lines, _ in ways.values()))
    left.set_xlabel("lines of code")
    left.set_yticks(range(len(ways)), list(ways))
    left.invert_yaxis()
    if machines:
        right.legend(loc="lower right", fontsize=8)
    if title:
        figure.suptitle(title)
    return figure
