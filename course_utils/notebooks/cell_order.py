"""Which earlier cells a code cell builds on, read from the names in them.

A name that a cell imports, assigns or defines is *bound* there. A cell builds on every earlier cell
that binds or mentions one of its names, since a mention may change the value (``x[0] = 1``, a
launch that writes to ``x``); of a name that was imported, only on the import. A function brings
along the names in its body.
"""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass, field

from nbformat import NotebookNode

from ..needs import INTO

BUILT_IN = frozenset(dir(builtins))
MAGIC_LINE = re.compile(r"^\s*[%!].*$", re.M)


@dataclass
class Names:
    """The names in a cell. ``opaque``: it can't be read as Python, so it may use and change any."""

    imported: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    bodies: dict[str, set[str]] = field(default_factory=dict)  # of functions defined here
    opaque: bool = False


def names_of(source: str) -> Names:
    """The names in a cell with this ``source``."""
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%") and not first.startswith("%%needs"):
        into = INTO.match(first)
        return Names(others={into[1]} if into else set(), opaque=not first.startswith("%%c"))
    code = rest if first.startswith("%%needs") else source
    try:
        tree = ast.parse(MAGIC_LINE.sub("pass", code))
    except SyntaxError:
        return Names(opaque=True)
    found = Names()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imported |= {
                (alias.asname or alias.name).partition(".")[0] for alias in node.names
            }
        elif isinstance(node, ast.Name):
            found.others.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.others.add(node.name)
            found.bodies[node.name] = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    found.others -= found.imported | BUILT_IN
    return found


def built_on(cells: list[NotebookNode]) -> list[list[int]]:
    """For each of ``cells`` the positions of the earlier ones that it builds on, directly."""
    known = [names_of(cell.source) for cell in cells]
    return [_built_on(known, position) for position in range(len(cells))]


def _built_on(known: list[Names], position: int) -> list[int]:
    own, before = known[position], known[:position]
    if own.opaque:
        return list(range(position))
    wanted = own.others | own.imported
    bodies = {name: body for each in before for name, body in each.bodies.items()}
    while more := {n for name in wanted & bodies.keys() for n in bodies[name]} - wanted:
        wanted |= more
    imports = {name: at for at, each in enumerate(before) for name in each.imported}
    found = {imports[name] for name in wanted & imports.keys()}
    values = wanted - imports.keys()
    found |= {at for at, each in enumerate(before) if each.opaque or each.others & values}
    return sorted(found)
