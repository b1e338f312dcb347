"""A stand-in for a GPU's streams that does everything as late as CUDA's rules allow.

A mistake in the order of a host program often goes unseen, because the device was quick enough.
Here no copy and no kernel happens before a ``synchronize`` forces it, so a missing wait shows every
time. Two other orders, as much within the rules, catch what that one hides: everything at once, and
the other streams first. Names and arguments are CuPy's where CuPy has the call. The rules: CUDA
Runtime API, "Stream synchronization behavior" and "API synchronization behavior"; CUDA C++
Programming Guide 12.9, "Asynchronous Concurrent Execution".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

# What uninitialised memory holds: a result shows whose it was.
ON_HOST = float("nan")
ON_DEVICE = float("inf")

LATE, EARLY, OTHERS_FIRST = ORDERS = ("late", "early", "other streams first")


class LazyEvent:
    """A mark in a stream. Waiting for an event that was never recorded does not wait."""

    def __init__(self) -> None:
        self.recorded: tuple[LazyStream, int] | None = None

    def record(self, stream: LazyStream) -> None:
        """Mark the place behind everything that was put into ``stream`` so far."""
        self.recorded = stream, stream.added

    def synchronize(self) -> None:
        """The host waits until the stream has got as far as the mark."""
        if self.recorded is not None:
            self.recorded[0].others_first()
        _reach(self.recorded)


class LazyStream:
    """A queue of work that is done in order, when something waits for it, unless its GPU has
    another order."""

    def __init__(self, gpu: LazyGPU):
        self._gpu = gpu
        self._queue: deque[Callable[[], None]] = deque()
        self.added = self.done = 0

    def add(self, work: Callable[[], None]) -> None:
        """Put ``work`` at the end of the queue. An EARLY GPU does it at once."""
        self._queue.append(work)
        self.added += 1
        if self._gpu.order == EARLY:
            self.run_to(self.added)

    def wait_event(self, event: LazyEvent) -> None:
        """What is put into this stream from now on waits for the mark; the host does not."""
        place = event.recorded
        self.add(lambda: _reach(place))

    def synchronize(self) -> None:
        """The host waits until this stream has nothing left to do."""
        self.others_first()
        self.run_to(self.added)

    def others_first(self) -> None:
        """All the work of the other streams, if the GPU does that first while the host waits."""
        if self._gpu.order == OTHERS_FIRST:
            for other in self._gpu.streams:
                if other is not self:
                    other.run_to(other.added)

    def run_to(self, place: int) -> None:
        """Do the first ``place`` pieces of work that were ever added, as far as not done."""
        while self.done < place:
            self.done += 1
            self._queue.popleft()()


def _reach(place: tuple[LazyStream, int] | None) -> None:
    if place is not None:
        stream, number = place
        stream.run_to(number)


class LazyArray:
    """Numbers in the device's memory; all its copies are asynchronous."""

    def __init__(self, gpu: LazyGPU, n: int):
        self._gpu = gpu
        self.values = [ON_DEVICE] * n

    def set(self, source: list[float], *, stream: LazyStream) -> None:
        """Copy ``source`` to the device when ``stream`` comes to it."""

        def copy() -> None:
            self.values[:] = source

        stream.add(copy)

    def get(self, *, out: list[float], stream: LazyStream) -> None:
        """Copy to the host's ``out`` when ``stream`` comes to it."""

        def copy() -> None:
            out[:] = self.values
            self._gpu.delivered.append(list(self.values))
            self._gpu.delivered_to.append(out)

        stream.add(copy)


class LazyGPU:
    """The device: makes streams, events and arrays, and has one kernel. ``order`` is one of
    :data:`ORDERS`."""

    def __init__(self, order: str = LATE):
        self.order = order
        self.streams: list[LazyStream] = []
        self.delivered: list[list[float]] = []  # what copies to the host brought, in their order
        self.delivered_to: list[list[float]] = []  # and where each of them brought it

    def Stream(self) -> LazyStream:  # noqa: N802 (CuPy's own name)
        """A new stream."""
        self.streams.append(LazyStream(self))
        return self.streams[-1]

    def Event(self) -> LazyEvent:  # noqa: N802 (CuPy's own name)
        """A new event, not yet recorded."""
        return LazyEvent()

    def empty(self, n: int) -> LazyArray:
        """Memory for n numbers on the device, uninitialised."""
        return LazyArray(self, n)

    def pinned(self, n: int) -> list[float]:
        """Page-locked memory for n numbers on the host, uninitialised."""
        return [ON_HOST] * n

    def square(self, x: LazyArray, *, stream: LazyStream) -> None:
        """Launch a kernel that squares each element of ``x``."""

        def kernel() -> None:
            x.values[:] = [value * value for value in x.values]

        stream.add(kernel)

    def overwritten(self) -> bool:
        """Whether the host's memory no longer holds the very numbers that were delivered last."""
        if not self.delivered:
            return False
        pairs = zip(self.delivered[-1], self.delivered_to[-1], strict=True)
        return any(came is not now for came, now in pairs)

    def __repr__(self) -> str:
        return "gpu" if self.order == LATE else f"gpu ({self.order})"
