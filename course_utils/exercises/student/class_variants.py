"""``python -m course_utils variants``: a class's own numbers, in this copy of the course.

The seed is in ``.course/seed``, from where notebooks read it. COURSE_SEED in the environment comes
before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import LessonError
from ...notebooks.quizzes import escaped
from ...paths import ROOT, notebook_name, shown, unreadable
from ...whole_files import write_whole
from ..authoring.generate import PARTS, TAG, notebook_path, part_text
from ..authoring.registry import all_exercises
from ..authoring.spec import BaseExercise, NumberExercise
from ..authoring.variants import drawn

SEED = ROOT / ".course/seed"
LONGEST = 200  # characters of a file that is read for a seed


def class_seed(file: Path | None = None) -> str:
    """The seed of this copy, or "" if it has none. Raises LessonError for a file that can't be
    read."""
    if given := os.environ.get("COURSE_SEED", "").strip():
        return given
    file = file or SEED
    try:
        return file.read_text(encoding="utf-8")[:LONGEST].strip() if file.exists() else ""
    except (OSError, ValueError) as error:
        raise LessonError(unreadable(file, error)) from None


def of_student(seed: str, student: str) -> str:
    """The seed of one student, by whose name the class's seed goes on."""
    return f"{seed}/{student}" if student else seed


def varied_exercises() -> list[BaseExercise]:
    """Those that have variants, in the course's order."""
    return [exercise for exercise in all_exercises() if exercise.varied is not None]


def write_variants(seed: str, file: Path | None = None) -> Iterator[str]:
    """Keep ``seed``, "" for none, and bring tasks, hints and untouched starters of this copy's
    notebooks to its numbers. Yields a line for each notebook that changed.

    An answer stays as it is, and so does every other cell with its outputs. Raises LessonError for
    a text that isn't a seed, and for a notebook that can't be read.
    """
    file = file or SEED
    before = class_seed(file)
    by_notebook: dict[Path, list[tuple[BaseExercise, BaseExercise]]] = {}
    for exercise in varied_exercises():
        pair = drawn(exercise, before), drawn(exercise, seed)
        by_notebook.setdefault(notebook_path(exercise), []).append(pair)
    texts = {path: _rewritten(path, pairs) for path, pairs in by_notebook.items() if path.exists()}
    for path, (text, written, kept) in texts.items():
        if text:
            write_whole(path, text)
            yield f"{shown(path)}: {', '.join(written)}"
        if kept:
            yield f"{shown(path)}: kept your answers to {', '.join(kept)}, whose tasks have changed"
    if seed:
        file.parent.mkdir(exist_ok=True)
        write_whole(file, f"{seed}\n")
    else:
        file.unlink(missing_ok=True)


def numbers_to_gift(paths: Iterable[Path], seed: str) -> str:
    """The predictions of these notebooks as GIFT's questions for a number, with the numbers of
    ``seed``. They may have none, and then it's ""."""
    books = {notebook_name(path) for path in paths}
    parts: list[str] = []
    for exercise in varied_exercises():
        if exercise.notebook not in books or not isinstance(exercise, NumberExercise):
            continue
        variant = drawn(exercise, seed)
        parts.append(f"$CATEGORY: {variant.notebook}")
        for name, right in variant.counted(variant).items():
            asked = f"{variant.task_text}\n\n{variant.asks[name].question}?"
            within = 0 if isinstance(right, int) else abs(right) / 100
            number = f"{right:.12g}" + (f":{within:.3g}" if within else "")
            title = f"::{escaped(f'{variant.id} {name}')}::"
            parts.append(f"{title}[markdown]{escaped(asked)} {{#{number}}}")
    return "\n\n".join(parts) + "\n" if parts else ""


def _rewritten(
    path: Path, pairs: list[tuple[BaseExercise, BaseExercise]]
) -> tuple[str, list[str], list[str]]:
    """The notebook's new text, or "" if nothing changes, then the exercises that changed, and among
    them the ones whose cell holds an answer, which stays."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = {tag: cell for cell in notebook["cells"] for tag in _tags(cell)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LessonError(unreadable(path, error)) from None
    written, kept = [], []
    for old, new in pairs:
        found = {part: cells.get(f"{TAG}{new.id}.{part}") for part in PARTS}
        changed = False
        for part, cell in found.items():
            fresh = part_text(new, part)
            if cell is None or "".join(cell["source"]) == fresh:
                continue
            _, _, body = "".join(cell["source"]).partition("\n")
            if part == "starter" and not (old.is_untouched(body) or new.is_untouched(body)):
                kept.append(new.id)
                continue
            cell["source"] = fresh.splitlines(keepends=True)
            changed = True
        if changed:
            written.append(new.id)
    kept = [name for name in kept if name in written]
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n" if written else ""
    return text, written, kept


def _tags(cell: dict[str, Any]) -> list[str]:
    tags = cell.get("metadata", {}).get("tags", [])
    return [tag for tag in tags if tag.startswith(TAG)]
