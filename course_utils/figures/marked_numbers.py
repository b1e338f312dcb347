"""Every number of some formats as a mark on a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .style import MARKERS, PALETTE, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def number_lines(
    formats: Mapping[str, Sequence[float]], *, linear: float = 1.0, title: str = ""
) -> Figure:
    """One line a format with a mark for each of its numbers that is finite.

    The axis counts powers of two beyond ±``linear`` and is even between them. Raises ValueError for
    a format with no finite number, or ``linear`` <= 0.
    """
    if linear <= 0:
        raise ValueError(f"linear is {linear}: the even part of the axis ends above 0")
    figure, axes = new(9, 0.55 * len(formats) + 1.1)
    for row, (name, numbers) in enumerate(formats.items()):
        values = np.asarray(numbers, dtype=float)
        values = values[np.isfinite(values)]
        if not len(values):
            raise ValueError(f"{name}: there is no finite number to draw")
        axes.plot(
            values,
            np.full(len(values), row),
            linestyle="",
            marker="|",
            markersize=16,
            color=PALETTE[row % len(PALETTE)],
        )
        ends = [values.min(), values.max()]
        axes.plot(
            ends,
            [row, row],
            linestyle="",
            marker=MARKERS[row % len(MARKERS)],
            markersize=5,
            color=PALETTE[row % len(PALETTE)],
        )
    axes.set_xscale("symlog", base=2, linthresh=linear)
    axes.set_yticks(range(len(formats)), list(formats))
    axes.set_ylim(len(formats) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.set_title(title)
    return figure
