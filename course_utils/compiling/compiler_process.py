"""Compiles in its own process, which is kept for the next source.

NVRTC cannot be interrupted, and a source can make it run forever, take all memory or crash. Here
that ends a process that holds nothing. The notebook goes on, and the next source gets a new one.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from . import bindings
from .diagnostics import CompileError
from .missing_compiler import CompilerMissing

PATIENCE = 6  # times the seconds that a compiler gets on a machine which others keep busy
LEAST_WAIT = 0.05
# Its heap in pages of 2 MB, where Linux and glibc 2.35 give them: CuTe's templates fill half a
# gigabyte, and a tenth of the time went to pages of 4 KB.
LARGE_PAGES = "glibc.malloc.hugetlb=1"
SECONDS = 300.0  # a kernel made of CuTe's templates takes tens of them on a slow machine
_seconds: ContextVar[float] = ContextVar("seconds", default=SECONDS)


class CompilerStopped(CompileError):
    """The compiler did not finish, or finished without an answer."""


@contextmanager
def compile_limit(seconds: float) -> Iterator[None]:
    """Inside the ``with``, a compiler that takes longer is stopped. The seconds are those that it
    runs, as far as the system counts them."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


class CompilerProcess:
    """``bindings.py`` as a process, started with the first request and after each that ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def compile(self, **request: Any) -> dict[str, Any]:
        """The answer of :func:`~.bindings.compile_program` to ``request``.

        Raises CompilerStopped, or CompilerMissing where there is no compiler.
        """
        seconds = _seconds.get()
        with self._lock:
            try:
                answer = self._ask(request, seconds)
            except BaseException:  # too late, or the notebook was interrupted
                self.stop()
                raise
        if bindings.UNAVAILABLE in answer:
            raise CompilerMissing(answer[bindings.UNAVAILABLE])
        return answer

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = self._running()
        requests, answers = _pipes(process)
        try:
            pickle.dump((os.getcwd(), request), requests)
            requests.flush()
            if why := _too_late(process.pid, answers, seconds):
                raise CompilerStopped(why)
            answer: dict[str, Any] = pickle.load(answers)
            return answer
        except (EOFError, OSError, pickle.UnpicklingError):
            raise CompilerStopped(_how_it_ended(process)) from None

    def _running(self) -> subprocess.Popen[bytes]:
        mine = self._owner == os.getpid()
        if self._process is not None and mine and self._process.poll() is None:
            return self._process
        if self._process is not None and not mine:
            # It belongs to the process that this one was forked from, and may be busy there.
            self._process.returncode = 0
        self.stop()
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-P", bindings.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GLIBC_TUNABLES": _tunables()},
        )
        return self._process

    def stop(self) -> None:
        """End the process. The next request starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.kill()
            process.wait()
        for pipe in _pipes(process):
            with suppress(OSError):  # half a request is left in it
                pipe.close()


def _tunables() -> str:
    """glibc's settings for the process, with the environment's last, so that they count."""
    return ":".join(filter(None, (LARGE_PAGES, os.environ.get("GLIBC_TUNABLES"))))


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Where requests go and answers come from."""
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def _too_late(process: int, pipe: IO[bytes], seconds: float) -> str:
    """Wait for an answer, or an end: "" where it comes in time, else why it doesn't. The seconds
    are the compiler's own: where other programs keep the processor busy, it gets longer."""
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    begun, before = time.monotonic(), _processor_seconds(process)
    while True:
        waited = time.monotonic() - begun
        now = _processor_seconds(process)
        used = waited if before is None or now is None else now - before
        left = min(seconds - used, PATIENCE * seconds - waited)
        if left <= 0 and not waiting.poll(0):
            break
        if waiting.poll(1000 * max(left, LEAST_WAIT)):
            return ""
    if used < seconds:
        return (
            f"the compiler got {used:.0f} seconds of processor time in {waited:.0f}, and was "
            "stopped: other programs keep this machine busy.\n"
            "Run the cell once more when they have finished."
        )
    return (
        f"the compiler was still busy after {seconds:g} seconds, and was stopped.\n"
        "Look for a macro or a template that doubles what it makes."
    )


def _processor_seconds(process: int) -> float | None:
    """The processor time that a process has used, None where the system doesn't show it."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        fields = status.rpartition(")")[2].split()  # the name before it may hold anything
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
    status = process.returncode
    how = "without an answer"
    if status is not None and status < 0:
        how = f"by the signal {signal.Signals(-status).name}"
    return (
        f"the compiler itself was ended {how}: this source is too much for it.\n"
        "Look for something that is nested thousands of times, or that needs gigabytes."
    )


COMPILER = CompilerProcess()
