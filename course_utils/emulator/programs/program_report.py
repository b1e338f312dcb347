"""The findings of a program's run, in words."""

from __future__ import annotations

import signal

from ..findings.report import ERROR
from .program_launches import STOPPED
from .program_outcome import ProgramOutcome

MOST_LEAKS = 5


def describe_outcome(outcome: ProgramOutcome) -> str:
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
    steps = (finding["next"] for finding in outcome.findings if "next" in finding)
    lines += [f"next: {step}" for step in dict.fromkeys(steps)]
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
        if -outcome.status == signal.SIGKILL:
            lines.append("The system ends a program that takes too much memory: cut its sizes.")
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
