"""Does a wrong kernel take x of the grid or of the block for y?

The numbers show it only if rows and columns are both left over. A second launch shows it always:
with x and y of the launch exchanged too, the mistake is undone and the result is right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ...checking.error_kinds import Slip
from ...checking.verdict import Verdict
from ...emulator import Options
from ...launching.modules import Module
from ..authoring import emulated_runs, kinds
from ..authoring.launches import Launch
from ..authoring.spec import KernelExercise
from .comparison import compared
from .trials import Trial

ABOUT = (kinds.WRONG, kinds.EDGES, kinds.PARTLY_WRITTEN, kinds.FIRST_BLOCK, kinds.OUT_OF_BOUNDS)


EXCHANGES = (
    (("grid",), (0, 1)),
    (("block",), (0, 1)),
    (("grid", "block"), (0, 1)),
    (("grid",), (0, 2)),
    (("grid",), (1, 2)),
)


def with_exchange_named(
    exercise: KernelExercise, module: Module, wrong: Verdict, trial: Trial
) -> Verdict:
    """``wrong``, with the axes that the kernel takes for each other, if it's right with these
    exchanged in its launch."""
    if wrong.kind not in ABOUT or wrong.slip is Slip.XY_SWAPPED:
        return wrong
    launches = trial.launches(exercise)
    for of, axes in EXCHANGES:
        others = tuple(_exchanged(launch, of, axes) for launch in launches)
        if others != launches and _is_right(exercise, module, trial, others):
            fact = (
                f"If {' and '.join('xyz'[at] for at in axes)} of the {' and the '.join(of)} are "
                "exchanged in the launch, the result is right."
            )
            message = "\n  ".join([wrong.message, fact])
            return replace(wrong, message=message, slip=Slip.XY_SWAPPED, hint=_step(exercise))
    return wrong


def _step(exercise: KernelExercise) -> str:
    told = re.search(r"^//\s*(grid \(.*?\), block (?:\(.*?\)|\w+))", exercise.solution, re.M)
    launch = f"The launch is {told[1]}. " if told else ""
    return (
        f"{launch}blockIdx.x and threadIdx.x count along the first number, .y along the second: "
        "which of them is your row, and which your column?"
    )


def _exchanged(launch: Launch, of: Sequence[str], axes: tuple[int, int]) -> Launch:
    """``launch`` with two axes of its grid, its block or both exchanged, the same one where they
    are equal or aren't there."""
    grid = _swapped(launch.grid, axes) if "grid" in of else launch.grid
    block = _swapped(launch.block, axes) if "block" in of else launch.block
    changed = ("grid" in of) == (grid != launch.grid) and ("block" in of) == (block != launch.block)
    return replace(launch, grid=grid, block=block) if changed else launch


def _swapped(extents: tuple[int, ...], axes: tuple[int, int]) -> tuple[int, ...]:
    if len(extents) <= max(axes):
        return extents
    found = list(extents)
    found[axes[0]], found[axes[1]] = found[axes[1]], found[axes[0]]
    return tuple(found)


def _is_right(
    exercise: KernelExercise, module: Module, trial: Trial, launches: tuple[Launch, ...]
) -> bool:
    if any(max((0, *launch.grid[1:])) >= 1 << 16 for launch in launches):
        return False
    given = trial.given(exercise)
    options = Options(budget=exercise.budget)
    run = emulated_runs.run(
        exercise, module, given, trial.size, trial.seed, launches=launches, options=options
    )
    if run.fault is not None or run.findings:
        return False
    return compared(exercise, run.arrays, run.before, given, trial.size).passed
