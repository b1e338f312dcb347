"""``make portfolio``: the page of solved exercises."""

import re

import pytest

from course_utils.__main__ import main
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.student import portfolio
from course_utils.exercises.student.saved_answers import answer_file, passing_file

KERNEL, NUMBER = "00.double_it", "03.count_warps"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "work"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def passed(name, source=None):
    passing_file(find(name)).write_text(source or find(name).solution)


def test_with_nothing_solved_it_says_so_and_writes_nothing(work, capsys):
    answer_file(find(KERNEL)).write_text("int x;")
    assert main(["portfolio"]) == 1
    assert "No exercise is solved yet" in capsys.readouterr().err
    assert not list(work.glob("*.html"))


def test_a_page_shows_the_learner_s_source_and_its_counts_beside_ours(work, capsys):
    slow = find(KERNEL).solution.replace("y[i] = 2", "y[i] = x[i]; __syncwarp(); y[i] = 2")
    passed(KERNEL, "// <script>alert(1)</script>\n" + slow)
    passed(NUMBER)
    answer_file(find("04.saxpy")).write_text("unsolved")
    assert main(["portfolio"]) == 0
    said = capsys.readouterr()
    assert "portfolio.html. Open it" in said.out and said.err == f"counting {KERNEL}\n"
    page = (work / "portfolio.html").read_text()
    assert "&lt;script&gt;" in page and "<script" not in page and "unsolved" not in page
    mine, ours = re.search(r"sectors of global memory<td>([\d,]+)<td>([\d,]+)", page).groups()
    assert (mine, ours) == ("500", "250")
    assert page.count("<pre>") == 2 and "barriers" not in page
    assert "http" not in page and "src=" not in page
    assert re.search(r"<li class=whole>.*?00 Start here.*?1 of 1, all solved", page)


def test_an_answer_is_counted_once_and_again_after_a_change(work):
    passed(KERNEL)
    said = []
    portfolio.write(said=said.append)
    first = (work / "portfolio.html").read_text()
    portfolio.write(said=said.append)
    assert said == [f"counting {KERNEL}"] and (work / "portfolio.html").read_text() == first
    passed(KERNEL, find(KERNEL).solution + "// mine\n")
    (work / "portfolio_counts.json").write_text("{")
    portfolio.write(said=said.append)
    assert len(said) == 2


def test_an_answer_that_no_longer_compiles_is_shown_without_counts(work, tmp_path):
    passed(KERNEL, "int x = ;")
    page = portfolio.write(tmp_path / "mine.html").read_text()
    assert "int x = ;" in re.sub("<[^>]*>", "", page) and "<table" not in page


def test_an_answer_that_was_deleted_is_named(work):
    (work / "progress.json").write_text(f'{{"{KERNEL}": {{"status": "done", "tries": 1}}}}')
    page = portfolio.write().read_text()
    assert "no longer in the folder" in page and "1 try" in page


def test_a_page_that_cannot_be_written_says_what_to_do_and_counts_need_not_be_kept(
    work, tmp_path, capsys
):
    passed(NUMBER)
    (work / "portfolio_counts.json").mkdir()  # in place of a file, as nothing is read-only to root
    assert main(["portfolio", str(tmp_path / "page.html")]) == 0
    (work / "portfolio.html").mkdir()
    assert main(["portfolio"]) == 1
    assert "can't be written" in (said := capsys.readouterr().err) and "portfolio FILE" in said
