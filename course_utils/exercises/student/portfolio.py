"""``make portfolio``: one HTML page of solved exercises, each kernel's counts beside ours.

The page needs no network and no other file. A kernel's numbers are counts of one launch on the
emulator, at the exercise's first size. They are kept in the folder of the student's work, so that
the next page counts only new answers.
"""

from __future__ import annotations

import datetime
import hashlib
import html
import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...compiling.diagnostics import CompileError
from ...errors import LessonError
from ...launching.listings import coloured
from ...notebooks.lessons import chapters, in_hours, lessons_by_name
from ...paths import shown
from ...text_tables import size_in_words
from ...whole_files import read_json, write_whole
from ..authoring.registry import find
from ..authoring.spec import KernelExercise
from ..authoring.variants import drawn
from ..judging.behaviour_checks import CountingFailed
from .class_variants import class_seed
from .project_reports import as_html
from .saved_answers import DONE, Line, Progress, folder, passing_answer, progress
from .side_by_side import COUNTED, Numbers, counts_beside_ours

HEAD = Path(__file__).with_suffix(".html")


def write(file: Path | None = None, said: Callable[[str], None] = lambda line: None) -> Path:
    """Write the page to ``file``, by default beside the student's work, and return it.

    ``said`` gets a line for each answer that is counted. Raises LessonError if nothing is solved,
    or the page can't be written there.
    """
    found = progress()
    solved = [line for line in found.lines if line.status == DONE]
    if not solved:
        raise LessonError(
            "No exercise is solved yet, so there is nothing to show. `make learn` begins."
        )
    known = _known()
    parts = [HEAD.read_text(encoding="utf-8"), _opening(found, solved)]
    for chapter, its in found.chapters.items():
        if done := [line for line in its if line.status == DONE]:
            parts.append(f'<h2 id="{chapter}">{html.escape(_title(chapter))}</h2>')
            parts += [_exercise(line, known, said) for line in done]
    with suppress(OSError):  # the next page will count them again
        write_whole(_counts_file(), json.dumps(known, indent=1, sort_keys=True) + "\n")
    target = file or folder() / "portfolio.html"
    try:
        write_whole(target, "\n".join([*parts, "</main>", "</html>", ""]))
    except OSError as error:
        raise LessonError(
            f"{shown(target)} can't be written ({error.strerror}). Name a file elsewhere: "
            "`python -m course_utils portfolio FILE`."
        ) from None
    return target


def _opening(found: Progress, solved: list[Line]) -> str:
    badges = []
    for chapter, its in found.chapters.items():
        done = sum(line.status == DONE for line in its)
        name = html.escape(_title(chapter))
        title = f'<a href="#{chapter}">{name}</a>' if done else name
        whole = " class=whole" if done == len(its) else ""
        said = f"{done} of {len(its)}" + (", all solved" if whole else "")
        bar = f'<progress max={len(its)} value={done} aria-label="{name}"></progress>'
        badges.append(f"<li{whole}>{title}<br>{bar}{said}</li>")
    today = datetime.date.today().isoformat()
    hours = in_hours(round(sum(map(_minutes(found), solved))))
    return (
        "<h1>My CUDA kernels</h1>\n"
        f"<p class=facts>{today}: {len(solved)} of {len(found.lines)} exercises, "
        f"about {hours} hours of work by the lessons' estimates.</p>\n"
        f"<ul class=badges>{''.join(badges)}</ul>\n"
        "<p>Numbers are counts of one launch on the course's emulator, at the size beside them. "
        "Fewer is better, and the grey bar is the course's own solution.</p>"
    )


def _minutes(found: Progress) -> Callable[[Line], float]:
    """An exercise's share of the minutes that its notebook gives to its exercises."""
    listed = lessons_by_name()
    in_notebook = Counter(line.notebook for line in found.lines)
    return lambda line: listed[line.notebook].exercises / in_notebook[line.notebook]


def _exercise(line: Line, known: dict[str, Any], said: Callable[[str], None]) -> str:
    exercise = drawn(find(line.id), class_seed())
    title = line.title[:1].upper() + line.title[1:]
    parts = [f"<h3>{html.escape(title)}</h3>"]
    tries = f", {line.tries} {'try' if line.tries == 1 else 'tries'}" if line.tries else ""
    parts.append(f"<p class=facts>{line.id}, in {html.escape(line.notebook)}{tries}</p>")
    source = passing_answer(exercise)
    if source is None:
        parts.append("<p>Its answer is no longer in the folder of your work.</p>")
        return "\n".join(parts)
    name = f"{exercise.id}.{'py' if exercise.language == 'python' else 'cu'}"
    parts.append(f"<pre>{chr(10).join(coloured(source, name))}</pre>")
    if isinstance(exercise, KernelExercise) and (both := _counts(exercise, source, known, said)):
        parts.append(_table(exercise, *both))
    parts.append(as_html(exercise))
    return "\n".join(parts)


def _counts(
    exercise: KernelExercise, source: str, known: dict[str, Any], said: Callable[[str], None]
) -> tuple[Numbers, Numbers] | None:
    """The answer's counts and our solution's. None if the answer can't be counted today, as after a
    change of the exercise."""
    size = exercise.small[0]
    key = f"{exercise.id} {_digest(source, exercise.solution, repr(size), *COUNTED)}"
    if key not in known:
        said(f"counting {exercise.id}")
        try:
            known[key] = list(counts_beside_ours(exercise, source, size))
        except (CompileError, CountingFailed, LessonError):
            known[key] = None
    both = known[key]
    return (both[0], both[1]) if both else None


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _table(exercise: KernelExercise, mine: Numbers, ours: Numbers) -> str:
    size = size_in_words(exercise.small[0])
    rows = [f"<tr><th>counted at size {size}<th>mine<th>the course's<th></tr>"]
    for label in COUNTED:
        most = max(mine[label], ours[label])
        if most:
            bars = "".join(
                f'<span class={who} style="width:{100 * counts[label] / most:.0f}%"></span>'
                for who, counts in (("mine", mine), ("ours", ours))
            )
            numbers = f"<td>{mine[label]:,}<td>{ours[label]:,}"
            rows.append(f"<tr><td>{label}{numbers}<td class=bars aria-hidden=true>{bars}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _title(chapter: str) -> str:
    return next((each.title for each in chapters() if each.folder.name == chapter), chapter)


def _counts_file() -> Path:
    return folder() / "portfolio_counts.json"


def _known() -> dict[str, Any]:
    """The counts of an earlier page. There are none if the file is missing or damaged."""
    try:
        found = read_json(_counts_file())
    except (OSError, ValueError, LessonError):
        return {}
    return found if isinstance(found, dict) else {}
