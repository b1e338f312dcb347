"""What an author writes about an exercise. Everything else is generated or run from it.

An :class:`Exercise` lives in ``chapters/NN_name/exercises.py``, in the list ``EXERCISES``. Inputs,
reference, launch shape and sizes are written once, here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..emulator.report import Counts
from .source import solution_of, starter_of

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"


@dataclass(frozen=True)
class Empty:
    """A pure output: the runner fills it with a poison pattern before every launch."""

    shape: tuple[int, ...]
    dtype: np.dtype


def empty(shape: int | tuple[int, ...], dtype: Any = np.float32) -> Empty:
    """An output array that the kernel has to fill."""
    return Empty((shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype))


def floats(rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """Normally distributed float32 values: distinct, of both signs."""
    return rng.standard_normal(shape, dtype=np.float32)


@dataclass(frozen=True)
class Launch:
    """Grid and block as (x, y, z) counts; ``shared`` is dynamic shared memory in bytes.

    ``kernel`` and ``arguments`` (names of inputs) are for exercises that launch several kernels.
    """

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int = 0
    kernel: str | None = None
    arguments: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Mutant:
    """A wrong solution: ``changes`` are (old, new) texts; the checker must answer ``kind``."""

    name: str
    kind: str
    changes: tuple[tuple[str, str], ...]

    def apply(self, solution: str) -> str:
        """The solution with the changes made. Raises ValueError where an old text is not unique."""
        for old, new in self.changes:
            if solution.count(old) != 1:
                found = solution.count(old)
                raise ValueError(f"mutant {self.name!r}: {old!r} occurs {found} times, not once")
            solution = solution.replace(old, new)
        return solution


def mutant(name: str, kind: str, *changes: tuple[str, str]) -> Mutant:
    """A :class:`Mutant` from its changes."""
    return Mutant(name, kind, changes)


@dataclass(frozen=True)
class Target:
    """A counter to stay under: ``measure(counts) <= at_most`` at ``size``, on the emulator."""

    label: str
    measure: Callable[[Counts], float]
    at_most: float
    advice: str
    size: Any


@dataclass(frozen=True, kw_only=True)
class BaseExercise:
    """What every kind of exercise has. ``id`` is the chapter and a name: ``04.saxpy``.

    ``notebook`` is the notebook's path below ``chapters/``, without ``.ipynb``; ``task`` and
    ``explanation`` are Markdown; ``hints`` rise in strength. ``source`` is the solution file below
    ``kernels/``, with the markers of :mod:`course_utils.exercises.source`.
    """

    id: str
    title: str
    notebook: str
    task: str
    source: str
    hints: tuple[str, ...]
    explanation: str
    mutants: tuple[Mutant, ...] = ()

    language = "cpp"

    @property
    def chapter(self) -> str:
        return self.notebook.split("/")[0]

    @property
    def text(self) -> str:
        return (KERNELS / self.source).read_text(encoding="utf-8")

    @property
    def starter(self) -> str:
        return starter_of(self.text, self.source)

    @property
    def solution(self) -> str:
        return solution_of(self.text, self.source)

    def is_untouched(self, cell: str) -> bool:
        """True when ``cell`` is the starter, apart from white space."""
        return cell.split() == self.starter.split()


@dataclass(frozen=True, kw_only=True)
class Exercise(BaseExercise):
    """A kernel to write in CUDA C++.

    ``inputs(rng, size)`` gives the kernel's arguments by parameter name, in order: arrays, NumPy
    scalars, and :func:`empty` for outputs. ``reference(inputs)`` gives the expected outputs by
    name; it may compute in float64. ``launch(size)`` gives one :class:`Launch` or several.
    ``small`` sizes run on the emulator (odd, prime, 1, no multiple of the block; the most telling
    first); ``full`` runs on a GPU. ``reduction(size)`` is how many terms an output element sums.
    """

    kernel: str
    inputs: Callable[[np.random.Generator, Any], dict[str, Any]]
    reference: Callable[[Mapping[str, Any]], dict[str, np.ndarray]]
    launch: Callable[[Any], Launch | tuple[Launch, ...]]
    small: tuple[Any, ...]
    full: Any
    reduction: Callable[[Any], int] = field(default=lambda size: 1)
    target: Target | None = None
    defines: Mapping[str, Any] = field(default_factory=dict)

    def launches(self, size: Any) -> tuple[Launch, ...]:
        found = self.launch(size)
        return (found,) if isinstance(found, Launch) else tuple(found)


def describe_size(size: Any) -> str:
    """A size in words: ``1000`` or ``33 x 17 x 5``."""
    return " x ".join(map(str, size)) if isinstance(size, tuple) else str(size)
