"""Where the time of a warp goes: horizontal bars, each made of named parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .style import GREY, HATCHES, PALETTE, blend, ink, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REST = "all others"
NARROWEST_LABEL = 0.05  # of the width of the axes


@styled
def stalls(
    kernels: Mapping[str, Mapping[str, float]],
    *,
    most: int = 5,
    unit: str = "cycles for each instruction of a warp",
    title: str = "",
) -> Figure:
    """One bar for each kernel: how many of its warps' cycles go where.

    ``kernels`` maps a kernel's name to {reason: cycles}, as Nsight Compute's warp states are. The
    ``most`` reasons that are largest in any kernel get a colour and a hatch each. The others are
    one grey part at the end. Raises ValueError where nothing is given, for a negative number, and
    for more reasons than there are colours.
    """
    if not kernels or not all(kernels.values()):
        raise ValueError("stalls draws {kernel: {reason: cycles}}; there is none")
    if not 0 < most <= len(PALETTE):
        raise ValueError(f"most is {most}; there are colours for 1 to {len(PALETTE)} reasons")
    for name, parts in kernels.items():
        if min(parts.values()) < 0:
            raise ValueError(f"{name}: a number of cycles is negative")
    largest: dict[str, float] = {}
    for parts in kernels.values():
        for reason, value in parts.items():
            largest[reason] = max(largest.get(reason, 0.0), value)
    named = sorted(largest, key=lambda reason: -largest[reason])[:most]
    total = max(sum(parts.values()) for parts in kernels.values())
    figure, axes = new(8, 0.5 * len(kernels) + 1.5)
    from matplotlib.patches import Patch

    looks = [(blend(PALETTE[k], 0.6), HATCHES[k]) for k in range(len(named))]
    looks.append((blend(GREY, 0.3), ""))
    for row, parts in enumerate(kernels.values()):
        left = 0.0
        cycles = [parts.get(reason, 0.0) for reason in named]
        cycles.append(sum(parts.values()) - sum(cycles))
        for value, (face, hatch) in zip(cycles, looks, strict=True):
            axes.barh(
                row,
                value,
                left=left,
                height=0.7,
                facecolor=face,
                hatch=hatch,
                edgecolor="#333333",
                linewidth=0.7,
            )
            if value > NARROWEST_LABEL * total:
                axes.text(
                    left + value / 2,
                    row,
                    f"{value:.1f}",
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    color=ink(face),
                    bbox={"facecolor": face, "edgecolor": "none", "pad": 1},
                )
            left += value
    axes.set_yticks(range(len(kernels)), list(kernels))
    axes.set_ylim(len(kernels) - 0.5, -0.5)
    axes.set_xlim(0, total * 1.02)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_xlabel(unit)
    if title:
        axes.set_title(title)
    labels = [*named, REST] if len(largest) > most else named
    legend_below(
        figure,
        [
            Patch(facecolor=face, hatch=hatch, edgecolor="#333333", label=label)
            for (face, hatch), label in zip(looks, labels, strict=False)
        ],
        columns=3,
    )
    return figure
