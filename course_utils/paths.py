"""Where the course's files lie."""

from __future__ import annotations

import re
from pathlib import Path

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


def notebook_files(root: Path = ROOT) -> list[Path]:
    """Every notebook of the course, in reading order."""
    return sorted(root.glob("chapters/[0-9][0-9]_*/[0-9][0-9]_*.ipynb"))


def unnumbered(name: str) -> str:
    """A file's name without its place in a ladder: ``01_sgemm_naive.cu`` is sgemm_naive.cu."""
    return re.sub(r"^\d+_", "", name)


def kernel_file(name: str, chapter: str) -> str:
    """Where the kernel ``name`` of a ``chapter`` lies below ``kernels/``, in whichever topic folder
    and at whichever place of its ladder: ``("sgemm_naive", "06_matmul_and_fft")`` gives
    ``06_matmul_and_fft/sgemm/01_sgemm_naive.cu``.

    Raises ValueError unless there is exactly one such file.
    """
    files = [
        path.relative_to(KERNELS).as_posix()
        for path in KERNELS.joinpath(chapter).rglob(f"*{name}.cu")
        if unnumbered(path.stem) == name and path.parent.name not in NO_KERNELS
    ]
    if len(files) != 1:
        raise ValueError(f"kernels/{chapter} has {len(files)} kernels named {name}, wanted one.")
    return files[0]
