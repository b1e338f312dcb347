"""The exercises of "The step made faster"."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

from .common import integers, taps

FOLDER = "09_mnist_cnn/exercises"
UNIT = 2.0**32
EPS_64 = 1e-5
TAPS = 9


def of_patches(given) -> dict:
    under = np.stack([pixels.ravel() for _, _, pixels in taps(given["x"][None, None])])
    return {"S": under.sum(1), "G": under @ under.T}


PATCH_MOMENTS = Exercise(
    id="09.patch_moments",
    title="what a filter meets",
    task="""
S and G of one image, for all nine taps. Block t has tap t: it makes S[t], and the nine numbers of
G[t]. Share the places of the filter out among its 64 threads; what follows adds up over the block.
Outside of the image every pixel is 0. Any shape.
""",
    source=f"{FOLDER}/patch_moments.cu",
    kernel="patch_moments",
    inputs=lambda rng, size: (
        {"x": floats(rng, size) + np.float32(0.5), "S": empty(TAPS), "G": empty(TAPS * TAPS)}
        | integers(H=size[0], W=size[1])
    ),
    reference=lambda given: {name: a.ravel() for name, a in of_patches(given).items()},
    launch=lambda size: Launch((TAPS,), (64,)),
    small=((5, 7), (14, 9), (1, 6), (6, 1), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: size[0] * size[1],
    promises=Promises(
        sizes=promises.shapes(H=(1, 2, 3, 8, 28, 33), W=(1, 2, 3, 7, 28, 65)).with_longest(
            H=4099, W=4099
        ),
        values=(promises.data("x", *promises.ORDINARY),),
    ),
    means=(means.one_store_each(), means.work_shared_out(size=(28, 28))),
    hints=(
        "A place of the filter is a pixel: `for (int place = threadIdx.x; place < H * W; "
        "place += kThreads)`, with its row and column as in the convolution.",
        "Tap s meets row + s / 3 - 1 and column + s % 3 - 1, or 0 where these lie outside.",
        "The pixel under tap t is one of the nine that you read anyway: the one with `s == t`.",
        "`products[s]` stays in a register only if `s` is known to the compiler: `#pragma unroll`.",
    ),
    explanation="""
G is symmetric, so 45 of its 81 numbers would do; the block that leaves out the others does fewer
products and needs another way to share out its work. `input_moments.cuh` shares out rows: the
products of a row with the one that lies 0, 1 or 2 below serve all pairs of taps that lie so, but
for the rows that a tap does not reach. It adds whole numbers of 2⁻³² to the batch's sums, so that
the order of its atomics does not matter.
""",
    mutants=(
        mutant("the middle's pixel in S", kinds.WRONG, ("sum += own", "sum += under[4]")),
        mutant("squares", kinds.WRONG, ("own * under[s]", "under[s] * under[s]")),
        mutant(
            "edges repeated",
            kinds.WRONG,
            (
                "inside ? r * W + c : 0]",
                "min(max(r, 0), H - 1) * W + min(max(c, 0), W - 1)]",
            ),
            ("inside ? value : 0.0f", "value"),
        ),
        mutant("no check of the column", kinds.OUT_OF_BOUNDS, (" && c >= 0 && c < W;", ";")),
        mutant(
            "rows for columns",
            kinds.WRONG,
            ("row + s / 3 - 1", "row + s % 3 - 1"),
            ("column + s % 3", "column + s / 3"),
        ),
        mutant(
            "inner places only", kinds.WRONG, ("sum += own;", "sum += row && column ? own : 0;")
        ),
        mutant("3000 places at most", kinds.WRONG, ("place < H * W", "place < min(H * W, 3000)")),
        mutant("first 64 places", kinds.WRONG, ("place += kThreads", "place += H * W")),
        mutant(
            "height as the stride",
            kinds.WRONG,
            ("place / W", "place / H"),
            ("place % W", "place % H"),
        ),
        mutant("G's upper half", kinds.WRONG, ("own * under[s]", "s < t ? 0.0f : own * under[s]")),
    ),
)


def a_batch(seed: int, filters: int, places: int, offset: float, spread: float) -> tuple:
    """Filters, and the moments of as many places as given, whose pixels lie around ``offset``."""
    rng = np.random.default_rng(seed)
    under = offset + spread * rng.standard_normal((places, TAPS))
    w = rng.uniform(-0.3, 0.3, (filters, TAPS)).astype(np.float32)
    sums = np.rint(under.sum(0) * UNIT).astype(np.int64)
    products = np.rint(under.T @ under * UNIT).astype(np.int64)
    return w, sums, products, places


def any_batch(rng: np.random.Generator) -> tuple:
    """One to five filters, up to 400 places."""
    filters, places = (int(n) for n in rng.integers((1, 10), (6, 400)))
    offset, spread = float(rng.uniform(-3, 3)), float(rng.uniform(0.5, 2))
    return a_batch(int(rng.integers(1 << 30)), filters, places, offset, spread)


def exactly(w: np.ndarray, S: np.ndarray, G: np.ndarray, M: int) -> np.ndarray:
    """In fractions, which lose nothing; the square of a mean is taken away at the very end."""
    unit = 1 << 32
    found = []
    for row in w.tolist():
        f = [Fraction(value) for value in row]
        mean = sum(a * int(s) for a, s in zip(f, S, strict=True)) / (unit * M)
        products = ((f[t] * f[s] * int(G[t, s])) for t in range(TAPS) for s in range(TAPS))
        variance = max(float(sum(products) / (unit * M) - mean * mean), 0.0)
        found.append((float(mean), variance, (variance + EPS_64) ** -0.5))
    return np.array(found).T


def without_negative_variances(function: Callable[..., Any], *given: Any) -> Any:
    """The answer's result. Raises ValueError where a variance is below 0, by however little."""
    found = function(*given)
    if isinstance(found, np.ndarray) and found.ndim == 2 and len(found) == 3:
        least = found[1].min()
        if least < 0:
            raise ValueError(f"a variance is below 0: {least:.3g}")
    return found


