"""``python -m course_utils exercises``: list, prove or write the exercises."""

from __future__ import annotations

import argparse

from ..errors import LessonError
from ..paths import README, shown
from ..text_tables import Table
from .authoring.registry import WHICH, all_exercises, named_exercises
from .authoring.spec import BaseExercise


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``exercises`` to the command line."""
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


def _exercises(args: argparse.Namespace) -> int:
    try:
        chosen = named_exercises(args.ids)
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
