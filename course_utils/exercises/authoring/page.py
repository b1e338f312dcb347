"""The page of an exercise: what a learner reads, and the wrong answers that must be refused.

``kernels/NN_name/exercises/NAME.md`` is in the solution's folder and needs no Python::

    # A tree in shared memory

    Find the smallest element of each block's 256.

    ## Hints

    - 0 would be smaller than every element here. Which number is smaller than none?

    ## Explanation

    Infinity is to the minimum what 0 is to the sum.

    ## Wrong answers

    - fills up with zeros — wrong at the edges only: x[i] : «infinity→0.0f»
    - two changes — wrong values:
      - for (int i = «0→1»;
      - «sum→total»;

A wrong answer has a name, the verdict that it must get, and its changes to the solution, one after
the other. The text around a choice says where it is: both together occur in the solution once. Code
may go over several lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ...choices import CHOICE, after, before
from ...errors import LessonError
from ...paths import shown
from .spec import Mutant

HINTS, EXPLANATION, WRONG_ANSWERS = "## Hints", "## Explanation", "## Wrong answers"
FENCE = re.compile(r" *(`{3,}|~{3,})[^`]*")
WRONG_ANSWER = re.compile(r"- (?P<name>.+?) — (?P<verdict>[a-z ]+):( (?P<change>.+)|\n.+)", re.S)
Lines = list[tuple[int, str]]  # with their numbers in the file


class PageError(LessonError):
    """A page breaks a rule. The message names the file and the line."""


@dataclass(frozen=True)
class Page:
    """A page that was read: its texts, in Markdown, and the wrong answers."""

    title: str
    task: str
    hints: tuple[str, ...]
    explanation: str
    mutants: tuple[Mutant, ...]


def read_page(path: Path) -> Page:
    """The page at ``path``. Raises PageError."""
    if not path.is_file():
        raise PageError(f"{shown(path)} is missing: the page with the exercise's task and hints.")
    return parse_page(path.read_text(encoding="utf-8"), shown(path))


def parse_page(text: str, file: str) -> Page:
    """The page ``text`` of a ``file``. Raises PageError."""
    lines = list(enumerate(text.splitlines(), 1))
    parts = _parts(lines, file)
    mutants = tuple(
        _wrong_answer(item, file) for item in _items(parts[WRONG_ANSWERS][1:], "- ", file)
    )
    names = [each.name for each in mutants]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise PageError(f"{file}: two wrong answers are called {twice!r}.")
    return Page(
        title=lines[0][1].removeprefix("# ").strip(),
        task=_text(parts[""], "task", file),
        hints=tuple(_hint(item, file) for item in _items(parts[HINTS][1:], "- ", file)),
        explanation=_text(parts[EXPLANATION], "explanation", file),
        mutants=mutants,
    )


def _parts(lines: Lines, file: str) -> dict[str, Lines]:
    """Each heading with the lines below it. The task's is the title."""
    if not lines or not re.match(r"# +\S", lines[0][1]):
        raise PageError(f"{file}:1: a page begins with its title, `# title`.")
    parts: dict[str, Lines] = {"": lines[:1]}
    heading = fence = ""
    opened = 0
    for number, line in lines[1:]:
        if heading in ("", EXPLANATION):
            inside, fence = bool(fence), _fence(line, fence)
            opened = opened if inside else number
        if fence:
            parts[heading].append((number, line))
        elif line in (HINTS, EXPLANATION, WRONG_ANSWERS):
            if line in parts:
                raise PageError(f"{file}:{number}: `{line}` comes twice.")
            heading = line
            parts[heading] = [(number, line)]
        elif line.startswith("## "):
            raise PageError(
                f"{file}:{number}: the parts of a page are `{HINTS}`, `{EXPLANATION}` and "
                f"`{WRONG_ANSWERS}`, not `{line}`."
            )
        else:
            parts[heading].append((number, line))
    if fence:
        raise PageError(f"{file}:{opened}: the code that begins here doesn't end: add `{fence}`.")
    for heading in (HINTS, EXPLANATION):
        if heading not in parts:
            raise PageError(f"{file}: `{heading}` is missing.")
    return {WRONG_ANSWERS: []} | parts


def _fence(line: str, fence: str) -> str:
    """The code fence that is open after ``line``, empty for none, where ``fence`` was before it."""
    if not fence:
        opening = FENCE.fullmatch(line)
        return opening[1] if opening else ""
    closing = line.strip()
    return "" if closing.startswith(fence) and not closing.strip(fence[0]) else fence


def _items(lines: Lines, mark: str, file: str) -> list[Lines]:
    """The items of a list, each with the lines that follow its first one."""
    items: list[Lines] = []
    for number, line in lines:
        if f"{line} ".startswith(mark):
            items.append([(number, line)])
        elif items:
            items[-1].append((number, line))
        elif line.strip():
            raise PageError(f"{file}:{number}: an item of the list begins with `{mark}`.")
    return items


def _joined(lines: Lines) -> str:
    return "\n".join(line for _, line in lines)


def _text(part: Lines, name: str, file: str) -> str:
    """The text below the heading of a part. Raises PageError where there is none."""
    text = _joined(part[1:]).strip()
    if not text:
        raise PageError(f"{file}:{part[0][0]}: the {name} is empty.")
    return text


def _hint(item: Lines, file: str) -> str:
    """A hint in one line. Raises PageError where it is empty."""
    text = " ".join(line.strip() for _, line in item).removeprefix("-").strip()
    if not text:
        raise PageError(f"{file}:{item[0][0]}: a hint is empty.")
    return text


def _wrong_answer(item: Lines, file: str) -> Mutant:
    place = f"{file}:{item[0][0]}"
    found = WRONG_ANSWER.fullmatch(_joined(item).rstrip("\n"))
    if found is None:
        raise PageError(f"{place}: a wrong answer is `- name — verdict: «old→new»`.")
    texts = [found["change"]] if found["change"] else _listed(item, file)
    try:
        changes = tuple((before(text), after(text)) for text in texts)
    except ValueError as error:
        raise PageError(f"{place}: {error}") from None
    if not changes or not all(map(CHOICE.search, texts)):
        raise PageError(f"{place}: each change of a wrong answer needs a choice, `«old→new»`.")
    return Mutant(found["name"], found["verdict"], changes)


def _listed(item: Lines, file: str) -> list[str]:
    """The changes of a wrong answer that has several, as their own list."""
    changes = _items(item[1:], "  - ", file)
    return [_joined(each).removeprefix("  - ").rstrip("\n") for each in changes]
