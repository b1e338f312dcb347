"""Finds the exercises: a notebook's are in a file of its name in ``chapters/NN_name/exercises/``.

Each exercise that the file defines counts, in its order, without a list. Code for several notebooks
of a chapter is in ``common.py`` beside them, and is imported as from a package: ``from .common
import …``.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import LessonError
from ...paths import CHAPTERS, KERNELS, SOLUTIONS, is_numbered, notebook_name, shown
from .counted_numbers import counted
from .page import read_page
from .spec import BaseExercise, NumberExercise

SPECS = "[0-9][0-9]_*.py"
WHICH = "exercises, or whole notebooks or chapters: 04.saxpy 06_matmul_and_fft"
LONGEST = 60  # characters of a name that is asked for. No id has as many
AN_ID = re.compile(r"\d\d\.[a-z0-9_]+")


@cache
def all_exercises() -> tuple[BaseExercise, ...]:
    """Every exercise of the course, by chapter, by notebook, and then as the authors order them."""
    return exercises_below(CHAPTERS)


def exercises_below(chapters: Path) -> tuple[BaseExercise, ...]:
    """The exercises of a folder of chapters, each in its notebook.

    Raises LessonError where two exercises share an id, one of those that they had before included,
    or a file can't be imported.
    """
    found: dict[str, BaseExercise] = {}
    for folder in sorted(chapters.glob("*/exercises")):
        for exercise in _exercises_of(folder) if is_numbered(folder.parent) else ():
            other = found.setdefault(exercise.id, exercise)
            if other is not exercise:
                files = [_spec_file(each, chapters) for each in (other, exercise)]
                raise LessonError(
                    f"Two exercises have the id {exercise.id}: in {' and in '.join(files)}. "
                    "Move your copy out of chapters/, or give its exercises other ids."
                )
    _check_former_ids(found, chapters)
    return tuple(found.values())


def _check_former_ids(exercises: dict[str, BaseExercise], chapters: Path) -> None:
    """Raises LessonError for a former id that isn't one, or that names another exercise too."""
    named = dict(exercises)
    for exercise in exercises.values():
        where = f"{_spec_file(exercise, chapters)}: {exercise.id} was formerly"
        for name in exercise.formerly:
            if not AN_ID.fullmatch(name):
                raise LessonError(f'{where} {name!r}. Write a tuple of ids: ("03.square",).')
            if name in named:
                raise LessonError(
                    f"{where} {name}, and {named[name].id} has this id too. Give one of them up."
                )
            named[name] = exercise


def _spec_file(exercise: BaseExercise, chapters: Path) -> str:
    chapter, _, name = exercise.notebook.partition("/")
    return shown(chapters / chapter / "exercises" / f"{name}.py")


def known(name: str) -> BaseExercise | None:
    """The exercise that has or had this id, in capitals or not, or None."""
    asked = name.lower()
    return next((e for e in all_exercises() if asked in e.ids), None)


def find(name: str) -> BaseExercise:
    """The same as :func:`known`, but raises KeyError with the closest ids."""
    if exercise := known(name):
        return exercise
    current_ids = [exercise.id for exercise in all_exercises()]
    asked = name.lower()[:LONGEST]
    closest = " or ".join(difflib.get_close_matches(asked, current_ids, n=3, cutoff=0.0))
    raise KeyError(
        f"no exercise is called {name[:LONGEST]!r}: did you mean {closest}? progress() lists all."
    )


def _exercises_of(folder: Path) -> list[BaseExercise]:
    """The exercises of a chapter's spec files, which become modules of their own package.

    Raises LessonError, which names the file, where one can't be imported.
    """
    chapter = folder.parent.name
    package = ModuleType(f"exercises_of_{chapter}")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    found: list[BaseExercise] = []
    for path in sorted(folder.glob(SPECS)):
        if not (is_numbered(path) and path.is_file()):
            continue
        try:
            module = importlib.import_module(f"{package.__name__}.{path.stem}")
        except LessonError:
            raise
        except Exception as error:
            raise LessonError(
                f"{shown(path)} can't be imported ({type(error).__name__}: {error}). "
                "Correct it, or move it away."
            ) from error
        for name, value in vars(module).items():
            if isinstance(value, BaseExercise):
                found.append(complete(value, name.lower(), f"{chapter}/{path.stem}"))
    return found


def complete(spec: BaseExercise, name: str, notebook: str) -> BaseExercise:
    """``spec``, the exercise called ``name`` of a ``notebook``, with the fields that follow from
    its name and its page.

    Raises LessonError where it has no page, a page that breaks a rule, or no solution.
    """
    chapter = notebook.partition("/")[0]
    folder = KERNELS / chapter / SOLUTIONS
    values: dict[str, Any] = {"notebook": notebook, "id": f"{chapter[:2]}.{name}"}
    page = folder / f"{name}.md"
    values |= vars(read_page(page))
    if not spec.source:
        files = [file for file in folder.glob(f"{name}.*") if file.suffix != page.suffix]
        if len(files) != 1:
            raise LessonError(
                f"{shown(folder / name)}: found {len(files)} solutions; expected one."
            )
        values["source"] = files[0].relative_to(KERNELS).as_posix()
    for field in ("kernel", "function"):
        if getattr(spec, field, None) == "":
            values[field] = name
    if isinstance(spec, NumberExercise):
        values["counted"] = counted
    return spec.with_fields(**values)


def named_exercises(words: list[str]) -> list[BaseExercise]:
    """The exercises that ``words`` name, in the course's order. Without words it's all of them.

    Raises LessonError where a word names none.
    """
    from ...notebooks.cells import named

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
