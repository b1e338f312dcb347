"""A student's notebooks are told from the course's: saved in JupyterLab and not committed."""

import subprocess

import pytest

from tests.students_notebooks import committed, in_use

COMMITTED = '{"metadata": {"language_info": {"name": "python"}}}'
IN_LAB = '{"metadata": {"language_info": {"codemirror_mode": {}, "name": "python"}}}'


@pytest.fixture
def checkout(tmp_path):
    """A repository below a folder with a name that git would quote, with two notebooks in it."""
    root = tmp_path / "Kurs für José"
    (root / "chapters/01_first").mkdir(parents=True)
    for name in ("01_saved", "02_left"):
        (root / f"chapters/01_first/{name}.ipynb").write_text(COMMITTED, encoding="utf-8")
    commit(root)
    return root


def commit(root):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=root, check=True)


def test_a_notebook_that_jupyterlab_saved_is_the_student_s(checkout):
    saved = checkout / "chapters/01_first/01_saved.ipynb"
    saved.write_text(IN_LAB, encoding="utf-8")
    assert in_use(checkout) == {saved}
    assert committed(saved, checkout).decode() == COMMITTED


def test_a_change_that_jupyterlab_did_not_make_is_the_course_s(checkout):
    changed = checkout / "chapters/01_first/01_saved.ipynb"
    changed.write_text(COMMITTED.replace("python", "c"), encoding="utf-8")
    assert in_use(checkout) == set()


def test_what_is_committed_is_the_course_s_whoever_saved_it(checkout):
    (checkout / "chapters/01_first/01_saved.ipynb").write_text(IN_LAB, encoding="utf-8")
    commit(checkout)
    assert in_use(checkout) == set()


def test_without_a_repository_every_notebook_is_the_course_s(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/01_saved.ipynb").write_text(IN_LAB, encoding="utf-8")
    assert in_use(tmp_path) == set()
