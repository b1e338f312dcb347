"""Which notebooks' exercises are proved already: a hash of all that their proofs depend on.

A proof comes out as it did before until the judge, the emulator, a spec, a wrong answer or a kernel
changes. So ``exercises --verify --store`` keeps that hash for each notebook whose proofs all hold,
in a file that is not committed, and skips it next time. ``make test`` runs every solution, and
a third of the starters and of the wrong answers, all the same; a workflow runs everything once a
week, since the hash leaves out Python, its packages, the compilers and ``assets/data``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ...compiling.includes import included_files
from ...fingerprints import code_of
from ...paths import CHAPTERS, KERNELS, ROOT
from ...whole_files import write_whole
from ..authoring.registry import SPECS, all_exercises
from ..authoring.spec import BaseExercise
from .verify import Proof

STORE = ROOT / "build" / "proven.json"
# What no judgement uses, but for the simulated GPU on which chapter 06 judges benchmarks.
NO_JUDGES = (
    "benchmarks/",
    "environment.py",
    "figures/",
    "install.py",
    "kernel_tool/",
    "notebooks/",
    "records/",
)
SIMULATED_GPU = "benchmarks/harness/simulated_gpu.py"
A_KERNEL = re.compile(r"\d\d_\w+(?:/\w+)*/\w+\.\w+")


def is_verified(exercise: BaseExercise, file: Path = STORE) -> bool:
    """Whether every proof of the exercise held, with all that it depends on as it is now."""
    return stored(file).get(exercise.notebook) == proof_hash(exercise.notebook)


def stored(file: Path = STORE) -> dict[str, str]:
    """The hash by notebook, as ``04_first_kernels/06_reductions``; empty without a file."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def store(proofs: Iterable[Proof], file: Path = STORE) -> None:
    """Store the notebooks with ``proofs`` of all their exercises that all held, and forget the
    others that have some.

    What this machine could not run does not count as proved. Notebooks that are no more are
    forgotten, too. Ask :func:`is_verified` before the proofs run: the hash that it takes is the one
    that is stored, so what changes meanwhile is not taken for proved.
    """
    tried: dict[str, bool] = {}
    for proof in proofs:
        held = proof.holds and not proof.skipped
        tried[proof.exercise_id] = tried.get(proof.exercise_id, True) and held
    exercises = all_exercises()
    asked = {exercise.notebook for exercise in exercises if exercise.id in tried}
    good = asked - {e.notebook for e in exercises if not tried.get(e.id)}
    others = {exercise.notebook for exercise in exercises} - asked
    kept = {name: old for name, old in stored(file).items() if name in others}
    kept |= {name: proof_hash(name) for name in good}
    write_whole(file, json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


@cache
def proof_hash(notebook: str, root: Path = ROOT) -> str:
    """Sixteen digits that change with any file that a proof of this notebook's exercises may read.

    These are the judge with the emulator, the notebook's specs and what they may import, the wrong
    answers, its chapter's kernels with the headers of all, kernels of other chapters that the specs
    name, and what any of these kernels include.
    """
    chapter, _, name = notebook.partition("/")
    specs = root / CHAPTERS.name / chapter / "exercises"
    others = set(specs.glob("*.py")) - set(specs.glob(SPECS))
    texts = {specs / f"{name}.py", *others}
    named = {
        root / KERNELS.name / found
        for text in texts
        for found in A_KERNEL.findall(text.read_text(encoding="utf-8"))
    }
    kernels = _with_included(filter(Path.is_file, named), root) | _kernels_of(chapter, root)
    digest = hashlib.sha256(_of_judge(root).encode())
    for path in sorted(texts | kernels):
        digest.update(_named(path, root))
    wrong_answers = [(e.id, e.mutants) for e in all_exercises() if e.notebook == notebook]
    digest.update(repr(wrong_answers).encode())
    return digest.hexdigest()[:16]


@cache
def _kernels_of(chapter: str, root: Path) -> set[Path]:
    kernels = root / KERNELS.name
    return _with_included([*_sources(kernels / chapter), *_sources(kernels / "common")], root)


def _with_included(files: Iterable[Path], root: Path) -> set[Path]:
    found = set(files)
    for file in tuple(found):
        text = file.read_text(encoding="utf-8", errors="replace")  # a program that nvcc has built
        found.update(included_files(text, file.parent, root / KERNELS.name))
    return found


@cache
def _of_judge(root: Path) -> str:
    package = root / "course_utils"
    digest = hashlib.sha256()
    for path in _sources(package):
        place = path.relative_to(package).as_posix()
        if place == SIMULATED_GPU or not place.startswith(NO_JUDGES):
            digest.update(_named(path, root))
    return digest.hexdigest()


def _sources(folder: Path) -> list[Path]:
    """The files below ``folder`` that are not prose, not hidden, and that nothing has made."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".md"
        and not any(
            part[0] == "." or part == "__pycache__" for part in path.relative_to(folder).parts
        )
    )


def _named(path: Path, root: Path) -> bytes:
    """A file's place and its code."""
    text = code_of(path.read_text(encoding="utf-8", errors="replace"), path.suffix)
    return f"{path.relative_to(root).as_posix()}\0{text}\0".encode()
