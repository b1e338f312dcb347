"""What `python -m course_utils run` prints, writes and returns, where no kernel has to start."""

from __future__ import annotations

import argparse

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_utils.errors import LessonError
from course_utils.notebooks import cells, execute, output_store, rules, run
from course_utils.notebooks.canonical import STAMP
from course_utils.notebooks.cells import Violation, find
from course_utils.notebooks.execute import Failure, RunOutcome
from course_utils.notebooks.run import write_back
from course_utils.paths import notebook_files

H200 = {"kind": "emulator", "name": "NVIDIA H200", "cuda": "12.9"}


def command(*words) -> int:
    parser = argparse.ArgumentParser()
    run.add_parser(parser.add_subparsers())
    args = parser.parse_args(["run", *map(str, words)])
    return args.func(args)


@pytest.fixture
def books(tmp_path, monkeypatch):
    """Two notebooks in a folder, which nobody executes: the first is done, the second fails."""
    outcomes = {
        "01_good": RunOutcome(1.25, 2),
        "02_bad": RunOutcome(2.5, 1, Failure(2, 1, "print(2)", "ValueError: no")),
    }
    for name in outcomes:
        nb = new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell(f"print('{name}')")])
        nbformat.write(nb, tmp_path / f"{name}.ipynb")

    def executed(nb, folder, env, timeout, on_cell):
        nb.cells[1].outputs = [new_output("stream", text="done\n")]
        on_cell(2)
        return next(found for name, found in outcomes.items() if name in nb.cells[1].source)

    monkeypatch.setattr(execute, "execute", executed)
    monkeypatch.setattr(run, "describe", lambda env: H200)
    return tmp_path


def test_the_last_line_sums_up_notebooks_skipped_cells_and_seconds(books, capsys):
    assert command(books) == 1
    assert [line.replace(str(books), "…") for line in capsys.readouterr().out.splitlines()] == [
        "[1/2] …/01_good.ipynb …",
        "PASS     1.2 s  …/01_good.ipynb  (2 SKIPPED)",
        "[2/2] …/02_bad.ipynb …",
        "FAIL     2.5 s  …/02_bad.ipynb  (1 SKIPPED)",
        "      cell 2, line 1: print(2)",
        "      ValueError: no",
        "1 PASS, 1 FAIL, 3 SKIPPED cells in 3.8 s",
    ]


def test_what_was_not_skipped_is_not_spoken_of(books, capsys, monkeypatch):
    monkeypatch.setattr(execute, "execute", lambda *_: RunOutcome(1.0, 0))
    assert command(books / "01_good.ipynb") == 0
    assert "SKIPPED" not in capsys.readouterr().out


def test_an_update_writes_what_passed_and_leaves_what_failed(books):
    before = (books / "02_bad.ipynb").read_text()
    assert command("--update", books) == 1
    written = nbformat.read(books / "01_good.ipynb", 4)
    assert written.cells[1].metadata[STAMP]["device"] == "NVIDIA H200"
    assert written.cells[1].outputs[0].text == "done\n"
    assert (books / "02_bad.ipynb").read_text() == before


def test_an_update_that_changes_nothing_keeps_the_date_and_any_other_renews_it(tmp_path):
    def book(text: str):
        cell = new_code_cell("x", outputs=[new_output("stream", text=text)])
        return new_notebook(cells=[new_markdown_cell("# Title"), cell])

    def updated(text: str) -> str:
        write_back(path, book(text), H200, renew=True)
        return nbformat.read(path, 4).cells[1].metadata[STAMP]["date"]

    path = tmp_path / "01_a.ipynb"
    nbformat.write(book("a"), path)
    today = updated("a")
    path.write_text(path.read_text().replace(today, "2001-02-03"))
    assert updated("a") == "2001-02-03"
    assert updated("b") == today


def test_a_check_has_a_line_for_each_notebook_with_what_is_wrong_below_it(
    books, capsys, monkeypatch
):
    bad = [Violation(0, "it has no title", "write one")]
    monkeypatch.setattr(rules, "violations", lambda path: bad if "bad" in path.name else [])
    assert command("--check", books) == 1
    assert [line.replace(str(books), "…") for line in capsys.readouterr().out.splitlines()] == [
        "PASS  …/01_good.ipynb",
        "FAIL  …/02_bad.ipynb",
        "      notebook: it has no title → write one",
        "1 of 2 notebooks keep the house rules",
    ]
    assert command("--check", books / "01_good.ipynb") == 0


def test_what_is_formatted_is_named_and_a_second_time_nothing_is(books, capsys):
    assert command("--format", books) == 0
    assert capsys.readouterr().out.count("formatted ") == 2
    assert command("--format", books) == 0
    assert capsys.readouterr().out == ""


def test_outputs_are_stored_where_they_may_be(books, capsys, monkeypatch):
    monkeypatch.setattr(output_store, "can_be_stored", lambda nb: "good" in nb.cells[1].source)
    monkeypatch.setattr(output_store, "write", lambda path: True)
    assert command("--outputs", books) == 0
    stored, left = capsys.readouterr().out.splitlines()
    assert stored.startswith("stored the outputs of ") and stored.endswith("01_good.ipynb")
    assert left.startswith("left as it is: ") and "02_bad.ipynb" in left


def test_a_course_without_notebooks_is_no_failure(capsys, monkeypatch):
    monkeypatch.setattr(cells, "find", lambda paths: [])
    assert command() == 0
    assert "no notebooks" in capsys.readouterr().out


def test_without_paths_all_notebooks_are_meant():
    assert find([]) == notebook_files() != []


def test_a_kernel_that_does_not_start_is_told_before_the_first_cell(tmp_path, monkeypatch):
    from nbclient import NotebookClient

    def fails(*_, **__):
        raise RuntimeError("no port is free")

    monkeypatch.setattr(NotebookClient, "execute", fails)
    found = execute.execute(new_notebook(cells=[new_code_cell("x")]), tmp_path, {}, 1)
    assert (found.failure.cell, found.failure.line) == (0, 0)
    assert found.failure.error == "the kernel did not start: no port is free"


def test_a_notebook_that_was_edited_while_it_ran_is_left_alone(tmp_path):
    path = tmp_path / "01_a.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("y")]), path)
    before = path.read_text()
    with pytest.raises(LessonError, match="edited while it ran"):
        write_back(
            path, new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("x")]), H200
        )
    assert path.read_text() == before
