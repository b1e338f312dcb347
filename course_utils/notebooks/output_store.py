"""Writes ``assets/outputs`` from the committed notebooks: the outputs of cells that may be
skipped."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .. import stored_outputs
from ..needs import SKIPPED, may_be_skipped, needs_languages
from ..paths import ROOT
from ..stored_outputs import TEXT
from ..whole_files import read_json, write_whole
from . import stamp
from .canonical import STAMP, read

COMMAND = "python -m course_utils run --outputs"
MOST_CHARACTERS = 10_000  # of a text
MOST_PICTURE = 500_000  # characters of base64


def can_be_stored(nb: NotebookNode, root: Path = ROOT) -> bool:
    """Whether the outputs of ``nb`` belong to its present code, a GPU's where it measures."""
    return not stamp.violations(nb, root)


def content_of(nb: NotebookNode, old: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The file for ``nb``, whose outputs :func:`can_be_stored`, None where there is nothing in it.

    A cell that was also skipped there, for want of a program, keeps its entry of the ``old`` file.
    """
    before = old["cells"] if old else {}
    cells, devices = {}, Counter[str]()
    for _, cell in stamp.stamped(nb):
        mark = cell.metadata.get(STAMP, {})
        device = mark.get("device", stamp.EMULATOR)
        if not may_be_skipped(cell.source):
            continue
        anywhere = mark.get(stamp.ANYWHERE) or needs_languages(cell.source)
        if device == stamp.EMULATOR and not anywhere:
            continue
        digits = stored_outputs.key(cell.source)
        outputs = list(filter(None, map(_mime_bundle, cell.outputs)))
        if outputs and "".join(outputs[0].get(TEXT, "")).startswith(SKIPPED):
            outputs = before.get(digits, [])
        if outputs:
            cells[digits] = outputs
            devices[device] += 1
    # A GPU gives the same output where every machine does.
    gpus = [name for name, _ in devices.most_common() if name != stamp.EMULATOR]
    return {"device": (gpus or [stamp.EMULATOR])[0], "cells": cells} if cells else None


def as_text(content: dict[str, Any]) -> str:
    """``content`` as the JSON of its file."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write(notebook: Path) -> bool:
    """Store the outputs of the ``notebook`` as it is on disk. Returns whether its file changed."""
    file = stored_outputs.file_of(notebook)
    before = file.read_text(encoding="utf-8") if file.is_file() else None
    nb = read(notebook.read_text(encoding="utf-8"))
    content = content_of(nb, read_json(file) if before else None)
    after = as_text(content) if content else None
    if after is None:
        file.unlink(missing_ok=True)
    elif after != before:
        write_whole(file, after)
    return after != before


def _mime_bundle(output: NotebookNode) -> dict[str, Any] | None:
    if output.output_type == "stream":
        return {TEXT: _cut(output.text)}
    if output.output_type == "error":
        return None
    data = {kind: value for kind, value in output.data.items() if isinstance(value, str)}
    if len(data.get("image/png", "")) > MOST_PICTURE:
        del data["image/png"]
    return {
        kind: value if kind == "image/png" else _cut(value) for kind, value in sorted(data.items())
    }


def _cut(text: str) -> list[str]:
    """The lines of ``text``, or as many of them as there is room for."""
    lines = text.splitlines(keepends=True)
    kept = len(text[:MOST_CHARACTERS].splitlines())
    if len(text) <= MOST_CHARACTERS:
        return lines
    return [*lines[: kept - 1], f"… and {len(lines) - kept + 1} more lines\n"]
