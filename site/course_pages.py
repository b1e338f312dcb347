"""What the website adds to the repository's files: its contents, the language of cells, words for
pictures, links into the glossary, formulas, figures of records, and the page of planted bugs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import formulas
import home_page
import planted_bugs_page
from docutils import nodes
from pictures import picture_size
from search_words import search_words
from sphinx import addnodes

from course_utils import figures
from course_utils.paths import ROOT
from course_utils.records.kernel_records import NAME
from course_utils.records.measured_files import REFERENCE, measurements
from course_utils.records.record_pages import by_task
from course_utils.whole_files import write_changed

GLOSSARY = "chapters/00_start_here/02_glossary"
BENCHMARKS = "assets/benchmarks/README"
STEPPER = "course_utils/stepping/README"
PACKAGE = "course_utils/README"
USED = (
    "course_utils/kernel_tool/README",
    "course_utils/emulator/README",
    "course_utils/exercises/student/TEACHING",
)  # pages of parts that readers use without the notebooks
DRAWN = ROOT / "build" / "drawn"  # below the sources, as Sphinx wants its pictures
PLANTED_BUGS = DRAWN / "planted_bugs.md"
MOST_WORDS = 40  # of the text that stands for a picture
C_LIKE = re.compile(r"%%c(pp|uda)?\b|%%exercise \S+\n\s*(//|/\*|#include|#define|template|extern)")
PANEL_LINK = re.compile(r'(<a [^>]*?href="(?![a-z]+:)[^"#]*)\.(?:ipynb|md)(?=[#"])')
STRAIGHT = str.maketrans({"’": "'", "“": '"', "”": '"'})  # a page's quotes as a notebook has them
QUIET = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.raw, nodes.math)


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (formulas.in_line, None), (formulas.displayed, None))
    app.connect("builder-inited", draw_records)
    app.connect("builder-inited", draw_planted_bugs)
    app.connect("builder-inited", lambda app: home_page.draw())
    app.connect("source-read", add_contents)
    app.connect("source-read", show_records)
    app.connect("source-read", show_recordings)
    app.connect("doctree-read", name_languages)
    app.connect("doctree-read", describe_pictures)
    app.connect("doctree-read", anchor_terms)
    app.connect("doctree-read", enter_search_words)
    app.connect("doctree-resolved", link_terms)
    app.connect("doctree-resolved", lead_outputs_to_pages)
    app.connect("html-page-context", lead_panels_to_pages)
    app.connect("html-page-context", load_pictures_late)
    app.connect("html-page-context", lead_home)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


# --- contents ---


def add_contents(app: Any, name: str, source: list[str]) -> None:
    """README.md lists the chapters and everything else in groups, a chapter's page its notebooks,
    and the package's page those of its parts."""
    folder = ROOT / Path(name).parent
    if name == "README":
        groups = contents()
    elif name == PACKAGE:
        apart = {ROOT / f"{page}.md" for page in USED}
        groups = {"": sorted({*folder.glob("*/**/*.md")} - apart)}
    elif re.fullmatch(r"chapters/[^/]+/README", name):
        groups = {"": sorted(folder.glob("*.ipynb"))}
    else:
        return
    for caption, pages in groups.items():
        listed = [page.relative_to(folder).with_suffix("").as_posix() for page in pages]
        if name == "README" and not caption:
            listed.insert(0, "Overview <self>")
        options = "\n".join([":hidden:", *([f":caption: {caption}"] if caption else [])])
        source[0] += "\n\n```{{toctree}}\n{}\n\n{}\n```\n".format(options, "\n".join(listed))


def contents() -> dict[str, list[Path]]:
    """The pages of the site's contents by caption, in the order of its "next" links: the last
    notebook leads to the records."""
    drawn, used = sorted(ROOT.glob("assets/**/*.md")), [ROOT / f"{page}.md" for page in USED]
    authors = ("CONTRIBUTING", "kernels/README", "tests/README", "site/README", PACKAGE)
    return {
        "": [ROOT / "INSTALL.md", *sorted(ROOT.glob("chapters/*/README.md"))],
        "Records": [ROOT / "RECORDS.md", *drawn],
        "Use and teach": [*used, PLANTED_BUGS],
        "Behind the course": [ROOT / f"{page}.md" for page in authors],
    }


