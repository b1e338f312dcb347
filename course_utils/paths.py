"""Where the course's files are."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import LessonError

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
KERNELS = ROOT / "kernels"
ASSETS = ROOT / "assets"
BENCHMARKS = ASSETS / "benchmarks"
README = ROOT / "README.md"


# Folders below kernels/ whose files no notebook launches: solutions, and programs that nvcc builds.
SOLUTIONS = "exercises"
NO_KERNELS = (SOLUTIONS, "host", "csrc")


def is_solution(path: Path) -> bool:
    """Whether a file, by its resolved path, is the solution of an exercise."""
    return path.is_relative_to(KERNELS) and path.parent.name == SOLUTIONS


def shown(path: Path, root: Path = ROOT) -> str:
    """``path`` as a reader wants it: from the repository's root where it lies inside."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


NUMBERED = re.compile(r"\d\d_\w+")


def is_numbered(path: Path) -> bool:
    """Whether a file or folder has a name that the course gives: ``01_topic``, with any suffix. A
    copy of it that a file browser makes hasn't: ``01_topic-Copy1.ipynb``, ``01_topic copy.py``."""
    return bool(NUMBERED.fullmatch(path.stem))


def notebook_files(root: Path = ROOT) -> list[Path]:
    """Every notebook of the course, in reading order."""
    return [
        path
        for path in sorted(root.glob("chapters/*/*.ipynb"))
        if is_numbered(path) and is_numbered(path.parent) and path.is_file()
    ]


def notebook_name(path: Path) -> str:
    """``04_first_kernels/01_hello_threads``: the name by which the course calls a notebook."""
    return f"{path.parent.name}/{path.stem}"


def chapter_title(folder: Path) -> str:
    """``04 First kernels``: the first line of a chapter's page, or the name of its ``folder``."""
    with suppress(OSError, UnicodeDecodeError, IndexError):
        return (folder / "README.md").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    return folder.name


def notebook_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook, as its file has them. Raises LessonError where it can't be read."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [{**cell, "source": "".join(cell["source"])} for cell in cells]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LessonError(unreadable(path, error)) from None


def unreadable(path: Path, error: Exception) -> str:
    """What to say of the notebook at ``path`` where reading it ended in ``error``."""
    first, _, _ = str(error).partition("\n")
    why = f"{type(error).__name__}: {first[:100]}"
    name = shown(path)
    advice = f" `git restore {name}` brings back one of the course's." if name != str(path) else ""
    return f"{name} can't be read as a notebook ({why}). Correct it or move it away.{advice}"


def unnumbered(name: str) -> str:
    """A file's name without its place in a ladder: ``01_sgemm_naive.cu`` is sgemm_naive.cu."""
    return re.sub(r"^\d+_", "", name)


def kernel_file(name: str, chapter: str) -> str:
    """Where the kernel ``name`` of a ``chapter`` is below ``kernels/``, in whichever topic folder
    and at whichever place of its ladder: ``("sgemm_naive", "06_matmul_and_fft")`` gives
    ``06_matmul_and_fft/sgemm/01_sgemm_naive.cu``.

    Raises LessonError unless there is exactly one such file.
    """
    files = sorted(
        path
        for path in KERNELS.joinpath(chapter).rglob(f"*{name}.cu")
        if unnumbered(path.stem) == name and path.parent.name not in NO_KERNELS and path.is_file()
    )
    if not files:
        raise LessonError(
            f"kernels/{chapter} has no file {name}.cu. If you moved it or gave it another name, "
            "undo that: `git status kernels` lists what has changed."
        )
    if len(files) > 1:
        raise LessonError(
            f"The kernel {name} has {len(files)} files: {' and '.join(map(shown, files))}. "
            f"Give your copy another name, or move it out of kernels/{chapter}."
        )
    return files[0].relative_to(KERNELS).as_posix()
