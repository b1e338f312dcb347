"""The exercises of "Fused normalisation"."""

from __future__ import annotations

from collections.abc import Callable
from runpy import run_path
from typing import Any

import ml_dtypes
import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import (
    AS_GIVEN,
    Domain,
    Given,
    InputClass,
)
from course_utils.exercises.authoring.exact_formulas import in_float64
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.versions import Version, told_apart
from course_utils.exercises.authoring.worked import Worked
from course_utils.paths import KERNELS

from .common import log_of_sums, masked_logits, nan_where_ignored

EPS = np.float32(1e-5)
MOST = 2048  # columns of a row that a block keeps
IN_REGISTERS = (
    "An array whose index is known only at run time is in local memory, which is global memory: "
    "let the loops have a constant number of turns, and unroll them."
)
COLUMNS = (1, 2, 31, 32, 33, 65, 255, 256, 257, 513, 1025, 2047, 2048)
KEPT_ROWS = domain.shapes(rows=(1, 3, 7, 40), columns=COLUMNS)
FULL = (2, 1024)  # where every thread has as much to do as any other; in any order at 2 x MOST


def off_zero(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Rows whose mean is a few times their spread."""
    rows, columns = size
    centers = 3 * rng.standard_normal((rows, 1))
    x = centers + rng.standard_normal(size)
    return {
        "x": with_heavy_end(x).astype(np.float32),
        "mean": empty(rows),
        "variance": empty(rows),
        **int32s(rows=rows, columns=columns),
    }


def with_heavy_end(x: np.ndarray) -> np.ndarray:
    """The last number of each row counts for as much as a hundredth of a long row, so that a sum
    without it is off by more than rounding."""
    x[:, -1] += np.sqrt(x.shape[1]) / 8
    return x


def mean_and_variance(given: Given) -> dict[str, np.ndarray]:
    (x,) = in_float64(given, "x")
    return {"mean": x.mean(axis=1), "variance": x.var(axis=1)}


def far_from_zero(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A mean a hundred times as large as the spread, with either sign."""
    return x + 100 * rng.choice((-1, 1), (len(x), 1))


def parts_apart(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Neighbouring columns have other means, so lanes differ by more than their own spread."""
    return x + 50 * (np.arange(x.shape[1]) % 7)


WELFORD_ROWS = KernelExercise(
    inputs=off_zero,
    reference=mean_and_variance,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (2, 5), (1, 2)),
    worked=Worked(size=(2, 4), values={"x": (3, 1, 5, -1, 4, 0, 4, 0)}),  # variances 5 and 4
    full=(1 << 14, 4096),
    reduction=lambda size: 4 * size[1],
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 3, 7, 8, 9, 33), columns=(1, 2, 17, 31, 32, 33, 63, 65, 301, 2053)
        ).with_outlier(rows=1031, columns=16411),
        values=(
            (
                *domain.data("x", domain.NEGATIVE, domain.EQUAL, domain.SMALL),
                *domain.data("x", domain.TIES, domain.MIDDLING),
                *domain.data(
                    "x", ("far from zero", far_from_zero), ("in parts far apart", parts_apart)
                ),
            ),
        ),
    ),
    method=(
        method.balanced_loads(2.0, size=(8, 64)),
        method.shuffles(
            3 * 32, advice="Lanes hand each other what they have by shuffles.", size=(8, 64)
        ),
        method.no_shared_memory("Shuffles need no shared memory.", size=(8, 64)),
        method.no_local_memory(
            "A lane keeps three numbers, not its part of the row.", size=(2, 2048)
        ),
        method.reads_each_once(4 * 2 * 2048, size=(2, 2048)),
        method.one_store_per_result(),
    ),
)


# --- a test of layer normalisation ---


def normalised(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    eps: float,
    *,
    variance: Callable[[np.ndarray], np.ndarray] | None = None,
    wide: type = np.float64,
) -> np.ndarray:
    """A right layer normalisation, computed in ``wide``, or one with another ``variance``."""
    values: np.ndarray = x.astype(wide)
    mean = values.mean(axis=1, keepdims=True, dtype=wide)
    found = ((values - mean) ** 2).mean(axis=1, keepdims=True, dtype=wide)
    if variance is not None:
        found = variance(values)[:, None]
    y = (values - mean) / np.sqrt(found + wide(eps)) * weight.astype(wide) + bias.astype(wide)
    return y.astype(np.float32)


def _by_squares(x: np.ndarray) -> np.ndarray:
    """Added up one after the other, as a thread does."""
    columns = x.dtype.type(x.shape[1])
    return np.cumsum(x * x, axis=1)[:, -1] / columns - (np.cumsum(x, axis=1)[:, -1] / columns) ** 2


def _divided_by_less_one(x: np.ndarray) -> np.ndarray:
    return ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / max(x.shape[1] - 1, 1)


def _eps_outside(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    values = x.astype(np.float64)
    spread = values.std(axis=1, keepdims=True) + eps
    return ((values - values.mean(axis=1, keepdims=True)) / spread * weight + bias).astype(
        np.float32
    )


def _in_place(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    x[...] = normalised(x, weight, bias, eps)
    return x.copy()


def _whole_warps(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    """Columns after the last multiple of 32 stay as they were in memory: 0 here."""
    y = normalised(x, weight, bias, eps)
    if x.shape[1] >= 32:
        y[:, x.shape[1] // 32 * 32 :] = 0
    return y


_KEPT: dict[tuple[int, ...], np.ndarray] = {}


def _as_kept(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    y = _KEPT.setdefault(x.shape, np.empty_like(x))
    y[...] = normalised(x, weight, bias, eps)
    return y


def _most_columns(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    """Statistics of the first 2048 columns."""
    values, part = x.astype(np.float64), x[:, :2048].astype(np.float64)
    root = np.sqrt(part.var(axis=1, keepdims=True) + eps)
    y = (values - part.mean(axis=1, keepdims=True)) / root * weight + bias
    y[:, 2048:] = 0
    return y.astype(np.float32)


def _first_rows(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    y = normalised(x, weight, bias, eps)
    y[32:] = 0
    return y


def _nan_for_equal(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    y = normalised(x, weight, bias, eps)
    y[x.max(axis=1) == x.min(axis=1)] = np.nan
    return y


def _but_the_last(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> Any:
    y = normalised(x, weight, bias, eps)
    if y.size >= 256:
        y[-1, -1] = 0
    return y


LAYER_NORMS = (
    Version("a right one, in float64", normalised, right=True),
    Version(
        "divides by columns - 1", lambda *given: normalised(*given, variance=_divided_by_less_one)
    ),
    Version("adds eps to the root", _eps_outside),
    Version(
        "forgets eps",
        lambda x, weight, bias, eps: normalised(x, weight, bias, 1e-12),
    ),
    Version(
        "takes the mean of squares less the square of the mean, in float32",
        lambda *given: normalised(*given, variance=_by_squares, wide=np.float32),
    ),
    Version(
        "forgets the bias",
        lambda x, weight, bias, eps: normalised(x, weight, 0 * bias, eps),
    ),
    Version(
        "forgets the weight",
        lambda x, weight, bias, eps: normalised(x, 0 * weight + 1, bias, eps),
    ),
    Version("stores whole warps of columns alone", _whole_warps),
    Version("overwrites x", _in_place),
    Version("returns the same array at each call", _as_kept),
    Version("reads 2048 columns at most", _most_columns),
    Version("has a block for each of 32 rows, and no loop", _first_rows),
    Version("gives NaN for a row of equal numbers", _nan_for_equal),
    Version("leaves out the last of 256 elements and more", _but_the_last),
    Version(
        "a right one, in float32 and two passes",
        lambda *given: normalised(*given, wide=np.float32),
        right=True,
    ),
)


def rows_to_norm(x: Any, weight: Any, bias: Any, eps: Any) -> None:
    """Refuses arguments that no layer normalisation allows."""
    for name, array, axes in (("x", x, 2), ("weight", weight, 1), ("bias", bias, 1)):
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != axes:
            what = getattr(array, "dtype", type(array).__name__)
            axes_are = f"{getattr(array, 'ndim', 'no')} axes, {what}"
            raise LessonError(f"{name} has {axes_are}. It should have {axes}, float32.")
    if not x.shape[1] == len(weight) == len(bias) > 0:
        raise LessonError(f"x has shape {x.shape}, weight {weight.shape}, bias {bias.shape}.")


TEST_LAYER_NORM = told_apart(
    LAYER_NORMS,
    "Which call of layer_norm would show it: with how many rows and columns, which numbers "
    "and which eps, and which arrays would you compare after it?",
    rows_to_norm,
)


def both_sums(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows = floats(rng, size) + np.float32(1)
    return {
        "x": rows,
        "residual": floats(rng, size),
        "gamma": floats(rng, size[1]),
        "z": empty(size),
        "y": empty(size),
        "columns": np.int32(size[1]),
        "eps": EPS,
    }


def added_and_normed(given: Given) -> dict[str, np.ndarray]:
    x, residual, gamma = in_float64(given, "x", "residual", "gamma")
    z = x + residual
    squares = (z**2).mean(axis=1, keepdims=True)
    return {"z": z, "y": z / np.sqrt(squares + given["eps"]) * gamma}


def tiny_without_eps(given: Given, rng: np.random.Generator) -> Given:
    tiny = np.float32(1e-15)  # its square is a normal number
    return {"x": tiny * given["x"], "residual": tiny * given["residual"], "eps": 0}


ADD_RMS_NORM = KernelExercise(
    inputs=both_sums,
    reference=added_and_normed,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), FULL, (2, 257), (3, 7), (1, 1)),
    worked=Worked(  # z is 1 7 5 5 and 2 6 6 18: the roots of their mean squares are 5 and 10
        size=(2, 4),
        values={"x": (3, 5, 1, 2, 1, 4, 2, 10), "residual": (-2, 2, 4, 3, 1, 2, 4, 8)},
        whole=("residual",),
    ),
    full=(1 << 14, MOST),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=KEPT_ROWS,
        values=(
            (
                *domain.data("x", *domain.ORDINARY, domain.SOME_INFINITE, domain.SOME_NAN),
                domain.infinite_at_the_ends("x", -1),
                *domain.data("x", domain.VERY_LARGE)[1:],
                InputClass("eps = 0, x and residual about 1e-15", tiny_without_eps),
            ),
            domain.data("gamma", *domain.ORDINARY, domain.LARGE, domain.FAINT),
            domain.scalars("eps", 0, 1.0, 1e-3),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=(2, MOST)),
        method.no_local_memory(IN_REGISTERS, size=FULL),
    ),
    target=Target(
        label="bytes read, over those of x, residual and gamma for each row",
        measure=lambda counts: counts.global_load_bytes / (3 * 4 * 2 * MOST),
        at_most=1.0,
        advice="Registers hold z after the first loop: use it from there.",
        size=(2, MOST),
    ),
    within=2.0,
)


def bf16_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": with_heavy_end(1 + floats(rng, size)).astype(ml_dtypes.bfloat16),
        "rstd": empty(rows),
        **int32s(rows=rows, columns=columns),
        "eps": EPS,
    }


def one_over_norms(given: Given) -> dict[str, np.ndarray]:
    squares = (given["x"].astype(np.float64) ** 2).mean(axis=1)
    return {"rstd": 1 / np.sqrt(squares + given["eps"])}


BF16_ROW_NORMS = KernelExercise(
    inputs=bf16_rows,
    reference=one_over_norms,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((3, 4099), (9, 100), (3, 33), (2, 5), (1, 1)),
    worked=Worked(size=(2, 4), values={"x": (1, 7, 5, -5, 2, -6, 6, 18)}),  # norms 1 / 0.2, 1 / 0.1
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 3, 7, 8, 9, 33), columns=(1, 2, 31, 32, 33, 63, 65, 301, 2053)
        ).with_outlier(rows=1031, columns=65_543),
        values=(
            (
                *domain.data(
                    "x", *domain.ORDINARY, domain.ZEROS, domain.SOME_INFINITE, domain.SOME_NAN
                ),
                domain.infinite_at_the_ends("x", -1),
            ),
            domain.scalars("eps", 1.0, 1e-3),
        ),
    ),
    method=(
        method.balanced_loads(2.0, size=(8, 64)),
        method.shuffles(32, advice="Lanes hand each other their sums by shuffles.", size=(8, 64)),
        method.reads_each_once(2 * 2 * 4096, size=(2, 4096)),
        method.one_store_per_result(size=(9, 100)),
    ),
    bug=kinds.WRONG,
)


def normed_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    x = (1 + np.arange(size[0]) % 3)[:, None] * (floats(rng, size) + 2)  # rows of other spreads
    x = x.astype(np.float32)
    return {
        "dy": floats(rng, size),
        "x": x,
        "gamma": floats(rng, size[1]),
        **moments(x),
        "dx": empty(size),
        "columns": np.int32(size[1]),
    }


def moments(x: np.ndarray) -> dict[str, Any]:
    """mean and rstd of each row, as the way forward keeps them."""
    exact = x.astype(np.float64)
    mean, variance = exact.mean(axis=1), exact.var(axis=1)
    return {
        "mean": mean.astype(np.float32),
        "rstd": (1 / np.sqrt(variance + EPS)).astype(np.float32),
    }


def gradient_of_norm(given: Given) -> dict[str, np.ndarray]:
    dy, x, gamma, mean, rstd = in_float64(given, "dy", "x", "gamma", "mean", "rstd")
    normed, gradient = (x - mean[:, None]) * rstd[:, None], dy * gamma
    product = (gradient * normed).mean(axis=1, keepdims=True)
    dx = gradient - gradient.mean(axis=1, keepdims=True) - normed * product
    return {"dx": rstd[:, None] * dx}


def other_rows(given: Given, rng: np.random.Generator) -> Given:
    """x with another spread and another mean, and the moments that go with it."""
    x = (given["x"] * np.float32(0.01) - np.float32(3)).astype(np.float32)
    return {"x": x, **moments(x)}


TWO_ROWS = {  # means of 2 and 1, standard deviations of 2 and 4
    "x": (5, 3, 1, -1, 2, -1, 7, 1, 3, -5),
    "mean": (2, 1),
    "rstd": (0.5, 0.25),
}

LAYER_NORM_GRADIENT = KernelExercise(
    inputs=normed_rows,
    reference=gradient_of_norm,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), FULL, (2, 257), (3, 7), (1, 5)),
    worked=Worked(size=(2, 5), values=TWO_ROWS, whole=("gamma",)),
    full=(1 << 14, MOST),
    reduction=lambda size: 16 * size[1],  # what is left of three terms that nearly cancel
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 7, 40), columns=(5, *COLUMNS[2:])),
        values=(
            domain.data("dy", *domain.ORDINARY, domain.SOME_NAN, domain.FAINT, domain.VERY_LARGE),
            domain.data("gamma", domain.NEGATIVE, domain.MIDDLING),
            (AS_GIVEN, InputClass("x small, about -3", other_rows)),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=(2, MOST)),
        method.no_local_memory(IN_REGISTERS, size=FULL),
    ),
    target=Target(
        label="bytes read, over those of dy, x and gamma for each row",
        measure=lambda counts: counts.global_load_bytes / (3 * 4 * 2 * MOST),
        at_most=1.2,  # and two numbers a thread
        advice="Registers hold n and g after the first loop.",
        size=(2, MOST),
    ),
    within=2.0,
)


def some_logits(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    x = (3 * rng.standard_normal(size) - 20).astype(np.float32)
    target = rng.integers(0, columns, rows)
    target[1::3] = -100
    return {
        "x": x,
        "target": target,
        "logsumexp": log_of_sums(x),
        "dx": empty(size),
        "columns": np.int32(columns),
        "ignored": np.int64(-100),
        "weight": np.float32(0.7),
        "smoothing": np.float32(0.1),
    }


def gradient_of_loss(given: Given) -> dict[str, np.ndarray]:
    x, logsumexp, smoothing = in_float64(given, "x", "logsumexp", "smoothing")
    target, columns = given["target"], x.shape[1]
    label = (1 - smoothing) * (np.arange(columns) == target[:, None]) + smoothing / columns
    dx = given["weight"] * (np.exp(x - logsumexp[:, None]) - label)
    return {"dx": np.where((target == given["ignored"])[:, None], 0, dx)}


def a_class_ignored(given: Given, rng: np.random.Generator) -> Given:
    """The ignored target is the last class, and no target is negative."""
    last = given["x"].shape[1] - 1
    return {"ignored": last, "target": np.where(given["target"] < 0, last, given["target"])}


def all_counted(given: Given, rng: np.random.Generator) -> Given:
    """No row is ignored, though a target may be as large as a class can be."""
    last = given["x"].shape[1] - 1
    return {"target": np.where(given["target"] < 0, last, given["target"])}


def moved(given: Given, by: float) -> Given:
    return {"x": given["x"] + by, "logsumexp": given["logsumexp"] + by}


def far_from_all_classes(given: Given, rng: np.random.Generator) -> Given:
    """The ignored target has the lower half of one that counts, and more above it."""
    ignored = int(np.abs(given["target"]).max()) + (1 << 32)
    return {"ignored": ignored, "target": np.where(given["target"] < 0, ignored, given["target"])}


def one_logit(given: Given, rng: np.random.Generator) -> Given:
    """All logits -inf but the target's: each gradient is 0, to the last bit."""
    rows, columns = given["x"].shape
    x, at = np.full((rows, columns), -np.inf, np.float32), np.maximum(given["target"], 0)
    x[np.arange(rows), at] = 3
    return {"x": x, "logsumexp": np.full(rows, 3, np.float32), "smoothing": 0}


LOSS_GRADIENT = KernelExercise(
    inputs=some_logits,
    reference=gradient_of_loss,
    launch=lambda size: Launch((ceil_div(size[1], 256), size[0]), (256,)),
    small=((4, 300), (2, 256), (3, 7), (1, 2)),
    worked=Worked(  # the softmax of a row is 1 for its 5 and 0 for the others, and a label is 0.8
        size=(2, 3),
        values={
            "x": (5, -95, -95, -95, -95, 5),
            "logsumexp": (5, 5),
            "target": (1, -100),
            "weight": 2,
            "smoothing": 0.3,
        },
    ),
    full=(1 << 11, 1 << 15),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 3, 7), columns=(1, 2, 31, 255, 256, 257, 1025)
        ).with_outlier(rows=301, columns=65_543),
        values=(
            (
                AS_GIVEN,
                InputClass("a class ignored", a_class_ignored),
                InputClass("NaN where rows do not count", nan_where_ignored),
                InputClass("some logits -inf", masked_logits),
                InputClass("all logits -inf but one, smoothing 0", one_logit),
                InputClass("all rows count", all_counted),
                InputClass("ignored past 32 bits", far_from_all_classes),
                InputClass("logits near 100", lambda given, rng: moved(given, 100)),
                InputClass("logits near -100", lambda given, rng: moved(given, -100)),
            ),
            domain.scalars("weight", 1.0, -2.0, 1e-4),
            domain.scalars("smoothing", 0.0, 0.5, 1.0),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=(2, 256)),
        Requirement(
            "exponentials for each logit",
            lambda stats: stats.opcodes("ex2.") / stats.results,
            at_most=1.0,
            advice="The probability is exp(x - logsumexp): there is nothing to add up again.",
            size=(2, 256),
        ),
    ),
    within=2.0,
)


