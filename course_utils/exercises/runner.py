"""Runs a student's cell and says what came of it.

Order: is there anything to run, does it compile, is it the kernel we launch, then every small size
with two seeds on the emulator (bounds checked, races checked, outputs poisoned, instructions
budgeted), then the target's counters, and on a machine with a GPU the full size.
"""

from __future__ import annotations

import traceback
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ..checking import judge
from ..checking.verdict import Verdict
from ..compiling import signature
from ..compiling.diagnostics import CompileError
from ..devices.limits import LaunchError
from ..emulator import GLOBAL, Counts, Finding
from ..launching.modules import Module
from . import kinds, numbers, sandbox
from .outcome import (
    Outcome,
    clip_printed,
    from_compile_error,
    from_finding,
    simple,
    source_excerpt,
    with_context,
)
from .spec import (
    BaseExercise,
    Exercise,
    HostExercise,
    NumberExercise,
    PythonExercise,
    Target,
    describe_size,
)

SEEDS = (1, 2)


def run_source(
    exercise: BaseExercise, source: str, *, first_line: int = 1, gpu: bool = False
) -> Outcome:
    """The outcome of ``source`` as an answer to ``exercise``; never raises.

    ``first_line`` is the number of the source's first line for the reader (2 in a notebook cell,
    below its magic line). With ``gpu`` a right answer also runs at full size on the GPU.
    """
    if not source.strip():
        message = "there is nothing in this cell."
        hint = kinds.NEXT_STEP[kinds.EMPTY].format(id=exercise.id)
        return _outcome(exercise, simple(kinds.EMPTY, message, hint=hint))
    if exercise.is_untouched(source) and not exercise.bug:
        hint = numbers.HOW_TO_START if isinstance(exercise, NumberExercise) else ""
        message = "this is the starter, unchanged."
        return _outcome(exercise, simple(kinds.NOT_STARTED, message, hint=hint))
    outcome = check_source(exercise, "\n" * (first_line - 1) + source)
    if gpu and outcome.passed and isinstance(exercise, Exercise):
        from .full_size import run_full

        return run_full(exercise, source, outcome)
    return outcome


def check_source(exercise: BaseExercise, source: str) -> Outcome:
    """Run ``source`` on the emulator, be it the starter or not; never raises."""
    try:
        return _run(exercise, source)
    except Exception as error:
        lines = traceback.format_exception(error)[-4:]
        verdict = simple(kinds.OUR_FAULT, f"the checker failed: {error}", excerpt="".join(lines))
        return _outcome(exercise, verdict)


@singledispatch
def _run(exercise: BaseExercise, source: str) -> Outcome:
    raise TypeError(f"no runner for exercises of type {type(exercise).__name__}")


@_run.register
def _run_kernel(exercise: Exercise, source: str) -> Outcome:
    filename = f"{exercise.id}.cu"
    try:
        module = sandbox.load_answer(exercise, source, filename)
    except CompileError as error:
        return _outcome(exercise, _explain_compile_error(from_compile_error(error), source))
    except sandbox.CompileTimeout:
        message = f"the compiler was still busy after {sandbox.COMPILE_SECONDS:.0f} seconds."
        hint = "Look for a template or a constexpr function that calls itself without an end."
        return _outcome(exercise, simple(kinds.COMPILE_ERROR, message, hint=hint))
    problem = _check_entry(exercise, module, source)
    if problem:
        return _outcome(exercise, problem)
    try:
        verdict = _try_small_sizes(exercise, module, source, filename)
        if verdict.passed and exercise.target:
            return _try_target(exercise, module, verdict)
    except LaunchError as error:
        verdict = simple(kinds.LAUNCH_ERROR, str(error))
    return _outcome(exercise, verdict)


@_run.register
def _run_python(exercise: PythonExercise, source: str) -> Outcome:
    from .python_answer import verdict_of

    return _outcome(exercise, verdict_of(exercise, source))


@_run.register
def _run_numbers(exercise: NumberExercise, source: str) -> Outcome:
    return _outcome(exercise, numbers.verdict_of(exercise, source))


@_run.register
def _run_host(exercise: HostExercise, source: str) -> Outcome:
    from .host import verdict_of

    return _outcome(exercise, verdict_of(exercise, source))


def _try_small_sizes(exercise: Exercise, module: Module, source: str, filename: str) -> Verdict:
    """The most telling verdict: a fault at once, then a race, then the first wrong result."""
    wrong: Verdict | None = None
    printed = ""
    for size in exercise.small:
        for seed in SEEDS:
            given = exercise.inputs(np.random.default_rng(seed), size)
            run = sandbox.run(exercise, module, given, size, seed)
            printed = printed or clip_printed(run.printed)
            finding = _first_cause(run)
            if finding:
                verdict = from_finding(finding, source, filename)
                return with_context(verdict, describe_size(size), run.printed)
            if wrong is None:
                verdict = _judge(exercise, run, given, size)
                if not verdict.passed:
                    wrong = with_context(verdict, describe_size(size), run.printed)
    message = f"{exercise.id} is right at every size tried."
    hint = f'solution("{exercise.id}") shows ours, with an explanation.'
    return wrong or replace(simple(kinds.PASS, message, hint=hint), printed=printed)


