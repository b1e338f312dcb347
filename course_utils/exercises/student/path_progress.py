"""Where a student is on one of the reading paths: ``make progress ARGS="--path weekend"``."""

from __future__ import annotations

from ...notebooks.lessons import Lesson, lessons_by_name
from ...notebooks.reading_paths import ReadingPath, Station, minutes_of
from ...text_tables import Column, Columns
from .saved_answers import CHECK_BOXES, DONE, OPEN, Line, progress

ROW = Columns(*(Column(width=width, left=True) for width in (1, 3, 5, 40, 7, 0)), gap=1)


def path_progress(path: ReadingPath) -> str:
    """The stations of ``path``, a row each, with the exercises that are done, and the next one.

    Of a notebook that the path shows only a part of, the exercises of that part count.
    """
    listed = lessons_by_name()
    exercises: dict[str, list[Line]] = {}
    for line in progress().lines:
        exercises.setdefault(line.notebook, []).append(line)
    rows = [f"{path.title}, about {path.hours} hours: {path.goal}"]
    reading: list[str] = []  # notebooks without exercises since the last one with some
    following = ""
    for station in path.stations:
        own, its = listed[station.name], exercises.get(station.name, [])
        if station.part:
            its = [line for line in its if line.id in station.exercises]
        rows += _rows(station, own, minutes_of(station, listed), its)
        if not following and any(line.status != DONE for line in its):
            titles = [*reading, own.title]
            following = f"Next: {', then '.join(titles)}, in chapters/{own.name}.ipynb."
        reading = [] if its else [*reading, f"{own.title} (to read)"]
    return "\n".join([*rows, "", following or "Every exercise of this path is done."])


def _rows(station: Station, own: Lesson, minutes: int, exercises: list[Line]) -> list[str]:
    mark, said = " " * len(CHECK_BOXES[DONE]), "to read"
    if exercises:
        done = sum(line.status == DONE for line in exercises)
        mark = CHECK_BOXES[DONE if done == len(exercises) else OPEN]
        said = f"{done} of {len(exercises)} exercises done"
    rows = [ROW.row("", mark, own.number, own.title, f"{minutes} min", said)]
    return [*rows, f"{'':12}{station.part}"] if station.part else rows
