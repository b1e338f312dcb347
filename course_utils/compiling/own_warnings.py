"""The compiler's warnings that concern a reader's own code."""

from __future__ import annotations

from pathlib import Path

MOST_WARNINGS = 3
UNUSED = ("was declared but never referenced", "was set but never used")  # unfinished code has many
HEADING = "the compiler warns:"


def own_warnings(log: str) -> list[str]:
    """The first lines of the warnings in NVRTC's ``log``: neither those in headers, such as CUB's,
    nor those about unused variables. At most :data:`MOST_WARNINGS`."""
    lines = [line for line in log.splitlines() if ": warning #" in line]
    own = [line for line in lines if not _in_header(line) and not line.endswith(UNUSED)]
    return list(dict.fromkeys(own))[:MOST_WARNINGS]


def _in_header(warning: str) -> bool:
    return Path(warning.partition("(")[0]).is_absolute()