PHILOX = run_path(str(KERNELS / "07_pytorch_extensions" / "philox.py"))
ANY_LAUNCH = domain.grids((1, 32), (1, 256), (3, 96), (7, 256), (2, 1024), (33, 64))


def to_drop(rng: np.random.Generator, n: int) -> Given:
    return {
        "x": floats(rng, n),
        "y": empty(n),
        "keep": np.float32(0.7),
        "seed": np.uint64(2024),
        "offset": np.uint64(8),
        "n": np.int32(n),
    }


def dropped(given: Given) -> dict[str, np.ndarray]:
    x, keep = given["x"], given["keep"]
    mask = PHILOX["kept"](x.size, keep, int(given["seed"]), int(given["offset"]))
    return {"y": np.where(mask, x / keep, 0)}


def as_large_as_one(given: Given, rng: np.random.Generator) -> Given:
    """keep is the number of an element in the middle, which is not below it."""
    group = np.array([given["x"].size // 8])
    bits = PHILOX["philox"](int(given["seed"]), group, int(given["offset"]) // 4)
    return {"keep": PHILOX["uniform"](bits)[0, 0]}


DROPOUT_ANYWHERE = KernelExercise(
    inputs=to_drop,
    reference=dropped,
    launch=lambda n: Launch((ceil_div(n, 1024),), (256,)),
    small=(1000, 257, 31, 1),
    worked=Worked(size=5, values={"keep": 0.5}),
    full=1 << 24,
    contract=Domain(
        sizes=domain.shapes(n=(1, 2, 3, 4, 5, 31, 33, 127, 769, 1025, 4099)).with_outlier(n=32_771),
        launches=ANY_LAUNCH,
        values=(
            domain.data("x", *domain.ANY_FINITE, domain.HUGE),
            domain.scalars("seed", 0, 1, (1 << 40) + 3, (1 << 64) - 99),
            domain.scalars("offset", 0, 4, 1 << 36, (1 << 63) + 8),
            (
                *domain.scalars("keep", 0.1, 0.5, 1.0),  # last: it may depend on the two above
                InputClass("keep as large as an element's number", as_large_as_one),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=1024),
        method.instructions(
            "upper halves of products (two a round, ten rounds a block of four)",
            "mul.hi",
            at_least=18 * 256,
            at_most=22 * 256,
            advice="One call of `philox` is enough for four neighbours, and no fewer.",
            size=1024,
        ),
    ),
    within=2.0,
)


# --- an operator of one's own ---


def gates_and_values(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """x (rows x 2 columns), dy (rows x columns), room for y and dx."""
    rows, columns = size
    return {
        "x": 2 * floats(rng, (rows, 2 * columns)),
        "y": empty(size),
        "dy": floats(rng, size),
        "dx": empty((rows, 2 * columns)),
        **int32s(rows=rows, columns=columns),
    }


def gated(given: Given) -> dict[str, np.ndarray]:
    """y, and the gradient of x, in float64."""
    x, dy = in_float64(given, "x", "dy")
    g, u = np.split(x, 2, axis=1)
    s = np.where(g < 0, np.exp(np.minimum(g, 0)), 1) / (1 + np.exp(-np.abs(g)))
    return {
        "y": g * s * u,
        "dx": np.concatenate([dy * u * s * (1 + g * (1 - s)), dy * g * s], axis=1),
    }


def far_gates(given: Given, rng: np.random.Generator) -> Given:
    """Gates of about 1000, of both signs: exp of one of them is infinite."""
    x = given["x"].copy()
    x[:, : x.shape[1] // 2] += np.float32(1000) * rng.choice((-1, 1), given["dy"].shape)
    return {"x": x}


def _both_ways(size: tuple[int, int]) -> tuple[Launch, ...]:
    blocks = (ceil_div(size[0] * size[1], 256),)
    return (
        Launch(blocks, (256,), kernel="gated_rows", arguments=("x", "y", "rows", "columns")),
        Launch(
            blocks,
            (256,),
            kernel="gated_rows_backward",
            arguments=("x", "dy", "dx", "rows", "columns"),
        ),
    )


GATED_ROWS = KernelExercise(
    inputs=gates_and_values,
    reference=gated,
    launch=_both_ways,
    small=((5, 70), (2, 128), (3, 33), (1, 1)),
    axes={"dx": ("row", "gate or value"), "y": ("row", "column")},
    worked=Worked(size=(2, 2), values={"x": (0, 0, 4, 2, 0, 0, 3, 5), "dy": (2, 4, 6, 2)}),
    full=(1 << 13, 1 << 12),
    reduction=lambda size: 16,  # rounded exponents, and differences of 1
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 3, 7, 130), columns=(1, 2, 31, 32, 33, 255, 256, 257)
        ).with_outlier(rows=65_543, columns=1031),
        values=(
            (
                AS_GIVEN,
                InputClass("gates of about 1000", far_gates),
                *domain.data("x", domain.POSITIVE, domain.NEGATIVE, domain.SMALL)[1:],
            ),
            domain.data("dy", domain.NEGATIVE, domain.LARGE, domain.FAINT),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(8, 128)),
        method.reads_each_once(4 * 8 * 128 * (2 + 2 + 1), at_most=1.25, size=(8, 128)),
    ),
)
