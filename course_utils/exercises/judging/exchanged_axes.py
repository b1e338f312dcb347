"""Does a wrong kernel take x of the grid or of the block for y?

The numbers show it only if rows and columns are both left over. A second launch shows it always:
with x and y of the launch exchanged too, the mistake is undone and the result is right.
"""

from __future__ import annotations

import re
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


def with_exchange_named(
    exercise: KernelExercise, module: Module, wrong: Verdict, trial: Trial
) -> Verdict:
    """``wrong``, with the axes that the kernel takes for each other, if it's right with these
    exchanged in its launch."""
    if wrong.kind not in ABOUT or wrong.slip is Slip.XY_SWAPPED:
        return wrong
    launches = trial.launches(exercise)
    for words, grid, block in (
        ("the grid", True, False),
        ("the block", False, True),
        ("the grid and the block", True, True),
    ):
        others = tuple(_exchanged(launch, grid, block) for launch in launches)
        differ = all(
            (a.grid != b.grid) == grid and (a.block != b.block) == block
            for a, b in zip(launches, others, strict=True)
        )
        if differ and _is_right(exercise, module, trial, others):
            fact = f"If x and y of {words} are exchanged in the launch, the result is right."
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


def _exchanged(launch: Launch, grid: bool, block: bool) -> Launch:
    return replace(
        launch,
        grid=_swapped(launch.grid) if grid else launch.grid,
        block=_swapped(launch.block) if block else launch.block,
    )


def _swapped(extents: tuple[int, ...]) -> tuple[int, ...]:
    x, y, *rest = (*extents, 1) if len(extents) == 1 else extents
    return (y, x, *rest) if x != y and len(extents) > 1 else extents


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
    return compared(exercise, run.arrays, run.before, given, trial.size, False).passed
