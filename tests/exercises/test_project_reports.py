"""``%%report``: a learner's report on a project."""

import pytest

from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.student import portfolio
from course_utils.exercises.student.project_reports import HEADINGS, report, report_file
from course_utils.exercises.student.saved_answers import passing_file

ID = "00.double_it"
WITHOUT = "JupyterLab brings the packages that turn Markdown into HTML"
TEMPLATE = "".join(f"## {name}\n<!-- write here -->\n\n" for name in HEADINGS)
WHOLE = TEMPLATE.replace("<!-- write here -->", "Eight words of mine are here, & 5 < 6.")


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))


def test_the_template_is_no_report_and_replaces_none():
    report(ID, WHOLE)
    assert "Nothing is written yet" in repr(report(ID, TEMPLATE))
    assert report_file(find(ID)).read_text() == WHOLE


def test_it_names_the_sections_that_lack_words():
    first = TEMPLATE.replace(
        "<!-- write here -->", "It takes as long as a copy of the same bytes.", 1
    )
    assert repr(report(ID, first)) == f"Kept. Still to write: {', '.join(HEADINGS[1:])}."
    assert "complete" in repr(report(ID, WHOLE))
    short = WHOLE.replace("Eight words of mine are here, & 5 < 6.", "Too short.", 1)
    assert repr(report(ID, short)) == f"Kept. Shorter than 8 words: {HEADINGS[0]}."


def test_the_portfolio_shows_it_as_text():
    pytest.importorskip("mistune", reason=WITHOUT)
    passing_file(find(ID)).write_text(find(ID).solution)
    report(ID, WHOLE)
    page = portfolio.write().read_text()
    assert "<h4>What limits it</h4>\n<p>Eight words of mine are here, &amp; 5 &lt; 6.</p>" in page


def test_the_portfolio_keeps_lists_tables_and_lines():
    pytest.importorskip("mistune", reason=WITHOUT)
    passing_file(find(ID)).write_text(find(ID).solution)
    rungs = "- plain: 30\n- `match`: 1\n\n|a|b|\n|-|-|\n|1|2|\n\n<b>one</b>\ntwo"
    report(ID, WHOLE.replace("Eight words", rungs + " and eight words", 1))
    page = portfolio.write().read_text()
    assert "<li>plain: 30</li>\n<li><code>match</code>: 1</li>" in page
    assert "<td>1</td>" in page
    assert "<p>&lt;b&gt;one&lt;/b&gt;<br />\ntwo and" in page


def test_an_unknown_project_is_an_error_with_the_closest_names():
    with pytest.raises(LessonError, match=ID):
        report("00.double", WHOLE)
