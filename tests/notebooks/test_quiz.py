"""The quiz question that the page on notebooks shows keeps the rule, and a poor one doesn't."""

import re
from pathlib import Path

import nbformat
import pytest

from course_utils.notebooks.rules import explains_every_choice_of_a_quiz
from course_utils.paths import ROOT

PAGE = ROOT / "course_utils" / "notebooks" / "README.md"


@pytest.fixture
def question():
    [text] = re.findall(r"^```markdown\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return text


def quiz(text):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    return [str(violation) for violation in explains_every_choice_of_a_quiz(book, Path(), ROOT)]


def test_the_question_that_the_page_shows_keeps_the_rule(question):
    assert quiz(question) == []


def test_a_choice_without_an_explanation_breaks_the_rule(question):
    reason = "Wrong: three warps are 96 threads, and the last four need a warp too."
    for poor in ("Wrong.", "Three warps are 96 threads, so no."):
        assert "does not explain the choice “3”" in quiz(question.replace(reason, poor))[0]


def test_a_quiz_has_exactly_one_right_choice(question):
    assert "2 choices, 0 of them right" in quiz(question.replace("Right:", "Wrong:"))[0]
    assert "2 choices, 2 of them right" in quiz(question.replace("Wrong:", "Right:"))[0]
    assert "0 choices" in quiz("**Quiz.** Why?")[0]
