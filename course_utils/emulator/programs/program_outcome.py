"""A program's run in its own process, and the findings that it gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .program_building import Built
from .program_process import ProgramRun


@dataclass(frozen=True)
class ProgramOutcome:
    """The result of a run. ``status`` is the program's own, negative for a signal. ``events`` are
    the lines that its process logged."""

    status: int
    events: list[dict[str, Any]]

    @property
    def end(self) -> dict[str, Any] | None:
        """The last words of a program that ended by itself."""
        return next((e for e in self.events if e["what"] == "end"), None)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The mistakes, in the order in which they were found. Each has ``kind``, ``level``,
        ``message``, ``call`` and ``line``."""
        found = [event for event in self.events if event["what"] == "finding"]
        if self.end is None or self.status != 0:
            return found
        if (unread := self.end["unread"]) is not None:
            found.append(_as_finding("ERROR_NOT_READ", "warning", unread["text"], unread))
        found += [
            _as_finding("NEVER_FREED", "warning", leak["text"], leak) for leak in self.end["leaks"]
        ]
        return found


def _as_finding(kind: str, level: str, text: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "what": "finding", "kind": kind, "level": level, "message": text}


@dataclass(frozen=True)
class ProgramCall:
    """A program that is ready to be started: ``command`` with the variables ``environment``.
    ``log`` is the file that its process writes its events to."""

    command: list[str]
    environment: dict[str, str]
    log: Path

    def outcome(self, status: int) -> ProgramOutcome:
        """The result of a run that ended with ``status``."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return ProgramOutcome(status, [json.loads(line) for line in lines])


def prepare_program(
    built: Built,
    folder: Path,
    arguments: Sequence[str],
    name: str = "program",
    checks: bool = True,
    patience: float | None = None,
) -> ProgramCall:
    """What to call to run a program. ``patience``: the limit of a launch in seconds."""
    facts, log = folder / "run.json", folder / "log.jsonl"
    log.unlink(missing_ok=True)
    ProgramRun(
        library=str(built.library),
        stand_in=str(built.stand_in),
        missing=str(built.missing) if built.missing else None,
        log=str(log),
        name=name,
        foreign=built.foreign,
        checks=checks,
        patience=patience,
    ).write(facts)
    package, _, _ = __package__.rpartition(".")
    above = Path(__file__).parents[1 + len(package.split("."))]
    paths = [str(above), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-P", "-m", f"{__package__}.program_process", str(facts), "--"]
    return ProgramCall([*command, *arguments], {"PYTHONPATH": os.pathsep.join(paths)}, log)


def run_program(
    built: Built,
    folder: Path,
    arguments: Sequence[str],
    name: str = "program",
    checks: bool = True,
    patience: float | None = None,
    **popen: Any,
) -> ProgramOutcome:
    """Run a program in its own process. ``popen``: options of :func:`subprocess.run`."""
    call = prepare_program(built, folder, arguments, name, checks, patience)
    environment = {**os.environ, **call.environment}
    done = subprocess.run(call.command, env=environment, check=False, **popen)
    return call.outcome(done.returncode)
