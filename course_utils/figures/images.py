"""Pictures of arrays that are pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..integers import ceil_div
from .style import new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def image_pair(
    before: np.ndarray, after: np.ndarray, titles: tuple[str, str] = ("before", "after")
) -> Figure:
    """Two images side by side, drawn on one grey scale so that they can be compared.

    ``before`` and ``after`` are (rows, columns) for grey or (rows, columns, 3) for colour: uint8 in
    0…255, or floating point. Colour is in 0…1 then, grey in any range. Raises ValueError for
    another shape.
    """
    images = [np.asarray(before), np.asarray(after)]
    for name, image in zip(("before", "after"), images, strict=True):
        if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
            raise ValueError(
                f"{name} has shape {image.shape}; an image is (rows, columns) or (rows, columns, 3)"
            )
    tallest = max(image.shape[0] / image.shape[1] for image in images)
    figure, axes = new(8, min(4 * tallest + 0.7, 8), ncols=2)
    low, high = _grey_range(images)
    for ax, image, title in zip(axes, images, titles, strict=True):
        ax.imshow(image, cmap="gray", vmin=low, vmax=high)
        ax.set_title(title)
        ax.set_xlabel(f"{image.shape[0]} rows × {image.shape[1]} columns")
        ax.spines[:].set_visible(True)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


@styled
def image_grid(
    images: np.ndarray, titles: Sequence[object], *, columns: int = 10, title: str = ""
) -> Figure:
    """Many grey images, (n, rows, columns), on one grey scale, ``columns`` of them in a row, each
    below its own of ``titles``.

    Raises ValueError where there is no image, or not a title for each.
    """
    images = np.asarray(images)
    if images.ndim != 3 or not len(images) or len(titles) != len(images):
        raise ValueError(
            f"images have shape {images.shape}, and there are {len(titles)} titles; give "
            "(n, rows, columns) with n at least 1, and a title for each image"
        )
    rows = ceil_div(len(images), columns)
    figure, axes = new(8, 0.98 * rows * 8 / columns + 0.5, nrows=rows, ncols=columns, squeeze=False)
    low, high = _grey_range(list(images))
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, image, text in zip(axes.flat, images, titles, strict=False):
        ax.imshow(image, cmap="gray", vmin=low, vmax=high)
        ax.set_title(str(text), fontsize=10, pad=3, loc="center")
    figure.suptitle(title)
    return figure


def _grey_range(images: list[np.ndarray]) -> tuple[float, float]:
    if all(image.dtype == np.uint8 for image in images):
        return 0, 255
    grey = [image[np.isfinite(image)] for image in images if image.ndim == 2]
    values = np.concatenate(grey) if grey else np.array([0.0, 1.0])
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
