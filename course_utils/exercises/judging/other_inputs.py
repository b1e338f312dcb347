"""Is a wrong result the right one for other inputs: without the bias, with a flipped filter?

The reference says. It's evaluated with one input changed at a time, and where it then gives the
answer's numbers, all of them, the change is the mistake's name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ...checking import to_numpy
from ...checking.error_kinds import SLIP_STEP, Slip
from ...checking.tolerance import tolerance_for
from ...checking.verdict import Verdict
from ..authoring import kinds
from ..authoring.launches import Empty
from ..authoring.spec import KernelExercise
from .comparison import members_of, wrong_members
from .trials import Trial

UNNAMED = (None, Slip.OFFSET, Slip.FACTOR_PER_LINE, Slip.SAME_FACTOR, Slip.ELSEWHERE)
MOST_SECONDS = 0.5  # of the processor, for all evaluations
MOST_SIZE = 1 << 20  # elements of an array that is changed
UNLIKELY = 1e-3  # a chance that is smaller is evidence
TILES = (16, 8, 32)  # rows and columns of a fragment
VANISHING = 1e-19  # the square of a smaller fp32 number is 0, or has lost its digits
DIGITS = 4  # bits of a number that is packed with others into a word


@dataclass(frozen=True)
class Change:
    """Other values for some inputs, by name, and the words that follow "what the formula gives".
    ``of`` are the words in front of the result's name where a part of each element is meant."""

    values: Mapping[str, Any]
    words: str
    slip: Slip
    of: str = ""


@dataclass(frozen=True)
class _Input:
    """An input: the name that the reference knows, and the one that a verdict says. ``members``
    are the numbers of an element whose type is float2 or alike."""

    name: str
    label: str
    array: np.ndarray
    members: int | None

    @property
    def first_for_all(self) -> np.ndarray:
        """The array with its first part, a number or a row, instead of each."""
        return np.ascontiguousarray(np.broadcast_to(self.array[:1], self.array.shape))

    def changed(self, other: Any, words: str, slip: Slip) -> Change:
        """The change to ``other`` values. A number stays a number."""
        values = np.ascontiguousarray(other, self.array.dtype)
        return Change({self.name: values if self.array.ndim else values.ravel()[0]}, words, slip)


def with_change_named(
    exercise: KernelExercise,
    wrong: Verdict,
    trial: Trial,
    arrays_of: Callable[[Trial], Mapping[str, np.ndarray]],
) -> Verdict:
    """``wrong``, the verdict on the numbers of ``trial``, with the change of an input that gives
    all of them, unless none does, or it names a mistake already. ``arrays_of`` gives the arrays
    after the launches of a trial."""
    of_values = wrong.kind in (kinds.WRONG, kinds.PRECISION)
    if not of_values or wrong.first is None or wrong.slip not in UNNAMED:
        return wrong
    given = trial.given(exercise)
    found = _found(exercise, given, trial.size, wrong, arrays_of(trial))
    if found is None:
        return wrong
    _, *context = wrong.message.split("\n")
    message = "\n".join(
        [f"{found.of}{wrong.name} is what the formula gives {found.words}.", *context]
    )
    step = SLIP_STEP[found.slip]
    return replace(wrong, kind=kinds.WRONG, message=message, slip=found.slip, hint=step)


def _found(
    exercise: KernelExercise,
    given: Mapping[str, Any],
    size: Any,
    wrong: Verdict,
    arrays: Mapping[str, np.ndarray],
) -> Change | None:
    """The change whose result is in ``arrays``."""
    start = time.thread_time()
    name = wrong.name
    expected = np.asarray(exercise.expected(given)[name])
    members = members_of(exercise).get(name, 1)
    which = wrong_members(exercise, name, arrays[name], expected, size)
    some = 0 < len(which) < members
    of = " and ".join(f".{'xyzw'[at]}" for at in which)
    for change in _changes(exercise, given):
        if time.thread_time() - start > MOST_SECONDS:
            return None
        try:
            with np.errstate(all="ignore"):
                other = exercise.expected({**given, **change.values})[name]
                if some:
                    other = _with_members(expected, np.asarray(other), which, members)
                same = _same(exercise, size, arrays[name], other)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue  # the reference refuses such an input
        if same and not _by_luck(expected, np.asarray(other)):
            return replace(change, of=f"the {of} of ") if some else change
    return None


