"""The map of the course, made from the notebooks on the reader's disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import LessonError
from ..paths import notebook_cells, notebook_files


def chapter_map() -> Any:
    """A table of all chapters and notebooks, with links from the folder of the notebook that asks.

    Returns IPython's Markdown object.
    """
    from IPython.display import Markdown

    rows = ["| chapter | notebook |", "|---|---|"]
    for book in notebook_files():
        link = Path(os.path.relpath(book)).as_posix()
        rows.append(f"| {book.parent.name} | [{_title(book)}]({link}) |")
    return Markdown("\n".join(rows))


def _title(book: Path) -> str:
    """The notebook's first heading; the name of its file where it has none, or can't be read."""
    with suppress(LessonError, IndexError):
        source: str = notebook_cells(book)[0]["source"]
        return source.splitlines()[0].lstrip("# ")
    return book.name
