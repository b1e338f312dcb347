"""Draws the reports of two pages: ``python -m tests.emulator.found_in_public_code``.

Each kernel that they show has its options in its first line and its report in the block below.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

from course_utils import emulator
from course_utils.kernel_tool.command import main

PAGES = tuple(
    Path(emulator.__file__).with_name(name) for name in ("FOUND_IN_PUBLIC_CODE.md", "README.md")
)
ENTRY = re.compile(r"```cpp\n(// ([^\n]*)\n.*?)```\n\n```text\n(.*?)```", re.S)


def report(kernel: str, options: str) -> str:
    """The command's report of a kernel (CUDA C++), up to its advice."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(said):
        Path("kernel.cu").write_text(kernel, encoding="utf-8")
        main(["kernel.cu", *shlex.split(options), "--optimised-only"])
    return said.getvalue().partition("next: ")[0]


def entries(page: Path) -> list[tuple[str, str, str]]:
    """(kernel, options, report) of a page."""
    return ENTRY.findall(page.read_text(encoding="utf-8"))


def draw(page: Path) -> str:
    """The page with reports of today."""
    text = page.read_text(encoding="utf-8")
    return ENTRY.sub(lambda m: f"```cpp\n{m[1]}```\n\n```text\n{report(m[1], m[2])}```", text)


if __name__ == "__main__":
    os.environ.setdefault("COURSE_DEVICE", "emulator")
    for each in PAGES:
        each.write_text(draw(each), encoding="utf-8")
