"""Where a student is on one of the reading paths: ``make progress ARGS="--path weekend"``."""

from __future__ import annotations

from ...notebooks.lessons import Lesson, lessons
from ...notebooks.reading_paths import ReadingPath, Station, minutes_of
from ...text_tables import Column, Columns
from .saved_answers import DONE, MARKS, OPEN, Line, progress

ROW = Columns(*(Column(width=width, left=True) for width in (1, 3, 5, 40, 7, 0)), gap=1)


def path_progress(path: ReadingPath) -> str:
    """The stations of ``path``, a row each, with the exercises that are done, and the next one.

    The exercises of a notebook that the path shows only a part of all count as one: it's done once
    any of them is.
    """
    listed = {each.name: each for each in lessons()}
    exercises: dict[str, list[Line]] = {}
    for line in progress().lines:
        exercises.setdefault(line.notebook, []).append(line)
    rows = [f"{path.title}, about {path.hours} hours: {path.goal}"]
    following: Lesson | None = None
    for station in path.stations:
        own, its = listed[station.name], exercises.get(station.name, [])
        done = sum(line.status == DONE for line in its)
        is_done = done >= (1 if station.part else len(its)) if its else None
        if is_done is False and following is None:
            following = own
        rows += _rows(station, own, minutes_of(station, listed), is_done, f"{done} of {len(its)}")
    ending = (
        f"Next: {following.title}, in chapters/{following.name}.ipynb."
        if following
        else "Every exercise of this path is done."
    )
    return "\n".join([*rows, "", ending])


def _rows(
    station: Station, own: Lesson, minutes: int, is_done: bool | None, count: str
) -> list[str]:
    mark = "   " if is_done is None else MARKS[DONE if is_done else OPEN]
    said = "" if is_done is None else f"{count} exercises done"
    rows = [ROW.row("", mark, own.number, own.title, f"{minutes} min", said)]
    return [*rows, f"{'':12}{station.part}"] if station.part else rows
