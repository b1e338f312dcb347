"""Runs a student's cell and says what came of it.

Is there anything to run? Then each kind of exercise has its judge: :mod:`.kernel_answer`,
:mod:`.python_answer`, :mod:`.number_answer` or :mod:`.host_answer`. On a machine with a GPU a right
kernel also runs at full size.
"""

from __future__ import annotations

import traceback
from dataclasses import replace
from functools import singledispatch

from ...compiling.missing_compiler import CompilerMissing
from ...compiling.python_habits import python_habits
from ...compiling.source_text import without_marks
from ...needs import lacking
from ..authoring import kinds
from ..authoring.spec import (
    BaseExercise,
    HostExercise,
    KernelExercise,
    NumberExercise,
    PythonExercise,
)
from . import kernel_answer, number_answer
from .outcome import HUNT, Outcome, is_hunted, simple

# Kinds of verdict on a right answer, or one that was never judged: no habit is their cause.
NO_HABIT = (
    *kinds.NOT_HERE,
    kinds.COPIED,
    kinds.METHOD_MISSING,
    kinds.OUR_FAULT,
    kinds.TARGET_MISSED,
    kinds.TOO_SLOW,
)


def run_source(
    exercise: BaseExercise, source: str, *, first_line: int = 1, gpu: bool = False
) -> Outcome:
    """The outcome of ``source`` as an answer to ``exercise``; never raises.

    ``first_line`` is the number of the source's first line for the reader (2 in a notebook cell,
    below its magic line). With ``gpu`` a right answer also runs at full size on the GPU.
    """
    source = without_marks(source)
    if not source.strip():
        message = "there is nothing in this cell."
        hint = kinds.NEXT_STEP[kinds.EMPTY].format(id=exercise.id)
        return Outcome.of(exercise, simple(kinds.EMPTY, message, hint=hint))
    if exercise.is_untouched(source) and not exercise.bug:
        hint = number_answer.HOW_TO_START if isinstance(exercise, NumberExercise) else ""
        message = "this is the starter, unchanged."
        return Outcome.of(exercise, simple(kinds.NOT_STARTED, message, hint=hint))
    if not _is_text(source):
        message = "this cell holds half a character (a lone surrogate), which no compiler reads."
        hint = "It comes from pasting: type the line that looks odd anew."
        kind = kinds.SYNTAX_ERROR if exercise.language == "python" else kinds.COMPILE_ERROR
        return Outcome.of(exercise, simple(kind, message, hint=hint))
    outcome = check_source(exercise, "\n" * (first_line - 1) + source)
    if not outcome.passed and isinstance(exercise, (KernelExercise, HostExercise)):
        outcome = _with_habits(outcome, "\n" * (first_line - 1) + source, exercise.language)
    if gpu and outcome.passed and isinstance(exercise, KernelExercise) and _runs_here(exercise):
        from .full_size import run_full

        return run_full(exercise, source, outcome)
    return outcome


def _runs_here(exercise: KernelExercise) -> bool:
    """Whether this machine's GPU is of the kind that the exercise is written for."""
    return exercise.arch is None or lacking(exercise.arch) is None


def _with_habits(outcome: Outcome, source: str, language: str) -> Outcome:
    """The same outcome, with a word on what looks like Python in the cell."""
    if outcome.kind in NO_HABIT:
        return outcome
    refused = outcome.kind == kinds.COMPILE_ERROR
    found = python_habits(source, refused=refused, in_c=language == "c")
    told = outcome.verdict.excerpt  # a compile error may have its remark already
    if not found or found[0].text[1:] in told:
        return outcome
    number, _, remark = found[0]
    hint = f"In line {number}, {remark}. {outcome.verdict.hint}".rstrip()
    return replace(outcome, verdict=replace(outcome.verdict, hint=hint))


def _is_text(source: str) -> bool:
    try:
        source.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_source(exercise: BaseExercise, source: str) -> Outcome:
    """Run ``source`` on the emulator, be it the starter or not; never raises."""
    try:
        outcome = _run(exercise, source)
    except CompilerMissing as error:
        message, _, hint = str(error).partition("\n")
        return Outcome.of(exercise, simple(kinds.NO_COMPILER, message, hint=hint))
    except Exception as error:
        lines = traceback.format_exception(error)[-4:]
        verdict = simple(kinds.OUR_FAULT, f"the checker failed: {error}", excerpt="".join(lines))
        return Outcome.of(exercise, verdict)
    if is_hunted(exercise, source, outcome.kind):
        outcome = replace(outcome, verdict=replace(outcome.verdict, hint=HUNT))
    return outcome


@singledispatch
def _run(exercise: BaseExercise, source: str) -> Outcome:
    raise TypeError(f"no runner for exercises of type {type(exercise).__name__}")


@_run.register
def _run_kernel(exercise: KernelExercise, source: str) -> Outcome:
    return kernel_answer.outcome_of(exercise, source)


@_run.register
def _run_python(exercise: PythonExercise, source: str) -> Outcome:
    from .python_answer import verdict_of

    return Outcome.of(exercise, verdict_of(exercise, source))


@_run.register
def _run_numbers(exercise: NumberExercise, source: str) -> Outcome:
    return Outcome.of(exercise, number_answer.verdict_of(exercise, source))


@_run.register
def _run_host(exercise: HostExercise, source: str) -> Outcome:
    from .host_answer import verdict_of

    return Outcome.of(exercise, verdict_of(exercise, source))
