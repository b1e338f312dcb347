"""An answer on trial: its launches, and what a wrong one of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...checking.verdict import Verdict
from ...launching.modules import Module
from ..authoring import emulated_runs
from ..authoring.spec import KernelExercise
from .as_written import unset_variable
from .behaviour_checks import Tried
from .comparison import compared
from .exchanged_axes import with_exchange_named
from .failing_case import with_case
from .first_cause import first_cause
from .later_launch import in_later_launch
from .moved_access import where_used
from .nan_maker import with_first_nan
from .only_first_block import with_first_block_named
from .other_inputs import with_change_named
from .outcome import from_finding, is_hunted, with_context
from .outside_index import guard_and_index, in_dimensions, narrow_index
from .own_limits import narrow_types, note
from .patience import exceeded_budget, slow_or_endless
from .trials import Trial

KEPT = 3  # runs whose result was wrong, to look at once more


@dataclass
class TriedAnswer:
    """``module`` is the compiled ``source``, called ``filename`` in reports. ``right_by_hand`` is
    the size of the case to work by hand, if the answer is right there. ``failed``: the first wrong
    runs."""

    exercise: KernelExercise
    module: Module
    source: str
    filename: str
    right_by_hand: Any = None
    failed: list[tuple[Trial, emulated_runs.Run]] = field(default_factory=list)

    def attempt(self, trial: Trial, zeros: bool = True) -> Tried:
        """The verdict on one launch, None if it's right, and its run. ``zeros`` as in
        :func:`~.comparison.compared`."""
        exercise, size, seed = self.exercise, trial.size, trial.seed
        given = trial.given(exercise)
        launches = trial.launches(exercise)
        run = emulated_runs.run(exercise, self.module, given, size, seed, launches=launches)
        finding = first_cause(run)
        if finding and trial.past and exceeded_budget(finding):
            return None, run  # longer than the task says, and so is the launch
        if finding:
            later = in_later_launch(run, finding)
            finding = where_used(finding, self.source, self.filename)
            verdict = from_finding(
                finding,
                self.source,
                self.filename,
                atomics=exercise.allows_atomics,
                hunted=is_hunted(exercise, self.source, finding.kind),
            )
            place = in_dimensions(finding, self.source, given)
            place = place or guard_and_index(finding, self.source, given)
            facts = [f for f in (place, narrow_index(finding, self.source), later) if f]
            verdict = replace(verdict, message="\n  ".join([verdict.message, *facts]))
        else:

            def stored() -> Mapping[str, np.ndarray]:
                return emulated_runs.stored(
                    exercise, self.module, given, size, seed, launches=launches
                )

            arrays = run.arrays, run.before
            verdict = compared(exercise, *arrays, given, size, zeros, stored=stored)
        if not verdict.passed and len(self.failed) < KEPT:
            self.failed.append((trial, run))
        return (None if verdict.passed else verdict), run

    def arrays_of(self, trial: Trial) -> Mapping[str, np.ndarray]:
        """The arrays after a launch, made again unless it's one of ``failed``."""
        run = next((run for tried, run in self.failed if tried is trial), None)
        return (run or self.attempt(trial)[1]).arrays

    def looked_into(self, verdict: Verdict, run: emulated_runs.Run, trial: Trial) -> Verdict:
        """The verdict on a fault, with exchanged axes, an unset variable or an endless loop named.
        Any other stays as it is."""
        exercise = self.exercise
        if run.fault is None or first_cause(run) != run.fault:
            return verdict
        if not is_hunted(exercise, self.source, verdict.kind):
            verdict = with_exchange_named(exercise, self.module, verdict, trial)
        if exceeded_budget(run.fault):
            return slow_or_endless(exercise, self.module, trial, run, self.source, self.filename)
        if is_hunted(exercise, self.source, verdict.kind):
            return verdict
        return unset_variable(exercise, self.source, self.filename, trial, run.fault) or verdict

    def explained(self, wrong: Verdict, trial: Trial) -> Verdict:
        """The verdict on wrong numbers, with a case to work by hand and the causes that show."""
        exercise, source = self.exercise, self.source
        wrong = with_first_nan(exercise, self.module, source, trial, wrong)
        wrong = with_case(exercise, wrong, trial, self.attempt, self.right_by_hand)
        wrong = with_exchange_named(exercise, self.module, wrong, trial)
        wrong = with_first_block_named(exercise, wrong, trial, self.arrays_of)
        if fact := narrow_types(exercise, source, trial.given(exercise)):
            wrong = replace(wrong, message=f"{wrong.message}\n  {fact}")
        untouched = exercise.is_untouched(source)  # the mistake of a hunt stays to be found
        return wrong if untouched else with_change_named(exercise, wrong, trial, self.arrays_of)

    def in_words(self, found: tuple[Verdict, Trial, emulated_runs.Run]) -> Verdict:
        """The verdict on a drawn trial, with its label and its explanation."""
        wrong, trial, run = found
        if reason := note(self.exercise, trial):
            wrong = replace(wrong, hint=reason)
        else:
            if first_cause(run) is None:
                wrong = self.explained(wrong, trial)
            wrong = self.looked_into(wrong, run, trial)
        return with_context(wrong, trial.label(self.exercise), run.printed)
