"""Runs a Python module in its own process, with a time limit, and brings back its answer.

An illegal access, an endless kernel or a crash ends that process. The notebook and its CUDA context
live on. Whatever the process started ends with it (:mod:`course_utils.process_groups`).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...paths import ROOT
from ...process_groups import MOST_OUTPUT, MOST_READ, run_group


@dataclass(frozen=True)
class Answer:
    """``result`` is None when there was none: the time was up, or the process died."""

    result: dict[str, Any] | None
    timed_out: bool
    status: int
    output: str


def call(
    module: str,
    job: dict[str, Any],
    seconds: float,
    *,
    environment: dict[str, str] | None = None,
    memory: int = 0,
) -> Answer:
    """Run ``python -m module`` on ``job``. The module answers through :func:`serve`.

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
    """The answer that :func:`do_job` wrote, None where it did not come that far."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def read_output(file: Path) -> str:
    """The first part of a process's output in ``file``, if it came that far."""
    if not file.exists():
        return ""
    with file.open("rb") as opened:
        return opened.read(MOST_READ).decode("utf-8", "replace")


def serve(work: Callable[[dict[str, Any]], Any]) -> None:
    """The other side, for use under ``__main__``: read the job, write ``work(job)``."""
    do_job(work, *map(Path, sys.argv[1:3]))


def do_job(work: Callable[[dict[str, Any]], Any], job_file: Path, answer_file: Path) -> None:
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
