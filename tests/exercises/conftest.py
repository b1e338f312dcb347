"""Progress of the tests goes to a folder of their own."""

import itertools

import pytest

from course_utils.exercises.student import sandbox


@pytest.fixture(scope="session")
def own_folders(tmp_path_factory):
    """A new folder each time. `tmp_path` takes pytest longer, and these are 8,000 tests."""
    place = tmp_path_factory.mktemp("own")
    return (place / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_progress(own_folders, monkeypatch):
    folder = next(own_folders)
    folder.mkdir()
    monkeypatch.setenv("COURSE_PROGRESS", str(folder / "progress"))
    monkeypatch.delenv("COURSE_STRICT", raising=False)
    return folder / "progress"


@pytest.fixture(autouse=True)
def graded_in_this_process(monkeypatch):
    """Even if bubblewrap is installed: a test looks at what ``grade`` prints and patches."""
    monkeypatch.setenv(sandbox.INSIDE, "1")
