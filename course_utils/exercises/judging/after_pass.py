"""The lines below PASS: the sentence worth keeping, and where the course goes on."""

from __future__ import annotations

import html
import os
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ...notebooks.lessons import lesson
from ...paths import CHAPTERS, notebook_files, notebook_name
from ...symptoms import anchor
from ..authoring.registry import all_exercises
from ..authoring.spec import BaseExercise

WIDTH = 96  # characters of a line of text
MARKS = (  # of Markdown, in the order in which they are looked for
    (re.compile(r"`([^`]+)`"), r"`\1`", r"<code>\1</code>"),
    (re.compile(r"\[([^\]]+)\]\([^)]+\)"), r"\1", r"\1"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"\1", r"<b>\1</b>"),
    (re.compile(r"(?<![\w*])\*(?! )([^*]+)\*(?![\w*])"), r"\1", r"<i>\1</i>"),
)
MOST_KEPT = 320  # characters: more is not read before the next cell is run
SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[^a-z])")
ASIDE = re.compile(r" \([A-Z`][^()]*[.!?]\)")
CODE = re.compile(r"(`[^`]+`)")


@dataclass(frozen=True)
class AfterPass:
    """``kept`` is a paragraph in Markdown, ``following`` names the next exercise or notebook, and
    ``target`` is its address from the notebook, or "" where no link leads there."""

    kept: str
    following: str
    target: str = ""

    def __str__(self) -> str:
        kept = textwrap.fill(f"worth keeping: {_plain(self.kept)}", WIDTH, break_on_hyphens=False)
        return textwrap.indent(f"{kept}\nthen: {_plain(self.following)}", "  ")

    def to_html(self) -> str:
        """The same as parts of a panel, with a link."""
        following = _marked(self.following)
        if self.target:
            following = f"<a href='{html.escape(self.target)}'>{following}</a>"
        return (
            f"<p style='margin:6px 0'>{_marked(self.kept)}</p><div><b>Then:</b> {following}</div>"
        )


def after_pass(exercise: BaseExercise) -> AfterPass:
    """The sentences worth keeping of ``exercise``, and the next exercise of its notebook, or the
    next notebook."""
    own = [each for each in all_exercises() if each.notebook == exercise.notebook]
    ids = [each.id for each in own]
    later = own[ids.index(exercise.id) + 1 :] if exercise.id in ids else []
    if later:
        heading = f"Exercise {later[0].id}: {later[0].title}"
        return _after(exercise, heading[:1].lower() + heading[1:], _fragment(heading))
    files = notebook_files()
    names = [notebook_name(file) for file in files]
    following = files[names.index(exercise.notebook) + 1 :] if exercise.notebook in names else []
    if not following:
        return _after(exercise, "that was the last notebook of the course.", "")
    found = lesson(following[0])
    path = os.path.relpath(found.path, CHAPTERS / exercise.chapter)
    return _after(exercise, f"notebook {found.number}, {found.title}", quote(path))


def worth_keeping(exercise: BaseExercise) -> str:
    """The first sentences of the explanation's last paragraph, in Markdown and on one line: as many
    as MOST_KEPT characters hold, one at least, and no aside in brackets."""
    paragraph = " ".join(exercise.explanation.strip().split("\n\n")[-1].split())
    first, *others = SENTENCE_END.split(ASIDE.sub("", paragraph))
    kept = [first]
    for sentence in others:
        if len(" ".join([*kept, sentence])) > MOST_KEPT:
            break
        kept.append(sentence)
    return " ".join(kept)


def _after(exercise: BaseExercise, following: str, target: str) -> AfterPass:
    here = Path.cwd() == CHAPTERS / exercise.chapter  # a link is resolved from the notebook
    return AfterPass(worth_keeping(exercise), following, target if here else "")


def _fragment(heading: str) -> str:
    return f"#{quote(anchor(_plain(heading).replace('`', '')))}"


def _plain(text: str) -> str:
    return _changed(text, [(pattern, plain) for pattern, plain, _ in MARKS])


def _marked(text: str) -> str:
    return _changed(
        html.escape(text, quote=False), [(pattern, marked) for pattern, _, marked in MARKS]
    )


def _changed(text: str, forms: list[tuple[re.Pattern[str], str]]) -> str:
    """``text`` with its marks in another form. Code keeps its asterisks."""
    parts = CODE.split(text)
    for number, part in enumerate(parts):
        for pattern, form in forms[:1] if CODE.fullmatch(part) else forms[1:]:
            parts[number] = pattern.sub(form, parts[number])
    return "".join(parts)