def _with_members(
    expected: np.ndarray, other: np.ndarray, which: Sequence[int], members: int
) -> np.ndarray:
    """``expected`` with the numbers ``which`` of each element as ``other`` has them."""
    if other.size != expected.size:
        return other
    mixed = expected.copy()
    for at in which:
        mixed.reshape(-1)[at::members] = other.reshape(-1)[at::members]
    return mixed


def _same(exercise: KernelExercise, size: Any, actual: np.ndarray, other: Any) -> bool:
    got, got_roundoff = to_numpy(actual)
    want, want_roundoff = to_numpy(np.asarray(other))
    if got.size != want.size:
        return False
    zero = 0.0 if exercise.exact else None
    roundoff = max(got_roundoff, want_roundoff)
    tolerance = tolerance_for(want, roundoff, exercise.reduction(size), zero, zero)
    wrong: np.ndarray = tolerance.wrong(got.reshape(want.shape), want)
    return not wrong.any()


def _by_luck(expected: np.ndarray, other: np.ndarray) -> bool:
    """Whether ``other`` may agree with a result by chance: it has few values, or differs from
    ``expected`` in few."""
    differs = expected != other
    values = other[differs]
    if not values.size or (expected.size > 1 and len(np.unique(other)) < 2):
        return True
    if expected.dtype.kind == "b":
        return bool(0.5**values.size > UNLIKELY)
    if expected.dtype.kind in "iu":
        spread = 1.0 + float(np.ptp(expected.astype(np.float64)))
        return bool(values.size * np.log(max(spread, 2.0)) < -np.log(UNLIKELY))
    return False


def _changes(exercise: KernelExercise, given: Mapping[str, Any]) -> Iterator[Change]:
    """The changes that a mistake in the kernel may come to, the likeliest first."""
    inputs = _inputs(exercise, given)
    for make in (_of_numbers, _of_signs, _of_words):
        for one in inputs:
            yield from make(one)
    for left, right in combinations(inputs, 2):
        alike = left.array.shape == right.array.shape and left.array.dtype == right.array.dtype
        if alike and not np.array_equal(left.array, right.array):
            values = {left.name: given[right.name], right.name: given[left.name]}
            words = f"with {left.label} and {right.label} exchanged"
            yield Change(values, words, Slip.INPUTS_SWAPPED)
        for one, other in ((left, right), (right, left)) if alike and left.array.ndim else ():
            words = f"with {other.label} instead of {one.label}"
            yield Change({one.name: given[other.name]}, words, Slip.INPUT_FOR_ANOTHER)
        if alike and left.array.ndim and len(left.array) > 1:
            values = {one.name: one.first_for_all for one in (left, right)}
            words = f"with {left.label}[0] and {right.label}[0] for all of them"
            yield Change(values, words, Slip.FIRST_FOR_ALL)
    for one in inputs:
        yield from _of_order(one)


def _inputs(exercise: KernelExercise, given: Mapping[str, Any]) -> list[_Input]:
    """The inputs that are changed: not the extents, and none of the arrays of a probe."""
    sizes = exercise.contract.sizes if exercise.contract else None
    left_out = {
        *(sizes.names if sizes else ()),
        *(exercise.worked.hidden if exercise.worked else ()),
    }
    members = members_of(exercise)
    outputs = exercise.expected(given)
    return [
        _Input(
            name, f"old {name}" if name in outputs else name, np.asarray(value), members.get(name)
        )
        for name, value in given.items()
        if not isinstance(value, Empty) and name not in left_out and np.size(value) <= MOST_SIZE
    ]


def _of_numbers(one: _Input) -> Iterator[Change]:
    """An input that isn't used, or is used as a factor of 1."""
    if one.array.dtype.kind in "iuf":
        for number, made in ((0, np.zeros_like), (1, np.ones_like)):
            if number == 0 and _squares_vanish(one.array):
                continue
            words = f"without {one.label}, as if it were {number}"
            yield one.changed(made(one.array), words, Slip.INPUT_UNUSED)


def _squares_vanish(array: np.ndarray) -> bool:
    """Whether it has numbers, and all of them are too small for a square. A square that became 0 is
    another mistake than an input that isn't used."""
    largest = np.abs(array).max(initial=0) if array.dtype == np.float32 else 0
    return bool(0 < largest < VANISHING)


