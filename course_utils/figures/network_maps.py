"""An image on its way through a convolutional network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..integers import ceil_div
from .style import HATCHES, PALETTE, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 16  # maps side by side


@styled
def activations(
    image: np.ndarray, maps: Mapping[str, np.ndarray], scores: Sequence[float], *, title: str = ""
) -> Figure:
    """An image (rows, columns), the maps of each layer (channels, rows, columns), each layer on one
    grey scale, and at the bottom a bar for each class, the largest in another colour and hatch.

    Raises ValueError where maps have another number of axes.
    """
    for name, layer in maps.items():
        if np.ndim(layer) != 3:
            raise ValueError(f"{name} has shape {np.shape(layer)}; give (channels, rows, columns)")
    pictures = {"image": _tiles(np.asarray(image)[None])}
    pictures |= {name: _tiles(np.asarray(layer)) for name, layer in maps.items()}
    heights = [1.2, *(8 * tiles.shape[0] / tiles.shape[1] for tiles in list(pictures.values())[1:])]
    heights.append(1.3)
    figure, axes = new(8, sum(heights) + 0.35 * len(heights), nrows=len(heights),
                       height_ratios=heights)  # fmt: skip
    for ax, (name, tiles) in zip(axes, pictures.items(), strict=False):
        ax.imshow(tiles, cmap="gray", interpolation="nearest")
        ax.set_axis_off()
        ax.set_title(name, loc="left", fontsize=10, pad=3)
    values = np.asarray(scores, dtype=float)
    best = int(values.argmax())
    for label, value in enumerate(values):
        chosen = int(label == best)
        axes[-1].bar(label, value, facecolor=blend(PALETTE[chosen], 0.55), edgecolor="#333333",
                     hatch=HATCHES[chosen], linewidth=0.8)  # fmt: skip
    axes[-1].set_xticks(range(len(values)))
    axes[-1].set_title("probability of each digit", loc="left", fontsize=10, pad=3)
    figure.suptitle(title)
    return figure


def _tiles(layer: np.ndarray) -> np.ndarray:
    """Maps (channels, rows, columns) as one picture with white lines between. NaN is white."""
    channels, rows, columns = layer.shape
    across = min(COLUMNS, channels)
    down = ceil_div(channels, across)
    picture = np.full((down * (rows + 1) - 1, across * (columns + 1) - 1), np.nan)
    for k, channel in enumerate(layer):
        top, left = k // across * (rows + 1), k % across * (columns + 1)
        picture[top : top + rows, left : left + columns] = channel
    return picture
