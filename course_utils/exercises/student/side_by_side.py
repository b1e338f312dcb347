"""``beside_ours("04.dot")``: a learner's kernels beside the course's, counted and timed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...compiling.diagnostics import CompileError
from ...errors import LessonError
from ...text_tables import Table, size_in_words
from ..authoring import emulated_runs
from ..authoring.method import LaunchStats
from ..authoring.spec import KernelExercise
from ..judging.behaviour_checks import CountingFailed, counted, stats_of_solution
from ..judging.runner import run_source
from .magic import find_named, on_gpu
from .saved_answers import passing_answer

COUNTED = {  # the numbers of a launch that are shown, by their label
    "warp instructions": ("warp_instructions",),
    "sectors of global memory": (
        "global_load_sectors",
        "global_store_sectors",
        "global_atomic_sectors",
    ),
    "bytes by TMA": ("bulk_global_load_bytes", "bulk_global_store_bytes"),
    "wavefronts of shared memory": (
        "shared_load_wavefronts",
        "shared_store_wavefronts",
        "shared_atomic_wavefronts",
    ),
    "barriers": ("barriers",),
}
NOT_YET = "not passed yet"
Numbers = dict[str, int]


def beside_ours(*names: str) -> Table:
    """Your kernels that passed beside the course's solutions: what one launch of each counts on the
    emulator, at the exercise's first size, and, on a GPU, its time at full size.

    ``names`` are ids of exercises that ask for a kernel. Raises LessonError for any other.
    """
    if not names:
        raise LessonError('Name one exercise or several: beside_ours("04.dot", "04.warp_max")')
    return Table(["", "yours", "ours"], [row for name in names for row in _rows(name)])


def numbers_of(stats: LaunchStats) -> Numbers:
    """The numbers of a launch that are shown, by their label."""
    return {
        label: sum(getattr(stats.counts, name) for name in names)
        for label, names in COUNTED.items()
    }


def counts_beside_ours(exercise: KernelExercise, source: str, size: Any) -> tuple[Numbers, Numbers]:
    """What ``source`` and the course's solution count at ``size``. Raises CompileError,
    CountingFailed or LessonError if the answer can't be counted today, as after a change of the
    exercise."""
    module = emulated_runs.load_answer(exercise, source, f"{exercise.id}.cu")
    mine = counted(exercise, module, size)
    return numbers_of(mine), numbers_of(stats_of_solution(exercise, size))


def _rows(name: str) -> Iterator[tuple[str, object, object]]:
    exercise = find_named(name)
    if not isinstance(exercise, KernelExercise):
        raise LessonError(f"{exercise.id} asks for no kernel, so there is nothing to count.")
    size = exercise.small[0]
    source = passing_answer(exercise)
    yield f"{exercise.id}, size {size_in_words(size)}", "" if source else NOT_YET, ""
    ours = numbers_of(stats_of_solution(exercise, size))
    mine: dict[str, Any] = {}
    if source:
        try:
            mine, ours = counts_beside_ours(exercise, source, size)
        except (CompileError, CountingFailed, LessonError):
            yield "  your answer no longer passes: run its cell again", "", ""
    for label, number in ours.items():
        if number or mine.get(label):
            yield f"  {label}", mine.get(label, ""), number
    if source and mine and on_gpu():
        yield from _times(exercise, source)


def _times(exercise: KernelExercise, source: str) -> Iterator[tuple[str, object, object]]:
    timing = run_source(exercise, source, gpu=True).timing
    if timing is None:
        return
    yield (
        f"  µs at size {timing.size}, {timing.device}",
        1000 * timing.rungs["yours"],
        1000 * timing.rungs["ours"],
    )
    if timing.library:
        name, milliseconds = timing.library
        yield f"  µs of {name}", "", 1000 * milliseconds
