"""The steps of a recorded launch as text: for a terminal, and for a screen reader."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..emulator import LineStep
    from .stepped_launch import SteppedLaunch


def as_text(launch: SteppedLaunch) -> str:
    """A line for each step of ``launch``, and one for each wait, copy and phase in it."""
    source, kernel = launch.source.splitlines(), launch.kernel
    threads = math.prod(launch.block) * math.prod(launch.grid)
    rows = [f"{kernel.name}: {len(launch.steps)} steps of {threads} threads"]
    for number, step in enumerate(launch.steps):
        own = step.file == kernel.filename and 0 < step.line <= len(source)
        code = source[step.line - 1].strip() if own else Path(step.file).name
        lanes = f"{len(step.lanes):>3} threads" if step.lanes else "     a copy"
        rows.append(f"{number + 1:>4}  line {step.line:>3}  {lanes}  {code}")
        rows += [f"      {row}" for row in _beside(launch, step)]
    return "\n".join([*rows, *(fault.text for fault in launch.faults)])


def _beside(launch: SteppedLaunch, step: LineStep) -> Iterator[str]:
    for what, lanes in step.waits:
        yield f"{len(lanes)} threads wait: {what}"
    for word, parts in (("in flight to", step.starts), ("arrived in", step.lands)):
        for array, elements in parts:
            yield f"{len(elements)} elements {word} {launch.arrays[array].name}"
    for number, phase, arrivals, size in step.phases:
        name = launch.barriers[number].name
        yield f"{name}: {phase_text(phase, arrivals, size)}"


def phase_text(phase: int, arrivals: int, size: int) -> str:
    """An mbarrier's phase, with the arrivals and the bytes that it misses."""
    return f"phase {phase}, {arrivals} arrivals and {size} bytes missing"
