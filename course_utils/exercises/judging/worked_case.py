"""The case that a learner can work by hand: its launch, and its numbers as rows of a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...checking import raw_bytes
from ...checking.indices import element
from ...checking.rows import MOST_NUMBERS, ArrayPart, FewNumbers, Rows, labelled_rows, number
from ...checking.verdict import Verdict
from ..authoring import emulated_runs, kinds
from ..authoring.dependence import needed_elements
from ..authoring.launches import Empty
from ..authoring.sizes import Sizes
from ..authoring.spec import KernelExercise
from ..authoring.worked import worked_change, worked_size
from .comparison import inputs_beside
from .trials import Trial

SEED = 1
UNWRITTEN_MARK = " (? was never written)"
MOST_OF_PART = 40  # numbers of a part that is shown
WINDOW = (2, 6)  # rows and columns of a result around its first wrong element
MOST_COUNTERS = 4  # elements
MOST_BESIDE = 12  # numbers of an input, where another has too many
DUST = 5e-7  # of the largest number
BEFORE = 2  # elements of them before it

_trials: dict[tuple[str, str, bool], Trial | None] = {}


@dataclass(frozen=True)
class _TooMany:
    """Shown instead of more numbers than can be worked out by hand."""

    count: int

    def __repr__(self) -> str:
        return f"{self.count:,} {kinds.TOO_MANY}"


def worked_trial(exercise: KernelExercise) -> Trial | None:
    """The launch of the case, found once a session. None for an exercise without one."""
    key = exercise.id, exercise.seed, exercise.contract is None
    if key not in _trials:
        size = worked_size(exercise)
        change = worked_change(exercise)
        _trials[key] = None if size is None else Trial(size, SEED, changes=(change,))
    return _trials[key]


def case_rows(
    exercise: KernelExercise,
    trial: Trial,
    run: emulated_runs.Run,
    wrong: Verdict,
    right: Any = None,
) -> Rows | None:
    """The inputs of the launch, and the numbers expected and got in the array that ``wrong``, the
    verdict on it, names. Of large arrays only the inputs of the first wrong element are shown.
    ``right`` is a size at which the result is right. None where the rows would show nothing."""
    if wrong.first is None:
        return None
    if number(wrong.first.expected) == number(wrong.first.got):
        return None  # no row would show the difference
    given = trial.given(exercise)
    name = wrong.name
    expected = np.asarray(exercise.expected(given)[name])
    got = run.arrays[name].reshape(expected.shape)
    hidden = np.zeros(got.shape, bool)
    if isinstance(given[name], Empty):
        before = run.before[name].reshape(got.shape)
        hidden = (raw_bytes(got) == raw_bytes(before)).all(axis=-1)
    expected, got = _without_dust(expected), _without_dust(got)
    out = {"expected": expected, "got": np.ma.masked_array(got, hidden)}
    if name in exercise.by_columns:
        out = {label: array.T for label, array in out.items()}
    window = _window(wrong.first.index, np.shape(out["expected"]))
    inputs = inputs_beside(exercise, given, name)
    values = {
        label: _shown(label, value, partial(_needed, exercise, given, wrong, label), window, out)
        for label, value in inputs.items()
    }
    values |= _counters(exercise, given, run, name)
    values |= {label: _cut(array, window) for label, array in out.items()}
    shown = {label: value for label, value in values.items() if value is not None}
    begin = "Work it by hand"
    if any(isinstance(value, _TooMany) for value in shown.values()):
        begin = "A smaller case"
        long = (k for k, v in shown.items() if k not in out and np.size(_numbers(v)) > MOST_BESIDE)
        shown |= {label: _TooMany(np.size(_numbers(shown[label]))) for label in [*long]}
    title = _title(exercise, trial, wrong, bool(hidden.any()), right, begin)
    return labelled_rows(title, shown)


def _numbers(value: Any) -> Any:
    """The numbers of an input that are shown, nothing for those that are few or too many."""
    if isinstance(value, (_TooMany, FewNumbers)):
        return ()
    return value.array if isinstance(value, ArrayPart) else value


def _counters(
    exercise: KernelExercise, given: Mapping[str, Any], run: emulated_runs.Run, name: str
) -> dict[str, np.ndarray]:
    """The counters and flags that launches leave wrong beside the array ``name``: integers, so few
    that they are shown whole."""
    found: dict[str, np.ndarray] = {}
    for other, wanted in exercise.expected(given).items():
        if other == name or isinstance(given[other], Empty):
            continue
        want = np.asarray(wanted)
        now = run.arrays[other]
        few = 0 < want.size <= MOST_COUNTERS and want.dtype.kind in "iu"
        if few and (now.reshape(want.shape) != want).any():
            found |= {f"{other} expected": want, f"{other} got": now.reshape(want.shape)}
    return found


def with_inputs(exercise: KernelExercise, trial: Trial, wrong: Verdict) -> Verdict:
    """``wrong`` with the inputs that its first wrong element takes where it takes a single one of
    an array, such as the bias of its column, and without those that it doesn't take."""
    first = wrong.first
    if first is None:
        return wrong
    given = trial.given(exercise)
    found: dict[str, Any] = {}
    for label, value in inputs_beside(exercise, given, wrong.name, trial.size).items():
        array = np.asarray(value)
        if not array.ndim:
            found[label] = array[()]
            continue
        box = _needed(exercise, given, wrong, label, enough=2)
        there = {key: v for key, v in first.inputs.items() if key.startswith(f"{label}[")}
        if all(len(axis) == 1 for axis in box):
            at = tuple(axis[0] for axis in box)
            found[element(label, at)] = array[at]
        elif all(box) or array.dtype.kind in "iub":
            found |= there
    return replace(wrong, first=replace(first, inputs=found))


