"""The website's first page: its numbers, its pictures and its recordings of kernels, all from where
the course has them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pictures import picture_size

from course_utils import cp, load, step
from course_utils.exercises.fault_film import FILE as FILM
from course_utils.notebooks.course_map import FILE as MAP
from course_utils.notebooks.front_page import FIRST_LESSON, binder_link, exercise_count
from course_utils.notebooks.hosted_cells import repository_address
from course_utils.notebooks.lessons import lessons_by_name
from course_utils.notebooks.reading_paths import PATHS
from course_utils.paths import README, ROOT
from course_utils.records.ladders import matmul_file
from course_utils.records.record_pages import MARKS
from course_utils.stepping.stepped_launch import HEIGHT, SteppedLaunch
from course_utils.symptoms import PAGE

EXTRA = ROOT / "build" / "drawn" / "extra"  # copied into the site as it is
BARRIERS = "04_first_kernels/04_barriers_and_atomics"


class Recording(NamedTuple):
    """A launch of a lesson, to be watched; ``file`` is its page below ``steppers``."""

    file: str
    lesson: str
    question: str
    answer: str
    launch: Callable[[], SteppedLaunch]


def _shift(name: str) -> SteppedLaunch:
    numbers = cp.arange(64, dtype=cp.float32)
    kernel = load(f"04_first_kernels/barriers_and_atomics/{name}.cu")
    return step(kernel, 1, 64, (numbers, 64), order="warps")


def _two_paths() -> SteppedLaunch:
    numbers, results = cp.arange(1, 33, dtype=cp.float32), cp.full(32, cp.nan, dtype=cp.float32)
    return step(load("03_gpu_introduction/execution/two_paths.cu"), 1, 32, (numbers, results, 8))


RECORDINGS = (
    Recording(
        "race.html",
        BARRIERS,
        "Two warps shift an array by one. Where does it go wrong?",
        "A thread overwrites an element that a thread of the other warp has yet to read.",
        lambda: _shift("shift_left_race"),
    ),
    Recording(
        "barrier.html",
        BARRIERS,
        "What does one barrier change?",
        "Each warp waits at the barrier until the other has read. Only then do both write.",
        lambda: _shift("shift_left"),
    ),
    Recording(
        "branch.html",
        "03_gpu_introduction/02_execution_model",
        "Eight lanes of a warp take one path of an if, and 24 the other. What does it cost?",
        "The warp runs both paths, one after the other, each with the lanes that chose it.",
        _two_paths,
    ),
)


def draw() -> None:
    """Write what the page shows into :data:`EXTRA`. It runs three small launches."""
    (EXTRA / "steppers").mkdir(parents=True, exist_ok=True)
    (EXTRA / "figures").mkdir(exist_ok=True)
    for each in RECORDINGS:
        each.launch().save(EXTRA / "steppers" / each.file, begin=0)
    for picture in (FILM, MAP, matmul_file()):
        shutil.copyfile(picture, EXTRA / "figures" / picture.name)


def context() -> dict[str, Any]:
    """The values of ``templates/home.html``."""
    listed = lessons_by_name()
    return {
        "notebooks": len(listed),
        "exercises": exercise_count(),
        "first": FIRST_LESSON.replace(".ipynb", ".html"),
        "try_it": binder_link(repository_address()),
        "film": _size(FILM),
        "ladder": _size(matmul_file()),
        "map": _size(MAP),
        "score": _score(),
        "recordings": [
            {
                "file": each.file,
                "question": each.question,
                "answer": each.answer,
                "height": HEIGHT,
                "lesson": _page(each.lesson),
                "title": listed[each.lesson].title,
            }
            for each in RECORDINGS
        ],
        "paths": [
            {
                "title": path.title,
                "hours": path.hours,
                "goal": path.goal,
                "first": _page(path.stations[1].name),
            }
            for path in PATHS
        ],
        "wrong": PAGE.relative_to(ROOT).with_suffix(".html").as_posix(),
    }


def _page(lesson: str) -> str:
    return f"chapters/{lesson}.html"


def _score() -> str:
    """README.md's sentence on how many tasks are won."""
    records = README.read_text(encoding="utf-8").partition(MARKS[0])[2]
    return records.partition(" For example")[0]


def _size(file: Path) -> dict[str, Any]:
    width, height = picture_size(file)
    return {"name": file.name, "width": width, "height": height}
