"""An exercise with other numbers, drawn from a class's seed: the solution is drawn with them.

A spec names the values that may change, the course's own first, and the fields that follow::

    varied=Varied(
        {"stride": (2, 3, 5, 6)},
        fields=lambda stride: {"asks": strided(stride)},
        texts=("With stride {stride}",),
    )

``texts`` are parts of the page and of the solution's file in which values appear. Without a seed
nothing is drawn, so page and cells are those that the author wrote.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...errors import LessonError

if TYPE_CHECKING:
    from .spec import BaseExercise

    Exercise = TypeVar("Exercise", bound=BaseExercise)

A_SEED = re.compile(r"[\w.-]{1,60}(/[\w. -]{1,60})?")
Changes = tuple[tuple[str, str], ...]
ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh"}
ORDINALS |= {8: "eighth", 9: "ninth", 10: "tenth", 12: "twelfth", 16: "sixteenth"}


@dataclass(frozen=True)
class Varied:
    """The values that a seed may change. ``values`` has for each name the course's own value, then
    the others that may be drawn. ``fields(**values)`` are the spec's fields that follow from them.
    Each of ``texts`` is a part of the page or of the solution's file, with values in braces.
    ``words`` has more names for them, which follow from the values."""

    values: Mapping[str, tuple[Any, ...]]
    fields: Callable[..., Mapping[str, Any]]
    texts: tuple[str, ...] = ()
    words: Callable[..., Mapping[str, Any]] = field(default=lambda **values: {})

    @property
    def own(self) -> dict[str, Any]:
        """The values of the course."""
        return {name: choices[0] for name, choices in self.values.items()}

    def drawn(self, key: str) -> dict[str, Any]:
        """Other values, the same for the same ``key``."""
        digest = hashlib.sha256(key.encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        return {
            name: choices[int(rng.integers(1, len(choices)))]
            for name, choices in self.values.items()
        }

    def written(self, values: Mapping[str, Any]) -> list[str]:
        """The ``texts`` with these values."""
        names = {**values, **self.words(**values)}
        return [text.format(**names) for text in self.texts]

    def changes(self, values: Mapping[str, Any]) -> Changes:
        """The course's own texts, each with the one that replaces it."""
        return tuple(zip(self.written(self.own), self.written(values), strict=True))


def replaced(text: str, changes: Changes) -> str:
    """``text`` with each old part replaced by its new one, the longer ones first. New parts stay as
    they are."""
    if not changes:
        return text
    new = dict(changes)
    olds = "|".join(map(re.escape, sorted(new, key=len, reverse=True)))
    return re.sub(olds, lambda found: new[found[0]], text)


def drawn(exercise: Exercise, seed: str) -> Exercise:
    """The variant of ``exercise`` for a class with this seed, or for one student of it
    (``"2027/ana"``). ``exercise`` itself for no seed, or if it has no variants. Raises LessonError
    for a text that isn't a seed."""
    if not seed:
        return exercise
    if not A_SEED.fullmatch(seed):
        raise LessonError(
            f"{seed[:60]!r} isn't a seed: take letters and digits, as in --seed autumn2027."
        )
    if exercise.varied is None:
        return exercise
    values = exercise.varied.drawn(f"{seed}:{exercise.id}")
    changes = exercise.varied.changes(values)
    mutants = tuple(
        replace(
            mutant,
            changes=tuple(
                (replaced(old, changes), replaced(new, changes)) for old, new in mutant.changes
            ),
        )
        for mutant in exercise.mutants
    )
    return exercise.with_fields(
        **exercise.varied.fields(**values),
        own=exercise,
        seed=seed,
        changes=changes,
        title=replaced(exercise.title, changes),
        task=replaced(exercise.task, changes),
        hints=tuple(replaced(hint, changes) for hint in exercise.hints),
        explanation=replaced(exercise.explanation, changes),
        mutants=mutants,
    )
