"""The instructions of programs by kind: a bar per kind and program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .style import HATCHES, PALETTE, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def instruction_kinds(programs: Mapping[str, Mapping[str, int]], *, title: str = "") -> Figure:
    """Horizontal bars side by side: ``programs`` maps a name to {kind: count}.

    The kinds are in the order of the first program. One that a program lacks counts 0. Raises
    ValueError where there is nothing to draw, and for more programs than there are colours.
    """
    if not programs or not all(programs.values()):
        raise ValueError("instruction_kinds draws {program: {kind: count}}; there is none")
    if len(programs) > len(PALETTE):
        raise ValueError(f"{len(programs)} programs; there are colours for {len(PALETTE)}")
    kinds = list(dict.fromkeys(kind for counts in programs.values() for kind in counts))
    height = 0.8 / len(programs)
    figure, axes = new(8, len(kinds) * (0.16 + 0.2 * len(programs)) + 1.3)
    handles = []
    for number, (name, counts) in enumerate(programs.items()):
        shift = (number - (len(programs) - 1) / 2) * height
        bars = axes.barh(
            [row + shift for row in range(len(kinds))],
            [counts.get(kind, 0) for kind in kinds],
            height=height,
            facecolor=blend(PALETTE[number], 0.5),
            edgecolor=PALETTE[number],
            hatch=HATCHES[number],
            label=name,
        )
        axes.bar_label(bars, padding=4, fontsize=8.5)
        handles.append(bars)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.set_ylim(len(kinds) - 0.45, -0.55)
    axes.margins(x=0.08)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_xlabel("instructions in the program's text")
    if title:
        axes.set_title(title)
    legend_below(figure, handles)
    return figure
