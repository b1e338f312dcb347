"""The one form in which a notebook is committed, so that a diff shows changes alone.

nbformat 4.5 with its own JSON layout (sorted keys, indent 1), ids made from headings, the kernel
spec `python3`, counts 1…n, no volatile metadata, stream outputs merged, PNG as the only picture, no
ANSI colours, no address of an object, no output under an exercise.
"""

from __future__ import annotations

import base64
import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..errors import LessonError
from ..palettes import with_palette
from ..paths import unreadable
from .cells import Violation, is_exercise, is_hosted
from .lessons import LESSON_FIELD

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE_INFO = {"name": "python"}
STAMP = "course"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPE_AT, IN_A_PALETTE = 25, 3  # of a PNG's bytes: the colour type in its first chunk
FORMAT_COMMAND = "run `python -m course_utils run --format`"

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
OBJECT_ADDRESS = re.compile(r"(<[^<>\n]* at )0x[0-9a-f]+")
# A path is looked for where one may begin: a page of steps has runs of 100,000 such characters.
CELL_FILE = re.compile(r"(?<![\w./~-])[\w./~-]*/ipykernel_\d+/\d+\.py")
SITE_PACKAGES = re.compile(r"(?<![\w./~+-])[\w./~+-]*/(?=(?:site|dist)-packages/)")


def read(text: str) -> NotebookNode:
    """The notebook in ``text``, whatever its nbformat, as version 4.5."""
    return nbformat.reads(text, as_version=4)


def read_file(path: Path) -> NotebookNode:
    """The notebook at ``path``. Raises LessonError where it can't be read."""
    try:
        nb = read(path.read_text(encoding="utf-8"))
        nb.cells, nb.metadata  # noqa: B018  (nbformat returns some files that have neither)
    except Exception as error:  # nbformat's own, and others inside it
        raise LessonError(unreadable(path, error)) from None
    return nb


def dumps(nb: NotebookNode) -> str:
    """``nb`` as a file's text, ending in one newline."""
    text: str = nbformat.writes(nb, version=nbformat.NO_CONVERT)
    return text.rstrip("\n") + "\n"


