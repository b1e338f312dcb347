"""The small parts of the notebook machinery, each by what it answers."""

import base64
import io
import sys
import time

import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from course_utils.notebooks import output_store, progress_bars, rules, run
from course_utils.notebooks.canonical import _ids, _last_written, canonical, clean
from course_utils.notebooks.cells import Violation, files_named, find, numbered
from course_utils.notebooks.execute import Failure, _failure, kernel_environment, skipped_cells
from course_utils.notebooks.lessons import lesson
from course_utils.paths import ROOT, shown


def messages(check, *cells, path=None, root=ROOT):
    """(cell, message) of each violation that ``check`` finds."""
    nb = new_notebook(cells=list(cells))
    found = check(nb, path or ROOT / "chapters/04_first_kernels/xx.ipynb", root)
    return [(violation.cell, violation.message) for violation in found]


def quiz(*folds):
    body = "".join(f"<details><summary>{t}</summary>\n\n{b}\n\n</details>\n" for t, b in folds)
    return new_markdown_cell(f"**Quiz.** Which?\n\n{body}")


RIGHT = ("a", "Right: since it is the only one.")
WRONG = ("b", "Wrong: since the other one is.")


def test_a_picture_is_kept_in_a_palette_and_then_left_alone():
    figure = Figure(figsize=(2, 2))
    figure.subplots().plot([1, 3, 2])
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    cell = new_code_cell(
        "f()",
        outputs=[
            new_output(
                "display_data",
                {"image/png": base64.b64encode(drawn.getvalue()).decode(), "text/plain": "f"},
            )
        ],
    )
    once = canonical(new_notebook(cells=[cell]))
    (output,) = once.cells[0].outputs
    kept = base64.b64decode(output.data["image/png"])
    assert Image.open(io.BytesIO(kept)).mode == "P"
    assert len(kept) < 0.6 * len(drawn.getvalue())
    assert canonical(once) == once


def test_a_quiz_has_two_choices_or_more_one_right_and_each_with_its_reason():
    check = rules.explains_every_choice_of_a_quiz
    assert messages(check, quiz(RIGHT, WRONG)) == []
    assert messages(check, new_markdown_cell("no quiz")) == []
    assert messages(check, quiz(RIGHT)) == [(1, "its quiz has 1 choices, 1 of them right")]
    assert messages(check, quiz(RIGHT, RIGHT)) == [(1, "its quiz has 2 choices, 2 of them right")]
    assert messages(check, quiz(WRONG, WRONG)) == [(1, "its quiz has 2 choices, 0 of them right")]
    assert messages(check, quiz(RIGHT, (" c ", "Wrong: one two three."))) == [
        (1, "its quiz does not explain the choice “c”")
    ]
    assert messages(check, quiz(RIGHT, ("c", "Wrong: one two three four."))) == []
    assert messages(check, quiz(RIGHT, ("c", "one two three four five six"))) == [
        (1, "its quiz does not explain the choice “c”")
    ]


def test_a_cell_has_at_most_25_lines_of_code_and_empty_ones_do_not_count():
    lines = "x = 1\n\n"
    assert messages(rules.has_short_cells, new_code_cell(25 * lines)) == []
    assert messages(rules.has_short_cells, new_code_cell(26 * lines)) == [
        (1, "it has 26 lines of code; a cell has at most 25")
    ]
    assert messages(rules.has_short_cells, new_code_cell("%%exercise 04.a\n" + 30 * lines)) == []


def test_a_figure_is_followed_by_words():
    drawn = new_code_cell("f()", outputs=[new_output("display_data", {"image/png": "x"})])
    check, message = rules.says_what_to_see_in_figures, "its figure is not followed by words"
    words = new_markdown_cell("See")
    assert messages(check, drawn, words) == []
    assert messages(check, new_code_cell("x"), words) == []
    for cells in ([drawn], [drawn, new_code_cell("x"), words]):
        ((number, found),) = messages(check, *cells)
        assert number == 1 and found.startswith(message)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("image/png", False),
        ("text/html", False),
        ("image/svg+xml", True),
        ("application/vnd.jupyter.widget-view+json", True),
    ],
)
def test_pictures_are_png(kind, wrong):
    cell = new_code_cell("f()", outputs=[new_output("display_data", {kind: "x"})])
    assert bool(messages(rules.has_png_pictures_only, cell)) == wrong


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from course_utils import load, cp as c", []),
        ("from course_utils import (load,\n    nothing_such)", ["nothing_such"]),
        ("from course_utils.paths import ROOT", ["course_utils.paths"]),
        ("import course_utils.paths", ["course_utils.paths"]),
        ("import course_utils", []),
        ("from course_utils import load  # and more", []),
    ],
)
def test_a_notebook_imports_public_names(source, names):
    found = messages(rules.imports_public_names_only, new_code_cell(source))
    assert len(found) == len(names)
    assert all(name in message for name, (_, message) in zip(names, found, strict=True))