def _of_signs(one: _Input) -> Iterator[Change]:
    """An input with the other sign, or a complex one's conjugate, and 1 over a number, or its
    square."""
    array, label = one.array, one.label
    if array.dtype.kind not in "if":
        return
    yield one.changed(-array, f"with -{label} instead of {label}", Slip.INPUT_SIGN)
    if one.members == 2 and array.size % 2 == 0:
        other = array.reshape(-1, 2) * np.array([1, -1], array.dtype)
        words = f"with the complex conjugate of {label}"
        yield one.changed(other.reshape(array.shape), words, Slip.INPUT_SIGN)
    if array.dtype.kind != "f" or not array.size or (array.ndim == 0 and array in (0, 1)):
        return
    with np.errstate(over="ignore"):
        others = [(array * array, f"{label} squared")]
    if array.ndim == 0:
        others += [
            (1 / array, f"1 / {label}"),
            (array / 2, f"{label} / 2"),
            (2 * array, f"2 {label}"),
        ]
    for other, words in others:
        yield one.changed(other, f"with {words} instead of {label}", Slip.FACTOR_OF_INPUT)


def _of_words(one: _Input) -> Iterator[Change]:
    """Packed numbers in another order: four bits each."""
    array = one.array
    if array.dtype.kind not in "iu" or array.ndim == 0 or array.dtype.itemsize not in (1, 4):
        return
    count = 8 * array.dtype.itemsize // DIGITS
    apart = np.arange(count).reshape(2, -1).T.ravel()
    orders = {
        "in reverse order": np.arange(count)[::-1],
        "exchanged in pairs": np.arange(count).reshape(-1, 2)[:, ::-1].ravel(),
        f"taken as neighbours, and not {count // 2} apart": apart,
        f"taken {count // 2} apart, and not as neighbours": np.argsort(apart),
    }
    words = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    for told, order in orders.items():
        other = np.zeros_like(words)
        for to, source in enumerate(order.tolist()):
            digit = (words >> (DIGITS * source)) & ((1 << DIGITS) - 1)
            other |= (digit << (DIGITS * to)).astype(words.dtype)
        told = f"if the {count} numbers of {DIGITS} bits in each element of {one.label} were {told}"
        yield one.changed(other.view(array.dtype), told, Slip.INPUT_ORDER)


def _of_order(one: _Input) -> Iterator[Change]:
    """The elements of an array in another order."""
    array, label = one.array, one.label
    if array.ndim > 1:
        words = f"with {label} flipped along its last two axes, rotated by 180 degrees"
        yield one.changed(np.flip(array, (-2, -1)), words, Slip.INPUT_FLIPPED)
        *batch, rows, columns = array.shape
        if min(rows, columns) > 1:
            other = array.reshape(*batch, columns, rows).swapaxes(-1, -2)
            words = f"with {label} read by columns (column-major), not by rows"
            yield one.changed(other, words, Slip.OPERAND_LAYOUT)
        for tile in TILES:
            if rows % tile == columns % tile == 0 and not rows == columns == tile:
                tiles = array.reshape(*batch, rows // tile, tile, columns // tile, tile)
                other = tiles.swapaxes(-1, -3).reshape(array.shape)
                words = f"with each tile of {tile} x {tile} elements of {label} transposed"
                yield one.changed(other, words, Slip.TILE_LAYOUT)
    if array.ndim and len(array) > 1:
        words = f"with {label}[0] for all of {label}"
        yield one.changed(one.first_for_all, words, Slip.FIRST_FOR_ALL)
    if array.ndim > 1 and array.shape[-1] % 2 == 0 and array.shape[-1] > 2:
        words = f"with the two halves of each row of {label} exchanged"
        yield one.changed(np.roll(array, array.shape[-1] // 2, -1), words, Slip.INPUT_ORDER)
    for axis, size in enumerate(array.shape):
        if size < 3:
            continue
        along = f" along axis {axis}" if array.ndim > 1 else ""
        if size % 2 == 0:
            pairs = np.arange(size).reshape(-1, 2)[:, ::-1].ravel()
            words = f"with neighbours of {label} exchanged in pairs{along}"
            yield one.changed(np.take(array, pairs, axis), words, Slip.INPUT_ORDER)
        words = f"with {label} reversed{along}"
        yield one.changed(np.flip(array, axis), words, Slip.INPUT_FLIPPED)
        for by, where in ((1, "before"), (-1, "after")):
            words = f"with the element {where} it{along} instead of each element of {label}"
            yield one.changed(np.roll(array, by, axis), words, Slip.INPUT_SHIFTED)
