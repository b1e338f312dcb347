"""What the exercises of several notebooks of chapter 07 share."""

from __future__ import annotations

from typing import Any

from course_utils.exercises.authoring.method import Requirement


def most_read(label: str, *, at_most: int, advice: str, size: Any) -> Requirement:
    """The bytes that one thread loads from global memory, in the launch and by the thread where
    they are most: a search by halving reads few."""
    return Requirement(
        label,
        lambda stats: max(int(threads.loaded.max()) for threads in stats.threads),
        at_most=at_most,
        advice=advice,
        size=size,
    )
