"""Reading a notebook: its cells, its kernels, where it lies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from ..paths import ROOT

EXERCISE = "%%exercise"
NEEDS = "%%needs"
CHECK_TAG = "nbval-check-output"
ERROR_TAG = "raises-exception"
SKIPPED = "Skipped here: "

# "04_first_kernels/threads/vec_add.cu" in any call
CU_LITERAL = re.compile(r"""["']([\w./-]+\.cu)["']""")


@dataclass(frozen=True)
class Violation:
    """One rule broken: in which cell (1-based; 0 for the notebook), what, and what to do."""

    cell: int
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"cell {self.cell}" if self.cell else "notebook"
        return f"{where}: {self.message} → {self.remedy}"


def find(paths: Iterable[str | Path], root: Path = ROOT) -> list[Path]:
    """The notebooks that ``paths`` name, in reading order; all of `chapters/` for no paths.

    A path is a notebook or a folder, searched in depth. :class:`FileNotFoundError` when a path does
    not exist or holds no notebook.
    """
    given = [Path(path) for path in paths]
    if not given:
        return sorted(root.glob("chapters/[0-9][0-9]_*/[0-9][0-9]_*.ipynb"))
    found: list[Path] = []
    for path in given:
        inside = [path] if path.suffix == ".ipynb" and path.is_file() else []
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
        if not inside:
            raise FileNotFoundError(f"{path}: no notebook there; give an .ipynb file or a folder")
        found += [p.resolve() for p in inside]
    return list(dict.fromkeys(found))


def shown(path: Path, root: Path = ROOT) -> str:
    """``path`` as a reader wants it: from the repository's root where it lies inside."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def numbered(nb: NotebookNode, kind: str | None = None) -> Iterator[tuple[int, NotebookNode]]:
    """(1-based position, cell) of every cell, or of those of ``kind`` "code" or "markdown"."""
    for number, cell in enumerate(nb.cells, 1):
        if kind is None or cell.cell_type == kind:
            yield number, cell


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def is_exercise(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.source.lstrip().startswith(EXERCISE)


def kernels_named(nb: NotebookNode) -> list[str]:
    """The .cu files that code cells name, each once, in order of appearance."""
    names = (name for _, cell in numbered(nb, "code") for name in CU_LITERAL.findall(cell.source))
    return list(dict.fromkeys(names))
