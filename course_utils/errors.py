"""Errors that a reader is meant to see."""

from __future__ import annotations


class LessonError(Exception):
    """An error whose message says what was wrong, where, and what to do.

    In a notebook it is shown as its message alone, with no traceback through the course's own code.
    """

    def _render_traceback_(self) -> list[str]:
        """What IPython prints instead of a traceback."""
        return str(self).splitlines()
