"""The stamp that ties a cell's outputs to the machine and the code that made them.

Each code cell has its own, so an edited cell makes stale only itself and the cells that build on
it, and the outputs of a GPU stay beside a cell that wasn't touched. A cell that gives the same on
every device may be run again on the emulator. Any other has a GPU's outputs.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..compiling.includes import included_files
from ..compiling.source_text import read_source
from ..fingerprints import C_LIKE, code_of, code_of_cell
from ..paths import ROOT
from .canonical import STAMP
from .cell_dependencies import dependencies
from .cells import (
    CHECK_TAG,
    Violation,
    files_named,
    is_exercise,
    is_hosted,
    numbered,
    tags,
)
from .shown_sources import showing

UPDATE_COMMAND = (
    "run `python -m course_utils run --update PATH`; a cell that measures needs the GPU machine, "
    "course_utils/notebooks/README.md says how to go on without one"
)
FIELDS = ("device", "cuda", "date", "fingerprint")
EMULATOR = "emulator"
ANYWHERE = "anywhere"  # in the stamp of a cell that gives the same on every device
MEASURES = re.compile(  # a word in quotes is the key of a record
    r"(?<![\"'])\b(?:bench|perf_counter|time_ns|timeit|elapsed\w*|get_elapsed_time|median_ms|device)\b"
    r"|\bsize\("
    r"|^%%needs .*\b(?:gpus?|sm_\d+a?|nvcc|ncu|nsys|compute-sanitizer)\b",
    re.M,
)


def stamped(nb: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """(1-based position, cell) of every code cell with its own stamp: exercises have no
    outputs, and cells for hosts are not executed."""
    for number, cell in numbered(nb, "code"):
        if not is_hosted(cell) and not is_exercise(cell):
            yield number, cell


def runs_anywhere(cell: NotebookNode, holds: bool = True) -> bool:
    """Whether ``cell`` has the same outputs on every device as on a GPU.

    A tag promises it. Else it was seen once, on the emulator, and noted in the stamp. A cell that
    was edited since, whose stamp no longer ``holds``, must not measure. A new cell that measures
    nothing is taken for one. Without its stamp in the metadata a cell counts as new.
    """
    if CHECK_TAG in tags(cell):
        return True
    mark = cell.metadata.get(STAMP)
    if mark and (holds or not mark.get(ANYWHERE)):
        return bool(mark.get(ANYWHERE))
    return not MEASURES.search(cell.source)


def fingerprints(nb: NotebookNode, root: Path = ROOT) -> list[str]:
    """Sixteen digits for each cell of :func:`stamped`, which change with its code, with the files
    that it names and their headers, and with the cells that it depends on.

    Prose and outputs do not count, nor do comments, docstrings and blank lines, except for a cell
    that shows sources or names their lines. Raises LessonError for a file that is not UTF-8.
    """
    cells = [cell for _, cell in stamped(nb)]
    found: list[str] = []
    code: list[str] = []  # digits of a cell as those that depend on it see it: by its code alone
    files: list[set[Path]] = []  # that a cell and those that it depends on name
    for cell, needed, shows in zip(cells, dependencies(cells), showing(cells), strict=True):
        own = _sources([*(cells[at] for at in needed.cells), cell], cell, root)
        files.append(set(own).union(*(files[at] for at in needed.cells)))
        built_on = [*needed.imports, *(code[at] for at in needed.cells)]
        code.append(_digits(code_of_cell(cell.source), own, built_on, root))
        if shows:
            every = sorted(files[-1])
            found.append(_digits(cell.source.rstrip(), every, built_on, root, whole=True))
        else:
            found.append(code[-1])
    return found


def sources(nb: NotebookNode, root: Path = ROOT) -> list[Path]:
    """The files that ``nb`` names (kernels, programs, data, transcripts) and their headers."""
    cells = [cell for _, cell in stamped(nb)]
    return sorted({path for cell in cells for path in _sources(cells, cell, root)})


def _sources(cells: list[NotebookNode], cell: NotebookNode, root: Path) -> list[Path]:
    """The files that ``cell`` names, with words of ``cells`` in placeholders, and their
    headers."""
    found = set(files_named(cell.source, "\n".join(c.source for c in cells), root))
    for path in list(found):
        if path.suffix in C_LIKE:
            headers = included_files(read_source(path), path.parent, root / "kernels")
            found |= {root / header.relative_to(root.resolve()) for header in headers}
    return sorted(found)


def stamp(nb: NotebookNode, device: str, cuda: str, root: Path = ROOT) -> None:
    """Stamp every cell of ``nb``: ``device`` is a GPU's name or "emulator"."""
    today = datetime.date.today().isoformat()
    for (_, cell), digits in zip(stamped(nb), fingerprints(nb, root), strict=True):
        fields: dict[str, str | bool] = {"device": device, "cuda": cuda, "date": today}
        fields["fingerprint"] = digits
        if runs_anywhere(cell, _holds(cell, digits)):
            fields[ANYWHERE] = True
        cell.metadata[STAMP] = nbformat.from_dict(fields)


