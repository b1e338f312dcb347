"""``python -m course_utils exercises`` and ``python -m course_utils progress``."""

from __future__ import annotations

import argparse

from ..text_tables import Table
from .registry import all_exercises, find


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add both commands to the command line."""
    exercises = subparsers.add_parser("exercises", help="list, prove or write the exercises")
    exercises.add_argument("ids", nargs="*", metavar="ID", help="such as 04.saxpy; default all")
    what = exercises.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the exercises (the default)")
    what.add_argument("--verify", action="store_true", help="run starter, solution and mutants")
    what.add_argument("--write", action="store_true", help="generate the cells of the notebooks")
    exercises.add_argument(
        "--device",
        choices=("emulator", "cuda"),
        default="emulator",
        help="with --verify: cuda also runs each solution at full size on the GPU, and times it",
    )
    exercises.set_defaults(func=_exercises)
    progress = subparsers.add_parser("progress", help="what is done, and what comes next")
    progress.set_defaults(func=_progress)


def _exercises(args: argparse.Namespace) -> int:
    try:
        chosen = [find(name) for name in args.ids] or list(all_exercises())
    except KeyError as error:
        print(error.args[0])
        return 2
    if args.write:
        return _write()
    if args.verify:
        return _verify(chosen, args.device)
    headings = ("exercise", "title", "mutants", "notebook")
    rows = [(e.id, e.title, len(e.mutants), e.notebook) for e in chosen]
    print(Table(headings, rows, left=("title", "notebook")))
    return 0


def _write() -> int:
    from .generate import notebook_path, write_notebooks

    changed = write_notebooks()
    for path in changed:
        print(f"updated {path.parent.name}/{path.name}")
    missing = sorted({e.notebook for e in all_exercises() if not notebook_path(e).exists()})
    for name in missing:
        print(f"missing {name}.ipynb: its exercises wait for it")
    if not changed:
        print("nothing to update")
    return 0


def _verify(chosen: list, wanted: str) -> int:
    from ..devices.selection import CUDA, device
    from .verify import proofs, table

    if wanted == CUDA and device() != CUDA:
        print(
            "--device cuda needs a CUDA GPU; `python -m course_utils doctor` says what is missing."
        )
        return 2
    found = []
    for exercise in chosen:
        for proof in proofs(exercise, gpu=wanted == CUDA):
            found.append(proof)
            if not proof.holds:
                print(
                    f"{proof.exercise_id}, {proof.text}: expected {proof.expected}\n{proof.detail}"
                )
    print(table(found))
    return 0 if all(proof.holds for proof in found) else 1


def _progress(args: argparse.Namespace) -> int:
    from .student_work import progress

    print(progress())
    return 0
