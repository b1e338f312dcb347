"""Names of variables and functions in mangled symbols."""

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


def function_name(symbol: str) -> str:
    """The name of a function in a mangled symbol, without its parameters: ``_ZN1a4helpEf`` is
    ``a::help``. Any other symbol as it is."""
    nested = re.match(r"_ZN?K?", symbol)
    if nested is None:
        return symbol
    parts, at = list[str](), nested.end()
    while found := re.compile(r"\d+").match(symbol, at):
        at = found.end() + int(found[0])
        parts.append(symbol[found.end() : at])
        if symbol[2:3] != "N":
            break
    return "::".join(parts) or symbol
