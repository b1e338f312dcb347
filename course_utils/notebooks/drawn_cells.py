"""The parts of a notebook that are drawn from the list of lessons: the time and the needs in its
first cell, and the link to the next notebook at its end."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..errors import LessonError
from ..paths import ROOT, is_numbered, notebook_files
from .lessons import LESSON_FIELD, Lesson, lesson, lessons_by_name, of_notebook

# A paragraph of the first cell and the last line of the last one.
TIME_AND_NEEDS = re.compile(r"^It takes about\b.*?(?=\n[ \t]*\n|\Z)", re.M | re.S)
NEXT = re.compile(r"^\*\*Next: \[[^\n]*\Z", re.M)


def as_listed(nb: NotebookNode, path: Path, root: Path = ROOT) -> NotebookNode:
    """A copy of ``nb``, the notebook at ``path``, that agrees with the list of lessons.

    The first cell has its time and its needs, the last line leads to the next notebook. A notebook
    that isn't one of the course's stays as it is.

    Raises LessonError for metadata of another form, and for a need that isn't a notebook's name.
    """
    nb = nbformat.from_dict(nb)
    ours = is_numbered(path) and path.is_relative_to(root / "chapters")
    if not ours or not nb.cells:
        return nb
    first, last = nb.cells[0], nb.cells[-1]
    own = of_notebook(path, nb.metadata, first.source)
    if LESSON_FIELD in nb.metadata:
        text = time_and_needs(own, lessons_by_name(root))
        first.source = TIME_AND_NEEDS.sub(lambda _: text, first.source, count=1)
    if after := [other for other in notebook_files(root) if other > path]:
        line = f"**Next: {_link(own, lesson(after[0]))}**"
        last.source = NEXT.sub(lambda _: line, last.source)
    return nb


def time_and_needs(own: Lesson, known: dict[str, Lesson]) -> str:
    """The paragraph of ``own``'s first cell: its time and its needs, with links.

    Raises LessonError for a need that isn't ``known``.
    """
    parts = [f"It takes about {_time(own.reading)} to read and run"]
    if own.exercises:
        parts.append(f", and the exercises about {_time(own.exercises)} more")
    text = "".join(parts) + "."
    if own.needs:
        if unknown := own.needs.keys() - known.keys():
            names = " and ".join(sorted(unknown))
            raise LessonError(f"{own.name} needs {names}, and no notebook is called that.")
        links = [
            _link(own, known[name]) + (f" ({what})" if what else "")
            for name, what in own.needs.items()
        ]
        text += f" You need {_listed(links)}."
    return text


def _link(own: Lesson, other: Lesson) -> str:
    target = Path(os.path.relpath(other.path, own.path.parent)).as_posix()
    return f"[{other.title}]({target})"


def _listed(items: list[str]) -> str:
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def _time(minutes: int) -> str:
    return "an hour" if minutes == 60 else f"{minutes} minutes"
