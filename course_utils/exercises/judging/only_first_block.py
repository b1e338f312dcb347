"""Is "wrong at the edges" right in block (0, 0) alone?

In a small matrix the blocks after the first hold a few rows and columns only. An index that takes a
wrong blockIdx, or none, then looks like a mistake at the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ...checking import to_numpy
from ...checking.tolerance import tolerance_for
from ...checking.verdict import Verdict
from ...integers import ceil_div
from ..authoring import kinds
from ..authoring.spec import KernelExercise
from .trials import Trial

MOST_RIGHT = 0.1  # of the elements outside the first block, which are right by chance
ASKED = (
    "The right part is also the tile of block (0, 0): does each index of each array have the "
    "blockIdx that it needs, x or y?"
)


def with_first_block_named(
    exercise: KernelExercise,
    wrong: Verdict,
    trial: Trial,
    arrays_of: Callable[[Trial], Mapping[str, np.ndarray]],
) -> Verdict:
    """``wrong``, with another question if all that is right in a matrix is its first block."""
    launches = trial.launches(exercise)
    if wrong.kind != kinds.EDGES or wrong.first is None or len(launches) != 1:
        return wrong
    expected = np.asarray(exercise.expected(trial.given(exercise))[wrong.name])
    if expected.ndim != 2 or not np.isfinite(expected).all():
        return wrong
    got, roundoff = to_numpy(arrays_of(trial)[wrong.name].reshape(expected.shape))
    tolerance = tolerance_for(expected, roundoff, exercise.reduction(trial.size))
    right = ~tolerance.wrong(got, expected)
    down, across = _leading(right[:, 0]), _leading(right[0])
    if not down or not across or not right[:down, :across].all():
        return wrong
    outside = np.ones(right.shape, bool)
    outside[:down, :across] = False
    rows, columns = right.shape
    blocks = ceil_div(rows, down) * ceil_div(columns, across)
    if blocks != np.prod(launches[0].grid) or blocks == 1:
        return wrong
    if right[outside].mean() > MOST_RIGHT:
        return wrong
    return replace(wrong, hint=f"{wrong.hint} {ASKED}")


def _leading(right: np.ndarray) -> int:
    """How many elements are right before the first wrong one."""
    return len(right) if right.all() else int(np.argmin(right))
