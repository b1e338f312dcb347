"""The notebook cells of an exercise, generated from its spec.

Four cells each: task, starter, hints and solution, each marked by a tag such as
``exercise.04.saxpy.hints``, which the notebooks' canonical form keeps. An author places an exercise
by writing ``{{exercise 04.saxpy}}`` alone into a Markdown cell and running ``python -m course_utils
exercises --write``, which names the exercises that have no such cell. A test holds the notebooks
equal to this module's text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...paths import CHAPTERS
from ...whole_files import write_whole
from .registry import all_exercises
from .spec import BaseExercise

OWN_NUMBERS = "This is the course's own exercise. Your class has other numbers."
PARTS = ("task", "starter", "hints", "solution")
TAG = "exercise."
Version = tuple[Path, dict[str, Any], dict[str, Any]]  # of a notebook: as it is, as it should be
PLACE = re.compile(r"^\{\{exercise ([\w.]+)\}\}$")


def starter_cell(exercise: BaseExercise) -> str:
    """The text of the cell a student edits: the magic line and the starter."""
    return f"%%exercise {exercise.id}\n{exercise.starter}".rstrip()


def part_text(exercise: BaseExercise, part: str) -> str:
    """The source of one generated cell."""
    if part == "task":
        return f"### Exercise {exercise.id}: {exercise.title}\n\n{exercise.task_text}"
    if part == "starter":
        return starter_cell(exercise)
    if part == "hints":
        return "\n\n".join(
            _folded(f"Hint {number}", hint.strip()) for number, hint in enumerate(exercise.hints, 1)
        )
    return _folded("Solution", solution_text(exercise))


def solution_text(exercise: BaseExercise) -> str:
    """The solution with its explanation, in Markdown. A variant shows the course's own."""
    own = exercise.own or exercise
    code = f"```{own.language}\n{own.solution.rstrip()}\n```"
    text = f"{code}\n\n{own.explanation.strip()}"
    return f"{OWN_NUMBERS}\n\n{text}" if exercise.own else text


def cells(exercise: BaseExercise) -> list[dict[str, Any]]:
    """The four cells, in notebook format 4.5."""
    return [_cell(exercise, part) for part in PARTS]


def write_into(notebook: dict[str, Any], exercises: list[BaseExercise]) -> dict[str, Any]:
    """A copy of ``notebook`` in which the cells of ``exercises`` are up to date."""
    kept = list(notebook["cells"])
    for exercise in exercises:
        kept = _place(kept, exercise)
    return {**notebook, "cells": kept}


def notebook_path(exercise: BaseExercise) -> Path:
    """The notebook that has the exercise's cells."""
    return CHAPTERS / f"{exercise.notebook}.ipynb"


def stale_notebooks() -> list[Path]:
    """Notebooks whose exercise cells differ from the generated ones, or that have no place for one.
    Missing notebooks are left out."""
    versions = _versions()
    without_a_place = {notebook_path(exercise) for exercise in _unplaced(versions)}
    return [path for path, old, new in versions if old != new or path in without_a_place]


def unplaced() -> list[BaseExercise]:
    """Exercises whose notebook exists and has neither their cells nor their mark."""
    return _unplaced(_versions())


def _unplaced(versions: list[Version]) -> list[BaseExercise]:
    in_notebooks = {
        path: {_part(cell)[0] or _mark(cell) for cell in old["cells"]} for path, old, _ in versions
    }
    return [
        exercise
        for exercise in all_exercises()
        if exercise.id not in in_notebooks.get(notebook_path(exercise), {exercise.id})
    ]


def write_notebooks() -> list[Path]:
    """Bring every notebook up to date, and return those that changed."""
    import nbformat  # slow to import, and no student needs it

    from ...notebooks import canonical

    changed = []
    for path, old, new in _versions():
        if old != new:
            node = canonical.canonical(nbformat.from_dict(new))
            write_whole(path, canonical.dumps(node))
            changed.append(path)
    return changed


def _versions() -> list[Version]:
    """Each notebook with exercises: its path, its cells, and the cells that it should have."""
    by_path: dict[Path, list[BaseExercise]] = {}
    for exercise in all_exercises():
        by_path.setdefault(notebook_path(exercise), []).append(exercise)
    found = []
    from ...notebooks import canonical

    for path, exercises in by_path.items():
        if path.exists():
            notebook = canonical.read(path.read_text(encoding="utf-8"))
            found.append((path, notebook, write_into(notebook, exercises)))
    return found


def _place(old: list[dict[str, Any]], exercise: BaseExercise) -> list[dict[str, Any]]:
    """Put each part where it is. Parts that are missing follow the one before, or the mark. An
    exercise that has neither is left out."""
    new = {part: _cell(exercise, part) for part in PARTS}
    present = [_part(cell)[1] for cell in old if _part(cell)[0] == exercise.id]
    result: list[dict[str, Any]] = []
    for cell in old:
        name, part = _part(cell)
        if name == exercise.id:
            result.append(_updated(cell, new[part]))
        elif _mark(cell) == exercise.id:
            result += [new[part] for part in PARTS if part not in present]
            present += PARTS
        else:
            result.append(cell)
    for number, part in enumerate(PARTS if present else ()):
        if part not in present:
            own = [i for i, cell in enumerate(result) if _part(cell)[0] == exercise.id]
            after = [i + 1 for i in own if _is_before(result[i], exercise.id, number)]
            result.insert(after[-1] if after else own[0], new[part])
    return result


def _updated(cell: dict[str, Any], fresh: dict[str, Any]) -> dict[str, Any]:
    """``cell`` with the fresh text, or itself where nothing changed, so that writing twice is
    safe."""
    if "".join(cell["source"]) == "".join(fresh["source"]):
        return cell
    return {**cell, "source": fresh["source"]}


def _is_before(cell: dict[str, Any], name: str, number: int) -> bool:
    return _part(cell)[0] == name and PARTS.index(_part(cell)[1]) < number


def _part(cell: dict[str, Any]) -> tuple[str, str]:
    """The exercise and the part a cell belongs to, two empty strings for any other cell."""
    for tag in cell.get("metadata", {}).get("tags", ()):
        if tag.startswith(TAG):
            name, _, part = tag.removeprefix(TAG).rpartition(".")
            return name, part
    return "", ""


def _mark(cell: dict[str, Any]) -> str:
    found = (
        PLACE.match("".join(cell["source"]).strip()) if cell["cell_type"] == "markdown" else None
    )
    return found.group(1) if found else ""


def _cell(exercise: BaseExercise, part: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": "code" if part == "starter" else "markdown",
        "id": re.sub(r"[^A-Za-z0-9]", "-", f"exercise-{exercise.id}-{part}"),
        "metadata": {"tags": [f"{TAG}{exercise.id}.{part}"]},
        "source": part_text(exercise, part),
    }
    if part == "starter":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
