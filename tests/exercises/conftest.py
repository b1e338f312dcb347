"""Progress of the tests goes to a folder of their own."""

import pytest

from course_utils.exercises.student import sandbox


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress"))
    monkeypatch.delenv("COURSE_STRICT", raising=False)
    return tmp_path / "progress"


@pytest.fixture(autouse=True)
def graded_in_this_process(monkeypatch):
    """Even if bubblewrap is installed: a test looks at what ``grade`` prints and patches."""
    monkeypatch.setenv(sandbox.INSIDE, "1")
