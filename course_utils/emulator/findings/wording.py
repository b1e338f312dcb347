"""Threads, lines and numbers of things as reports spell them."""

from __future__ import annotations

from ..isa.location import Location
from .reported_state import Index

DIFFERS = "\n  {condition} is true for some threads of the block and false for others."
ENDS = "\n  {condition} sends some threads on to it, and others to the kernel's end."


def one_condition(places: list[Location]) -> str:
    """The subject of a sentence about a condition that threads find different, if it's at one of
    these places: the program alone doesn't say which of several it was."""
    *others, last = sorted(places, key=lambda at: (at.file, at.line))
    if not others:
        return f"The condition at {last}"
    return f"One of the conditions at {', '.join(map(str, others))} and {last}"


def where(thread: Index, block: Index) -> str:
    """``thread (x, y, z) of block (x, y, z)``."""
    return f"thread {xyz(thread)} of block {xyz(block)}"


def xyz(index: Index) -> str:
    """``(x, y, z)``."""
    return "({}, {}, {})".format(*index)


def shape_text(shape: Index) -> str:
    """A grid or block as CUDA programs write it: ``4``, ``(4, 2)`` or ``(4, 2, 3)``."""
    x, y, z = shape
    return str(x) if y == z == 1 else f"({x}, {y})" if z == 1 else xyz(shape)


def at_line(location: Location | None) -> str:
    """`` at file:line``, with a space before it, "" for an unknown line."""
    return f" at {location}" if location else ""


def plural(count: int, noun: str) -> str:
    """A number of things: ``1 byte``, ``4 bytes``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
