"""The course's own headers that a source includes: its hash and its compiler's cache need them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from ..paths import KERNELS

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def included_files(source: str, folder: Path, kernels: Path | None = None) -> dict[Path, str]:
    """The course's own files that ``source`` includes, directly or not, with their text.

    They are looked for in ``folder``, where the source lies, and in ``kernels`` (the course's).
    """
    kernels = kernels or KERNELS
    found: dict[Path, str] = {}
    waiting = [(source, folder)]
    while waiting:
        text, here = waiting.pop()
        for name in INCLUDE.findall(text):
            places = (here / name, kernels / name, kernels / "common" / name)
            path = next((p.resolve() for p in places if p.is_file()), None)
            if path and path not in found:
                found[path] = path.read_text(encoding="utf-8")
                waiting.append((found[path], path.parent))
    return dict(sorted(found.items()))


def digest(headers: Mapping[Path, str]) -> str:
    """Fifteen hexadecimal digits that change with any of the headers' texts."""
    return hashlib.sha256("\0".join(headers.values()).encode()).hexdigest()[:15]
