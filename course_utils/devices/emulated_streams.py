"""``cp.cuda.Stream`` and ``Event`` on the emulator, and the work that nothing orders.

Everything runs at once here, in the order of the calls. A GPU keeps only the order within a stream,
and the order that events and waits make between streams. The default stream also waits for the
others, and they for it, but not for one made with ``non_blocking=True``. So each stream remembers
the work that it waits for, and a line on stderr names two launches on one array that may run
together on a GPU.
"""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEPT = 64  # pieces of work
Known = dict[int, int]  # by the number of a stream: how much of its work has come before

_numbers = itertools.count()
_host: Known = {}  # the work that the host has waited for
_streams: weakref.WeakSet[Stream] = weakref.WeakSet()


class _PerThread(threading.local):
    """The streams in use, the innermost last: each thread of the host has its own, as in CuPy."""

    def __init__(self) -> None:
        self.streams = [Stream.null]


def _merge(into: Known, other: Known) -> None:
    for number, count in other.items():
        into[number] = max(into.get(number, 0), count)


class Event:
    """A mark in a stream. It holds no time."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self._known: Known = {}

    @property
    def done(self) -> bool:
        """True: everything before it has run. The host knows it from now on."""
        self.synchronize()
        return True

    def record(self, stream: Any = None) -> None:
        """Mark this point in ``stream``, by default the one in use."""
        self._known = _of(stream)._work_so_far()

    def synchronize(self) -> None:
        """The host waits for the work before the mark, which has run already."""
        _merge(_host, self._known)


class Stream:
    """A queue of work. On the emulator everything runs in the order it is called."""

    ptr = 0
    null: Stream

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        self._is_null, self._non_blocking = null, non_blocking
        self._number, self._count = next(_numbers), 0
        self._known: Known = {}
        _streams.add(self)

    @property
    def done(self) -> bool:
        """True: all of its work has run. The host knows it from now on."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """The host waits for all work so far, which has run already."""
        _merge(_host, self._work_so_far())

    def use(self) -> Stream:
        """Make it the stream of the launches that follow."""
        _current.streams[-1:] = [self]
        return self

    def record(self, event: Event | None = None) -> Event:
        """``event``, or a new one, as the mark of this point."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Later work in this stream waits for the work before ``event``."""
        _merge(self._known, event._known)

    def __enter__(self) -> Stream:
        _current.streams.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _current.streams.pop()

    def _work_so_far(self) -> Known:
        """The work that the next piece of work in this stream comes after."""
        _merge(self._known, _host)
        for other in list(_streams):
            tied = other._is_null != self._is_null
            if tied and not (other._non_blocking or self._non_blocking):
                _merge(self._known, other._known)
        return dict(self._known)

    def _enqueue(self) -> tuple[Known, int]:
        """Begin a piece of work. The answer is the work that it comes after, and its number."""
        known = self._work_so_far()
        self._count += 1
        self._known[self._number] = self._count
        return known, self._count

    def __repr__(self) -> str:
        if self._is_null:
            return "the default stream"
        return "a non-blocking stream" if self._non_blocking else "another stream"


Stream.null = Stream(null=True)
_current = _PerThread()


def current_stream() -> Stream:
    """The stream in use: the default stream, or the one of ``with stream:``."""
    return _current.streams[-1]


def synchronize_device() -> None:
    """The host waits for the work of all streams."""
    for stream in list(_streams):
        stream.synchronize()


def _of(stream: Any) -> Stream:
    return stream if isinstance(stream, Stream) else current_stream()


@dataclass(frozen=True)
class Span:
    """An array in memory: a weak reference to it, its first address and the one past its end."""

    reference: Any
    start: int
    end: int

    @classmethod
    def of(cls, array: Any, bounds: tuple[int, int]) -> Span:
        """The span of ``array``, whose ``bounds`` are known."""
        return cls(weakref.ref(array), *bounds)

    def overlaps(self, other: Span) -> bool:
        """Whether the two have a byte in common, while both arrays exist."""
        alive = self.reference() is not None and other.reference() is not None
        return alive and self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class _Work:
    """A launch or a copy: in words, its stream, its number there, and the arrays that it ``wrote``
    or only ``read``, by name."""

    name: str
    stream: Stream
    number: int
    wrote: Mapping[str, Span]
    read: Mapping[str, Span]


_works: deque[_Work] = deque(maxlen=KEPT)
_warned: set[tuple[str, str]] = set()


def enqueue_launch(name: str, wrote: Mapping[str, Span], read: Mapping[str, Span]) -> None:
    """A kernel called ``name`` is launched in the stream in use. ``wrote`` are the arrays that it
    may write, ``read`` the others, by their parameters' names."""
    _begin(name, current_stream(), wrote, read)


def enqueue_copy(span: Span, stream: Any, blocking: bool) -> None:
    """An array is copied to the host in ``stream``. The host waits where it is ``blocking``."""
    chosen = _of(stream)
    _begin("get()", chosen, {}, {"the array": span})
    if blocking:
        chosen.synchronize()


def _begin(name: str, stream: Stream, wrote: Mapping[str, Span], read: Mapping[str, Span]) -> None:
    known, number = stream._enqueue()
    work = _Work(name, stream, number, wrote, read)
    for earlier in _works:
        if earlier.stream is stream or known.get(earlier.stream._number, 0) >= earlier.number:
            continue
        shared = _shared(work, earlier)
        if shared and (earlier.name, name) not in _warned:
            _warned.add((earlier.name, name))
            _warn(earlier, work, shared)
    _works.append(work)


def _shared(work: _Work, earlier: _Work) -> str:
    """The name of an array of ``work`` that ``earlier`` also uses, and one of them writes, or
    ""."""
    theirs = [*earlier.wrote.values(), *earlier.read.values()]
    for name, span in work.wrote.items():
        if any(map(span.overlaps, theirs)):
            return name
    for name, span in work.read.items():
        if any(map(span.overlaps, earlier.wrote.values())):
            return name
    return ""


def _warn(earlier: _Work, work: _Work, shared: str) -> None:
    verb = "writes" if shared in work.wrote else "reads"
    print(
        f"warning: {work.name} in {work.stream!r} {verb} {shared}, which {earlier.name} in "
        f"{earlier.stream!r} uses, and nothing orders the two: on a GPU they may run together. Let "
        "one stream wait for the other, b.wait_event(a.record()), or the host: a.synchronize().",
        file=sys.stderr,
    )
