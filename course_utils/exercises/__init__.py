"""Exercises: specs beside the chapters, starters and solutions from one source, a runner that
classifies mistakes, hints and progress."""

from __future__ import annotations

from typing import Any

from .authoring import domain, kinds, method
from .authoring.domain import Domain, DrawnCases
from .authoring.launches import Launch, empty, floats, int32s
from .authoring.method import Requirement
from .authoring.spec import (
    Ask,
    Exercise,
    HostExercise,
    Mutant,
    NumberExercise,
    PythonExercise,
    Target,
    mutant,
)

__all__ = [
    "Ask",
    "DrawnCases",
    "Exercise",
    "HostExercise",
    "Launch",
    "Requirement",
    "Mutant",
    "NumberExercise",
    "Domain",
    "PythonExercise",
    "Target",
    "answer",
    "empty",
    "floats",
    "hint",
    "int32s",
    "kinds",
    "method",
    "mutant",
    "progress",
    "domain",
    "reset",
    "restore",
    "solution",
]

_STUDENT_SIDE = ("answer", "hint", "reset", "restore", "solution")


def progress() -> Any:
    """Where you are in the course: done, attempted and next, by chapter."""
    from .student.saved_answers import progress as overview

    return overview()


def __getattr__(name: str) -> Any:
    """Load what students call when it is first asked for: importing the course stays fast."""
    if name in _STUDENT_SIDE:
        from .student import magic

        return getattr(magic, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
