"""The line that an access belongs to, where the compiler has moved it to another one."""

from __future__ import annotations

import re
from dataclasses import replace

from ...emulator import Finding, Location
from .taken_branches import Index, passed_over

ACCESS = re.compile(r"\[|->|(?<![\w)\]])\s*\*\s*\w")

BEGINS = re.compile(r"\{|\S.*\{\s*$")  # the line with a function's brace


def where_used(finding: Finding, source: str, filename: str) -> Finding:
    """The same finding, with the line of ``source`` that uses its array for a line that accesses
    nothing: a load that is moved out of a loop has no line of its own in PTX, and goes by the one
    before it. The message says so. A finding on any other line is left as it is."""
    name = finding.array
    if not name:
        return finding
    found = finding
    for side in ("location", "other_location"):
        place = getattr(finding, side)
        if place is None or place.file != filename or place.helpers:
            continue
        line = _line_of(source, name, place, *_who(finding, side))
        if line is not None:
            found = _moved(found, side, place, line, name)
    return found


def _moved(finding: Finding, side: str, place: Location, line: int, name: str) -> Finding:
    moved = replace(place, line=line, column=0)
    was, now = re.compile(rf"{re.escape(str(place))}(?!\d)"), str(moved)
    message = was.sub(lambda _: now, finding.message)
    note = f"The compiler has moved this access to line {place.line}. Line {line} uses {name}."
    symptom = was.sub(lambda _: now, finding.symptom)
    told = replace(finding, message=f"{message}\n  {note}", symptom=symptom)
    if side == "location":
        return replace(told, location=moved)
    return replace(told, other_location=moved)


def _who(finding: Finding, side: str) -> tuple[Index | None, Index | None]:
    """The thread of an access, and its block where that is known."""
    if side == "location":
        return finding.thread, finding.block
    return finding.other_thread, None


def _line_of(
    source: str, name: str, place: Location, thread: Index | None, block: Index | None
) -> int | None:
    """The line that uses the array ``name``, for a line that names it not and accesses nothing:
    the next one in the same function, else the last one. For a line of a helper that doesn't use
    the array, the next one after a call of it. None where there is none, or no need."""
    line = place.line
    lines = [re.sub(r"//.*", "", text) for text in source.splitlines()]
    if not 1 <= line <= len(lines) or _names(lines[line - 1], name):
        return None
    if ACCESS.search(lines[line - 1]):
        return None
    first = max((n for n in range(1, line + 1) if BEGINS.match(lines[n - 1])), default=None)
    ends = [n for n in range(line, len(lines) + 1) if lines[n - 1].startswith("}")]
    if first is None or not ends:
        return None
    used = [n for n in range(first, ends[0]) if _uses(lines[n - 1], name)]
    if not used and place.function:
        return _after_call(lines, name, place.function, range(first, ends[0] + 1), thread, block)
    return next((n for n in used if n >= line), used[-1] if used else None)


def _after_call(
    lines: list[str],
    name: str,
    helper: str,
    inside: range,
    thread: Index | None,
    block: Index | None,
) -> int | None:
    """The first line after a call of ``helper`` that uses an array and that the thread may
    come by. ``inside``: the helper's own lines."""
    call = re.compile(rf"(?<![\w.]){re.escape(helper)}\s*\(.*;")
    for start in range(1, len(lines) + 1):
        if start in inside or not call.search(lines[start - 1]):
            continue
        begin = max((n for n in range(1, start) if lines[n - 1].startswith("{")), default=1)
        ends = (n for n in range(start, len(lines) + 1) if lines[n - 1].startswith("}"))
        last = next(ends, len(lines))
        left = passed_over(lines, begin, last, thread, block)
        used = [n for n in range(start, last) if n not in left and _uses(lines[n - 1], name)]
        if used:
            return used[0]
    return None


def _names(text: str, name: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}\b", text))


def _uses(text: str, name: str) -> bool:
    word = re.escape(name)
    used = rf"(?<![\w.]){word}\s*\[|\*\s*\(?\s*{word}\b"
    return "__shared__" not in text and re.search(used, text) is not None
