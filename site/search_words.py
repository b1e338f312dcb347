"""Words by which the website's search finds a page first: each word of the glossary leads to the
notebook that explains it, and each message and symptom to its heading in 00/03."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from course_utils.paths import CHAPTERS, ROOT
from course_utils.symptoms import CUDA_ERRORS, PAGE

GLOSSARY = CHAPTERS / "00_start_here" / "02_glossary.ipynb"
_ROW = re.compile(r"^\| \*\*(.+?)\*\* \|.*\| \[\d\d/\d\d\]\(([^)#]+\.ipynb)[^)]*\) \|$", re.M)
_HEADING = re.compile(r"^### (.+)$", re.M)
# What readers call it, where the heading has other words.
ALSO = {
    "hangs": ("my kernel hangs", "hang", "freezes", "never returns", "stuck"),
    "right the first time only": ("wrong the second time",),
    "differs from run to run": ("random results", "different every time", "nondeterministic"),
    "slower than NumPy": ("my kernel is slow", "kernel is slow", "slow"),
    "prints nothing": ("printf prints nothing", "no output"),
    "only wrong for large sizes": ("wrong for large arrays", "overflow"),
    "an illegal memory access was encountered": ("segmentation fault", "segfault"),
    "out of memory": ("cuda out of memory", "oom"),
    "the launch timed out and was terminated": ("timeout", "watchdog"),
    "CompileException": ("nvrtc_error_compilation", "nvrtc error"),
    "Data race": ("race condition", "race"),
    "Not a number": ("nan", "nans"),
    "All zeros": ("zeros", "only zeros"),
}


def search_words(root: Path = ROOT) -> dict[str, list[tuple[str, str]]]:
    """For each page, by its path without a suffix, its words, and the heading of each or ""."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for words, target in _ROW.findall(_markdown(GLOSSARY)):
        page = (GLOSSARY.parent / target).resolve().relative_to(root).with_suffix("").as_posix()
        found[page] += [(word.lower().strip("`"), "") for word in re.split(r", ", words)]
    names: dict[str, list[str]] = defaultdict(list)
    for error in CUDA_ERRORS.values():
        names[error.heading].append(error.name)
    page = PAGE.relative_to(root).with_suffix("").as_posix()
    for heading in _HEADING.findall(_markdown(PAGE)):
        for word in (heading, *names[heading], *ALSO.get(heading, ())):
            found[page].append((word.lower(), heading))
    return dict(found)


def _markdown(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