def test_the_first_cell_is_the_title_and_the_last_has_the_next_link():
    title, plain = new_markdown_cell("# Title"), new_markdown_cell("Title")
    link = new_markdown_cell("**Next: [there](a.ipynb)**")
    assert messages(rules.begins_with_a_title, title, plain) == []
    assert messages(rules.begins_with_a_title, plain, title) == [(1, "it is not the title")]
    assert messages(rules.begins_with_a_title, new_code_cell("# Title"))
    assert messages(rules.begins_with_a_title, new_code_cell("# Title"), title)
    assert messages(rules.begins_with_a_title)
    assert messages(rules.ends_with_a_next_link, plain, link) == []
    ((number, _),) = messages(rules.ends_with_a_next_link, link, plain)
    assert number == 2 and messages(rules.ends_with_a_next_link, new_code_cell(link.source))
    assert messages(rules.ends_with_a_next_link)


def test_a_path_of_one_machine_is_named_wherever_it_shows():
    output = new_output("stream", text="see /home/me/x.py")
    result = new_output("execute_result", {"text/plain": "/root/a", "image/png": "/root/b"})
    cells = new_markdown_cell("in /work/a"), new_code_cell("x", outputs=[output, result])
    assert messages(rules.has_no_machine_paths, *cells) == [
        (1, "its source names a path of one machine: /work/a"),
        (2, "its output names a path of one machine: /home/me/x.py"),
        (2, "its output names a path of one machine: /root/a"),
    ]
    error = new_output("error", ename="E", evalue="at /tmp/a", traceback=["in /tmp/b"])
    assert len(messages(rules.has_no_machine_paths, new_code_cell("x", outputs=[error]))) == 2


@pytest.mark.parametrize(
    ("host", "text", "found"),
    [
        ("gpu-7", "on gpu-7 today", ["gpu-7"]),
        ("gpu-7", "elsewhere", []),
        ("node-7", "on node-7 today", ["node-7"]),
        ("runner", "a runner", []),
        ("ab-1", "ab-1", []),  # four letters are too few
        ("localhost", "localhost", []),
        ("x", "me@there.org:/data", ["me@there.org:/"]),
        ("x", "at node.internal", ["node.internal"]),
    ],
)
def test_a_host_is_found_by_its_name_or_its_form(host, text, found, monkeypatch):
    monkeypatch.setattr(rules.socket, "gethostname", lambda: host)
    assert rules._hosts(text) == found


def test_links_in_code_and_formulas_are_no_links():
    text = "[a](x.md) `[b](y.md)` $[c](z)$\n```\n[d](w.md)\n```\n<img src='p.png'>"
    assert rules._links(text) == ["x.md", "p.png"]


def test_a_link_leads_to_a_file_of_the_repository_and_to_a_heading(tmp_path):
    root = tmp_path / "course"
    (root / "chapters").mkdir(parents=True)
    (root / "chapters/a.md").write_text("# One `two` three\n<a id='here'></a>\n")
    (tmp_path / "outside.md").write_text("x")
    path = root / "chapters/book.ipynb"
    path.write_text("{}")

    def check(link):
        cell = new_markdown_cell(f"## Own heading\n\n[x]({link})")
        return [m for _, m in messages(rules.has_links_that_resolve, cell, path=path, root=root)]

    for link in ("a.md", "a.md#here", "a.md#One-two-three", "a.md#one-two-three", "#Own-heading"):
        assert check(link) == []
    assert check("https://a.org/b") == check("mailto:me") == check("attachment:a.png") == []
    assert check("b.md") == ["its link to b.md leads nowhere"]
    assert check("../../outside.md") == ["its link to ../../outside.md leaves the repository"]
    assert check("a.md#no") == ["no heading of a.md has the anchor #no"]
    assert check("#no") == ["no heading of this notebook has the anchor #no"]


