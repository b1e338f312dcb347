"""Keeps the student's work and marks: a git-ignored folder with the work and one JSON file.

The folder is ``.progress/`` in the course, or the one COURSE_PROGRESS names. An exercise that the
JSON file says nothing about is done if its passed answer is in the folder, and attempted if any
answer is, so a lost or damaged JSON file costs no mark. Work that was kept under an id from before
an exercise moved counts as its own, and stays in its place. Several notebooks may write at once.
A failed save never raises: the verdict matters more than its record. The answer says if something
could not be kept.
"""

from __future__ import annotations

import html
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...paths import CHAPTERS, ROOT
from ...whole_files import write_whole
from ..authoring import kinds
from ..authoring.registry import all_exercises
from ..authoring.spec import BaseExercise
from ..judging.outcome import Outcome

DONE, ATTEMPTED, OPEN = "done", "attempted", "open"
CHECK_BOXES = {DONE: "[x]", ATTEMPTED: "[~]", OPEN: "[ ]"}
LOCK_SECONDS = 2.0  # how long another notebook is waited for
SUFFIXES = {"python": "py", "c": "c"}
COUNTS = ("tries", "hints")
ANSWER = re.compile(
    r"(?P<id>\d\d\.\w+)(?P<passed>\.passed)?\.(cu|py|c)"
)  # the files of this folder

Entry = dict[str, Any]
_hints: dict[str, int] = {}  # hints shown in this session, where they cannot be kept


def folder() -> Path:
    """Where work and results are kept; it need not exist yet."""
    return Path(os.environ.get("COURSE_PROGRESS") or ROOT / ".progress")


def record(exercise: BaseExercise, outcome: Outcome, cell: str) -> str:
    """Keep a student's cell and its outcome; an untouched starter or empty cell is no attempt.

    Returns a sentence for the student where something could not be kept or read, else nothing.
    """
    if outcome.kind in (kinds.NOT_STARTED, kinds.EMPTY, *kinds.NOT_HERE):
        return ""
    if exercise.is_untouched(cell):  # a starter with a planted bug
        return ""

    def count(entry: Entry) -> Entry:
        status = DONE if outcome.passed or entry.get("status") == DONE else ATTEMPTED
        return {**entry, "tries": entry.get("tries", 0) + 1, "last": outcome.kind, "status": status}

    def keep() -> str:
        write_whole(answer_file(exercise), cell)
        if outcome.passed:
            write_whole(passing_file(exercise), cell)
        return _change(exercise, count)

    return _trying(keep)


def saved_answer(exercise: BaseExercise) -> str | None:
    """The cell the student ran last; None before the first try."""
    return _text_of(answer_file(exercise), exercise)


def passing_answer(exercise: BaseExercise) -> str | None:
    """The last cell that passed, whatever was tried after it; None where none has."""
    return _text_of(passing_file(exercise), exercise)


def forget(exercise: BaseExercise) -> str:
    """Back to the start: status and hints; the saved work stays until the next try.

    Returns a sentence where that could not be kept.
    """
    _hints.pop(exercise.id, None)
    return _trying(lambda: _change(exercise, lambda entry: {"status": OPEN}))


def next_hint(exercise: BaseExercise) -> int:
    """The number of the hint to show now, from 1; it stays at the last."""
    saved: int = _read()[0].get(exercise.id, {}).get("hints", 0)
    before = max(saved, _hints.get(exercise.id, 0))
    number = min(before + 1, len(exercise.hints))
    if _trying(lambda: _change(exercise, lambda entry: {**entry, "hints": number})):
        _hints[exercise.id] = number
    return number


def answer_file(exercise: BaseExercise) -> Path:
    """Where the last answer to the exercise is saved."""
    return folder() / f"{exercise.id}.{SUFFIXES.get(exercise.language, 'cu')}"


