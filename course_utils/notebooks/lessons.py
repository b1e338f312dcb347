"""The course's notebooks as data: the one list that pages, paths and commands are drawn from.

A notebook says in its metadata how long it takes and which notebooks it needs::

    "course": {"minutes": [45, 30],
               "needs": {"06_matmul_and_fft/02_naive_to_shared": "",
                         "04_first_kernels/05_coalescing_and_transpose": "bank conflicts"}}

The first number is the minutes to read and run it, the second is for its exercises. A need may name
the part of the other notebook that it means.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..errors import LessonError
from ..paths import ROOT, chapter_title, is_numbered, notebook_files, unreadable

FIELD = "course"  # of the notebook's metadata
# A paragraph of the first cell and the last line of the last one are drawn from the list.
TIME_AND_NEEDS = re.compile(r"^It takes about .*?(?=\n[ \t]*\n|\Z)", re.M | re.S)
NEXT = re.compile(r"^\*\*Next: \[[^\n]*\Z", re.M)


@dataclass(frozen=True)
class Lesson:
    """One notebook: its file, its title and its minutes.

    ``needs`` has the name of each notebook that it needs, with the part that it needs, or "".
    """

    path: Path
    title: str
    reading: int
    exercises: int
    needs: dict[str, str]

    @property
    def name(self) -> str:
        """``04_first_kernels/01_hello_threads``."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def number(self) -> str:
        """``04/01``."""
        return f"{self.path.parent.name[:2]}/{self.path.name[:2]}"

    @property
    def minutes(self) -> int:
        """To read and run it and to do its exercises."""
        return self.reading + self.exercises


@dataclass(frozen=True)
class Chapter:
    """A chapter: its folder, the title of its page (``04 First kernels``), and its lessons."""

    folder: Path
    title: str
    lessons: tuple[Lesson, ...]

    @property
    def minutes(self) -> int:
        """To read and run all of it and to do its exercises."""
        return sum(each.minutes for each in self.lessons)

    @property
    def hours(self) -> str:
        """The same in hours and half hours, at least half an hour: ``9½``."""
        return in_hours(self.minutes)


def in_hours(minutes: int) -> str:
    """Minutes in hours and half hours, at least half an hour: ``9½``."""
    whole, half = divmod(max(1, round(minutes / 30)), 2)
    return f"{whole or ''}{'½' * half}"


def chapters(root: Path = ROOT) -> list[Chapter]:
    """Every chapter of the course, in reading order."""
    found: dict[Path, list[Lesson]] = {}
    for each in lessons(root):
        found.setdefault(each.path.parent, []).append(each)
    return [Chapter(folder, chapter_title(folder), tuple(own)) for folder, own in found.items()]


def lessons(root: Path = ROOT) -> list[Lesson]:
    """Every notebook of the course, in reading order. One that can't be read has the name of its
    file for a title."""
    return [_lesson_or_name(path) for path in notebook_files(root)]


def lesson(path: Path) -> Lesson:
    """The notebook at ``path``. One without metadata takes no time and needs nothing.

    Raises LessonError where it can't be read.
    """
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
        first = "".join(book["cells"][0]["source"]) if book["cells"] else ""
        return of_notebook(path, book.get("metadata", {}), first)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LessonError(unreadable(path, error)) from None


def _lesson_or_name(path: Path) -> Lesson:
    try:
        return lesson(path)
    except LessonError:
        return Lesson(path, path.name, 0, 0, {})


def of_notebook(path: Path, metadata: dict[str, Any], first: str) -> Lesson:
    """The lesson of a notebook with this ``metadata``, whose first cell is ``first``."""
    own = metadata.get(FIELD, {})
    reading, exercises = own.get("minutes", (0, 0))
    heading = first.splitlines()[0].lstrip("# ").strip() if first.strip() else ""
    return Lesson(path, heading or path.name, reading, exercises, dict(own.get("needs", {})))


def as_listed(nb: NotebookNode, path: Path, root: Path = ROOT) -> NotebookNode:
    """A copy of ``nb``, the notebook at ``path``, that agrees with the list of lessons.

    The first cell has its time and its needs, the last line leads to the next notebook. A notebook
    that isn't one of the course's stays as it is.

    Raises LessonError for a need that no notebook has the name of.
    """
    nb = nbformat.from_dict(nb)
    ours = is_numbered(path) and path.is_relative_to(root / "chapters")
    if not ours or not nb.cells:
        return nb
    first, last = nb.cells[0], nb.cells[-1]
    own = of_notebook(path, nb.metadata, first.source)
    if FIELD in nb.metadata:
        text = time_and_needs(own, {each.name: each for each in lessons(root)})
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
