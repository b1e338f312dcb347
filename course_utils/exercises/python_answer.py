"""Runs a student's Python function in a process of its own and compares what it returns."""

from __future__ import annotations

import copy
import inspect
import math
import numbers
import os
import secrets
import traceback
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..checking import difference, judge
from ..checking.excerpts import source_excerpt
from ..checking.verdict import Verdict
from ..needs import missing, skip_line
from . import kinds
from .closed_book import apart, closed_book
from .fork_server import ForkServer, serve_forks
from .outcome import clip_printed, simple
from .plain_values import plain
from .promises import all_cases
from .registry import all_exercises, find
from .spec import PythonExercise

MEMORY = 8 * 2**30  # bytes of address space
RTOL, ATOL = 1e-6, 1e-12  # of a number that is returned, by whatever formula
BY_HAND = "Work this case out by hand, line by line."
SHOWN = 200  # characters of a value in a message
PACKAGES = "COURSE_PACKAGES"  # what a server imports before it forks, in its environment


@cache
def server(packages: tuple[str, ...] = ()) -> ForkServer:
    """The process that forks for each answer which needs ``packages``; Triton interprets there."""
    environment = {"COURSE_DEVICE": "emulator", "TRITON_INTERPRET": "1"}
    return ForkServer(__name__, {**environment, PACKAGES: " ".join(packages)})


def verdict_of(exercise: PythonExercise, source: str, seconds: float | None = None) -> Verdict:
    """Run ``source`` and every case of ``exercise``; the time limit covers all of it."""
    try:
        compile(source, exercise.id, "exec")
    except SyntaxError as error:
        return _syntax_error(error, source)
    except (RecursionError, MemoryError):
        message = "this cell holds an expression that is nested too deeply to be read."
        return simple(kinds.SYNTAX_ERROR, message)
    except ValueError as error:  # a zero byte
        return simple(kinds.SYNTAX_ERROR, f"Python cannot read this cell: {error}.")
    if lacking := missing(exercise.needs):
        return simple(kinds.NO_PACKAGE, skip_line(lacking))
    seconds = exercise.seconds if seconds is None else seconds
    secret = secrets.token_hex()  # what the student's code writes in our name lacks it
    job = {"id": exercise.id, "source": source, "secret": secret}
    answer = server(exercise.needs).call(job, seconds, memory=MEMORY)
    if answer.timed_out:
        message = f"{exercise.function} was still running after {seconds:g} seconds."
        verdict = simple(kinds.TIME_LIMIT, message)
    elif answer.result is None or answer.result.pop("secret", "") != secret:
        message = f"the cell ended its process (status {answer.status})."
        hint = "Leave the process running: return the value, and call no exit()."
        return simple(kinds.CRASHED, message, hint=hint, excerpt=answer.output[-600:].strip())
    else:
        verdict = Verdict(**answer.result)
    return Verdict(**{**vars(verdict), "printed": clip_printed(answer.output)})


def work(job: dict[str, Any]) -> dict[str, Any]:
    """One answer; runs in the separate process."""
    secret = job.pop("secret")
    verdict = _try_cases(find(job["id"]), job["source"])
    shown = {name: getattr(verdict, name) for name in ("kind", "message", "hint", "excerpt")}
    return {**shown, "secret": secret}


def _try_cases(exercise: PythonExercise, source: str) -> Verdict:
    namespace: dict[str, Any] = {"__name__": "exercise"}
    # Before anything of the student's runs, which might change what the reference calls.
    cases = [
        (arguments, exercise.reference(*copy.deepcopy(arguments)))
        for arguments in all_cases(exercise)
    ]
    try:
        with closed_book():
            apart(exec, compile(source, exercise.id, "exec"), namespace)
    except BaseException as error:
        return _raised(error, exercise, source, "running the cell")
    function = namespace.get(exercise.function)
    if not callable(function):
        return simple(kinds.WRONG_NAME, f"this cell defines no function {exercise.function}.")
    for arguments, want in cases:
        shown = f"{exercise.function}({', '.join(_show(x) for x in arguments)})"
        if exercise.call is None:
            try:
                inspect.signature(function).bind(*arguments)
            except TypeError as error:
                message = f"{exercise.function} is called with {len(arguments)} arguments: {error}."
                return simple(kinds.WRONG_SIGNATURE, message)
        used = copy.deepcopy(arguments)
        try:
            with closed_book():
                got = apart(_plainly, exercise.call, function, used)
        except BaseException as error:
            return _raised(error, exercise, source, shown)
        verdict = _compare(got, want, shown)
        if verdict is None and callable(exercise.means) and (advice := exercise.means(*used)):
            message = f"the result is right, but not by the means of this exercise.\n  {advice}"
            verdict = simple(kinds.MEANS_MISSING, message)
        if verdict is not None:
            return verdict
    message = f"{exercise.id} is right in every case tried."
    hint = f'solution("{exercise.id}") shows ours, with an explanation.'
    return simple(kinds.PASS, message, hint=hint)