def canonical(nb: NotebookNode) -> NotebookNode:
    """A copy of ``nb`` in canonical form, which stays the same if it's done twice."""
    nb = copy.deepcopy(nb)
    nb.nbformat, nb.nbformat_minor = 4, 5
    kept = {LESSON_FIELD: nb.metadata[LESSON_FIELD]} if LESSON_FIELD in nb.metadata else {}
    nb.metadata = nbformat.from_dict(
        {**kept, "kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO}
    )
    nb.cells = [cell for cell in nb.cells if cell.source.strip()]
    executed = any(
        cell.get("outputs") or cell.get("execution_count")
        for cell in nb.cells
        if cell.cell_type == "code" and not is_hosted(cell)
    )
    ids = _ids(nb)
    count = 0
    for cell, name in zip(nb.cells, ids, strict=True):
        cell.id = name
        cell.source = cell.source.replace("\r\n", "\n")
        cell.metadata = _cell_metadata(cell)
        if is_hosted(cell):
            if cell.cell_type == "code":
                cell.execution_count, cell.outputs = None, []
        elif cell.cell_type == "code":
            count += 1
            cell.execution_count = count if executed else None
            cell.outputs = [] if is_exercise(cell) else _outputs(cell.outputs, count)
    map_text(nb, clean)
    return nb


def violations(text: str) -> list[Violation]:
    """Every way in which a notebook's file differs from its canonical form."""
    nb = read(text)
    best = canonical(nb)
    found = []
    if nb.metadata != best.metadata:
        extra = sorted(set(nb.metadata) - set(best.metadata)) or ["kernelspec or language_info"]
        found.append(_violation(0, f"its metadata is not canonical ({', '.join(extra)})"))
    kept = [(n, cell) for n, cell in enumerate(nb.cells, 1) if cell.source.strip()]
    for number, cell in enumerate(nb.cells, 1):
        if not cell.source.strip():
            found.append(_violation(number, "it is empty"))
    for (number, cell), wanted in zip(kept, best.cells, strict=True):
        found += [_violation(number, message) for message in _differences(cell, wanted)]
    if not found and dumps(best) != text:
        found.append(_violation(0, "its JSON is not laid out as nbformat writes version 4.5"))
    return found


def _violation(cell: int, message: str) -> Violation:
    return Violation(cell, message, FORMAT_COMMAND)


def _differences(cell: NotebookNode, wanted: NotebookNode) -> list[str]:
    found = []
    if cell.get("id") != wanted.id:
        found.append(f"its id is {cell.get('id')!r}, made from the headings it is {wanted.id!r}")
    if cell.metadata != wanted.metadata:
        extra = sorted(set(cell.metadata) - set(wanted.metadata)) or sorted(cell.metadata)
        found.append(f"volatile metadata ({', '.join(extra)})")
    if cell.source != wanted.source:
        found.append("its lines end in CR LF")
    if cell.cell_type == "code":
        if cell.execution_count != wanted.execution_count:
            found.append(f"its count is {cell.execution_count}, not {wanted.execution_count}")
        if is_exercise(cell) and cell.outputs:
            found.append("an exercise is committed without output")
        elif cell.outputs != wanted.outputs:
            found.append("its outputs are not normalised")
    return found


def _ids(nb: NotebookNode) -> list[str]:
    """`slug-of-the-heading`, then `slug-2`, `slug-3` … for the cells that follow it.

    An id depends on its section alone, so adding a cell renames few others.
    """
    names, slug = [], "start"
    used: dict[str, int] = {}
    for cell in nb.cells:
        if is_hosted(cell):
            names.append(cell.id)
            continue
        heading = re.search(r"^#{1,6}\s+(.+)$", cell.source, re.M)
        if cell.cell_type == "markdown" and heading:
            letters = re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")
            slug = letters[:48].rstrip("-") or "section"
        used[slug] = used.get(slug, 0) + 1
        name = slug if used[slug] == 1 else f"{slug}-{used[slug]}"
        while name in names:  # the heading "Step 2" after a second cell under "Step"
            name += "-b"
        names.append(name)
    return names


def _cell_metadata(cell: NotebookNode) -> NotebookNode:
    """Tags in order, the keys that fold a cell, and its stamp, but no key of an editor."""
    metadata = cell.metadata
    kept: dict[str, Any] = {}
    if STAMP in metadata and cell.cell_type == "code" and not is_exercise(cell):
        kept[STAMP] = metadata[STAMP]
    if metadata.get("tags"):
        kept["tags"] = sorted(set(metadata["tags"]))
    folds = {
        key: value
        for key, value in metadata.get("jupyter", {}).items()
        if key in ("source_hidden", "outputs_hidden") and value
    }
    if folds:
        kept["jupyter"] = folds
    return nbformat.from_dict(kept)


def _outputs(outputs: list[NotebookNode], count: int) -> list[NotebookNode]:
    merged: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            if merged and merged[-1].get("name") == output.name:
                merged[-1].text += output.text
            else:
                merged.append(output)
        elif output.output_type == "error":
            merged.append(output)
        else:
            output.data = _data(output.data)
            output.metadata = nbformat.from_dict({})
            if output.output_type == "execute_result":
                output.execution_count = count
            if output.data:
                merged.append(output)
    for output in merged:
        if output.output_type == "stream":
            output.text = _last_written(output.text)
    return merged


def _data(data: NotebookNode) -> NotebookNode:
    """PNG alone where there are several pictures, as one line of base64. Widgets and scripts go:
    their kernel has ended."""
    kept = {
        kind: value
        for kind, value in data.items()
        if "widget" not in kind and not (kind == "text/html" and "<script" in value)
    }
    if "image/png" in kept:
        kept = {k: v for k, v in kept.items() if k == "image/png" or not k.startswith("image/")}
        kept["image/png"] = _picture("".join("".join(kept["image/png"]).split()))
    return nbformat.from_dict(kept)


def _picture(png: str) -> str:
    """``png``, base64, with a palette. pyplot's own figures come without one."""
    picture = base64.b64decode(png)
    if not picture.startswith(PNG_SIGNATURE) or picture[COLOUR_TYPE_AT] == IN_A_PALETTE:
        return png
    return base64.b64encode(with_palette(picture)).decode()


def _last_written(text: str) -> str:
    """The text that a terminal shows at the end: a carriage return overwrites the line."""
    text = text.replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def clean(text: str) -> str:
    """``text`` without colours, object addresses and files that live as long as one kernel."""
    text = ANSI.sub("", text)
    text = OBJECT_ADDRESS.sub(r"\g<1>0x…", text)
    text = CELL_FILE.sub("<cell>", text)
    return SITE_PACKAGES.sub("", text)


def map_text(nb: NotebookNode, change: Callable[[str], str]) -> None:
    """Apply ``change`` to every piece of text in the outputs of ``nb``, in place."""
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                output.text = change(output.text)
            elif output.output_type == "error":
                output.evalue = change(output.evalue)
                output.traceback = [change(line) for line in output.traceback]
            else:
                for kind, value in output.data.items():
                    if kind.startswith("text/") and isinstance(value, str):
                        output.data[kind] = change(value)
