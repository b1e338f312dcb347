"""The map of the course has a row and a link that leads somewhere for every notebook."""

import re

from course_utils import chapter_map
from course_utils.notebooks.canonical import read_file
from course_utils.paths import CHAPTERS


def test_the_map_links_every_notebook_from_the_folder_of_the_reader(monkeypatch):
    monkeypatch.chdir(CHAPTERS / "00_start_here")
    table = chapter_map().data
    links = re.findall(r"\]\(([^)]+)\)", table)
    pages = list(CHAPTERS.glob("[0-9]*/README.md"))
    assert len(links) == len(list(CHAPTERS.glob("[0-9]*/[0-9]*.ipynb"))) + len(pages)
    assert all((CHAPTERS / "00_start_here" / link).is_file() for link in links)
    assert "[This machine](01_this_machine.ipynb) (30 min)" in table
    assert table.count("<details>") == len(list(CHAPTERS.glob("[0-9]*")))
    assert "<summary><b>00 Start here</b>: 3 notebooks, 1 h</summary>" in table


def test_the_map_that_the_first_notebook_shows_is_the_one_it_would_draw(monkeypatch):
    """Notebooks come and go, and the cell's own code stays the same."""
    monkeypatch.chdir(CHAPTERS / "00_start_here")
    cells = read_file(CHAPTERS / "00_start_here/01_this_machine.ipynb").cells
    (shown,) = (cell for cell in cells if cell.source.strip() == "chapter_map()")
    (output,) = shown.outputs
    assert output.data["text/markdown"] == chapter_map().data, (
        "take the stamp out of that cell, then run `python -m course_utils run --update "
        "chapters/00_start_here/01_this_machine.ipynb`"
    )
