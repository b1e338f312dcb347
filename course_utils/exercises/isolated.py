"""Runs a Python module in a process of its own, with a time limit, and brings back its answer.

An illegal access, an endless kernel or a crash ends that process; the notebook and its CUDA context
live on. The process leads its own group, so that whatever it started ends with it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .spec import ROOT

MOST_OUTPUT = 2**30  # bytes the process may write into any one file
SHOWN = 4000  # characters of its output that are kept


@dataclass(frozen=True)
class Answer:
    """``result`` is None when there was none: the time was up, or the process died."""

    result: dict[str, Any] | None
    timed_out: bool
    status: int
    output: str


def call(module: str, job: dict[str, Any], seconds: float) -> Answer:
    """Run ``python -m module`` on ``job``; the module answers through :func:`serve`."""
    with tempfile.TemporaryDirectory() as place:
        job_file, answer_file = Path(place) / "job.json", Path(place) / "answer.json"
        job_file.write_text(json.dumps(job), encoding="utf-8")
        with open(Path(place) / "output", "w+b") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(job_file), str(answer_file)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            timed_out = False
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
            finally:
                _end_group(process)
            output.seek(0)
            text = output.read(SHOWN).decode("utf-8", "replace")
        result = None
        if answer_file.exists() and not timed_out:
            result = json.loads(answer_file.read_text(encoding="utf-8"))
        return Answer(result, timed_out, process.returncode, text)


def serve(work) -> None:
    """The other side: read the job, write ``work(job)``; for use under ``__main__``."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    job_file, answer_file = map(Path, sys.argv[1:3])
    answer = json.dumps(work(json.loads(job_file.read_text(encoding="utf-8"))))
    fresh = answer_file.with_suffix(".new")
    fresh.write_text(answer, encoding="utf-8")
    fresh.replace(answer_file)


def _end_group(process: subprocess.Popen) -> None:
    """End the process and everything in its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
