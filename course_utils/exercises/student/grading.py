"""``python -m course_utils grade``: a student's notebooks, judged by this checkout of the course.

Nothing of the student's is executed but the answers, and those as in a notebook: with the specs,
the checker and the shared headers of *this* checkout. So an edited spec or checker in a student's
copy changes no grade; that it was edited is said.
"""

from __future__ import annotations

import filecmp
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from ...compiling.signature import strip_comments
from ...errors import LessonError
from ...notebooks.cells import EXERCISE, find
from ...paths import ROOT
from ...text_tables import Table
from ..authoring import kinds
from ..authoring.registry import known
from ..authoring.spec import BaseExercise
from ..judging.runner import run_source
from .magic import CELL_LINE

NO_ANSWER = "no answer"
LARGEST = 100_000_000  # bytes of a file that is read
TRIES = 3  # of one exercise's cells in a notebook, from the last one back
JUDGES = ("course_utils", "kernels", "chapters/*/exercises")  # what a verdict depends on
SOURCES = (".py", ".cu", ".cuh", ".c", ".cpp", ".h")
_MAGIC = re.compile(rf"\s*{EXERCISE}[ \t]+(\S+)[^\n]*\n?")  # IPython skips what is empty before it


@dataclass(frozen=True)
class Grade:
    """One exercise of one student. ``kind`` is the verdict's, or :data:`NO_ANSWER`; ``hints`` are
    those that the student's own record counts, None where there is no record."""

    exercise: str
    title: str
    points: float
    of: float
    kind: str
    message: str = ""
    as_published: bool = False
    hints: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer is right, however few points it gives."""
        return self.kind == kinds.PASS


@dataclass(frozen=True)
class StudentReport:
    """A student's grades; ``changed`` are files of their copy that a verdict would depend on."""

    student: str
    grades: tuple[Grade, ...]
    changed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The sum over all exercises."""
        return sum(grade.points for grade in self.grades)

    @property
    def of(self) -> float:
        """The most points that all exercises give together."""
        return sum(grade.of for grade in self.grades)

    def __str__(self) -> str:
        headings = ("exercise", "points", "of", "verdict", "hints", "")
        rows = [
            (
                grade.exercise,
                f"{grade.points:g}",
                f"{grade.of:g}",
                grade.kind,
                "" if grade.hints is None else grade.hints,
                "the published solution" if grade.as_published else "",
            )
            for grade in self.grades
            if grade.kind != NO_ANSWER
        ]
        missing = [grade.exercise for grade in self.grades if grade.kind == NO_ANSWER]
        lines = [f"{self.student}: {self.points:g} of {self.of:g} points"]
        if rows:
            lines.append(str(Table(headings, rows, left=("verdict", ""))))
        if missing:
            lines.append(f"{NO_ANSWER}: {', '.join(missing)}")
        if self.changed:
            changed = ", ".join(self.changed).replace("\n", "?")
            lines.append(f"changed in this copy, and not used here: {changed}")
        return printable(
            "\n".join([*lines, *(remark.replace("\n", "?") for remark in self.remarks)])
        )


def grade(
    place: Path,
    exercises: Sequence[BaseExercise],
    points: Mapping[str, float] | None = None,
    student: str | None = None,
) -> StudentReport:
    """Judge what is below ``place``: a notebook, or a folder of notebooks such as a student's copy
    of the course.

    ``points`` has what an exercise is worth where that is not 1, and ``student`` is a name, by
    default the notebook's or the folder's. Raises LessonError where there is no notebook.
    """
    try:
        notebooks = find([place])
    except FileNotFoundError as error:
        raise LessonError(str(error)) from None
    remarks: list[str] = []
    cells: dict[str, list[str]] = {}
    unknown: set[str] = set()
    for notebook in notebooks:
        try:
            for name, source in answers_of(notebook):
                if exercise := known(name):
                    cells.setdefault(exercise.id, []).append(source)
                else:
                    unknown.add(name)
        except (OSError, ValueError) as error:
            remarks.append(f"{notebook.name} could not be read: {error}")
    hints, worth = _hints(place), points or {}
    grades = tuple(
        _graded(exercise, cells.get(exercise.id, []), worth.get(exercise.id, 1.0), hints)
        for exercise in exercises
    )
    if unknown:
        remarks.append("no such exercise here: " + ", ".join(sorted(unknown)))
    return StudentReport(
        student or place.resolve().stem, grades, tuple(changed_files(place)), tuple(remarks)
    )


def answers_of(notebook: Path) -> Iterator[tuple[str, str]]:
    """(exercise, answer) of each ``%%exercise`` cell. Raises ValueError for what is no notebook,
    OSError for what cannot be read."""
    try:
        cells = json.loads(_content(notebook))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"it has no cells ({error!r})") from None
    for source in sources:
        if magic := _MAGIC.match(source):
            yield magic[1], source[magic.end() :]


def changed_files(place: Path) -> Iterator[str]:
    """Files of a copy of the course that differ from this checkout's, or are none of its, among
    those that a verdict depends on."""
    if not place.is_dir() or place.resolve() == ROOT:
        return
    for pattern in JUDGES:
        for file in sorted(f for folder in place.glob(pattern) for f in folder.rglob("*")):
            name = file.relative_to(place)
            if file.suffix in SOURCES and not (
                (ROOT / name).is_file()
                and file.is_file()
                and filecmp.cmp(ROOT / name, file, shallow=False)
            ):
                yield name.as_posix()


def to_json(reports: Sequence[StudentReport]) -> str:
    """Every report with its points, as JSON."""
    found = [{**asdict(r), "points": r.points, "of": r.of} for r in reports]
    return json.dumps(found, indent=1) + "\n"


def to_junit(reports: Sequence[StudentReport]) -> str:
    """The reports as JUnit XML: a suite for each student, a case for each exercise."""
    suites = ElementTree.Element("testsuites")
    for report in reports:
        lost = [found for found in report.grades if found.points < found.of]
        counts = {"tests": str(len(report.grades)), "failures": str(len(lost))}
        student = printable(report.student)
        suite = ElementTree.SubElement(suites, "testsuite", {"name": student, **counts})
        for found in report.grades:
            names = {"name": found.exercise, "classname": student}
            case = ElementTree.SubElement(suite, "testcase", names)
            if found in lost:
                failure = ElementTree.SubElement(case, "failure", {"message": found.kind})
                failure.text = printable(found.message)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _graded(
    exercise: BaseExercise, cells: list[str], worth: float, hints: Mapping[str, int] | None
) -> Grade:
    used = None if hints is None else max(hints.get(name, 0) for name in exercise.ids)
    outcome, source = None, ""
    for cell in reversed(cells[-TRIES:]):
        last = run_source(exercise, cell, first_line=CELL_LINE)
        if outcome is None or last.passed:
            outcome, source = last, cell
        if last.passed:
            break
    if outcome is None or outcome.kind in (kinds.NOT_STARTED, kinds.EMPTY):
        return Grade(exercise.id, exercise.title, 0, worth, NO_ANSWER, hints=used)
    return Grade(
        exercise.id,
        exercise.title,
        worth if outcome.passed else 0,
        worth,
        outcome.kind,
        outcome.verdict.message,
        _words(source) == _words((exercise.own or exercise).solution),
        used,
    )


def _hints(place: Path) -> dict[str, int] | None:
    """Hints that a copy of the course has counted; None where nothing was counted."""
    try:
        found = json.loads(_content(place / ".progress/progress.json"))
        return {name: int(entry.get("hints", 0)) for name, entry in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _content(file: Path) -> str:
    """The text of a student's file. Raises OSError where there is none, ValueError for a file that
    has no end, such as a link to /dev/zero, or one far longer than any notebook."""
    if file.exists() and not file.is_file():
        raise ValueError("it is no file")
    if file.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    return file.read_text(encoding="utf-8")


def _words(text: str) -> list[str]:
    """A source without its comments and its spacing."""
    return re.sub(r"#[^\n]*", " ", strip_comments(text)).split()


def printable(text: str) -> str:
    """``text`` without characters that XML can't hold or a terminal obeys."""
    return "".join(c if c in "\n\t" or c.isprintable() else "?" for c in text)
