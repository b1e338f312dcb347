"""Parts of a source or of an output that a verdict has room for."""

from __future__ import annotations

from collections.abc import Iterable

from ..compiling.source_text import WIDEST, shortened


def source_excerpt(source: str, lines: Iterable[int], around: int = 1) -> str:
    """The named lines (1-based) and their neighbours, each named line marked by an arrow."""
    text = source.splitlines()
    marked = {line for line in lines if 1 <= line <= len(text)}
    shown = {
        near
        for line in marked
        for near in range(line - around, line + around + 1)
        if 1 <= near <= len(text) and (near == line or text[near - 1].strip())
    }
    rows, last = [], 0
    for line in sorted(shown):
        if last and line > last + 1:
            rows.append("     ...")
        words = shortened(text[line - 1])
        rows.append(f"{'->' if line in marked else '  '} {line:3} | {words}".rstrip())
        last = line
    return "\n".join(rows)


def clip(text: str, lines: int, characters: int, width: int = WIDEST) -> str:
    """At most so many lines and characters, and a word about what was left out."""
    rows = text.splitlines()
    kept = "\n".join(row[:width] for row in rows[:lines])[:characters]
    left = len(rows) - len(kept.splitlines())
    return f"{kept}\n... and {left} more lines" if left > 0 else kept
