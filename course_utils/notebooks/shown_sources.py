"""Which code cells show a source or name its lines, so that comments and blank lines count there.

A cell does by a call of ``show``, ``trace`` or the like, and by using what an earlier cell got from
such a call: a function that shows a kernel, a report with lines. To import such a name, or to
define such a function, shows nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode

from .cell_dependencies import FUNCTIONS, MAGIC_LINE, free_names, names_of, root_name, with_bodies
from .cells import ERROR_TAG, tags

# What brings a source's text, its line numbers or both.
NAMES = frozenset(
    ("CompileError", "LaunchFault", "getsource", "open", "print_exc", "run_cuda", "sanitize")
    + ("show", "step", "trace")
)
ATTRIBUTES = frozenset(
    ("access", "by_line", "getsource", "lines", "print_exc", "read_text", "source")
)
LOADS = re.compile(r"load|cp\.RawModule")
NEEDS = "%%needs"
BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def showing(cells: Iterable[NotebookNode]) -> list[bool]:
    """For each of ``cells``, in order, whether a comment in a source may change its outputs."""
    shown = _Shown()
    return [shown.by(cell.source) or ERROR_TAG in tags(cell) for cell in cells]


class _Shown:
    """The names that hold something shown, after the cells so far: a source, a report on one, or a
    function that shows one."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.imported: set[str] = set()
        self.made: set[str] = set()  # by the notebook itself: its own `step` shows nothing
        self.bodies: dict[str, set[str]] = {}
        self.found = False

    def by(self, source: str) -> bool:
        """Whether the next cell, with this ``source``, shows."""
        own = names_of(source)
        self.bodies |= own.bodies
        code = source.lstrip()
        if code.startswith(NEEDS):
            code = code.partition("\n")[2]
        if own.opaque or code.startswith("%%"):
            self.found = own.opaque or "expect=" in code.partition("\n")[0]  # a fault has a line
            self._keep(own.bound, set(), self.found)
        else:
            self.found = False
            tree = ast.parse(MAGIC_LINE.sub("pass", code))
            self.made |= set(_made(tree))
            self._run(tree.body)
        return self.found

    def _run(self, statements: Iterable[ast.AST]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                names = {
                    (alias.asname or alias.name).partition(".")[0]: alias.name
                    for alias in statement.names
                }
                self.imported |= names.keys()
                self.names -= names.keys()
                self.names |= {name for name, first in names.items() if first in NAMES}
            elif isinstance(statement, (*FUNCTIONS[:2], ast.ClassDef)):
                self._keep({statement.name}, set(), self._show([statement]))
                self.found |= self._show(statement.decorator_list)
            else:
                self._run_with_blocks(statement)

    def _run_with_blocks(self, statement: ast.AST) -> None:
        """A statement's own expressions, then its blocks: twice, since a loop comes back."""
        blocks = [part for name in BLOCKS for part in getattr(statement, name, ())]
        own = [child for child in ast.iter_child_nodes(statement) if child not in blocks]
        shows, loads = self._show(own), _loads(statement)
        # A text from an earlier cell is compiled here: its comments are gone.
        self.found |= shows and not (loads and _shows_nothing_itself(own))
        self._keep(set(_bound(statement)), set(_changed(statement)), shows and not loads)
        for _ in range(2):
            self._run(blocks)

    def _show(self, nodes: Iterable[ast.AST]) -> bool:
        shown = (NAMES - (self.made - self.imported)) | self.names
        return any(
            _attributes(node) & ATTRIBUTES or with_bodies(_used(node), self.bodies) & shown
            for node in nodes
        )

    def _keep(self, bound: set[str], changed: set[str], shows: bool) -> None:
        if shows:
            self.names |= (bound | changed) - self.imported
        else:
            self.names -= bound


def _shows_nothing_itself(nodes: Iterable[ast.AST]) -> bool:
    return not any(_attributes(node) & ATTRIBUTES or _used(node) & NAMES for node in nodes)


def _attributes(node: ast.AST) -> set[str]:
    return {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _used(node: ast.AST) -> set[str]:
    """The names that ``node`` reads."""
    loaded = {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
    }
    return loaded.intersection(free_names(node, frozenset()))


def _made(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS[:2]):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that are not in its blocks."""
    blocks = [part for name in BLOCKS for part in getattr(statement, name, ())]
    for child in ast.iter_child_nodes(statement):
        if child not in blocks:
            yield from ast.walk(child)


def _bound(statement: ast.AST) -> Iterator[str]:
    if isinstance(statement, ast.ExceptHandler) and statement.name:
        yield statement.name
    for node in _own_nodes(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _changed(statement: ast.AST) -> Iterator[str]:
    """The names that a statement changes: by a method, or by setting an element or attribute."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        yield root_name(call.func)
    for node in _own_nodes(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield root_name(node)


def _loads(statement: ast.AST) -> bool:
    """Whether a statement assigns a kernel, made from a source or not: its results show nothing."""
    value = getattr(statement, "value", None)
    while isinstance(value, ast.Call | ast.Attribute):
        if getattr(value, "attr", None) in ATTRIBUTES:  # load(file).source is no kernel
            return False
        inner = value.func if isinstance(value, ast.Call) else value.value
        if isinstance(inner, ast.Name | ast.Attribute) and LOADS.fullmatch(ast.unparse(inner)):
            return True
        value = inner
    return False
