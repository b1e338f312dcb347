"""Finds the exercises: a notebook's are in a file of its name in ``chapters/NN_name/exercises/``.

Each exercise that the file defines counts, in its order; no list is kept. What several notebooks of
a chapter need is in ``common.py`` beside them, and is imported as from a package:
``from .common import …``.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from ..paths import CHAPTERS
from .spec import BaseExercise

SPECS = "[0-9][0-9]_*.py"
LONGEST = 60  # characters of a name that is asked for; no id has as many


@cache
def all_exercises() -> tuple[BaseExercise, ...]:
    """Every exercise of the course, by chapter, by notebook, and then as the authors order them."""
    return exercises_below(CHAPTERS)


def exercises_below(chapters: Path) -> tuple[BaseExercise, ...]:
    """The exercises of a folder of chapters, each in its notebook.

    Raises ValueError where two exercises share an id.
    """
    found: list[BaseExercise] = []
    for folder in sorted(chapters.glob("*/exercises")):
        found += _exercises_of(folder)
    names = [exercise.id for exercise in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two exercises share an id: {', '.join(sorted(twice))}")
    return tuple(found)


def find(name: str) -> BaseExercise:
    """The exercise with this id, in capitals or not. Raises KeyError with the closest ids."""
    asked = name.lower()[:LONGEST]
    named = {exercise.id: exercise for exercise in all_exercises()}
    if asked in named:
        return named[asked]
    closest = " or ".join(difflib.get_close_matches(asked, named, n=3, cutoff=0.0))
    raise KeyError(
        f"no exercise is called {name[:LONGEST]!r}: did you mean {closest}? progress() lists all."
    )


def _exercises_of(folder: Path) -> list[BaseExercise]:
    """The exercises of a chapter's spec files, which become modules of a package of their own."""
    chapter = folder.parent.name
    package = ModuleType(f"exercises_of_{chapter}")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    found: list[BaseExercise] = []
    for path in sorted(folder.glob(SPECS)):
        module = importlib.import_module(f"{package.__name__}.{path.stem}")
        specs = [value for value in vars(module).values() if isinstance(value, BaseExercise)]
        found += [spec.placed_in(f"{chapter}/{path.stem}") for spec in specs]
    return found
