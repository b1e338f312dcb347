"""Which elements of the inputs an element of the result depends on, found with the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MOST_TRIES = 600  # evaluations of the reference, for one array
SAMPLED = 6  # indices of a range, tried one by one: where all matter, all of the range does
STEPS = (1.0, 100.0, -100.0)  # added: in a maximum only a large number, or a small one, tells
Given = Mapping[str, Any]
Reference = Callable[[Given], Mapping[str, Any]]


def needed_elements(
    reference: Reference,
    given: Given,
    name: str,
    output: str,
    index: Sequence[int],
    enough: int | None = None,
) -> tuple[list[int], ...]:
    """The indices along each axis of the input ``name`` at which some element changes the element
    ``index`` of ``output``: of a matrix A in A B, the row and all columns.

    They are found by changing the input and evaluating ``reference``, for halves of a range, and
    for their halves. A range is needed as a whole if SAMPLED of its indices are. So is an axis that
    would take too many evaluations, and an array that the reference refuses to have changed. An
    input that makes no difference gives no indices. With ``enough`` an axis that has as many gives
    that many of them or more, and not all: the others cost most of the evaluations.
    """
    array = given[name]
    steps = STEPS if array.dtype.kind not in "iub" else STEPS[:1]  # the others leave integers alone
    before = _element(reference, given, output, index)
    left = MOST_TRIES

    def matters(where: tuple[Any, ...]) -> bool:
        nonlocal left
        for step in steps:
            left -= 1
            try:
                now = _element(
                    reference, {**given, name: _changed(array, where, step)}, output, index
                )
            except (ArithmeticError, LookupError, TypeError, ValueError):
                return True
            if not np.array_equal(now, before, equal_nan=before.dtype.kind == "f"):
                return True
        return False

    def along(axis: int, start: int, stop: int) -> list[int]:
        where = (*(slice(None),) * axis, slice(start, stop))
        if left <= 0:
            return list(range(start, stop))
        if start == stop or not matters(where):
            return []
        if stop - start == 1:
            return [start]
        if (
            enough is None
            and stop - start > SAMPLED
            and all(matters((*where[:-1], slice(at, at + 1))) for at in _sample(start, stop))
        ):
            return list(range(start, stop))
        middle = (start + stop) // 2
        found = along(axis, start, middle)
        if enough is not None and len(found) >= enough:
            return found
        return found + along(axis, middle, stop)

    return tuple(along(axis, 0, extent) for axis, extent in enumerate(array.shape))


def _sample(start: int, stop: int) -> list[int]:
    """Some indices of a range, both ends and two neighbours among them."""
    others = np.random.default_rng(stop - start).integers(start + 1, stop - 2, SAMPLED - 3)
    return [start, stop - 1, start + 1, *(int(at) for at in others)]


def _element(reference: Reference, given: Given, output: str, index: Sequence[int]) -> np.ndarray:
    result = np.asarray(reference(given)[output])
    shape = given[output].shape
    value: np.ndarray = np.asarray(result.reshape(shape)[tuple(index)])
    return value if value.dtype.kind in "biufc" else value.astype(np.float64)


def _changed(array: np.ndarray, where: tuple[Any, ...], step: float) -> np.ndarray:
    """A copy of ``array`` with other numbers there, no two of them moved by the same: a common
    shift may leave a result as it was."""
    changed = array.copy()
    there = changed[where]
    rng = np.random.default_rng(there.size)
    if array.dtype.kind in "iu":
        changed[where] = there + 1
    elif array.dtype.kind == "b":
        changed[where] = ~there
    else:
        with np.errstate(invalid="ignore", over="ignore"):  # NaN stays NaN, the largest overflow
            moved = there.astype(np.float64) + step * rng.uniform(0.5, 1.5, there.shape)
            changed[where] = moved.astype(array.dtype)
    return changed
