"""What in a formula gives a wrong result: a size or an input as a factor, a root, a row's sum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import prod, sqrt

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence
from ..indices import element
from ..tolerance import wide

EXACT = 2e-5  # of a factor from the number that it is said to be
MOST_AXES = 4
MOST_OF_WINDOWS = 1 << 18  # elements in all
MOST_AROUND = 3  # elements on either side, of a window that is tried
ENOUGH = 3  # elements that one function explains
SPREAD = 1.05  # the largest of the expected elements over the smallest, at least
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the square root of": np.sqrt,
    "the square of": np.square,
    "1 over": np.reciprocal,
    "the logarithm of": np.log,
    "the exponential of": np.exp,
}


def factor_named(e: Evidence, factor: float) -> tuple[str, Slip] | None:
    """The sizes, or the input, that a factor is made of: words that follow it. None for a factor of
    none of them."""
    for name, value in _numbers(e):
        for words, power in ((name, 1.0), (f"1 / {name}", -1.0), (f"{name} squared", 2.0)):
            if _is(factor, value**power):
                return f"that is {words}, with {name} = {value:.6g}", Slip.FACTOR_OF_INPUT
    for name, shape in _shapes(e):
        sizes = sorted({prod(c) for n in range(1, len(shape) + 1) for c in combinations(shape, n)})
        for words, value in _made_of([size for size in sizes if size > 1]):
            if _is(factor, value):
                what = " x ".join(map(str, shape))
                return f"that is {words}, and {name} has {what} elements", Slip.FACTOR_OF_SIZES
    return None


def function_of(e: Evidence) -> Diagnosis | None:
    """A root, a square or another function of what is expected."""
    if e.actual.dtype.kind != "f" or e.actual.size < ENOUGH or not e.wrong.any():
        return None
    expected = np.abs(wide(e.expected))
    if not expected.all() or expected.max() < SPREAD * expected.min():
        return None
    for words, function in FUNCTIONS.items():
        if e.close(wide(e.actual), function(wide(e.expected))).all():
            message = f"{e.all_of} is {words} the expected one."
            return Diagnosis(kinds.WRONG, message, Slip.FUNCTION_OF_IT)
    return None


def factor_per_line(e: Evidence) -> Diagnosis | None:
    """Each row, or each column, is off by its own factor."""
    if e.actual.dtype.kind != "f" or e.actual.ndim < 2:
        return None
    for axis in (e.actual.ndim - 2, e.actual.ndim - 1):
        lines = np.moveaxis(wide(e.actual), axis, 0).reshape(e.actual.shape[axis], -1)
        wanted = np.moveaxis(wide(e.expected), axis, 0).reshape(lines.shape)
        if len(lines) < 2 or lines.shape[1] < ENOUGH or not np.isfinite(wanted).all():
            continue
        factors = np.array([_factor(*pair) for pair in zip(lines, wanted, strict=True)])
        if not np.isfinite(factors).all() or not factors.all():
            continue
        if e.close(lines, wanted * factors[:, None]).all():
            what = e.axis_name(axis)
            first = int(np.argmax(np.abs(factors - 1) > EXACT))
            other = (first + 1) % len(factors)
            return Diagnosis(
                kinds.WRONG,
                f"each {what} of {e.name} is the expected one times its own factor: "
                f"{factors[first]:.4g} in {what} {first}, {factors[other]:.4g} in {what} {other}.",
                Slip.FACTOR_PER_LINE,
            )
    return None


def one_too_many(e: Evidence) -> Diagnosis | None:
    """A maximum or a minimum, of more elements of an input than there should be, or of fewer."""
    if e.actual.ndim != 1 or e.actual.dtype.kind not in "if" or e.wrong.sum() < ENOUGH:
        return None
    for name, values in e.operands.items():
        known = np.concatenate([values.reshape(-1), [np.inf, -np.inf]])
        if values.size < e.actual.size or not np.isin(e.expected, known).all():
            continue
        found, wanted = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
        if not np.isin(e.actual[e.wrong], known).all():
            continue
        for sign, which, largest in ((1, "larger", "maximum"), (-1, "smaller", "minimum")):
            if (sign * found > sign * wanted).all() and sign * np.median(
                e.expected
            ) >= sign * np.median(values):
                at = int(np.argmax(e.wrong))
                return Diagnosis(
                    kinds.WRONG,
                    f"{e.wrong_ones} is {which} than the expected one, as in "
                    f"{element(e.name, [at])}, and an element of {name}: too many elements take "
                    f"part in a {largest}.",
                    Slip.TOO_MANY,
                )
    return None


def min_for_max(e: Evidence) -> Diagnosis | None:
    """The maximum of the elements of a window whose minimum is expected, or the other way round.
    The elements may be maxima, or minima, of windows of an input themselves."""
    if e.actual.ndim != 1 or e.actual.dtype.kind not in "if" or e.wrong.sum() <= ENOUGH:
        return None
    if e.actual.size > MOST_OF_WINDOWS:
        return None
    alike = (name for name, values in e.operands.items() if values.shape == e.actual.shape)
    return next(filter(None, (_exchanged(e, name, e.operands[name]) for name in alike)), None)


def _exchanged(e: Evidence, name: str, values: np.ndarray) -> Diagnosis | None:
    """The same for the windows of the input ``name``, of the result's shape."""
    for sign, which, other in ((1, "maximum", "minimum"), (-1, "minimum", "maximum")):
        for inner, outer in product(range(MOST_AROUND + 1), range(1, MOST_AROUND + 1)):
            inside = slice(inner + outer, values.size - inner - outer)
            if len(e.actual[inside]) <= ENOUGH:
                continue
            of_input = _largest_around(sign * wide(values), inner)
            least = -_largest_around(-of_input, outer)
            most = _largest_around(of_input, outer)
            right = (least == sign * wide(e.expected[inside])).all()
            if right and (most == sign * wide(e.actual[inside])).all():
                at = element(e.name, [int(np.argmax(e.wrong))])
                return Diagnosis(
                    kinds.WRONG,
                    f"{e.wrong_ones} is the {which} of elements whose {other} is expected, as in "
                    f"{at}: the comparison of {name}'s elements, or of numbers made of them, is "
                    "the other way round.",
                    Slip.MIN_FOR_MAX,
                )
    return None


