"""A small case at which an answer is wrong, where the exercise's own case is right or has too many
numbers: the least size that fails, and as few numbers that aren't 0 as it takes to fail.

The inputs of a tile or of a warp are too many to read, but with two that aren't 0 a reader sees how
the kernel uses them. So the size is made smaller, then the inputs become small integers, and then
all of them become 0 but those without which the result would be right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ...checking.rows import MOST_NUMBERS, number
from ...checking.verdict import Verdict
from ..authoring import emulated_runs, kinds
from ..authoring.domain import InputClass
from ..authoring.launches import Empty
from ..authoring.sizes import Sizes
from ..authoring.spec import KernelExercise
from ..authoring.worked import any_numbers, worked_change
from .comparison import contradicts, with_sign
from .first_cause import first_cause
from .outcome import with_context
from .patience import exceeded_budget
from .trials import Trial
from .worked_case import case_rows, needed_inputs, with_inputs

MOST_LAUNCHES = 48
MOST_WORK = 60_000  # instructions of warps, about a second
OF_A_FAULT = MOST_WORK // 20  # of a launch that an index out of bounds ended, say
PER_INSTRUCTION = 24  # elements of arrays that take as long as an instruction of a warp
MOST_SHARES = 8
LONG = 1000  # an extent of which the search may not have tried the next smaller one
LARGEST = 1e30  # of a number that is expected: none has overflowed on its way to it
Try = Callable[[Trial], tuple[Verdict | None, emulated_runs.Run]]


@dataclass(frozen=True)
class FailingCase:
    """The launch that fails, its verdict and its run. ``right`` is a size at which the answer is
    right, None where none is known."""

    trial: Trial
    verdict: Verdict
    run: emulated_runs.Run
    right: Any = None


class _Search:
    """Tries launches until there were too many, and keeps the last that failed."""

    def __init__(self, exercise: KernelExercise, wrong: Verdict, attempt: Try):
        self._exercise, self._attempt = exercise, attempt
        # Where a wrong number is finite, one that isn't comes of other numbers than are meant.
        self._finite = wrong.first is not None and bool(np.isfinite(wrong.first.got))
        self._launches, self._work = MOST_LAUNCHES, MOST_WORK
        self.found: FailingCase | None = None
        self.right: Any = None  # the last size at which the result was right

    @property
    def latest(self) -> FailingCase:
        """The last case that failed. There is one."""
        assert self.found is not None, "a launch has failed"
        return self.found

    def fails(self, trial: Trial) -> bool:
        """Whether the result is wrong there, so that a row of numbers shows it."""
        if self._launches <= 0 or self._work <= 0:
            return False
        self._launches -= 1
        try:
            verdict, run = self._attempt(trial)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return False  # the reference refuses inputs of the case beside another size
        if run.counts:
            self._work -= run.counts.warp_instructions
        else:
            endless = run.fault is None or exceeded_budget(run.fault)
            self._work -= MOST_WORK if endless else OF_A_FAULT
        self._work -= sum(array.size for array in run.arrays.values()) // PER_INSTRUCTION
        if verdict is None:
            self.right = trial.size
            return False
        if first_cause(run) or verdict.first is None:
            return False
        first = verdict.first
        if verdict.kind == kinds.NOTHING_WRITTEN and isinstance(
            trial.given(self._exercise)[verdict.name], Empty
        ):
            return False
        if number(first.expected) == number(first.got):
            return False
        if self._finite and not np.isfinite(first.got):
            return False
        if np.isfinite(first.expected) and not -LARGEST <= np.real(first.expected) <= LARGEST:
            return False  # such as an exponential of a number that was meant to be small
        if self.found is not None and _is_finite(self.found) and not np.isfinite(first.expected):
            return False
        self.found = FailingCase(trial, verdict, run)
        return True


def _is_finite(case: FailingCase) -> bool:
    return case.verdict.first is not None and bool(np.isfinite(case.verdict.first.expected))


def with_case(
    exercise: KernelExercise, wrong: Verdict, trial: Trial, attempt: Try, right: Any
) -> Verdict:
    """``wrong``, the verdict on the numbers of ``trial``, with the inputs at its first wrong
    element, and a case to work by hand where it has none. ``right`` is as :func:`failing_case` has
    it."""
    wrong = with_inputs(exercise, trial, wrong)
    if wrong.case is not None or wrong.first is None or wrong.kind == kinds.NOTHING_WRITTEN:
        return wrong
    found = failing_case(exercise, trial, wrong, right, attempt)
    if found is None:
        return wrong
    if found.right is None:
        found = replace(found, right=_right_below(exercise, found.trial, attempt))
    case = case_rows(exercise, found.trial, found.run, found.verdict, found.right)
    if case is not None and found.right is None and found.trial.size == trial.size:
        case = None if kinds.TOO_MANY in str(case) else case  # no smaller case, and none by hand
    if contradicts(wrong, found.verdict):
        wrong = with_context(found.verdict, found.trial.label(exercise), wrong.printed)
    else:
        wrong = with_sign(wrong, found.verdict)
    return replace(wrong, case=case)


def _right_below(exercise: KernelExercise, trial: Trial, attempt: Try) -> Any:
    """The next smaller size of one extent at which the answer is right, None without one."""
    sizes = exercise.contract.sizes if exercise.contract else None
    extents = sizes.extents_of(trial.size) if sizes else ()
    for at, n in enumerate(extents):
        below = [each for each in sizes.extents[at] if each < n] if sizes else []
        if sizes and n > LONG and below:
            size = sizes.of(_with(extents, at, below[-1]))
            if size != trial.size and attempt(replace(trial, size=size))[0] is None:
                return size
    return None


def failing_case(
    exercise: KernelExercise, failing: Trial, wrong: Verdict, right: Any, attempt: Try
) -> FailingCase | None:
    """The smallest case found from ``failing``, a launch that got the verdict ``wrong``. ``right``
    is a smaller size at which the answer is right, None without one. None where the launch itself
    does not show it."""
    search = _Search(exercise, wrong, attempt)
    changes = [worked_change(exercise, distinct=distinct) for distinct in (False, True)]
    whole = [replace(failing, changes=(each,)) for each in changes]
    starts = [failing] if failing.changes or not any_numbers(exercise) else [*whole, failing]
    if not any(_of_least_size(exercise, start, right, search) for start in starts):
        return None
    # ``right`` is a size with ordinary values, and says nothing about a launch with special ones.
    right = search.right if right is None or failing.changes else right
    if search.latest.trial.changes[:1] in [each.changes for each in whole]:
        _of_few_numbers(exercise, search.latest.trial, search)
    return replace(search.latest, right=right)


def _of_least_size(exercise: KernelExercise, trial: Trial, right: Any, search: _Search) -> bool:
    """Whether ``trial`` fails with its values. The smallest size that fails is found then."""
    sizes = exercise.contract.sizes if exercise.contract else None
    if sizes is None or sizes.of(sizes.extents_of(trial.size)) != trial.size:  # it takes a few only
        others = sorted(exercise.small, key=lambda size: prod(np.atleast_1d(size).tolist()))
        return any(search.fails(replace(trial, size=size)) for size in [*others, trial.size])

    def fails(extents: tuple[int, ...]) -> bool:
        return search.fails(replace(trial, size=sizes.of(extents)))

    low = sizes.short() if right is None else sizes.extents_of(right)
    high = sizes.extents_of(trial.size)
    if right is None and fails(low):
        found = search.found
        for at, values in enumerate(sizes.extents):  # is a still smaller one right?
            if 0 < values[0] < low[at]:
                fails(_with(low, at, values[0]))
        search.found = found
        return True
    larger = [at for at in range(len(low)) if high[at] > low[at]]
    for at in larger:
        if fails(_with(low, at, high[at])):
            _lowered(sizes, at, low, _with(low, at, high[at]), fails)
            return True
    if not fails(high):
        return False
    for at in larger:
        if fails(_with(high, at, low[at])):
            high = _with(high, at, low[at])
        else:
            high = _lowered(sizes, at, low, high, fails)
    return True


def _with(extents: tuple[int, ...], at: int, n: int) -> tuple[int, ...]:
    return (*extents[:at], n, *extents[at + 1 :])


def _lowered(
    sizes: Sizes,
    at: int,
    low: tuple[int, ...],
    high: tuple[int, ...],
    fails: Callable[[tuple[int, ...]], bool],
) -> tuple[int, ...]:
    """``high``, which fails, with the least extent ``at`` above that of ``low`` that fails."""
    between = [n for n in sizes.extents[at] if low[at] < n < high[at]]
    while between:
        middle = len(between) // 2
        now = _with(high, at, between[middle])
        if fails(now):
            high, between = now, between[:middle]
        else:
            between = between[middle + 1 :]
    return high


def _of_few_numbers(exercise: KernelExercise, trial: Trial, search: _Search) -> None:
    """Makes the numbers of the large arrays 0, all that may be."""
    given = trial.given(exercise)
    for name, any_sign in any_numbers(exercise).items():
        array = given.get(name)
        if not isinstance(array, np.ndarray) or array.size <= MOST_NUMBERS:
            continue
        numbers = array.reshape(-1)
        others = np.full_like(numbers, 0 if any_sign else 1)  # no logarithm of 0, no division by it
        so_far = search.latest.trial

        def fails(
            places: np.ndarray,
            name: str = name,
            numbers: np.ndarray = numbers,
            others: np.ndarray = others,
            so_far: Trial = so_far,
        ) -> bool:
            values = others.copy()
            values[places] = numbers[places]
            sparse = InputClass("", lambda now, rng: {name: values.reshape(now[name].shape)})
            return search.fails(replace(so_far, changes=(*so_far.changes, sparse)))

        if fails(np.arange(0)):
            continue
        kept = np.arange(array.size)
        taken = _taken(exercise, search.latest, name)
        if 0 < len(taken) < array.size and fails(taken):
            kept = taken
        _fewest(kept, fails)


def _taken(exercise: KernelExercise, case: FailingCase, name: str) -> np.ndarray:
    """The places in the array ``name`` whose numbers the first wrong element takes."""
    given = case.trial.given(exercise)
    box = needed_inputs(exercise, given, case.verdict, name)
    places = np.arange(given[name].size).reshape(given[name].shape)
    return places[np.ix_(*box)].reshape(-1)


def _fewest(kept: np.ndarray, fails: Callable[[np.ndarray], bool]) -> None:
    """Looks for the fewest of the places ``kept`` that still fail: one half of them, and then
    smaller and smaller shares."""
    shares = 2
    while len(kept) > 1:
        parts = np.array_split(kept, shares)
        others = [np.setdiff1d(kept, part) for part in parts] if shares > 2 else []
        smaller = next((each for each in [*parts, *others] if fails(each)), None)
        if smaller is not None:
            kept, shares = smaller, max(2, min(shares - 1, len(smaller)))
        elif shares >= min(len(kept), MOST_SHARES):
            return
        else:
            shares = min(2 * shares, len(kept))
