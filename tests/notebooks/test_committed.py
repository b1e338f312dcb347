"""The notebooks of the course as they are committed keep every house rule. No kernel is started.

`python -m course_utils run --check` prints the same, for all notebooks at once.
"""

from __future__ import annotations

import pytest

from course_utils.notebooks import canonical, checks
from course_utils.notebooks.source import ROOT, find, shown

BOOKS = find([])


def text_of(path) -> str:
    return path.read_text(encoding="utf-8")


def report(violations) -> str:
    return "\n" + "\n".join(str(violation) for violation in violations)


@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_notebook_is_canonical(path):
    found = canonical.violations(text_of(path))
    assert not found, report(found)


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_notebook(path, check):
    found = check(canonical.read(text_of(path)), path, ROOT)
    assert not found, report(found)


def test_every_notebook_lies_where_it_is_read_in_order():
    hidden = {path for path in ROOT.glob("chapters/**/*.ipynb") if "checkpoint" not in path.name}
    astray = [shown(path) for path in sorted(hidden - set(BOOKS))]
    assert not astray, f"not named chapters/NN_chapter/NN_topic.ipynb: {astray}"
