"""A slide deck from a chapter's own headings, questions and pictures, as one HTML page.

The page needs no network: pictures are inside it. A browser prints it to PDF, a slide on each page.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import LessonError
from ..remedies import set_up_command
from .canonical import read_file
from .drawn_cells import TIME_AND_NEEDS
from .quizzes import QUIZ

HEAD = Path(__file__).with_suffix(".html")
PREDICT = "**Predict"
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\([^)]*\)")  # leads nowhere on a slide
_ITEMS = re.compile(r"\||[-*] |1\. ")  # how a table or a list begins
_FOLD = re.compile(r"<details>.*?</details>", re.S)
_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".gif": "image/gif"}


def deck(path: Path) -> str:
    """The slides of one notebook, as HTML sections.

    A section of the notebook becomes a slide with its question and its first picture, and each
    "Predict" and each quiz question its own slide. Raises LessonError if the notebook can't be
    read or a picture is missing.
    """
    return "\n".join(f"<section>\n{slide}\n</section>" for slide in _slides(path))


def page(paths: list[Path]) -> str:
    """The decks of several notebooks as one page. Raises LessonError for none."""
    if not paths:
        raise LessonError("Name a chapter or a notebook: slides 04_first_kernels")
    return "\n".join(
        [HEAD.read_text(encoding="utf-8"), *map(deck, paths), "</main>", "</html>", ""]
    )


def _slides(path: Path) -> Iterator[str]:
    cells = read_file(path).cells
    first, *others = cells
    yield _as_html(TIME_AND_NEEDS.split(first.source)[0], path)
    section: str | None = None  # the slide that still waits for a picture
    for cell in others:
        if cell.cell_type == "code":
            if section is not None and (picture := _drawn(cell.outputs)):
                yield section + picture
                section = None
            continue
        text = _FOLD.sub("", cell.source).strip()
        for part in re.split(r"\n(?=## )", text):
            if part.startswith(QUIZ):
                yield _question(cell.source, path)
            elif part.startswith("## What you can now do"):
                yield from _worth_showing(section)
                section = None
            elif part.startswith("## "):
                yield from _worth_showing(section)
                section = _as_html(_opening(part), path)
            if section is not None and "<img" not in section and (found := _PICTURE.search(part)):
                yield section + _inlined(path.parent / found[2], found[1])
                section = None
            for question in (p for p in part.split("\n\n") if p.startswith(PREDICT)):
                yield from _worth_showing(section)
                section = None
                yield f"<div class=predict>{_as_html(question, path)}</div>"
    yield from _worth_showing(section)


def _worth_showing(section: str | None) -> list[str]:
    """The slide of a section that got no picture, unless it has no more than a heading."""
    return [section] if section and not section.rstrip().endswith("</h2>") else []


def _opening(part: str) -> str:
    """A section's heading and its first paragraph, up to its question if it asks one.

    A paragraph that leads to a table or a list has it below. If it leads to a cell, its last
    sentence is left out, or the colon if it has no other.
    """
    heading, _, rest = part.partition("\n")
    paragraphs = [p for p in rest.strip().split("\n\n") if not _PICTURE.match(p)]
    first, following = [*paragraphs, "", ""][:2]
    if asked := re.search(r"\A.*?\?(?=\s|\Z)", first, re.S):
        first = asked[0]
    elif first.endswith(":") and _ITEMS.match(following) and not _PICTURE.search(part):
        first = f"{first}\n\n{following}"
    elif first.endswith(":"):
        others = re.match(r".*[.!](?=\s)", first, re.S)
        first = others[0] if others else f"{first[:-1]}."
    return f"{heading}\n\n{first}"


def _question(source: str, path: Path) -> str:
    """A quiz question with its choices, and no answers."""
    choices = re.findall(r"<summary>(.*?)</summary>", source, re.S)
    items = "".join(f"<li>{choice}</li>" for choice in choices)
    return f"{_as_html(source.split('<details>')[0], path)}<ol type=a>{items}</ol>"


def _drawn(outputs: list[Any]) -> str:
    """The first picture of a cell's outputs."""
    for output in outputs:
        if png := output.get("data", {}).get("image/png"):
            return f'<img alt="" src="data:image/png;base64,{png}">'
    return ""


def _as_html(markdown: str, path: Path) -> str:
    try:
        from nbconvert.filters.markdown_mistune import markdown2html_mistune
    except ImportError:
        raise LessonError(
            f"Slides are made by nbconvert, which JupyterLab brings: {set_up_command()}"
        ) from None

    pictures: list[str] = []

    def inside(found: re.Match[str]) -> str:
        pictures.append(_inlined(path.parent / found[2], found[1]))
        return f"PICTURE{len(pictures) - 1}PICTURE"

    text = _LINK.sub(r"\1", _PICTURE.sub(inside, markdown))
    rendered: str = markdown2html_mistune(text)
    rendered = re.sub(r'<a class="anchor-link".*?</a>', "", rendered)
    return re.sub(r"PICTURE(\d+)PICTURE", lambda found: pictures[int(found[1])], rendered)


def _inlined(file: Path, alternative: str) -> str:
    kind = _TYPES.get(file.suffix)
    if kind is None or not file.is_file():
        raise LessonError(f"{file.name} is no picture that a slide can hold.")
    data = base64.b64encode(file.read_bytes()).decode()
    return f'<img alt="{html.escape(alternative)}" src="data:{kind};base64,{data}">'
