"""The table of exercises in each chapter's README is drawn from their pages."""

import pytest

from course_utils.errors import LessonError
from course_utils.exercises.authoring.chapter_tables import MARKS, stale_tables, with_table
from course_utils.exercises.authoring.registry import all_exercises, find


def test_the_committed_tables_are_up_to_date():
    stale = [path.parent.name for path in stale_tables()]
    assert not stale, f"run `python -m course_utils exercises --write` for {', '.join(stale)}"


def test_a_row_says_the_id_the_notebook_and_the_title():
    text = with_table(f"before\n{MARKS[0]}old\n{MARKS[1]}\nafter", [find("04.saxpy")], "README.md")
    assert text.startswith(f"before\n{MARKS[0]}| exercise |")
    assert text.endswith(f"| `04.saxpy` | 01 | a times x plus y |\n{MARKS[1]}\nafter")


def test_a_readme_without_the_marks_is_named():
    with pytest.raises(LessonError, match="README.md needs"):
        with_table("before\nafter", list(all_exercises()[:1]), "README.md")
