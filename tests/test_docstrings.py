"""Every public module, class, function and method of the package says what it does."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import course_utils

PACKAGE = Path(course_utils.__file__).parent

Definition = ast.ClassDef | ast.FunctionDef


def definitions(
    body: list[ast.stmt], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Definition]]:
    """(path of names, node) of what a module or a class defines under a public name."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            yield (*above, node.name), node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, (*above, node.name))
        elif isinstance(node, ast.If):
            yield from definitions([*node.body, *node.orelse], above)


def is_declaration(node: Definition) -> bool:
    """Whether it is a line of a protocol, ``def name(self): ...``: its class says what is meant."""
    return [ast.unparse(statement) for statement in node.body] == ["..."]


def is_inherited(path: Path, names: tuple[str, ...]) -> bool:
    """Whether a method has the docstring of the one that it overrides."""
    if len(names) < 2:
        return False
    found = importlib.import_module(
        ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))
    )
    for name in names:
        found = getattr(found, name)
    return bool(inspect.getdoc(found))


def lacking(path: Path) -> list[str]:
    """What has no docstring in a file, as ``file:line name``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    where = path.relative_to(PACKAGE.parent).as_posix()
    found = [] if ast.get_docstring(tree) else [f"{where}:1 the module"]
    for names, node in definitions(tree.body):
        if ast.get_docstring(node) or is_declaration(node) or is_inherited(path, names):
            continue
        found.append(f"{where}:{node.lineno} {'.'.join(names)}")
    return found


def test_every_public_name_has_a_docstring():
    assert not [name for path in sorted(PACKAGE.rglob("*.py")) for name in lacking(path)]


def test_a_missing_docstring_is_seen(tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    text = '"""A module."""\n\n\ndef told():\n    """Says so."""\n\n\ndef untold():\n    return 1\n'
    (package / "some.py").write_text(text + "\n\nclass Silent:\n    value = 1\n")
    (package / "other.py").write_text("value = 1\n")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", package)
    assert lacking(package / "some.py") == ["package/some.py:8 untold", "package/some.py:12 Silent"]
    assert lacking(package / "other.py") == ["package/other.py:1 the module"]
