"""Gradients for a test to tell apart: of layers that it doesn't know, and of a max pool."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from course_utils.errors import LessonError
from course_utils.exercises.authoring.versions import Version

Array = np.ndarray
Slope = Callable[[Array, Array, Array], Array]  # of x, y and dy
LEAST = 0.1  # added to a variance

# --- layers ---


def layer(forward: Callable[[Array], Array], backward: Slope) -> Callable[[Array], Any]:
    """A layer for the test: x to y, and to the function from dy to dx."""

    def run(x: Array) -> tuple[Array, Callable[[Array], Array]]:
        kept = x.copy()
        y = forward(kept)

        def back(dy: Any) -> Array:
            if np.shape(dy) != y.shape:
                raise LessonError(f"dy has shape {np.shape(dy)}, and y has {y.shape}.")
            return backward(kept, y, dy)

        return y.copy(), back

    return run


def softmax(x: Array) -> Array:
    power: Array = np.exp(x - x.max())
    return power / power.sum()


def weights(n: int, results: int = 0) -> Array:
    return np.random.default_rng(n).standard_normal((results or n, n))


def normalised(x: Array) -> Array:
    y: Array = (x - x.mean()) / np.sqrt(x.var() + LEAST)
    return y


def through_norm(x: Array, y: Array, dy: Array, mean: bool = True, variance: bool = True) -> Array:
    dx: Array = dy - mean * dy.mean() - variance * y * (dy * y).mean()
    return dx / np.sqrt(x.var() + LEAST)


def differences(x: Array) -> Array:
    return np.append(x[1:], 0.0) * x


def of_differences(x: Array, y: Array, dy: Array) -> Array:
    dx = dy * np.append(x[1:], 0.0)
    dx[1:] += dy[:-1] * x[:-1]
    return dx


def not_added(x: Array, y: Array, dy: Array) -> Array:
    dx = dy * np.append(x[1:], 0.0)
    dx[1:] = dy[:-1] * x[:-1]
    return dx


def of_tanh(x: Array, y: Array, dy: Array) -> Array:
    return (1 - y * y) * dy


def tanh_but(where: Callable[[int], Any]) -> Slope:
    """The gradient of tanh, but 0 at some indices."""

    def backward(x: Array, y: Array, dy: Array) -> Array:
        dx = of_tanh(x, y, dy)
        dx[where(len(dx))] = 0
        return dx

    return backward


_SUMS: dict[int, Array] = {}


def added_to_the_last(x: Array, y: Array, dy: Array) -> Array:
    _SUMS[len(x)] = _SUMS.get(len(x), 0) + of_tanh(x, y, dy)
    return _SUMS[len(x)]


def over_dy(x: Array, y: Array, dy: Array) -> Array:
    dy *= 1 - y * y
    return dy.copy()


LAYERS = (
    Version("tanh, right", layer(np.tanh, of_tanh), right=True),
    Version("tanh, with x instead of y", layer(np.tanh, lambda x, y, dy: (1 - x * x) * dy)),
    Version("tanh, without dy", layer(np.tanh, lambda x, y, dy: 1 - y * y)),
    Version("tanh, with the mean of dy", layer(np.tanh, lambda x, y, dy: (1 - y * y) * dy.mean())),
    Version(
        "tanh, with 0 for every second number", layer(np.tanh, tanh_but(lambda n: np.s_[1::2]))
    ),
    Version("tanh, with 0 after the 32nd number", layer(np.tanh, tanh_but(lambda n: np.s_[32:]))),
    Version(
        "tanh, without the last of an odd length",
        layer(np.tanh, tanh_but(lambda n: n - 1 if n % 2 and n > 1 else np.s_[:0])),
    ),
    Version("tanh, added to the last call's", layer(np.tanh, added_to_the_last)),
    Version("tanh, written over dy", layer(np.tanh, over_dy)),
    Version(
        "softmax, right", layer(softmax, lambda x, y, dy: y * (dy - (y * dy).sum())), right=True
    ),
    Version("softmax, without the sum", layer(softmax, lambda x, y, dy: y * dy)),
    Version(
        "a product with a matrix, right",
        layer(lambda x: weights(len(x), 5) @ x, lambda x, y, dy: weights(len(x), 5).T @ dy),
        right=True,
    ),
    Version(
        "a product with a matrix that should be transposed",
        layer(lambda x: weights(len(x)) @ x, lambda x, y, dy: weights(len(x)) @ dy),
    ),
    Version("a normalisation, right", layer(normalised, through_norm), right=True),
    Version(
        "a normalisation, with its mean as a constant",
        layer(normalised, partial(through_norm, mean=False)),
    ),
    Version(
        "a normalisation, with its variance as a constant",
        layer(normalised, partial(through_norm, variance=False)),
    ),
    Version("products of neighbours, right", layer(differences, of_differences), right=True),
    Version("products of neighbours, the second not added", layer(differences, not_added)),
    Version("a cube, off by 2 %", layer(lambda x: x**3, lambda x, y, dy: 3.06 * x * x * dy)),
    Version(
        "a thousandth of a square, off by a factor of 2",
        layer(lambda x: x * x / 1000, lambda x, y, dy: x * dy / 250),
    ),
    Version(
        "a square, of the wrong sign below 0",
        layer(lambda x: x * x, lambda x, y, dy: 2 * np.abs(x) * dy),
    ),
    Version(
        "a sum of sines, right",
        layer(lambda x: np.sin(x).sum(keepdims=True), lambda x, y, dy: np.cos(x) * dy),
        right=True,
    ),
)


def numbers_for_a_layer(x: Any) -> None:
    """Refuses arguments that no layer allows."""
    if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.ndim != 1:
        what = getattr(x, "dtype", type(x).__name__)
        raise LessonError(
            f"x has {getattr(x, 'ndim', 'no')} axes, {what}. It should have 1, float64."
        )
    if not 1 <= len(x) <= 50:
        raise LessonError(f"x has {len(x)} numbers. A layer promises 1 to 50.")


# --- a max pool ---


def squares_of(x: Array) -> Array:
    """M x H/2 x W/2 x 4, a copy."""
    m, h, w = x.shape
    cut: Array = x.reshape(m, h // 2, 2, w // 2, 2).transpose(0, 1, 3, 2, 4)
    return cut.reshape(m, h // 2, w // 2, 4)


def planes_of(squares: Array) -> Array:
    m, h, w, _ = squares.shape
    whole: Array = squares.reshape(m, h, w, 2, 2).transpose(0, 1, 3, 2, 4)
    return whole.reshape(m, 2 * h, 2 * w).astype(np.float32)


def to_the_winner(x: Array, dy: Array, order: tuple[int, ...] = (0, 1, 2, 3)) -> Array:
    """To the first of the largest, if the four are visited in this order."""
    of_four = squares_of(x)
    winner = np.asarray(order)[of_four[..., list(order)].argmax(axis=3)]
    return planes_of((np.arange(4) == winner[..., None]) * dy[..., None])


def one_by_one(x: Array, dy: Array, start: float = -np.inf) -> Array:
    """With loops over four pixels, and a search that starts with a number."""
    of_four, winner = squares_of(x), np.full(dy.shape, 0 if start == -np.inf else -1)
    best = np.full(dy.shape, start, np.float32)
    for k in range(4):
        larger = of_four[..., k] > best
        best, winner = np.where(larger, of_four[..., k], best), np.where(larger, k, winner)
    return planes_of((np.arange(4) == winner[..., None]) * dy[..., None])


def to_all(x: Array, dy: Array, shared: bool) -> Array:
    of_four = squares_of(x)
    best = of_four == of_four.max(axis=3, keepdims=True)
    return planes_of(best * dy[..., None] / (best.sum(axis=3, keepdims=True) if shared else 1))


def by_masks(x: Array, dy: Array) -> Array:
    """The largest whose like hasn't come before."""
    of_four = squares_of(x)
    best = of_four == of_four.max(axis=3, keepdims=True)
    return planes_of(np.where(best & (best.cumsum(axis=3) == 1), dy[..., None], 0))


