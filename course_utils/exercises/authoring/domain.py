"""The contract of a task, as data: the sizes, launches and values that a right answer copes with.

An author writes them with the functions below; :mod:`.trials` draws from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ...integers import ceil_div
from .launches import Empty, Launch
from .sizes import LENGTHS as LENGTHS  # exported: a spec has all words of its contract here
from .sizes import Sizes as Sizes
from .sizes import extents as extents
from .sizes import lengths as lengths
from .sizes import shapes as shapes

DRAWN = 12  # trials, at least; with the fixed ones a judgement has sixteen launches or more
Given = dict[str, Any]  # arrays and numbers by the names of parameters


@dataclass(frozen=True)
class InputClass:
    """One alternative for the inputs.

    ``change(given, rng)`` returns the inputs to replace, by name. They are converted to the dtypes
    that they had. ``whole`` are the inputs that it fills with numbers as good as any others, of
    both signs or ``positive``: small whole ones are as good.
    """

    label: str
    change: Callable[[Given, np.random.Generator], Mapping[str, Any]]
    whole: tuple[str, ...] = ()
    positive: bool = False

    def applied(self, given: Given, rng: np.random.Generator) -> Given:
        """``given`` with the values that ``change`` answers, in the dtypes that they had."""
        changed = {
            name: _alike(value, given[name]) for name, value in self.change(given, rng).items()
        }
        return {**given, **changed}


@dataclass(frozen=True)
class Domain:
    """What is drawn: ``sizes`` (None: the exercise's small ones), ``launches(size)`` in place of
    the exercise's own, and for each of ``values`` one of its alternatives."""

    sizes: Sizes | None = None
    launches: Callable[[Any], Sequence[Launch | tuple[Launch, ...]]] | None = None
    values: tuple[tuple[InputClass, ...], ...] = ()


@dataclass(frozen=True)
class DrawnCases:
    """What is drawn for an exercise on the CPU, in Python or C: ``draw(rng)`` gives one more case.

    The cases are tried from the shortest to the longest, so the first that fails is a small one.
    ``large()`` gives cases that come last and are made when an answer is judged, not before.
    ``tried`` says at the end of a task in C how far they reach.
    """

    draw: Callable[[np.random.Generator], Any]
    count: int = 16
    large: Callable[[], Sequence[Any]] = tuple
    tried: str = ""


# --- launches ---


def grids(
    *pairs: tuple[Any, Any], shared: Callable[[Any], int] = lambda block: 0
) -> Callable[[Any], Sequence[Launch]]:
    """Any of these (grid, block) at every size, with ``shared(block)`` bytes of shared memory."""
    launches = [
        Launch(_tuple(grid), _tuple(block), shared(prod(_tuple(block)))) for grid, block in pairs
    ]
    return lambda size: launches


# --- values ---

AS_GIVEN = InputClass("", lambda given, rng: {})


def _these(label: str, values: Mapping[str, Any]) -> InputClass:
    return InputClass(label, lambda given, rng: values)


def _number(value: Any) -> str:
    """A scalar in a label: 0.5, 536870912, and hexadecimal past 32 bits."""
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    return hex(value) if value >> 32 > 0 else str(value)


def scalars(name: str, *values: Any) -> tuple[InputClass, ...]:
    """The scalar ``name`` takes each of these values, beside those that the inputs give it."""
    whole = (name,) if min(values) < 0 else ()  # of a factor that may be negative any will do
    return AS_GIVEN, *(
        replace(_these(f"{name} = {_number(v)}", {name: v}), whole=whole) for v in values
    )


def together(*alternatives: Mapping[str, Any]) -> tuple[InputClass, ...]:
    """Several inputs take values that belong together: ``together({"low": -1, "high": 0}, …)``."""
    return AS_GIVEN, *(
        _these(", ".join(f"{name} = {_number(v)}" for name, v in values.items()), values)
        for values in alternatives
    )


ArrayChange = tuple[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]]

