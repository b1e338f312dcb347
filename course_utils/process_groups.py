"""Runs a program in its own process group, within limits, and ends all that it started.

The process leads its own session, so that whatever it started ends with it. A process that has left
the session is known by a mark in its environment, and ends too.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

MOST_OUTPUT = 2**26  # bytes the process may write into any one file
MARK = "COURSE_JOB"  # a variable of the environment that all processes of a job have
MOST_ROUNDS = 1000  # of looking for processes that are to end
MOST_READ = 100_000  # bytes of its output that are kept
MOST_FILES = 10_000  # that its folder may have, where its disk space is limited
CORES = 2  # that a limited group may use: a fork bomb fills each core's queue in milliseconds
FIRST_NAP, LONGEST_NAP = 0.002, 0.05  # seconds between two looks at its use
TIME, MEMORY, PROCESSES, DISK = "time", "memory", "processes", "disk"


@dataclass(frozen=True)
class GroupLimits:
    """The limits of a group, all its processes together. Memory and disk are in bytes.

    They are looked at every few hundredths of a second, from ``/proc``: where there is none, memory
    and processes are not limited here. The group runs on CORES of the machine's cores, so that it
    can't multiply on all of them between two looks.
    """

    memory: int
    processes: int
    disk: int


@dataclass(frozen=True)
class Ended:
    """How a process ended. A negative status is the signal that ended it.

    ``exceeded`` is the limit that it was ended for: TIME, MEMORY, PROCESSES, DISK, or nothing.
    """

    status: int
    exceeded: str
    output: str
    errors: str

    @property
    def timed_out(self) -> bool:
        """Whether it was ended because its time was up."""
        return self.exceeded == TIME


def run_group(
    command: list[str],
    seconds: float,
    *,
    folder: Path,
    environment: dict[str, str] | None = None,
    given: str = "",
    apart: bool = False,
    limits: GroupLimits | None = None,
) -> Ended:
    """Run ``command`` in its own process group, and end the group after ``seconds``.

    ``given`` is its standard input. Its errors are part of the output unless ``apart``.
    """
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        stdin.write(given.encode())
        stdin.seek(0)
        mark = uuid.uuid4().hex
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {}), MARK: mark},
            stdin=stdin,
            stdout=output,
            stderr=errors if apart else subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if limits:
                _keep_to_few_cores(process.pid)
            exceeded = _wait(process, seconds, folder, limits)
        finally:
            _end_group(process)
            end_marked(mark)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read(MOST_READ).decode("utf-8", "replace"))
        return Ended(process.returncode, exceeded, *texts)


def _keep_to_few_cores(process: int) -> None:
    """Let ``process`` and its children run on CORES of the cores, where the system can."""
    if sys.platform == "linux":
        with suppress(OSError):  # it has ended, or its system refuses
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(process, random.sample(cores, min(CORES, len(cores))))


def _wait(
    process: subprocess.Popen[bytes], seconds: float, folder: Path, limits: GroupLimits | None
) -> str:
    """Wait for the end of ``process``, or for a limit that it exceeds, which is returned."""
    end, nap = time.monotonic() + seconds, FIRST_NAP
    while (left := end - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(nap, left) if limits else left)
            return ""
        if limits and (exceeded := _exceeded(process.pid, folder, limits)):
            return exceeded
        nap = min(2 * nap, LONGEST_NAP)
    return TIME


def _exceeded(session: int, folder: Path, limits: GroupLimits) -> str:
    """The limit that the processes of ``session`` exceed now, "" if none."""
    pages = list(islice(_resident_pages(session), limits.processes + 1))
    if len(pages) > limits.processes:
        return PROCESSES
    if sum(pages) * os.sysconf("SC_PAGE_SIZE") > limits.memory:
        return MEMORY
    return DISK if _size_of(folder) > limits.disk else ""


def _resident_pages(session: int) -> Iterator[int]:
    """The pages of memory that each process of ``session`` holds."""
    for _, state in _of_all_processes("stat"):
        fields = state.rpartition(b")")[2].split()  # the name may hold blanks
        if len(fields) > 21 and int(fields[3]) == session:
            yield int(fields[21])


def _of_all_processes(name: str) -> Iterator[tuple[int, bytes]]:
    """The number of each process, and the contents of its file ``name`` in ``/proc``, if readable.
    The newest come first: thousands that one program makes are known by the first of them. No
    pathlib: there are hundreds of them, every few hundredths of a second."""
    numbers = filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ())
    for number in sorted(numbers, key=int, reverse=True):
        with suppress(OSError), open(f"/proc/{number}/{name}", "rb", buffering=0) as file:
            yield int(number), file.read()  # one that has ended reads as empty


def _size_of(folder: Path) -> float:
    """The bytes of all files below ``folder``: above any limit if there are too many files."""
    size, files, waiting = 0, 0, [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                files += 1
                if files > MOST_FILES:
                    return float("inf")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    with suppress(OSError):
                        size += 512 * entry.stat(follow_symlinks=False).st_blocks
    return size


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and everything in its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_marked(mark: str) -> None:
    """End all processes that began with this mark in their environment, but for this one.

    They are looked for again and again: one may start another while it is being ended.
    """
    for _ in range(MOST_ROUNDS):
        found = [process for process in _marked(mark) if process != os.getpid()]
        if not found:
            return
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.001)


def _marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    return [n for n, text in _of_all_processes("environ") if wanted in text.split(b"\0")]
