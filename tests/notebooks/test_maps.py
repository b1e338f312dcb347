"""The map of the course has a row and a link that leads somewhere for every notebook."""

import re

from course_utils import chapter_map
from course_utils.paths import CHAPTERS


def test_the_map_links_every_notebook_from_the_folder_of_the_reader(monkeypatch):
    monkeypatch.chdir(CHAPTERS / "00_start_here")
    table = chapter_map().data
    links = re.findall(r"\]\(([^)]+)\)", table)
    assert len(links) == len(list(CHAPTERS.glob("[0-9]*/[0-9]*.ipynb")))
    assert all((CHAPTERS / "00_start_here" / link).is_file() for link in links)
    assert "[This machine](01_this_machine.ipynb)" in table
