"""Runs a student's Python in its own process, which knows no right answer.

Its results go back as plain values, and are judged elsewhere.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import linecache
import os
import secrets
import sys
import traceback
import warnings
from functools import cache, partial
from importlib import import_module
from types import CodeType, ModuleType
from typing import Any

from ...checking.excerpts import source_excerpt
from ...checking.verdict import Verdict
from ...emulator import Cause
from ...errors import LessonError
from ..authoring import kinds, language_spec
from ..authoring.language_spec import LanguageExercise
from ..authoring.registry import all_exercises, find
from ..authoring.spec import BaseExercise, PythonExercise
from ..isolation.closed_book import closed_book, refused, run_in_clean_frame
from ..isolation.fork_server import ForkServer, serve_forks
from ..isolation.isolated import Answer
from ..isolation.plain_values import written
from .language_answer import of_kernel
from .outcome import simple
from .trials import all_cases

OWN_NAMES = vars(builtins)
OWN_FUNCTIONS = OWN_NAMES.copy()
MEMORY = 8 * 2**30  # bytes of address space
MOST_ITEMS = 250_000  # of a result: a million take longer than the limit to be sent
CHECKED = "The exercise checks your function's calls and result: compare them with the task."
# In a server's environment: the packages it imports before it forks, the compiler it prepares.
PACKAGES, LANGUAGE = "COURSE_PACKAGES", "COURSE_KERNEL_LANGUAGE"


@cache
def server(packages: tuple[str, ...] = (), language: str = "") -> ForkServer:
    """The process that forks for each answer which needs ``packages``. ``language``: of kernels
    that it launches on the emulator."""
    # Answers run on the CPU, so PyTorch has no GPU to start there.
    environment = {"COURSE_DEVICE": "emulator", "CUDA_VISIBLE_DEVICES": ""}
    environment |= {PACKAGES: " ".join(packages), LANGUAGE: language}
    return ForkServer(__name__, environment | language_spec.environment(language))


def run_answer(
    exercise: BaseExercise,
    source: str,
    seconds: float,
    *,
    names: tuple[str, ...] = (),
    first: int = 0,
    packages: tuple[str, ...] = (),
) -> Answer:
    """What :func:`answers` gives for ``source``: to the fixed cases, or to those from ``first`` on;
    or :func:`variables`, where ``names`` are wanted.

    Without a result the process ended by itself, or its time was up.
    """
    secret = secrets.token_hex()  # text that the student's code writes in our name lacks it
    job = {"id": exercise.id, "source": source, "secret": secret, "names": names, "first": first}
    language = exercise.kernel_language if isinstance(exercise, LanguageExercise) else ""
    if isinstance(exercise, PythonExercise):
        packages = (*packages, *exercise.imports)
    answer = server(packages, language).call(job, seconds, memory=MEMORY)
    if answer.result is None or answer.result.pop("secret", "") != secret:
        return Answer(None, answer.timed_out, answer.status, answer.output)
    return answer


def unanswered(answer: Answer, what: str, seconds: float) -> Verdict:
    """The verdict on a process without a result. ``what`` was running in it."""
    if answer.timed_out:
        message = f"{what} was still running after {seconds:g} seconds."
        return simple(kinds.TIME_LIMIT, message)
    message = f"the cell ended its process (status {answer.status})."
    hint = "Leave the process running: return the value, and call no exit()."
    return simple(kinds.CRASHED, message, hint=hint, excerpt=answer.output[-600:].strip())


def problem_of(found: dict[str, Any]) -> Verdict | None:
    """The verdict on a fault of the process itself, None where there was none."""
    if not found["problem"]:
        return None
    told = dict(found["problem"])
    cause = Cause[told.pop("cause")] if "cause" in told else None
    return Verdict(**told, cause=cause)


def work(job: dict[str, Any]) -> dict[str, Any]:
    """One answer, in the separate process."""
    secret, names, first = (job.pop(name) for name in ("secret", "names", "first"))
    exercise = find(job["id"])
    warnings.formatwarning = partial(_warning, exercise.id)
    if names:
        found = variables(exercise, job["source"], names)
    else:
        assert isinstance(exercise, PythonExercise)
        cases = all_cases(exercise)
        chosen = slice(first, None) if first else slice(len(exercise.cases))
        found = answers(exercise, job["source"], cases[chosen])
    return {**found, "secret": secret}


def _warning(
    cell: str,
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """A warning as the student reads it, by the line of the cell. The file of a library, where most
    of NumPy's are raised, has a path of this machine and is left out."""
    place = f"line {lineno}: " if filename == cell else ""
    return f"{place}{category.__name__}: {message}\n"


def variables(exercise: BaseExercise, source: str, names: list[str]) -> dict[str, Any]:
    """The values of these names after the cell has run, where it gives them one."""
    run = partial(_values, compiled(source, exercise), names)
    values, problem = _tried(run, exercise, source, "running the cell")
    return {"values": values or {}, "problem": problem}


