"""Names of variables in mangled symbols."""

from __future__ import annotations

import re


def readable_name(symbol: str) -> str:
    """The variable's own name in a mangled symbol: ``_ZZ5tiledE2As`` is ``As``."""
    if not symbol.startswith("_Z"):
        return symbol
    best = symbol
    for match in re.finditer(r"\d+", symbol):
        length, start = int(match[0]), match.end()
        tail = symbol[start + length :]
        if symbol[start : start + length].isidentifier() and re.fullmatch(r"E?(_\d+)?", tail):
            best = symbol[start : start + length]
    return best
