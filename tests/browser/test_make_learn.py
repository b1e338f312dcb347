"""`make learn` in a real browser: the first notebook opens, and from it the whole course.

The tests share one page, as a student works: what one has opened stays open for the next.
"""

from __future__ import annotations

import posixpath
import re

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.paths import CHAPTERS, ROOT
from tests.browser.server import faults_in
from tests.documents import cells, texts
from tests.turns import in_turn

FIRST = "chapters/00_start_here/01_this_machine.ipynb"
GLOSSARY = "chapters/00_start_here/02_glossary.ipynb"
CHAPTER_MAPS = sorted(path.relative_to(ROOT).as_posix() for path in CHAPTERS.glob("*/README.md"))
MAPS = ["README.md", *CHAPTER_MAPS]
BOOKS = sorted(path.relative_to(ROOT).as_posix() for path in CHAPTERS.glob("*/*.ipynb"))
CHAPTER_OF = {book: posixpath.dirname(book) for book in BOOKS}
LAST = list({chapter: book for book, chapter in CHAPTER_OF.items()}.values())
LESSONS = [book for book in LAST if book != GLOSSARY]  # whose long tables move while they are drawn
SHORTEST = min(LESSONS, key=lambda book: (ROOT / book).stat().st_size)

TARGET = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)")
PICTURE = re.compile(r"!\[[^\]]*\]\(")


def targets(document: str, text: str) -> list[str]:
    """The files of the course that a text links to, from the course's root."""
    linked = TARGET.findall(PICTURE.sub("!(", text))
    return [posixpath.normpath(posixpath.join(posixpath.dirname(document), x)) for x in linked]


def count_pictures(document: str) -> int:
    count = sum(len(PICTURE.findall(text)) for text in texts(document))
    if document.endswith(".ipynb"):
        outputs = [output for cell in cells(document) for output in cell.get("outputs", [])]
        count += sum("image/png" in output.get("data", {}) for output in outputs)
    return count


def assert_shows(lab, document: str) -> None:
    """That the document in front begins with the title that its file has."""
    if document.endswith((".ipynb", ".md")):
        (title,) = re.findall(r"\A# (.+)", texts(document)[0])
        lab.view.get_by_role("heading", name=title.strip()).first.wait_for()


def leave(lab, document: str) -> None:
    """Close a notebook that has been seen; the first stays open for its exercise."""
    if document in BOOKS and document != FIRST:
        lab.close()


DRAWN = [x for x in [*MAPS, *BOOKS] if any(PICTURE.search(text) for text in texts(x))]
# A page of Markdown is drawn at once, a notebook in seconds.
PAGES = [x for x in DRAWN if x in MAPS]
NOTEBOOKS = [pytest.param(x, marks=in_turn(n)) for n, x in enumerate(DRAWN) if x in BOOKS]


@pytest.mark.parametrize("document", [*MAPS, *BOOKS])
def test_no_link_leads_to_a_folder(document):
    linked = [target for text in texts(document) for target in targets(document, text)]
    # JupyterLab opens a dialog with an error in place of a folder.
    assert [target for target in linked if (ROOT / target).is_dir()] == []


def test_the_first_notebook_opens(lab):
    lab.wait_for(FIRST)
    assert_shows(lab, FIRST)
    lab.screenshot("first_notebook")


def test_the_file_browser_lists_the_course_and_nothing_that_python_left_there(lab, server):
    (server.course / "left.egg-info").mkdir()
    listed = lab.page.evaluate(
        """async () => {
            const folder = await jupyterapp.serviceManager.contents.get("");
            return folder.content.map(x => x.name);
        }"""
    )
    assert {"README.md", "chapters", "kernels"} <= set(listed)
    assert not [name for name in listed if name.endswith((".egg-info", "__pycache__"))]


@pytest.mark.parametrize("document", [*PAGES, *NOTEBOOKS])
def test_pictures_load(lab, document):
    """In a third of the notebooks. That all their files are there and whole is tested without a
    browser: in tests/notebooks and tests/figures."""
    lab.open(document)
    widths = lab.pictures(least=count_pictures(document))
    lab.view.locator("img").first.scroll_into_view_if_needed()
    lab.screenshot(f"picture_in_{document.replace('/', '_')}")
    assert widths and all(widths)
    leave(lab, document)


@pytest.fixture(scope="module")
def followed() -> set[str]:
    """The documents that a click has opened, wherever the first link to it is."""
    return set()


@pytest.mark.parametrize("document", [*MAPS, FIRST])
def test_every_link_opens_its_document(lab, followed, document):
    """A click each, but of the notebooks of a chapter on one: JupyterLab takes seconds to draw a
    notebook, and opens the others as it opens that one, if the server finds them."""
    expected = [target for text in texts(document) for target in targets(document, text)]
    assert expected
    lab.open(document)
    links = lab.links(expected)
    lab.screenshot(f"links_of_{document.replace('/', '_')}")
    for path, address in links.items():
        if path in followed:  # JupyterLab opens what the address says, which is the same
            continue
        if path in BOOKS and CHAPTER_OF[path] in {CHAPTER_OF.get(x) for x in followed}:
            assert lab.page.request.head(address).ok, path
            continue
        lab.open(document)
        lab.follow(address, path)
        assert_shows(lab, path)
        followed.add(path)
        leave(lab, path)


