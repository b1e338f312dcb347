"""Whatever a verdict or the text tells a reader to call is imported in that notebook, and works."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from nbformat import NotebookNode

import course_utils
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.notebooks.canonical import read
from course_utils.notebooks.cells import find, is_exercise, numbered
from course_utils.notebooks.rules import IMPORT
from course_utils.paths import ROOT, shown

# The first notebook teaches these for every exercise; no verdict has to repeat them.
TAUGHT = {'hint("{id}")', 'solution("{id}")', 'reset("{id}")'}
ROOMS = ("exercises", "checking", "observing", "launching", "compiling", "devices", "emulator")
CALL = re.compile(r'\b([a-z_]+)\("?\{[\w.]*id\}"?\)')
IN_CODE = re.compile(r"`([a-z_]+)\([^`]*\)[^`]*`")
BOOKS = find([])


def texts(file: Path) -> list[str]:
    """The texts in a module, an f-string as it is written; no docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found.append(ast.unparse(node))
        elif isinstance(getattr(node, "value", None), str) and id(node) not in told:
            found.append(node.value)
    return found


@cache
def suggestions() -> frozenset[str]:
    """What verdicts tell a student to call about an exercise, with ``{id}`` for its name."""
    files = [file for room in ROOMS for file in (ROOT / "course_utils" / room).rglob("*.py")]
    calls = {name for file in files for text in texts(file) for name in CALL.findall(text)}
    return frozenset(TAUGHT | {f'{name}("{{id}}")' for name in calls if is_public(name)})


def is_public(name: str) -> bool:
    return name in course_utils.__all__


def told_to_call(nb: NotebookNode) -> set[str]:
    """The names of ours that the Markdown writes as a call."""
    markdown = "\n".join(cell.source for _, cell in numbered(nb, "markdown"))
    return set(filter(is_public, IN_CODE.findall(markdown)))


def has_exercises(nb: NotebookNode) -> bool:
    return any(is_exercise(cell) for _, cell in numbered(nb, "code"))


def imported_first(nb: NotebookNode) -> set[str]:
    """The names of ours imported before the first exercise, or anywhere if there is none."""
    names: set[str] = set()
    for _, cell in numbered(nb, "code"):
        if is_exercise(cell):
            break
        for _, listed in IMPORT.findall(cell.source):
            names |= set(re.findall(r"\w+", listed))
    return names


def test_a_suggestion_of_a_verdict_is_seen():
    assert {'solution("{id}")', 'reset("{id}")'} <= suggestions()


@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_what_the_reader_is_told_to_call_is_imported_before_the_first_exercise(path):
    nb = read(path.read_text(encoding="utf-8"))
    wanted = told_to_call(nb)
    if has_exercises(nb):
        wanted |= {name.partition("(")[0] for name in suggestions()}
    absent = sorted(wanted - imported_first(nb))
    assert not absent, f"{shown(path)}: import {', '.join(absent)} from course_utils"


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.id)
def test_what_a_verdict_suggests_answers(exercise, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    names = {name: getattr(course_utils, name) for name in course_utils.__all__}
    for call in sorted(suggestions()):
        assert str(eval(call.replace("{id}", exercise.id), dict(names))).strip()