NEGATIVE: ArrayChange = "all negative", lambda x, rng: -np.abs(x) - _least(x)
POSITIVE: ArrayChange = "all positive", lambda x, rng: np.abs(x) + _least(x)
EQUAL: ArrayChange = "all equal", lambda x, rng: np.full_like(x, -3 if _signed(x) else 3)
TIES: ArrayChange = "with ties", lambda x, rng: rng.integers(-2 if _signed(x) else 0, 3, x.shape)
RISING: ArrayChange = "rising", lambda x, rng: np.sort(x, axis=None).reshape(x.shape)
FALLING: ArrayChange = "falling", lambda x, rng: np.sort(x, axis=None)[::-1].reshape(x.shape)
LARGE: ArrayChange = "large (about 1e30)", lambda x, rng: x.astype(np.float64) * 1e30
MIDDLING: ArrayChange = "about 1000", lambda x, rng: x.astype(np.float64) * 1000
SMALL: ArrayChange = "small (about 1e-6)", lambda x, rng: x.astype(np.float64) * 1e-6
ZEROS: ArrayChange = "all zero", lambda x, rng: np.zeros_like(x)
# Minus zero equals zero and is not negative, though its sign is.
ZEROS_OF_BOTH_SIGNS: ArrayChange = (
    "zeros of both signs",
    lambda x, rng: np.where(np.arange(x.size) % 5 < 4, -0.0, 0.0).reshape(x.shape),
)
LARGE_NEGATIVE: ArrayChange = (
    "all below -1e30",
    lambda x, rng: -1e30 * (1 + np.abs(x.astype(np.float64))),
)
LARGE_POSITIVE: ArrayChange = (
    "all above 1e30",
    lambda x, rng: 1e30 * (1 + np.abs(x.astype(np.float64))),
)
MINUS_INFINITY: ArrayChange = "all -inf", lambda x, rng: np.full_like(x, -np.inf)
PLUS_INFINITY: ArrayChange = "all +inf", lambda x, rng: np.full_like(x, np.inf)
SOME_INFINITE: ArrayChange = "some ±inf", lambda x, rng: _sprinkled(x, rng, (np.inf, -np.inf))
SOME_NAN: ArrayChange = "some NaN", lambda x, rng: _sprinkled(x, rng, (np.nan,))
LAST_INFINITE: ArrayChange = "infinite at the end", lambda x, rng: _with_last(x, np.inf)
VERY_SMALL: ArrayChange = "very small (1e-15)", lambda x, rng: x.astype(np.float64) * 1e-15
FAINT: ArrayChange = "hardly more than 0 (1e-25)", lambda x, rng: x.astype(np.float64) * 1e-25
# Multiples of 2^-122: the sum of two is 0 or no smaller, so nothing is flushed.
FAINTEST: ArrayChange = (
    "near the smallest float (1e-35)",
    lambda x, rng: np.rint(x.astype(np.float64) * 64) * 2.0**-122,
)
# No smaller number is sure to be one, on a GPU.
SMALLEST_NORMAL: ArrayChange = (
    "near the smallest normal float",
    lambda x, rng: np.copysign(np.finfo(x.dtype).tiny * rng.uniform(1, 2, x.shape), x),
)
VERY_LARGE: ArrayChange = "very large (1e15)", lambda x, rng: x.astype(np.float64) * 1e15
HUGE: ArrayChange = (
    "near the largest float",
    lambda x, rng: np.copysign(np.finfo(x.dtype).max * rng.uniform(0.6, 0.9, x.shape), x),
)
LOWEST: ArrayChange = (
    "-inf and the lowest float",
    lambda x, rng: rng.choice([-np.inf, np.finfo(x.dtype).min], x.shape),
)
# In fp32; not lower, so that their product with log2(e) is a float.
NEAR_LOWEST: ArrayChange = (
    "all below -2e38",
    lambda x, rng: -2e38 * rng.uniform(1, 1.15, x.shape),
)
# Where a formula only takes differences of numbers: a maximum begins with none of fewer digits.
AT_LOWEST: ArrayChange = (
    "all below -3.4e38",
    lambda x, rng: np.finfo(x.dtype).min * rng.uniform(0.9995, 1, x.shape),
)
HIGHEST: ArrayChange = (
    "+inf and the largest float",
    lambda x, rng: rng.choice([np.inf, np.finfo(x.dtype).max], x.shape),
)

# For any numbers that a formula can take without overflowing.
ORDINARY = NEGATIVE, POSITIVE, EQUAL, TIES, RISING, FALLING, MIDDLING, SMALL
# For kernels that only compare and copy: every finite number is as good as any other.
ANY_FINITE = *ORDINARY, LARGE, LARGE_NEGATIVE, LARGE_POSITIVE
ANY_ORDERED = *ANY_FINITE, MINUS_INFINITY, PLUS_INFINITY, SOME_INFINITE
# (No denormal numbers: kernels are compiled to flush them.)
# What a formula may meet beside ordinary numbers, where the reference says what comes of it.
STRANGE = ZEROS_OF_BOTH_SIGNS, VERY_SMALL, SOME_INFINITE, LAST_INFINITE, SOME_NAN
# For kernels that copy and move: all that there is.
ANY_FLOAT = *ANY_ORDERED, *STRANGE, HUGE


