"""The map of the course, made from the notebooks on the reader's disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .lessons import Chapter, Lesson, chapters


def chapter_map() -> Any:
    """All chapters, folded, with their notebooks, the minutes of each, and links from the folder of
    the notebook that asks.

    Returns IPython's Markdown object.
    """
    from IPython.display import Markdown

    return Markdown("\n".join(map(_folded, chapters())))


def _folded(chapter: Chapter) -> str:
    count = len(chapter.lessons)
    many = f"{count} notebooks" if count > 1 else "1 notebook"
    title = f"<summary><b>{chapter.title}</b>: {many}, {chapter.hours} h</summary>"
    page = Path(os.path.relpath(chapter.folder / "README.md")).as_posix()
    rows = "\n".join([f"- [About this chapter]({page})", *map(_row, chapter.lessons)])
    return f"<details>\n{title}\n\n{rows}\n\n</details>"


def _row(lesson: Lesson) -> str:
    target = Path(os.path.relpath(lesson.path)).as_posix()
    minutes = f" ({lesson.minutes} min)" if lesson.minutes else ""
    return f"- [{lesson.title}]({target}){minutes}"
