"""The course's own headers that a source includes: its hash and its compiler's cache need them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import LessonError
from ..paths import KERNELS
from .source_text import BYTE_ORDER_MARK, read_source, source_name

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def included_files(source: str, folder: Path, kernels: Path | None = None) -> dict[Path, str]:
    """The course's own files that ``source`` includes, directly or not, with their text.

    They are looked for in ``folder``, the source's, and in ``kernels`` (the course's).
    Raises LessonError for a header that the compiler could not read.
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
                found[path] = _text_of(path)
                waiting.append((found[path], path.parent))
    return dict(sorted(found.items()))


def _text_of(header: Path) -> str:
    if header.read_bytes().startswith(BYTE_ORDER_MARK.encode()):
        raise LessonError(
            f"{source_name(header)} begins with a byte order mark, which the compiler refuses in a "
            'header. Save it as "UTF-8", not as "UTF-8 with BOM".'
        )
    return read_source(header)


def digest(headers: Mapping[Path, str]) -> str:
    """Fifteen hexadecimal digits that change with any of the headers' texts."""
    return hashlib.sha256("\0".join(headers.values()).encode()).hexdigest()[:15]
