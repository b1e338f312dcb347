"""``profile``: a kernel's accesses of memory, counted on the emulator even if there is a GPU."""

from __future__ import annotations

import math
from typing import Any

from ..devices.limits import dimensions
from ..emulator import Options
from ..integers import ceil_div
from ..launching.arguments import bring_back, carry_over
from ..launching.emulation import emulated_call
from .profile_report import Profile


def profile(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...] | None,
    args: tuple[Any, ...],
    *,
    shared_mem: int = 0,
    **meta: Any,
) -> Profile:
    """Run ``kernel`` on the emulator and count its work.

    The answer is a :class:`~course_utils.observing.profile_report.Profile`: totals, and tables by
    source line, by kind of instruction and under Nsight Compute's names. Arguments and errors as
    for :func:`~course_utils.sanitize`, also for kernels of Triton, Numba and Warp, but a fault of
    the kernel is raised.
    """
    values, copies = carry_over(args)
    call = emulated_call(kernel, grid, block, values, shared_mem, meta)
    kernel, grid, block = call.kernel, call.grid, call.block
    options = Options(counters=True)
    result = kernel.launch(grid, block, call.args, shared_mem=call.shared_mem, options=options)
    bring_back(copies)
    lanes = math.prod(dimensions(block, "block"))
    return Profile(
        kernel.name,
        result.counts,
        kernel.source,
        kernel.filename,
        tuple(result.instructions),
        math.prod(dimensions(grid, "grid")) * ceil_div(lanes, 32),
        result.tally,
    )
