"""A class at once: a line per student, a line per exercise, and CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ...text_tables import Table
from ..authoring.registry import find
from .grading import NO_ANSWER, Grade, StudentReport, printable

NBGRADER = (  # the columns of nbgrader's own export, in its order
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


def student_names(places: Sequence[Path]) -> list[str]:
    """A name for each student's path: the parts in which it differs from the others.

    ``ana/course`` and ``ben/course`` are ana and ben. A notebook loses its suffix.
    """
    whole = [place.resolve() for place in places]
    parts = [
        (*path.parts[:-1], path.stem if path.suffix == ".ipynb" else path.name) for path in whole
    ]
    if len(set(parts)) < 2:
        return [each[-1] for each in parts]
    shortest = min(len(each) for each in parts)
    first = next((n for n in range(shortest) if len({p[n] for p in parts}) > 1), shortest - 1)
    last = next(
        n for n in range(1, shortest + 1) if len({p[-n] for p in parts}) > 1 or n == shortest
    )
    return ["/".join(each[first : len(each) - last + 1]) or each[-1] for each in parts]


def class_table(reports: Sequence[StudentReport]) -> Table:
    """A row per student: points, answers by what became of them, and remarks to look into."""
    rows = []
    for report in reports:
        right, wrong, missing = _counts(report.grades)
        published = sum(grade.as_published for grade in report.grades)
        rows.append(
            (
                printable(report.student),
                f"{report.points:g}",
                f"{report.of:g}",
                right,
                wrong,
                missing,
                published,
                len(report.changed),
            )
        )
    headings = (
        "student",
        "points",
        "of",
        "right",
        "wrong",
        NO_ANSWER,
        "as published",
        "changed files",
    )
    return Table(headings, rows)


def exercise_table(reports: Sequence[StudentReport]) -> Table:
    """A row per exercise that anybody answered: how many were right, and the commonest verdict
    among the others."""
    rows = []
    for grades in zip(*(report.grades for report in reports), strict=True):
        right, wrong, missing = _counts(grades)
        if right + wrong:
            kinds = [g.kind for g in grades if g.kind != NO_ANSWER and not g.passed]
            most = max(kinds, key=kinds.count) if kinds else ""
            rows.append((grades[0].exercise, right, wrong, missing, most))
    return Table(("exercise", "right", "wrong", NO_ANSWER, "commonest"), rows, left=("commonest",))


def to_csv(reports: Sequence[StudentReport]) -> str:
    """A line per student: name, points, the most there are, then the verdict of each exercise."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    names = [grade.exercise for grade in reports[0].grades] if reports else []
    rows.writerow(["student", "points", "of", *names])
    for report in reports:
        verdicts = [grade.kind for grade in report.grades]
        rows.writerow([_cell(report.student), f"{report.points:g}", f"{report.of:g}", *verdicts])
    return text.getvalue()


def to_nbgrader(reports: Sequence[StudentReport]) -> str:
    """A line per notebook and student, under the headings of ``nbgrader export``: an assignment is
    a notebook. Dates, names and addresses stay empty, since a student is only a path here."""
    text = io.StringIO()
    rows = csv.DictWriter(text, NBGRADER, restval="", lineterminator="\n")
    rows.writeheader()
    graded = reports[0].grades if reports else ()
    books = {grade.exercise: find(grade.exercise).notebook for grade in graded}
    for book in dict.fromkeys(books.values()):
        for report in reports:
            its = [grade for grade in report.grades if books[grade.exercise] == book]
            points = f"{sum(grade.points for grade in its):g}"
            rows.writerow(
                {
                    "assignment": book,
                    "student_id": _cell(report.student),
                    "raw_score": points,
                    "late_submission_penalty": "0",
                    "score": points,
                    "max_score": f"{sum(grade.of for grade in its):g}",
                }
            )
    return text.getvalue()


def _counts(grades: Sequence[Grade]) -> tuple[int, int, int]:
    """How many were right, wrong, and not answered."""
    missing = sum(grade.kind == NO_ANSWER for grade in grades)
    right = sum(grade.passed for grade in grades)
    return right, len(grades) - right - missing, missing


def _cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    shown = printable(name)
    return f"'{shown}" if shown[:1] in tuple("=+-@") else shown
