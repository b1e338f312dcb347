"""Every measured figure in the prose comes from an output beside it, a record or a named source."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from course_utils.notebooks.canonical import read
from course_utils.notebooks.cells import find, numbered
from course_utils.paths import ROOT, shown
from course_utils.records.record_pages import MARKS, TRIALS
from tests.notebooks.quoting import Quotes, problems, prose

QUOTES = ROOT / "tests/notebooks/quotes"
DRAWN = re.compile(f"{MARKS[0]}.*?{MARKS[1]}", re.S)  # the table made from records
TEXT = {"text/plain", "text/markdown"}
TEXTS = [ROOT / "README.md", TRIALS, *sorted(ROOT.glob("chapters/*/README.md")), *find([])]


def file_of(text: Path) -> Path:
    """Where the quotes of a notebook or README are: ``quotes/`` is laid out as ``chapters/`` is."""
    below = text.relative_to(ROOT)
    below = below.relative_to("chapters") if below.parts[0] == "chapters" else below
    return QUOTES / below.with_suffix(".py")


def quotes_of(text: Path) -> Quotes:
    file = file_of(text)
    if not file.is_file():
        return Quotes()
    names = runpy.run_path(str(file))
    return Quotes(names.get("QUOTES", {}), names.get("FACTS", {}), names.get("GIVEN", ()))


def contents(text: Path) -> tuple[str, list[str]]:
    """The prose of a notebook or README, and the text that a notebook's cells printed."""
    content = text.read_text(encoding="utf-8")
    if text.suffix == ".md":
        return prose(DRAWN.sub("", content)), []
    nb = read(content)
    markdown = "\n\n".join(cell.source for _, cell in numbered(nb, "markdown"))
    printed = []
    for _, cell in numbered(nb, "code"):
        for output in cell.outputs:
            shown_as = output.get("data", {})
            printed += [output.get("text", ""), *map(shown_as.get, shown_as.keys() & TEXT)]
    return prose(markdown), printed


@pytest.mark.parametrize("text", TEXTS, ids=shown)
def test_figures_of(text):
    found = problems(*contents(text), quotes_of(text), shown(file_of(text)))
    assert not found, f"{len(found)} in {shown(text)}\n" + "\n".join(found)


def test_every_file_of_quotes_belongs_to_a_text():
    known = set(map(file_of, TEXTS))
    astray = [shown(file) for file in QUOTES.rglob("*.py") if file not in known]
    assert not astray
