"""Exercises: specs beside the chapters, starters and solutions from one source, a runner that
classifies mistakes, hints and progress."""

from __future__ import annotations

from typing import Any

__all__ = ["answer", "hint", "progress", "reset", "restore", "solution"]


def progress() -> Any:
    """Where you are in the course: done, attempted and next, by chapter."""
    from .student.saved_answers import progress as overview

    return overview()


def __getattr__(name: str) -> Any:
    """Load what students call when it is first asked for: importing the course stays fast."""
    if name in __all__:
        from .student import magic

        return getattr(magic, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
