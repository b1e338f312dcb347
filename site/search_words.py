"""Words by which the website's search finds a page first: each word of the glossary leads to the
notebook that explains it, and to the heading that names it, each exercise to its heading, and each
message and symptom to its heading in 00/03."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from course_utils.paths import CHAPTERS, ROOT
from course_utils.symptoms import CUDA_ERRORS, PAGE

GLOSSARY = CHAPTERS / "00_start_here" / "02_glossary.ipynb"
_ROW = re.compile(r"^\| \*\*(.+?)\*\* \|.*\| \[\d\d/\d\d\]\(([^)#]+\.ipynb)[^)]*\) \|$", re.M)
_HEADING = re.compile(r"^### (.+)$", re.M)
_SECTION = re.compile(r"^###? (.+)$", re.M)
_EXERCISE = re.compile(r"Exercise \d\d\.(\w+): ")
# What readers call it, where the heading has other words.
ALSO = {
    "hangs": ("my kernel hangs", "hang", "freezes", "never returns", "never finishes", "stuck"),
    "right the first time only": (
        "wrong the second time",
        "result doubles with each call",
        "result twice as large the second time",
        "cell run twice",
    ),
    "only wrong for sizes that aren't multiples of the block": (
        "last elements wrong",
        "last block wrong",
        "wrong when n is not a multiple of the block size",
        "only multiples of 256 right",
        "tail missing",
    ),
    "only wrong for large sizes": ("wrong for large arrays", "overflow", "negative index"),
    "wrong on the GPU, right on the emulator": ("works on the emulator but not on the gpu",),
    "differs from run to run": (
        "random results",
        "different every time",
        "nondeterministic",
        "sometimes wrong",
        "works with printf",
        "works in debug but not in release",
        "float sum not reproducible",
    ),
    "slower than NumPy": (
        "my kernel is slow",
        "slow",
        "slower than the cpu",
        "no speedup",
        "first launch slow",
    ),
    "prints nothing": ("printf prints nothing", "no output", "printf missing"),
    "invalid configuration argument": (
        "more than 1024 threads",
        "block too large",
        "too many threads per block",
    ),
    "too many resources requested for launch": (
        "too much shared memory",
        "too many registers per thread",
    ),
    "Only the beginning is right": (
        "only the first block works",
        "only the first elements right",
        "second half wrong",
        "rest is zero",
    ),
    "Off by one": ("shifted by one", "neighbour's value"),
    "Precision only": ("slightly different from numpy", "rounding error", "last digits differ"),
    "Nothing written": ("result unchanged", "array unchanged", "kernel does nothing"),
    "Transposed": ("rows and columns swapped",),
    "Out of bounds": ("index out of range", "reads past the end", "buffer overrun"),
    "Uninitialised read": ("garbage values", "uninitialized", "uninitialized memory"),
    "Barrier misuse": ("syncthreads in a branch", "syncthreads in if"),
    "No compiler": ("nvcc not found", "nvrtc not found"),
    "No module named 'cupy'": ("modulenotfounderror", "import error"),
    'identifier "x" is undefined': ("undeclared identifier", "identifier undefined"),
    "an illegal memory access was encountered": ("segmentation fault", "segfault"),
    "out of memory": ("cuda out of memory", "oom"),
    "the launch timed out and was terminated": ("timeout", "watchdog"),
    "CompileException": ("nvrtc_error_compilation", "nvrtc error"),
    "Data race": ("race condition", "race"),
    "Not a number": ("nan", "nans"),
    "All zeros": ("zeros", "only zeros", "array stays zero"),
}


# What readers call the subject of a lesson, where the glossary has other words.
LESSONS = {
    "03_gpu_introduction/02_execution_model": ("warp divergence", "threads of a warp diverge"),
    "03_gpu_introduction/03_memory_hierarchy": ("register spilling", "spilled registers"),
    "04_first_kernels/05_coalescing_and_transpose": ("uncoalesced access", "memory coalescing"),
    "04_first_kernels/08_occupancy": ("low occupancy", "register pressure"),
    "04_first_kernels/09_profiling": ("find the bottleneck", "ncu", "nsys"),
    "04_first_kernels/10_debugging": ("compute-sanitizer", "cuda-gdb", "memcheck", "racecheck"),
}


@cache
def search_words(root: Path = ROOT) -> dict[str, list[tuple[str, str]]]:
    """For each page, by its path without a suffix, its words, and the heading of each or ""."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for words, target in _ROW.findall(_markdown(GLOSSARY)):
        page = (GLOSSARY.parent / target).resolve().relative_to(root).with_suffix("").as_posix()
        headings = _sections(root / f"{page}.ipynb")
        for word in (each.lower().strip("`") for each in words.split(", ")):
            found[page].append((word, _naming(word, headings)))
    for lesson, also in LESSONS.items():
        found[f"chapters/{lesson}"] += [(word, "") for word in also]
    for path in sorted(CHAPTERS.glob("*/*.ipynb")):
        for heading in _sections(path):
            if exercise := _EXERCISE.match(heading):
                lesson = path.relative_to(root).with_suffix("").as_posix()
                found[lesson].append((exercise[1].replace("_", " "), heading))
    names: dict[str, list[str]] = defaultdict(list)
    for error in CUDA_ERRORS.values():
        names[error.heading].append(error.name)
    page = PAGE.relative_to(root).with_suffix("").as_posix()
    for heading in _HEADING.findall(_markdown(PAGE)):
        for word in (heading, *names[heading], *ALSO.get(heading, ())):
            found[page].append((word.lower(), heading))
    return dict(found)


@cache
def _sections(notebook: Path) -> list[str]:
    """The headings of a notebook below its title, as a page shows them."""
    prose = re.sub(r"^```.*?^```", "", _markdown(notebook), flags=re.M | re.S)
    return [re.sub(r"[`*]", "", heading) for heading in _SECTION.findall(prose)]


def _naming(word: str, headings: list[str]) -> str:
    """The first heading that begins or ends with that word, or a part of it; exercises apart."""
    word = rf"{re.escape(word)}s?(?![\w'])"
    named = re.compile(rf"(?:^|[:,] |\band )(?:an? |the )?{word}|(?<!\w){word}$", re.I)
    return next((h for h in headings if named.search(h) and not _EXERCISE.match(h)), "")


def _markdown(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