@pytest.mark.parametrize("book", LAST)
def test_the_last_notebook_of_a_chapter_names_a_document_to_go_on_with(book):
    following = targets(book, texts(book)[-1])[-1]
    assert following in [*MAPS, *BOOKS] and following != book


def test_the_last_notebook_of_a_chapter_leads_to_it(lab):
    # In one of them: JupyterLab makes the same of a link in any notebook, and drawing a long one
    # down to its last cell takes it seconds.
    following = targets(SHORTEST, texts(SHORTEST)[-1])[-1]
    lab.open(SHORTEST)
    lab.show_cell(-1)
    lab.follow(lab.links([following])[following], following)
    assert_shows(lab, following)
    leave(lab, following)
    lab.open(SHORTEST)
    leave(lab, SHORTEST)


def test_a_link_with_an_anchor_scrolls_to_its_heading(lab):
    book = "chapters/09_mnist_cnn/03_c.ipynb"
    # JupyterLab scrolls once, and cells that are drawn after that push the heading away: so the
    # glossary is drawn first, down to its last link.
    lab.open(GLOSSARY)
    lab.show_cell(-1)
    lab.links([target for text in texts(GLOSSARY) for target in targets(GLOSSARY, text)])
    lab.show_cell(0)
    assert not lab.is_seen("Networks", 1)
    for seconds in (15, 60):
        lab.open(book)
        lab.links([GLOSSARY])
        lab.view.get_by_role("link", name="glossary", exact=True).first.click()
        lab.wait_for(GLOSSARY)
        if seen := lab.is_seen("Networks", seconds):
            break
    assert seen
    lab.screenshot("glossary")
    leave(lab, GLOSSARY)
    lab.open(book)
    leave(lab, book)


def test_an_exercise_is_written_run_and_judged(lab):
    lab.open(FIRST)
    exercise = lab.cell("%%exercise 00.double_it")
    lab.run(exercise)
    lab.wait_for_output(exercise, "Run this notebook's first code cell")
    lab.screenshot("exercise_first")
    first = lab.cell("from course_utils import chapter_map")
    lab.run(first)
    lab.wait_for_output(first, "ready")
    printed = first.locator(".jp-OutputArea-output pre").first
    assert printed.evaluate("line => getComputedStyle(line).wordBreak") == "normal"
    assert printed.evaluate("line => getComputedStyle(line).whiteSpace") == "pre-wrap"
    lab.run(exercise)
    lab.wait_for_output(exercise, kinds.NOT_STARTED)
    lab.rewrite(exercise, "// TODO", "y[i] = x[i];")
    lab.run(exercise)
    lab.wait_for_output(exercise, kinds.SCALED)
    lab.screenshot("exercise_wrong")
    lab.rewrite(exercise, "y[i] = x[i];", "y[i] = 2.0f * x[i];")
    lab.run(exercise)
    lab.wait_for_output(exercise, kinds.PASS)
    lab.screenshot("exercise_right")


def test_the_lines_of_a_printed_table_stay_whole(lab):
    lab.open(FIRST)
    lab.show_cell(next(n for n, x in enumerate(cells(FIRST)) if "doctor()" in "".join(x["source"])))
    table = lab.view.locator("pre.course-whole").filter(has_text="kernels run on").first
    table.wait_for()
    assert table.evaluate("table => getComputedStyle(table).whiteSpace") == "pre"


REPORTED = """\
    Metric Name           Metric Value
    --------------------- ------------
    Memory Throughput            95.95
    L1/TEX Cache Throughput      99.00
"""
COMPARED = """\
- extern "C" __global__ void transpose_shared(const float *in, float *out)
+ extern "C" __global__ void transpose_padded(const float *in, float *out)
- __shared__ float tile[32][32];
+ __shared__ float tile[32][33];
padded: 4 sectors a load
"""
REFUSED = """\
transposed   LaunchError: the array is not contiguous. Pass a copy.
no elements  LaunchError: the grid is (0, 1, 1), which has no blocks along x.
"""


PRINTED = """\
def relu(x):
    if x < 0:
        return 0
    return x
"""


def test_a_long_sentence_above_a_table_breaks(lab):
    lab.open(FIRST)
    sentence = "To see these numbers here, install the package in a terminal. " * 5
    table = lab.print_at_the_end(f"{sentence}\n{REPORTED}")
    table.locator("span").wait_for()
    assert table.inner_text().splitlines()[1:] == REPORTED.splitlines()
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_a_program_that_a_cell_has_printed_has_colours(lab):
    book = "chapters/09_mnist_cnn/03_c.ipynb"
    lab.open(book)
    lab.show_cell(
        next(n for n, x in enumerate(cells(book)) if "static real" in str(x.get("outputs")))
    )
    lab.view.locator("pre.course-whole span").filter(has_text="static").first.wait_for()
    lab.close()


