"""The second half of a judgement: the method, the whole domain, and any order of the threads.

The fixed sizes have been right. Now one launch is counted. Then come the trials drawn from the
exercise's contract, and one launch with warps and one with lanes out of step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ...checking.verdict import Verdict
from ...emulator import Finding, Options, next_step
from ...launching.modules import Module
from ..authoring import emulated_runs, kinds
from ..authoring.method import LaunchStats, stats_of
from ..authoring.spec import KernelExercise
from .comparison import compared
from .outcome import method_missing, simple
from .trials import MOST_STEPS, Trial, drawn_trials, smallest


class CountingFailed(Exception):
    """A launch that was to be counted did not finish; ``finding`` says why."""

    def __init__(self, finding: Finding):
        super().__init__(finding.message)
        self.finding = finding


Tried = tuple[Verdict | None, emulated_runs.Run]
Try = Callable[[Trial], Tried]  # the verdict on one trial; None where it is right
SCHEDULES = ("warps", "lanes")
SLOW = (kinds.ENDLESS_LOOP, kinds.DEADLOCK)  # each failing launch takes a while
FEW_STEPS = 3
OUT_OF_STEP_BUDGET = 4  # times as many instructions: the two sides of a batch run apart


def drawn_verdict(
    exercise: KernelExercise, attempt: Try, further: Iterable[Trial] = ()
) -> tuple[Verdict, Trial, emulated_runs.Run] | None:
    """The first wrong one of the drawn trials and then of ``further`` ones, made smaller, and its
    run; None where all are right."""
    for trial in chain(drawn_trials(exercise), further):
        verdict, run = attempt(trial)
        if verdict is None:
            continue
        kind, least = verdict.kind, trial

        def fails(candidate: Trial, kind: str = kind) -> bool:
            nonlocal verdict, least, run
            found, found_run = attempt(candidate)
            if found is None or found.kind != kind:
                return False
            verdict, least, run = found, candidate, found_run
            return True

        if not trial.past:  # all shorter ones have been right
            smallest(exercise, trial, fails, FEW_STEPS if kind in SLOW else MOST_STEPS)
        return verdict, least, run
    return None


def order_verdict(exercise: KernelExercise, module: Module) -> Verdict | None:
    """What comes of it where blocks, warps and lanes run in another order; None if it is right."""
    size = exercise.small[0]
    for number, schedule in enumerate(SCHEDULES, 1):
        given = exercise.inputs(np.random.default_rng(number), size)
        budget = OUT_OF_STEP_BUDGET * exercise.budget
        options = Options(schedule=schedule, budget=budget, seed=number)
        run = emulated_runs.run(exercise, module, given, size, number, options=options)
        hint = ""
        if run.fault is not None:
            message = run.fault.message
            hint = next_step(run.fault, atomics=exercise.allows_atomics)
        else:
            verdict = compared(exercise, run.arrays, run.before, given, size)
            if verdict.passed:
                continue
            message = "\n  ".join([verdict.message, *verdict.facts])
        parts = "warps of a block" if schedule == "warps" else "lanes of a warp"
        return simple(
            kinds.ORDER,
            "the result depends on scheduling: it's right only if threads run in lockstep and "
            f"blocks start in index order. With the last blocks first, and some {parts} ahead of "
            "the others:\n"
            f"  {message}",
            hint=hint,
        )
    return None


_ours: dict[tuple[str, str, str], LaunchStats] = {}


def stats_of_solution(exercise: KernelExercise, size: Any) -> LaunchStats:
    """The counts of the course's own solution, made once a session."""
    key = exercise.id, exercise.solution, repr(size)
    if key not in _ours:
        module = emulated_runs.load_answer(exercise, exercise.solution, f"{exercise.id}.cu")
        _ours[key] = counted(exercise, module, size)
    return _ours[key]


def counted(exercise: KernelExercise, module: Module, size: Any) -> LaunchStats:
    """What the launches of one run at ``size`` did. Raises :class:`CountingFailed`."""
    given = exercise.inputs(np.random.default_rng(1), size)
    options = Options(counters=True, threads=True, budget=OUT_OF_STEP_BUDGET * exercise.budget)
    run = emulated_runs.run(exercise, module, given, size, 1, options=options)
    if run.fault is not None:
        raise CountingFailed(run.fault)
    expected = exercise.expected(given)
    outputs = [np.asarray(run.arrays[name]) for name in expected]
    shared = max(
        module[launch.kernel or exercise.kernel].attributes["shared_size_bytes"] + launch.shared
        for launch in exercise.launches(size)
    )
    return replace(stats_of(run.results, outputs), block_shared=shared)


class StatsCache:
    """What the launches of an answer do at a size, each size counted once: for its target and for
    its requirements."""

    def __init__(self, exercise: KernelExercise, module: Module):
        self._exercise, self._module = exercise, module
        self._found: dict[str, LaunchStats] = {}

    def at(self, size: Any) -> LaunchStats:
        """Raises :class:`CountingFailed`."""
        key = repr(size)
        if key not in self._found:
            self._found[key] = counted(self._exercise, self._module, size)
        return self._found[key]


def method_verdict(exercise: KernelExercise, cache: StatsCache) -> tuple[Verdict, Any] | None:
    """Which requirement the answer misses, and the size at which it was counted. None without."""
    for requirement in exercise.method:
        size = exercise.small[0] if requirement.size is None else requirement.size
        ours = partial(stats_of_solution, exercise, size)
        stats = replace(cache.at(size), of_ours=ours)
        missing = requirement.missing(stats)
        if missing:
            by_luck = requirement.orders
            return method_missing(f"{missing}.", requirement.advice, by_luck=by_luck), size
    return None
