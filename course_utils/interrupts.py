"""Ctrl-C while the course is at work: one line, nothing half done, and never lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

FINALIZER = 0.01  # seconds, in which a finalizer ends
CALLERS_OF_FINALIZERS = ("weakref", "_weakrefset")


class Interrupted(KeyboardInterrupt):
    """An interrupt that came while the course was at work: shown as one line, with no traceback
    through the course's own code."""

    def _render_traceback_(self) -> list[str]:
        return [f"Interrupted: {self}"]


@contextmanager
def interruptible(what: str) -> Iterator[None]:
    """A KeyboardInterrupt inside the ``with`` becomes :class:`Interrupted`, which says
    ``what``. If it comes while a finalizer runs, where Python would drop it, it waits for the
    finalizer's end."""
    try:
        with _handled_by(_interrupt):
            yield
    except KeyboardInterrupt:
        raise Interrupted(what) from None


@contextmanager
def finished_first(what: str) -> Iterator[None]:
    """A KeyboardInterrupt waits for the end of the ``with``, and is raised there as
    :class:`Interrupted`, which says ``what``, even if the ``with`` ends with another error. A
    second one is raised at once.

    It is for imports: NumPy, for one, cannot be loaded again after half of it was.
    """
    waiting: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        if waiting:
            _interrupt(number, frame)
        waiting.append(number)

    with interruptible(what):
        try:
            with _handled_by(wait):
                yield
        finally:
            if waiting:
                raise KeyboardInterrupt


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Inside the ``with`` an interrupt goes to ``handler``, unless it goes to another program's."""
    before = signal.getsignal(signal.SIGINT)
    usual = before in (signal.default_int_handler, _interrupt) and before is not handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _in_finalizer(frame):
        raise KeyboardInterrupt
    main = threading.main_thread().ident
    again = threading.Timer(FINALIZER, signal.pthread_kill, (main, number))
    again.daemon = True
    again.start()


def _in_finalizer(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        if frame.f_globals.get("__name__") in CALLERS_OF_FINALIZERS:
            return True
        frame = frame.f_back
    return False
