"""The parts of README.md that follow from the notebooks: the counts in its first sentence, the
address to clone, the reading paths and the map of the chapters. ``python -m course_utils run
--format`` draws them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from ..errors import LessonError
from ..notebook_requirements import notebook_needs
from ..paths import KERNELS, README, SOLUTIONS, shown
from ..text_tables import between_marks, markdown_table
from ..whole_files import write_changed
from .hosted_cells import BRANCH, repository_address
from .lessons import Chapter, chapters, in_hours, lessons_by_name
from .reading_paths import PATHS, ReadingPath, minutes_of

MARKS = "<!-- chapters -->\n", "<!-- end of chapters -->"
PATH_MARKS = "<!-- paths -->\n", "<!-- end of paths -->"
BADGE_MARKS = "<!-- badges -->\n", "<!-- end of badges -->"
BADGES = """\
[![The course as a website](https://img.shields.io/badge/read-the_website-0072b2)](https://{owner}.github.io/{name}/)
[![Open in Codespaces](https://img.shields.io/badge/open_in-Codespaces-0072b2)](https://codespaces.new/{owner}/{name})
[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder})
[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)](https://colab.research.google.com/github/{owner}/{name}/blob/{branch}/{first})
"""
GITHUB = re.compile(r"https://github\.com/([^/]+)/([^/]+)")
BINDER = "https://mybinder.org/v2/gh"
FIRST_LESSON = "chapters/04_first_kernels/01_hello_threads.ipynb"
COUNTS = re.compile(r"\d+ notebooks and \d+ checked exercises")
CLONE = re.compile(r"git clone \S+ cuda-course.*")
NO_ADDRESS = "git clone ADDRESS cuda-course    # this repository's address"

# The skills of each chapter, by its number.
GOALS = {
    "00": "run a kernel, read a fault report, solve a first exercise",
    "01": "choose a framework, a compiler and a runtime, and read the code that they generate",
    "02": "follow pointers, find memory faults with sanitizers, build C and C++ programs",
    "03": "compute how fast a kernel can be at best, and its limit, from four numbers",
    "04": "write kernels, prove them right, and make them as fast as the memory",
    "05": "call cuBLAS, cuFFT, cuDNN, CUTLASS and NCCL, and know when your own kernel is faster",
    "06": "climb from a naive matmul past cuBLAS in fp32, and benchmark honestly",
    "07": "ship kernels as PyTorch operators: attention, sampling, 4-bit weights",
    "08": "write Hopper GEMMs and attention with TMA and `wgmma`, emulate a Blackwell GEMM",
    "09": "train a network on your own kernels, and race PyTorch",
}
# Needs of some cells, and the tokens of their `%%needs` lines that mean them.
NEEDS = {
    "GPU": r"gpu.*|sm_.*|ncu|nsys|compute-sanitizer",
    "nvcc": r"nvcc|cuda",
    "PyTorch": r"torch|ninja",
    "Numba": r"numba",
    "Triton": r"triton",
    "Warp": r"warp",
    "C compiler": r"cc|c|cpp|c\+\+|binutils",
    "JAX": r"jax|keras",
    "ONNX": r"onnx.*",
    "cuRAND": r"curand",
    "CUTLASS": r"cutlass.*",
    "nvmath-python": r"nvmath",
    "cuda-cccl": r"cuda-cccl",
    "MathDx": r"mathdx",
}
SEVERAL = 5  # cells of a chapter with the same need


def draw() -> bool:
    """Bring README.md up to date, and return whether it changed."""
    return write_changed(README, drawn(README.read_text(encoding="utf-8")))


def drawn(text: str) -> str:
    """The ``text`` of README.md as the notebooks, the exercises and pyproject.toml have it now."""
    found = chapters()
    notebooks = sum(len(chapter.lessons) for chapter in found)
    exercises = exercise_count()
    address = repository_address()
    clone = f"git clone {address} cuda-course" if address else NO_ADDRESS
    text = COUNTS.sub(f"{notebooks} notebooks and {exercises} checked exercises", text)
    text = CLONE.sub(lambda _: clone, text)
    text = between_marks(text, BADGE_MARKS, badges(address), README.name)
    text = between_marks(text, PATH_MARKS, "\n".join(map(path_block, PATHS)) + "\n", README.name)
    return between_marks(text, MARKS, chapter_table(found) + "\n", README.name)


def badges(address: str) -> str:
    """A badge for each way to read or run the course without setting it up, none while the
    repository has no ``address`` on GitHub."""
    found = GITHUB.fullmatch(address)
    if not found:
        return ""
    owner, name = found.groups()
    binder = binder_link(address)
    return BADGES.format(owner=owner, name=name, branch=BRANCH, first=FIRST_LESSON, binder=binder)


def binder_link(address: str) -> str:
    """The first lesson in Binder, or "" while the repository has no ``address`` on GitHub."""
    found = GITHUB.fullmatch(address)
    return f"{BINDER}/{found[1]}/{found[2]}/{BRANCH}?labpath={FIRST_LESSON}" if found else ""


def exercise_count() -> int:
    """How many checked exercises the course has."""
    return len(list(KERNELS.glob(f"*/{SOLUTIONS}/*.md")))


def path_block(path: ReadingPath) -> str:
    """A reading path in one line, with a table of its stations folded below it."""
    listed = lessons_by_name()
    rows = [
        (
            f"[{listed[station.name].title}]({shown(listed[station.name].path)})",
            str(minutes_of(station, listed)),
            station.part or "–",
        )
        for station in path.stations
    ]
    line = f"<b>{path.title}</b>, {path.hours} hours: {path.goal}"
    table = markdown_table("notebook|minutes:|which part", rows)
    return f"<details>\n<summary>{line}</summary>\n\n{table}\n\n</details>"


def chapter_table(found: list[Chapter]) -> str:
    """A row per chapter: its page and its hours, its skills, its needs. Three columns fit a phone.

    Raises LessonError for a chapter whose skills :data:`GOALS` hasn't.
    """
    rows = [
        (
            f"[{chapter.title}]({shown(chapter.folder / 'README.md')})<br>{chapter.hours} h",
            _goal(chapter),
            _needs(chapter),
        )
        for chapter in found
    ]
    total = in_hours(sum(chapter.minutes for chapter in found))
    rows.append((f"**All of it**<br>{total} h", "", ""))
    return markdown_table("chapter|afterwards you can|some cells need", rows)


def _goal(chapter: Chapter) -> str:
    name = chapter.folder.name
    if name[:2] not in GOALS:
        raise LessonError(f"GOALS of {shown(Path(__file__))} needs a line for the chapter {name}.")
    return GOALS[name[:2]]


def _needs(chapter: Chapter) -> str:
    """``GPU, PyTorch``: the needs of several cells."""
    cells: Counter[str] = Counter()
    for lesson in chapter.lessons:
        for tokens in notebook_needs(lesson.path).cells:
            cells.update(word for word in NEEDS if any(_means(word, token) for token in tokens))
    return ", ".join(word for word in NEEDS if cells[word] >= SEVERAL) or "–"


def _means(word: str, token: str) -> bool:
    return bool(re.fullmatch(NEEDS[word], token))
