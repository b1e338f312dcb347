"""Connects findings of a launch: an uninitialised element that another thread writes in a race."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .causes import Cause
from .report import DATA_RACE, Finding


def connected(findings: Sequence[Finding]) -> list[Finding]:
    """The same findings, in order. A read of an uninitialised element that races with a write of
    the same array says which thread writes it, and where."""
    races = [f for f in findings if f.kind == DATA_RACE]
    return [_with_writer(f, races) for f in findings]


def _with_writer(finding: Finding, races: Sequence[Finding]) -> Finding:
    read_at = finding.other_location
    if finding.cause != Cause.MEMORY_NOT_INITIALISED or read_at is None:
        return finding
    for race in races:
        sides = (race.location, race.thread), (race.other_location, race.other_thread)
        writers = [side for side in sides if side[0] != read_at]
        if race.array != finding.array or len(writers) != 1:
            continue
        at, thread = writers[0]
        text = (
            f"{finding.message}\n  Thread {thread} writes {race.array}[{race.index}] at {at}, and "
            "nothing orders the two."
        )
        return replace(finding, message=text, cause=Cause.READ_BEFORE_WRITE)
    return finding
