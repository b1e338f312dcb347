"""``trace``: the steps of one warp, in the order in which it makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..devices.limits import LaunchError, dimensions
from ..emulator import WARP, Options, TraceOptions, WarpAccess, WarpStep
from ..integers import ceil_div
from ..launching.arguments import bring_back, carry_over
from ..launching.emulation import emulated_call
from ..text_tables import Column, Columns

__all__ = ["WarpAccess", "WarpStep", "Trace", "trace"]


@dataclass(frozen=True)
class Trace:
    """The steps of warp ``warp`` of block ``block_index``; ``complete`` is False when more
    followed than were kept.

    A trace is iterated, indexed and sliced as its ``steps`` are. Its text is a table with a mark
    for each active lane. ``spans`` are the work beside the block's threads: copies in flight,
    phases of mbarriers and the waits of all its warps, each (row, label, start, end), the times in
    instructions issued, as :func:`~course_utils.figures.timeline` draws them.
    """

    kernel: str
    steps: tuple[WarpStep, ...]
    source: str
    filename: str
    block_index: tuple[int, int, int]
    warp: int
    complete: bool = True
    spans: tuple[tuple[str, str, int, int], ...] = ()

    def __iter__(self) -> Iterator[WarpStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, which: int | slice) -> Any:
        return self.steps[which]

    def at(self, line: int) -> tuple[WarpStep, ...]:
        """The steps that come from a line of the kernel's file."""
        return tuple(s for s in self.steps if s.line == line and s.file == self.filename)

    def text(self, line: int) -> str:
        """A line of the kernel's file, without the blanks around it, "" where there is none."""
        lines = self.source.splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def __str__(self) -> str:
        width = max((len(step.opcode) for step in self.steps), default=0)
        columns = Columns(Column(width=5), Column(width=width, left=True), Column(left=True))
        rows = [f"{self.kernel}, warp {self.warp} of block {self.block_index}: lane 0 at the left"]
        for step in self.steps:
            lanes = "".join("x" if on else "." for on in step.active)
            rows.append(columns.row(step.line, step.opcode, lanes))
        return "\n".join([*rows, *([] if self.complete else ["and more: raise limit to see them"])])

    __repr__ = __str__


def trace(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...] | None,
    args: tuple[Any, ...],
    *,
    block_index: int | tuple[int, ...] = (0, 0, 0),
    warp: int = 0,
    limit: int = 2000,
    shared_mem: int = 0,
    seed: int = 0,
    **meta: Any,
) -> Trace:
    """Run ``kernel`` on the emulator and record the steps of one warp: see :class:`Trace`.

    ``warp`` counts within the block ``block_index``. The first ``limit`` steps are kept, and the
    launch still runs to its end. A step is one PTX instruction with its source line and the lanes
    that take part: lanes that took the other way at a branch are idle. Asynchronous copies land as
    late as they can, or with a ``seed`` other than 0 at random moments. Arguments and errors as for
    :func:`~course_utils.profile`. Also raises :class:`~course_utils.devices.limits.LaunchError`
    when the grid has no such block, or the block no such warp.
    """
    values, copies = carry_over(args)
    call = emulated_call(kernel, grid, block, values, shared_mem, meta)
    kernel, grid, block = call.kernel, call.grid, call.block
    x, y, z = (*(block_index if isinstance(block_index, (tuple, list)) else (block_index,)), 0, 0)[
        :3
    ]
    index = x, y, z
    shape, warps = dimensions(grid, "grid"), ceil_div(math.prod(dimensions(block, "block")), WARP)
    if not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
        raise LaunchError(f"{kernel.name}: the grid is {shape}; it has no block {index}.")
    if not 0 <= warp < warps:
        raise LaunchError(
            f"{kernel.name}: a block of {block} threads has warps 0 to {warps - 1}, not {warp}."
        )
    file = kernel.filename
    options = Options(trace=TraceOptions(file, index, warp, limit), seed=seed)
    result = kernel.launch(grid, block, call.args, shared_mem=call.shared_mem, options=options)
    bring_back(copies)
    found, spans = result.trace, tuple(result.spans)
    steps = tuple(found.steps)
    return Trace(kernel.name, steps, kernel.source, file, index, warp, found.complete, spans)
