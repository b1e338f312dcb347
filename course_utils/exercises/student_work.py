"""Remembers what the student has done: a git-ignored folder with the work and one JSON file.

The folder is ``.progress/`` in the course, or the one COURSE_PROGRESS names.
"""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..paths import CHAPTERS, ROOT
from . import kinds
from .outcome import Outcome
from .registry import all_exercises
from .spec import BaseExercise

DONE, ATTEMPTED, OPEN = "done", "attempted", "open"
MARKS = {DONE: "[x]", ATTEMPTED: "[~]", OPEN: "[ ]"}


def folder() -> Path:
    """Where work and results are kept; made when first needed."""
    path = Path(os.environ.get("COURSE_PROGRESS") or ROOT / ".progress")
    path.mkdir(parents=True, exist_ok=True)
    return path


def record(exercise: BaseExercise, outcome: Outcome, cell: str) -> None:
    """Keep a student's cell and its outcome; an untouched starter or empty cell is no attempt."""
    if outcome.kind in (kinds.NOT_STARTED, kinds.EMPTY, kinds.NO_COMPILER):
        return
    if exercise.is_untouched(cell):  # a starter with a planted bug
        return
    work_file(exercise).write_text(cell, encoding="utf-8")
    entry = _entry(exercise.id)
    entry["tries"] = entry.get("tries", 0) + 1
    entry["last"] = outcome.kind
    if outcome.passed:
        entry["status"] = DONE
    else:
        entry.setdefault("status", ATTEMPTED)
    _store(exercise.id, entry)


def saved_work(exercise: BaseExercise) -> str | None:
    """The cell the student ran last; None before the first try."""
    path = work_file(exercise)
    return path.read_text(encoding="utf-8") if path.exists() else None


def passing_work(exercise: BaseExercise) -> str | None:
    """The cell the student ran last, where it passed; None where it did not."""
    return saved_work(exercise) if _entry(exercise.id).get("last") == kinds.PASS else None


def forget(exercise: BaseExercise) -> None:
    """Back to the start: status and hints; the saved work stays until the next try."""
    data = _read()
    data.pop(exercise.id, None)
    _write(data)


def next_hint(exercise: BaseExercise) -> int:
    """The number of the hint to show now, from 1; it stays at the last."""
    entry = _entry(exercise.id)
    entry["hints"] = min(entry.get("hints", 0) + 1, len(exercise.hints))
    _store(exercise.id, entry)
    return entry["hints"]


def work_file(exercise: BaseExercise) -> Path:
    suffix = {"python": "py", "c": "c"}.get(exercise.language, "cu")
    return folder() / f"{exercise.id}.{suffix}"


@dataclass(frozen=True)
class Line:
    """One exercise in the overview."""

    id: str
    title: str
    chapter: str
    notebook: str
    status: str
    tries: int


@dataclass(frozen=True)
class Progress:
    """Done, attempted and next, by chapter; shows itself in a notebook and prints."""

    lines: tuple[Line, ...]

    @property
    def next(self) -> Line | None:
        """The first exercise that is not done; None at the end."""
        return next((line for line in self.lines if line.status != DONE), None)

    @property
    def chapters(self) -> dict[str, list[Line]]:
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.chapter, []).append(line)
        return found

    def __str__(self) -> str:
        rows = []
        for chapter, lines in self.chapters.items():
            rows.append(f"{chapter}: {_count(lines)}")
            rows += [f"  {MARKS[x.status]} {x.id}  {x.title}{_tries(x)}" for x in lines]
        return "\n".join([*rows, "", f"In all: {_count(self.lines)}. {self._next_step()}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        for chapter, lines in self.chapters.items():
            rows.append(
                f"<tr><th colspan='3' style='text-align:left'>{chapter}: {_count(lines)}</th></tr>"
            )
            for x in lines:
                cells = (MARKS[x.status], x.id, html.escape(x.title) + _tries(x))
                tds = "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells)
                rows.append(f"<tr>{tds}</tr>")
        return f"<table>{''.join(rows)}</table><div>{_count(self.lines)}. {self._next_step()}</div>"

    def _next_step(self) -> str:
        if self.next is None:
            return "Everything is done."
        return f"Next: {self.next.id}, in chapters/{self.next.notebook}.ipynb."


def progress() -> Progress:
    """Where you are in the course: the exercises of all notebooks that exist."""
    data = _read()
    lines = []
    for exercise in all_exercises():
        if not (CHAPTERS / f"{exercise.notebook}.ipynb").exists():
            continue
        entry = data.get(exercise.id, {})
        lines.append(
            Line(
                exercise.id,
                exercise.title,
                exercise.chapter,
                exercise.notebook,
                entry.get("status", OPEN),
                entry.get("tries", 0),
            )
        )
    return Progress(tuple(lines))


def _count(lines: Any) -> str:
    done = sum(line.status == DONE for line in lines)
    return f"{done} of {len(lines)} done"


def _tries(line: Line) -> str:
    if not line.tries:
        return ""
    return f" ({line.tries} {'try' if line.tries == 1 else 'tries'})"


def _entry(name: str) -> dict[str, Any]:
    return _read().get(name, {})


def _store(name: str, entry: dict[str, Any]) -> None:
    _write({**_read(), name: entry})


def _read() -> dict[str, dict[str, Any]]:
    """The results; a file that cannot be read counts as none, so that it stops no lesson."""
    try:
        data = json.loads((folder() / "progress.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _write(data: dict[str, Any]) -> None:
    path = folder() / "progress.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    fresh.replace(path)