def _first_cause(run: sandbox.Run) -> Finding | None:
    """The fault, unless that very line computed with uninitialised values; or the first finding.

    An output read by a later kernel and written by none is told by :func:`_judge`, and better.
    """
    found = [f for f in run.findings if f.kind != kinds.UNINITIALISED or _touched(run, f.array)]
    if run.fault is None:
        return found[0] if found else None
    causes = (f for f in found if f.kind == kinds.UNINITIALISED)
    return next((f for f in causes if f.location == run.fault.location), run.fault)


def _touched(run: sandbox.Run, name: str | None) -> bool:
    return name not in run.arrays or not GLOBAL.untouched(run.arrays[name])


def _judge(exercise: Exercise, run: sandbox.Run, given: dict[str, Any], size: Any) -> Verdict:
    """Every input against what it was, then every output against the reference."""
    expected = exercise.reference(given)
    for name, array in run.arrays.items():
        if name not in expected and array.tobytes() != run.before[name].tobytes():
            return simple(kinds.INPUT_CHANGED, f"the kernel wrote to its input {name}.")
    verdicts = (
        judge(
            run.arrays[name],
            want,
            name=name,
            reduction=exercise.reduction(size),
            initial=run.before[name],
        )
        for name, want in expected.items()
    )
    return next((v for v in verdicts if not v.passed), simple(kinds.PASS, "every output is right."))


def _try_target(exercise: Exercise, module: Module, verdict: Verdict) -> Outcome:
    """Count one launch at the target's size and compare with the target."""
    target = exercise.target
    counts = _count(exercise, module)
    measured = target.measure(counts)
    if measured > target.at_most:
        message = f"the result is right, but {target.label} is {measured:.2f}."
        verdict = simple(kinds.TARGET_MISSED, message, hint=target.advice)
    figures = (target.label, measured, target.at_most)
    outcome = _outcome(exercise, verdict)
    return replace(outcome, counts=counts, target=figures, before=_before(exercise))


_starters: dict[tuple[str, Target], float] = {}


def _before(exercise: Exercise) -> float:
    """What the target measures for the starter; counted once a session."""
    key = exercise.starter, exercise.target
    if key not in _starters:
        starter = sandbox.load_answer(exercise, exercise.starter, "starter.cu")
        _starters[key] = exercise.target.measure(_count(exercise, starter))
    return _starters[key]


def _count(exercise: Exercise, module: Module) -> Counts:
    size = exercise.target.size
    given = exercise.inputs(np.random.default_rng(SEEDS[0]), size)
    return sandbox.run(exercise, module, given, size, counters=True).counts


def _check_entry(exercise: Exercise, module: Module, source: str) -> Verdict | None:
    """Is there a kernel with the name and the parameters of the launch?"""
    found = signature.kernels(source)
    wanted = signature.kernels(exercise.solution)
    names = {launch.kernel or exercise.kernel for launch in exercise.launches(exercise.small[0])}
    for name in sorted(names):
        if not _has_kernel(module, name):
            return _wrong_name(name, wanted[name], found, source)
        if name in found and _types(found[name]) != _types(wanted[name]):
            message = f"{name} has other parameters than the launch passes."
            excerpt = f"yours:    {found[name]}\nexpected: {wanted[name]}"
            return simple(kinds.WRONG_SIGNATURE, message, excerpt=excerpt)
    return None


def _has_kernel(module: Module, name: str) -> bool:
    """Does the compiler know a kernel by this very name? A C++ one's has its parameters in it."""
    try:
        return module[name].raw.entry.name == name
    except (AttributeError, KeyError):
        return False


def _wrong_name(name: str, wanted: Any, found: dict[str, Any], source: str) -> Verdict:
    if name in found:
        message = f"the compiler has changed the name of {name}."
        hint = 'Put extern "C" before __global__: C++ otherwise adds the parameters to the name.'
        return simple(kinds.WRONG_NAME, message, hint=hint)
    if found:
        message = f"no kernel is called {name}; this cell has {', '.join(found)}."
        return simple(kinds.WRONG_NAME, message)
    message = f"there is no kernel in this cell: {name} is missing."
    hint = f'A kernel begins with: extern "C" __global__ void {wanted}'
    return simple(kinds.WRONG_NAME, message, hint=hint)


def _types(found: signature.Signature) -> list[tuple[bool, str]]:
    return [(p.pointer, str(p.dtype or p.c_type)) for p in found.parameters]


PYTHON_WORDS = ("import ", "def ", "from ", "print(", "%", "!")


def _explain_compile_error(verdict: Verdict, source: str) -> Verdict:
    """Say so when the cell is not C++ at all."""
    first = next(line.strip() for line in source.splitlines() if line.strip())
    if first.startswith(PYTHON_WORDS):
        hint = "This cell is compiled as CUDA C++, but it begins like Python."
        number = next(n for n, line in enumerate(source.splitlines(), 1) if line.strip())
        return replace(verdict, hint=hint, excerpt=source_excerpt(source, [number]))
    if "__global__" not in source:
        hint = f"{verdict.hint} There is no __global__ function here: is this the right cell?"
        return replace(verdict, hint=hint)
    return verdict


def _outcome(exercise: BaseExercise, verdict: Verdict) -> Outcome:
    return Outcome(exercise.id, exercise.title, verdict)
