"""The case of an exercise that a learner can work by hand: the smallest shapes that say something,
with small integers.

A kernel that is wrong there shows its mistake in a few numbers. The case follows from the contract:
its extents give the size, and the arrays that may hold any ordinary numbers get integers. Inputs
that depend on each other (statistics, offsets, codes) stay as the exercise makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checking.rows import MOST_NUMBERS
from ...integers import ceil_div
from .domain import InputClass
from .launches import Empty
from .sizes import Sizes

if TYPE_CHECKING:
    from .spec import KernelExercise

TARGETS = (3, 2, 4)  # of the last extent, the one before and so on: no two alike
ONE_EXTENT = 5
FEWEST = 4  # numbers of the longest array: in fewer all mistakes look alike
WHOLE_NUMBERS = (3, 1, -2, 4, 2, -1, 5)  # seven: rows of a matrix aren't alike
LARGEST = 9  # of the small integers: one digit
LARGEST_OF_HALVES = 2  # of fp16, bfloat16 and bytes: sums of their products stay exact
FACTORS = (3, 2)


@dataclass(frozen=True)
class Worked:
    """The case of an exercise where the contract's isn't the best.

    ``size`` is its size, ``values`` are inputs by name, as small numbers, and ``whole`` more arrays
    that may hold any small integers. In a tile's or a warp's array all but a few numbers are 0:
    ``values`` has those by their index then, ``{"A": {(0, 0): 2, (0, 1): 3}}``.
    ``derived(given)`` gives the inputs that follow from the others, such as statistics of the
    numbers. ``hidden`` are the arrays of a probe, which the learner's code doesn't name: they
    aren't shown. ``why_not`` is a sentence for an exercise without a case: why even its least
    inputs are too many. ``whole`` serves such an exercise too: where an answer is wrong, most of
    these numbers become 0, and what is left is shown.
    """

    size: Any = None
    values: Mapping[str, Any] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    derived: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None
    hidden: tuple[str, ...] = ()
    why_not: str = ""


def worked_size(exercise: KernelExercise) -> Any:
    """The size of the exercise's case, or None where even the least has too many numbers."""
    own = exercise.worked or Worked()
    if own.why_not or own.size is not None:
        return own.size
    return next((size for size in _candidates(exercise) if _fits(exercise, size)), None)


def worked_change(exercise: KernelExercise, *, distinct: bool = False) -> InputClass:
    """The change that gives the inputs of a size the numbers of the case. ``distinct``: no two of a
    long array are alike, however large they become."""
    own = exercise.worked or Worked()
    whole = any_numbers(exercise)

    def change(given: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for place, name in enumerate(name for name in whole if name in given):
            value = given[name]
            if isinstance(value, np.ndarray):
                made[name] = _whole_numbers(value, place, whole[name], distinct)
            elif value.dtype.kind == "f":
                made[name] = FACTORS[place % 2]
        made.update(_own_values(exercise, given))
        if own.derived is not None:
            now = InputClass("", lambda given, rng: made).applied(dict(given), rng)
            made.update(own.derived(now))
        return made

    return InputClass("small integers", change)


def _own_values(exercise: KernelExercise, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values of the exercise's own case, for the inputs that are as large as there."""
    own = exercise.worked or Worked()
    made = {
        name: np.reshape(value, np.shape(given[name]))
        for name, value in own.values.items()
        if not isinstance(value, Mapping) and np.size(value) == np.size(given[name])
    }
    few = {name: value for name, value in own.values.items() if isinstance(value, Mapping)}
    if few:
        of_case = exercise.inputs(np.random.default_rng(1), own.size)
        if all(np.shape(given[name]) == np.shape(of_case[name]) for name in few):
            made |= {name: _zeros_but(value, np.shape(given[name])) for name, value in few.items()}
    return made


def _zeros_but(few: Mapping[Any, float], shape: tuple[int, ...]) -> np.ndarray:
    array = np.zeros(shape)
    for index, value in few.items():
        array[index] = value
    return array


def any_numbers(exercise: KernelExercise) -> dict[str, bool]:
    """The inputs that may hold any small integers, by name, and whether also negative ones."""
    contract = exercise.contract
    classes = [each for one in contract.values for each in one] if contract else []
    any_sign = {name for each in classes if not each.positive for name in each.whole}
    any_sign |= set(exercise.worked.whole if exercise.worked else ())
    whole = any_sign | {name for each in classes for name in each.whole}
    return {name: name in any_sign for name in sorted(whole)}


def shown(exercise: KernelExercise, given: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a case, inputs and outputs, by name."""
    hidden = exercise.worked.hidden if exercise.worked else ()
    return {
        name: value.shape
        for name, value in given.items()
        if isinstance(value, (Empty, np.ndarray)) and name not in hidden
    }


def _whole_numbers(
    array: np.ndarray, start: int, any_sign: bool, distinct: bool = False
) -> np.ndarray:
    """Small integers in no order, of both signs where the inputs may be negative. Those of an array
    that is too long to show don't repeat themselves: in them no other index looks right."""
    if array.size > MOST_NUMBERS and distinct and array.dtype.itemsize >= 4:
        numbers = np.random.default_rng(start).permutation(array.size) - array.size // 2
        numbers = np.where(numbers < 0, numbers, numbers + 1).reshape(array.shape)
    elif array.size > MOST_NUMBERS:
        largest = LARGEST if array.dtype.itemsize >= 4 else LARGEST_OF_HALVES
        numbers = np.random.default_rng(start).integers(-largest, largest + 1, array.shape)
        numbers[numbers == 0] = largest  # it may be a divisor
    else:
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
            min(max(ceil_div(n, step) * step, low), high)
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
