"""Runs a Python module in a process of its own, with a time limit, and brings back its answer.

An illegal access, an endless kernel or a crash ends that process; the notebook and its CUDA context
live on. The process leads its own group, so that whatever it started ends with it; what has left
the group is known by a mark in its environment, and ends too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..paths import ROOT

MOST_OUTPUT = 2**26  # bytes the process may write into any one file
MARK = "COURSE_JOB"  # a variable of the environment that all processes of a job have
MOST_ROUNDS = 1000  # of looking for processes that are to end
MOST_READ = 100_000  # bytes of its output that are kept


@dataclass(frozen=True)
class Answer:
    """``result`` is None when there was none: the time was up, or the process died."""

    result: dict[str, Any] | None
    timed_out: bool
    status: int
    output: str


@dataclass(frozen=True)
class Ended:
    """How a process ended; a negative status is the signal that ended it."""

    status: int
    timed_out: bool
    output: str
    errors: str


def call(
    module: str,
    job: dict[str, Any],
    seconds: float,
    *,
    environment: dict[str, str] | None = None,
    memory: int = 0,
) -> Answer:
    """Run ``python -m module`` on ``job``; the module answers through :func:`serve`.

    ``environment`` adds variables, ``memory`` limits the address space in bytes.
    """
    with tempfile.TemporaryDirectory() as place:
        job_file, answer_file = Path(place) / "job.json", Path(place) / "answer.json"
        job_file.write_text(json.dumps({**job, "memory": memory}), encoding="utf-8")
        command = [sys.executable, "-m", module, str(job_file), str(answer_file)]
        ended = run_group(command, seconds, folder=ROOT, environment=environment)
        result = None if ended.timed_out else read_answer(answer_file)
        return Answer(result, ended.timed_out, ended.status, ended.output)


def read_answer(file: Path) -> dict[str, Any] | None:
    """What :func:`do_job` wrote; None where it did not come that far."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def read_output(file: Path) -> str:
    """The first part of what a process wrote into ``file``, if it came that far."""
    if not file.exists():
        return ""
    with file.open("rb") as opened:
        return opened.read(MOST_READ).decode("utf-8", "replace")


def run_group(
    command: list[str],
    seconds: float,
    *,
    folder: Path,
    environment: dict[str, str] | None = None,
    given: str = "",
    apart: bool = False,
) -> Ended:
    """Run ``command`` in a process group of its own, and end the group after ``seconds``.

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
        timed_out = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _end_group(process)
            end_marked(mark)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read(MOST_READ).decode("utf-8", "replace"))
        return Ended(process.returncode, timed_out, *texts)


def serve(work) -> None:
    """The other side: read the job, write ``work(job)``; for use under ``__main__``."""
    do_job(work, *map(Path, sys.argv[1:3]))


def do_job(work: Callable, job_file: Path, answer_file: Path) -> None:
    """Take the job's limits on, then write ``work(job)``, whole or not at all."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    job = json.loads(job_file.read_text(encoding="utf-8"))
    if job["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    answer = json.dumps(work(job))
    fresh = answer_file.with_suffix(".new")
    fresh.write_text(answer, encoding="utf-8")
    fresh.replace(answer_file)


def _end_group(process: subprocess.Popen) -> None:
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
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or not ours; one that has ended reads as empty
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
