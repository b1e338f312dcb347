"""Runs Python jobs, each in its own process, which need not import anything first.

A server imports the module with the work once and forks for each job. As in :mod:`.isolated`, every
job leads its own process group, has its limits, and is ended with all that it started. No job runs
in the server itself, so the next one finds nothing of it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...paths import ROOT
from ...process_groups import MARK, end_marked
from .isolated import Answer, do_job, read_answer, read_output

LONGEST_NAP = 0.02  # seconds between two looks at a job that runs
SERVER_DIED = -signal.SIGKILL


class ForkServer:
    """``python -m module``, which calls :func:`serve_forks`. It starts with the first job and ends
    with this process. ``environment`` adds variables."""

    def __init__(self, module: str, environment: dict[str, str]):
        self._command = [sys.executable, "-m", module]
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def call(self, job: dict[str, Any], seconds: float, *, memory: int = 0) -> Answer:
        """As :func:`~.isolated.call`, with the time from the fork on."""
        with tempfile.TemporaryDirectory() as place, self._lock:
            folder = Path(place)
            (folder / "job.json").write_text(json.dumps({**job, "memory": memory}), "utf-8")
            ended = self._ask({"folder": place, "seconds": seconds})
            output = read_output(folder / "output")
            if ended is None:
                return Answer(None, False, SERVER_DIED, output)
            result = None if ended["timed_out"] else read_answer(folder / "answer.json")
            return Answer(result, ended["timed_out"], ended["status"], output)

    def stop(self) -> None:
        """End the server, and with it the job that it waits for."""
        process, self._process = self._process, None
        if process:
            assert process.stdin and process.stdout, "it has pipes"
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
            process.stdout.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """How the job ended, None where the server ended before."""
        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = self._started()
        assert process.stdin and process.stdout, "it has pipes"
        try:
            process.stdin.write(f"{json.dumps(request)}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        except BaseException:  # the notebook was interrupted
            self.stop()
            raise
        if line:
            ended: dict[str, Any] = json.loads(line)
            return ended
        self.stop()
        return None

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            cwd=ROOT,
            env={**os.environ, **self._environment, MARK: uuid.uuid4().hex},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # an interrupt of the notebook is not meant for the server
        )


def serve_forks(work: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """The other side: ``work`` is done on each job, for use under ``__main__``."""
    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(work, Path(request["folder"]))
        timed_out = _wait(child, request["seconds"])
        # Its number is its own until the last line: no other group can be meant.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        end_marked(
            os.environ[MARK]
        )  # processes outside the group: the server has no other children
        print(json.dumps({"status": status, "timed_out": timed_out}), flush=True)


def _wait(child: int, seconds: float) -> bool:
    """Wait until the child has ended, its time is up or its answer is no longer wanted. Returns
    whether its time was up."""
    asker = select.poll()
    asker.register(sys.stdin, 0)  # reports a hang-up, and no new lines: there are none
    end, nap = time.monotonic() + seconds, 0.001
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() > end:
            return True
        if asker.poll(1000 * nap):
            return False
        nap = min(2 * nap, LONGEST_NAP)
    return False


def _run(work: Callable[[dict[str, Any]], dict[str, Any]], folder: Path) -> None:
    """The child: one job, and the end of the process."""
    status = 1
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.closerange(3, max(nothing, output) + 1)
        do_job(work, folder / "job.json", folder / "answer.json")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        os._exit(status)
