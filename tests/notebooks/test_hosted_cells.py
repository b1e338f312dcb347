"""Badges and a set-up cell for Colab and Kaggle: written from one address, and in nobody's way."""

import os
import sys

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_utils.notebooks import canonical, rules, stamp
from course_utils.notebooks.cells import is_hosted
from course_utils.notebooks.execute import execute, kernel_environment
from course_utils.notebooks.hosted_cells import with_hosted_cells

ADDRESS = "https://github.com/someone/course"
PROJECT = f'[project]\nname = "x"\n\n[project.urls]\nRepository = "{ADDRESS}/"\n'


@pytest.fixture
def published(repository):
    """The small repository, with an address."""
    repository.write("pyproject.toml", PROJECT)
    return repository


def written(repository, nb):
    return canonical.canonical(with_hosted_cells(nb, repository.path, repository.root))


def test_without_an_address_there_are_no_cells(repository, good):
    assert not any(map(is_hosted, with_hosted_cells(good, repository.path, repository.root).cells))


def test_with_an_address_they_stand_below_the_title_and_name_the_notebook(published, good):
    badges, set_up = written(published, good).cells[1:3]
    path = "chapters/01_first/01_add.ipynb"
    assert f"colab.research.google.com/github/someone/course/blob/main/{path}" in badges.source
    assert f"kaggle.com/kernels/welcome?src={ADDRESS}/blob/main/{path}" in badges.source
    assert f"git clone --quiet --depth 1 {ADDRESS} " in set_up.source
    assert 'os.chdir(course + "/chapters/01_first")' in set_up.source


def test_they_come_and_go_and_leave_the_notebook_as_it_was(published, good):
    before = canonical.canonical(good)
    with_them = written(published, before)
    assert written(published, with_them) == with_them
    (published.root / "pyproject.toml").unlink()
    assert written(published, with_them) == before


def test_counts_ids_and_the_stamp_are_those_without_them(published, good):
    plain = canonical.canonical(good)
    kept = [cell for cell in written(published, good).cells if not is_hosted(cell)]
    assert kept == plain.cells
    with_them = written(published, good)
    root = published.root
    assert stamp.fingerprints(with_them, root) == stamp.fingerprints(plain, root)


def test_the_rule_names_a_notebook_whose_cells_are_not_the_address_s(published, good):
    look = rules.has_its_cells_for_colab
    (found,) = look(canonical.canonical(good), published.path, published.root)
    assert "run --format" in str(found)
    assert not look(written(published, good), published.path, published.root)


def test_a_notebook_without_code_needs_no_set_up(published, good):
    good.cells = [cell for cell in good.cells if cell.cell_type == "markdown"]
    assert not any(map(is_hosted, with_hosted_cells(good, published.path, published.root).cells))


def test_an_output_of_the_set_up_is_not_committed(published, good):
    nb = written(published, good)
    nb.cells[2].update(outputs=[new_output("stream", text="Added")], execution_count=3)
    cell = canonical.canonical(nb).cells[2]
    assert cell.outputs == [] and cell.execution_count is None


def test_run_leaves_the_cell_out(published, tmp_path):
    nb = new_notebook(cells=[new_markdown_cell("# T"), new_code_cell("print('ran')")])
    nb = with_hosted_cells(nb, published.path, published.root)
    nb.cells[2].source = "1/0"
    assert execute(nb, tmp_path, kernel_environment("emulator"), 60).failure is None
    assert nb.cells[3].outputs[0].text == "ran\n"


class Shell:
    """Notes the commands that a cell gives to the shell."""

    def __init__(self):
        self.commands = []

    def system(self, command):
        self.commands.append(command)


@pytest.mark.parametrize("host", ["", "COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE"])
def test_the_cell_sets_up_where_it_is_hosted_and_does_nothing_elsewhere(
    published, good, host, monkeypatch, tmp_path
):
    for name in ("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cuda-course/chapters/01_first").mkdir(parents=True)
    if host:
        monkeypatch.setenv(host, "1")
    shell, source = Shell(), written(published, good).cells[2].source
    exec(TransformerManager().transform_cell(source), {"get_ipython": lambda: shell})
    if not host:
        assert not shell.commands and sys.path[0] != str(tmp_path / "cuda-course")
        return
    assert [command.split()[0] for command in shell.commands] == ["test", "cd"]
    assert os.getcwd() == str(tmp_path / "cuda-course/chapters/01_first")
    assert sys.path[0] == os.environ["PYTHONPATH"] == str(tmp_path / "cuda-course")
