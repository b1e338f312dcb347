"""The case that a learner can work by hand: its launch, and its numbers as rows of a verdict."""

from __future__ import annotations

import numpy as np

from ...checking import raw_bytes
from ...checking.rows import Rows, labelled_rows, number
from ...checking.verdict import Verdict
from ..authoring import emulated_runs, kinds
from ..authoring.launches import Empty
from ..authoring.spec import KernelExercise
from ..authoring.worked import worked_change, worked_size
from .comparison import inputs_beside
from .trials import Trial

SEED = 1
UNWRITTEN_MARK = " (? was never written)"

_trials: dict[str, Trial | None] = {}


def worked_trial(exercise: KernelExercise) -> Trial | None:
    """The launch of the case, found once a session. None for an exercise without one."""
    if exercise.id not in _trials:
        size = worked_size(exercise)
        change = worked_change(exercise)
        _trials[exercise.id] = None if size is None else Trial(size, SEED, changes=(change,))
    return _trials[exercise.id]


def case_rows(
    exercise: KernelExercise, trial: Trial, run: emulated_runs.Run, wrong: Verdict
) -> Rows | None:
    """The inputs of the launch, and the numbers expected and got in the array that ``wrong``, the
    verdict on it, names. None where they would show nothing."""
    if wrong.first is None or wrong.kind == kinds.NOTHING_WRITTEN:
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
    out = {"expected": expected, "got": np.ma.masked_array(got, hidden)}
    if name in exercise.by_columns:
        out = {label: array.T for label, array in out.items()}
    values = inputs_beside(exercise, given, name) | out
    return labelled_rows(_title(exercise, trial, wrong, bool(hidden.any())), values)


def _title(exercise: KernelExercise, trial: Trial, wrong: Verdict, unwritten: bool) -> str:
    assert wrong.first is not None, "case_rows has looked"
    sizes = exercise.contract.sizes if exercise.contract else None
    where = f" with {sizes.label(trial.size)}" if sizes else ""
    expected, got = number(wrong.first.expected), number(wrong.first.got)
    mark = UNWRITTEN_MARK if unwritten else ""
    element = wrong.first.named(wrong.name)
    return f"Work it by hand{where}: {element} should be {expected} and is {got}{mark}."