def answers(
    exercise: PythonExercise, source: str, cases: tuple[Any, ...] | None = None
) -> dict[str, Any]:
    """The results of the student's function in each case, of all or of these, up to the first that
    fails: with the arguments as it left them, and the exercise's verdict on its method."""
    namespace = _module()
    cases = all_cases(exercise) if cases is None else cases  # before the student's code runs
    if exercise.prepare is not None:
        exercise.prepare()
    calls: list[dict[str, Any]] = []

    def answer(problem: dict[str, Any] | None = None) -> dict[str, Any]:
        return {"calls": calls, "problem": problem}

    define = partial(exec, compiled(source, exercise), namespace)
    if isinstance(exercise, LanguageExercise):  # their compilers read the source
        linecache.cache[exercise.id] = len(source), None, source.splitlines(True), exercise.id
    _, problem = _tried(define, exercise, source, "running the cell")
    if problem:
        return answer(problem)
    function = namespace.get(exercise.function)
    if not callable(function):
        message = f"this cell defines no function {exercise.function}."
        return answer(_told(simple(kinds.WRONG_NAME, message)))
    for arguments in cases:
        if exercise.call is None:
            try:
                inspect.signature(function).bind(*arguments)
            except TypeError as error:
                message = f"{exercise.function} is called with {len(arguments)} arguments: {error}."
                return answer(_told(simple(kinds.WRONG_SIGNATURE, message)))
        used = copy.deepcopy(arguments)
        run = partial(_called, exercise.call, function, used)
        value, problem = _tried(run, exercise, source, "")
        if problem:
            return answer(problem)
        advice = exercise.method(*used) if exercise.method else ""
        calls.append({"value": value, "left": written(used), "advice": advice})
    return answer()


def compiled(source: str, exercise: BaseExercise) -> CodeType:
    """The cell's code, with no feature of this file's ``from __future__``."""
    return compile(source, exercise.id, "exec", dont_inherit=True)


def _module() -> dict[str, Any]:
    """The names of a new module for the cell, which ``sys.modules`` has, as dataclasses want it."""
    module = sys.modules["exercise"] = ModuleType("exercise")
    return vars(module)


# The values in the frames below the student's: neither the exercise nor the other cases.
def _values(code: CodeType, names: list[str]) -> dict[str, Any]:
    namespace = _module()
    exec(code, namespace)
    _restore_builtins()
    return {name: written(namespace[name]) for name in names if name in namespace}


def _called(call: Any, function: Any, arguments: tuple[Any, ...]) -> list[Any]:
    value = call(function, *arguments) if call else function(*arguments)
    _restore_builtins()
    items = max(map(_items, (value, *value) if type(value) in (list, tuple) else (value,)))
    if items > MOST_ITEMS:
        raise LessonError(f"it returned {items:,} items: no case wants that many.")
    return written(value)


def _items(value: Any) -> int:
    return len(value) if type(value) in (list, tuple, set, dict) else 0


def _restore_builtins() -> None:
    """Python's own functions as they were, whatever the cell has made of them."""
    OWN_NAMES.update(OWN_FUNCTIONS)


def _tried(run: Any, exercise: BaseExercise, source: str, doing: str) -> tuple[Any, Any]:
    """The result of ``run()``, with the book closed, and None, or None and the verdict on it."""
    value, verdict = None, None
    try:
        with closed_book():
            try:
                value = run_in_clean_frame(run)
            finally:
                _restore_builtins()
    except BaseException as error:
        verdict = _raised(error, exercise, source, doing)
    if why := refused():
        hint = kinds.NEXT_STEP[kinds.COPIED]
        verdict = simple(kinds.COPIED, f"{why}.", hint=hint)
    return value, verdict and _told(verdict)


def _told(verdict: Verdict) -> dict[str, str]:
    """The verdict in words, as it goes to the other process."""
    told = {name: getattr(verdict, name) for name in ("kind", "message", "hint", "excerpt")}
    return told | ({"cause": verdict.cause.name} if verdict.cause else {})


def _raised(error: BaseException, exercise: BaseExercise, source: str, doing: str) -> Verdict:
    """An exception, with the last line of the student's cell on its way."""
    if isinstance(exercise, LanguageExercise) and (found := of_kernel(error, exercise, source)):
        return found
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == exercise.id and frame.lineno]
    excerpt = source_excerpt(source, lines[-1:])
    if isinstance(error, LessonError):  # raised by the exercise itself, in words for the reader
        return simple(kinds.EXCEPTION, str(error), hint=CHECKED, excerpt=excerpt)
    text = "".join(traceback.format_exception_only(error)).strip()
    message = f"{doing}: {text[:1000]}" if doing else text[:1000]
    return simple(kinds.EXCEPTION, message, excerpt=excerpt)


if __name__ == "__main__":
    all_exercises()  # once, for every job
    for package in os.environ[PACKAGES].split():
        import_module(package)
    if os.environ[LANGUAGE]:
        language_spec.prepare(os.environ[LANGUAGE])
    serve_forks(work)
