"""A simulated GPU with known true times, to try a benchmark on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LAUNCH_MS = 0.004  # of the host's time, for a launch
CALL_MS = 0.0005  # for any other call
QUEUE = 1024  # launches that may wait. The next one waits for the first of them
FLUSH_MS = 0.06  # to write or read 256 MB
SETTLING_MS = 200.0  # in which clock and power come nearer to where they settle, by a factor e
WANDERING_MS = 700.0  # one swing of the clock
NOISE = 0.003  # of a run's time, one standard deviation
SPIKE = 0.4  # a run that takes longer than others does so by up to this part

CLEAN, WARM, DIRTY = "clean", "warm", "dirty"  # the state of L2 that a run finds


@dataclass(frozen=True)
class SimulatedEvent:
    """A mark in the queue, and the time at which the GPU reaches it."""

    at_ms: float


@dataclass(frozen=True)
class SimulatedRun:
    """One run of a kernel: the state of L2 that it found, and when the GPU ran it."""

    kernel: str
    cache: str
    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class ClockReading:
    """A look at the host's clock, or an event: when the host made it, until when the GPU was busy
    with its queue, and how many kernels had been compiled."""

    is_event: bool
    host_ms: float
    busy_until_ms: float
    compiled: int


class SimulatedGPU:
    """A GPU that computes nothing itself and has its own clock.

    Launches only join a queue, kernels are compiled at their first call, an L2 cache keeps what
    ran last, of single runs the part ``spikes`` takes longer, the clock wanders by the part
    ``wander``, and with work for long the GPU comes to its limit of power. ``seed`` makes the same
    noise again. ``runs`` and ``readings`` record it all.
    """

    def __init__(self, seed: int = 0, *, spikes: float = 0.0, wander: float = 0.0) -> None:
        self.runs: list[SimulatedRun] = []
        self.readings: list[ClockReading] = []
        self._rng = np.random.default_rng(seed)
        self._spikes, self._wander = spikes, wander
        self._phase = self._rng.uniform(0, 2 * math.pi)
        self._host_ms = self._free_ms = 0.0
        self._settled = 0.0  # 0 after a rest, 1 at the limit of power
        self._cache: Any = CLEAN  # or DIRTY, or the kernel whose input it holds
        self._compiled: set[Any] = set()
        self._queued: deque[float] = deque()

    def kernel(
        self,
        ms: float,
        name: str = "kernel",
        *,
        compile_ms: float = 0.0,
        from_cache: float = 1.0,
        beside_writes: float = 1.0,
        at_limit: float = 1.0,
        computes: Callable[..., float | None] | None = None,
    ) -> Callable[..., None]:
        """A kernel that takes ``ms`` with nothing of its input in L2, after a rest.

        That time is multiplied by ``from_cache`` where L2 holds the input, by ``beside_writes``
        where it is full of lines to be written back, and by ``at_limit`` at the limit of power.
        ``computes(*arguments)`` is called with a launch's. A number that it returns is one
        more factor. The first call compiles for ``compile_ms``.
        """

        def launch(*arguments: Any) -> None:
            if launch not in self._compiled:
                self._compiled.add(launch)
                self._host_ms += compile_ms
            factor = computes(*arguments) if computes else None
            cache = WARM if self._cache is launch else DIRTY if self._cache is DIRTY else CLEAN
            of_cache = {WARM: from_cache, DIRTY: beside_writes, CLEAN: 1.0}[cache]
            usual = ms * of_cache * (1.0 if factor is None else factor)
            start, end = self._enqueue(usual, at_limit)
            self._cache = launch
            self.runs.append(SimulatedRun(name, cache, start, end))

        return launch

    def time(self) -> float:
        """The host's clock, in seconds."""
        self._call(is_event=False)
        return self._host_ms * 1e-3

    def event(self) -> SimulatedEvent:
        """A mark after all launches so far."""
        self._call(is_event=True)
        return SimulatedEvent(max(self._host_ms, self._free_ms))

    def elapsed_ms(self, start: SimulatedEvent, end: SimulatedEvent) -> float:
        """Milliseconds from one event to another. Raises RuntimeError as long as the GPU has not
        reached both."""
        if max(start.at_ms, end.at_ms) > self._host_ms:
            raise RuntimeError(
                "the GPU has not reached this event yet (cudaErrorNotReady): synchronize() first"
            )
        return end.at_ms - start.at_ms

    def synchronize(self) -> None:
        """Let the host wait until the GPU has done all that was launched."""
        self._host_ms = max(self._host_ms, self._free_ms) + CALL_MS
        self._queued.clear()

    def write_256_mb(self) -> None:
        """Write more than L2 holds: nothing else is left in it, and its lines are dirty."""
        self._enqueue(FLUSH_MS)
        self._cache = DIRTY

    def read_256_mb(self) -> None:
        """Read more than L2 holds: it is left with clean lines that no kernel uses."""
        self._enqueue(FLUSH_MS)
        self._cache = CLEAN

    def _call(self, is_event: bool) -> None:
        self._host_ms += CALL_MS
        compiled = len(self._compiled)
        self.readings.append(ClockReading(is_event, self._host_ms, self._free_ms, compiled))

    def _enqueue(self, usual_ms: float, at_limit: float = 1.0) -> tuple[float, float]:
        """Put work into the queue. Returns when the GPU begins and ends it."""
        self._host_ms += LAUNCH_MS
        while self._queued and self._queued[0] <= self._host_ms:
            self._queued.popleft()
        if len(self._queued) >= QUEUE:
            self._host_ms = self._queued.popleft()
        start = max(self._host_ms, self._free_ms)
        self._settled *= math.exp(-(start - self._free_ms) / SETTLING_MS)  # while it had a rest
        swing = math.sin(2 * math.pi * start / WANDERING_MS + self._phase)
        noise = self._rng.normal(1, NOISE)
        if self._rng.random() < self._spikes:
            noise += self._rng.uniform(0, SPIKE)
        limit = 1 + (at_limit - 1) * self._settled
        taken = usual_ms * limit * (1 + self._wander * swing) * noise
        self._free_ms = start + taken
        self._settled = 1 - (1 - self._settled) * math.exp(-taken / SETTLING_MS)
        self._queued.append(self._free_ms)
        return start, self._free_ms