def current(nb: NotebookNode, root: Path = ROOT) -> list[bool]:
    """For each cell of :func:`stamped` whether its stamp fits its code."""
    both = zip(stamped(nb), fingerprints(nb, root), strict=True)
    return [_holds(cell, digits) for (_, cell), digits in both]


def _holds(cell: NotebookNode, digits: str) -> bool:
    """Whether the stamp of ``cell`` has the fingerprint ``digits``."""
    return bool(cell.metadata.get(STAMP, {}).get("fingerprint") == digits)


def keep_current(
    nb: NotebookNode, old: NotebookNode, device: str, renew: bool = False, root: Path = ROOT
) -> list[int]:
    """Put the outputs and stamps of ``old`` back into ``nb``, the same notebook just executed and
    stamped on ``device``, wherever they still hold: outputs of a GPU, and outputs that are the same
    again.

    With ``renew`` a GPU's outputs are replaced too. Returns the positions of the cells that wait
    for a GPU: their outputs are stale, and the emulator can't renew them.
    """
    waiting = []
    both = zip(stamped(nb), stamped(old), current(old, root), strict=True)
    for (number, cell), (_, before), holds in both:
        mark = before.metadata.get(STAMP)
        same = holds and cell.outputs == before.outputs
        if same and (device == EMULATOR) != (mark["device"] == EMULATOR):
            mark[ANYWHERE] = True
        gpus = bool(mark) and device == EMULATOR and not runs_anywhere(before, holds)
        better = holds and not renew and (device == EMULATOR or mark["device"] != EMULATOR)
        if gpus and not holds:
            waiting.append(number)
        if gpus or same or better:
            cell.outputs, cell.metadata[STAMP] = before.outputs, mark
    return waiting


def violations(nb: NotebookNode, root: Path = ROOT) -> list[Violation]:
    """Cells with no stamp or that of other code, and those of a GPU that ran on the emulator."""
    found = []
    for (number, cell), holds in zip(stamped(nb), current(nb, root), strict=True):
        mark = cell.metadata.get(STAMP, {})
        if any(field not in mark for field in FIELDS):
            problem = "it carries no stamp: its outputs are of unknown origin"
        elif not holds:
            problem = (
                f"its outputs are stale: its code or what it builds on changed since {mark['date']}"
            )
        elif mark["device"] == EMULATOR and not runs_anywhere(cell):
            problem = "its outputs are a GPU's, and were made on the emulator"
        else:
            continue
        found.append(Violation(number, problem, UPDATE_COMMAND))
    return found


def _digits(
    text: str, files: list[Path], built_on: list[str], root: Path, whole: bool = False
) -> str:
    """The digits of a cell's ``text`` with ``files``, by their code or ``whole``."""
    digest = hashlib.sha256(_text(text))
    for path in files:
        source = read_source(path)
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(_text(source if whole else code_of(source, path.suffix)))
    digest.update(" ".join(built_on).encode())
    return digest.hexdigest()[:16]


def _text(text: str) -> bytes:
    return text.replace("\r\n", "\n").encode() + b"\0"
