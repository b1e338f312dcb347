"""What a recorded launch looks like after one of its steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .stepped_launch import SteppedLaunch

RUNS, OFF, WAITS, ENDED, READY = "runs", "off", "waits", "ended", "ready"
WARP = 32


@dataclass(frozen=True)
class StepState:
    """``threads``: RUNS, OFF (another lane of its warp runs), WAITS, ENDED or READY, for each
    thread of the launch. ``values`` and ``in_flight``: for each array its elements (None where
    nothing has been written), and those that a copy is still on its way to. ``touched``: for each
    array the elements that the step reads (False) or writes (True). ``barriers``: the phase of each
    mbarrier, with the arrivals and bytes that it misses, None before it is initialised."""

    threads: list[str]
    values: list[list[Any]]
    in_flight: list[set[int]]
    touched: list[dict[int, bool]]
    barriers: list[tuple[int, int, int] | None]


def state_after(launch: SteppedLaunch, number: int) -> StepState:
    """The state after step ``number``, the first being 0. Threads that met at a barrier in this
    step still wait."""
    block = math.prod(launch.block)
    threads = [READY] * (block * math.prod(launch.grid))
    values = [list(array.first) for array in launch.arrays]
    in_flight: list[set[int]] = [set() for _ in launch.arrays]
    barriers: list[tuple[int, int, int] | None] = [None] * len(launch.barriers)
    for n, step in enumerate(launch.steps[: number + 1]):
        for array, element, value in step.changes:
            values[array][element] = value
        for array, elements in step.starts:
            in_flight[array] |= set(elements)
        for array, elements in step.lands:
            in_flight[array] -= set(elements)
        for mbarrier, *counts in step.phases:
            barriers[mbarrier] = (counts[0], counts[1], counts[2])
        met = [(WAITS, lanes) for _, lanes in step.waits]
        met += [(READY, lanes) for lanes in step.goes if n < number]
        for what, lanes in met + [(ENDED, lanes) for lanes in step.ended]:
            for thread in lanes:
                threads[thread] = what
    step = launch.steps[number]
    running = {(t // block, t % block // WARP) for t in step.lanes}
    for t, state in enumerate(threads):
        if state == READY and t in step.lanes:
            threads[t] = RUNS
        elif state == READY and (t // block, t % block // WARP) in running:
            threads[t] = OFF
    touched: list[dict[int, bool]] = [{} for _ in launch.arrays]
    for reach in step.reaches:
        for element in reach.elements:
            writes = reach.kind != "read"
            touched[reach.array][element] = touched[reach.array].get(element, False) or writes
    return StepState(threads, values, in_flight, touched, barriers)


def key_frames(launch: SteppedLaunch) -> list[int]:
    """At most three steps that show the story: the first that starts a copy (or reaches an array),
    the first at which threads wait (or one in the middle), and the last that writes. Both moments
    of a fault replace the first two."""
    steps = launch.steps
    reaching = [n for n, step in enumerate(steps) if step.reaches]
    starting = [n for n, step in enumerate(steps) if step.starts]
    begin = min(starting, default=0)
    waiting = [n for n, step in enumerate(steps) if step.waits and n > begin]
    writing = [n for n, step in enumerate(steps) if step.changes]
    if launch.main_fault:
        found = [n for _, n in launch.main_fault.moments]
    else:
        found = (starting or reaching)[:1] + (waiting[:1] or reaching[len(reaching) // 2 :][:1])
    return sorted({*found[:2], *writing[-1:]}) or [len(steps) - 1]
