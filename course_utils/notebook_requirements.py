"""The needs of whole notebooks, for ``doctor`` and the README."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import LessonError
from .needs import SKIPPED, lacking, missing, skip_line, tokens_of
from .paths import ROOT, notebook_cells, notebook_files, notebook_name


@dataclass(frozen=True)
class NotebookNeeds:
    """For each code cell of a notebook the tokens it needs (most need none). ``problem`` says why
    they can't be read."""

    path: Path
    cells: tuple[tuple[str, ...], ...]
    problem: str = ""

    @property
    def name(self) -> str:
        """``04_first_kernels/01_hello_threads``."""
        return notebook_name(self.path)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token once, in the order of the cells."""
        return tuple(dict.fromkeys(token for cell in self.cells for token in cell))

    @property
    def skipped(self) -> int:
        """How many code cells this machine would skip."""
        return sum(bool(missing(cell)) for cell in self.cells)

    def verdict(self) -> str:
        """ "runs here", or the cells that are left out and why."""
        if self.problem:
            return self.problem
        words = missing(self.tokens)
        if not words:
            return "runs here"
        cells = "1 cell" if self.skipped == 1 else f"{self.skipped} of {len(self.cells)} cells"
        return f"runs here but for {cells}: {skip_line(words).removeprefix(SKIPPED).rstrip('.')}"


def notebook_needs(path: Path) -> NotebookNeeds:
    """Read a notebook's ``%%needs`` lines, without starting a kernel."""
    try:
        sources = [
            cell["source"] for cell in notebook_cells(path) if cell.get("cell_type") == "code"
        ]
        cells = tuple(tuple(tokens_of(source.splitlines()) or ()) for source in sources)
        missing(token for cell in cells for token in cell)
    except LessonError as error:
        return NotebookNeeds(path, (), str(error))
    return NotebookNeeds(path, cells)


def all_notebooks(root: Path = ROOT) -> list[NotebookNeeds]:
    """Every notebook on disk, in reading order."""
    return [notebook_needs(path) for path in notebook_files(root)]


def wanting(token: str) -> str:
    """ "wanted by 4 cells of 04_first_kernels/09_profiling", from all notebooks. If
    there are many, it has their numbers alone.

    A cell that lacks something else too is not counted: ``token`` alone would not help it.
    """
    words = lacking(token)
    found = {}
    for notebook in all_notebooks():
        cells = sum(token in cell and missing(cell) in ([], [words]) for cell in notebook.cells)
        if cells:
            found[notebook.name] = cells
    if not found:
        return "wanted by no notebook"
    total = sum(found.values())
    where = f"{len(found)} notebooks" if len(found) > 1 else next(iter(found))
    return f"wanted by {total} {'cell' if total == 1 else 'cells'} of {where}"
