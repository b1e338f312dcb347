"""The names by which a reader asks for notebooks, as `doctor` prints them and shorter."""

from __future__ import annotations

import pytest

from course_utils.errors import LessonError
from course_utils.notebooks.cells import asked_for, named
from course_utils.paths import CHAPTERS, notebook_files

BOOK = CHAPTERS / "04_first_kernels/01_hello_threads.ipynb"


@pytest.mark.parametrize(
    "word",
    [
        "04_first_kernels/01_hello_threads",
        "04_first_kernels/01_hello_threads.ipynb",
        "chapters/04_first_kernels/01_hello_threads.ipynb",
        "./chapters/04_first_kernels/01_hello_threads",
        "04_First_Kernels/01_Hello_Threads",
        "04/01",
        str(BOOK),
    ],
)
def test_a_notebook_is_found_by_its_name(word):
    assert asked_for([word]) == [BOOK]


@pytest.mark.parametrize("word", ["04_first_kernels", "chapters/04_first_kernels/", "04"])
def test_a_chapter_means_all_its_notebooks(word):
    assert named(word) == [path for path in notebook_files() if path.parent == BOOK.parent]


def test_a_notebook_that_is_asked_for_twice_comes_once():
    assert asked_for(["04/01", str(BOOK), "04"])[:2] == asked_for(["04"])[:2]
    assert asked_for([]) == notebook_files()


@pytest.mark.parametrize(
    "word", ["01_hello_threads", "04_first_kernel/01_hello", "4/hello_threads"]
)
def test_an_unknown_name_gets_the_closest(word):
    with pytest.raises(LessonError, match=r"did you mean .*04_first_kernels/01_hello_threads"):
        asked_for([word])


@pytest.mark.parametrize("word", ["", "/", "0/0/0", "~", "xyz" * 1000])
def test_what_resembles_no_name_is_refused_in_a_line(word):
    with pytest.raises(LessonError, match="No notebook or chapter is called") as caught:
        named(word)
    assert len(str(caught.value)) < 300
