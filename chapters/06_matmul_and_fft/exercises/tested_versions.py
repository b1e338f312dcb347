"""Softmaxes and convolutions for a test to tell apart: right ones written in several ways, and
wrong ones with one mistake each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring.versions import Version

LARGE = 128  # elements


def but_the_last(y: np.ndarray) -> np.ndarray:
    """A result whose last element is left out, if it is large."""
    if y.size >= LARGE:
        y[-1, -1] = 0
    return y


def first_two_exchanged(y: np.ndarray) -> np.ndarray:
    if y.size >= LARGE:
        y.flat[:2] = y.flat[1], y.flat[0]
    return y


# --- softmax ---


def softmax(x: np.ndarray, start: Any = None, wide: type = np.float64) -> np.ndarray:
    """Row by row, less the maximum of the row, or less another number."""
    values: np.ndarray = x.astype(wide)
    power = np.exp(values - (values.max(axis=1, keepdims=True) if start is None else start(values)))
    y: np.ndarray = (power / power.sum(axis=1, keepdims=True)).astype(np.float32)
    return y


def online(x: np.ndarray, guarded: bool = True) -> np.ndarray:
    """In parts of 16 columns, whose sums are rescaled whenever the maximum grows."""
    most = np.full((len(x), 1), -np.inf, np.float32)
    total = np.zeros((len(x), 1), np.float32)
    for first in range(0, x.shape[1], 16):
        part = x[:, first : first + 16]
        new = np.maximum(most, part.max(axis=1, keepdims=True))
        safe = np.where(new == -np.inf, 0, new) if guarded else new
        total = total * np.exp(most - safe) + np.exp(part - safe).sum(axis=1, keepdims=True)
        most = new
    y: np.ndarray = np.exp(x - most) / total
    return y


def never_rescaled(x: np.ndarray) -> np.ndarray:
    most = np.maximum.accumulate(np.where(x == -np.inf, -3e38, x), axis=1)
    return np.exp(x - most[:, -1:]) / np.exp(x - most).sum(axis=1, keepdims=True)


def with_part_changed(rows: slice, columns: slice, value: float) -> Callable[..., np.ndarray]:
    def computes(x: np.ndarray) -> np.ndarray:
        y = softmax(x)
        y[rows, columns] = value
        return y

    return computes


def whole_warps(x: np.ndarray) -> np.ndarray:
    if x.shape[1] < 32:
        return softmax(x)
    y = np.zeros_like(x)
    y[:, : x.shape[1] // 32 * 32] = softmax(x[:, : x.shape[1] // 32 * 32])
    return y


def in_place(x: np.ndarray) -> np.ndarray:
    x[...] = softmax(x)
    return x.copy()


def fast_power(x: np.ndarray) -> np.ndarray:
    """With weights in half precision, whose least number is 6e-8."""
    power = np.exp(x - x.max(axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
    return power / power.sum(axis=1, keepdims=True)


def starting_at(least: float) -> Callable[[np.ndarray], np.ndarray]:
    """With a maximum that is never below ``least``."""
    return lambda x: softmax(x, lambda v: v.max(axis=1, keepdims=True, initial=least), np.float32)


SOFTMAXES = (
    Version("a right one, in three passes", softmax, right=True),
    Version("starts its maximum at 0", starting_at(0)),
    Version("takes no maximum", lambda x: softmax(x, lambda v: np.float32(0), np.float32)),
    Version("cuts numbers off at 80", lambda x: softmax(np.minimum(x, 80))),
    Version("takes the maximum of the whole matrix", lambda x: softmax(x, np.max, np.float32)),
    Version("goes along columns", lambda x: softmax(x.T).T.copy()),
    Version("subtracts -inf from -inf in a masked part", lambda x: online(x, guarded=False)),
    Version("doesn't rescale its sum when the maximum grows", never_rescaled),
    Version("starts its maximum at -100", starting_at(-100)),
    Version("has results for whole warps alone", whole_warps),
    Version(
        "reads 1024 columns at most",
        lambda x: softmax(np.where(np.arange(x.shape[1]) < 1024, x, -np.inf)),
    ),
    Version(
        "has a block for each of 32 rows, and no loop", with_part_changed(np.s_[32:], np.s_[:], 0)
    ),
    Version("keeps its weights in half precision", fast_power),
    Version("overwrites x", in_place),
    Version("leaves out the last of 128 elements and more", lambda x: but_the_last(softmax(x))),
    Version("returns the logarithms", lambda x: np.log(softmax(x))),
    Version(
        "leaves out the last column of a row",
        lambda x: np.hstack((softmax(x[:, :-1]), 0 * x[:, -1:])) if x.shape[1] > 1 else softmax(x),
    ),
    Version("a right one, in one pass and in float32", online, right=True),
    Version(
        "a right one, by logarithms",
        lambda x: np.exp(x - logarithm_of_sums(x.astype(np.float64))).astype(np.float32),
        right=True,
    ),
)


def logarithm_of_sums(x: np.ndarray) -> np.ndarray:
    most = x.max(axis=1, keepdims=True)
    total: np.ndarray = most + np.log(np.exp(x - most).sum(axis=1, keepdims=True))
    return total


def matrix_of_rows(x: Any) -> None:
    """Refuses arguments that no softmax allows."""
    if not isinstance(x, np.ndarray) or x.dtype != np.float32 or x.ndim != 2:
        what = getattr(x, "dtype", type(x).__name__)
        raise LessonError(
            f"x has {getattr(x, 'ndim', 'no')} axes, {what}. It should have 2, float32."
        )
    if not (1 <= x.shape[0] <= 64 and 1 <= x.shape[1] <= 4096):
        raise LessonError(f"x has shape {x.shape}. It should have 1 to 64 rows, 1 to 4096 columns.")
    if np.isnan(x).any() or np.isposinf(x).any() or np.isneginf(x).all(axis=1).any():
        raise LessonError("x has NaN, +inf or a row of -inf alone, which no softmax promises.")


# --- convolution ---

TILE = 16


def convolved(
    image: np.ndarray,
    taps: np.ndarray,
    mode: Any = "constant",
    radii: tuple[int, int] | None = None,
    wide: type = np.float64,
) -> np.ndarray:
    """Each tap times the image, moved by ``radii`` and padded in a ``mode`` of NumPy's."""
    above, left = radii or (taps.shape[0] // 2, taps.shape[1] // 2)
    most = max(taps.shape)
    padded = np.pad(image.astype(wide), most, mode=mode)
    y: np.ndarray = np.zeros(image.shape, wide)
    height, width = image.shape
    for r, s in np.ndindex(taps.shape):
        row, column = most + r - above, most + s - left
        y += wide(taps[r, s]) * padded[row : row + height, column : column + width]
    return y.astype(np.float32)


def by_fourier(image: np.ndarray, taps: np.ndarray) -> np.ndarray:
    size = tuple(a + b - 1 for a, b in zip(image.shape, taps.shape, strict=True))
    product = np.fft.rfft2(image, size) * np.fft.rfft2(taps[::-1, ::-1], size)
    whole = np.fft.irfft2(product, size)
    above, left = taps.shape[0] // 2, taps.shape[1] // 2
    y = whole[above : above + image.shape[0], left : left + image.shape[1]]
    return y.astype(np.float32)


def by_windows(image: np.ndarray, taps: np.ndarray) -> np.ndarray:
    around = [(extent // 2, extent // 2) for extent in taps.shape]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, around), taps.shape)
    y: np.ndarray = np.einsum("ijrs,rs->ij", windows, taps)
    return y


def through_rows(image: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Looks past the end of a row, where the next one begins."""
    height, width = image.shape
    flat = np.pad(image.ravel().astype(np.float64), 10 * width + 10)
    y = np.zeros(image.size)
    for r, s in np.ndindex(taps.shape):
        away = (r - taps.shape[0] // 2) * width + s - taps.shape[1] // 2
        first = 10 * width + 10 + away
        if first >= 0:
            y += taps[r, s] * np.pad(flat, (0, image.size))[first : first + image.size]
    return y.reshape(height, width).astype(np.float32)


def by_tiles(corners: bool, image: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Each tile of 16 x 16 without the pixels around it, or without those at its corners."""
    y = np.zeros(image.shape, np.float32)
    above, left = taps.shape[0] // 2, taps.shape[1] // 2
    around = np.pad(image, ((above, above + TILE), (left, left + TILE)))
    for i, j in np.ndindex(*(ceil_div(extent, TILE) for extent in image.shape)):
        part = around[TILE * i :, TILE * j :][: TILE + 2 * above, : TILE + 2 * left].copy()
        row, column = np.indices(part.shape)
        out = (row < above) | (row >= TILE + above), (column < left) | (column >= TILE + left)
        part[out[0] & out[1] if corners else out[0] | out[1]] = 0
        tile = convolved(part, taps)[above : above + TILE, left : left + TILE]
        place = y[TILE * i : TILE * (i + 1), TILE * j : TILE * (j + 1)]
        place[...] = tile[: place.shape[0], : place.shape[1]]
    return y


def in_a_part(part: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Right in a part of the image, and 0 elsewhere."""

    def computes(image: np.ndarray, taps: np.ndarray) -> np.ndarray:
        y = np.zeros_like(image)
        there = part(image, taps)
        y[there] = convolved(image, taps)[there]
        return y

    return computes


def inside(image: np.ndarray, taps: np.ndarray) -> tuple[slice, slice]:
    above, left = taps.shape[0] // 2, taps.shape[1] // 2
    return np.s_[above : image.shape[0] - above], np.s_[left : image.shape[1] - left]


def over_the_image(image: np.ndarray, taps: np.ndarray) -> np.ndarray:
    image[...] = convolved(image, taps)
    return image.copy()


def last_column_outside(image: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """With `s < W - 1` for `s < W`."""
    less = image.copy()
    less[:, -1] = 0
    return convolved(less, taps)


CONVOLUTIONS = (
    Version("a right one, tap by tap", convolved, right=True),
    Version("repeats the border", lambda image, taps: convolved(image, taps, "edge")),
    Version("wraps around", lambda image, taps: convolved(image, taps, "wrap")),
    Version("mirrors the image", lambda image, taps: convolved(image, taps, "symmetric")),
    Version("flips the filter", lambda image, taps: convolved(image, taps[::-1, ::-1])),
    Version("reads on in the next row", through_rows),
    Version("leaves out the pixels around a tile", lambda *given: by_tiles(False, *given)),
    Version("leaves out the pixels at a tile's corners", lambda *given: by_tiles(True, *given)),
    Version(
        "exchanges the filter's radii",
        lambda image, taps: convolved(image, taps, radii=(taps.shape[1] // 2, taps.shape[0] // 2)),
    ),
    Version(
        "guards columns with the number of rows",
        in_a_part(lambda image, taps: np.s_[:, : image.shape[0]]),
    ),
    Version(
        "has no block for a part of a tile",
        in_a_part(
            lambda image, taps: tuple(
                slice(extent // TILE * TILE if extent >= TILE else None) for extent in image.shape
            )
        ),
    ),
    Version("has results where the filter fits", in_a_part(inside)),
    Version("takes the last column for outside", last_column_outside),
    Version(
        "holds seven taps a side at most",
        lambda image, taps: convolved(image, central(taps, 7)),
    ),
    Version("overwrites the image", over_the_image),
    Version(
        "leaves out the last of 128 pixels and more",
        lambda image, taps: but_the_last(convolved(image, taps)),
    ),
    Version(
        "exchanges the first two of 128 pixels and more",
        lambda image, taps: first_two_exchanged(convolved(image, taps)),
    ),
    Version("a right one, by Fourier transforms", by_fourier, right=True),
    Version("a right one, by windows and in float32", by_windows, right=True),
)


def central(taps: np.ndarray, most: int) -> np.ndarray:
    cut = [max(extent - most, 0) // 2 for extent in taps.shape]
    return taps[cut[0] : taps.shape[0] - cut[0], cut[1] : taps.shape[1] - cut[1]]


def image_and_taps(image: Any, taps: Any) -> None:
    """Refuses arguments that no convolution allows."""
    for name, array, most in (("image", image, 100), ("taps", taps, 9)):
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != 2:
            what = getattr(array, "dtype", type(array).__name__)
            axes = f"{getattr(array, 'ndim', 'no')} axes, {what}"
            raise LessonError(f"{name} has {axes}. It should have 2, float32.")
        if not all(1 <= extent <= most for extent in array.shape):
            raise LessonError(f"{name} has shape {array.shape}. It should have 1 to {most} a side.")
    if not all(extent % 2 for extent in taps.shape):
        raise LessonError(f"taps has shape {taps.shape}. Both extents should be odd.")
