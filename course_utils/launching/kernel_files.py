"""The path of a kernel's file."""

from __future__ import annotations

import difflib
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
    names: dict[str, list[str]] = {}
    for file in KERNELS.rglob("*.cu"):
        names.setdefault(unnumbered(file.name), []).append(file.relative_to(KERNELS).as_posix())
    asked = unnumbered(Path(path).with_suffix(".cu").name)
    closest = difflib.get_close_matches(asked[:100], names, n=1, cutoff=0.8)
    elsewhere = names.get(closest[0], []) if closest else []
    hint = " Give its path below kernels/, such as '04_first_kernels/threads/vec_add.cu'."
    if elsewhere:  # in the chapter that was asked for rather than in another
        nearest = max(sorted(elsewhere), key=lambda p: len(os.path.commonprefix([p, str(path)])))
        hint = f" Did you mean {nearest!r}?"
    raise LessonError(f"There is no kernel file {os.fspath(path)!r}.{hint}")
