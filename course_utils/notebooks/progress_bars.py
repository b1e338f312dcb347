"""Progress on a terminal: a bar where rich is installed, plain lines otherwise and in a file."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Plain:
    """One line a notebook: its name when it starts, its verdict when it is done."""

    def start(self, label: str) -> None:
        """Name the notebook that runs now."""
        print(f"{label} …", flush=True)

    def advance(self) -> None:
        """A cell has run: a line of text has nothing to add."""

    def verdict(self, verdict: str, text: str) -> None:
        """Print a notebook's ``verdict``, "PASS" or "FAIL", and ``text`` about it."""
        print(f"{verdict}  {text}", flush=True)

    def detail(self, text: str) -> None:
        """Print ``text`` indented, below the last verdict."""
        print(textwrap.indent(text, " " * 6), flush=True)


class Bar:
    """A bar over the cells of all notebooks, with the verdicts above it."""

    COLOURS = {"PASS": "green", "FAIL": "bold red"}

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self.bar, self.task = bar, task

    def start(self, label: str) -> None:
        """Name the notebook that runs now."""
        self.bar.update(self.task, description=label)

    def advance(self) -> None:
        """A cell has run: move the bar on."""
        self.bar.advance(self.task)

    def verdict(self, verdict: str, text: str) -> None:
        """Print a notebook's ``verdict``, "PASS" or "FAIL", and ``text`` about it."""
        from rich.text import Text

        self.bar.console.print(Text.assemble((verdict, self.COLOURS[verdict]), f"  {text}"))

    def detail(self, text: str) -> None:
        """Print ``text`` indented, below the last verdict."""
        from rich.text import Text

        self.bar.console.print(Text(textwrap.indent(text, " " * 6)))


@contextlib.contextmanager
def progress_bar(cells: int) -> Iterator[Plain | Bar]:
    """A reporter for a run of ``cells`` code cells."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed
    except ImportError:
        yield Plain()
        return
    if not sys.stdout.isatty():
        yield Plain()
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed()
    with Progress(*columns, transient=True) as bar:
        yield Bar(bar, bar.add_task("", total=cells))
