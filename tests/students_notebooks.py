"""Which notebooks of this checkout a student works in; tests of what is committed skip them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from course_utils.paths import ROOT

# JupyterLab writes this name into each notebook that it saves; the course's form leaves it out.
SAVED_IN_LAB = '"codemirror_mode"'
IN_USE = (
    "saved in JupyterLab and not committed, so it is taken for a student's own work; "
    "`python -m course_utils run --format` makes it the course's again, `git stash` puts it away"
)


def in_use(root: Path = ROOT) -> set[Path]:
    """The notebooks that were saved in JupyterLab and are not what git has of them."""
    said = _git(root, "diff", "--name-only", "-z", "--relative", "HEAD", "--", "chapters")
    paths = [root / name for name in said.decode().split("\0") if name.endswith(".ipynb")]
    return {p for p in paths if p.is_file() and SAVED_IN_LAB in p.read_text(encoding="utf-8")}


def committed(path: Path, root: Path = ROOT) -> bytes:
    """What git has of a file."""
    return _git(root, "show", f"HEAD:./{path.relative_to(root).as_posix()}")


def _git(root: Path, *arguments: str) -> bytes:
    """What git says; nothing where there is no git or no repository."""
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True).stdout
    except OSError:
        return b""