def _plainly(call: Any, function: Any, arguments: tuple) -> Any:
    return plain(call(function, *arguments) if call else function(*arguments))


def _compare(got: Any, want: Any, shown: str) -> Verdict | None:
    """What is wrong with ``got``; None when it is right."""
    if got is None and want is not None:
        return simple(kinds.NOTHING_RETURNED, f"{shown} returned None.")
    if isinstance(want, np.ndarray):
        if not isinstance(got, np.ndarray):
            return _wrong_type(got, want, shown)
        rtol = RTOL if want.dtype.kind in "fc" else None
        verdict = judge(got, want, rtol=rtol, name="result")
        message = "\n  ".join([f"{shown}: {verdict.message}", *verdict.facts])
        hint = BY_HAND if verdict.kind == kinds.WRONG else verdict.hint
        return None if verdict.passed else simple(verdict.kind, message, hint=hint)
    if _type(got) != _type(want):
        return _wrong_type(got, want, shown)
    if _right(got, want):
        return None
    message = f"{shown} returned {_show(got)}, expected {_show(want)}."
    return simple(kinds.WRONG, message, hint=BY_HAND)


def _right(got: Any, want: Any) -> bool:
    """Numbers as near as :func:`difference` has it, those in tuples and lists too; the rest equal,
    and of one type."""
    if isinstance(want, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(got) != len(want):
            return False
        return all(map(_right, got, want))
    if isinstance(want, float):
        return isinstance(got, numbers.Real) and not difference(float(got), want, RTOL, ATOL)
    return _type(got) == _type(want) and bool(np.all(got == want))


def _type(value: Any) -> str:
    """Types by what they mean: NumPy's integers are integers, and lists may stand for tuples."""
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, numbers.Integral):
        return "int"
    if isinstance(value, numbers.Real):
        return "float"
    return "tuple" if isinstance(value, (tuple, list)) else type(value).__name__


def _wrong_type(got: Any, want: Any, shown: str) -> Verdict:
    message = f"{shown} returned the {_type(got)} {_show(got)}, expected a value of type "
    return simple(kinds.WRONG_TYPE, f"{message}{_type(want)}.")


def _raised(error: BaseException, exercise: PythonExercise, source: str, doing: str) -> Verdict:
    """An exception, with the last line of the student's cell on its way."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == exercise.id]
    text = "".join(traceback.format_exception_only(error)).strip()
    return simple(
        kinds.EXCEPTION,
        f"{doing}: {text[:1000]}",
        excerpt=source_excerpt(source, lines[-1:]),
    )


def _syntax_error(error: SyntaxError, source: str) -> Verdict:
    line = error.lineno or 1
    excerpt = source_excerpt(source, [line], around=0)
    if excerpt and error.offset:
        excerpt += "\n" + " " * (len("->   1 | ") + error.offset - 1) + "^"
    hint = ""
    if "__global__" in source:
        hint = "This exercise is answered in Python, and the cell looks like CUDA C++."
    return simple(kinds.SYNTAX_ERROR, f"line {line}: {error.msg}.", hint=hint, excerpt=excerpt)


def _show(value: Any) -> str:
    """``value`` as Python writes it, as far as it can and as far as a reader will follow."""
    try:
        text = repr(value)
    except ValueError:  # Python writes integers of at most 4,300 digits
        digits = value.bit_length() * math.log10(2) if isinstance(value, int) else math.nan
        return f"<an integer of about {digits:,.0f} digits>"
    except RecursionError:
        return f"<a deeply nested {type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


if __name__ == "__main__":
    all_exercises()  # once, for every job
    for package in os.environ[PACKAGES].split():
        import_module(package)
    serve_forks(work)
