"""The last step of a right answer on a GPU: full size, in a process of its own, timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...checking.verdict import Verdict
from ...text_tables import size_in_words
from ..authoring import kinds
from ..authoring.launches import Empty
from ..authoring.registry import find
from ..authoring.spec import KernelExercise
from ..authoring.variants import drawn
from ..isolation.isolated import call, serve
from .comparison import compared
from .outcome import Outcome, Timing, simple

SECONDS = 60.0  # for everything: start, compile, inputs, reference, run and timing


def run_full(
    exercise: KernelExercise,
    source: str,
    outcome: Outcome,
    size: Any = None,
    seconds: float = SECONDS,
) -> Outcome:
    """``outcome`` with the verdict and the timing of the full size (or of ``size``)."""
    size = exercise.full if size is None else size
    job = {"id": exercise.id, "seed": exercise.seed, "source": source, "size": size}
    answer = call("course_utils.exercises.judging.full_size", job, seconds)
    where = f"at full size ({size_in_words(size)})"
    if answer.timed_out:
        message = f"{exercise.id} was still running {where} after {seconds:g} seconds."
        return replace(outcome, verdict=simple(kinds.TIME_LIMIT, message))
    if answer.result is None:
        tail = "\n".join(answer.output.strip().splitlines()[-3:])
        message = f"{exercise.id} ended its process {where} (status {answer.status})."
        return replace(outcome, verdict=simple(kinds.CRASHED, message, excerpt=tail))
    result = answer.result
    if result["kind"] != kinds.PASS:
        message = f"{result['message']}\n  ({where})"
        return replace(outcome, verdict=simple(result["kind"], message))
    if not result["timing"]:
        return outcome
    library = result["timing"]["library"]
    timing = Timing(**{**result["timing"], "library": library and tuple(library)})
    return replace(outcome, timing=timing, verdict=_judge_time(exercise, timing, outcome.verdict))


def _judge_time(exercise: KernelExercise, timing: Timing, verdict: Verdict) -> Verdict:
    """Missed where the answer takes more than ``exercise.within`` times the solution's time."""
    ratio = timing.rungs["yours"] / timing.rungs["ours"]
    if exercise.within is None or ratio <= exercise.within:
        return verdict
    message = (
        f"the result is right, but it takes {ratio:.1f} times as long as the course's solution; "
        f"the target is {exercise.within:g} times."
    )
    advice = exercise.target.advice if exercise.target else ""
    return simple(kinds.TARGET_MISSED, message, hint=advice)


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Launch, compare and time one answer; runs in the separate process."""
    from ...devices.properties import device_name
    from ...devices.selection import ON_GPU, cp
    from ...errors import LessonError
    from ...observing import timing as clock

    exercise = drawn(find(job["id"]), job["seed"])
    assert isinstance(exercise, KernelExercise)
    size = tuple(job["size"]) if isinstance(job["size"], list) else job["size"]
    given = exercise.inputs(np.random.default_rng(1), size)
    try:
        arrays = _launch(exercise, job["source"], given, size, cp)()
    except LessonError as error:
        return {"kind": kinds.CRASHED, "message": str(error)}
    before = {
        name: np.asarray(value.fill if isinstance(value, Empty) else value)
        for name, value in given.items()
        if isinstance(value, (Empty, np.ndarray))
    }
    verdict = compared(exercise, arrays, before, given, size, zeros=False, poisoned=False)
    if not verdict.passed:
        return {"kind": verdict.kind, "message": "\n  ".join([verdict.message, *verdict.facts])}
    if not ON_GPU:
        return {"kind": kinds.PASS, "timing": None}
    texts = {"yours": job["source"], "ours": exercise.solution}
    if exercise.target is not None and exercise.starter_has_kernel:  # it is right, and slow
        texts = {"starter": exercise.starter, **texts}
    rungs = {
        label: clock.bench(_launch(exercise, text, given, size, cp)).median_ms
        for label, text in texts.items()
    }
    library = None
    if exercise.library is not None:
        label, routine = exercise.library
        values = {key: _on_device(value, cp) for key, value in given.items()}
        library = (label, clock.bench(lambda: routine(cp, values)).median_ms)
    timing = {
        "device": device_name(),
        "size": size_in_words(size),
        "rungs": rungs,
        "library": library,
    }
    return {"kind": kinds.PASS, "timing": timing}


def _launch(
    exercise: KernelExercise, source: str, given: dict[str, Any], size: Any, cp: Any
) -> Callable[[], dict[str, Any]]:
    """A function that launches every kernel of the exercise and returns its arrays."""
    from ...launching.modules import load
    from .entry_points import declare_kernels

    module = load(source=exercise.with_probe(source), defines=exercise.defines, arch=exercise.arch)
    declare_kernels(exercise, module)
    values = {name: _on_device(value, cp) for name, value in given.items()}
    by_name = exercise.kernel_arguments(values)

    def launch() -> dict[str, Any]:
        for step in exercise.launches(size):
            arguments = tuple(by_name[name] for name in step.arguments or by_name)
            kernel = module[step.kernel or exercise.kernel]
            kernel(step.grid, step.block, arguments, shared_mem=step.shared)
        return values

    return launch


def _on_device(value: Any, cp: Any) -> Any:
    if isinstance(value, Empty):
        array = cp.empty(value.shape, value.dtype)
        array.fill(value.fill)
        return array
    return cp.array(value) if isinstance(value, np.ndarray) else value


if __name__ == "__main__":
    serve(work)
