"""Which third of the dearest tests runs: another one at another commit, and under another Python.

A test can be shared out if its answer doesn't depend on the version of Python. Continuous
integration tests each commit under three Pythons whose minor versions follow one another: each of
them has a third, and together they have all. ``COURSE_TURN=all`` runs everything, and
``COURSE_TURN=2`` the turn that a report names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

from course_utils.paths import ROOT

THIRDS = 3
ALL = "all"


@cache
def turn() -> int | None:
    """The number of this run's turn. None if every test runs, because that is asked for or there
    is no commit to number the turn by."""
    if asked := os.environ.get("COURSE_TURN"):
        return None if asked == ALL else int(asked)
    commit = _commit()
    return turn_of(commit, sys.version_info.minor) if commit else None


def turn_of(commit: str, python: int) -> int:
    """The turn of a ``commit`` (its hash) under Python 3.``python``."""
    return int(commit[:8], 16) + python


def has_turn(place: int, number: int | None, among: int = THIRDS) -> bool:
    """Whether the test at ``place`` in its list is of the third that turn ``number`` runs, or of
    the half or the whole where there are only ``among``."""
    return number is None or (place + number) % min(among, THIRDS) == 0


def in_turn(place: int, among: int = THIRDS) -> pytest.MarkDecorator:
    """The mark of a test that runs when its third has its turn. Where fewer are alike, such as the
    sizes of one kernel, ``among`` is their number: then each turn runs one of them."""
    return pytest.mark.this_turn if has_turn(place, turn(), among) else pytest.mark.another_turn


def left_out() -> str:
    """What a report says of the tests of other turns, none of which it lists."""
    if turn() is None:
        return ""
    return f"turn {turn()} of the thirds: COURSE_TURN={ALL} runs every third"


def one_of(count: int) -> slice:
    """One of ``count`` things, another one at each turn, and the first if every test runs."""
    place = (turn() or 0) // THIRDS % max(count, 1)
    return slice(place, place + 1)


def _commit() -> str:
    """The hash of the commit at hand, or "" if neither ``make`` nor git knows one."""
    if told := os.environ.get("COURSE_COMMIT"):
        return told
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
        )
    except OSError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
