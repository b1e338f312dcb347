"""Prose is found in notebooks, Markdown, kernels and modules, with its line; code is left out."""

import json
import re
from itertools import pairwise

from course_utils.paths import ROOT
from tests.prose.pages import page_files, prose, without_code


def found(name, source):
    return [(text.line, text.text) for text in prose(name, source)]


def test_a_notebook_gives_its_markdown_cells_without_exercises():
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "Text."]},
        {"cell_type": "code", "metadata": {}, "source": ["x = 1"]},
        {"cell_type": "markdown", "metadata": {"tags": ["exercise.04.x.task"]}, "source": ["Do."]},
        {"cell_type": "markdown", "metadata": {"tags": ["hosted"]}, "source": ["<b>Fold</b>"]},
    ]
    texts = prose("chapters/04_x/01_y.ipynb", json.dumps({"cells": cells}))
    assert [(t.cell, t.line, t.text) for t in texts] == [(0, 1, "# Title\nText."), (3, 1, "Fold")]


def test_a_notebook_that_cannot_be_read_has_no_prose():
    assert found("chapters/04_x/01_y.ipynb", "<<<<<<< HEAD\n") == []


def test_the_page_of_an_exercise_ends_before_its_wrong_answers():
    source = "# Title\n\nSquare it.\n\n## Wrong answers\n\n- none — wrong: «a;→b»\n"
    assert found("kernels/04_x/exercises/square.md", source) == [(1, "# Title\n\nSquare it.\n")]


def test_markdown_keeps_its_lines_without_code_tables_tags_and_formulas():
    source = "A `x;` [link](a;b)\n```c\nint x;\n```\n| a; |\n<b>B</b> &amp; $x;$\n$$\ny;\n$$\nend"
    assert without_code(source) == "A x [link]\n\n\n\n\nB & x\n\n\n\nend"


def test_a_kernel_gives_its_comments_but_not_its_launch():
    source = "// Adds.\n// For any n.\n// grid (1), block (2); none\n\nint x;  // why\n/* a\nb */\n"
    assert found("kernels/04_x/add.cu", source) == [
        (1, "Adds.\nFor any n."),
        (5, "why"),
        (6, " a\nb "),
    ]


def test_a_module_gives_docstrings_comments_and_sentences():
    source = '''"""What the module is for."""
NAME = "short name"
CODE = "for (int i = 0; i < n; ++i) out[i] = in[i] for all of the rows"
TEXT = (
    f"array {name} has {n:,} elements, "
    "and the kernel wants more of them"
)
# The first line of a comment
# and the second line of it.
'''
    assert found("course_utils/x.py", source) == [
        (1, "What the module is for."),
        (5, "array x has x elements, and the kernel wants more of them"),
        (8, " The first line of a comment\n and the second line of it."),
    ]


def test_pages_are_found_where_readers_meet_them(tmp_path):
    pages = [
        "README.md",
        "chapters/04_x/01_y.ipynb",
        "chapters/04_x/exercises/01_y.py",
        "course_utils/a/README.md",
        "course_utils/a/b.py",
        "kernels/04_x/add.cu",
        "kernels/04_x/exercises/add.md",
        "kernels/common/sums.cuh",
    ]
    others = ["build/a.md", "tests/test_x.py", "chapters/.x/a.md", "chapters/04_x/mine.ipynb"]
    for name in pages + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# A page\n")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/README.md").write_text("# All\n\nWritten by `python -m x` from records.\n")
    assert sorted(f.relative_to(tmp_path).as_posix() for f in page_files(tmp_path)) == pages


LIST_ITEM = re.compile(r" {0,3}1[.)] ")
MAY_PRECEDE = re.compile(r"\s*(\d+[.)]|[-*+]|#|>) ?.*|.*(:|\*\*)\s*|\s*")


def drawn_as_lists(text):
    """The lines of a paragraph that interrupt it."""
    lines = pairwise(text.split("\n"))
    return [b for a, b in lines if LIST_ITEM.match(b) and not MAY_PRECEDE.fullmatch(a)]


def test_no_paragraph_has_a_line_that_markdown_draws_as_a_list():
    """A line that begins with 1. or 1) does. Write it elsewhere in its line."""
    assert drawn_as_lists("then ((taps -\n1) / 2, n)") == ["1) / 2, n)"]
    assert not drawn_as_lists("Two steps:\n1. one\n2. two") + drawn_as_lists("a\n\n1. one")
    files = [file for file in page_files(ROOT) if file.suffix in (".md", ".ipynb")]
    texts = (text for f in files for text in prose(f.relative_to(ROOT).as_posix(), f.read_text()))
    assert not [line for text in texts for line in drawn_as_lists(text.text)]
