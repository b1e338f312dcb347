"""The exercises of "The step made faster"."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.claims import read_report
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.worked import Worked

from .common import (
    PIXELS_AND_TAPS,
    THREADS,
    a_thread_each,
    blocks,
    convolved,
    image_layer,
    squares,
    taps,
)

UNIT = 2.0**32
EPS_64 = 1e-5
TAPS = 9

LAUNCHES = {  # tests/exercises/test_shown_material.py works them out of the page's list
    "arithmetic": ("conv_backward_weight", 2.32 / 7.85),
    "images": ("relu_backward", 222 / 1451),
    "launches": ("sgd", 10 / 41),
    "one image": ("sgd", 1617.0),
    "reuse": ("conv_backward_input", 8 * 7068 / (8 * 37 + 18)),
}
LAUNCHED = [
    "cross_entropy_forward",
    "cross_entropy_backward",
    "linear_backward_input",
    "linear_backward_weight",
    "relu_backward",
    "pool_backward",
    "norm_backward_sums",
    "norm_backward",
    "conv_backward_weight",
    "conv_backward_input",
    "sgd",
    "conv_forward",
    "norm_statistics",
    "norm_forward",
    "relu_forward",
    "pool_forward",
    "linear_forward",
]

READ_THE_LAUNCHES = read_report(
    LAUNCHES,
    LAUNCHES.__getitem__,
    LAUNCHED,
    example='("sgd", 0.0)',
    other_name="Which column does the question mean, or which columns? Another row has more there.",
    other_number="The kernel is right. Which two numbers does the question divide, or add?",
    function="found",
)


FOUR_FILTERS = KernelExercise(
    inputs=image_layer,
    reference=convolved,
    launch=lambda size: Launch(
        (blocks(size[0] * size[2] * size[3]), ceil_div(size[4], 4)), (THREADS,)
    ),
    small=((2, 3, 5, 7, 4), (3, 2, 14, 14, 5), (1, 1, 61, 61, 3), (1, 1, 1, 1, 1)),
    worked=Worked(size=(1, 1, 2, 3, 1), values={"w": (0, 0, 0, 0, 0, 2, 0, 0, 0)}),
    axes={"y": ("image", "filter", "row", "column")},
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: 9 * size[1],
    target=Target(
        label="sectors loaded per multiply-add of a warp",
        measure=lambda counts: counts.global_load_sectors / (counts.flops / 64),
        at_most=2.8,
        advice="Pixels are loaded more than once. Keep a sum per filter, "
        "and use each pixel for all four while you have it.",
        size=(2, 4, 32, 32, 8),
    ),
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 3), C=(1, 2, 3, 7), H=(1, 2, 3, 14), W=(1, 2, 3, 14), F=(1, 2, 4, 5, 7)
        ).with_outlier(N=65, C=67, H=131, W=131, F=33),
        values=PIXELS_AND_TAPS,
    ),
    method=(
        method.one_store_per_result(size=(3, 2, 14, 14, 5)),
        method.balanced_work(size=(4, 2, 8, 8, 4)),
    ),
)


def image_planes(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    m, h, w = size
    return {
        "x": np.round(2 * floats(rng, (m, h, w))) / 2,  # some of four are equal
        "dy": floats(rng, (m, h // 2, w // 2)),
        "dx": empty((m, h, w)),
        **int32s(M=m, H=h, W=w),
    }


def to_the_largest(given: Given) -> dict[str, np.ndarray]:
    chosen = np.eye(4, dtype=bool)[squares(given["x"]).argmax(-1)]
    m, rows, columns, _ = chosen.shape
    dx = np.where(chosen, given["dy"][..., None], 0.0).reshape(m, rows, columns, 2, 2)
    return {"dx": dx.transpose(0, 1, 3, 2, 4).reshape(m, 2 * rows, 2 * columns)}


PLANES = (2, 64, 64)

POOL_IN_PAIRS = KernelExercise(
    inputs=image_planes,
    reference=to_the_largest,
    launch=lambda size: a_thread_each(size[0] * (size[1] // 2) * (size[2] // 2)),
    small=((3, 14, 18), (2, 8, 6), (5, 28, 28), (1, 130, 262), (1, 2, 2)),
    axes={"dx": ("image", "row", "column")},
    full=(4096, 28, 28),
    target=Target(
        label="sectors per gradient, loads and stores",
        measure=lambda counts: (
            (counts.global_load_sectors + counts.global_store_sectors)
            / (PLANES[0] * PLANES[1] * PLANES[2] / 4)
        ),
        at_most=1.3,
        advice="A sector is asked for twice. Load and store the two "
        "neighbours of a row together, as a float2.",
        size=PLANES,
    ),
    contract=Domain(
        sizes=domain.shapes(M=(1, 2, 5, 40), H=(2, 4, 14, 28), W=(2, 4, 14, 28)).with_outlier(
            M=1031, H=514, W=522
        ),
        values=(
            domain.data("x", *domain.ANY_ORDERED, domain.LOWEST),
            domain.data("dy", *domain.ORDINARY),
        ),
    ),
    method=(
        method.one_store_per_result(size=(5, 28, 28)),
        method.balanced_work(),
        method.no_redundant_work(2.0),
    ),
)


def of_patches(given: Given) -> dict[str, np.ndarray]:
    under = np.stack([pixels.ravel() for _, _, pixels in taps(given["x"][None, None])])
    return {"S": under.sum(1), "G": under @ under.T}


PATCH_MOMENTS = KernelExercise(
    inputs=lambda rng, size: (
        {"x": floats(rng, size) + np.float32(0.5), "S": empty(TAPS), "G": empty(TAPS * TAPS)}
        | int32s(H=size[0], W=size[1])
    ),
    reference=lambda given: {name: a.ravel() for name, a in of_patches(given).items()},
    launch=lambda size: Launch((TAPS,), (64,)),
    small=((5, 7), (14, 9), (1, 6), (6, 1), (1, 1)),
    worked=Worked(why_not="the moments of a patch are a matrix of 9 x 9"),
    full=(4096, 4096),
    reduction=lambda size: size[0] * size[1],
    contract=Domain(
        sizes=domain.shapes(H=(1, 2, 3, 8, 28, 33), W=(1, 2, 3, 7, 28, 65)).with_outlier(
            H=4099, W=4099
        ),
        values=(domain.data("x", *domain.ORDINARY),),
    ),
    method=(method.one_store_per_result(), method.balanced_work(size=(28, 28))),
)


def a_batch(seed: int, filters: int, places: int, offset: float, spread: float) -> tuple[Any, ...]:
    """Filters, and the moments of as many places as given, whose pixels lie around ``offset``."""
    rng = np.random.default_rng(seed)
    under = offset + spread * rng.standard_normal((places, TAPS))
    w = rng.uniform(-0.3, 0.3, (filters, TAPS)).astype(np.float32)
    sums = np.rint(under.sum(0) * UNIT).astype(np.int64)
    products = np.rint(under.T @ under * UNIT).astype(np.int64)
    return w, sums, products, places


def two_taps() -> tuple[Any, ...]:
    """A filter with the weights 1 and 2 at two places: with the pixels 3 and 1, and with 1 and 3,
    its results are 5 and 7, and their mean is 6."""
    w, under = np.zeros((1, TAPS), np.float32), np.zeros((2, TAPS))
    w[0, :2] = 1, 2
    under[:, :2] = (3, 1), (1, 3)
    sums, products = under.sum(0), under.T @ under
    return w, (sums * UNIT).astype(np.int64), (products * UNIT).astype(np.int64), 2


class Remark(str):
    """A line among the numbers of a case."""

    def __repr__(self) -> str:
        return str(self)


def without_unit(w: np.ndarray, S: np.ndarray, G: np.ndarray, M: int) -> dict[str, Any]:
    """The inputs of a case in the unit of the pixels."""
    return {
        "M": M,
        "w": w,
        "S": S / UNIT,
        "G": G / UNIT,
        "S and G": Remark("are divided by 2**32 here"),
        "rows": Remark("[0] mean, [1] variance, [2] 1 / sqrt(variance + 1e-5)"),
    }


def any_batch(rng: np.random.Generator) -> tuple[Any, ...]:
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
    cases=(
        two_taps(),
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
    shows=without_unit,
    start="Begin with one filter whose only weight that isn't 0 is 1: its results are the pixels "
    "under that tap.",
    contract=DrawnCases(any_batch),
)
