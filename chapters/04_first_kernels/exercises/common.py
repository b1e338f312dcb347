"""What exercises of several notebooks of this chapter share."""

from __future__ import annotations

from collections.abc import Callable

from course_utils.emulator import Counts


def atomics_on(space: str) -> Callable[[Counts], int]:
    """Counts the atomics of all threads on "global" or "shared" memory."""
    starts = f"atom.{space}.", f"red.{space}."
    return lambda counts: sum(n for name, n in counts.opcodes.items() if name.startswith(starts))
