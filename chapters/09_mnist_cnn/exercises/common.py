"""What exercises of several notebooks of this chapter share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain
from course_utils.exercises.authoring.domain import ArrayChange, Domain, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s

THREADS = 256
# Logits whose differences are lost beside them: a single float is 8 there.
FAR_FROM_0: ArrayChange = "about 1e8", lambda x, rng: x.astype(np.float64) * 20 + 1e8
# A place outside an image has no pixel: not 0 times one in a corner.
CORNERS_INFINITE: ArrayChange = "infinite in the corners", lambda x, rng: _in_corners(x)
EPS, MOMENTUM = np.float32(1e-5), np.float32(0.1)
# A contract's promises about a convolution's numbers, and about logits.
PIXELS_AND_TAPS = (
    domain.data("x", *domain.ORDINARY, domain.LAST_INFINITE, CORNERS_INFINITE),
    domain.data("w", *domain.ORDINARY),
)
ANY_LOGITS = Domain(
    sizes=domain.shapes(N=(3, 5, 31, 33, 257), K=(2, 3, 4, 10, 100, 257)).with_outlier(
        N=1031, K=521
    ),
    values=(domain.data("z", *domain.ANY_FINITE, FAR_FROM_0),),
)


def _in_corners(x: np.ndarray) -> np.ndarray:
    changed = x.copy()
    changed[..., :: max(x.shape[-2] - 1, 1), :: max(x.shape[-1] - 1, 1)] = np.inf
    return changed


def blocks(n: int) -> int:
    """How many blocks of 256 threads hold n of them."""
    return ceil_div(n, THREADS)


def a_thread_each(n: int) -> Launch:
    """A launch with one thread for each of n results."""
    return Launch((blocks(n),), (THREADS,))


def taps(images: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Each tap (r, s) of a 3 x 3 filter and the pixels of N x C x H x W images that it meets, in
    float64, with zeros around the images."""
    around = np.pad(images.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    height, width = images.shape[2:]
    for r, s in np.ndindex(3, 3):
        yield r, s, around[:, :, r : r + height, s : s + width]


def squares(x: np.ndarray) -> np.ndarray:
    """The four pixels of each 2 x 2 of M x H x W planes: M x H/2 x W/2 x 4."""
    m, h, w = x.shape
    cut = x[:, : h // 2 * 2, : w // 2 * 2].reshape(m, h // 2, 2, w // 2, 2)
    return cut.transpose(0, 1, 3, 2, 4).reshape(m, h // 2, w // 2, 4)


def channels(rng: np.random.Generator, size: tuple[int, int, int]) -> np.ndarray:
    """x of N x C x P, each channel with a mean and a deviation of its own."""
    x = floats(rng, size)
    center, spread = rng.uniform(-2, 2, (2, size[1], 1)).astype(np.float32)
    return x * (np.abs(spread) + np.float32(0.5)) + center


def scores(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Logits z (N x K) and labels 0...K-1."""
    n, k = size
    least = 128 if k > 128 else 0  # of many classes those that a signed char cannot name
    labels = rng.integers(least, min(k, 256), n).astype(np.uint8)
    return {"z": 3 * floats(rng, (n, k)), "label": labels}


def probabilities(z: np.ndarray) -> np.ndarray:
    """The softmax of each row, in float64."""
    z = z.astype(np.float64)
    power = np.exp(z - z.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def image_layer(rng: np.random.Generator, size: tuple[int, ...]) -> Given:
    """Images x, 3 x 3 filters w and room for y, by (N, C, H, W, F)."""
    n, c, h, w, f = size
    return {
        "x": floats(rng, (n, c, h, w)),
        "w": floats(rng, (f, c, 3, 3)),
        "y": empty((n, f, h, w)),
        **int32s(N=n, C=c, H=h, W=w, F=f),
    }


def convolved(given: Given) -> dict[str, np.ndarray]:
    """The 3 x 3 convolution of x with w, in float64."""
    w = given["w"].astype(np.float64)
    parts = (np.einsum("nchw,fc->nfhw", x, w[:, :, r, s]) for r, s, x in taps(given["x"]))
    return {"y": sum(parts)}
