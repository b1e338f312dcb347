"""``show``: a kernel's source with its lines' numbers, as text and as HTML."""

import html
import re
import sys
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course_utils import load, show
from course_utils.errors import LessonError
from course_utils.launching.listings import TAGS, Listing
from course_utils.paths import KERNELS, ROOT

SOURCE = """// Adds 1 & 2.
#include <cstdio>

/* Over
   two lines. */
extern "C" __global__ void add(float* x)
{
    x[threadIdx.x] = 0x2p0f;

    printf("%d\\n", 1); // done
}
"""


def rows_of(listing: Listing) -> list[str]:
    """The rows of the HTML as a reader sees them."""
    (code,) = re.findall("<pre[^>]*>(.*)</pre>", listing._repr_html_(), re.S)
    return html.unescape(re.sub("<[^>]*>", "", code)).split("\n")


def test_each_line_has_the_number_that_a_compiler_gives_it():
    listing = Listing(SOURCE, "add.cu")
    lines = SOURCE.splitlines()
    expected = [f"{number:2}  {line}".rstrip() for number, line in enumerate(lines, 1)]
    assert str(listing).split("\n") == ["add.cu", *expected]
    assert [row.rstrip() for row in rows_of(listing)] == expected


@pytest.mark.parametrize("path", ("common/reduce.cuh", "09_mnist_cnn/host/layers.c"))
def test_no_character_of_a_source_is_lost_in_its_html(path):
    source = (KERNELS / path).read_text(encoding="utf-8")
    width = len(str(len(source.splitlines()))) + 2
    assert [row[width:] for row in rows_of(Listing(source, path))] == source.splitlines()


@pytest.mark.parametrize(
    "lines, first, last",
    (
        ((6, 8), 6, 8),
        (("extern", None), 6, 11),
        ((None, "#include"), 1, 2),
        (("{", "}"), 7, 11),
        (("Over", 5), 4, 5),
    ),
)
def test_a_part_is_given_by_numbers_or_by_words_and_keeps_its_numbers(lines, first, last):
    listing = Listing(SOURCE, "add.cu", lines)
    assert str(listing).split("\n")[0] == f"add.cu, lines {first} to {last}"
    rows = rows_of(listing)
    assert [int(row.split()[0]) for row in rows] == list(range(first, last + 1))


def test_a_comment_that_begins_before_a_part_is_a_comment_in_it():
    assert "<i class=c>   two lines. */</i>" in Listing(SOURCE, "add.cu", (5, 6))._repr_html_()


@pytest.mark.parametrize(
    "lines, message",
    (
        ((0, 3), "add.cu has lines 1 to 11, not 0 to 3"),
        ((8, 12), "not 8 to 12"),
        ((5, 4), "not 5 to 4"),
        (("extern", "#include"), "no line with '#include' from line 6 on"),
    ),
)
def test_lines_that_are_not_there_are_named(lines, message):
    with pytest.raises(LessonError, match=message):
        Listing(SOURCE, "add.cu", lines)


def test_kinds_of_words_have_pygments_classes():
    page = Listing(SOURCE, "add.cu")._repr_html_()
    for piece in (
        "<i class=c>// Adds 1 &amp; 2.</i>",
        "<span class=cp>#include &lt;cstdio&gt;",
        "<b class=k>__global__ void </b>add(",
        '<span class=s>"C" </span>',
        "<span class=m>1</span>",
    ):
        assert piece in page


def test_jupyterlab_has_a_colour_of_its_theme_for_each_class():
    # Colours of the page itself would be too pale in light or too dark in dark.
    assert "color" not in Listing(SOURCE, "add.cu")._repr_html_()
    pytest.importorskip("jupyterlab_pygments", reason="JupyterLab brings it, and isn't installed")
    extension = Path(sys.prefix, "share/jupyter/labextensions/jupyterlab_pygments/static")
    scripts = [file.read_text(encoding="utf-8") for file in extension.glob("*.js")]
    assert scripts
    rules = re.findall(r"\.highlight \.(\w+) \{ color: var\(--jp-", "".join(scripts))
    assert {name for _, name in TAGS.values()} <= set(rules)


def test_a_file_of_no_known_language_is_shown_plain():
    assert "class=k" not in Listing("if (x)\n", "notes.unknown")._repr_html_()


def test_a_terminal_gets_text(capsys):
    show("04_first_kernels/threads/vec_add.cu", lines=('extern "C"', 8))
    assert capsys.readouterr().out == (
        "kernels/04_first_kernels/threads/vec_add.cu, lines 7 to 8\n"
        '7  extern "C" __global__ void vec_add(const float *a, const float *b, float *c, int n)\n'
        "8  {\n"
    )


def test_a_notebook_gets_html_and_text_of_a_kernel_a_module_and_a_path(monkeypatch):
    shell = InteractiveShell.instance()
    try:
        module = load("04_first_kernels/threads/vec_add.cu")
        file = ROOT / "kernels/04_first_kernels/threads/vec_add.cu"
        with capture_output() as captured:
            show(module)
            show(module.kernel)
            show(file)
        first, *others = (output.data for output in captured.outputs)
        assert first.keys() == {"text/plain", "text/html"}
        assert others == [first, first]
        assert first["text/plain"] == str(Listing(file.read_text("utf-8"), module.filename))
    finally:
        shell.clear_instance()


def test_a_file_that_is_not_there_is_said(capsys):
    with pytest.raises(LessonError, match="no kernel file 'nothing.cu'"):
        show("nothing.cu")
