"""README.md's counts, address and map of chapters are those of the notebooks, and it's short."""

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.kernel_tool.command import main
from course_utils.notebook_requirements import all_notebooks
from course_utils.notebooks import front_page
from course_utils.notebooks.front_page import (
    BADGE_MARKS,
    COUNTS,
    MARKS,
    NEEDS,
    PATH_MARKS,
    chapter_table,
    drawn,
)
from course_utils.notebooks.lessons import Chapter, chapters, lessons
from course_utils.notebooks.reading_paths import PATHS
from course_utils.notebooks.run import rewrite
from course_utils.paths import CHAPTERS, README

TEXT = README.read_text(encoding="utf-8")
FIRST_DECISION = "## Which of these are you?"
MOST_WORDS = 600


def test_the_readme_is_as_it_would_be_drawn():
    assert drawn(TEXT) == TEXT, "`python -m course_utils run --format` draws it"


def test_formatting_all_notebooks_draws_it(tmp_path, monkeypatch, capsys):
    page = tmp_path / "README.md"
    page.write_text(COUNTS.sub("1 notebooks and 2 checked exercises", TEXT))
    monkeypatch.setattr(front_page, "README", page)
    for told in ("drew README.md's counts, paths and map\n", ""):
        assert rewrite([], readme=True) == 0
        assert page.read_text(encoding="utf-8") == drawn(TEXT) and capsys.readouterr().out == told


def test_its_first_sentence_counts_the_notebooks_and_the_exercises():
    counts = f"{len(lessons())} notebooks and {len(all_exercises())} checked exercises"
    assert TEXT.count(counts) == 1


def test_it_is_short():
    prose = re.sub(r"(?m)^\|.*$|<!--.*?-->", "", TEXT)
    assert len(prose.split()) <= MOST_WORDS


def test_the_commands_come_before_the_first_decision():
    first = TEXT.partition(FIRST_DECISION)[0]
    assert TEXT.count(FIRST_DECISION) == 1
    for command in ("git clone ", "make learn", "make test", "make doctor"):
        assert command in first


def test_the_first_decision_is_between_the_reading_paths():
    begin, end = (TEXT.index(mark) for mark in PATH_MARKS)
    assert TEXT.index(FIRST_DECISION) < begin < end
    block = TEXT[begin:end]
    for path in PATHS:
        assert f"<b>{path.title}</b>, {path.hours} hours: {path.goal}" in block
        assert f"--path {path.name}" in TEXT
    stations = [station for path in PATHS for station in path.stations]
    assert block.count("](chapters/") == len(stations)


def test_badges_lead_to_the_one_address_and_are_drawn_only_with_it(monkeypatch):
    monkeypatch.setattr(front_page, "repository_address", lambda: "https://github.com/owner/name")
    block = drawn(TEXT).partition(BADGE_MARKS[0])[2].partition(BADGE_MARKS[1])[0]
    targets = re.findall(r"\)\]\((\S+)\)", block)
    assert len(targets) == 4 and targets[0] == "https://owner.github.io/name/"
    assert all("owner/name" in target for target in targets[1:])
    assert (CHAPTERS.parent / front_page.FIRST_LESSON).is_file()
    for none in ("", "https://example.org/owner/name"):
        assert front_page.badges(none) == ""


def test_the_address_of_the_repository_is_the_one_to_clone(monkeypatch):
    address = "https://github.com/owner/name"
    monkeypatch.setattr(front_page, "repository_address", lambda: address)
    published = drawn(TEXT)
    assert f"\ngit clone {address} cuda-course\n" in published and "ADDRESS" not in published
    monkeypatch.setattr(front_page, "repository_address", lambda: "")
    assert "\ngit clone ADDRESS cuda-course " in drawn(published)


def test_the_map_has_a_row_for_each_chapter_with_its_hours():
    rows = TEXT.partition(MARKS[0])[2].partition(MARKS[1])[0].splitlines()[2:-1]
    assert len(rows) == len(chapters())
    for row, chapter in zip(rows, chapters(), strict=True):
        link = f"[{chapter.title}](chapters/{chapter.folder.name}/README.md)"
        assert row.startswith(f"| {link}<br>{chapter.hours} h | ")


def test_the_map_names_the_needs_of_five_cells_or_more():
    table = chapter_table(chapters())
    for chapter, row in zip(chapters(), table.splitlines()[2:], strict=False):
        books = [book for book in all_notebooks() if book.path.parent == chapter.folder]
        on_gpu = sum(needs_gpu(cell) for book in books for cell in book.cells)
        assert ("GPU" in row.rpartition(" | ")[2]) == (on_gpu >= 5), chapter.title


def test_each_need_of_a_cell_has_a_word_in_the_map():
    tokens = {token for book in all_notebooks() for token in book.tokens}
    without = [token for token in tokens if not any(front_page._means(w, token) for w in NEEDS)]
    assert not without, f"NEEDS of front_page.py has no word for {without}"


def test_drawing_reads_a_notebook_once_for_the_list_and_once_for_its_needs(monkeypatch):
    reads = Counter()
    read_text = Path.read_text

    def counted(path, *arguments, **options):
        reads[path] += 1
        return read_text(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", counted)
    drawn(TEXT)
    assert max(reads[each.path] for each in lessons()) <= 2


def needs_gpu(tokens):
    return any(re.fullmatch(NEEDS["GPU"], token) for token in tokens)


def test_more_than_nine_in_ten_cells_run_without_a_gpu():
    cells = [cell for book in all_notebooks() for cell in book.cells]
    assert "More than nine in ten code cells run without a GPU" in TEXT
    assert sum(map(needs_gpu, cells)) < len(cells) / 10


def test_a_chapter_without_its_line_is_named():
    chapter = Chapter(CHAPTERS / "99_new", "99 New", tuple(lessons()[:1]))
    with pytest.raises(LessonError, match="front_page.py needs a line for the chapter 99_new"):
        chapter_table([chapter])


@pytest.mark.emulator
def test_the_report_that_it_shows_is_that_of_its_kernel(tmp_path, monkeypatch, capsys):
    (source,) = re.findall(r"(?ms)^```cuda\n(.*?)^```$", TEXT)
    (command,) = re.findall(r"(?m)^\S+ -m course_utils\.emulator ((?:.*\\\n)*.*)$", TEXT)
    (report,) = re.findall(r"(?m)^> (.*)$", TEXT)
    (tmp_path / "add.cu").write_text(source)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command.replace("\\\n", ""))) == 1
    assert report.replace("*", "") in capsys.readouterr().out