def of_plane_0(x: Array, dy: Array) -> Array:
    return to_the_winner(np.broadcast_to(x[:1], x.shape), dy)


def up_to(rows: int, columns: int) -> Callable[[Array, Array], Array]:
    def backward(x: Array, dy: Array) -> Array:
        dx = to_the_winner(x, dy)
        dx[:, rows:], dx[:, :, columns:] = 0, 0
        return dx

    return backward


def exchanged(x: Array, dy: Array) -> Array:
    """With the extents in each other's place."""
    m, h, w = x.shape
    dx = to_the_winner(x.reshape(m, w, h), dy.reshape(m, w // 2, h // 2))
    return dx.reshape(x.shape)


def over_x(x: Array, dy: Array) -> Array:
    x[...] = to_the_winner(x, dy)
    return x.copy()


POOLS = (
    Version("a right one, by argmax", to_the_winner, right=True),
    Version("takes the last of equal pixels", partial(to_the_winner, order=(3, 2, 1, 0))),
    Version("goes down the columns first", partial(to_the_winner, order=(0, 2, 1, 3))),
    Version("sends dy to all of the largest", partial(to_all, shared=False)),
    Version("shares dy among the largest", partial(to_all, shared=True)),
    Version("starts its search with 0", partial(one_by_one, start=0)),
    Version("starts its search with -1e30", partial(one_by_one, start=-1e30)),
    Version("takes the largest magnitude", lambda x, dy: to_the_winner(np.abs(x), dy)),
    Version("makes integers of the pixels", lambda x, dy: to_the_winner(np.trunc(x), dy)),
    Version("looks at plane 0 alone", of_plane_0),
    Version("exchanges H and W", exchanged),
    Version("has 64 columns and no loop", up_to(100, 64)),
    Version("has 64 rows and no loop", up_to(64, 100)),
    Version("sends 1 instead of dy", lambda x, dy: to_the_winner(x, np.ones_like(dy))),
    Version("overwrites x", over_x),
    Version("a right one, with > and four comparisons", one_by_one, right=True),
    Version("a right one, by masks", by_masks, right=True),
)


def planes_and_gradients(x: Any, dy: Any) -> None:
    """Refuses arguments that no max pool allows."""
    for name, array in (("x", x), ("dy", dy)):
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != 3:
            what = getattr(array, "dtype", type(array).__name__)
            axes = f"{getattr(array, 'ndim', 'no')} axes, {what}"
            raise LessonError(f"{name} has {axes}. It should have 3, float32.")
    m, h, w = x.shape
    if not all(1 <= extent <= 100 for extent in x.shape) or h % 2 or w % 2:
        raise LessonError(f"x has shape {x.shape}: 1 to 100 each, and even rows and columns.")
    if dy.shape != (m, h // 2, w // 2) or np.isnan(x).any():
        raise LessonError(f"dy has shape {dy.shape} for x of {x.shape}, or x has a NaN.")
