"""``sanitize`` and ``profile``: what a kernel does wrong, and what it does to memory.

Both run the kernel on the emulator, on a machine with a GPU too: a faulty kernel can hurt nothing
there, and every access is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .emulator import cupy_api
from .emulator.machine import Options
from .emulator.report import Finding, KernelFault
from .kernels import Kernel, Module
from .launch import dimensions
from .profiling import Profile


@dataclass(frozen=True)
class Report:
    """What :func:`sanitize` found: ``findings`` in the order met, and what the kernel printed."""

    kernel: str
    findings: tuple[Finding, ...]
    source: str
    filename: str
    printed: str = ""

    @property
    def clean(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        if self.clean:
            checks = "bounds, alignment, uninitialised reads, races, barriers"
            return f"{self.kernel}: no fault found ({checks})."
        return "\n\n".join(self._with_source(finding) for finding in self.findings)

    __repr__ = __str__

    def _with_source(self, finding: Finding) -> str:
        lines = [finding.message]
        places = [p for p in (finding.other_location, finding.location) if p is not None]
        text = self.source.splitlines()
        for line in sorted({p.line for p in places if p.file == self.filename}):
            if 0 < line <= len(text):
                lines.append(f"{line:>6} | {text[line - 1]}")
        return "\n".join(lines)


def sanitize(
    kernel: Kernel | Module,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: tuple,
    *,
    shared_mem: int = 0,
) -> Report:
    """Run ``kernel`` on the emulator under every check and report what is wrong.

    The arguments are those of a launch. Arrays that already live on the emulator receive what the
    kernel wrote; arrays of a GPU are copied and stay as they are. Raises
    :class:`~course_utils.launch.LaunchError` for a launch that cannot be right; faults of the
    kernel itself are in the report, never raised.
    """
    kernel = on_emulator(kernel)
    findings, printed = [], ""
    try:
        result = kernel.launch(
            grid,
            block,
            emulator_arguments(args),
            shared_mem=shared_mem,
            options=Options(racecheck=True),
        )
    except KernelFault as fault:
        findings += [*fault.earlier, fault.finding]
    else:
        findings, printed = result.findings, result.printed
    return Report(
        kernel.name, tuple(findings), kernel.module.source, kernel.module.filename, printed
    )


def profile(
    kernel: Kernel | Module,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: tuple,
    *,
    shared_mem: int = 0,
) -> Profile:
    """Run ``kernel`` on the emulator and count what it does.

    The answer is a :class:`~course_utils.profiling.Profile`: totals, and tables by source line, by
    kind of instruction and under Nsight Compute's names. Arguments and errors as for
    :func:`sanitize`, but a fault of the kernel is raised.
    """
    kernel = on_emulator(kernel)
    options = Options(counters=True)
    result = kernel.launch(
        grid, block, emulator_arguments(args), shared_mem=shared_mem, options=options
    )
    lanes = math.prod(dimensions(block, "block"))
    return Profile(
        kernel.name,
        result.counts,
        kernel.source,
        kernel.module.filename,
        tuple(result.instructions),
        math.prod(dimensions(grid, "grid")) * -(-lanes // 32),
        result.tally,
    )


def on_emulator(kernel: Kernel | Module) -> Kernel:
    """The kernel, or the module's one kernel, as the emulator runs it."""
    return (kernel.kernel if isinstance(kernel, Module) else kernel).emulated


def emulator_arguments(args: tuple) -> tuple:
    """Arrays of a GPU become arrays of the emulator; everything else stays as it is."""

    def copy(value: Any) -> Any:
        if isinstance(value, np.ndarray) or not hasattr(value, "__cuda_array_interface__"):
            return value
        return cupy_api.asarray(value.get())

    return tuple(copy(value) for value in args) if isinstance(args, (tuple, list)) else args
