"""The website's page of planted bugs: the wrong lines of each, and the report that they get."""

from __future__ import annotations

import re
import sys

from course_utils.paths import ROOT

sys.path.insert(0, str(ROOT / "tests" / "emulator"))
from planted_bugs import GROUPS, Bug  # noqa: E402

MOST_LINES = 8  # of a report


def page() -> str:
    """The page as Markdown. It launches each kernel on the emulator, which takes some seconds."""
    lines = [
        "# Planted bugs, and what the sanitizer says",
        "",
        "Every row is a kernel with one mistake, run with no GPU, and the report it gets. The same "
        "kernel without the mistake gets none. They are in `tests/emulator/planted`, where a test "
        "runs both.",
    ]
    for title, bugs in GROUPS.items():
        lines += ["", f"## {title}", "", "| bug | report |", "|---|---|"]
        for bug in bugs:
            report = _cell(bug.findings()[0].message)
            lines.append(f"| {bug.name}<br>{_code(bug)} | {report} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    text = re.sub(r"(multiple of \d+ bytes: )0x[0-9a-f]+", r"\g<1>0x…", text)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return "<br>".join(line.strip() for line in escaped.splitlines()[:MOST_LINES])


def _code(bug: Bug) -> str:
    """The lines that are wrong, and those that the report names."""
    source = bug.source().splitlines()
    shown = [f"{n}: {text}" for n, text in enumerate(source, 1) if text[-4:-1] == "// "]
    return "<br>".join(f"<code>{_cell(re.sub(' *// [!?]$', '', text))}</code>" for text in shown)
