"""Is a kernel that was stopped endless, or only slow? It is run once more, and for longer."""

from __future__ import annotations

from dataclasses import replace

from ...checking import raw_bytes
from ...checking.verdict import Verdict
from ...emulator import ONLY_SLOW, Cause, Finding, Options
from ...launching.modules import Module
from ..authoring import emulated_runs, kinds
from ..authoring.spec import KernelExercise
from .outcome import from_finding, simple
from .trials import Trial

EARLY_PART = 8  # the part of a judgement's instructions after which a long launch is looked at, too
RERUN_BUDGET = 5  # the instructions of a judgement's launch; without its checks they take no longer
SLOW_FACTOR = 1.5  # of the instructions of the course's solution: fewer make no kernel slow
SHARE = "Share the work out: does one thread go through what others could do meanwhile?"
MOST_SECONDS = 4.0  # of the launch that was stopped: a longer one is not run again


def exceeded_budget(finding: Finding) -> bool:
    """Whether the launch was stopped because it had run its number of instructions."""
    return finding.cause == Cause.STEP_BUDGET_EXCEEDED


def slow_or_endless(
    exercise: KernelExercise,
    module: Module,
    trial: Trial,
    stopped: emulated_runs.Run,
    source: str,
    name: str,
) -> Verdict:
    """The verdict on a launch that ran out of instructions: TOO SLOW where it ends after some more
    of them, or writes more elements with more of them; else ENDLESS LOOP. ``name`` is what its
    source is called."""

    def run(tried: Module, budget: int = RERUN_BUDGET * exercise.budget) -> emulated_runs.Run:
        given, launches = trial.given(exercise), trial.launches(exercise)
        options = Options(budget=budget)
        return emulated_runs.run(
            exercise, tried, given, trial.size, trial.seed, launches=launches, options=options
        )

    if stopped.seconds < MOST_SECONDS:
        sooner, yours = stopped, run(module)
    else:
        sooner, yours = run(module, exercise.budget // EARLY_PART), stopped
    ours = _instructions(
        run(emulated_runs.load_answer(exercise, exercise.solution, f"{exercise.id}.cu"))
    )
    if yours.fault is None:
        times = _instructions(yours) / ours
        many = f"{_instructions(yours):,} instructions"
        if times < SLOW_FACTOR:
            message = (
                f"the kernel runs {many}, about as many as the course's solution ({ours:,}), but "
                "they're poorly balanced across threads."
            )
            return simple(kinds.TOO_SLOW, message, hint=SHARE)
        message = (
            f"the kernel finishes, but its threads run {many}, {times:.3g} times the {ours:,} of "
            "the course's solution."
        )
        return simple(kinds.TOO_SLOW, message)
    verdict = from_finding(yours.fault, source, name, atomics=exercise.allows_atomics)
    if not exceeded_budget(yours.fault):
        return verdict
    if _changed(sooner) < (elements := _changed(yours)):
        message = (
            f"the kernel was stopped before its end. It had written {elements:,} elements, and was "
            f"still writing. All threads of the course's solution run {ours:,} instructions."
        )
        return simple(kinds.TOO_SLOW, message, hint=SHARE)
    message = verdict.message.removesuffix(ONLY_SLOW)
    more = f"Or is it only slow? All threads of the course's solution run {ours:,} instructions."
    return replace(verdict, message=f"{message} {more}")


def _changed(run: emulated_runs.Run) -> int:
    """How many elements of its arrays a launch has changed."""
    pairs = ((run.arrays[name], before) for name, before in run.before.items())
    return sum(
        int((raw_bytes(now) != raw_bytes(before)).any(axis=-1).sum()) for now, before in pairs
    )


def _instructions(run: emulated_runs.Run) -> int:
    """What all threads ran, in all launches."""
    return sum(result.counts.thread_instructions for result in run.results)
