"""``python -m course_utils exercises``, ``progress``, ``portfolio``, and for a class ``grade``,
``variants``, ``exam``, ``slides`` and ``outcomes``."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from ..errors import LessonError
from ..paths import README, notebook_name, shown
from ..text_tables import Table
from .authoring.registry import all_exercises, find, known
from .authoring.spec import BaseExercise

WHICH = "exercises, or those of a notebook or chapter: 04.saxpy 06_matmul_and_fft"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the eight commands to the command line."""
    exercises = subparsers.add_parser("exercises")
    exercises.add_argument("ids", nargs="*", metavar="ID", help=f"{WHICH} (default: all)")
    what = exercises.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the exercises (the default)")
    what.add_argument("--verify", action="store_true", help="run starter, solution and mutants")
    what.add_argument(
        "--write",
        action="store_true",
        help="generate the cells of the notebooks, the tables of the chapters and the count in the "
        "README",
    )
    exercises.add_argument(
        "--store",
        action="store_true",
        help="with --verify: leave out the notebooks whose proofs are noted as they are now, and "
        "note those whose exercises all hold, so that `make test` tries a few texts of each alone",
    )
    exercises.add_argument(
        "--device",
        choices=("emulator", "cuda"),
        default="emulator",
        help="with --verify: cuda also runs each solution at full size on the GPU, and times it",
    )
    exercises.set_defaults(func=_exercises)
    progress = subparsers.add_parser("progress")
    which = progress.add_mutually_exclusive_group()
    which.add_argument("--json", action="store_true", help="as JSON, an entry for each exercise")
    which.add_argument(
        "--path", metavar="NAME", help="on a reading path: weekend, four-weeks or expert"
    )
    which.add_argument("--all", action="store_true", help="every exercise of every chapter")
    progress.set_defaults(func=_progress)
    portfolio = subparsers.add_parser("portfolio")
    portfolio.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="default: portfolio.html in .progress"
    )
    portfolio.set_defaults(func=_portfolio)
    grade = subparsers.add_parser("grade")
    grade.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a student each: a copy of the course, a folder of notebooks, or a notebook",
    )
    grade.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help=f"these alone: {WHICH}",
    )
    grade.add_argument(
        "--points",
        type=Path,
        metavar="FILE",
        help='JSON, what an exercise is worth where that is not 1: {"04.saxpy": 2}',
    )
    grade.add_argument(
        "--details", action="store_true", help="a table per student, of a class as well"
    )
    grade.add_argument("--json", type=Path, metavar="FILE", help="also write the grades as JSON")
    grade.add_argument("--junit", type=Path, metavar="FILE", help="also write them as JUnit XML")
    grade.add_argument(
        "--csv", type=Path, metavar="FILE", help="write a line per student, for a spreadsheet"
    )
    grade.add_argument(
        "--nbgrader",
        type=Path,
        metavar="FILE",
        help="write a line per notebook and student, with the columns of nbgrader's export",
    )
    grade.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run students' code without bubblewrap, with your rights and your network",
    )
    seeds = grade.add_mutually_exclusive_group()
    seeds.add_argument("--seed", default="", help="the class has the numbers of this seed")
    seeds.add_argument(
        "--seed-each",
        default="",
        metavar="SEED",
        help="each student has their own numbers, by this seed and the name in the table",
    )
    grade.set_defaults(func=_grade)
    variants = subparsers.add_parser("variants")
    which = variants.add_mutually_exclusive_group()
    which.add_argument("--seed", default="", help="the class's seed: letters and digits")
    which.add_argument("--off", action="store_true", help="bring the course's own numbers back")
    variants.add_argument(
        "--student", default="", metavar="NAME", help="with --seed: numbers for this student alone"
    )
    variants.set_defaults(func=_variants)
    exam = subparsers.add_parser("exam")
    exam.add_argument(
        "which", nargs="*", metavar="NOTEBOOK", help="notebooks or chapters (default: all)"
    )
    exam.add_argument(
        "--seed", default="", help="add the predictions, as questions with numbers of this seed"
    )
    exam.set_defaults(func=_exam)
    slides = subparsers.add_parser("slides")
    slides.add_argument("which", nargs="+", metavar="NOTEBOOK", help="notebooks or chapters")
    slides.set_defaults(func=_slides)
    outcomes = subparsers.add_parser("outcomes")
    outcomes.add_argument(
        "which", nargs="*", metavar="NOTEBOOK", help="notebooks or chapters (default: all)"
    )
    outcomes.set_defaults(func=_outcomes)


def _exercises(args: argparse.Namespace) -> int:
    try:
        chosen = _chosen(args.ids)
    except LessonError as error:
        print(error)
        return 2
    if args.write:
        return _write()
    if args.verify:
        return _verify(chosen, args.device, args.store)
    headings = ("exercise", "title", "mutants", "notebook")
    rows = [(e.id, e.title, len(e.mutants), e.notebook) for e in chosen]
    print(Table(headings, rows, left=("title", "notebook")))
    return 0


