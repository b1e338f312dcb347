"""The verdict on a Triton or Numba kernel whose launch or compiler stopped with an error."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ...checking.excerpts import clip, source_excerpt
from ...checking.verdict import Verdict
from ...emulator import Finding, LanguageError, Location
from ..authoring import kinds
from ..authoring.language_spec import FoundInKernel, InputChanged, StoredOutside
from ..authoring.spec import BaseExercise
from .outcome import from_finding, simple

COMPILERS = ("triton.", "numba.")  # the modules of their errors begin so
NUMBAS_ERROR, TRITONS_ERROR = "NumbaError", "TritonError"
MOST_LINES, MOST_CHARACTERS = 6, 600  # of a compiler's message
NUMBAS_LINES = 2  # of Numba's, before it lists what it tried
HAS_A_MASK = "Does the store have a mask, or an if around it, for the elements that exist?"
READ_IT = (
    "The compiler refuses the line. A kernel is a small part of Python: numbers, arrays, if, for "
    "and while, and the functions of its language."
)
_LINE = re.compile(r'File "([^"]*)", line (\d+)|\bat (\S+) \((\d+)\)')
_NUMBAS_HEADING = re.compile(r"\x1b\[[\d;]*m|^Failed in \S+ mode pipeline.*\n?", re.M)


def of_kernel(error: BaseException, exercise: BaseExercise, source: str) -> Verdict | None:
    """The verdict on an error of a kernel's launch or of its compiler. None for any other."""
    if isinstance(error, FoundInKernel):
        return _of_finding(error.finding, exercise, source)
    if isinstance(error, InputChanged):
        return simple(kinds.INPUT_CHANGED, str(error))
    if isinstance(error, StoredOutside):
        return simple(kinds.OUT_OF_BOUNDS, str(error), hint=HAS_A_MASK)
    if isinstance(error, LanguageError):
        return simple(kinds.LAUNCH_ERROR, str(error), hint=kinds.NEXT_STEP[kinds.WRONG_SIGNATURE])
    bases = {each.__name__ for each in type(error).__mro__ if each.__module__.startswith(COMPILERS)}
    if TRITONS_ERROR in bases:
        return _refused(_message_of_triton(error), _line_of_triton(error, source), source)
    if NUMBAS_ERROR in bases:
        return _refused(_message_of_numba(error), _line_of_numba(error, exercise), source)
    return None


def _of_finding(finding: Finding, exercise: BaseExercise, source: str) -> Verdict:
    """With the lines of the cell, which a report calls by the exercise's id."""
    places = finding.location, finding.other_location, finding.condition
    cell = next((place.file for place in places if place and place.file != exercise.id), "")
    renamed: dict[str, Any] = {
        field: replace(place, file=exercise.id)
        for field, place in zip(("location", "other_location", "condition"), places, strict=True)
        if isinstance(place, Location) and place.file == cell
    }
    message = finding.message.replace(f"{cell}:", f"{exercise.id}:") if cell else finding.message
    return from_finding(replace(finding, message=message, **renamed), source, exercise.id)


def _refused(message: str, line: int, source: str) -> Verdict:
    text = clip(message.strip(), MOST_LINES, MOST_CHARACTERS)
    excerpt = source_excerpt(source, [line] if line else [])
    return simple(kinds.COMPILE_ERROR, text, hint=READ_IT, excerpt=excerpt)


def _message_of_triton(error: Any) -> str:
    """Without the source, which the excerpt shows. Errors of functions of Triton have causes."""
    while getattr(error, "error_message", None) is None and error.__cause__ is not None:
        error = error.__cause__
    return str(getattr(error, "error_message", None) or error)


def _line_of_triton(error: Any, source: str) -> int:
    """The line of the cell: Triton counts from the kernel's own ``def``."""
    node, text = getattr(error, "node", None), getattr(error, "src", None) or ""
    head = next((line for line in text.splitlines() if line.startswith("def ")), "")
    lines = source.splitlines()
    if node is None or head not in lines:
        return 0
    return lines.index(head) + int(node.lineno)


def _message_of_numba(error: BaseException) -> str:
    """Its first lines, without colours and without the heading of a pipeline."""
    lines = [line.strip() for line in _NUMBAS_HEADING.sub("", str(error)).splitlines()]
    return "\n  ".join([line for line in lines if line][:NUMBAS_LINES])


def _line_of_numba(error: BaseException, exercise: BaseExercise) -> int:
    found = [(a or c, int(b or d)) for a, b, c, d in _LINE.findall(str(error))]
    return next((line for file, line in reversed(found) if file == exercise.id), 0)