def address_of_heading(title: str) -> str:
    """As JupyterLab forms it, so that a link to a heading leads there in both."""
    return title.replace(" ", "-")


def lead_home(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """The site's name leads to its first page, which is no document of Sphinx's."""
    context["theme_logo_link"] = context["pathto"]("index")


# --- cells and pictures ---


def name_languages(app: Any, doctree: nodes.document) -> None:
    """A cell of C++ is coloured as C++, whatever the notebook's language is."""
    for block in doctree.findall(nodes.literal_block):
        if C_LIKE.match(block.astext()):
            block["language"] = "c++"


def describe_pictures(app: Any, doctree: nodes.document) -> None:
    """A picture that a cell drew is described by the prose that follows: it says what to see."""
    waiting: list[nodes.image] = []
    for node in doctree.findall(lambda n: isinstance(n, (nodes.image, nodes.paragraph))):
        if isinstance(node, nodes.image):
            if not node.get("alt"):
                node["alt"] = "A figure that this cell draws."
                waiting.append(node)
            continue
        for image in waiting:
            words = node.astext().split()
            more = " …" if len(words) > MOST_WORDS else ""
            image["alt"] = " ".join(words[:MOST_WORDS]) + more
        waiting.clear()


def lead_outputs_to_pages(app: Any, doctree: nodes.document, name: str) -> None:
    """A link to a notebook in what a cell printed leads to its page."""
    for link in doctree.findall(nodes.reference):
        address = link.get("refuri", "")
        if address.endswith(".ipynb") and "://" not in address:
            link["refuri"] = address.removesuffix(".ipynb") + ".html"


def lead_panels_to_pages(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """A link to a notebook in HTML that a cell shows, such as a verdict's, leads to its page."""
    if "body" in context:
        context["body"] = PANEL_LINK.sub(r"\1.html", context["body"])


def load_pictures_late(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """A page is there before the pictures that are not in sight yet, with room for each."""
    if "body" not in context:
        return
    files = {name: app.srcdir / file for file, name in app.builder.images.items()}

    def late(match: re.Match[str]) -> str:
        file = files.get(unquote(match[1]).rpartition("/")[2])
        sized = file and file.is_file() and not re.search(r"\b(width|height)=", match[0])
        room = "" if not sized else ' width="{}" height="{}"'.format(*picture_size(file))
        return f'<img loading="lazy"{room}{match[0][4:]}'

    context["body"] = re.sub(r'<img [^>]*?src="([^"]+)"[^>]*>', late, context["body"])


# --- the glossary ---


def anchor_terms(app: Any, doctree: nodes.document) -> None:
    """Each word of the glossary gets an address of its own."""
    if app.env.docname != GLOSSARY:
        return
    app.env.course_terms = {}
    for row in doctree.findall(nodes.row):
        for strong in row.children[0].findall(nodes.strong):
            anchor = "word-" + nodes.make_id(strong.astext())
            strong["ids"].append(anchor)
            for word in strong.astext().split(", "):
                app.env.course_terms[word.lower()] = anchor


def enter_search_words(app: Any, doctree: nodes.document) -> None:
    """The search finds a page first by the words that :func:`search_words` has for it."""
    words = search_words().get(app.env.docname, ())
    places = {
        section[0].astext().translate(STRAIGHT): section["ids"][0]
        for section in doctree.findall(nodes.section)
        if section["ids"]
    }
    words = [(word.replace(";", ""), title) for word, title in words]  # it would begin a second one
    entries = [("single", word, places.get(title, ""), "main", None) for word, title in words]
    if entries:
        doctree.insert(0, addnodes.index(entries=entries))


def link_terms(app: Any, doctree: nodes.document, name: str) -> None:
    """The first use of a word in a notebook leads to the glossary."""
    terms = getattr(app.env, "course_terms", {})
    if not re.fullmatch(r"chapters/[^/]+/\d\d_\w+", name) or name == GLOSSARY or not terms:
        return
    page = app.builder.get_relative_uri(name, GLOSSARY)
    words = "|".join(sorted(map(re.escape, terms), key=len, reverse=True))
    pattern = re.compile(rf"\b(?:({words})s?)\b", re.I)
    seen: set[str] = set()
    for text in list(doctree.findall(nodes.Text)):
        if not _is_prose(text):
            continue
        parts = list(_linked(text.astext(), pattern, terms, seen, page))
        if len(parts) > 1:
            text.parent.replace(text, parts)


def _is_prose(text: nodes.Text) -> bool:
    node, in_paragraph = text.parent, False
    while node is not None:
        if isinstance(node, QUIET):
            return False
        in_paragraph = in_paragraph or isinstance(node, nodes.paragraph)
        node = node.parent
    return in_paragraph


def _linked(
    text: str, pattern: re.Pattern[str], terms: dict[str, str], seen: set[str], page: str
) -> Iterator[nodes.Node]:
    """``text`` in parts, each word of ``terms`` that was not ``seen`` before as a link."""
    start = 0
    for match in pattern.finditer(text):
        anchor = terms[match[1].lower()]
        if anchor in seen:
            continue
        seen.add(anchor)
        yield nodes.Text(text[start : match.start()])
        link = nodes.reference(
            "", match[0], refuri=f"{page}#{anchor}", internal=True, classes=["glossary-word"]
        )
        yield link
        start = match.end()
    yield nodes.Text(text[start:])


# --- what is drawn ---


def draw_planted_bugs(app: Any) -> None:
    """The page of planted bugs, by launching each of them."""
    write_changed(PLANTED_BUGS, planted_bugs_page.page())


def draw_records(app: Any) -> None:
    """A picture for each task: our kernels at the largest size beside the fastest library."""
    DRAWN.mkdir(parents=True, exist_ok=True)
    for what, records in by_task(measurements(NAME, REFERENCE)["records"]):
        largest = max((r["bytes"], r["flops"] or 0) for r in records)
        rungs = [r for r in records if (r["bytes"], r["flops"] or 0) == largest]
        best = [ms for r in rungs for ms in r["libraries"].values()]
        figure = figures.ladder(
            [r["kernel"] for r in rungs],
            [r["ours"]["median_ms"] for r in rungs],
            ("fastest library", min(best)) if best else None,
            unit="ms",
            title=f"{what}, at the largest size",
            smaller_is_better=True,
        )
        figure.savefig(DRAWN / f"{nodes.make_id(what)}.svg", bbox_inches="tight")


def show_recordings(app: Any, name: str, source: list[str]) -> None:
    """The stepper's page ends with recordings to play."""
    if name != STEPPER:
        return
    up = "../" * name.count("/")
    source[0] += "\n\n## Three recordings to play\n"
    for each in home_page.RECORDINGS:
        frame = (
            f'<iframe src="{up}steppers/{each.file}" title="{each.question}" loading="lazy" '
            f'style="width:100%;border:0" height="{home_page.HEIGHT}"></iframe>'
        )
        source[0] += f"\n{each.question}\n\n```{{raw}} html\n{frame}\n```\n\n{each.answer}\n"


def show_records(app: Any, name: str, source: list[str]) -> None:
    """Each task's table has its picture above it."""
    if name != BENCHMARKS:
        return

    def with_picture(match: re.Match[str]) -> str:
        file = DRAWN / f"{nodes.make_id(match[1])}.svg"
        if not file.is_file():
            return match[0]
        words = f"Times of our kernels for this task, beside the fastest library: {match[1]}"
        return f"{match[0]}\n\n![{words}](/{file.relative_to(ROOT).as_posix()})"

    source[0] = re.sub(r"^## (.+)$", with_picture, source[0], flags=re.M)
