"""The table of a chapter's exercises in its README, drawn from their pages."""

from __future__ import annotations

from pathlib import Path

from ...paths import CHAPTERS, shown
from ...text_tables import between_marks, markdown_table
from ...whole_files import write_whole
from .registry import all_exercises
from .spec import BaseExercise

MARKS = "<!-- exercises -->\n", "<!-- end of exercises -->"


def table(exercises: list[BaseExercise]) -> str:
    """The rows of ``exercises``: id, number of the notebook, title."""
    rows = ((f"`{e.id}`", e.notebook.partition("/")[2][:2], e.title) for e in exercises)
    return markdown_table("exercise|notebook|what it is about", rows) + "\n"


def with_table(readme: str, exercises: list[BaseExercise], file: str) -> str:
    """``readme``, the text of ``file``, with the table between its marks. Raises LessonError where
    they are missing."""
    return between_marks(readme, MARKS, table(exercises), file)


def stale_tables() -> dict[Path, str]:
    """The READMEs whose table differs from the pages, with the text that they should have."""
    chapters: dict[str, list[BaseExercise]] = {}
    for exercise in all_exercises():
        chapters.setdefault(exercise.chapter, []).append(exercise)
    found = {}
    for chapter, exercises in chapters.items():
        path = CHAPTERS / chapter / "README.md"
        text = path.read_text(encoding="utf-8")
        new = with_table(text, exercises, shown(path))
        if new != text:
            found[path] = new
    return found


def write_tables() -> list[Path]:
    """Bring every table up to date; returns the READMEs that changed."""
    stale = stale_tables()
    for path, text in stale.items():
        write_whole(path, text)
    return list(stale)