def test_a_heading_that_is_a_link_goes_by_its_words(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# The [first *rung*](a.ipynb), once\n")
    found = rules._anchors(page, None, tmp_path / "other.md")
    assert found == {"The-first-rung,-once", "the-first-rung-once"}


def test_every_link_of_a_cell_is_followed_past_those_that_leave_the_course(tmp_path):
    path = tmp_path / "book.ipynb"
    path.write_text("{}")
    cell = new_markdown_cell("[a](https://a.org) [b](gone.md) [c](mailto:me) [d](lost.md)")
    assert messages(rules.has_links_that_resolve, cell, path=path, root=tmp_path) == [
        (1, "its link to gone.md leads nowhere"),
        (1, "its link to lost.md leads nowhere"),
    ]


@pytest.mark.parametrize("link", ["#Own-heading", "book.ipynb#Own-heading"])
def test_the_headings_of_a_notebook_are_those_it_has_now_however_its_path_is_written(
    tmp_path, link
):
    (tmp_path / "book.ipynb").write_text("{}")  # what lies on the disk has no headings
    (tmp_path / "folder").mkdir()
    cell = new_markdown_cell(f"## Own heading\n\n[x]({link})")
    for path in (tmp_path / "book.ipynb", tmp_path / "folder" / ".." / "book.ipynb"):
        assert messages(rules.has_links_that_resolve, cell, path=path, root=tmp_path) == []


def test_ids_follow_the_headings_and_are_used_once():
    heads = "# A b!", "text", "## Step", "x", "# Step 2", "# !!"
    nb = new_notebook(cells=[new_markdown_cell(text) for text in heads])
    assert _ids(nb) == ["a-b", "a-b-2", "step", "step-2", "step-2-b", "section"]
    long = new_notebook(cells=[new_markdown_cell("# " + "a" * 47 + " b c")])
    assert _ids(long) == ["a" * 47]
    assert _ids(new_notebook(cells=[new_code_cell("# no heading")])) == ["start"]


def test_what_a_terminal_shows_is_what_was_written_last():
    assert _last_written("10 %\r20 %\r\nend\r") == "20 %\nend"
    assert clean("\x1b[31mred\x1b[0m <A at 0x7f12>") == "red <A at 0x…>"
    assert clean("/tmp/ipykernel_12/345.py a") == "<cell> a"
    assert clean("/x/lib/site-packages/numpy/a.py") == "site-packages/numpy/a.py"


def test_a_long_run_of_characters_of_a_path_is_read_once():
    """A page of steps has runs of 100,000: looked at from each of them, they took half a minute."""
    start = time.perf_counter()
    assert clean(run := "A/" * 30_000) == run
    assert time.perf_counter() - start < 1


def test_counts_begin_at_one_where_a_cell_has_run_and_are_none_where_none_has():
    fresh = new_notebook(cells=[new_code_cell("a"), new_code_cell("b")])
    assert [cell.execution_count for cell in canonical(fresh).cells] == [None, None]
    fresh.cells[1].execution_count = 7
    assert [cell.execution_count for cell in canonical(fresh).cells] == [1, 2]


def test_a_stream_is_one_output_and_another_is_its_own():
    outs = [new_output("stream", name=n, text=t) for n, t in (("stdout", "a\n"), ("stdout", "b"))]
    outs += [new_output("stream", name="stderr", text=t) for t in "cd"]
    outs.append(new_output("stream", name="stdout", text="e"))
    found = canonical(new_notebook(cells=[new_code_cell("x", outputs=outs)])).cells[0].outputs
    written = [(output.name, output.text) for output in found]
    assert written == [("stdout", "a\nb"), ("stderr", "cd"), ("stdout", "e")]


def test_a_long_text_is_cut_behind_a_line_and_a_large_picture_left_out():
    line = "x" * 99 + "\n"
    assert output_store._cut(line * 100) == [line] * 100
    found = output_store._cut(line * 105)
    assert found[-1] == "… and 6 more lines\n" and len(found) == 100
    picture = new_output("display_data", {"image/png": "p" * 500_000, "text/plain": "f"})
    assert set(output_store._mime_bundle(picture)) == {"image/png", "text/plain"}
    picture.data["image/png"] += "p"
    assert output_store._mime_bundle(picture) == {"text/plain": ["f"]}
    assert (
        output_store._mime_bundle(new_output("error", ename="E", evalue="", traceback=[])) is None
    )


def test_a_violation_says_where_and_what_to_do():
    assert str(Violation(3, "it is bad", "mend it")) == "cell 3: it is bad → mend it"
    assert str(Violation(0, "it is bad", "mend it")) == "notebook: it is bad → mend it"


def test_notebooks_are_found_by_path_and_by_folder_each_once(tmp_path):
    (tmp_path / "a/.ipynb_checkpoints").mkdir(parents=True)
    books = [tmp_path / "a/2.ipynb", tmp_path / "a/1.ipynb"]
    for book in (*books, tmp_path / "a/.ipynb_checkpoints/1.ipynb"):
        book.write_text("{}")
    assert find([tmp_path / "a", books[0]]) == sorted(books)
    others = [tmp_path / "a/notes.txt", tmp_path / "a/old.bak", tmp_path / "a/book"]
    for other in others:
        other.write_text("{}")
    for wrong in (tmp_path / "none.ipynb", tmp_path / "a/.ipynb_checkpoints", *others):
        with pytest.raises(FileNotFoundError, match="no notebook there"):
            find([wrong])
    assert shown(ROOT / "chapters/x.ipynb") == "chapters/x.ipynb"
    assert shown(books[0]) == str(books[0])


def test_cells_are_numbered_among_all_cells():
    nb = new_notebook(cells=[new_markdown_cell("a"), new_code_cell("b")])
    assert [n for n, _ in numbered(nb)] == [1, 2]
    assert [n for n, _ in numbered(nb, "code")] == [2]


def test_files_are_named_by_their_end_and_by_placeholders(tmp_path):
    for name in ("a/01_x.cu", "a/02_x.cu", "a/03_y.cu", "exercises/s.cu"):
        file = tmp_path / "kernels" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")

    def named(*sources):
        return [file.name for file in files_named(sources[0], "\n".join(sources), tmp_path)]

    assert named('load("a/01_x.cu")') == ["01_x.cu"]
    assert named('load("../kernels/a/01_x.cu")') == ["01_x.cu"]
    assert named('load(f"a/{n:02}_x.cu")') == ["01_x.cu", "02_x.cu"]
    assert named('f"a/03_{name}.cu"', 'name = "y"') == ["03_y.cu"]
    assert named('f"a/03_{name}.cu"', 'name = "z"') == []
    assert named('load("s.cu")') == [] and named('load("exercises/s.cu")') == ["s.cu"]


def test_a_kernel_gets_the_course_and_the_device_in_its_environment(monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.delenv("COURSE_DEVICE", raising=False)
    found = kernel_environment(None)
    assert found["PYTHONPATH"] == str(ROOT) and "COURSE_DEVICE" not in found
    assert found["PYTHONHASHSEED"] == "0" and "matplotlib_inline" in found["MPLBACKEND"]
    monkeypatch.setenv("PYTHONPATH", "mine")
    assert kernel_environment("emulator")["PYTHONPATH"].split(":") == [str(ROOT), "mine"]
    assert kernel_environment("emulator")["COURSE_DEVICE"] == "emulator"


def test_skipped_cells_are_counted():
    skipped = new_output("stream", text="Skipped here: needs a GPU.\n")
    other = new_output("stream", text="not Skipped here: x")
    cells = [new_code_cell("x", outputs=[out]) for out in (skipped, other, skipped)]
    assert skipped_cells(new_notebook(cells=cells)) == 2


@pytest.mark.parametrize(
    ("trace", "line", "source"),
    [
        ("no line is named", 0, "first"),
        ("Cell In[1], line 3\nx", 3, "third"),
        ("Cell In[1], line 4\nx", 4, "first"),  # the cell has no such line
    ],
)
def test_a_failure_shows_the_line_that_is_named_or_else_the_first(trace, line, source):
    error = new_output("error", ename="E", evalue="why", traceback=[trace])
    cell = new_code_cell("\nfirst\n  third", outputs=[error])
    assert _failure(7, cell) == Failure(7, line, source, "E: why")


def test_paths_of_this_machine_become_relative(monkeypatch):
    monkeypatch.setattr(run.os.path, "expanduser", lambda path: "/home/me")
    monkeypatch.setattr(run.sys, "prefix", "/opt/venv")
    assert run.without_machine(f"in {ROOT}/a.py and {ROOT}") == "in a.py and ."
    assert run.without_machine("/opt/venv/lib /home/me/x /home/menu") == "<venv>/lib ~/x /home/menu"
    monkeypatch.setattr(run.sys, "prefix", sys.base_prefix)
    assert run.without_machine(f"{sys.base_prefix}/lib") == f"{sys.base_prefix}/lib"


def test_a_plain_report_has_a_line_for_each_step(capsys):
    with progress_bars.progress_bar(3) as report:
        report.start("[1/2] a")
        report.advance()
        report.verdict("PASS", "0.1 s  a")
        report.detail("why\nso")
    assert capsys.readouterr().out == "[1/2] a …\nPASS  0.1 s  a\n      why\n      so\n"


def test_a_bar_shows_the_same_words(capsys):
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(width=60)) as progress:
        bar = progress_bars.Bar(progress, progress.add_task("", total=2))
        bar.start("[1/2] a")
        bar.advance()
        bar.verdict("FAIL", "0.1 s  a")
        bar.detail("why\nso")
        assert progress.tasks[0].description == "[1/2] a" and progress.tasks[0].completed == 1
    assert "FAIL  0.1 s  a\n      why\n      so\n" in capsys.readouterr().out


def test_a_notebook_goes_by_its_first_heading(tmp_path):
    book = tmp_path / "a.ipynb"
    book.write_text('{"cells": [{"source": ["# The title\\n", "text"]}]}')
    assert lesson(book).title == "The title"
