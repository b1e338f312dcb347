"""Progress of the tests goes to a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress"))
    monkeypatch.delenv("COURSE_STRICT", raising=False)
    return tmp_path / "progress"
