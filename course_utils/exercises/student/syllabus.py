"""What each notebook teaches, beside the exercises that show it: a matrix for a syllabus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...notebooks.canonical import read_file
from ...notebooks.drawn_cells import TIME_AND_NEEDS
from ...paths import notebook_name
from ...text_tables import markdown_table
from ..authoring.registry import all_exercises

_ITEM = re.compile(r"^[-*] (.+(?:\n {2,}.+)*)", re.M)


def matrix(paths: Iterable[Path]) -> str:
    """A Markdown table with a row per notebook: its outcomes, and its exercises by id and title."""
    by_notebook: dict[str, list[str]] = {}
    for exercise in all_exercises():
        by_notebook.setdefault(exercise.notebook, []).append(f"`{exercise.id}` {exercise.title}")
    rows = [
        (name, "<br>".join(outcomes(path)), "<br>".join(by_notebook.get(name, [])))
        for path in paths
        for name in [notebook_name(path)]
    ]
    return markdown_table("notebook|you can|exercises", rows) + "\n"


def outcomes(path: Path) -> Iterator[str]:
    """The lines of a notebook's list "At the end of this notebook you can"."""
    first: str = read_file(path).cells[0].source
    _, _, text = first.partition("you can\n")
    for found in _ITEM.finditer(TIME_AND_NEEDS.split(text)[0]):
        yield " ".join(found[1].split()).rstrip(";,.")
