"""The map of the course, made from the notebooks on the reader's disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import LessonError
from ..paths import notebook_cells, notebook_files
from ..text_tables import markdown_table


def chapter_map() -> Any:
    """A table of all chapters and notebooks, with links from the folder of the notebook that asks.

    Returns IPython's Markdown object.
    """
    from IPython.display import Markdown

    rows = [
        (book.parent.name, f"[{_title(book)}]({Path(os.path.relpath(book)).as_posix()})")
        for book in notebook_files()
    ]
    return Markdown(markdown_table("chapter|notebook", rows))


def _title(book: Path) -> str:
    """The notebook's first heading; the name of its file where it has none, or can't be read."""
    with suppress(LessonError, IndexError):
        source: str = notebook_cells(book)[0]["source"]
        return source.splitlines()[0].lstrip("# ")
    return book.name
