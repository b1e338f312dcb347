"""Errors deep in a template library, moved to the reader's own line that led there."""

from __future__ import annotations

import re
from pathlib import PurePath

from .brackets import balanced, split_at_commas

# "instantiation of "auto cute::f(...) [with A=..., B=...]" at line 6 of mine.cu"
_INSTANTIATION = re.compile(
    r'instantiation of (?:function )?"(?P<what>.*)" at line (?P<line>\d+)(?: of (?P<file>.*))?'
)
_GIVEN = re.compile(r" \[with (?P<given>.*)\]$")
_NAME = re.compile(r"(\w+)\s*\(")
_ASSERTION = re.compile(r'static assertion failed(?: with "(?P<says>.*)")?')
_NUMBER = re.compile(r"(?:const )?cute::(?:C<(-?\d+)>|_(\d+)|Int<(-?\d+)>)")
LIBRARIES = ("cute/", "cutlass/", "cuda/std/")


def outermost(excerpt: tuple[str, ...], file: str) -> tuple[str, int, str] | None:
    """The call in the reader's own code that failed in ``file``, with its file and line.

    ``excerpt`` holds the rows of one error as NVRTC prints them. None where the error is not in
    a template library, or the rows do not say who called it.
    """
    if not in_library(file):
        return None
    last = None
    where = file
    for row in excerpt:
        found = _INSTANTIATION.search(row.strip())
        if found:
            where = found["file"] or where
            last = where, int(found["line"]), found["what"]
    if last is None or in_library(last[0]):
        return None
    return last[0], last[1], readable_call(last[2])


def in_library(file: str) -> bool:
    """Whether ``file``, as an error names it, is a header of CuTe, CUTLASS or libcu++."""
    path = PurePath(file).as_posix()
    return any(f"/{library}" in f"/{path}" for library in LIBRARIES)


def cause(message: str) -> str:
    """The sentence of a static assertion. Any other message stays as it is."""
    found = _ASSERTION.match(message)
    return (found["says"] or "a static assertion failed") if found else readable_types(message)


def readable_call(what: str) -> str:
    """``complement(Shape = (2,2), CoTarget = 8)`` of a function as the compiler spells it. A call
    of a layout or tensor itself is named after its class."""
    found = _GIVEN.search(what)
    given = [
        f"{part.split('=', 1)[0]} = {readable_types(part.split('=', 1)[1])}"
        for part in split_at_commas(found["given"] if found else "")
        if "=" in part
    ]
    plain = without_brackets(what[: found.start()] if found else what)
    plain = plain.replace("::operator()", "").replace("cute::", "")
    name = _NAME.search(plain)
    return f"{name[1] if name else plain}({', '.join(given)})"


def readable_types(text: str) -> str:
    """CuTe's types of numbers and tuples as numbers and tuples."""
    text = _NUMBER.sub(lambda found: next(part for part in found.groups() if part), text)
    for opening in ("cute::tuple<", "cute::Layout<"):
        while opening in text:
            start = text.index(opening)
            inside, end = balanced(text, start + len(opening), "<")
            parts = split_at_commas(inside)
            shown = ":".join(parts) if "Layout" in opening else f"({','.join(parts)})"
            text = f"{text[:start]}{shown}{text[end:]}"
    return text.replace("cute::", "")


def without_brackets(text: str) -> str:
    """``text`` without its template arguments."""
    kept, depth = [], 0
    for letter in text:
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">"
    return "".join(kept)
