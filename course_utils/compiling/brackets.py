"""Brackets in a text: the part inside a pair, and the commas outside all of them."""

from __future__ import annotations

CLOSERS = {"(": ")", "<": ">", "[": "]", "{": "}"}


def balanced(text: str, start: int, opening: str = "(") -> tuple[str, int]:
    """The text up to the bracket that closes the ``opening`` one before ``start``, and the position
    after it. All the rest where nothing closes it."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == opening) - (text[position] == CLOSERS[opening])
        if depth == 0:
            return text[start:position], position + 1
    return text[start:], len(text)


def split_at_commas(text: str) -> list[str]:
    """``text`` cut at the commas outside every kind of bracket, without empty parts."""
    parts, depth, last = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in CLOSERS) - (character in CLOSERS.values())
        if character == "," and depth == 0:
            parts.append(text[last:position])
            last = position + 1
    return [part.strip() for part in (*parts, text[last:]) if part.strip()]
