"""The notebooks of the course as they are committed keep every house rule. No kernel is started.

`python -m course_utils run --check` prints the same, for all notebooks at once.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from course_utils.notebooks import canonical, rules, stamp
from course_utils.notebooks.cells import find
from course_utils.paths import ROOT, shown

BOOKS = find([])
# Notebooks with cells that measure and were written or changed since the last run on a GPU machine.
# `make notebooks` there empties the list.
WAITING = (ROOT / "tests" / "notebooks" / "waiting_for_gpu.txt").read_text().split()


def text_of(path) -> str:
    return path.read_text(encoding="utf-8")


@lru_cache(1)  # the rules for a notebook follow one another
def notebook_at(path):
    return canonical.read(text_of(path))


def to_measure(notebook) -> list[int]:
    """The positions of the cells that have to be run on a GPU."""
    cells = dict(stamp.stamped(notebook))
    return [
        v.cell for v in stamp.violations(notebook, ROOT) if not stamp.runs_anywhere(cells[v.cell])
    ]


def report(violations) -> str:
    return "\n" + "\n".join(str(violation) for violation in violations)


@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_notebook_is_canonical(path):
    found = canonical.violations(text_of(path))
    assert not found, report(found)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_notebook(path, rule):
    notebook = notebook_at(path)
    found = rule(notebook, path, ROOT)
    if rule is rules.is_stamped and shown(path) in WAITING:
        waiting = to_measure(notebook)
        found = [violation for violation in found if violation.cell not in waiting]
    assert not found, report(found)


@pytest.mark.parametrize("name", WAITING)
def test_a_notebook_that_waits_for_a_gpu_has_cells_to_measure(name):
    assert to_measure(canonical.read(text_of(ROOT / name)))


def test_no_stored_table_shows_an_answer():
    """`beside_ours` reads the answers in this folder. The course's own outputs have none."""
    row = re.compile(r"^\d\d\.\w+, size .*", re.MULTILINE)
    rows = [
        f"{shown(path)}: {line}"
        for path in BOOKS
        if "beside_ours(" in text_of(path)
        for cell in canonical.read(text_of(path)).cells
        if cell.cell_type == "code" and "beside_ours(" in cell.source
        for output in cell.outputs
        for line in row.findall(output.get("data", {}).get("text/plain", ""))
    ]
    assert rows
    assert [row for row in rows if "not passed yet" not in row] == []


def test_every_notebook_lies_where_it_is_read_in_order():
    hidden = {path for path in ROOT.glob("chapters/**/*.ipynb") if "checkpoint" not in path.name}
    astray = [shown(path) for path in sorted(hidden - set(BOOKS))]
    assert not astray, f"not named chapters/NN_chapter/NN_topic.ipynb: {astray}"
