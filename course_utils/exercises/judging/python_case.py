"""The case at which a Python answer is wrong, as rows: its inputs, the expected result and the
answer's."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checking.rows import MOST_NUMBERS, FewNumbers, Rows, labelled_rows, shown_alike
from ...checking.verdict import Verdict
from ..authoring.spec import PythonExercise

BY_HAND = "Work this case out by hand, line by line."
SMALLER = "Call your function in another cell, on a case so small that you know its result."
WORKABLE, SHORTENED = "Work it by hand:", "The case:"


@dataclass(frozen=True)
class _ShapeAlone:
    """Shown instead of an array with too many numbers."""

    array: np.ndarray

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.array.shape))
        return f"({shape}, {self.array.dtype})"


def with_case(
    verdict: Verdict,
    exercise: PythonExercise,
    arguments: tuple[Any, ...],
    got: Any,
    want: Any,
    shown: str,
) -> Verdict:
    """``verdict`` with the numbers of its case as rows, instead of in its message's call, which is
    ``shown``, and with the next step that this case allows."""
    case = case_rows(exercise, arguments, got, want)
    if isinstance(want, np.ndarray) and want.size <= MOST_NUMBERS and shown_alike(got, want):
        case = None  # the difference is past the digits that it shows
    if case is None:
        return replace(verdict, hint=exercise.start or verdict.hint)
    message, hint = verdict.message, exercise.start or verdict.hint
    if case.title == WORKABLE and not exercise.start:
        hint = BY_HAND if verdict.hint == SMALLER else verdict.hint
    if exercise.call is None:
        call = f"{exercise.function}({', '.join(_parameters(exercise))})"
        message = message.replace(shown, call, 1)
    elif exercise.shows is not None:  # the answer is called with something else
        message = message.replace(shown, exercise.function, 1)
    return replace(verdict, message=message, hint=hint, case=case)


def case_rows(
    exercise: PythonExercise, arguments: tuple[Any, ...], got: Any, want: Any
) -> Rows | None:
    """The rows of a case with arrays. None for one without, whose numbers are in the message, and
    where more is left out than shown."""
    values = {**named_inputs(exercise, arguments), **_parts("expected", want)}
    shown = {name: _shown(name, value) for name, value in values.items()}
    arrays = [shown[name] for name, value in values.items() if isinstance(value, np.ndarray)]
    left_out = [isinstance(value, _ShapeAlone) for value in arrays]
    if all(left_out):
        return None
    shown |= {name: _shown(name, value) for name, value in _parts("got", got).items()}
    return labelled_rows(SHORTENED if any(left_out) else WORKABLE, shown)


def named_inputs(exercise: PythonExercise, arguments: tuple[Any, ...]) -> Mapping[str, Any]:
    """The inputs of a case, by name: as the exercise shows it, or by the function's parameters."""
    if exercise.shows is not None:
        return exercise.shows(*arguments)
    if exercise.call is not None:
        return {}
    named: dict[str, Any] = {}
    for name, value in zip(_parameters(exercise), arguments, strict=False):
        named |= _parts(name, value)
    return named


def _parts(name: str, value: Any) -> dict[str, Any]:
    """A tuple or a list with arrays as its items, and any other value as it is."""
    if not isinstance(value, (list, tuple)) or not any(isinstance(x, np.ndarray) for x in value):
        return {name: value}
    return {f"{name}[{k}]": _plain(item) for k, item in enumerate(value)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _parameters(exercise: PythonExercise) -> list[str]:
    """The names of the parameters of the function, as the starter has them."""
    for node in ast.parse(exercise.starter).body:
        if isinstance(node, ast.FunctionDef) and node.name == exercise.function:
            return [each.arg for each in node.args.args]
    return []


def _shown(name: str, value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.size <= MOST_NUMBERS:
        return value
    few = FewNumbers.of(name, value) if value.dtype.kind in "biuf" else None
    return few or _ShapeAlone(value)
