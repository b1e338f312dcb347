"""A search over many candidates: how fast each one is, and why the others were never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .labels import number_label
from .style import GREY, MARKERS, PALETTE, RED, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def search_results(
    timed: Mapping[str, Sequence[tuple[float, float]]],
    pruned: Mapping[str, Sequence[float]],
    *,
    across: str,
    up: str = "TFLOP/s",
    levels: Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """Candidates that were run, by group, as points (x, y), and below them those ruled out, by
    reason.

    ``timed`` maps a group to its points and ``pruned`` a reason to the x of each candidate that it
    ruled out. Both share the axis ``across``. ``levels`` maps a name to a y to compare with. The
    best point has a ring and its value. Raises ValueError where nothing was run.
    """
    points = {name: np.asarray(pairs, float).reshape(-1, 2) for name, pairs in timed.items()}
    every = np.concatenate([*points.values(), np.empty((0, 2))])
    if not len(every):
        raise ValueError("no candidate was run: timed has no points (x, y)")
    levels = dict(levels or {})
    figure, (above, below) = new(
        8,
        4.2 + 0.28 * len(pruned),
        nrows=2,
        sharex=True,
        height_ratios=[4, 0.4 + 0.4 * len(pruned)],
    )
    for index, (name, pairs) in enumerate(points.items()):
        above.plot(
            *pairs.T,
            MARKERS[index % len(MARKERS)],
            color=PALETTE[index % len(PALETTE)],
            markersize=6,
            markeredgecolor="#333333",
            markeredgewidth=0.5,
            alpha=0.8,
            label=f"{name} ({len(pairs)})",
            zorder=3,
        )
    x, y = every[every[:, 1].argmax()]
    above.plot([x], [y], "o", markersize=13, markerfacecolor="none", markeredgecolor="#333333")
    above.annotate(
        f"best: {number_label(y)}",
        (x, y),
        xytext=(-10, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=9,
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
    left = min([every[:, 0].min(), *(min(xs) for xs in pruned.values() if len(xs))])
    for name, level in levels.items():
        above.axhline(level, color=RED, linestyle="--", linewidth=1.4, zorder=1)
        above.annotate(
            f"{name}  {number_label(level)}",
            (left, level),
            xytext=(0, 3),
            textcoords="offset points",
            color=RED,
            fontsize=9,
            fontweight="bold",
        )
    above.set_ylim(0, max([y, *levels.values()]) * 1.1)
    above.set_ylabel(up)
    above.grid()
    for row, xs in enumerate(pruned.values()):
        offsets = (np.arange(len(xs)) % 5 - 2) * 0.12  # equal ones beside each other
        below.plot(xs, row + offsets, "x", color=GREY, markersize=5, markeredgewidth=1.2)
    below.set_yticks(range(len(pruned)), [f"{name} ({len(xs)})" for name, xs in pruned.items()])
    below.set_ylim(len(pruned) - 0.5, -0.5)
    below.tick_params(axis="y", length=0)
    below.set_title("ruled out, never run", loc="left", fontsize=9)
    below.set_xlabel(across)
    below.grid(axis="x")
    figure.legend(loc="outside lower center", ncols=min(len(points), 4))
    above.set_title(title)
    return figure
