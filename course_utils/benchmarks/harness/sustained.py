"""Work back to back for seconds: the part of a burst's speed that the GPU's limit of power
leaves."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...devices import gpu
from ...devices.selection import cp
from . import nvml

SECONDS = 3.0  # of one turn
TURNS = 2  # of each. The first of one turn is the last of the next
BATCH_MS = 50.0  # of work between two looks at the clock

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class Turn:
    """The mean time of a run, and the SMs' clock and the power where they are known."""

    ms: float
    clock_and_power: tuple[int, int] | None = None


def sustained(ours: A, theirs: B, run_for: Callable[[A | B, float], Turn]) -> dict[str, Any]:
    """Ours and theirs back to back for SECONDS each, TURNS times: ours, theirs, theirs, ours.

    ``ratio`` is how many times faster ours is. ``run_for(work, seconds)``, such as
    :func:`back_to_back`, measures one turn.
    """
    turns: dict[str, list[Turn]] = {"ours": [], "library": []}
    sides: list[tuple[str, A | B]] = [("ours", ours), ("library", theirs)]
    for turn in range(TURNS):
        for name, work in reversed(sides) if turn % 2 else sides:
            turns[name].append(run_for(work, SECONDS))
    means = {name: mean_of(each) for name, each in turns.items()}
    found: dict[str, Any] = {"seconds": SECONDS, "turns": TURNS}
    for name, mean in means.items():
        found[f"{name}_ms"] = round(mean.ms, 5)
        if mean.clock_and_power:
            found[f"{name}_mhz"], found[f"{name}_watts"] = mean.clock_and_power
    return {**found, "ratio": round(means["library"].ms / means["ours"].ms, 4)}


def mean_of(turns: Sequence[Turn]) -> Turn:
    """One turn with the mean of the times, and of the clocks and powers that are known."""
    known = [turn.clock_and_power for turn in turns if turn.clock_and_power]
    mean_ms = statistics.fmean(turn.ms for turn in turns)
    if not known:
        return Turn(mean_ms)
    clock, power = (round(statistics.fmean(values)) for values in zip(*known, strict=True))
    return Turn(mean_ms, (clock, power))


def back_to_back(work: Callable[[], Any], seconds: float) -> Turn:
    """Run ``work`` for ``seconds`` with no pause and no flush between runs."""
    with gpu.readable_faults("the work measured"), gpu.without_waiting(), nvml.sampled() as samples:
        start = _mark()
        work()
        batch = max(1, round(BATCH_MS / max(_elapsed(start, _mark()), 1e-3)))
        start, before, runs = _mark(), _mark(), 0
        while True:
            for _ in range(batch):
                work()
            runs += batch
            now = _mark()
            # Wait for the batch before this one, so that the GPU always has another to do.
            if _elapsed(start, before) >= 1e3 * seconds:
                break
            before = now
        mean_ms = _elapsed(start, now) / runs
    return Turn(mean_ms, samples.settled())


def _mark() -> Any:
    event = cp.cuda.Event()
    event.record()
    return event


def _elapsed(start: Any, end: Any) -> float:
    """The milliseconds from one event to another, waiting for it."""
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(start, end))
