"""What a student types: ``%%exercise``, ``hint``, ``solution``, ``reset`` and the like."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ...errors import LessonError
from ...interrupts import interruptible
from ...shell import running_shell
from ..authoring.generate import solution_text, starter_cell
from ..authoring.registry import find
from ..authoring.spec import BaseExercise
from ..authoring.variants import drawn
from ..judging.after_pass import after_pass
from ..judging.outcome import ExerciseFailed, Outcome
from ..judging.runner import run_source
from . import saved_answers
from .class_variants import class_seed

CELL_LINE = 2  # the body of a cell begins below its magic line


@dataclass(frozen=True)
class Note:
    """Text that shows as Markdown in a notebook and prints as it is elsewhere."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def exercise(line: str, cell: str) -> Outcome:
    """``%%exercise 04.saxpy``: run the cell below as an answer to that exercise.

    Never raises for anything in the cell, so a notebook with unsolved exercises runs to its end;
    with COURSE_STRICT=1 every verdict but PASS raises :class:`ExerciseFailed`.
    """
    with interruptible(f"{line.strip()} was not judged, and this try does not count."):
        chosen = find_named(line)
        outcome = run_source(chosen, cell, first_line=CELL_LINE, gpu=on_gpu())
    after = after_pass(chosen) if outcome.passed else None
    outcome = replace(outcome, note=saved_answers.record(chosen, outcome, cell), after=after)
    if os.environ.get("COURSE_STRICT") == "1" and not outcome.passed:
        raise ExerciseFailed(outcome)
    return outcome


def hint(name: str) -> Note:
    """The next hint of an exercise; each call shows one more, and the last one stays."""
    chosen = find_named(name)
    number = saved_answers.next_hint(chosen)
    return Note(f"**Hint {number} of {len(chosen.hints)}.** {chosen.hints[number - 1].strip()}")


def solution(name: str) -> Note:
    """The course's solution of an exercise, with its explanation."""
    chosen = find_named(name)
    return Note(solution_text(chosen))


def answer(name: str) -> str | None:
    """What of yours passed last, as text, whatever you tried after it; None before it passed."""
    return saved_answers.passing_answer(find_named(name))


def reset(name: str) -> Note:
    """Bring the starter back in a new cell below, and count the exercise as open again."""
    chosen = find_named(name)
    kept = saved_answers.forget(chosen)
    message = f"The starter of {chosen.id} is in the cell below. {kept}".rstrip()
    return _new_cell(starter_cell(chosen), message)


def restore(name: str) -> Note:
    """Bring back, in a new cell below, what you ran last."""
    chosen = find_named(name)
    work = saved_answers.saved_answer(chosen)
    if work is None:
        return Note(f"You have not tried {chosen.id} yet.")
    text = f"%%exercise {chosen.id}\n{work}"
    return _new_cell(text, f"Your last try at {chosen.id} is in the cell below.")


def find_named(name: str) -> BaseExercise:
    """The exercise that a learner calls ``name``, with the class's numbers. Raises LessonError with
    the closest ids."""
    name = name.strip()
    if not name:
        raise LessonError("Name the exercise, as in %%exercise 04.saxpy")
    try:
        return drawn(find(name), class_seed())
    except KeyError as error:
        raise LessonError(error.args[0]) from None


def _new_cell(text: str, message: str) -> Note:
    shell = running_shell()
    if shell is None:
        return Note(text)
    shell.set_next_input(text, replace=False)
    return Note(message)


def on_gpu() -> bool:
    """Whether kernels of this process run on a GPU."""
    from ...devices.selection import ON_GPU

    return ON_GPU
