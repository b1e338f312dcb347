"""No page has more phrases that count than its budget, and no command raises a budget."""

from __future__ import annotations

import subprocess
import warnings

import pytest

from course_utils.paths import ROOT
from tests.prose import __main__ as command
from tests.prose.budget import (
    SLACK,
    found_again,
    lowered,
    read_budgets,
    read_page,
    read_pages,
    report,
    to_lower,
    too_high,
    with_moved,
    write_budgets,
)
from tests.students_notebooks import in_use

TWO = "The tile lies behind it.\n"  # two phrases that count
PLAIN = "The tile is in shared memory. " * 50


def test_no_page_of_the_course_is_above_its_budget():
    pages = read_pages(ROOT, without=in_use())
    known = found_again(pages, read_budgets())
    above = [report(page, known, ROOT) for page in too_high(pages, known)]
    assert not above, "\n" + "\n".join(above)
    if low := to_lower(pages, known):
        names = "".join(f"\n  {page.name}: {known[page.name]} → {page.count}" for page in low)
        warnings.warn(f"budgets to lower, by `python -m tests.prose`:{names}", stacklevel=1)


def pages(**sources):
    """Pages by their names without the suffix, where __ is a slash."""
    names = {f"{name.replace('__', '/')}.md": source for name, source in sources.items()}
    return {name: read_page(name, source) for name, source in names.items()}


def names(found):
    return [page.name for page in found]


def test_a_page_above_its_budget_is_found():
    book = pages(one=TWO, two=TWO)
    assert names(too_high(book, {"one.md": 1, "two.md": 2})) == ["one.md"]


def test_a_new_page_may_have_eight_per_thousand_words():
    book = pages(short=TWO, long=TWO + PLAIN)
    assert [page.allowance() for page in book.values()] == [1, 3]
    assert names(too_high(book, {})) == ["short.md"]
    assert lowered(book, {}) == {"long.md": 2}


def test_a_well_written_page_is_never_too_high():
    book = pages(long=TWO + 2 * PLAIN, short=TWO)
    assert names(too_high(book, {"long.md": 0, "short.md": 0})) == ["short.md"]


def test_a_budget_goes_down_and_never_up():
    book = pages(better=TWO, worse=TWO)
    assert lowered(book, {"better.md": 9, "worse.md": 1, "gone.md": 3}) == {
        "better.md": 2,
        "worse.md": 1,
    }


def test_a_budget_far_above_its_page_is_named():
    book = pages(near=TWO, far=TWO)
    assert names(to_lower(book, {"near.md": 2 + SLACK, "far.md": 3 + SLACK})) == ["far.md"]


def test_a_file_that_moved_keeps_its_budget_if_its_name_shows_it():
    book = pages(rooms__one=TWO, rooms__README=TWO, other__README=TWO)
    budgets = {"one.md": 2, "README.md": 5, "gone.md": 7}
    found = found_again(book, budgets)
    assert found == {"rooms/one.md": 2, "README.md": 5, "gone.md": 7}


def test_text_that_moved_takes_its_budget_along():
    book = pages(whole="", half=TWO)
    assert with_moved(book, {"whole.md": 5}, "whole.md", "half.md") == {"whole.md": 3, "half.md": 2}
    assert with_moved(book, {"old.md": 5}, "old.md", "half.md") == {"half.md": 2}
    assert with_moved(book, {"old.md": 1}, "old.md", "half.md") == {"half.md": 1}


@pytest.mark.parametrize("old, new", [("whole.md", "none.md"), ("none.md", "half.md"), ("a", "a")])
def test_a_move_is_of_a_budget_to_a_new_page(old, new):
    with pytest.raises(ValueError, match="none|a has"):
        with_moved(pages(whole="", half=TWO), {"whole.md": 5}, old, new)


def test_budgets_are_kept_by_folder(tmp_path):
    budgets = {"README.md": 0, "a/b/one.md": 3, "a/two.md": 1}
    write_budgets(budgets, tmp_path / "budget.json")
    assert read_budgets(tmp_path / "budget.json") == budgets


@pytest.fixture
def history(tmp_path):
    """A repository with one page, committed twice: the second commit adds a phrase."""

    def git(*arguments):
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *own, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for text in (TWO, TWO + "\nSee what it has.\n"):
        (tmp_path / "one.md").write_text(text)
        git("add", "one.md")
        git("commit", "-m", "One")
    return tmp_path


def reported(root, budget):
    return report(read_page("one.md", (root / "one.md").read_text()), {"one.md": budget}, root)


def test_a_report_names_the_phrases_of_the_last_commit(history):
    assert reported(history, 2).splitlines() == [
        "one.md: 3 phrases that count, of 2 (its budget)",
        "  one.md:3: “See what it has.” (what; write: name the thing that it is)",
    ]


def test_a_report_names_the_phrases_that_are_not_committed(history):
    (history / "one.md").write_text("It is behind.\n" + (history / "one.md").read_text())
    first, *lines = reported(history, 2).splitlines()
    assert first.startswith("one.md: 4 phrases")
    assert lines == ["  one.md:1: “It is behind.” (behind; write: after, below, past)"]


def test_without_a_history_a_report_names_every_phrase(tmp_path):
    (tmp_path / "one.md").write_text(TWO)
    lines = reported(tmp_path, 1).splitlines()[1:]
    assert [line.split("(")[1].split(";")[0] for line in lines] == ["lies, stands", "behind"]


@pytest.fixture
def course(tmp_path, monkeypatch):
    (tmp_path / "one.md").write_text(TWO)
    file = tmp_path / "budget.json"
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "read_budgets", lambda: read_budgets(file))
    monkeypatch.setattr(command, "write_budgets", lambda budgets: write_budgets(budgets, file))
    return file


def test_the_command_lowers_and_refuses_to_raise(course, capsys):
    write_budgets({"one.md": 5}, course)
    assert command.main([]) == 0 and read_budgets(course) == {"one.md": 2}
    write_budgets({"one.md": 1}, course)
    assert command.main([]) == 1 and read_budgets(course) == {"one.md": 1}
    assert "one.md: 2 phrases that count, of 1" in capsys.readouterr().err


def test_the_command_carries_a_renamed_page_over(course, capsys):
    write_budgets({"old.md": 2}, course)
    assert command.main([]) == 1 and read_budgets(course) == {}
    write_budgets({"old.md": 2}, course)
    assert command.main(["--moved", "old.md", "one.md"]) == 0
    assert read_budgets(course) == {"one.md": 2}
    assert command.main(["--moved", "old.md", "one.md"]) == 2
    assert "one.md has to be a page that has no budget yet" in capsys.readouterr().err


def test_the_command_shows_a_page(course, capsys):
    assert command.main([str(course.with_name("one.md"))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "one.md: 2 in 5 words, 400.0 per 1,000"
