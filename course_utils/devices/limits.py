"""The limits of a launch, checked before it starts: the same for a GPU and for the emulator."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ..emulator import LOCAL_LIMIT, MAX_THREADS
from ..errors import LessonError
from ..symptoms import CUDA_ERRORS, LAUNCH

# CUDA C++ Programming Guide 12.9, "Technical Specifications per Compute Capability".
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)
MAX_STATIC_SHARED = 48 * 1024  # bytes


IMPOSSIBLE_SHAPE = CUDA_ERRORS[9].heading
IMPOSSIBLE_VALUE = CUDA_ERRORS[1].heading
TOO_MANY_REGISTERS = CUDA_ERRORS[701].heading
TOO_MANY_BLOCKS = CUDA_ERRORS[720].heading


class LaunchError(LessonError):
    """A kernel was called with arguments or a launch shape that cannot be right.

    ``symptom``: CUDA's words for it, if CUDA would refuse the launch.
    """

    def __init__(self, message: str, *, symptom: str = LAUNCH):
        super().__init__(message, symptom=symptom)


@dataclass(frozen=True)
class Limits:
    """The limits of one kernel on one device.

    ``threads``: the most in a block (less than 1024 under ``__launch_bounds__``, or where registers
    run out). ``static_shared``: bytes of its ``__shared__`` arrays of fixed size. ``shared``: bytes
    that a block can have in all. ``local``: bytes of each thread's own arrays, if known.
    """

    threads: int
    static_shared: int
    shared: int
    local: int = 0


def dimensions(value: Any, what: str) -> tuple[int, int, int]:
    """``value``, an int or up to three of them, as (x, y, z). ``what`` is "grid" or "block".
    Raises LaunchError for anything else."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    whole = all(isinstance(item, Integral) and not isinstance(item, bool) for item in items)
    if not whole or not 1 <= len(items) <= 3:
        raise LaunchError(
            f"The {what} is {value!r}, but must be one to three integers, such as (8,) or (8, 4)."
            + (" Divide integers with //." if _has_float(items) else "")
        )
    x, y, z = (*map(int, items), 1, 1)[:3]
    return x, y, z


def check_residence(
    name: str, grid: tuple[int, int, int], block: tuple[int, int, int], resident: int
) -> None:
    """Raise :class:`LaunchError` where a cooperative launch has more blocks than run at once."""
    if math.prod(grid) > resident:
        raise LaunchError(
            f"{name}: all blocks of a cooperative launch are resident at once. This GPU holds at "
            f"most {resident:,} blocks of {math.prod(block):,} threads, and the grid has "
            f"{math.prod(grid):,}: CUDA would refuse it (COOPERATIVE_LAUNCH_TOO_LARGE). Launch "
            "fewer blocks, and let each thread do more elements.",
            symptom=TOO_MANY_BLOCKS,
        )


def _has_float(items: Iterable[Any]) -> bool:
    return any(isinstance(item, float) for item in items)


def check_shape(
    name: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dynamic_shared: int,
    limits: Limits,
) -> None:
    """Raise :class:`LaunchError` unless the kernel ``name`` can be launched in this shape."""
    for what, shape, most in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
        unit = "blocks" if what == "grid" else "threads"
        for axis, count, limit in zip("xyz", shape, most, strict=True):
            if count < 1:
                raise LaunchError(
                    f"{name}: the {what} is {shape}, which has no {unit} along {axis}, so nothing "
                    f"would run. Every entry must be at least 1. For n elements and b threads per "
                    f"block, a grid of (n + b - 1) // b blocks covers them all.",
                    symptom=IMPOSSIBLE_SHAPE,
                )
            if count > limit:
                raise LaunchError(
                    f"{name}: the {what} is {shape}, but a {what} has at most {limit:,} {unit} "
                    f"along {axis}. "
                    + (
                        "Put the longest axis on x, or let each thread do more than one element."
                        if what == "grid"
                        else "Use a smaller block and more blocks."
                    ),
                    symptom=IMPOSSIBLE_SHAPE,
                )
    threads = math.prod(block)
    if threads > MAX_THREADS:
        raise LaunchError(
            f"{name}: the block is {block}, which is {threads:,} threads, but a block has at most "
            f"{MAX_THREADS}. Use a smaller block and more blocks.",
            symptom=IMPOSSIBLE_SHAPE,
        )
    if threads > limits.threads:
        raise LaunchError(
            f"{name}: the block is {block}, which is {threads:,} threads, but this kernel was "
            f"compiled for at most {limits.threads}, by its __launch_bounds__ or because each "
            f"thread needs so many registers. Use a smaller block.",
            symptom=TOO_MANY_REGISTERS,
        )
    if limits.static_shared > MAX_STATIC_SHARED:
        raise LaunchError(
            f"{name}: the kernel declares {limits.static_shared:,} bytes of shared memory, but it "
            f"may declare at most {MAX_STATIC_SHARED:,}. Use a smaller tile, or declare it as "
            f"extern __shared__ and ask for the bytes with shared_mem."
        )
    if limits.local > LOCAL_LIMIT:
        raise LaunchError(
            f"{name}: each thread's own arrays take {limits.local:,} bytes, but they may take "
            f"at most {LOCAL_LIMIT:,} (512 KB). Pass an array in global memory instead."
        )
    if not isinstance(dynamic_shared, Integral) or dynamic_shared < 0:
        raise LaunchError(
            f"{name}: shared_mem is {dynamic_shared!r}. It counts bytes, so it must be 0 or more."
        )
    total = limits.static_shared + dynamic_shared
    if total > limits.shared:
        raise LaunchError(
            f"{name}: a block would need {total:,} bytes of shared memory "
            f"({limits.static_shared:,} declared in the kernel, {dynamic_shared:,} asked for with "
            f"shared_mem), but it can have at most {limits.shared:,} "
            f"({limits.shared // 1024} KB). Use a smaller tile.",
            symptom=IMPOSSIBLE_VALUE,
        )
