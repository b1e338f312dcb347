"""Where a kernel's file lies."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import LessonError
from ..paths import KERNELS, ROOT, unnumbered


def find_kernel_file(path: str | os.PathLike[str]) -> Path:
    """The file at ``path``, which is relative to kernels/, to the course's folder or to where
    Python runs. Raises LessonError where there is none, with the path that was probably meant."""
    for candidate in (KERNELS / path, ROOT / path, Path(path).absolute()):
        if candidate.is_file():
            return candidate.resolve()
    name = unnumbered(Path(path).name)
    elsewhere = [
        file.relative_to(KERNELS).as_posix()
        for file in KERNELS.rglob(f"*{name}")
        if unnumbered(file.name) == name
    ]
    hint = " Its path starts below kernels/."
    if elsewhere:  # in the chapter that was asked for rather than in another
        nearest = max(sorted(elsewhere), key=lambda p: len(os.path.commonprefix([p, str(path)])))
        hint = f" Did you mean {nearest!r}?"
    raise LessonError(f"There is no kernel file {os.fspath(path)!r}.{hint}")
