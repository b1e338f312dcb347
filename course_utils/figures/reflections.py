"""A reflection in the plane: a vector, the line it is mirrored at, and its image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, GREEN, GREY, ORANGE, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def reflection(x: Sequence[float], images: Sequence[tuple[str, Sequence[float]]]) -> Figure:
    """A panel for each of ``images``, a (title, image of ``x``) pair: both vectors, the vector
    x - image, and the line through the origin perpendicular to it: the mirror.

    Vectors have two numbers. An image is drawn as long as ``x``. Raises ValueError if it has
    the direction of ``x`` itself: no mirror is between them.
    """
    start = np.asarray(x, float)
    figure, panels = new(4.2 * len(images), 4.2, ncols=len(images), squeeze=False)
    for axes, (title, image) in zip(panels[0], images, strict=True):
        end = np.asarray(image, float) * np.hypot(*start) / np.hypot(*np.asarray(image, float))
        across = start - end
        length = np.hypot(*across)
        if length == 0:
            raise ValueError(f"{image} has the direction of {x}: no mirror is between them")
        reach = 1.25 * np.hypot(*start)
        along = reach * np.array([-across[1], across[0]]) / length
        axes.plot(*zip(-along, along, strict=True), color=GREY, linestyle="--", label="mirror")
        for vector, colour, name in ((start, BLUE, "x"), (end, GREEN, "H x")):
            axes.plot(*zip((0, 0), vector, strict=True), color=colour, linewidth=2.5, label=name)
            axes.plot(*vector, marker="o", color=colour, linestyle="none")
        axes.plot(
            *zip(end, start, strict=True), color=ORANGE, linestyle=":", linewidth=2, label="x - H x"
        )
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title)
        axes.axhline(0, color=GREY, linewidth=0.5)
        axes.axvline(0, color=GREY, linewidth=0.5)
        axes.legend(loc="lower right", fontsize=8)
    return figure
