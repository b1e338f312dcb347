"""One more run of a kernel whose results became NaN or infinite, to find the first operation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from ..compiling.source_text import shortened
from ..devices.emulated_arrays import NAN_BITS, plain
from ..emulator import GLOBAL, KernelFault, LaunchTooLong, Options
from ..launching.kernels import Kernel
from .unoptimised import PATIENCE

BY_CODE = {"nan": "NaN", "inf": "infinity"}


def strange_numbers(values: Sequence[Any]) -> dict[str, int]:
    """How many NaN and infinities the arrays among ``values`` hold, without the NaN of memory that
    was never written."""
    found = {"nan": 0, "inf": 0}
    for array in map(plain, values):
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.dtype.itemsize > 8:
            continue
        unsigned = np.dtype(f"u{array.dtype.itemsize}")
        bits, sign = np.ascontiguousarray(array).view(unsigned), 1 << 8 * unsigned.itemsize - 1
        unwritten = unsigned.type(NAN_BITS.get(array.dtype.name, 0) & ~sign)
        nan = np.isnan(array) & (bits & unsigned.type(sign - 1) != unwritten)
        found["nan"] += int(nan.sum())
        found["inf"] += int(np.isinf(array).sum())
    return found


def origin(
    kernel: Kernel,
    grid: Any,
    block: Any,
    values: tuple[Any, ...],
    shared_mem: int,
    before: dict[str, int],
    contents: list[Any],
) -> str:
    """The operation that made the first NaN of a run that has ended, or else the first infinity, in
    one sentence and with its line. The answer is "" if there are no more of them than ``before``,
    or if no operation made them.

    ``contents`` is memory as it was before that run. The operation is found from there, and then
    memory is again as the run left it.
    """
    after = strange_numbers(values)
    wanted = next((code for code in BY_CODE if after[code] > before[code]), "")
    if not wanted:
        return ""
    left = GLOBAL.contents([array for array in map(plain, values) if isinstance(array, np.ndarray)])
    GLOBAL.put_back(contents)
    options = Options(first_nan=wanted, patience=PATIENCE, quiet=True)
    try:
        with redirect_stdout(StringIO()):
            result = kernel.raw.launch(grid, block, values, shared_mem=shared_mem, options=options)
    except (KernelFault, LaunchTooLong):
        return ""
    finally:
        GLOBAL.put_back(left)
    made = result.made
    if made is None or made.location is None:
        return ""
    text = (
        f"The first {BY_CODE[wanted]} is made at {made.location}: thread {made.thread} of block "
        f"{made.block} computes {made.operation}."
    )
    rows = kernel.source.splitlines()
    line = made.location.line
    if made.location.file == kernel.filename and 0 < line <= len(rows):
        text += f"\n{line:>6} | {shortened(rows[line - 1])}"
    return text
