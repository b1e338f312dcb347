"""The house rules that a committed notebook keeps, checked without starting a kernel.

Every check is a function (notebook, its path, the repository's root) → list of violations;
:data:`RULES` names them.
"""

from __future__ import annotations

import functools
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode

from ..errors import LessonError
from ..needs import MAGIC as NEEDS
from ..paths import ROOT
from . import canonical as form
from . import stamp
from .cells import CHECK_TAG, ERROR_TAG, Violation, is_exercise, numbered, tags
from .drawn_cells import as_listed
from .hosted_cells import with_hosted_cells
from .lessons import of_notebook
from .quizzes import ANSWER, CHOICE, QUIZ

LONGEST_CELL = 25

ABSOLUTE_PATH = re.compile(
    r"(?<![\w.~/:<>-])(?:/(?:home|root|work|tmp|mnt|Users|workspace|content)/[\w.~-]+|[CD]:\\\w+)[^\s'\"`)]*"
)
HOST = re.compile(r"\b\w+@[\w.-]+:[~/]|\b[\w-]+\.(?:internal|localdomain)\b")
MARKDOWN_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
HTML_LINK = re.compile(r"""(?:src|href)=["']([^"']+)["']""")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
MATHS = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
EXTERNAL = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.I)
IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(course_utils[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)", re.M
)
PLAIN_IMPORT = re.compile(r"^[ \t]*import[ \t]+(course_utils\.[\w.]+)", re.M)
PRINTED_SOURCE = re.compile(r"^[ \t]*print\(.*(?:\.source\b|\.cuh?[\"']\)*\.read_text\b)", re.M)
LOAD = re.compile(r"""\bload\(\s*["']([^"'\n]+\.cu)["']""")
NEXT = re.compile(r"\bnext\b[^\n]*\]\([^)]+\)|\[[^\]]*\bnext\b[^\]]*\]\([^)]+\)", re.I)
FEWEST_WORDS = 5
TITLE = re.compile(r"\A\s*#\s+\S")
# A line that begins as an item does, after one of a paragraph.
STRAY_ITEM = re.compile(r"^(?![ \t#<]|[-+*] |\d+[.)] ).*\S.*\n( {0,3}[-+*] .*)", re.M)
# "18. It is so because …" as an answer becomes item 18.
STRAY_NUMBER = re.compile(r"(?:\A|\n[ \t]*\n)( {0,3}(?!1[.)])\d+[.)] .*)")
# CommonMark takes such a line for the start of an HTML block, which an empty line ends.
HTML_BLOCK = re.compile(
    r"^ {0,3}</?(?:details|summary|div|p|center|table|thead|tbody|tr|t[hd]|[uod]l|li|fig\w+)"
    r"(?=[\s>/]).*?(?=\n[ \t]*$|\Z)",
    re.M | re.S | re.I,
)
AS_IT_STANDS = re.compile(r"<(code|pre)\b.*?</\1>|<!--.*?-->|<[^<>]+>", re.S | re.I)
MARKUP = re.compile(
    r"(`+)[^`]+\1|(\*\*?)[^\s*][^*\n]*\2|(?<!\w)(__?)[^\W_][^\n]*?\3(?!\w)|\[[^\]]*\]\([^)]*\)"
)

Check = Callable[[NotebookNode, Path, Path], list[Violation]]


