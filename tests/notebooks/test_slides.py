"""A deck of slides from a notebook: its headings, questions and pictures."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_utils.__main__ import main
from course_utils.errors import LessonError
from course_utils.exercises.student.syllabus import outcomes
from course_utils.notebooks.canonical import dumps
from course_utils.notebooks.slides import page
from course_utils.paths import CHAPTERS
from tests.pictures import PNG

FIRST = """# Warps

At the end of this notebook you can

- find the warp
  of a thread;
- count lanes.

It takes about 5 minutes to read."""
CELLS = [
    new_markdown_cell(FIRST),
    new_markdown_cell("## Who is a lane?\n\nWho is it? It's [a thread](other.ipynb).\n\nMore."),
    new_code_cell("draw()", outputs=[new_output("display_data", {"image/png": PNG})]),
    new_markdown_cell(
        "Look.\n\n**Predict.** How many?\n\n<details><summary>a</summary>32</details>"
    ),
    new_markdown_cell("## The drawing\n\n![a warp](warp.svg)"),
    new_markdown_cell(
        "**Quiz.** Which?\n\n<details><summary>this</summary>\n\nRight: so.\n\n</details>"
    ),
    new_markdown_cell("## Your kernel"),
    new_markdown_cell("## A copy\n\nIt has lanes. Here is one:"),
    new_code_cell("print(1)"),
    new_markdown_cell("## Kinds\n\nThere are two:\n\n- one\n- two\n\nMore."),
    new_markdown_cell("## What you can now do\n\n- all"),
]


@pytest.fixture
def converter():
    reason = "JupyterLab brings the packages that turn Markdown into HTML"
    pytest.importorskip("nbconvert", reason=reason)


@pytest.fixture
def book(tmp_path):
    (tmp_path / "warp.svg").write_text("<svg/>")
    path = tmp_path / "01_warps.ipynb"
    path.write_text(dumps(new_notebook(cells=CELLS)))
    return path


def test_sections_predictions_and_quizzes_become_slides(book, converter):
    slides = re.findall(r"<section>(.*?)</section>", page([book]), re.S)
    texts = [" ".join(re.sub("<[^>]*>", " ", slide).split()) for slide in slides]
    assert texts == [
        "Warps At the end of this notebook you can find the warp of a thread; count lanes.",
        "Who is a lane? Who is it?",
        "Predict. How many?",
        "The drawing",
        "Quiz. Which? this",
        "A copy It has lanes.",
        "Kinds There are two: one two",
    ]
    assert [slide.count("<img") for slide in slides] == [0, 1, 0, 1, 0, 0, 0]


def test_the_page_needs_no_other_file(book, converter):
    assert set(re.findall(r'(?:src|href)="([^:"]*)', page([book]))) == {"data"}


def test_a_picture_that_is_missing_is_an_error(book, converter):
    (book.parent / "warp.svg").unlink()
    with pytest.raises(LessonError, match=r"warp\.svg is no picture"):
        page([book])


def test_outcomes_are_the_lines_of_the_list(book):
    assert list(outcomes(book)) == ["find the warp of a thread", "count lanes"]


def test_the_matrix_has_outcomes_and_exercises_of_a_notebook(capsys):
    book = CHAPTERS / "00_start_here/01_this_machine.ipynb"
    assert main(["outcomes", str(book)]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    assert row.startswith("| 00_start_here/01_this_machine | ") and "`00.double_it`" in row
