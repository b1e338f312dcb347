"""``python -m course_utils progress`` and ``portfolio``, and for a class ``grade``, ``variants``,
``exam``, ``slides`` and ``outcomes``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ...errors import LessonError
from ...paths import shown
from ...text_tables import Table
from ..authoring.registry import WHICH, find, known, named_exercises


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the seven commands to the command line."""
    for name, (arguments, run) in COMMANDS.items():
        command = subparsers.add_parser(name)
        command.set_defaults(func=run)
        arguments(command)


def _add_progress(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group()
    which.add_argument("--json", action="store_true", help="as JSON, an entry for each exercise")
    which.add_argument(
        "--path", metavar="NAME", help="on a reading path: weekend, four-weeks or expert"
    )
    which.add_argument("--all", action="store_true", help="every exercise of every chapter")


def _add_portfolio(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="default: portfolio.html in .progress"
    )


def _add_grade(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a student each: a copy of the course, a folder of notebooks, or a notebook",
    )
    command.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help=f"these alone: {WHICH}",
    )
    command.add_argument(
        "--points",
        type=Path,
        metavar="FILE",
        help='JSON, what an exercise is worth where that is not 1: {"04.saxpy": 2}',
    )
    command.add_argument(
        "--details", action="store_true", help="a table per student, of a class as well"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the grades as JSON")
    command.add_argument("--junit", type=Path, metavar="FILE", help="also write them as JUnit XML")
    command.add_argument(
        "--csv", type=Path, metavar="FILE", help="write a line per student, for a spreadsheet"
    )
    command.add_argument(
        "--nbgrader",
        type=Path,
        metavar="FILE",
        help="write a line per notebook and student, with the columns of nbgrader's export",
    )
    command.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run students' code without bubblewrap, with your rights and your network",
    )
    seeds = command.add_mutually_exclusive_group()
    seeds.add_argument("--seed", default="", help="the class has the numbers of this seed")
    seeds.add_argument(
        "--seed-each",
        default="",
        metavar="SEED",
        help="each student has their own numbers, by this seed and the name in the table",
    )


def _add_variants(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group()
    which.add_argument("--seed", default="", help="the class's seed: letters and digits")
    which.add_argument("--off", action="store_true", help="bring the course's own numbers back")
    command.add_argument(
        "--student", default="", metavar="NAME", help="with --seed: numbers for this student alone"
    )


def _add_exam(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "which", nargs="*", metavar="NOTEBOOK", help="notebooks or chapters (default: all)"
    )
    command.add_argument(
        "--seed", default="", help="add the predictions, as questions with numbers of this seed"
    )


def _add_slides(command: argparse.ArgumentParser) -> None:
    command.add_argument("which", nargs="+", metavar="NOTEBOOK", help="notebooks or chapters")


def _add_outcomes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "which", nargs="*", metavar="NOTEBOOK", help="notebooks or chapters (default: all)"
    )


def _progress(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from ...notebooks.reading_paths import named_path
    from .path_progress import path_progress
    from .saved_answers import progress

    if args.json:
        print(json.dumps([asdict(line) for line in progress().lines], indent=1))
    elif args.path:
        print(path_progress(named_path(args.path)))
    else:
        print(progress() if args.all else repr(progress()))
    return 0


def _portfolio(args: argparse.Namespace) -> int:
    from .portfolio import write

    def say(line: str) -> None:
        print(line, file=sys.stderr)

    print(f"Written to {shown(write(args.file, say))}. Open it in a browser.")
    return 0


def _variants(args: argparse.Namespace) -> int:
    from .class_variants import class_seed, of_student, varied_exercises, write_variants

    if args.student and not args.seed:
        raise LessonError(
            "--student NAME goes with --seed SEED: the class's seed, from its teacher."
        )
    if args.seed or args.off:
        changed = list(write_variants(of_student(args.seed, args.student)))
        print(*changed or ["Nothing to change."], sep="\n")
        return 0
    rows = [(e.id, e.title, e.notebook) for e in varied_exercises()]
    print(Table(("exercise", "title", "notebook"), rows, left=("title", "notebook")))
    print(f"\nThe seed of this copy: {class_seed() or 'none'}")
    return 0


def _grade(args: argparse.Namespace) -> int:
    from ..authoring.variants import drawn
    from .class_tables import (
        class_table,
        exercise_table,
        student_names,
        to_csv,
        to_nbgrader,
    )
    from .class_variants import of_student
    from .grading import grade, to_json, to_junit
    from .sandbox import is_inside, status_inside

    files = {args.json: to_json, args.junit: to_junit, args.csv: to_csv, args.nbgrader: to_nbgrader}
    files.pop(None, None)
    try:
        points = _points(args.points)
        chosen = named_exercises(args.only)
        if args.seed_each and len(args.paths) == 1:
            raise LessonError(
                "--seed-each takes names from the paths of several students. For one, write "
                f"--seed {args.seed_each}/NAME."
            )
        if not (args.no_sandbox or is_inside()):
            reads = [*args.paths, *filter(None, [args.points])]
            status = status_inside(args.words, reads, list(files))
            if isinstance(status, int):
                return status
            print(status, file=sys.stderr)
        reports = []
        for path, name in zip(args.paths, student_names(args.paths), strict=True):
            seed = of_student(args.seed_each, name) if args.seed_each else args.seed
            theirs = [drawn(exercise, seed) for exercise in chosen]
            try:  # a path that has no notebook keeps no other from being graded
                reports.append(grade(path, theirs, points, name))
            except LessonError as error:
                print(error, file=sys.stderr)
                continue
            if args.details or len(args.paths) == 1:
                print(reports[-1], end="\n\n")
        if len(reports) > 1:
            print(class_table(reports), exercise_table(reports), sep="\n\n")
        for file, text in files.items():
            file.write_text(text(reports), encoding="utf-8")
    except (LessonError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if len(reports) == len(args.paths) else 2


def _exam(args: argparse.Namespace) -> int:
    from ...notebooks.cells import asked_for
    from ...notebooks.quizzes import questions, to_gift
    from .class_variants import numbers_to_gift

    paths = list(asked_for(args.which))
    found = list(questions(paths))
    numbers = numbers_to_gift(paths, args.seed) if args.seed else ""
    if not found and not numbers:
        raise LessonError(f"{' '.join(args.which)}: no quiz question there.")
    print(*filter(None, (to_gift(found) if found else "", numbers)), sep="\n", end="")
    return 0


def _slides(args: argparse.Namespace) -> int:
    from ...notebooks.cells import asked_for
    from ...notebooks.slides import page

    print(page(asked_for(args.which)), end="")
    return 0


def _outcomes(args: argparse.Namespace) -> int:
    from ...notebooks.cells import asked_for
    from .syllabus import matrix

    print(matrix(asked_for(args.which)), end="")
    return 0


def _points(file: Path | None) -> dict[str, float]:
    if file is None:
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        points = {name: float(worth) for name, worth in found.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise LessonError(f'{file} is not like {{"04.saxpy": 2}}: {error}') from None
    if unknown := sorted(name for name in points if not known(name)):
        raise LessonError(f"{file} names no exercise: {', '.join(unknown)}")
    return {find(name).id: worth for name, worth in points.items()}


# A command, the function that adds its arguments, and the one that runs it.
COMMANDS = {
    "progress": (_add_progress, _progress),
    "portfolio": (_add_portfolio, _portfolio),
    "grade": (_add_grade, _grade),
    "variants": (_add_variants, _variants),
    "exam": (_add_exam, _exam),
    "slides": (_add_slides, _slides),
    "outcomes": (_add_outcomes, _outcomes),
}
