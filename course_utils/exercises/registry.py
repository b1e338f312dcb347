"""Finds the exercises: every ``chapters/*/exercises.py`` has a list ``EXERCISES``."""

from __future__ import annotations

import difflib
import importlib.util
from functools import cache
from pathlib import Path

from ..paths import ROOT
from .spec import BaseExercise

CHAPTERS = ROOT / "chapters"


@cache
def all_exercises() -> tuple[BaseExercise, ...]:
    """Every exercise of the course, in chapter order and then as the authors list them."""
    found: list[BaseExercise] = []
    for path in sorted(CHAPTERS.glob("*/exercises.py")):
        found += _load(path)
    names = [exercise.id for exercise in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two exercises share an id: {', '.join(sorted(twice))}")
    return tuple(found)


def find(name: str) -> BaseExercise:
    """The exercise with this id. Raises KeyError with the closest names."""
    for exercise in all_exercises():
        if exercise.id == name:
            return exercise
    names = [exercise.id for exercise in all_exercises()]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    advice = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}"
    raise KeyError(f"no exercise is called {name!r}: {advice}")


def _load(path: Path) -> list[BaseExercise]:
    spec = importlib.util.spec_from_file_location(f"course_exercises_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.EXERCISES)
