"""Compiles a student's source and launches it on the emulator, where nothing can be harmed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiling.compiler_process import compile_limit
from ...devices import emulated_cupy
from ...devices.emulated_arrays import plain, wrap
from ...devices.selection import EMULATOR
from ...emulator import (
    ALL_CHECKS,
    GLOBAL,
    Counts,
    Finding,
    KernelFault,
    Options,
    StoreRecorder,
)
from ...launching.modules import Module, load
from .launches import Empty, Launch
from .spec import KernelExercise, LaunchedExercise

if TYPE_CHECKING:
    from ...emulator import LaunchResult


COMPILE_SECONDS = 30.0


# NaN whose last byte is free: the bits of each type.
ODD_NANS = {
    np.dtype(np.float16): 0x7E00,
    np.dtype(np.float32): 0x7FC05A00,
    np.dtype(np.float64): 0x7FF8000000005A00,
}


MOST_PRINTED = 20_000  # characters. A verdict shows far fewer


MOST_COUNTERS = 4  # integers of an array that holds counters or flags


@dataclass(frozen=True)
class Begun:
    """A launch when it began: its kernel, how many findings there were before, and the arrays of a
    few integers, such as counters, as they were then."""

    kernel: str
    findings: int
    counters: Mapping[str, np.ndarray]


@dataclass
class Run:
    """One launch sequence: its arrays, their contents before, findings, and the fault if any."""

    arrays: dict[str, np.ndarray]
    before: dict[str, np.ndarray]
    findings: list[Finding] = field(default_factory=list)
    printed: str = ""
    counts: Counts | None = None
    fault: Finding | None = None
    results: list[LaunchResult] = field(default_factory=list)
    begun: list[Begun] = field(default_factory=list)  # the launches
    seconds: float = 0.0  # of the processor, for a run that a fault ended


def load_answer(
    exercise: LaunchedExercise,
    source: str,
    filename: str,
    options: tuple[str, ...] = (),
    *,
    seconds: float | None = None,
) -> Module:
    """``source`` as :func:`course_utils.load` compiles it for the emulator with ``options``, with
    the exercise's probe.

    Raises CompileError, and CompilerStopped after ``seconds``, by default COMPILE_SECONDS.
    """
    if isinstance(exercise, KernelExercise):
        source = exercise.with_probe(source)
    with compile_limit(COMPILE_SECONDS if seconds is None else seconds):
        return load(
            source=source,
            filename=filename,
            defines=exercise.defines,
            arch=exercise.arch,
            device=EMULATOR,
            options=options,
        )


def poison(spec: Empty, seed: int) -> np.ndarray:
    """An output array full of a pattern no kernel computes: a NaN that no arithmetic makes, or
    bytes. Either depends on ``seed``."""
    array: np.ndarray = plain(emulated_cupy.empty(spec.shape, spec.dtype))
    pattern = 0xA5 if seed % 2 else 0x5A
    if spec.dtype.kind not in "fc":
        array.reshape(-1).view(np.uint8)[:] = pattern
    elif spec.dtype in ODD_NANS:
        bits = ODD_NANS[spec.dtype]
        array.reshape(-1).view(f"u{spec.dtype.itemsize}")[:] = bits | pattern
    GLOBAL.never_written(array)
    return array


def run(
    exercise: LaunchedExercise,
    module: Module,
    given: Mapping[str, Any],
    size: Any,
    seed: int = 0,
    counters: bool = False,
    *,
    launches: Iterable[Launch] | None = None,
    options: Options | None = None,
) -> Run:
    """Launch every kernel of the exercise once on fresh copies of ``given``.

    ``launches`` are others than the exercise's own, ``options`` others than all checks. Outputs
    start as :func:`poison`, so a use of elements that were never written is found. Raises
    :class:`~course_utils.devices.limits.LaunchError` for a launch that a driver refuses. A fault in
    the kernel does not raise: it is in the answer.
    """
    GLOBAL.forget_freed()  # arrays of the checker's launches before are not the student's
    values = {
        name: poison(value, seed) if isinstance(value, Empty) else _fresh(value)
        for name, value in given.items()
    }
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    start = time.thread_time()
    outcome = Run(arrays, {name: array.copy() for name, array in arrays.items()})
    # The same memory, as the arrays of the emulated device that a kernel takes.
    values |= {name: wrap(array) for name, array in arrays.items()}
    by_name = exercise.kernel_arguments(values)
    if options is None:
        options = Options(checks=ALL_CHECKS, budget=exercise.budget, counters=counters)
    options = replace(options, most_printed=MOST_PRINTED, quiet=True)
    for launch in exercise.launches(size) if launches is None else launches:
        kernel = module[launch.kernel or exercise.kernel]
        chosen = tuple(by_name[name] for name in launch.arguments or by_name)
        name = launch.kernel or exercise.kernel
        outcome.begun.append(Begun(name, len(outcome.findings), _counters(arrays)))
        try:
            with redirect_stdout(StringIO()):  # its output is part of the verdict
                result = kernel.launch(
                    launch.grid,
                    launch.block,
                    chosen,
                    shared_mem=launch.shared,
                    options=replace(
                        options, budget=options.budget and max(options.budget, launch.budget)
                    ),
                )
        except KernelFault as fault:
            outcome.fault = fault.finding
            outcome.seconds = time.thread_time() - start
            outcome.findings += fault.earlier
            return outcome
        assert result is not None, "the emulator returns a result"
        outcome.findings += result.findings
        outcome.printed += result.printed
        outcome.counts = result.counts
        outcome.results.append(result)
    return outcome


def _counters(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    few = {k: a for k, a in arrays.items() if a.dtype.kind in "iu" and a.size <= MOST_COUNTERS}
    return {name: array.copy() for name, array in few.items()}


def stored(
    exercise: LaunchedExercise,
    module: Module,
    given: Mapping[str, Any],
    size: Any,
    seed: int = 0,
    *,
    launches: Iterable[Launch] | None = None,
) -> dict[str, np.ndarray]:
    """The elements of each array that :func:`run` stores to, whatever the value: bool, of its
    shape."""
    recorder = StoreRecorder()
    options = Options(budget=exercise.budget, recorder=recorder)
    again = run(exercise, module, given, size, seed, launches=launches, options=options)
    return {name: recorder.stored(array) for name, array in again.arrays.items()}


def _fresh(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
