"""The course's pages, and the prose in each: text without code, tables and tags."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from course_utils.paths import notebook_files

FOLDERS = ("assets", "chapters", "course_utils", "kernels", "site", "tests")
KERNELS = (".cu", ".cuh", ".c", ".cpp")
# Pages that a command writes from data: their words come from modules, which have budgets.
_WRITTEN = re.compile(r"[Ww]ritten by `|draws this page")
_GENERATED_CELL = "exercise."  # a tag of the cells that are written from an exercise's page
_WORD = re.compile(r"(?<!\S)[A-Za-z’']{2,}[,.:;?!]*(?!\S)")
_LITERAL_OR_COMMENT = re.compile(
    r"""(?P<prefix>\b[rbfuRBFU]{1,2}|)"""
    r"""(?:(?P<three>"{3}|'{3})(?P<long>(?s:\\.|.)*?)(?P=three)"""
    r"""|(?P<one>["'])(?P<short>(?:\\(?s:.)|[^\n\\])*?)(?P=one))"""
    r"""|\#(?P<comment>.*)"""
)


class Text(NamedTuple):
    """A stretch of prose: its text, the line it begins in, and the cell of a notebook."""

    text: str
    line: int
    cell: int | None = None


def page_files(root: Path) -> Iterator[Path]:
    """Every page below ``root``: notebooks, Markdown, kernels, modules with messages."""
    yield from notebook_files(root)
    files = [*root.glob("*.md"), *(f for name in FOLDERS for f in (root / name).rglob("*.*"))]
    for file in sorted(files):
        inside = file.relative_to(root).parts
        if any(part.startswith(".") for part in inside):
            continue
        if file.suffix == ".md":
            if not _WRITTEN.search(file.read_text(encoding="utf-8")[:900]):
                yield file
        elif (inside[0] == "kernels" and file.suffix in (*KERNELS, ".py")) or (
            inside[0] in ("course_utils", "chapters") and file.suffix == ".py"
        ):
            yield file


def prose(name: str, source: str) -> list[Text]:
    """The prose of the page ``name`` with this ``source``; none where it can't be read."""
    suffix = Path(name).suffix
    if suffix == ".ipynb":
        try:
            return _of_notebook(source)
        except (ValueError, KeyError, TypeError):
            return []
    if suffix == ".py":
        return _of_module(source)
    if suffix in KERNELS:
        return _of_kernel(source)
    if name.startswith("kernels/") and "/exercises/" in name:
        source = source.partition("\n## Wrong answers")[0]
    return [Text(without_code(source), 1)]


def words(texts: list[Text]) -> int:
    """How many words a page has."""
    return sum(len(text.text.split()) for text in texts)


def without_code(markdown: str) -> str:
    """Markdown with the same lines, in which code is an x and tables, tags, formulas are gone."""

    def gone(match: re.Match[str]) -> str:
        return "\n" * match.group().count("\n")

    text = re.sub(r"(?ms)^[ >]*```.*?^[ >]*```|\$\$.*?\$\$|<!--.*?-->", gone, markdown)
    text = re.sub(r"(?m)^[ >]*\|.*$", "", text)
    text = re.sub(r"(`+)[^`]*?\1", lambda match: "x" + gone(match), text)
    text = re.sub(r"\]\([^)\n]*\)", "]", text)
    text = re.sub(r"\$[^$\n]+\$", "x", text)
    return html.unescape(re.sub(r"<[^>\n]+>", "", text))


def _of_notebook(source: str) -> list[Text]:
    return [
        Text(without_code("".join(cell["source"])), 1, number)
        for number, cell in enumerate(json.loads(source)["cells"])
        if cell["cell_type"] == "markdown"
        and not any(t.startswith(_GENERATED_CELL) for t in cell["metadata"].get("tags", ()))
    ]


def _of_kernel(source: str) -> list[Text]:
    """Comments; those of lines that follow each other are one text. The launch that a header
    gives, which a test reads, is none."""
    found: list[Text] = []
    last = -1
    for line, text in enumerate(source.splitlines(), 1):
        comment = re.search(r"(?:^|\s)//(?!\s?grid \()\s?(.*)", text)
        if comment and line == last + 1:
            found[-1] = Text(f"{found[-1].text}\n{comment[1]}", found[-1].line)
        elif comment:
            found.append(Text(comment[1], line))
        last = line if comment else -1
    for match in re.finditer(r"(?s)/\*(.*?)\*/", source):
        found.append(Text(match[1], source.count("\n", 0, match.start()) + 1))
    return [text._replace(text=without_code(text.text)) for text in found]


def _of_module(source: str) -> list[Text]:
    """Docstrings, comments and strings that are sentences. Literals that follow each other, and
    comments on lines that do, are one text."""
    found: list[Text] = []
    begin, end, was_comment, text = 0, 0, False, ""
    line = 1

    def finish() -> None:
        if _is_sentence(text):
            found.append(Text(without_code(text), line))

    for match in _LITERAL_OR_COMMENT.finditer(source):
        comment = match["comment"]
        if (comment is not None) == was_comment and not source[end : match.start()].strip():
            text += f"\n{comment}" if was_comment else _value(match)
        else:
            finish()
            line += source.count("\n", begin, match.start())
            begin, was_comment = match.start(), comment is not None
            text = _value(match) if comment is None else comment
        end = match.end()
    finish()
    return found


def _value(literal: re.Match[str]) -> str:
    """The text of a string; a value that is put into it is an x."""
    prefix, text = literal["prefix"].lower(), literal["long"] or literal["short"] or ""
    if "r" not in prefix:
        text = text.replace("\\n", "\n").replace("\\\n", "")
    return re.sub(r"\{[^{}]*\}", "x", text) if "f" in prefix else text


def _is_sentence(text: str) -> bool:
    """Whether a literal or comment is prose: four words, and no line that ends as code does."""
    if len(_WORD.findall(text)) < 4:
        return False
    return not re.search(r"(?m)[;{}]$|__global__|#include|\w ?\(.*;.*\)", text)
