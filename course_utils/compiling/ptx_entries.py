"""Which kernels a piece of compiled CUDA C++ holds, by the names that its author gave them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENTRY = re.compile(r"^\s*(?:\.(?:visible|weak)\s+)?\.entry\s+([\w$]+)", re.M)


def entry_names(ptx: str, known: Iterable[str] = ()) -> dict[str, str]:
    """The symbol of every kernel, by name: ``scale``, or ``mine::scale`` in a namespace.

    Symbols that are ``known`` and instances of templates are left out: a name expression leads to
    them. Where kernels have one name and differ by their parameters, each is called by its symbol.
    """
    by_name: dict[str, list[str]] = {}
    for symbol in _ENTRY.findall(ptx):
        name = _name_of(symbol)
        if symbol not in known and name:
            by_name.setdefault(name, []).append(symbol)
    alone = {name: symbols[0] for name, symbols in by_name.items() if len(symbols) == 1}
    several = [symbol for symbols in by_name.values() if len(symbols) > 1 for symbol in symbols]
    return alone | {symbol: symbol for symbol in several}


def own_name_of_symbol(symbol: str) -> str | None:
    """The name of the kernel itself in a mangled symbol, None for a template's instance."""
    name = _name_of(symbol) if symbol.startswith("_Z") else None
    return name.rpartition("::")[2] if name else None


def _name_of(symbol: str) -> str | None:
    if not symbol.startswith("_Z"):
        return symbol
    rest, parts = symbol[2:].removeprefix("L"), []
    nested = rest.startswith("N")
    rest = rest.removeprefix("N")
    while match := re.match(r"L?(\d+)", rest):
        size, start = int(match[1]), match.end()
        parts.append(rest[start : start + size])
        rest = rest[start + size :]
        if not nested:
            break
    if not parts or rest.startswith("I"):
        return None
    return "::".join(part for part in parts if not part.startswith("_GLOBAL__N"))
