"""``run PROGRAM.cu … -- ARGUMENTS``: build a whole program and run it without a GPU, checked."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..findings.report import ERROR
from .program_building import ARCH, Built, CannotBuild, build_program
from .program_launches import STOPPED
from .program_process import ProgramRun

EXAMPLE = """\
example:
  run vector_add.cu -O2 -DN=1000 -Iinclude -- 1000 7

Every option that isn't named above goes to nvcc. Arguments after -- go to the program.
The report goes to the standard error output. The exit status is the program's own. It's 1 if the
program returned 0 and there are findings, and 2 if the program can't be built.
"""
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
MOST_LEAKS = 5


def parser() -> argparse.ArgumentParser:
    """The command's own options."""
    made = argparse.ArgumentParser(
        prog="run",
        usage="run FILE.cu [FILE …] [option of nvcc …] [-- argument …]",
        description="Build a whole CUDA program, and run it without a GPU under every check.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--arch", default=ARCH, help=f"the virtual GPU, without sm_ ({ARCH})")
    made.add_argument(
        "--bounds-only", action="store_true", help="no other checks: several times faster"
    )
    made.add_argument(
        "--patience", type=float, metavar="SECONDS", help="end a launch that takes longer"
    )
    return made


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


def main(words: Sequence[str]) -> int:
    """Build and run the program that the command line names. Returns the exit status."""
    words = list(words)
    at = words.index("--") if "--" in words else len(words)
    asked, rest = parser().parse_known_args(words[:at])
    sources = [word for word in rest if word.endswith(SOURCES) and not word.startswith("-")]
    if not sources:
        print("Name the program's .cu files: run FILE.cu -- ARGUMENTS", file=sys.stderr)
        return 2
    options = [word for word in rest if word not in sources]
    with tempfile.TemporaryDirectory(prefix="cuda_program_") as place:
        folder = Path(place)
        try:
            built = build_program(sources, options, folder, asked.arch)
        except CannotBuild as error:
            print(*filter(None, (error.log, error)), sep="\n", file=sys.stderr)
            return 2
        outcome = run_program(
            built,
            folder,
            words[at + 1 :],
            name=Path(sources[0]).stem,
            checks=not asked.bounds_only,
            patience=asked.patience,
        )
    print(report(outcome), file=sys.stderr, flush=True)
    status = outcome.status if outcome.status >= 0 else 128 - outcome.status
    return status or (1 if outcome.findings else 0)


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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-P", "-m", f"{__package__}.program_process", str(facts), "--"]
    done = subprocess.run([*command, *arguments], env=environment, check=False, **popen)
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return ProgramOutcome(done.returncode, [json.loads(line) for line in lines])


def report(outcome: ProgramOutcome) -> str:
    """The findings of a run, in words."""
    lines: list[str] = []
    before = None
    leaks = [f for f in outcome.findings if f["kind"] == "NEVER_FREED"]
    for finding in outcome.findings:
        if finding in leaks[MOST_LEAKS:]:
            continue
        where = finding["line"] if "<<<" in finding["line"] else ""
        if where and where != before:
            lines.append(f"In {where}:")
        before = where or before
        message = finding["message"]
        if not where and finding["line"] and finding["line"] not in message:
            message = f"{finding['line']}: {message}"
        lines.append(message)
    if len(leaks) > MOST_LEAKS:
        size = sum(leak["bytes"] for leak in leaks)
        lines.append(f"{len(leaks):,} allocations, {size:,} bytes together, are never freed.")
    for event in outcome.events:
        if event["what"] == "missing":
            lines.append(
                f"{event['name']} is called at {event['line']}, and is not there on the emulator."
            )
        if event["what"] == "note":
            lines.append(event["text"])
    if any(event["what"] == "timed" for event in outcome.events):
        lines.append("The emulator has no times: cudaEventElapsedTime gave 0.")
    if any(event["what"] == "random" for event in outcome.events):
        lines.append("The random numbers of cuRAND's host functions differ from a GPU's.")
    if outcome.status < 0:
        crash = next((e["line"] for e in outcome.events if e["what"] == "crash"), "")
        at = f" at {crash}" if crash else ""
        lines.append(f"The program was ended by {signal.Signals(-outcome.status).name}{at}.")
    elif outcome.status == STOPPED:
        pass  # a note has said why
    elif outcome.end is None:
        lines.append(f"The program stopped with status {outcome.status}, before its end.")
    elif outcome.status:
        lines.append(f"The program ended with status {outcome.status}.")
    count = len(outcome.findings)
    errors = sum(finding["level"] == ERROR for finding in outcome.findings)
    warned = count - errors
    kinds = ", ".join(
        f"{number} {word}{'' if number == 1 else 's'}"
        for number, word in ((errors, "error"), (warned, "warning"))
        if number
    )
    if kinds or outcome.status >= 0:
        lines.append(f"{kinds}." if kinds else "No findings.")
    return "\n".join(lines)