def _write() -> int:
    from ..notebooks import front_page
    from . import fault_film
    from .authoring.chapter_tables import write_tables
    from .authoring.generate import notebook_path, unplaced, write_notebooks

    changed = [*write_notebooks(), *write_tables()]
    for path in changed:
        print(f"updated {path.parent.name}/{path.name}")
    if counted := front_page.draw():
        print(f"counted the exercises in {shown(README)}")
    if filmed := fault_film.draw():
        print(f"drew {shown(fault_film.FILE)}")
    homeless = unplaced()
    for each in homeless:
        print(
            f"{each.id} has no place in {each.notebook}.ipynb: write {{{{exercise {each.id}}}}} "
            "alone into a Markdown cell there, then --write again"
        )
    missing = sorted({e.notebook for e in all_exercises() if not notebook_path(e).exists()})
    for name in missing:
        print(f"missing {name}.ipynb: its exercises wait for it")
    if not changed and not counted and not filmed and not homeless:
        print("nothing to update")
    return 1 if homeless else 0


def _verify(chosen: list[BaseExercise], wanted: str, store: bool) -> int:
    from ..devices.selection import CUDA, device
    from .judging import verification_cache
    from .judging.verify import proofs_of_many, table

    if wanted == CUDA and device() != CUDA:
        print(
            "--device cuda needs a CUDA GPU; `python -m course_utils doctor` says what is missing."
        )
        return 2
    if store:  # whole notebooks, of which some exercise was asked for
        asked = {e.notebook for e in chosen if not verification_cache.is_verified(e)}
        chosen = [e for e in all_exercises() if e.notebook in asked]
    found = []
    for proof in proofs_of_many(chosen, gpu=wanted == CUDA):
        found.append(proof)
        if not proof.holds:
            print(f"{proof.exercise_id}, {proof.text}: expected {proof.expected}\n{proof.detail}")
    print(table(found))
    if store:
        verification_cache.store(found)
    return 0 if all(proof.holds for proof in found) else 1


def _progress(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from ..notebooks.reading_paths import named_path
    from .student.path_progress import path_progress
    from .student.saved_answers import progress

    if args.json:
        print(json.dumps([asdict(line) for line in progress().lines], indent=1))
    elif args.path:
        print(path_progress(named_path(args.path)))
    else:
        print(progress() if args.all else repr(progress()))
    return 0


def _portfolio(args: argparse.Namespace) -> int:
    from .student.portfolio import write

    def say(line: str) -> None:
        print(line, file=sys.stderr)

    print(f"Written to {shown(write(args.file, say))}. Open it in a browser.")
    return 0


def _variants(args: argparse.Namespace) -> int:
    from .student.class_variants import class_seed, of_student, varied_exercises, write_variants

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
    from .authoring.variants import drawn
    from .student.class_tables import (
        class_table,
        exercise_table,
        student_names,
        to_csv,
        to_nbgrader,
    )
    from .student.class_variants import of_student
    from .student.grading import grade, to_json, to_junit
    from .student.sandbox import is_inside, status_inside

    files = {args.json: to_json, args.junit: to_junit, args.csv: to_csv, args.nbgrader: to_nbgrader}
    files.pop(None, None)
    try:
        points = _points(args.points)
        chosen = _chosen(args.only)
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
    from ..notebooks.cells import asked_for
    from ..notebooks.quizzes import questions, to_gift
    from .student.class_variants import numbers_to_gift

    paths = list(asked_for(args.which))
    found = list(questions(paths))
    numbers = numbers_to_gift(paths, args.seed) if args.seed else ""
    if not found and not numbers:
        raise LessonError(f"{' '.join(args.which)}: no quiz question there.")
    print(*filter(None, (to_gift(found) if found else "", numbers)), sep="\n", end="")
    return 0


def _slides(args: argparse.Namespace) -> int:
    from ..notebooks.cells import asked_for
    from ..notebooks.slides import page

    print(page(asked_for(args.which)), end="")
    return 0


def _outcomes(args: argparse.Namespace) -> int:
    from ..notebooks.cells import asked_for
    from .student.syllabus import matrix

    print(matrix(asked_for(args.which)), end="")
    return 0


def _chosen(words: list[str]) -> list[BaseExercise]:
    """The exercises that ``words`` name, in the course's order; all for no words.

    Raises LessonError where a word names none.
    """
    from ..notebooks.cells import named

    asked: set[str] = set()
    for word in words:
        if re.fullmatch(r"\d\d\.\w+", word):
            try:
                asked.add(find(word).id)
            except KeyError as error:
                raise LessonError(error.args[0]) from None
        else:
            books = {notebook_name(book) for book in named(word)}
            ids = {e.id for e in all_exercises() if e.notebook in books}
            if not ids:
                raise LessonError(f"{word} has no exercises.")
            asked |= ids
    return [e for e in all_exercises() if not words or e.id in asked]


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
