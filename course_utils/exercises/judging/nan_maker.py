"""The operation that makes the first NaN of an answer whose result has one."""

from __future__ import annotations

from dataclasses import replace

from ...checking.excerpts import source_excerpt
from ...checking.verdict import Verdict
from ...emulator import LaunchTooLong, Options
from ...launching.modules import Module
from ..authoring import emulated_runs, kinds
from ..authoring.spec import KernelExercise
from .trials import Trial

PATIENCE = 1.0  # seconds that the launch gets
NEXT = (
    "Follow both numbers of that operation back: which line gave them these values, and where "
    "should it have given others?"
)


def with_first_nan(
    exercise: KernelExercise, module: Module, source: str, trial: Trial, wrong: Verdict
) -> Verdict:
    """``wrong``, the verdict on a launch, with the operation that made its first NaN. Unchanged
    where the result has none, or no operation made it."""
    if wrong.kind != kinds.NOT_A_NUMBER or wrong.slip is not None:
        return wrong
    given, launches = trial.given(exercise), trial.launches(exercise)
    options = Options(first_nan="nan", patience=PATIENCE)
    try:
        run = emulated_runs.run(
            exercise, module, given, trial.size, trial.seed, launches=launches, options=options
        )
    except LaunchTooLong:
        return wrong
    made = next((result.made for result in run.results if result.made is not None), None)
    if made is None or made.location is None:
        return wrong
    at = made.location
    message = (
        f"{wrong.message}\n  The first is made at {at}: thread {made.thread} of block {made.block} "
        f"computes {made.operation}."
    )
    own = at.file == f"{exercise.id}.cu"
    excerpt = wrong.excerpt or (source_excerpt(source, [at.line]) if own else "")
    return replace(wrong, message=message, hint=NEXT, excerpt=excerpt)
