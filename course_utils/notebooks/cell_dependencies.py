"""Which earlier cells a code cell depends on, read from the names in them.

A cell depends on an earlier one that binds or mentions one of its names, since a mention may change
the value: ``x[0] = 1``, a launch that writes to ``x``. A cell that rebinds a name before any use
ends the dependencies before it. A function brings along the names in its body, where it is used. Of
an import only its module counts, not its cell: one more name in a list of imports changes nothing
for others. Cells of ``%%c`` depend on earlier ones that keep files.

Two names of one array are not known to be one: ``y = x; y[0] = 5`` in one cell changes ``x`` for a
later one that mentions ``x`` alone.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

BUILT_IN = frozenset(dir(builtins))
PROGRAMS = ("%%c", "%%cpp", "%%cuda")
MAGIC_LINE = re.compile(r"^[ \t]*([%!].*)$", re.M)
OPTION = re.compile(r"\b(into|file|keep|with)=([\w.,]+)")
KEPT_FILES = "kept files of programs"  # a name for all of them
SETTINGS = re.compile(r"seed|set|update|append|insert|use|config|register|enable")
SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass
class Names:
    """The names in a cell: ``mentioned``, those ``bound``, and of these the ones bound before any
    use, ``rebound``. ``imported``: where each name comes from. ``bodies``: the names in functions
    and classes that are made here. ``opaque``: the cell can't be read, so it may use and change
    any. ``changed``: names whose attributes are set."""

    mentioned: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    imported: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, set[str]] = field(default_factory=dict)
    opaque: bool = False


@dataclass(frozen=True)
class Dependencies:
    """The positions of the earlier cells that a cell depends on, and the imports that it uses."""

    cells: list[int]
    imports: list[str]


def dependencies(cells: list[NotebookNode]) -> list[Dependencies]:
    """The direct dependencies of each of ``cells``."""
    known = [names_of(cell.source) for cell in cells]
    bodies: dict[str, set[str]] = {}
    found = []
    for position, own in enumerate(known):
        bodies |= own.bodies
        own.mentioned = with_bodies(own.mentioned, bodies)
        found.append(_dependencies(own, known[:position]))
    return found


def names_of(source: str) -> Names:
    """The names in a cell with this ``source``."""
    first, _, rest = source.lstrip().partition("\n")
    magic = first.split()[0] if first.startswith("%%") else ""
    if magic in PROGRAMS:
        return _of_program(first, rest)
    if magic and magic != "%%needs":
        return Names(opaque=True)
    code = rest if magic else source
    lines = MAGIC_LINE.findall(code)
    try:
        tree = ast.parse(MAGIC_LINE.sub("pass", code))
    except SyntaxError:
        return Names(opaque=True)
    found = Names(mentioned=set(re.findall(r"[A-Za-z_]\w*", " ".join(lines))) - BUILT_IN)
    if "c_folder" in code or "shell" in code:
        found.mentioned.add(KEPT_FILES)
    for statement in tree.body:
        _add(found, statement)
    return found


def _of_program(first: str, body: str) -> Names:
    options = {key: values.split(",") for key, values in OPTION.findall(first)}
    made = set(options.get("into", ()))
    found = Names(mentioned=set(made), bound=set(made), rebound=set(made))
    if options.keys() - {"into"} or '#include "' in body:
        found.mentioned.add(KEPT_FILES)
    return found


def _add(found: Names, statement: ast.stmt) -> None:
    """Add the names of a statement of a cell to those ``found`` in the ones before it."""
    imports = dict(_imports(statement))
    bound = {*_bound(statement), *imports}
    uses = set(free_names(statement, frozenset())) - BUILT_IN
    loads = {name for name, loaded in _accesses(statement) if loaded}
    found.rebound |= bound - loads - found.mentioned
    found.bound |= bound - imports.keys()
    found.mentioned |= bound | uses
    found.imported |= imports
    for name in bound & found.imported.keys() - imports.keys():
        del found.imported[name]
    found.changed |= set(_changed(statement))
    made = getattr(statement, "value", None)
    if isinstance(statement, FUNCTIONS[:2] + (ast.ClassDef,)):
        found.bodies[statement.name] = uses
    elif isinstance(statement, ast.Assign) and isinstance(made, ast.Lambda):
        found.bodies |= dict.fromkeys(bound, uses)


def _accesses(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """(name, whether it is read) of the names that a statement mentions outside of functions."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield node.id, not isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, True


def free_names(node: ast.AST, local: frozenset[str]) -> Iterator[str]:
    """The names in ``node``, without those bound by comprehensions and functions."""
    if isinstance(node, ast.Name):
        if node.id not in local:
            yield node.id
        return
    if isinstance(node, SCOPES):
        targets = [n for c in node.generators for n in ast.walk(c.target)]
        local |= {n.id for n in targets if isinstance(n, ast.Name)}
    elif isinstance(node, FUNCTIONS):
        arguments = node.args
        for default in (*arguments.defaults, *filter(None, arguments.kw_defaults)):
            yield from free_names(default, local)
        local |= {n.arg for n in ast.walk(arguments) if isinstance(n, ast.arg)}
        if not isinstance(node, ast.Lambda):
            inside = [n for statement in node.body for n in ast.walk(statement)]
            shared = {
                n for s in inside if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names
            }
            stored = (n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            local |= {n.id for n in stored} - shared
    for child in ast.iter_child_nodes(node):
        yield from free_names(child, local)


def _imports(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            place = getattr(statement, "module", None) or ""
            yield (alias.asname or alias.name).partition(".")[0], f"{place} {alias.name}"


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a cell binds whenever it runs, by other means than imports."""
    targets: list[ast.expr] = []
    if isinstance(statement, FUNCTIONS[:2] + (ast.ClassDef,)):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.For):
        targets = [statement.target]
    elif isinstance(statement, ast.With):
        targets = [item.optional_vars for item in statement.items if item.optional_vars]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _changed(statement: ast.stmt) -> Iterator[str]:
    """Names whose attributes a statement sets, by an assignment or a call such as
    ``np.random.seed(0)``: a module's state is shared by all that use it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield root_name(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and SETTINGS.search(function.attr):
                yield root_name(function)


def root_name(node: ast.expr) -> str:
    """``x`` of ``x.y[0].z()``; empty for an expression that doesn't begin with a name."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def with_bodies(names: set[str], bodies: dict[str, set[str]]) -> set[str]:
    """``names``, and those in the functions among them, by ``bodies``."""
    names = set(names)
    while more := {n for name in names & bodies.keys() for n in bodies[name]} - names:
        names |= more
    return names


def _dependencies(own: Names, before: list[Names]) -> Dependencies:
    if own.opaque:
        return Dependencies(list(range(len(before))), [])
    cells = {at for at, each in enumerate(before) if each.opaque or each.changed & own.mentioned}
    imports = set()
    for name in own.mentioned - own.rebound:
        for at in range(len(before) - 1, -1, -1):
            each = before[at]
            if name in each.imported:
                imports.add(each.imported[name])
                break
            if name in each.mentioned and not _is_import_here(name, before[:at], each):
                cells.add(at)
                if name in each.rebound:
                    break
    return Dependencies(sorted(cells), sorted(imports))


def _is_import_here(name: str, before: list[Names], each: Names) -> bool:
    """Whether ``name`` is an import of an earlier cell: then a mention changes nothing."""
    if name in each.bound:
        return False
    for earlier in reversed(before):
        if name in earlier.bound:
            return False
        if name in earlier.imported:
            return True
    return False
