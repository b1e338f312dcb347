"""The course's notebooks and pages of Markdown, named by their paths from its root, as text."""

from __future__ import annotations

import json
import re

from course_utils.paths import ROOT

CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.M | re.S)


def cells(document: str) -> list[dict]:
    return json.loads((ROOT / document).read_text(encoding="utf-8"))["cells"]


def texts(document: str) -> list[str]:
    """The Markdown of a document without its code: one text a cell of a notebook."""
    if document.endswith(".ipynb"):
        found = ["".join(x["source"]) for x in cells(document) if x["cell_type"] == "markdown"]
    else:
        found = [(ROOT / document).read_text(encoding="utf-8")]
    return [CODE.sub(" ", text) for text in found]
