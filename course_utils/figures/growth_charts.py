"""How numbers grow: series of named points on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .style import MARKERS, PALETTE, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("-", "--", ":")


@styled
def growth(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float, str]]]],
    *,
    across: str = "year",
    title: str = "",
) -> Figure:
    """One panel below the other: ``panels`` maps the label of a y axis to its series.

    A series has a name and points (x, y, word). The word is written under the first point of the
    panel that has it, and may be empty. The y axes are logarithmic. ``across`` says what x
    is. A name has one colour and one mark in all panels. Raises ValueError for a y that is not
    positive.
    """
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    figure, grid = new(8, 0.7 + 2.8 * len(panels), nrows=len(panels), sharex=True, squeeze=False)
    for axes, (label, series) in zip(grid[:, 0], panels.items(), strict=True):
        axes.set_yscale("log")
        seen = {""}
        for name, points in series.items():
            index = names.index(name)
            x, y, words = zip(*points, strict=True)
            if min(y) <= 0:
                raise ValueError(f"{name}: {min(y)} cannot be drawn on a logarithmic axis")
            axes.plot(
                x,
                y,
                color=PALETTE[index % len(PALETTE)],
                marker=MARKERS[index % len(MARKERS)],
                markersize=7,
                markeredgecolor="#333333",
                linestyle=LINES[index % len(LINES)],
                linewidth=1.4,
                label=name,
            )
            for where, word in zip(zip(x, y, strict=True), words, strict=True):
                if word not in seen:
                    seen.add(word)
                    axes.annotate(
                        word,
                        where,
                        xytext=(0, -15),
                        textcoords="offset points",
                        ha="center",
                        fontsize=8,
                    )
        low, high = axes.get_ylim()
        axes.set_ylim(low / 2.2 if len(seen) > 1 else low, high * 1.3)
        axes.set_ylabel(label)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid(axis="y")
        axes.legend(loc="upper left")
    last = grid[-1, 0]
    last.set_xlabel(across)
    low, high = last.get_xlim()
    last.set_xlim(low - 0.5, high + 0.5)
    last.xaxis.get_major_locator().set_params(integer=True)
    if title:
        grid[0, 0].set_title(title)
    return figure