def needed_inputs(
    exercise: KernelExercise,
    given: Mapping[str, Any],
    wrong: Verdict,
    name: str,
    enough: int | None = None,
) -> tuple[list[int], ...]:
    """The indices of the input ``name`` that the first wrong element takes, along each axis of the
    array as it is given. Where there are ``enough``, perhaps not all."""
    assert wrong.first is not None, "only a wrong element takes inputs"
    index = wrong.first.index
    if wrong.name in exercise.by_columns:
        index = index[::-1]
    return needed_elements(exercise.expected, given, name, wrong.name, index, enough)


def _needed(
    exercise: KernelExercise,
    given: Mapping[str, Any],
    wrong: Verdict,
    label: str,
    enough: int | None = None,
) -> tuple[list[int], ...]:
    """The same for an input by its ``label``, along each axis of the array as it is shown, and
    nothing for a number."""
    name = label if label in given else label.removeprefix("old ")
    if np.ndim(given[name]) == 0:
        return ()
    box = needed_inputs(exercise, given, wrong, name, enough)
    return box[::-1] if name in exercise.by_columns else box


def _without_dust(array: np.ndarray) -> np.ndarray:
    """``array`` with 0 for the rounding error of a 0, such as the sine of pi."""
    if array.dtype.kind != "f" or not array.size:
        return array
    size = np.abs(array)
    largest = np.max(size, where=np.isfinite(size), initial=0)
    cleaned: np.ndarray = np.where(size < DUST * min(1, largest), 0, array)
    return cleaned


def _window(index: Sequence[int], shape: Sequence[int]) -> tuple[range, ...]:
    """The indices of a result's axes that are shown: all of a small one, otherwise some around the
    element ``index``, and a single one of the axes before the last two."""
    if np.prod(shape) <= MOST_NUMBERS:
        return tuple(range(n) for n in shape)
    lengths = (*(1,) * len(shape), *WINDOW)[-len(shape) :]
    found = []
    for at, n, length in zip(index, shape, lengths, strict=True):
        start = max(0, min(at - (BEFORE if length == WINDOW[-1] else 0), n - length))
        found.append(range(start, min(start + length, n)))
    return tuple(found)


def _shown(
    label: str,
    value: Any,
    needed: Callable[[], tuple[list[int], ...]],
    window: tuple[range, ...],
    out: Mapping[str, np.ndarray],
) -> Any:
    """The part of an input that is shown: of a large one its few numbers that differ, the elements
    that are ``needed``, or those in the ``window`` of the result. None for nothing."""
    array = np.asarray(value)
    if array.size <= MOST_NUMBERS:
        return value
    if few := FewNumbers.of(label, array):
        return few
    box = needed()
    if not all(box):
        return None
    taken = prod(len(axis) for axis in box)
    if array.shape == out["expected"].shape and all(
        set(axis) <= set(shown) for axis, shown in zip(box, window, strict=True)
    ):
        return _cut(array, window)
    return _cut(array, box) if taken <= MOST_OF_PART else _TooMany(taken)


def _cut(array: np.ndarray, indices: Sequence[Sequence[int]]) -> ArrayPart:
    return ArrayPart(array[np.ix_(*indices)], tuple(indices))


def _size_label(sizes: Sizes, trial: Trial, exercise: KernelExercise) -> str:
    """The size of ``trial`` in words, where a scalar that the trial has changed is as it is now."""
    given = trial.given(exercise)
    extents = sizes.extents_of(trial.size)
    unchanged = replace(trial, changes=()).given(exercise)
    now = [
        int(given[name]) if name in given and given[name] != unchanged[name] else n
        for name, n in zip(sizes.names, extents, strict=True)
    ]
    return sizes.label(tuple(now))  # of a case, whose extents the contract may not have together


def _title(
    exercise: KernelExercise,
    trial: Trial,
    wrong: Verdict,
    unwritten: bool,
    right: Any,
    begin: str,
) -> str:
    assert wrong.first is not None, "case_rows has looked"
    sizes = exercise.contract.sizes if exercise.contract else None
    where = f" with {_size_label(sizes, trial, exercise)}" if sizes else ""
    both = _without_dust(np.array([wrong.first.expected, wrong.first.got]))
    expected, got = map(number, both)
    mark = UNWRITTEN_MARK if unwritten else ""
    times = trial.repeats(exercise)
    after = "" if times == 1 else f" after {'both' if times == 2 else times} launches"
    told = f"{wrong.first.named(wrong.name)} should be {expected}{after} and is {got}{mark}."
    if sizes and right is not None and right != trial.size:
        return f"Right with {sizes.label(right)}, wrong{where}: {told}"
    return f"{begin}{where}: {told}"
