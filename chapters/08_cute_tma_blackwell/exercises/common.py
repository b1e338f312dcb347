"""Shared by exercises of several notebooks of this chapter."""

from __future__ import annotations

from typing import Any

from course_utils.exercises.authoring import method
from course_utils.exercises.authoring.method import Requirement


def by_cute(header: str, advice: str, size: Any = None, at_least: float = 1) -> Requirement:
    """Something comes from a header of CuTe's, such as "cute/tensor"."""
    return method.from_header("CuTe", header, at_least=at_least, advice=advice, size=size)


def bytes_a_copy(size: Any = None) -> Requirement:
    """Every ``cp.async`` moves 16 bytes."""
    return Requirement(
        "bytes that a cp.async moves",
        lambda stats: (
            stats.counts.shared_copy_bytes / max(stats.opcodes("cp.async.ca", "cp.async.cg"), 1)
        ),
        at_least=16,
        advice="One `cp.async` of 16 bytes moves four floats: neighbours, from a multiple of 16 "
        "bytes on.",
        size=size,
    )
