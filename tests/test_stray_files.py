"""Files that a reader leaves beside the course's own stop no command: left out, or named."""

from __future__ import annotations

import json
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_utils import environment, notebook_requirements, paths
from course_utils.__main__ import main
from course_utils.errors import LessonError
from course_utils.notebooks import cells, execute, lessons, maps
from course_utils.notebooks.canonical import read_file
from course_utils.notebooks.stamp import fingerprints
from course_utils.paths import kernel_file, notebook_cells, notebook_files

BOOK = json.dumps(new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("x = 1")]))
UNREADABLE = {
    "empty": b"",
    "cut": BOOK.encode()[:50],
    "of a merge": b"<<<<<<< HEAD\n" + BOOK.encode(),
    "UTF-16": BOOK.encode("utf-16"),
    "a list": b"[1, 2]",
    "no cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "odd cells": b'{"cells": [1], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one chapter, with one notebook and one kernel."""
    monkeypatch.setattr(paths, "KERNELS", tmp_path / "kernels")
    for file in ("kernels/04_x/threads/01_add.cu", "chapters/04_x/01_first.ipynb"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(BOOK)
    return tmp_path


def plant(file) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(BOOK)


@pytest.mark.parametrize(
    "file", ["threads/01_add copy.cu", "exercises/add.cu", "host/add.cu", "threads/add.cuh"]
)
def test_a_kernel_is_found_beside_other_files(course, file):
    plant(course / "kernels/04_x" / file)
    (course / "kernels/04_x/mine/add.cu").mkdir(parents=True)  # a folder
    assert kernel_file("add", "04_x") == "04_x/threads/01_add.cu"


def test_a_copy_of_a_kernel_and_the_kernel_are_both_named(course):
    plant(course / "kernels/04_x/mine/01_add.cu")
    with pytest.raises(LessonError) as caught:
        kernel_file("add", "04_x")
    for part in ("kernels/04_x/mine/01_add.cu and ", "kernels/04_x/threads/01_add.cu", "move it"):
        assert part in str(caught.value)


def test_a_kernel_that_is_gone_is_named(course):
    (course / "kernels/04_x/threads/01_add.cu").unlink()
    with pytest.raises(LessonError, match="kernels/04_x has no file add.cu"):
        kernel_file("add", "04_x")


def test_a_file_in_another_encoding_is_named_by_the_stamp(course):
    (course / "kernels/04_x/threads/01_add.cu").write_bytes("// groß".encode("latin-1"))
    book = new_notebook(cells=[new_code_cell("load('04_x/threads/01_add.cu')")])
    with pytest.raises(LessonError, match=r"01_add\.cu is not UTF-8"):
        fingerprints(book, course)


@pytest.mark.parametrize(
    "file",
    [
        "04_x/01_first-Copy1.ipynb",
        "04_x/01_first copy.ipynb",
        "04_x/Untitled.ipynb",
        "04_x copy/01_first.ipynb",
        "mine/01_first.ipynb",
        "04_x/.ipynb_checkpoints/01_first-checkpoint.ipynb",
    ],
)
def test_a_notebook_that_the_course_does_not_name_is_none_of_its_own(course, file):
    plant(course / "chapters" / file)
    (course / "chapters/04_x/02_folder.ipynb").mkdir()
    assert notebook_files(course) == [course / "chapters/04_x/01_first.ipynb"]


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("read", [notebook_cells, read_file])
def test_a_notebook_that_cannot_be_read_is_named(tmp_path, read, content):
    path = tmp_path / "03_mine.ipynb"
    path.write_bytes(content)
    with pytest.raises(LessonError, match=r"03_mine\.ipynb can't be read as a notebook \(\w+: "):
        read(path)


@pytest.fixture
def broken(course, monkeypatch):
    """The course's notebook cannot be read; every room looks at this course."""
    path = course / "chapters/04_x/01_first.ipynb"
    path.write_bytes(UNREADABLE["cut"])
    for room in (cells, lessons, notebook_requirements):
        monkeypatch.setattr(room, "notebook_files", lambda root=course: notebook_files(course))
    return path


@pytest.fixture
def well(monkeypatch):
    line = environment.ReportLine(environment.GOOD, "all", "here")
    monkeypatch.setattr(environment, "examine", lambda: [line])


def test_doctor_marks_a_notebook_that_cannot_be_read(broken, well, capsys):
    assert main(["doctor"]) == 1
    assert re.search(r"!!  04_x/01_first .*can't be read as a notebook", capsys.readouterr().out)


def test_doctor_marks_a_notebook_with_a_wrong_word(broken, well, capsys):
    book = new_notebook(cells=[new_code_cell("%%needs a_gpu")])
    broken.write_text(json.dumps(book))
    assert main(["doctor"]) == 1
    assert re.search(r"!!  04_x/01_first .*%%needs a_gpu", capsys.readouterr().out)


def test_the_map_shows_the_name_of_a_notebook_that_cannot_be_read(broken):
    assert "[01_first.ipynb](" in maps.chapter_map().data


def test_a_run_fails_a_notebook_that_cannot_be_read_and_goes_on(broken, monkeypatch, capsys):
    plant(broken.with_name("02_second.ipynb"))
    monkeypatch.setattr(execute, "execute", lambda *_: execute.RunOutcome(0.1, 0))
    assert main(["run", "04"]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"FAIL  \S+/01_first\.ipynb\n +\S+ can't be read", printed)
    assert re.search(r"PASS .*02_second\.ipynb", printed) and "1 PASS, 1 FAIL" in printed


@pytest.mark.parametrize("option", ["--check", "--format"])
def test_what_starts_no_kernel_goes_on_too(broken, option, capsys):
    plant(broken.with_name("02_second.ipynb"))
    assert main(["run", option, str(broken.parent)]) == 1
    printed = "".join(capsys.readouterr())
    assert "01_first.ipynb can't be read as a notebook" in printed
    assert "02_second.ipynb" in printed
