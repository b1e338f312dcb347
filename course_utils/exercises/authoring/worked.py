"""The case of an exercise that a learner can work by hand: the smallest shapes that say something,
with small integers.

A kernel that is wrong there shows its mistake in a few numbers. The case follows from the contract:
its extents give the size, and the arrays that may hold any ordinary numbers get integers. Inputs
that depend on each other (statistics, offsets, codes) stay as the exercise makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checking.rows import MOST_NUMBERS
from .domain import InputClass, Sizes
from .launches import Empty

if TYPE_CHECKING:
    from .spec import KernelExercise

TARGETS = (3, 2, 4)  # of the last extent, the one before and so on: no two alike
ONE_EXTENT = 5
FEWEST = 4  # numbers of the longest array: in fewer all mistakes look alike
WHOLE_NUMBERS = (3, 1, -2, 4, 2, -1, 5)  # seven: rows of a matrix aren't alike
FACTORS = (3, 2)


@dataclass(frozen=True)
class Worked:
    """The case of an exercise where the contract's isn't the best.

    ``size`` is its size, ``values`` are inputs by name, as small numbers, and ``whole`` more arrays
    that may hold any small integers. ``hidden`` are the arrays of a probe, which the learner's
    code doesn't name: they aren't shown. ``why_not`` is a sentence for an exercise without a case:
    why even its least inputs are too many.
    """

    size: Any = None
    values: Mapping[str, Any] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    why_not: str = ""


def worked_size(exercise: KernelExercise) -> Any:
    """The size of the exercise's case, or None where even the least has too many numbers."""
    own = exercise.worked or Worked()
    if own.why_not or own.size is not None:
        return own.size
    return next((size for size in _candidates(exercise) if _fits(exercise, size)), None)


def worked_change(exercise: KernelExercise) -> InputClass:
    """The change that gives the inputs of a size the numbers of the case."""
    contract = exercise.contract
    classes = [each for one in contract.values for each in one] if contract else []
    own = exercise.worked or Worked()
    any_sign = {name for each in classes if not each.positive for name in each.whole}
    any_sign |= set(own.whole)
    whole = any_sign | {name for each in classes for name in each.whole}

    def change(given: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for place, name in enumerate(sorted(whole & given.keys())):
            value = given[name]
            if isinstance(value, np.ndarray):
                made[name] = _whole_numbers(value, place, name in any_sign)
            elif value.dtype.kind == "f":
                made[name] = FACTORS[place % 2]
        shaped = {
            name: np.reshape(value, np.shape(given[name])) for name, value in own.values.items()
        }
        return made | shaped

    return InputClass("small integers", change)


def shown(exercise: KernelExercise, given: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a case, inputs and outputs, by name."""
    hidden = exercise.worked.hidden if exercise.worked else ()
    return {
        name: value.shape
        for name, value in given.items()
        if isinstance(value, (Empty, np.ndarray)) and name not in hidden
    }


def _whole_numbers(array: np.ndarray, start: int, any_sign: bool) -> np.ndarray:
    """Small integers in no order, of both signs where the inputs may be negative."""
    numbers = np.resize(np.roll(WHOLE_NUMBERS, -3 * start), array.shape)
    return numbers if any_sign and array.dtype.kind != "u" else np.abs(numbers)


def _fits(exercise: KernelExercise, size: Any) -> bool:
    shapes = shown(exercise, exercise.inputs(np.random.default_rng(1), size))
    return FEWEST <= max(map(prod, shapes.values())) <= MOST_NUMBERS


def _candidates(exercise: KernelExercise) -> Iterator[Any]:
    """Sizes to try, the best first: from the contract's extents, then the exercise's own."""
    contract = exercise.contract
    if contract and contract.sizes:
        yield from _of_extents(contract.sizes)
    yield from reversed(exercise.small)


def _of_extents(sizes: Sizes) -> Iterator[Any]:
    steps = [max(gcd(*values), 1) for values in sizes.extents]
    least = [values[0] for values in sizes.extents]
    most = [values[-1] for values in sizes.extents]
    count = len(least)
    wanted: list[tuple[int, ...]]
    if count == 1:
        wanted = [(n,) for n in (ONE_EXTENT, 6, 4, 3, 7, 8, 2, 1)]
    else:
        first = [TARGETS[min(count - 1 - at, 2)] for at in range(count)]
        more = [tuple(n + add for n in first) for add in (1, 2, 3)]
        wanted = [tuple(first), *_lowered(first), *more]
    tried = set()
    for extents in wanted:
        rounded = tuple(
            min(max(-(-n // step) * step, low), high)
            for n, step, low, high in zip(extents, steps, least, most, strict=True)
        )
        if rounded not in tried:
            tried.add(rounded)
            yield rounded[0] if count == 1 else rounded


def _lowered(extents: list[int]) -> Iterator[tuple[int, ...]]:
    """The same extents, from the first on made smaller by one at a time, down to 1."""
    now = list(extents)
    while max(now) > 1:
        now[now.index(max(now))] -= 1
        yield tuple(now)
