"""The hash that ties a record to the sources that were measured."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..compiling.includes import included_files
from ..fingerprints import code_of
from ..paths import KERNELS, unnumbered


def source_hash(*files: str) -> str:
    """Twelve digits that change with the code of ``files`` and of the course's headers in them.

    ``files`` lie below ``kernels/``: CUDA C++, or Python (``.py``). Comments, blank lines and
    indentation do not count, and neither do the files' names and places.
    """
    return text_hash(*((path.read_text("utf-8"), path) for path in map(KERNELS.joinpath, files)))


def text_hash(*sources: tuple[str, Path]) -> str:
    """As :func:`source_hash`, for texts; each with the path that its ``#include`` starts from."""
    digest = hashlib.sha256()
    for text, path in sources:
        if path.suffix == ".py":
            digest.update(code_of(text, ".py").encode())
            continue
        headers = included_files(text, path.parent).values()
        for part in (code_of(text, ".cu"), *sorted(code_of(header, ".cuh") for header in headers)):
            digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:12]


def hashes(files: Iterable[str]) -> dict[str, str]:
    """The hash of each file below ``kernels/`` by its name without folder and number."""
    return dict(sorted((unnumbered(Path(file).name), source_hash(file)) for file in files))


def changed(content: dict[str, Any], sources: dict[str, str]) -> list[str]:
    """What was measured with another hash than it has in ``sources``, sorted by name.

    ``content`` is a file of measurements. It holds the hash of each of its sources, which are to be
    those of ``sources``, or it holds records, each with the name of a kernel and its hash.
    """
    if "sources" in content:
        recorded = content["sources"]
        names = recorded.keys() | sources.keys()
        return sorted(name for name in names if recorded.get(name) != sources.get(name))
    records = content["records"]
    return sorted({r["kernel"] for r in records if r["source"] != sources.get(r["kernel"])})