def _largest_around(values: np.ndarray, reach: int) -> np.ndarray:
    """The largest of each element and the ``reach`` on either side, without those at the ends."""
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * reach + 1)
    largest: np.ndarray = windows.max(axis=-1)
    return largest


def _factor(line: np.ndarray, wanted: np.ndarray) -> float:
    """The median factor of a line, 1 where all of it is 0 as expected."""
    use = wanted != 0
    return float(np.median(line[use] / wanted[use])) if use.any() else 1.0


def _numbers(e: Evidence) -> Iterator[tuple[str, float]]:
    """The inputs that are one number, but 0 and 1."""
    for name, value in e.inputs.items():
        array = np.asarray(value.get() if hasattr(value, "get") else value)
        if array.ndim == 0 and array.dtype.kind in "iuf" and abs(float(array)) not in (0.0, 1.0):
            yield name, abs(float(array))


def _shapes(e: Evidence) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The arrays whose sizes may be in the formula: the inputs and the result."""
    shapes = {name: array.shape for name, array in e.operands.items()}
    for name, shape in {**shapes, e.name: e.actual.shape}.items():
        if 1 < len(shape) <= MOST_AXES:
            yield name, shape


def _made_of(sizes: list[int]) -> Iterator[tuple[str, float]]:
    """Numbers made of one or two sizes, and how."""
    for size in sizes:
        yield f"{size}", size
        yield f"1 / {size}", 1 / size
        yield f"the square root of {size}", sqrt(size)
        yield f"1 / the square root of {size}", 1 / sqrt(size)
    for size in sizes:
        for other in sizes:
            if size != other:
                yield f"{size} / {other}", size / other
        yield f"{size} / {size - 1}", size / (size - 1)
        yield f"{size - 1} / {size}", (size - 1) / size


def _is(factor: float, value: float) -> bool:
    return abs(factor / value - 1) < EXACT
