"""Measured files, one a kind of measurement and GPU: ``assets/benchmarks/<name>/<device>.json``.

A reader gets the file of the GPU at hand where there is one, otherwise the reference's, which comes
with the course; both lie side by side.
"""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

from ..devices.properties import description, own_gpu
from ..errors import LessonError
from ..paths import BENCHMARKS
from ..whole_files import read_json, write_whole

REFERENCE = "NVIDIA H200"  # the GPU whose figures come with the course


def file_of(name: str, device: str) -> Path:
    """Where the measurements called ``name`` ("hardware", "kernels"...) of a GPU lie."""
    return BENCHMARKS / name / (re.sub(r"\W+", "_", device.lower()) + ".json")


def names() -> list[str]:
    """Every kind of measurement that has a file, sorted."""
    return sorted({file.parent.name for file in BENCHMARKS.glob("*/*.json")})


def measurements(name: str, device: str | None = None) -> dict[str, Any]:
    """The file called ``name``; its ``["device"]`` says which GPU was measured.

    Without a ``device`` it is that of the GPU at hand or, where that has none, of
    :data:`REFERENCE`. Raises LessonError where nothing was measured.
    """
    for candidate in candidates(device):
        file = file_of(name, candidate)
        if file.is_file():
            content: dict[str, Any] = read_json(file)
            return content
    raise LessonError(
        f"There are no measurements called {name} of an {candidate}. "
        f"`python -m course_utils bench --only {name}` takes them on a GPU; "
        f"those at hand are called {', '.join(names()) or '(none)'}."
    )


def candidates(device: str | None = None) -> list[str]:
    """The GPUs whose files are looked at, in order: ``device``, or one's own and the reference."""
    if device:
        return [device]
    return list(dict.fromkeys(filter(None, (own_gpu(), REFERENCE))))


def write(name: str, content: dict[str, Any]) -> Path:
    """Write ``content`` as the file called ``name`` of ``content["device"]``; returns the file."""
    file = file_of(name, content["device"])
    write_whole(file, as_text(content))
    return file


def with_origin(content: dict[str, Any], sources: dict[str, str]) -> dict[str, Any]:
    """``content`` after what every file begins with: the GPU at hand, its driver and CUDA, the
    date, and the hash of each of the ``sources`` that were measured."""
    return {
        **description(),
        "date": datetime.date.today().isoformat(),
        "sources": sources,
        **content,
    }


def as_text(content: dict[str, Any]) -> str:
    """JSON, indented, with each list of numbers and strings on one line."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    return _FLAT_LIST.sub(lambda found: f"[{_LINE_END.sub(' ', found[1])}]", text) + "\n"


# No string in JSON holds a line end as such: those between elements are the layout's.
_LINE_END = re.compile(r"\n\s*")
_SCALAR = r'(?:"(?:[^"\\]|\\.)*"|[^\s"\[\]{},]+)'
_FLAT_LIST = re.compile(rf"\[\n\s*({_SCALAR}(?:,\n\s*{_SCALAR})*)\n\s*\]")
