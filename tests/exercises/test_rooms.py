"""The folders of the exercise checker: each imports only from those before it."""

from __future__ import annotations

import ast

from course_utils.paths import ROOT

EXERCISES = ROOT / "course_utils" / "exercises"
ROOMS = "authoring", "isolation", "judging", "student"


def imported(path) -> set[str]:
    """The folders of the checker that a file imports from, also inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = (
        node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 2
    )
    return {module.partition(".")[0] for module in modules}


def test_every_folder_is_in_the_order():
    assert {path.parent.name for path in EXERCISES.glob("*/__init__.py")} == set(ROOMS)


def test_a_folder_imports_none_that_comes_after_it():
    wrong = [
        f"{path.relative_to(EXERCISES).as_posix()} imports from {other}/"
        for level, room in enumerate(ROOMS)
        for path in (EXERCISES / room).glob("*.py")
        for other in imported(path) & set(ROOMS[level + 1 :])
    ]
    assert not wrong
