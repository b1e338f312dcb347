"""Judges a student's kernels on the emulator.

Order: does it compile, is it the kernel we launch, then every small size with two seeds (bounds
checked, races checked, outputs poisoned, instructions budgeted), then the target's counters, and
then what :mod:`.behaviour_checks` asks of a right result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...checking.excerpts import source_excerpt
from ...checking.verdict import Verdict
from ...compiling.assembly import has_assembly, refused_assembly
from ...compiling.compiler_process import CompilerStopped
from ...compiling.device_functions import FOR_NVCC
from ...compiling.diagnostics import CompileError
from ...compiling.missing_compiler import CompilerMissing
from ...compiling.own_warnings import HEADING, own_warnings
from ...devices.limits import LaunchError
from ...errors import LessonError
from ...launching.modules import Module
from ..authoring import emulated_runs, kinds
from ..authoring.spec import PROBE, KernelExercise, Target
from .as_written import hidden_cause, overrun_verdict, unset_fragment
from .behaviour_checks import (
    CountingFailed,
    StatsCache,
    counted,
    drawn_verdict,
    method_verdict,
    order_verdict,
)
from .comparison import contradicts, with_sign
from .entry_points import entry_problem
from .first_cause import first_cause
from .outcome import (
    Outcome,
    clip_printed,
    from_compile_error,
    from_finding,
    right,
    simple,
    with_context,
)
from .own_limits import right_there, trials_past_limits
from .patience import exceeded_budget
from .trials import Trial
from .tried_answer import TriedAnswer
from .worked_case import case_rows, worked_trial

SEEDS = (1, 2)


def outcome_of(exercise: KernelExercise, source: str) -> Outcome:
    """Compile ``source`` and try it on the emulator, at full size on no GPU."""
    filename = f"{exercise.id}.cu"
    try:
        module = emulated_runs.load_answer(exercise, source, filename)
        target = (exercise.arch or "sm_90a").removeprefix("sm_")
        if has_assembly(source) and (refused := refused_assembly(module.compiled, target)):
            raise refused
    except CompilerStopped as error:
        message, _, hint = str(error).partition("\n")
        return Outcome.of(exercise, simple(kinds.COMPILE_ERROR, message, hint=hint))
    except CompileError as error:
        return Outcome.of(exercise, _explain_compile_error(error, source))
    except CompilerMissing:
        raise
    except LessonError as error:  # of a header that the cell includes
        return Outcome.of(exercise, simple(kinds.COMPILE_ERROR, str(error)))
    problem = entry_problem(exercise, module, source)
    if problem:
        return Outcome.of(exercise, problem)
    try:
        outcome = _try_everything(TriedAnswer(exercise, module, source, filename))
        return with_warnings(outcome, module)
    except LaunchError as error:
        verdict = simple(kinds.LAUNCH_ERROR, str(error))
    except CountingFailed as error:
        verdict = from_finding(error.finding, source, filename, atomics=exercise.allows_atomics)
    return Outcome.of(exercise, verdict)


def _try_everything(answer: TriedAnswer) -> Outcome:
    """The fixed sizes, the target and the method, then drawn trials, then another order of the
    threads, and at last the code as it is written."""
    exercise, module, source = answer.exercise, answer.module, answer.source
    fixed = _try_small_sizes(answer)
    answer.right_by_hand = fixed.right_by_hand
    outcome = Outcome.of(exercise, _verdict_on(answer, fixed))
    cache = StatsCache(exercise, module)
    if outcome.passed and exercise.target:
        outcome = _try_target(exercise, exercise.target, cache, outcome.verdict)
    if not outcome.passed:
        return outcome
    if missing := method_verdict(exercise, cache):
        problem, size = missing
        trial = Trial(size, SEEDS[0])
        wrong, run = answer.attempt(trial)  # the result that was counted is not judged yet
        # A launch that is counted may run for longer.
        stopped = run.fault is not None and exceeded_budget(run.fault)
        found = None if wrong is None or stopped else (wrong, trial, run)
    else:
        further = trials_past_limits(exercise, source)
        problem, found = None, drawn_verdict(exercise, answer.attempt, further)
    if found and found[1].past and not right_there(exercise, found[1]):
        found = None
    if found:
        return Outcome.of(exercise, answer.in_words(found))
    problem = problem or order_verdict(exercise, module)
    problem = problem or overrun_verdict(exercise, source, answer.filename)
    problem = problem or unset_fragment(source)
    if problem:
        return replace(outcome, verdict=replace(problem, printed=fixed.verdict.printed))
    return outcome


def _verdict_on(answer: TriedAnswer, fixed: FixedSizes) -> Verdict:
    """The verdict on the fixed sizes, with a cause or an explanation of wrong numbers."""
    if fixed.trial is None:
        return fixed.verdict
    exercise = answer.exercise
    hidden = hidden_cause(exercise, answer.source, answer.filename, fixed.trial, fixed.verdict)
    if hidden:
        return hidden
    if not fixed.by_hand_alone:
        return answer.explained(fixed.verdict, fixed.first or fixed.trial)
    larger = drawn_verdict(exercise, answer.attempt)  # it says more about the kind of mistake
    if larger and not contradicts(larger[0], fixed.verdict):
        return answer.in_words((replace(larger[0], case=fixed.verdict.case), *larger[1:]))
    return fixed.verdict


def with_warnings(outcome: Outcome, module: Module) -> Outcome:
    """The same outcome, with what the compiler warned of: it may be the very mistake. Of a right
    answer only what nvcc refuses is told."""
    told = own_warnings(module.warnings)
    if outcome.passed:
        told = [line for line in told if FOR_NVCC in line]
    if not told:
        return outcome
    text = "\n".join([HEADING, *told])
    excerpt = f"{outcome.verdict.excerpt}\n{text}".lstrip()
    return replace(outcome, verdict=replace(outcome.verdict, excerpt=excerpt))


@dataclass(frozen=True)
class FixedSizes:
    """What came of the fixed sizes. ``trial`` is the smallest whose numbers were wrong, None after
    a fault, and ``first`` the one that the verdict is on; ``by_hand_alone``: only the case to work
    by hand was. ``right_by_hand`` is that case's size, where the answer is right there."""

    verdict: Verdict
    trial: Trial | None = None
    by_hand_alone: bool = False
    first: Trial | None = None
    right_by_hand: Any = None


