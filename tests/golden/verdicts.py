"""The text of ``verdicts.txt``: the reports that planted bugs get, and the advice with each."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "emulator"))
from planted_bugs import GROUPS, Bug

from course_utils.exercises.judging.outcome import from_finding

FILE = Path(__file__).parent / "verdicts.txt"
HEAD = """\
The reports of the planted bugs in tests/emulator/planted, and the advice that an exercise adds.
`python -m tests.golden` draws this file anew. Read the difference before you commit it.
"""
ADDRESS = re.compile(r"(multiple of \d+ bytes: )0x[0-9a-f]+")  # another one in each run


def render() -> str:
    """The whole file. It launches each bug on the emulator, which takes some seconds."""
    parts = [HEAD]
    for title, bugs in GROUPS.items():
        parts += [f"=== {title} ===\n", *map(_entry, bugs)]
    return "\n".join(parts)


def _entry(bug: Bug) -> str:
    """The name of a bug, and each of its findings with kind, level, cause, report and advice."""
    lines = [f"--- {bug.name}"]
    for finding in bug.findings():
        advice = from_finding(finding, bug.source(), "kernel.cu").hint
        report = ADDRESS.sub(r"\g<1>0x…", finding.message)
        lines += [f"{finding.kind}, {finding.level}, {finding.cause.name}", report]
        lines.append(f"→ {advice}")
    return "\n".join(lines) + "\n"
