"""Exercises that ask for a review: each line of a given program that has a fault, and its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ...errors import LessonError
from ..isolation.closed_book import run_in_clean_frame
from .spec import PythonExercise


def review(
    faults: Mapping[int, str],
    example: str,
    start: str,
    questions: Mapping[int, str] | None = None,
    function: str = "",
) -> PythonExercise:
    """The exercise to return ``faults``: kinds by the numbers of lines. A verdict counts what was
    found and doesn't say where. ``example`` is a dictionary of the right form, and ``start`` says
    where to begin.

    With ``questions``, which lead to each fault, the next step of a review without false alarms is
    the question about the first fault that it misses. Of another review it's a false alarm.
    """
    next_step = [""]

    def reviewed(function: Callable[[], Any]) -> dict[str, int] | None:
        next_step[0] = ""
        found = run_in_clean_frame(function)
        if found is None:
            return None
        if type(found) is not dict or {type(fault) for fault in found.values()} - {str}:
            raise LessonError(f"return a dictionary, such as {example}")
        missed = [line for line, fault in faults.items() if found.get(line) != fault]
        wrong = [line for line in found if line not in faults]
        if found and questions and wrong:
            next_step[0] = f"Line {wrong[0]} has no fault that {found[wrong[0]]!r} would name."
        elif found and questions and missed:
            next_step[0] = questions[missed[0]]
        right = len(faults) - len(missed)
        return {"faults found": right, "false alarms": len(found) - right}

    return PythonExercise(
        function=function,
        cases=((),),
        reference=lambda: {"faults found": len(faults), "false alarms": 0},
        call=reviewed,
        compared="scores",
        method=lambda: next_step[0],
        start=start,
        contract="There is one program to review.",
    )


def said_of_lines(
    found: Mapping[int, object], mistakes: Mapping[str, Collection[int]]
) -> tuple[str, ...]:
    """A sentence for each mistake: whether the review, a word for each line, gives it one of its
    ``mistakes`` lines. Other words follow, each as none."""
    said = []
    for word, lines in mistakes.items():
        named = {line for line, given in found.items() if given == word}
        there = "right" if named <= set(lines) else "not there"
        said.append(f"{word}: {there if named else 'not yet'}")
    others = sorted({str(word) for word in found.values()} - mistakes.keys())
    return (*said, *(f"{word}: none" for word in others))
