"""The notebooks of the course as they are committed keep every house rule. No kernel is started.

`python -m course_utils run --check` prints the same, for all notebooks at once.
"""

from __future__ import annotations

import pytest

from course_utils.notebooks import canonical, rules, stamp
from course_utils.notebooks.cells import find
from course_utils.paths import ROOT, shown

BOOKS = find([])
# Notebooks that were written or changed since the last run on a GPU machine: what they show comes
# from the emulator, and their stamps say so. `make notebooks` on the GPU machine empties the list.
WAITING = (ROOT / "tests" / "notebooks" / "waiting_for_gpu.txt").read_text().split()


def text_of(path) -> str:
    return path.read_text(encoding="utf-8")


def made_on(notebook) -> str:
    """The device that a notebook's stamp names, or nothing."""
    return notebook.metadata.get(stamp.STAMP, {}).get("device", "")


def report(violations) -> str:
    return "\n" + "\n".join(str(violation) for violation in violations)


@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_notebook_is_canonical(path):
    found = canonical.violations(text_of(path))
    assert not found, report(found)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_notebook(path, rule):
    notebook = canonical.read(text_of(path))
    found = rule(notebook, path, ROOT)
    if rule is rules.is_stamped and shown(path) in WAITING and made_on(notebook) == "emulator":
        found = [violation for violation in found if "on the emulator" not in str(violation)]
    assert not found, report(found)


def test_only_notebooks_with_the_emulator_s_outputs_wait_for_a_gpu():
    emulated = [
        shown(path) for path in BOOKS if made_on(canonical.read(text_of(path))) == "emulator"
    ]
    assert emulated == WAITING


def test_every_notebook_lies_where_it_is_read_in_order():
    hidden = {path for path in ROOT.glob("chapters/**/*.ipynb") if "checkpoint" not in path.name}
    astray = [shown(path) for path in sorted(hidden - set(BOOKS))]
    assert not astray, f"not named chapters/NN_chapter/NN_topic.ipynb: {astray}"