STATISTICS_FROM_MOMENTS = PythonExercise(
    id="09.statistics_from_moments",
    title="statistics without a pass",
    task="""
Mean and variance of every filter's results, and 1 / √(variance + 10⁻⁵), from S, G and M alone. The
kernel keeps S and G as whole
numbers, so that they come out the same in any order; take the unit of 2⁻³² out. The variance is the
layer's: divided by M. Pixels may lie far from 0, a hundred times as far as they spread, and then a
square is taken away from a number that is nearly as large: compute in a precision that has digits
left. A variance is never below 0, not even by a rounding: that of an image of equal pixels is 0.
""",
    source=f"{FOLDER}/statistics_from_moments.py",
    function="statistics_from_moments",
    cases=(
        a_batch(1, 3, 50, 1.5, 1.0),
        a_batch(2, 16, 784, 0.5, 1.0),
        a_batch(3, 4, 200, 100.0, 1.0),
        a_batch(4, 2, 100_000, -40.0, 0.5),
        a_batch(5, 1, 9, 1.0, 2.0),
        a_batch(6, 16, 784, 37.25, 0.0),
        a_batch(7, 5, 100, -0.375, 0.0),
        a_batch(8, 16, 3, 0.7, 0.0),  # no whole number of units: the moments are rounded
    ),
    reference=exactly,
    call=without_negative_variances,
    promises=Cases(any_batch),
    means="Any formula is right: the task asks for the numbers alone.",
    hints=(
        "A filter's result at a place is the sum of w[t] times the pixel under tap t. Which of the "
        "factors depend on the place?",
        "So the mean is the sum of w[t] S[t] / M.",
        "The square of a sum of nine has 81 products: the mean of squares is the sum of "
        "w[t] w[s] G[t][s] / M. What remains is the square of the mean.",
        "Divide first, so that int64 becomes float64: `S / 2.0**32 / M`. Then "
        "`G / 2.0**32 / M - np.outer(...)` is the covariance of two taps.",
    ),
    explanation="""
"Mean of squares minus square of the mean" is the formula of which notebook 04 warned. Here it does
no harm, for two reasons: whole numbers add up without loss, and the subtraction is in float64. With
pixels a hundred deviations from 0 it loses four of its fifteen digits; in fp32 those would be four
of seven. MNIST's pixels, normalised, have a mean near 0.
""",
    mutants=(
        mutant(
            "below 0 by a rounding",
            kinds.EXCEPTION,
            ("np.maximum(np.einsum(", "(np.einsum("),
            ("covariance, w), 0.0)", "covariance, w))"),
        ),
        mutant("unit left in", kinds.WRONG, ("S / 2.0**32", "S"), ("G / 2.0**32", "G")),
        mutant(
            "fp32",
            kinds.PRECISION,
            (
                "    w = w.astype(np.float64)\n",
                "    S, G = S.astype(np.float32), G.astype(np.float32)\n",
            ),
            ("2.0**32 / M, G", "np.float32(2.0**32) / np.float32(M), G"),
            ("G / 2.0**32 / M", "G / np.float32(2.0**32) / np.float32(M)"),
        ),
        mutant("square of the mean left in", kinds.WRONG, (" - np.outer(of_tap, of_tap)", "")),
        mutant("squares of taps alone", kinds.WRONG, ('"ft,ts,fs->f"', '"ft,tt,ft->f"')),
        mutant(
            "unbiased",
            kinds.PRECISION,
            ("covariance, w), 0.0)", "covariance, w) * M / (M - 1), 0.0)"),
        ),
        mutant("whole numbers divided", kinds.WRONG, ("S / 2.0**32 / M", "S // 2**32 / M")),
        mutant(
            "below 0 by a rounding",
            kinds.EXCEPTION,
            (
                'np.maximum(np.einsum("ft,ts,fs->f", w, covariance, w), 0.0)',
                'np.einsum("ft,ts,fs->f", w, of_two, w) - mean * mean',
            ),
        ),
        mutant("no eps", kinds.PRECISION, ("np.sqrt(variance + 1e-5)", "np.sqrt(variance)")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return np.stack", "np.stack")),
    ),
)
