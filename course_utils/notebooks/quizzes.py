"""The quiz questions of the notebooks, also as an exam bank in GIFT, the format of Moodle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..paths import notebook_name

QUIZ = "**Quiz"
CHOICE = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.S)
ANSWER = re.compile(r"\A\**(Right|Wrong)\b", re.I)
_HEAD = re.compile(r"\A\*\*Quiz[^*]*\*\*\s*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")  # a notebook's links lead nowhere in an exam
_SPECIAL = re.compile(r"([~=#{}:\\])")  # GIFT's own characters


@dataclass(frozen=True)
class Choice:
    """An answer to choose, whether it's right, and the sentence that says why."""

    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Question:
    """A question with its choices, from ``notebook``, the one with this ``number`` from 1."""

    notebook: str
    number: int
    text: str
    choices: tuple[Choice, ...]


def questions(paths: Iterable[Path]) -> Iterator[Question]:
    """The quiz questions of these notebooks, in their order."""
    from .canonical import read_file  # nbformat takes a second, and each kernel imports this module

    for path in paths:
        cells = [
            cell.source.strip() for cell in read_file(path).cells if cell.cell_type == "markdown"
        ]
        quizzes = [source for source in cells if source.startswith(QUIZ)]
        for number, source in enumerate(quizzes, 1):
            text = _HEAD.sub("", source.split("<details>")[0]).strip()
            yield Question(notebook_name(path), number, text, tuple(_choices(source)))


def to_gift(found: Iterable[Question]) -> str:
    """The questions in GIFT, a category per notebook. Every choice has its reason as feedback."""
    parts, category = [], None
    for question in found:
        if question.notebook != category:
            category = question.notebook
            parts.append(f"$CATEGORY: {category}")
        choices = [
            f"    {'=' if each.right else '~'}{escaped(each.text)} #{escaped(each.why)}"
            for each in question.choices
        ]
        title = f"::{escaped(question.notebook)} {question.number}::"
        parts.append("\n".join([f"{title}[markdown]{escaped(question.text)} {{", *choices, "}"]))
    return "\n\n".join(parts) + "\n"


def _choices(source: str) -> Iterator[Choice]:
    for title, body in CHOICE.findall(source):
        verdict, why = body.strip(), ""
        if answer := ANSWER.match(verdict):
            verdict, why = answer[1].lower(), verdict[answer.end() :].lstrip(" :.,*\n")
        yield Choice(title.strip(), verdict == "right", why[:1].upper() + why[1:])


def escaped(text: str) -> str:
    """``text`` for GIFT without links, on one line, because a blank line would end a question."""
    text = _SPECIAL.sub(r"\\\1", _LINK.sub(r"\1", text))
    return text.replace("\n", r"\n")
