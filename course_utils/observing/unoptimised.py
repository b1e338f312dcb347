"""A second run of a kernel that seems clean, compiled with ``-G``: the optimiser hides mistakes.

The compiler may leave out an access past the end of a thread's own array, or a use of a variable
that was never set, and so the emulator never meets it. Without the optimiser it is there. An index
made of such a variable may be out of bounds with the optimiser, and only ``-G`` shows why.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import Any

from ..compiling.compiler_process import compile_limit
from ..compiling.diagnostics import CompileError
from ..emulator import (
    NULL_POINTER,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    Cause,
    Finding,
    KernelFault,
    LaunchTooLong,
    Options,
    PtxError,
)
from ..errors import LessonError
from ..launching.kernels import Kernel

SECONDS = 1.0  # of a first run or of its compiler, from which on a second one takes too long
COMPILING = 4.0  # seconds that the compiler gets
PATIENCE = 3.0  # seconds that the second run gets, asked between groups of blocks
BUDGET = 50_000  # instructions for a group of blocks, which take some seconds
MOST_BYTES = 1 << 28  # of all arrays, which are put back after the second run
REMOVABLE = (OUT_OF_BOUNDS, UNINITIALISED)
FAULTS = (OUT_OF_BOUNDS, NULL_POINTER)  # that an index or a pointer without a value causes
UNSET = Cause.VARIABLE_NOT_INITIALISED
NOTE = "\n  Found with -G: the optimiser had removed it, and may leave it in another time."

CHECKS = frozenset({"uninitialised"})  # bounds and alignment are checked in every launch


def is_short(seconds: float) -> bool:
    """Whether a first run, or its compiler, was so quick that a second one is worth the wait."""
    return seconds < SECONDS


def as_removed(findings: Iterable[Finding]) -> list[Finding]:
    """Those ``findings`` of a run without the optimiser that it can have removed. They say so.

    A race isn't among them: the optimiser neither makes nor removes an order of threads. Nor is a
    misaligned access: a thread's own array that is aligned for floats is in registers with the
    optimiser, and a float4 in it needs no address.
    """
    return [replace(f, message=f.message + NOTE) for f in findings if f.kind in REMOVABLE]


def behind(fault: Finding, found: Iterable[Finding]) -> list[Finding]:
    """The findings in ``found``, without the optimiser, that explain ``fault``: at its line, an
    address made of a variable that was never set."""
    if fault.kind not in FAULTS or fault.location is None:
        return []
    seen = f"\n  With the optimiser this access ends in a fault: {fault.kind}."
    return [
        replace(f, message=f.message + seen)
        for f in found
        if f.cause == UNSET and _line(f) == _line(fault)
    ]


def _line(finding: Finding) -> tuple[str, int] | None:
    place = finding.location
    return None if place is None else (place.file, place.line)


def without_optimiser(kernel: Kernel) -> Kernel | None:
    """The same kernel compiled with ``-G``. None for one of a PTX file, and where the compiler
    takes too long or has done so before."""
    if not is_short(getattr(kernel.raw, "compile_seconds", 0.0)):
        return None
    try:
        with compile_limit(COMPILING):
            module = getattr(kernel.module, "unoptimised", None)
            return None if module is None else module[kernel.name]
    except (CompileError, AttributeError):
        return None


def removed(
    kernel: Kernel, grid: Any, block: Any, values: tuple[Any, ...], shared_mem: int
) -> list[Finding]:
    """The findings of a run of ``kernel`` without the optimiser. None where it takes too long.

    ``values`` are as :meth:`Kernel.check` returns them. The kernel writes to the arrays.
    """
    twin = without_optimiser(kernel)
    if twin is None:
        return []
    copy_variables(kernel, twin)
    options = Options(checks=CHECKS, budget=BUDGET, patience=PATIENCE, quiet=True)
    try:
        with redirect_stdout(StringIO()):
            result = twin.raw.launch(grid, block, values, shared_mem=shared_mem, options=options)
    except KernelFault as fault:
        return as_removed([*fault.earlier, fault.finding])
    except (LaunchTooLong, LessonError, PtxError, LookupError, ValueError):
        return []  # it takes too long, or more than a launch may have
    return as_removed(result.findings)


def copy_variables(kernel: Kernel, twin: Kernel) -> None:
    """Give the variables of ``twin`` in global and constant memory the values of ``kernel``'s."""
    theirs, ours = kernel.raw.entry.module, twin.raw.entry.module
    for name, variable in ours.variables.items():
        known = theirs.variables.get(name)
        if known and variable.space in ("global", "const") and known.size == variable.size:
            ours.region_of(name).storage[:] = theirs.region_of(name).storage
