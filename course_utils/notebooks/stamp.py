"""The stamp that ties a notebook's outputs to the machine and the sources that made them."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..compiling.includes import included_files
from ..compiling.signature import strip_comments
from ..compiling.source_text import read_source
from ..paths import ROOT
from .canonical import STAMP
from .cells import Violation, files_named, is_exercise, is_hosted, numbered

UPDATE_COMMAND = (
    "run `make notebooks` on the GPU machine and commit the result; without a GPU do what "
    "CONTRIBUTING.md says under After a change of code"
)
C_LIKE = (".cu", ".cuh", ".c", ".h", ".cpp")
FIELDS = ("device", "cuda", "date", "source_hash")


def notebook_hash(nb: NotebookNode, root: Path = ROOT) -> str:
    """SHA-256 (first 16 digits) over the code cells and the files that they name.

    The cells of exercises do not count: they have no outputs, and define nothing for others. A
    kernel's own `#include "…"` files count, too. Prose and outputs do not, nor do comments in
    files of C and CUDA C++, as long as each line stays where it is: editing a sentence leaves the
    outputs valid. Raises LessonError for a file that isn't UTF-8.
    """
    digest = hashlib.sha256()
    for _, cell in numbered(nb, "code"):
        if not is_hosted(cell) and not is_exercise(cell):
            digest.update(b"cell\0" + _text(cell.source.rstrip()))
    for path in sources(nb, root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        text = read_source(path)
        digest.update(_text(_code(text) if path.suffix in C_LIKE else text))
    return digest.hexdigest()[:16]


def sources(nb: NotebookNode, root: Path = ROOT) -> list[Path]:
    """The files that ``nb`` names (kernels, programs, data, transcripts) and what they include."""
    found = set(files_named(nb, root))
    for path in list(found):
        if path.suffix in C_LIKE:
            text = read_source(path)
            headers = included_files(text, path.parent, root / "kernels")
            found |= {root / header.relative_to(root.resolve()) for header in headers}
    return sorted(found)


def stamp(nb: NotebookNode, device: str, cuda: str, root: Path = ROOT) -> None:
    """Write the stamp into ``nb``: ``device`` is a GPU's name or "emulator"."""
    nb.metadata[STAMP] = nbformat.from_dict(
        {
            "device": device,
            "cuda": cuda,
            "date": datetime.date.today().isoformat(),
            "source_hash": notebook_hash(nb, root),
        }
    )


def violations(nb: NotebookNode, root: Path = ROOT) -> list[Violation]:
    """No stamp, a stamp of other sources, or outputs that do not come from a GPU. A notebook that
    has no code needs none."""
    if not any(numbered(nb, "code")):
        return []
    mark = nb.metadata.get(STAMP)
    if not mark or any(field not in mark for field in FIELDS):
        return [
            Violation(0, "it carries no stamp: its outputs are of unknown origin", UPDATE_COMMAND)
        ]
    if mark["source_hash"] != notebook_hash(nb, root):
        return [
            Violation(
                0,
                "its outputs are stale: code cells or files that they name changed since "
                f"{mark['date']}",
                UPDATE_COMMAND,
            )
        ]
    if mark["device"] == "emulator":
        return [Violation(0, "its outputs were made on the emulator", UPDATE_COMMAND)]
    return []


def _code(text: str) -> str:
    return "\n".join(line.rstrip() for line in strip_comments(text).splitlines())


def _text(text: str) -> bytes:
    return text.replace("\r\n", "\n").encode() + b"\0"
