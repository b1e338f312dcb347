"""Errors that a reader is meant to see."""

from __future__ import annotations

SYMPTOMS = "00/03"  # the number of the page that has a heading for each message


def more(*headings: str) -> str:
    """The line that names headings of that page, ``more: 00/03, "Out of bounds"``, or ""."""
    named = [f"'{h}'" if '"' in h else f'"{h}"' for h in dict.fromkeys(headings) if h]
    return f"more: {SYMPTOMS}, {' and '.join(named)}" if named else ""


class LessonError(Exception):
    """An error whose message has the mistake, its place and the next step.

    ``symptom``, if there is one, is its heading on the page of :mod:`course_utils.symptoms`, which
    the error's note names. In a notebook an error is shown as its message and its note, with no
    traceback through the course's own code.
    """

    symptom = ""

    def __init__(self, *arguments: object, symptom: str = ""):
        super().__init__(*arguments)
        if symptom:
            self.symptom = symptom
            self.add_note(more(symptom))

    def _render_traceback_(self) -> list[str]:
        """IPython prints this instead of a traceback."""
        return in_full(self).splitlines()


def in_full(error: BaseException) -> str:
    """The message of an error, and below it its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])