def passing_file(exercise: BaseExercise) -> Path:
    """Beside the work, what passed: a later try that fails leaves it."""
    return folder() / f"{exercise.id}.passed.{SUFFIXES.get(exercise.language, 'cu')}"


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
        """The lines by chapter."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.chapter, []).append(line)
        return found

    def __str__(self) -> str:
        return self._text(self.chapters)

    def __repr__(self) -> str:
        """A line for each chapter, and one for each exercise of the chapter with the next one."""
        return self._text(self._current)

    def _text(self, unfolded: Collection[str]) -> str:
        """A line for each chapter, and one for each exercise of those ``unfolded``."""
        rows = []
        for chapter, lines in self.chapters.items():
            rows.append(f"{chapter}: {_count(lines)}")
            if chapter in unfolded:
                rows += map(_row, lines)
        return "\n".join([*rows, "", self._summary()])

    @property
    def _current(self) -> list[str]:
        """The chapter with the next exercise, or none at the end."""
        return [self.next.chapter] if self.next else []

    def _repr_html_(self) -> str:
        """The chapters folded, but for the one with the next exercise."""
        parts = []
        for chapter, lines in self.chapters.items():
            rows = []
            for x in lines:
                cells = (CHECK_BOXES[x.status], x.id, html.escape(x.title) + _tries(x))
                tds = "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells)
                rows.append(f"<tr>{tds}</tr>")
            fold = "<details open>" if chapter in self._current else "<details>"
            parts.append(
                f"{fold}<summary>{chapter}: {_count(lines)}</summary>"
                f"<table>{''.join(rows)}</table></details>"
            )
        return f"{''.join(parts)}<div>{html.escape(self._summary())}</div>"

    def _summary(self) -> str:
        return f"In all: {_count(self.lines)}. {self._next_step()}"

    def _next_step(self) -> str:
        if self.next is None:
            return "Everything is done."
        return f"Next: {self.next.id}, in chapters/{self.next.notebook}.ipynb."


def progress() -> Progress:
    """Where you are in the course: the exercises of all notebooks that exist."""
    data, _ = _read()
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


def _row(line: Line) -> str:
    return f"  {CHECK_BOXES[line.status]} {line.id}  {line.title}{_tries(line)}"


def _tries(line: Line) -> str:
    if not line.tries:
        return ""
    return f" ({line.tries} {'try' if line.tries == 1 else 'tries'})"


def _trying(keep: Callable[[], str]) -> str:
    """What ``keep`` says, or why it could not keep anything."""
    try:
        return keep()
    except (OSError, ValueError) as error:
        return f"This try is not kept: {error}."


def _change(exercise: BaseExercise, change: Callable[[Entry], Entry]) -> str:
    """Write the entry of an exercise anew, under its former ids too if they have one. A no longer
    readable file is set aside first.

    Raises OSError where the folder cannot be read or written.
    """
    folder().mkdir(parents=True, exist_ok=True)
    with _locked():
        data, damaged = _read(strict=True)
        said = ""
        if damaged:
            aside = _set_aside(folder() / "progress.json")
            said = (
                f"progress.json could not be read as a whole; the old one is kept as {aside}. "
                "What you have solved still counts."
            )
        entry = change(data.get(exercise.id, {}))
        data |= {name: entry for name in exercise.formerly if name in data}
        data[exercise.id] = entry
        write_whole(folder() / "progress.json", json.dumps(data, indent=1, sort_keys=True) + "\n")
    return said


def _read(strict: bool = False) -> tuple[dict[str, Entry], bool]:
    """(the entries that make sense, whether there is anything else in the file).

    An entry without a status takes it from the student's answers in the folder, and an exercise's
    entry is joined with those under its former ids.
    With ``strict`` a file that is there and cannot be opened raises OSError; otherwise it counts as
    none, so that it stops no lesson.
    """
    entries, damaged = _read_file(strict)
    for name, status in _statuses_of_answers().items():
        entries[name] = {"status": status, **entries.get(name, {})}
    for exercise in all_exercises():
        for former in filter(None, map(entries.get, exercise.formerly)):
            entries[exercise.id] = _joined(entries.get(exercise.id, {}), former)
    return entries, damaged


def _joined(entry: Entry, former: Entry) -> Entry:
    """One entry of two: the better status, and the larger of each count."""
    both = {**former, **entry}
    both |= {name: max(entry.get(name, 0), former.get(name, 0)) for name in COUNTS if name in both}
    both["status"] = min(
        (e.get("status", OPEN) for e in (entry, former)), key=list(CHECK_BOXES).index
    )
    return both


def _statuses_of_answers() -> dict[str, str]:
    """DONE for each exercise with a passed answer in the folder, ATTEMPTED for any other answer."""
    try:
        names = os.listdir(folder())
    except OSError:
        return {}
    found = [match for match in map(ANSWER.fullmatch, names) if match]
    done = {match["id"] for match in found if match["passed"]}
    return {match["id"]: DONE if match["id"] in done else ATTEMPTED for match in found}


def _read_file(strict: bool) -> tuple[dict[str, Entry], bool]:
    try:
        found = json.loads((folder() / "progress.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, False
    except IsADirectoryError:
        return {}, True
    except OSError:
        if strict:
            raise
        return {}, False
    except (ValueError, RecursionError):
        return {}, True
    if not isinstance(found, dict):
        return {}, True
    entries = {name: entry for name, entry in found.items() if _is_entry(entry)}
    return entries, len(entries) < len(found)


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(name, 0), int) for name in COUNTS)
        and entry.get("status", OPEN) in list(CHECK_BOXES)  # whatever it is, a list too
    )


@contextmanager
def _locked() -> Iterator[None]:
    """One notebook at a time. Where there are no locks, or another is stuck, it goes on without."""
    import fcntl

    until = time.monotonic() + LOCK_SECONDS
    with (folder() / "lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    break
                time.sleep(0.01)
            except OSError:
                break
        yield


def _set_aside(path: Path) -> str:
    """Rename a file to a name that is free."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
    return aside.name


def _text_of(file: Path, exercise: BaseExercise) -> str | None:
    """The text of one of an exercise's files, or of the file under a former id."""
    rest = file.name.removeprefix(exercise.id)
    files = [file, *(file.with_name(f"{name}{rest}") for name in exercise.formerly)]
    return next((text for text in map(_text, files) if text is not None), None)


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except (OSError, ValueError):
        return None