def data(names: str, *classes: ArrayChange) -> tuple[InputClass, ...]:
    """The arrays ``names`` (one name, or several separated by spaces) take each class of values."""

    arrays = tuple(names.split())

    def alternative(one: ArrayChange) -> InputClass:
        label, change = one
        return InputClass(
            f"{' and '.join(arrays)} {label}",
            lambda given, rng: {name: change(given[name], rng) for name in arrays},
            arrays if one in (TIES, POSITIVE) else (),
            one is POSITIVE,
        )

    return AS_GIVEN, *map(alternative, classes)


def zero_times_infinity(zero: str, infinite: str) -> InputClass:
    """``zero`` is 0 where ``infinite`` has its infinities: their product is no number. Both are
    arrays of one shape, or ``zero`` is a scalar."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x = SOME_INFINITE[1](given[infinite], rng)
        y = np.where(np.isinf(x), 0, given[zero]) if np.ndim(given[zero]) else 0
        return {infinite: x, zero: y}

    return InputClass(f"{zero} = 0 where {infinite} is infinite", change)


def zeros_and_infinities(zero: str, infinite: str) -> InputClass:
    """About half of ``zero`` is 0, and some of ``infinite`` are infinite, wherever they meet;
    ``infinite`` may be a scalar."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x = given[zero]
        x = np.where(rng.random(x.shape) < 0.5, 0, x)
        return {zero: x, infinite: SOME_INFINITE[1](np.asarray(given[infinite]), rng)}

    return InputClass(f"half of {zero} 0, some of {infinite} infinite", change)


def zero_times_infinity_along(zero: str, axis: int, infinite: str, other_axis: int) -> InputClass:
    """Somewhere along the axis over which a product sums, all of ``zero`` is 0 and one number of
    ``infinite`` is infinite. The axes count from the last."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x, y = given[zero].copy(), given[infinite].copy()
        if x.shape[axis]:
            k = int(rng.integers(x.shape[axis]))
            np.moveaxis(x, axis, 0)[k] = 0
            # In the middle: what is wrong at the last place alone looks like a missing guard.
            place = [(extent - 1) // 2 for extent in y.shape]
            place[other_axis % y.ndim] = k
            y[tuple(place)] = np.inf
        return {zero: x, infinite: y}

    return InputClass(f"{zero} = 0 where {infinite} is infinite", change)


def infinite_at_the_ends(
    infinite: str, axis: int, factor: str = "", other_axis: int = -1
) -> InputClass:
    """Along the axis of a sum the first and the last number of ``infinite`` are infinite, in one
    row, and what they meet in ``factor`` is 1. Who loads either again for the threads behind the
    end, and multiplies it by 0 there, adds NaN. The axes count from the last."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x = given[infinite].copy()
        if not x.size:
            return {}
        # In the middle: what is wrong at the last place alone looks like a missing guard.
        place: list[Any] = [(extent - 1) // 2 for extent in x.shape]
        place[axis] = [0, -1]
        x[tuple(place)] = np.inf
        if not factor:
            return {infinite: x}
        y = given[factor].copy()
        np.moveaxis(y, other_axis, 0)[[0, -1]] = 1
        return {infinite: x, factor: y}

    return InputClass(f"{infinite} infinite at both ends of a sum", change)


def _with_last(x: np.ndarray, value: float) -> np.ndarray:
    changed = x.copy()
    changed.reshape(-1)[-1:] = value
    return changed


def _least(x: np.ndarray) -> Any:
    return x.dtype.type(1) if x.dtype.kind in "iu" else x.dtype.type(0.5)


def _signed(x: np.ndarray) -> bool:
    return x.dtype.kind != "u"


def _sprinkled(x: np.ndarray, rng: np.random.Generator, values: tuple[float, ...]) -> np.ndarray:
    """``x`` with about a tenth of its elements, one at least, replaced."""
    changed = x.copy()
    where = rng.permutation(x.size)[: ceil_div(x.size, 10)]
    changed.reshape(-1)[where] = rng.choice(values, len(where))
    return changed


def _alike(value: Any, before: Any) -> Any:
    """``value`` with the dtype of what it takes the place of."""
    if isinstance(before, Empty) or isinstance(value, Empty):
        return value
    with np.errstate(over="ignore"):
        if isinstance(before, np.ndarray):
            return np.ascontiguousarray(value, before.dtype)
        return before.dtype.type(value)


def _tuple(value: Any) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
