"""Reading a notebook: its cells, its kernels, where it is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from ..errors import LessonError
from ..paths import ROOT, notebook_files, notebook_name

EXERCISE = "%%exercise"
CHECK_TAG = "nbval-check-output"
ERROR_TAG = "raises-exception"
HOSTED = "hosted"  # a cell for Colab and Kaggle, which changes no output

# "04_first_kernels/threads/vec_add.cu", "matmul_ijk.c", "transpose/{rung:02}_transpose_{name}.cu"
FILE_NAME = re.compile(r"(?:[\w./+-]|\{[^{}\n]*\})+\.(?:cuh?|c|h|cpp|py|csv|txt)\b")
PLACEHOLDER = re.compile(r"\{[^{}\n]*\}")
# The folders of files that a cell names, whose text makes its outputs.
SOURCE_FOLDERS = ("kernels", "assets/data", "assets/transcripts")


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
    """The notebooks that ``paths`` name, in reading order, all of `chapters/` for no paths.

    A path is a notebook or a folder, searched in depth but for hidden folders, such as checkpoints
    and environments. :class:`FileNotFoundError` when a path does not exist or holds no notebook.
    """
    given = [Path(path) for path in paths]
    if not given:
        return notebook_files(root)
    found: list[Path] = []
    for path in given:
        inside = [path] if path.suffix == ".ipynb" and path.is_file() else []
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*.ipynb") if not _is_hidden(p, path))
        if not inside:
            raise FileNotFoundError(f"{path}: no notebook there; give an .ipynb file or a folder")
        found += [p.resolve() for p in inside]
    return list(dict.fromkeys(found))


def asked_for(words: Iterable[str]) -> list[Path]:
    """The notebooks that ``words`` mean, each a path as in :func:`find` or else a name as in
    :func:`named`, all of `chapters/` for no words.

    Raises the errors of these two.
    """
    found = [
        path for word in words for path in (find([word]) if Path(word).exists() else named(word))
    ]
    return list(dict.fromkeys(found)) or find([])


def named(word: str, root: Path = ROOT) -> list[Path]:
    """The notebooks of the course that ``word`` names: ``04_first_kernels/01_hello_threads``, or
    all of ``04_first_kernels``, with or without chapters/ and .ipynb, or ``04/01`` and ``04``.

    Raises LessonError, with the closest names, where there is none.
    """
    plain = word.lower().removeprefix("./").strip("/").removeprefix("chapters/")
    parts = plain.removesuffix(".ipynb").split("/")
    books = notebook_files(root)
    found = [
        book
        for book in books
        if len(parts) <= 2
        and all(
            part in (name, name[:2])
            for part, name in zip(parts, (book.parent.name, book.stem), strict=False)
        )
    ]
    if found:
        return found
    names = [notebook_name(book) for book in books]
    names += dict.fromkeys(book.parent.name for book in books)
    closest = difflib.get_close_matches("/".join(parts)[:100], names, n=3, cutoff=0.4)
    meant = f": did you mean {' or '.join(closest)}?" if closest else "."
    raise LessonError(
        f"No notebook or chapter is called {word[:100]!r}{meant} "
        "`make doctor ARGS=--full` lists all."
    )


def _is_hidden(path: Path, folder: Path) -> bool:
    """Whether a file is in a hidden folder below ``folder``, or among checkpoints."""
    inside = path.relative_to(folder).parts
    return ".ipynb_checkpoints" in path.parts or any(part.startswith(".") for part in inside)


def numbered(nb: NotebookNode, kind: str | None = None) -> Iterator[tuple[int, NotebookNode]]:
    """(1-based position, cell) of every cell, or of every cell of ``kind`` "code" or "markdown"."""
    for number, cell in enumerate(nb.cells, 1):
        if kind is None or cell.cell_type == kind:
            yield number, cell


def tags(cell: NotebookNode) -> list[str]:
    """The tags in the metadata of ``cell``."""
    return list(cell.metadata.get("tags", []))


def is_hosted(cell: NotebookNode) -> bool:
    """Whether ``cell`` is for a host such as Colab alone: it is not executed here."""
    return HOSTED in tags(cell)


def is_exercise(cell: NotebookNode) -> bool:
    """Whether ``cell`` is a code cell for a student's answer."""
    source: str = cell.source
    return cell.cell_type == "code" and source.lstrip().startswith(EXERCISE)


def files_named(code: str, around: str, root: Path = ROOT) -> list[Path]:
    """The files below :data:`SOURCE_FOLDERS` that ``code`` names, by the whole path or its end.

    A name with a ``{placeholder}`` means all files in which a number, or a word of the code
    ``around``, replaces it.
    """
    names = {name: _parts_of(name) for name in FILE_NAME.findall(code)}
    if not names:
        return []
    words = {*re.findall(r"\w+", around), *re.findall(r"[\w./-]+", around)}
    return [
        file
        for path, file in _files(root).items()
        if any(
            path.endswith(parts[-1]) and _means(name, parts, path, words)
            for name, parts in names.items()
        )
    ]


def _files(root: Path) -> dict[str, Path]:
    """The files that a cell may name, sorted, by their paths in the repository, and read once for
    the course itself."""
    return _files_of_the_course() if root == ROOT else _files_below(root)


@cache
def _files_of_the_course() -> dict[str, Path]:
    return _files_below(ROOT)


def _files_below(root: Path) -> dict[str, Path]:
    found = sorted(f for d in SOURCE_FOLDERS for f in (root / d).rglob("*.*") if f.is_file())
    return {file.relative_to(root).as_posix(): file for file in found}


def _parts_of(name: str) -> list[str]:
    """The parts of a name between its placeholders."""
    return PLACEHOLDER.split(re.sub(r"^(?:\.{1,2}/)+", "", name))


def _means(name: str, parts: list[str], path: str, words: set[str]) -> bool:
    """Whether ``name``, made of these ``parts``, is the name of the file at ``path``, with one of
    ``words`` or a number in placeholders."""
    folders = path.split("/")
    if "exercises" in folders and "exercises" not in name:
        return False
    pattern = re.compile("(.+?)".join(map(re.escape, parts)))
    ends = ("/".join(folders[start:]) for start in range(len(folders)))
    found = filter(None, map(pattern.fullmatch, ends))
    return any(all(g.isdigit() or g in words for g in match.groups()) for match in found)
