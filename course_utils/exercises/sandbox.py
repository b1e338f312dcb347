"""Compiles a student's source and launches it on the emulator, where nothing can be harmed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compiling import nvrtc, signature
from ..emulator import GLOBAL, Counts, EmulatedModule, Finding, KernelFault, Options
from .spec import Empty, Launch, Launched

COMPILE_SECONDS = 60.0
BUDGET = 50_000  # instructions of one batch of blocks; the exercises need under a fifth
STATIC_SHARED_LIMIT = 48 * 1024  # CUDA C++ Programming Guide, "Compute Capabilities"
POISON = {  # quiet NaNs with a payload of ours, so that they can be told from computed ones
    np.dtype(np.float16): np.uint16(0x7E5A),
    np.dtype(np.float32): np.uint32(0x7FC5A5A5),
    np.dtype(np.float64): np.uint64(0x7FF85A5A5A5A5A5A),
}


class CompileTimeout(Exception):
    """The compiler did not come to an end."""


class LaunchError(Exception):
    """A launch the driver would refuse; the message is for the reader."""


@dataclass
class Run:
    """One launch sequence: outputs, what they held before, findings, and the fault if any."""

    arrays: dict[str, np.ndarray]
    before: dict[str, np.ndarray]
    findings: list[Finding] = field(default_factory=list)
    printed: str = ""
    counts: Counts | None = None
    fault: Finding | None = None


def compile_source(exercise: Launched, source: str, filename: str) -> EmulatedModule:
    """The compiled module. Raises CompileError or CompileTimeout."""
    options = tuple(f"-D{name}={value}" for name, value in exercise.defines.items())
    answer: dict[str, Any] = {}

    def work() -> None:
        try:
            answer["ptx"] = nvrtc.compile_ptx(source, filename=filename, options=options)
        except Exception as error:
            answer["error"] = error

    # NVRTC may run for ever on a template bomb, and cannot be interrupted.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(COMPILE_SECONDS)
    if thread.is_alive():
        raise CompileTimeout
    if "error" in answer:
        raise answer["error"]
    return EmulatedModule(answer["ptx"])


def poison(spec: Empty, seed: int) -> np.ndarray:
    """An output array full of a pattern no kernel computes: NaN, or bytes that depend on seed."""
    array = np.empty(spec.shape, spec.dtype)
    if spec.dtype in POISON:
        bits = POISON[spec.dtype]
        array.view(bits.dtype)[...] = bits
    else:
        array.reshape(-1).view(np.uint8)[:] = 0xA5 if seed % 2 else 0x5A
    GLOBAL.never_written(array)
    return array


def run(
    exercise: Launched,
    module: EmulatedModule,
    source: str,
    given: Mapping[str, Any],
    size: Any,
    seed: int = 0,
    counters: bool = False,
) -> Run:
    """Launch every kernel of the exercise once on fresh copies of ``given``.

    Outputs start as :func:`poison`; a kernel that uses what it has not written there is found out.
    Raises :class:`LaunchError` for what a driver refuses. A fault in the kernel does not raise: it
    is in the answer.
    """
    values = {
        name: poison(value, seed) if isinstance(value, Empty) else _fresh(value)
        for name, value in given.items()
    }
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    outcome = Run(arrays, {name: array.copy() for name, array in arrays.items()})
    parameters = signature.kernels(source)
    options = Options(racecheck=True, budget=BUDGET, counters=counters)
    for launch in exercise.launches(size):
        name = launch.kernel or exercise.kernel
        entry = module.entry(name)
        _check_launch(entry, launch)
        chosen = launch.arguments or tuple(values)
        names = tuple(parameter.name for parameter in parameters[name].parameters)
        try:
            result = entry.launch(
                launch.grid,
                launch.block,
                [values[argument] for argument in chosen],
                shared=launch.shared,
                names=names,
                options=options,
            )
        except KernelFault as fault:
            outcome.fault = fault.finding
            outcome.findings += fault.earlier
            return outcome
        outcome.findings += result.findings
        outcome.printed += result.printed
        outcome.counts = result.counts
    return outcome


def _fresh(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _check_launch(entry: Any, launch: Launch) -> None:
    threads = int(np.prod(launch.block))
    if threads > entry.max_threads:
        raise LaunchError(
            f"the launch has {threads} threads a block, but __launch_bounds__ allows only "
            f"{entry.max_threads}."
        )
    if entry.static_shared > STATIC_SHARED_LIMIT:
        raise LaunchError(
            f"the kernel declares {entry.static_shared} bytes of shared memory; "
            f"a block may declare at most {STATIC_SHARED_LIMIT}."
        )