def is_stamped(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Every code cell has the stamp of its code."""
    return stamp.violations(nb, root)


def has_no_errors(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No output is an error, but for cells whose lesson it is."""
    return [
        Violation(
            number,
            f"its output is an error: {output.ename}: {output.evalue[:80]}",
            f'fix the cell, or tag it "{ERROR_TAG}" if the error is the lesson',
        )
        for number, cell in numbered(nb, "code")
        for output in cell.outputs
        if output.output_type == "error" and ERROR_TAG not in tags(cell)
    ]


def has_no_machine_paths(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No source and no output names a path or a host of one machine."""
    found = []
    for number, where, text in _texts(nb):
        for match in ABSOLUTE_PATH.finditer(text):
            found.append(
                Violation(
                    number,
                    f"its {where} names a path of one machine: {match[0]}",
                    "use a path from the repository's root, or print less",
                )
            )
        for host in _hosts(text):
            found.append(
                Violation(number, f"its {where} names a host: {host}", "print less or mask it")
            )
    return found


def has_links_that_resolve(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Every relative link leads to a file, and to a heading, of the repository."""
    found = []
    for number, cell in numbered(nb, "markdown"):
        for target in _links(cell.source):
            name, _, anchor = unquote(target).partition("#")
            if name.startswith("attachment:") or EXTERNAL.match(target):
                continue
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                message, remedy = f"its link to {name} leads nowhere", "correct the relative path"
                found.append(Violation(number, message, remedy))
            elif not file.is_relative_to(root.resolve()) and path.is_relative_to(root):
                message, remedy = f"its link to {name} leaves the repository", "link inside it"
                found.append(Violation(number, message, remedy))
            elif (
                anchor
                and file.suffix in (".md", ".ipynb")
                and anchor not in _anchors(file, nb, path)
            ):
                message = f"no heading of {name or 'this notebook'} has the anchor #{anchor}"
                found.append(Violation(number, message, "link to a heading that exists"))
    return found


def names_kernels_that_exist(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Every file that a cell loads is below ``kernels/``."""
    remedy = "give the path from kernels/, such as 04_first_kernels/threads/vec_add.cu"
    return [
        Violation(number, f'load("{name}"): there is no kernels/{name}', remedy)
        for number, cell in numbered(nb, "code")
        for name in LOAD.findall(cell.source)
        if not (root / "kernels" / name).is_file()
    ]


def has_exercises_without_output(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No exercise has outputs."""
    return [
        Violation(number, "an exercise is committed with output", form.FORMAT_COMMAND)
        for number, cell in numbered(nb, "code")
        if is_exercise(cell) and cell.outputs
    ]


def has_short_cells(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No code cell is longer than LONGEST_CELL lines, unless it is an exercise."""
    found = []
    for number, cell in numbered(nb, "code"):
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        if lines > LONGEST_CELL and not is_exercise(cell):
            message = f"it has {lines} lines of code; a cell has at most {LONGEST_CELL}"
            found.append(Violation(number, message, "split it, or move code into course_utils"))
    return found


def imports_public_names_only(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Cells import from ``course_utils`` itself, and only names of its ``__all__``."""
    remedy = "notebooks import from course_utils itself, only names of its __all__"
    found = []
    for number, cell in numbered(nb, "code"):
        for module, names in IMPORT.findall(cell.source):
            if module != "course_utils":
                found.append(Violation(number, f"it imports from {module}", remedy))
                continue
            wanted = [name.split(" as ")[0].strip(" ()\n") for name in names.split(",")]
            for name in wanted:
                if name and name not in _public():
                    found.append(Violation(number, f"it imports {name}, not a public name", remedy))
        for module in PLAIN_IMPORT.findall(cell.source):
            found.append(Violation(number, f"it imports {module}", remedy))
    return found


def shows_kernels_with_their_lines(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """The source of a kernel has the line numbers that reports give."""
    remedy = "show(kernel), or of a part show(kernel, lines=(first, last))"
    return [
        Violation(number, "it prints the source of a kernel, without line numbers", remedy)
        for number, cell in numbered(nb, "code")
        if PRINTED_SOURCE.search(cell.source)
    ]


def has_no_list_in_a_paragraph(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No line of a paragraph begins like an item of a list."""
    remedy = (
        "break the line elsewhere, or begin with a word; where a list is meant, leave a line empty "
        "before it, and none between its items"
    )
    return [
        Violation(number, f"Markdown takes a line of its text for a list: {line[:40]}", remedy)
        for number, cell in numbered(nb, "markdown")
        for stray in (STRAY_ITEM, STRAY_NUMBER)
        for line in stray.findall(FENCE.sub("", cell.source))
    ]


def has_no_markdown_in_html(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No Markdown is inside HTML, where it is shown unformatted."""
    remedy = "write <code>, <b>, <i> or <a> there, or leave a line empty after the HTML's tag"
    return [
        Violation(number, f"it lies in HTML and is shown as it stands: {match[0][:40]}", remedy)
        for number, cell in numbered(nb, "markdown")
        for block in HTML_BLOCK.findall(FENCE.sub("", cell.source))
        for match in MARKUP.finditer(AS_IT_STANDS.sub(" ", block))
    ]


def begins_with_a_title(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """The first cell is a title."""
    if nb.cells and nb.cells[0].cell_type == "markdown" and TITLE.match(nb.cells[0].source):
        return []
    return [Violation(1, "it is not the title", "begin with a Markdown cell `# Title`")]


def ends_with_a_next_link(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """The last cell links the next notebook."""
    last = nb.cells[-1] if nb.cells else None
    if last is not None and last.cell_type == "markdown" and NEXT.search(last.source):
        return []
    remedy = "end with a Markdown cell that says `Next: [title](file.ipynb)`"
    return [Violation(len(nb.cells), "the last cell has no link to the next notebook", remedy)]


def says_what_the_list_says(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Its time, its needs and the next notebook agree with the list of lessons."""
    try:
        best = as_listed(nb, path.resolve(), root.resolve())
    except LessonError as error:
        return [Violation(1, str(error), "correct it in its metadata")]
    return [
        Violation(
            number, f"it doesn't say {what} as the list of lessons has it", form.FORMAT_COMMAND
        )
        for number, what in ((1, "its time and needs"), (len(nb.cells), "the next notebook"))
        if nb.cells and nb.cells[number - 1].source != best.cells[number - 1].source
    ]


def needs_earlier_notebooks_only(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Every notebook that it needs has a smaller number."""
    remedy = "teach it here, or move the part that needs it to a later notebook"
    try:
        own = of_notebook(path, nb.metadata, "")
    except LessonError:  # the rule above names it
        return []
    return [
        Violation(1, f"it needs {name}, which comes later", remedy)
        for name in own.needs
        if name >= own.name
    ]


def has_png_pictures_only(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """Every picture in the outputs is a PNG."""
    return [
        Violation(number, f"its output holds {kind}", "draw it with matplotlib as PNG")
        for number, cell in numbered(nb, "code")
        for output in cell.outputs
        for kind in output.get("data", {})
        if (kind.startswith("image/") and kind != "image/png") or "widget" in kind
    ]


def says_what_to_see_in_figures(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """A Markdown cell follows every figure."""
    remedy = "follow it with a Markdown cell of one sentence"
    return [
        Violation(number, "its figure is not followed by words that say what to see", remedy)
        for number, cell in numbered(nb, "code")
        if any("image/png" in output.get("data", {}) for output in cell.outputs)
        and (number == len(nb.cells) or nb.cells[number].cell_type != "markdown")
    ]


def compares_only_stable_output(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """No cell whose output is compared may be skipped."""
    return [
        Violation(
            number,
            f'it is tagged "{CHECK_TAG}" but prints something else where it is skipped',
            "remove the tag, or the %%needs line",
        )
        for number, cell in numbered(nb, "code")
        if CHECK_TAG in tags(cell) and cell.source.lstrip().startswith(NEEDS)
    ]


def explains_every_choice_of_a_quiz(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """A cell that begins with ``**Quiz.**`` is one question, and every choice is its own fold."""
    found = []
    for number, cell in numbered(nb, "markdown"):
        if not cell.source.lstrip().startswith(QUIZ):
            continue
        choices = CHOICE.findall(cell.source)
        right = 0
        for title, body in choices:
            answer = ANSWER.match(body.strip())
            right += answer is not None and answer[1].lower() == "right"
            if not answer or len(body.split()) < FEWEST_WORDS:
                message = f"its quiz does not explain the choice “{title.strip()}”"
                remedy = "begin the fold with Right or Wrong and say why"
                found.append(Violation(number, message, remedy))
        if len(choices) < 2 or right != 1:
            message = f"its quiz has {len(choices)} choices, {right} of them right"
            found.append(Violation(number, message, "give two choices or more, one of them right"))
    return found


def has_its_cells_for_colab(nb: NotebookNode, path: Path, root: Path) -> list[Violation]:
    """The cells for Colab and Kaggle are those that pyproject.toml asks for."""
    if nb.cells == with_hosted_cells(nb, path, root).cells:
        return []
    message = "its cells for Colab and Kaggle are not those that pyproject.toml's address asks for"
    return [Violation(0, message, form.FORMAT_COMMAND)]


RULES: tuple[Check, ...] = (
    is_stamped,
    has_no_errors,
    has_no_machine_paths,
    has_links_that_resolve,
    names_kernels_that_exist,
    has_exercises_without_output,
    has_short_cells,
    imports_public_names_only,
    shows_kernels_with_their_lines,
    has_no_list_in_a_paragraph,
    has_no_markdown_in_html,
    begins_with_a_title,
    ends_with_a_next_link,
    says_what_the_list_says,
    needs_earlier_notebooks_only,
    has_png_pictures_only,
    says_what_to_see_in_figures,
    compares_only_stable_output,
    explains_every_choice_of_a_quiz,
    has_its_cells_for_colab,
)


def violations(path: Path, root: Path = ROOT) -> list[Violation]:
    """All that is wrong with the notebook at ``path``: its form and every rule of the house."""
    nb = form.read_file(path)
    found = form.violations(path.read_text(encoding="utf-8"))
    for check in RULES:
        found += check(nb, path, root)
    return list(dict.fromkeys(found))


def _texts(nb: NotebookNode) -> Iterator[tuple[int, str, str]]:
    """(cell, "source" or "output", text) of everything a reader sees as text."""
    for number, cell in numbered(nb):
        yield number, "source", cell.source
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                yield number, "output", output.text
            elif output.output_type == "error":
                yield number, "output", "\n".join([output.evalue, *output.traceback])
            else:
                for kind, value in output.data.items():
                    if kind.startswith("text/") and isinstance(value, str):
                        yield number, "output", value


def _hosts(text: str) -> list[str]:
    found = [match[0] for match in HOST.finditer(text)]
    here = socket.gethostname()
    # A host called "runner" or "master" is a word like any other, but not "gpu-node-7".
    if len(here) > 4 and re.search(r"[\d.-]", here) and here != "localhost" and here in text:
        found.append(here)
    return found


def _links(markdown: str) -> list[str]:
    for quoted in (FENCE, INLINE_CODE, MATHS):
        markdown = quoted.sub(" ", markdown)
    return MARKDOWN_LINK.findall(markdown) + HTML_LINK.findall(markdown)


def _anchors(file: Path, nb: NotebookNode, path: Path) -> set[str]:
    """The anchors of a file's headings, as Jupyter (spaces to hyphens) and as GitHub make them."""
    if file.suffix == ".ipynb":
        book = nb if file == path.resolve() or file == path else form.read_file(file)
        text = "\n\n".join(cell.source for _, cell in numbered(book, "markdown"))
    else:
        text = file.read_text(encoding="utf-8")
    anchors = set(re.findall(r"""\b(?:id|name)=["']([^"']+)["']""", text))
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*\s*$", FENCE.sub("", text), re.M):
        plain = re.sub(r"[`*]", "", MARKDOWN_LINK.sub(lambda m: m[0][1 : m[0].index("]")], heading))
        anchors.add(plain.replace(" ", "-"))
        anchors.add(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return anchors


@functools.cache
def _public() -> frozenset[str]:
    """The names that the package, which is loaded with this module, offers to notebooks."""
    return frozenset(sys.modules[__package__.partition(".")[0]].__all__)