def _try_small_sizes(answer: TriedAnswer) -> FixedSizes:
    """The most telling verdict: a fault at once, then a race, then the first wrong result. The case
    that can be worked by hand comes last: the larger sizes say more about the kind of mistake, and
    its numbers show it."""
    exercise = answer.exercise
    wrong: Verdict | None = None
    first: Trial | None = None
    failing: Trial | None = None
    right_by_hand = None
    alone = False
    printed = ""
    by_hand = worked_trial(exercise)
    trials = [Trial(size, seed) for size in exercise.small for seed in SEEDS]
    for trial in [*trials, *([by_hand] if by_hand else [])]:
        verdict, run = answer.attempt(trial, zeros=trial is by_hand)
        printed = printed or clip_printed(run.printed)
        if verdict is None:
            right_by_hand = trial.size if trial is by_hand else None
            continue
        if first_cause(run):
            verdict = answer.looked_into(verdict, run, trial)
            return FixedSizes(with_context(verdict, trial.label(exercise), run.printed))
        alone, failing, first = wrong is None and trial is by_hand, trial, first or trial
        here = with_context(verdict, trial.label(exercise), run.printed)
        if wrong is not None and trial is by_hand and contradicts(wrong, verdict):
            wrong, first = None, trial
        found = wrong or here
        if trial is by_hand and verdict.kind != kinds.NOTHING_WRITTEN:
            rows = case_rows(exercise, trial, run, verdict)
            found = replace(with_sign(found, verdict), case=rows)
        wrong = found
    passed = replace(right(exercise.id, "at every size"), printed=printed)
    return FixedSizes(wrong or passed, failing, alone, first, right_by_hand)


def _try_target(
    exercise: KernelExercise, target: Target, cache: StatsCache, verdict: Verdict
) -> Outcome:
    """Count one launch at the target's size and compare with the target."""
    counts = cache.at(target.size).counts
    measured = target.measure(counts)
    if measured > target.at_most:
        message = "the result is right, but it misses the target."
        verdict = simple(kinds.TARGET_MISSED, message, hint=target.advice_on(counts))
    figures = (target.label, measured, target.at_most)
    outcome = Outcome.of(exercise, verdict)
    return replace(outcome, counts=counts, target=figures, before=_before(exercise, target))


_starters: dict[tuple[str, Target], float] = {}


def _before(exercise: KernelExercise, target: Target) -> float | None:
    """What the target measures for the starter; counted once a session. None for an empty cell."""
    if not exercise.starter_has_kernel:
        return None
    key = exercise.starter, target
    if key not in _starters:
        starter = emulated_runs.load_answer(exercise, exercise.starter, f"{exercise.id}.cu")
        counts = counted(exercise, starter, target.size).counts
        _starters[key] = target.measure(counts)
    return _starters[key]


PYTHON_WORDS = ("import ", "def ", "from ", "print(", "%", "!")


def _explain_compile_error(error: CompileError, source: str) -> Verdict:
    """Say so when the cell is not C++ at all, or when the course cannot use what it defines."""
    verdict = from_compile_error(error)
    if error.file == PROBE:
        message = "a kernel of the course, which calls what this cell defines, does not compile."
        hint = "Leave the names, the parameters and the types as the starter has them."
        return replace(verdict, kind=kinds.WRONG_NAME, message=message, hint=hint)
    first = next(line.strip() for line in source.splitlines() if line.strip())
    if first.startswith(PYTHON_WORDS):
        hint = "This cell is compiled as CUDA C++, but it begins like Python."
        number = next(n for n, line in enumerate(source.splitlines(), 1) if line.strip())
        return replace(verdict, hint=hint, excerpt=source_excerpt(source, [number]))
    if "__global__" not in source:
        hint = f"{verdict.hint} There is no __global__ function here: is this the right cell?"
        return replace(verdict, hint=hint)
    return verdict
