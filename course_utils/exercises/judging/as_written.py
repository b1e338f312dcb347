"""Launches of an answer as it is written: the optimiser removes mistakes that a verdict needs.

The compiler may leave out an access whose value nothing uses, or that is undefined anyway: past the
end of a thread's own array, or of a variable that was never set. Without the optimiser (``-G``) the
emulator meets it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...checking.excerpts import source_excerpt
from ...checking.verdict import Verdict
from ...compiling.compiler_process import CompilerStopped
from ...compiling.diagnostics import CompileError
from ...compiling.signature import strip_comments
from ...emulator import ALL_CHECKS, Cause, Finding, LaunchTooLong, Options
from ...errors import LessonError
from ..authoring import emulated_runs, kinds
from ..authoring.spec import KernelExercise
from .entry_points import declare_kernels
from .first_cause import first_cause
from .outcome import from_finding, simple, with_context
from .trials import Trial

NOT_OPTIMISED = ("-G",)
BUDGET = 20  # as a factor of the instructions: every variable is in memory
PATIENCE = 1.0  # seconds that a launch gets which looks for the cause of wrong numbers
COMPILING = 4.0  # seconds that the compiler gets for it
CUTE = '"cute/', "<cute/"  # headers that take too long to compile
CUB = ('"cub/', "<cub/")
REMOVABLE = (kinds.OUT_OF_BOUNDS, kinds.UNINITIALISED, kinds.MISALIGNED, kinds.NULL_POINTER)
GEMM = re.compile(r"\bgemm\s*\([^;]*,\s*(\w+)\s*\)\s*;")  # the last argument is the sums
FRAGMENT = r"\b{name}\s*=[^;]*\b(?:partition_fragment_C|make_fragment_C|make_tensor\s*<)"
FAULTS = (kinds.OUT_OF_BOUNDS, kinds.NULL_POINTER)  # of an address that may be made of nothing
# Kinds of wrong numbers that garbage can make.
UNEXPLAINED = (
    kinds.WRONG,
    kinds.NOT_A_NUMBER,
    kinds.ALL_ZEROS,
    kinds.EDGES,
    kinds.FIRST_BLOCK,
    kinds.PARTLY_WRITTEN,
    kinds.SCALED,
    kinds.PRECISION,
)


def overrun_verdict(exercise: KernelExercise, source: str, filename: str) -> Verdict | None:
    """An access past the end of an array that the compiler has removed, because its result is
    unused, or None. One small launch of the code as it is written, not optimised.

    Nothing is said where the course's own solution can't run so: too slowly, or with headers that
    take too long to compile.
    """
    if _includes(source, CUTE):
        return None
    trial = Trial(exercise.small[-2:][0], 1)
    found = _run(exercise, source, filename, trial, Options()).fault
    if found is None or found.kind != kinds.OUT_OF_BOUNDS:
        return None
    if _run(exercise, exercise.solution, filename, trial, Options()).fault is not None:
        return None
    why = "The result is unused, so the compiler removes the access. Don't rely on that."
    return _removed(found, why, source, filename)


def unset_fragment(source: str) -> Verdict | None:
    """The sums of CuTe to which a ``gemm`` adds although nothing has set them, None without any.

    The compiler takes 0 for them, so no launch shows it, and without the optimiser CuTe takes too
    long. Any other use of the name before that line counts as setting it.
    """
    lines = strip_comments(source).splitlines()
    for n, line in enumerate(lines, 1):
        for name in GEMM.findall(line):
            before = "\n".join(lines[: n - 1])
            uses = re.findall(rf"\b{name}\b", before)
            if len(uses) == 1 and re.search(FRAGMENT.format(name=name), before):
                return simple(
                    kinds.UNINITIALISED,
                    f"the gemm in line {n} adds to {name}, and nothing has set {name} before. "
                    "It's right only because this compiler takes 0 for it.",
                    hint=f"Set it first: clear({name});",
                    excerpt=source_excerpt(source, [n]),
                )
    return None


def hidden_cause(
    exercise: KernelExercise, source: str, filename: str, trial: Trial, wrong: Verdict
) -> Verdict | None:
    """The cause of ``wrong`` numbers at a ``trial`` that the optimiser hid. None where the code as
    it is written is clean too, or can't run so in a moment, or where the course's own solution
    isn't clean."""
    if wrong.kind not in UNEXPLAINED or _includes(source, CUTE + CUB):
        return None
    options = Options(checks=ALL_CHECKS, patience=PATIENCE)
    try:
        found = first_cause(_run(exercise, source, filename, trial, options))
        if found is None or found.kind not in REMOVABLE:
            return None
        if first_cause(_run(exercise, exercise.solution, filename, trial, options)) is not None:
            return None
    except (CompilerStopped, CompileError, LaunchTooLong, LessonError):
        return None
    why = "The numbers are wrong because of it: the optimiser removed the access and made them up."
    return with_context(_removed(found, why, source, filename), trial.label(exercise), "")


def unset_variable(
    exercise: KernelExercise, source: str, filename: str, trial: Trial, fault: Finding
) -> Verdict | None:
    """The cause of a ``fault`` at a ``trial`` that the optimiser hid: the access's address is made
    of a variable that was never set. None where it isn't, or the code can't run as it is written in
    a moment."""
    if fault.kind not in FAULTS or fault.location is None or _includes(source, CUTE + CUB):
        return None
    options = Options(checks=ALL_CHECKS, patience=PATIENCE)
    try:
        run = _run(exercise, source, filename, trial, options)
    except (CompilerStopped, CompileError, LaunchTooLong, LessonError):
        return None
    for found in filter(None, [*run.findings, run.fault]):
        place = found.location
        here = place is not None and place.line == fault.location.line
        if here and found.cause == Cause.VARIABLE_NOT_INITIALISED:
            why = f"With the optimiser this access ends in a fault: {fault.kind}."
            return _removed(found, why, source, filename)
    return None


def _includes(source: str, headers: tuple[str, ...]) -> bool:
    return any(header in source for header in headers)


def _removed(found: Finding, why: str, source: str, filename: str) -> Verdict:
    verdict = from_finding(found, source, filename)
    return replace(verdict, message=f"{verdict.message}\n  {why}")


def _run(
    exercise: KernelExercise, source: str, filename: str, trial: Trial, options: Options
) -> emulated_runs.Run:
    """One launch of ``source``, compiled without optimisation."""
    seconds = None if options.patience is None else COMPILING
    module = emulated_runs.load_answer(exercise, source, filename, NOT_OPTIMISED, seconds=seconds)
    declare_kernels(exercise, module)
    options = replace(options, budget=BUDGET * exercise.budget)
    return emulated_runs.run(
        exercise,
        module,
        trial.given(exercise),
        trial.size,
        trial.seed,
        launches=trial.launches(exercise),
        options=options,
    )
