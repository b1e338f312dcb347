"""The stamp that ties a notebook's outputs to the machine and the sources that made them."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..compiling.includes import included_files
from ..paths import ROOT
from .canonical import STAMP
from .cells import Violation, kernels_named, numbered

UPDATE_COMMAND = (
    "run `make notebooks` on the GPU machine and commit the result; without a GPU do what "
    "CONTRIBUTING.md says under After a change of code"
)
FIELDS = ("device", "cuda", "date", "source_hash")


def notebook_hash(nb: NotebookNode, root: Path = ROOT) -> str:
    """SHA-256 (first 16 digits) over the code cells and the kernels that they name.

    A kernel's own `#include "…"` files count, too. Prose and outputs do not: editing a sentence
    leaves the outputs valid.
    """
    digest = hashlib.sha256()
    for _, cell in numbered(nb, "code"):
        digest.update(b"cell\0" + _text(cell.source.rstrip()))
    for path in sources(nb, root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(_text(path.read_text(encoding="utf-8")))
    return digest.hexdigest()[:16]


def sources(nb: NotebookNode, root: Path = ROOT) -> list[Path]:
    """The .cu files that ``nb`` names and what they include, those that exist, sorted."""
    kernels, whole = root / "kernels", root.resolve()
    found: set[Path] = set()
    for name in kernels_named(nb):
        for path in ((kernels / name).resolve(), (root / name).resolve()):
            if path.is_file() and path.is_relative_to(whole):
                text = path.read_text(encoding="utf-8")
                found |= {path, *included_files(text, path.parent, kernels)}
    return sorted(root / path.relative_to(whole) for path in found if path.is_relative_to(whole))


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
    """No stamp, a stamp of other sources, or outputs that do not come from a GPU."""
    mark = nb.metadata.get(STAMP)
    if not mark or any(field not in mark for field in FIELDS):
        return [
            Violation(0, "it carries no stamp: its outputs are of unknown origin", UPDATE_COMMAND)
        ]
    if mark["source_hash"] != notebook_hash(nb, root):
        return [
            Violation(
                0,
                f"its outputs are stale: the code cells or kernels changed since {mark['date']}",
                UPDATE_COMMAND,
            )
        ]
    if mark["device"] == "emulator":
        return [Violation(0, "its outputs were made on the emulator", UPDATE_COMMAND)]
    return []


def _text(text: str) -> bytes:
    return text.replace("\r\n", "\n").encode() + b"\0"
