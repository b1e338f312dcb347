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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import LessonError
from ..paths import ROOT, chapter_title, notebook_files, notebook_name, shown, unreadable

LESSON_FIELD = "course"  # of the notebook's metadata


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
        return notebook_name(self.path)

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


def lessons_by_name(root: Path = ROOT) -> dict[str, Lesson]:
    """The same by their names: ``04_first_kernels/01_hello_threads``."""
    return {each.name: each for each in lessons(root)}


def lesson(path: Path) -> Lesson:
    """The notebook at ``path``. One without metadata takes no time and needs nothing.

    Raises LessonError where it can't be read.
    """
    try:
        file = path.stat()
    except OSError as error:
        raise LessonError(unreadable(path, error)) from None
    return _lesson(path, file.st_mtime_ns, file.st_size, file.st_ino)


@cache
def _lesson(path: Path, *version: int) -> Lesson:
    """The notebook at ``path``, read once for each ``version`` of its file: notebooks have outputs,
    so all of them together take a second."""
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
    """The lesson of a notebook with this ``metadata``, whose first cell is ``first``.

    Raises LessonError for minutes or needs of another form than above.
    """
    own = metadata.get(LESSON_FIELD, {})
    where = f"{shown(path)}: metadata {LESSON_FIELD}"
    if not isinstance(own, dict):
        raise LessonError(f'{where} must be like {{"minutes": [45, 30], "needs": {{}}}}.')
    minutes, needs = own.get("minutes", [0, 0]), own.get("needs", {})
    if not (isinstance(minutes, list) and [type(each) for each in minutes] == [int, int]):
        raise LessonError(f"{where}.minutes must be two integers in minutes, such as [45, 30].")
    if not (isinstance(needs, dict) and all(isinstance(part, str) for part in needs.values())):
        raise LessonError(
            f"{where}.needs must have a string for each notebook, such as "
            '{"04_first_kernels/06_reductions": "the last block"}, or "" for all of it.'
        )
    heading = first.splitlines()[0].lstrip("# ").strip() if first.strip() else ""
    reading, exercises = minutes
    return Lesson(path, heading or path.name, reading, exercises, dict(needs))