@pytest.mark.parametrize(("printed", "word"), ((COMPARED, "extern"), (PRINTED, "def")))
def test_a_printed_program_has_colours_and_what_is_counted_after_it_has_none(lab, printed, word):
    lab.open(FIRST)
    program = lab.print_at_the_end(printed)
    program.locator("span").filter(has_text=word).first.wait_for()
    uncoloured = program.evaluate("program => program.lastChild.data || ''")
    assert uncoloured.strip() == ("padded: 4 sectors a load" if printed == COMPARED else "")


@pytest.mark.parametrize(
    ("printed", "whole"), ((REPORTED, True), (COMPARED, True), (REFUSED, False))
)
def test_the_lines_of_tables_and_programs_stay_whole_and_messages_break(lab, printed, whole):
    lab.open(FIRST)
    assert (
        lab.print_at_the_end(printed).evaluate(
            """line => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
            () => done(line.classList.contains("course-whole")))))"""
        )
        is whole
    )


def test_prose_keeps_a_distance_from_the_fold_above_it_and_folds_do_not(lab):
    lab.open(FIRST)
    margins = """() => {
        const cell = document.createElement("div");
        cell.className = "jp-RenderedMarkdown";
        cell.innerHTML = "<details></details><details></details><p>After it.</p>";
        jupyterapp.shell.currentWidget.content.node.append(cell);
        return [...cell.querySelectorAll("details")]
            .map(fold => parseFloat(getComputedStyle(fold).marginBottom) > 0);
    }"""
    assert lab.page.evaluate(margins) == [False, True]


def is_cpp(source: str) -> bool:
    """Whether a committed cell is C or C++: a program, or a starter with C's comments or ends."""
    magic, _, rest = source.partition("\n")
    starter = magic.startswith("%%exercise") and re.search(r"^//|[;{]\s*$", rest, re.M)
    return bool(re.match(r"%%c(pp|uda)?\b", magic) or starter)


def language(source: str) -> str:
    """The type of a committed code cell."""
    if source.startswith("%%report"):
        return "text/x-ipythongfm"
    return "text/x-c++src" if is_cpp(source) else "text/x-python"


@pytest.mark.parametrize(
    "book",
    (
        "chapters/02_c_and_cpp/03_cpp_for_cuda.ipynb",
        "chapters/08_cute_tma_blackwell/15_project.ipynb",
    ),
)
def test_cells_of_c_and_cpp_have_its_colours(lab, book):
    lab.open(book)
    sources = ["".join(cell["source"]) for cell in cells(book) if cell["cell_type"] == "code"]
    expected = [language(source) for source in sources]
    assert len(set(expected)) == (3 if book.endswith("project.ipynb") else 2)
    assert lab.languages(expected) == expected
    lab.show_cell(next(n for n, cell in enumerate(cells(book)) if is_cpp("".join(cell["source"]))))
    lab.view.locator(".cm-line").filter(has_text=re.compile(r"^%%(c|exercise)")).first.wait_for()
    for fence in ("cpp", "text"):  # with ``text`` the lines of C have numbers, which a review names
        if any(f"```{fence}" in "".join(cell["source"]) for cell in cells(book)):
            lab.view.locator(f"code.language-{fence} span").first.wait_for(state="attached")
    lab.screenshot(f"colours_in_{book.replace('/', '_')}")
    lab.close()


def test_a_digit_that_is_drawn_with_the_mouse_is_read(lab):
    lab.open(FIRST)
    lab.with_kernel.append("07_the_race")
    lab.open("chapters/09_mnist_cnn/07_the_race.ipynb")
    for text in ("from course_utils import centred", "def looked_at", "drawing_pad(looked_at)"):
        lab.run(lab.cell(text))
    pad = lab.view.locator(".course-drawing-pad[data-ready]")
    pad.wait_for()
    three = [(0.3, 0.2), (0.5, 0.13), (0.68, 0.25), (0.6, 0.42), (0.45, 0.48)]
    three += [(0.65, 0.56), (0.7, 0.75), (0.5, 0.88), (0.28, 0.8)]
    lab.draw(pad.locator("canvas"), three)
    pad.get_by_role("button", name="What is it?").click()
    pad.locator(".answer").filter(has_text="I read 3").wait_for()
    pad.locator(".picture").wait_for()
    assert len(pad.locator(".code").input_value()) > 2000
    lab.screenshot("drawn_digit")
    lab.close()


def test_a_failed_request_is_found_in_the_log_and_a_given_up_one_is_not():
    given_up = "[W ServerApp] 404 GET /assets/figures/a.svg (1@127.0.0.1) 9.96ms"
    lost = given_up.replace("/assets", "/files/assets")
    error = "[E ServerApp] 500 GET /api/contents"
    assert faults_in("\n".join([given_up, lost, error, "[I] 200 GET /lab"])) == [lost, error]


def test_nothing_was_asked_and_no_request_failed(lab, server):
    assert lab.questions() == []
    assert lab.failed == []
    assert server.faults() == []
