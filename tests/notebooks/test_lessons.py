"""The notebooks are one list: each says its time and needs, and all pages follow its order."""

import json
import re
from pathlib import Path

import pytest

from course_utils.errors import LessonError
from course_utils.notebooks.canonical import read_file
from course_utils.notebooks.drawn_cells import as_listed, time_and_needs
from course_utils.notebooks.lessons import Chapter, Lesson, chapters, lesson, lessons
from course_utils.paths import CHAPTERS, ROOT

LESSONS = lessons()
KNOWN = {each.name: each for each in LESSONS}
REFERENCE = "00/02"  # the glossary: to look things up in
ROW = re.compile(r"^\| \[(\d\d) ([^\]]+)\]\((\d\d_\w+\.ipynb)\) \|(.*)\|$", re.M)


def test_no_two_notebooks_share_a_title_or_a_number():
    for what in ("title", "number"):
        values = [getattr(each, what).lower() for each in LESSONS]
        assert len(set(values)) == len(values), what


@pytest.mark.parametrize("own", LESSONS, ids=lambda each: each.number)
def test_it_says_how_long_it_takes_and_needs_earlier_notebooks(own):
    assert own.minutes or own.number == REFERENCE
    if own.minutes:
        assert time_and_needs(own, KNOWN) in read_file(own.path).cells[0].source
    assert all(needed < own.name for needed in own.needs)
    assert own.needs.keys() <= KNOWN.keys()


@pytest.mark.parametrize(
    ("own", "following"), zip(LESSONS, LESSONS[1:], strict=False), ids=lambda each: each.number
)
def test_the_next_link_leads_to_the_next_number(own, following):
    last = read_file(own.path).cells[-1].source.splitlines()[-1]
    (target,) = re.findall(r"^\*\*Next: \[[^\]]+\]\(([^)]+)\)\*\*$", last)
    assert (own.path.parent / target).resolve() == following.path


@pytest.mark.parametrize(
    "page", sorted(CHAPTERS.glob("[0-9]*/README.md")), ids=lambda p: p.parent.name
)
def test_a_chapters_page_lists_its_notebooks_as_they_are(page):
    rows = ROW.findall(page.read_text(encoding="utf-8"))
    own = [each for each in LESSONS if each.path.parent == page.parent]
    assert [(title, file) for _, title, file, _ in rows] == [(e.title, e.path.name) for e in own]
    assert all(number == file[:2] for number, _, file, _ in rows)
    for each, (*_, cells) in zip(own, rows, strict=True):
        minutes = f"{each.reading} + {each.exercises}" if each.exercises else str(each.reading)
        assert not each.minutes or minutes in map(str.strip, cells.split("|")), each.name


@pytest.mark.parametrize(
    "page", sorted(CHAPTERS.glob("[0-9]*/README.md")), ids=lambda p: p.parent.name
)
def test_a_chapters_page_links_to_what_its_notebooks_need_of_other_chapters(page):
    text = page.read_text(encoding="utf-8")
    links = {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", text)}
    own = [each for each in LESSONS if each.path.parent == page.parent]
    needed = {KNOWN[name].path for each in own for name in each.needs} - {e.path for e in own}
    missing = [p for p in needed if not {p, p.parent / "README.md"} & links]
    assert not missing, sorted(path.relative_to(CHAPTERS).as_posix() for path in missing)


def test_its_paragraph_has_the_time_and_links_to_what_it_needs(tmp_path):
    first = Lesson(tmp_path / "a/01_first.ipynb", "First", 5, 0, {})
    second = Lesson(tmp_path / "a/02_second.ipynb", "Second", 60, 20, {"a/01_first": "its loop"})
    third = Lesson(
        tmp_path / "b/01_third.ipynb", "Third", 5, 5, {"a/01_first": "", "a/02_second": ""}
    )
    known = {each.name: each for each in (first, second, third)}
    assert time_and_needs(first, known) == "It takes about 5 minutes to read and run."
    assert time_and_needs(second, known) == (
        "It takes about an hour to read and run, and the exercises about 20 minutes more. "
        "You need [First](01_first.ipynb) (its loop)."
    )
    assert "[First](../a/01_first.ipynb) and [Second](../a/02_second.ipynb)." in (
        time_and_needs(third, known)
    )


def test_a_need_that_no_notebook_has_the_name_of_is_refused(tmp_path):
    own = Lesson(tmp_path / "a/01_first.ipynb", "First", 5, 0, {"a/00_none": ""})
    with pytest.raises(LessonError, match="a/01_first needs a/00_none, and no notebook"):
        time_and_needs(own, {})


def test_a_readers_own_notebook_stays_as_it_is():
    path = LESSONS[2].path
    nb = read_file(path)
    nb.cells[0].source += "\n\nIt takes about 3 minutes."
    assert as_listed(nb, ROOT / "mine.ipynb").cells == nb.cells


def test_a_chapter_has_the_title_of_its_page_and_the_hours_of_its_lessons(tmp_path):
    own = Lesson(tmp_path / "a/01_first.ipynb", "First", 50, 30, {})
    assert [Chapter(tmp_path, "", (own,) * n).hours for n in (0, 1, 2, 3)] == ["½", "1½", "2½", "4"]
    for chapter in chapters():
        page = (chapter.folder / "README.md").read_text(encoding="utf-8")
        assert (
            page.startswith(f"# {chapter.title}\n") and chapter.title[:2] == chapter.folder.name[:2]
        )


@pytest.mark.parametrize(
    ("course", "words"),
    [
        ({"minutes": 45}, "course.minutes must be two integers"),
        ({"needs": []}, "course.needs"),
    ],
)
def test_metadata_of_another_form_are_refused_and_stop_no_list(tmp_path, course, words):
    path = tmp_path / "chapters/01_a/01_x.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": [], "metadata": {"course": course}}))
    with pytest.raises(LessonError, match=words):
        lesson(path)
    assert [(each.title, each.minutes) for each in lessons(tmp_path)] == [("01_x.ipynb", 0)]


def test_a_notebook_is_read_once_until_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "01_x.ipynb"
    path.write_text(json.dumps({"cells": [{"source": "# A"}]}))
    assert lesson(path).title == "A"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("it's read again"))
        assert lesson(path).title == "A"
    path.write_text(json.dumps({"cells": [{"source": "# Another"}]}))
    assert lesson(path).title == "Another"


def test_a_damaged_notebook_is_named(tmp_path):
    path = tmp_path / "01_x.ipynb"
    path.write_text('{"cells": 5}')
    with pytest.raises(LessonError, match="can't be read as a notebook"):
        lesson(path)
