"""``%%report 04.night_histogram``: a learner's claim about a project's answer, and the reasons.

A report has four sections. It is kept beside the answers, and `make portfolio` shows it.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from ...errors import LessonError
from ...remedies import set_up_command
from ...whole_files import write_whole
from ..authoring.spec import BaseExercise
from .magic import Note, find_named
from .saved_answers import folder

HEADINGS = ("Claim", "Ladder", "What limits it", "A wrong prediction")
FEWEST_WORDS = 8  # of a section that says anything
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_HEADING = re.compile(r"^##[ \t]+(.+?)[ \t]*$", re.M)


def report(line: str, cell: str) -> Note:
    """Keep the cell below as the report on that exercise, and say which sections lack words.

    The template, with nothing but its comments, is never kept, so it can't replace a report.
    """
    chosen = find_named(line)
    found = sections(cell)
    if not any(found.values()):
        return Note(
            "Nothing is written yet. Replace each comment by your own sentences, with numbers, and "
            "run the cell."
        )
    write_whole(report_file(chosen), cell)
    words = {name: len(found.get(name, "").split()) for name in HEADINGS}
    missing = [name for name in HEADINGS if not words[name]]
    short = [name for name in HEADINGS if 0 < words[name] < FEWEST_WORDS]
    told = [f"Still to write: {', '.join(missing)}."] if missing else []
    told += [f"Shorter than {FEWEST_WORDS} words: {', '.join(short)}."] if short else []
    if told:
        return Note(" ".join(["Kept.", *told]))
    return Note("Kept, and complete. `make portfolio` puts it on your page.")


def sections(text: str) -> dict[str, str]:
    """The text below each heading, without comments. Text above the first has the name ""."""
    parts = _HEADING.split(_COMMENT.sub("", text))
    found = {"": parts[0].strip()} if parts[0].strip() else {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        found[name] = body.strip()
    return found


def report_file(exercise: BaseExercise) -> Path:
    """Where the report on ``exercise`` is kept, whether it exists or not."""
    return folder() / f"{exercise.id}.report.md"


def as_html(exercise: BaseExercise) -> str:
    """The report on ``exercise``, and nothing where there is none: its Markdown, with the ends of
    its lines kept, and HTML in it as text. Raises LessonError if its file can't be read."""
    file = report_file(exercise)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise LessonError(f"{file.name} can't be read ({error}).") from None
    try:
        import mistune
    except ImportError:
        raise LessonError(
            f"A report is printed by mistune, which JupyterLab brings: {set_up_command()}"
        ) from None
    written = mistune.create_markdown(escape=True, hard_wrap=True, plugins=["table"])
    parts = []
    for name, body in sections(text).items():
        if name and body:
            parts.append(f"<h4>{html.escape(name)}</h4>")
        parts.append(str(written(body)).rstrip())
    return "\n".join(parts)
