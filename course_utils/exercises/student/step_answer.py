"""``step``: a kernel of yours, or your answer to an exercise, line by line."""

from __future__ import annotations

from typing import Any

from ...devices.limits import LaunchError, dimensions
from ...emulator import StepRecorder
from ...errors import LessonError
from ...stepping.stepped_launch import (
    MOST_STEPS,
    SteppedLaunch,
    check_complete,
    check_size,
    step_kernel,
    step_options,
)
from ..authoring import emulated_runs
from ..authoring.launches import Launch
from ..authoring.spec import KernelExercise
from ..judging.trials import Trial
from ..judging.worked_case import worked_trial
from . import saved_answers
from .magic import find_named

Dim3 = tuple[int, int, int]


def step(
    kernel: Any,
    grid: int | tuple[int, ...] | None = None,
    block: int | tuple[int, ...] | None = None,
    args: tuple[Any, ...] | None = None,
    *,
    order: str = "lockstep",
    seed: int = 0,
    **options: Any,
) -> SteppedLaunch:
    """Run a small launch on the emulator and look at it line by line.

    ``step(kernel, grid, block, args)`` takes what ``sanitize`` takes, with at most 4 blocks, 256
    threads and 5,000 steps. ``step("04.block_min")`` runs what you ran last for that exercise, or
    its starter, on a case of a few numbers.

    ``order`` says which threads go first. "lockstep" is the plainest to follow: all warps do a line
    together, so most races come out right, which proves nothing. "warps" lets half of each block's
    warps get far ahead, so that a race between warps goes wrong. "adversarial" lets half of each
    warp's lanes get ahead, so that a race within a warp does too. ``seed`` draws which get ahead.
    More under :func:`~course_utils.stepping.stepped_launch.step_kernel`.

    Raises LessonError for an exercise whose answer isn't a kernel or whose smallest case is too
    large to look at, and for a launch as ``step_kernel`` does.
    """
    if not isinstance(kernel, str):
        if grid is None or block is None or args is None:
            raise LessonError(
                "step takes a kernel with its grid, block and arguments, or the name of an "
                'exercise: step(kernel, 1, 32, (x, n)) or step("04.block_min").'
            )
        return step_kernel(kernel, grid, block, args, order=order, seed=seed, **options)
    return _step_exercise(kernel, order, seed)


def _step_exercise(name: str, order: str, seed: int) -> SteppedLaunch:
    exercise = find_named(name)
    if not isinstance(exercise, KernelExercise):
        raise LessonError(f"{exercise.id} asks for no kernel, and step shows kernels.")
    source = saved_answers.saved_answer(exercise) or exercise.starter
    module = emulated_runs.load_answer(exercise, source, f"{exercise.id}.cu", ("-G",))
    trial, launch, shape = _first_small_enough(exercise)
    try:
        kernel = module[launch.kernel or exercise.kernel]
    except AttributeError:
        raise LessonError(
            f"{exercise.id} has no kernel yet: write it in the exercise's cell and run that first."
        ) from None
    recorder = StepRecorder(kernel.filename, MOST_STEPS)
    run = emulated_runs.run(
        exercise,
        module,
        trial.given(exercise),
        trial.size,
        launches=(launch,),
        options=step_options(recorder, order, seed),
    )
    check_complete(exercise.id, recorder)
    findings = [*run.findings, *([run.fault] if run.fault else [])]
    return SteppedLaunch(kernel, *shape, recorder, findings, source)


def _first_small_enough(exercise: KernelExercise) -> tuple[Trial, Launch, tuple[Dim3, Dim3]]:
    """The case to work by hand or, if its launch is too large to look at, the first of the small
    sizes whose launch isn't, with this launch, its grid and its block.

    Raises LaunchError if all are too large.
    """
    small = [Trial(size, seed=1) for size in exercise.small]
    refused = None
    for trial in filter(None, (worked_trial(exercise), *small)):
        launch = trial.launches(exercise)[0]
        shape = dimensions(launch.grid, "grid"), dimensions(launch.block, "block")
        try:
            check_size(exercise.id, *shape)
            return trial, launch, shape
        except LaunchError as error:
            refused = refused or error
    assert refused is not None, "an exercise has small sizes"
    raise refused
