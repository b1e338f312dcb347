"""Every test that is shared out runs in one turn of three, and under one of three Pythons."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_utils.paths import CHAPTERS, KERNELS
from tests import conftest, turns

COMMIT = "d90b9142" + "0" * 32


@pytest.fixture
def of_turn(monkeypatch):
    """``of_turn(asked)`` is the number of the turn with that ``COURSE_TURN``."""

    def asked(text, commit=COMMIT):
        monkeypatch.setenv("COURSE_TURN", text)
        monkeypatch.setattr(turns, "_commit", lambda: commit)
        return turns.turn.__wrapped__()

    return asked


@pytest.mark.parametrize("place", range(7))
def test_the_pythons_of_continuous_integration_run_each_test_once_at_a_commit(place):
    numbers = [turns.turn_of(COMMIT, python) for python in (11, 12, 13)]
    assert sum(turns.has_turn(place, number) for number in numbers) == 1


@pytest.mark.parametrize("count", range(1, 8))
def test_of_several_alike_each_turn_runs_one_at_least_and_three_turns_run_all(count):
    def chosen(number):
        return {place for place in range(count) if turns.has_turn(5 + place, number, count)}

    runs = [chosen(turns.turn_of(COMMIT, python)) for python in (11, 12, 13)]
    assert all(runs) and set.union(*runs) == set(range(count))


def test_what_is_seldom_runs_under_one_python_at_a_third_of_the_commits(monkeypatch):
    commits = [turns.SELDOM * n for n in range(3)]
    for place in range(9):
        ran = []
        for number in (commit + python for commit in commits for python in (11, 12, 13)):
            monkeypatch.setattr(turns, "turn", lambda number=number: number)
            ran.append(turns.seldom(place).name == "this_turn")
        assert ran.count(True) == 1
    monkeypatch.setattr(turns, "turn", lambda: None)
    assert turns.seldom(4).name == "this_turn"


def test_a_turn_can_be_asked_for_by_its_number_and_all_together(of_turn):
    assert of_turn("7") == 7
    assert of_turn("all") is None
    assert of_turn("") == turns.turn_of(COMMIT, sys.version_info.minor)


def test_a_folder_without_git_is_told_its_commit(monkeypatch):
    monkeypatch.delenv("COURSE_TURN", raising=False)
    monkeypatch.setenv("COURSE_COMMIT", COMMIT)
    assert turns.turn.__wrapped__() == turns.turn_of(COMMIT, sys.version_info.minor)


def test_without_a_commit_everything_runs(of_turn):
    assert of_turn("", commit="") is None
    assert all(turns.has_turn(place, None) for place in range(5))


def test_each_of_several_things_comes_up(monkeypatch):
    met = set()
    for number in range(3 * 4):
        monkeypatch.setattr(turns, "turn", lambda number=number: number)
        chosen = turns.one_of(4)
        assert len(range(4)[chosen]) == 1 and not range(0)[turns.one_of(0)]
        met.update(range(4)[chosen])
    assert met == set(range(4))


class Item:
    """A collected test with one mark."""

    path, keywords = Path("tests/test_turns.py"), ()

    def __init__(self, place: int):
        self.mark = turns.in_turn(place)

    def get_closest_marker(self, name):
        return self.mark if self.mark.name == name else None


@pytest.mark.parametrize("number, left", [(0, [0, 3]), (1, [2]), (2, [1]), (None, [0, 1, 2, 3])])
def test_tests_of_other_turns_are_left_out(monkeypatch, number, left):
    monkeypatch.setattr(turns, "turn", lambda: number)
    items, out = [Item(place) for place in range(4)], []
    kept = [items[place] for place in left]
    hook = SimpleNamespace(pytest_deselected=lambda items: out.extend(items))
    conftest.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
    assert items == kept and len(out) == 4 - len(kept)


@pytest.mark.parametrize("name", turns.GROUP_OF)
def test_the_dearest_are_there(name):
    """A notebook or a kernel that has moved would run in every turn again."""
    folder = CHAPTERS if name.endswith(".ipynb") else KERNELS
    assert (folder / name).is_file()


@pytest.mark.parametrize("number", range(3))
def test_each_turn_has_one_group_of_the_dearest_notebooks(monkeypatch, number):
    monkeypatch.setattr(turns, "turn", lambda: number)
    monkeypatch.setattr(turns, "changed", frozenset)
    others = [{turns.of_another_turn(name) for name in group} for group in turns.DEAREST]
    assert sorted(others, key=str) == [{False}, {True}, {True}]
    assert not turns.of_another_turn("00_start_here/01_this_machine.ipynb")
    first = next(group for group, out in zip(turns.DEAREST, others, strict=True) if out == {True})
    monkeypatch.setattr(turns, "changed", lambda: {first[0]})
    assert [turns.of_another_turn(name) for name in first[:2]] == [False, True]


def test_a_file_that_has_changed_is_known(tmp_path, monkeypatch):
    git = "git", "-c", "user.name=a", "-c", "user.email=a@b.c"
    monkeypatch.setattr(turns, "ROOT", tmp_path)
    (tmp_path / "kernels").mkdir()
    for command in (("init", "-q"), ("add", "kernels"), ("commit", "-q", "-m", "all")):
        (tmp_path / "kernels" / "one.cu").write_text("")
        (tmp_path / "kernels" / "two.cu").write_text("")
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    assert turns.changed.__wrapped__() == set()  # there is no commit before
    (tmp_path / "kernels" / "one.cu").write_text("// new")
    subprocess.run([*git, "commit", "-q", "-am", "one"], cwd=tmp_path, check=True)
    assert turns.changed.__wrapped__() == {"one.cu"}
    (tmp_path / "kernels" / "two.cu").write_text("// new")
    assert turns.changed.__wrapped__() == {"one.cu", "two.cu"}


def test_cells_of_another_turn_are_left_out(monkeypatch):
    first, *_ = turns.DEAREST[0]
    cells = [Item(0), Item(0)]
    for cell in cells:
        cell.path = CHAPTERS / first
    monkeypatch.setattr(turns, "changed", frozenset)
    for number, left in ((0, cells), (1, []), (None, cells)):
        monkeypatch.setattr(turns, "turn", lambda number=number: number)
        items = [*cells]
        hook = SimpleNamespace(pytest_deselected=lambda items: None)
        conftest.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
        assert items == left


@pytest.mark.parametrize("number, told", [(4, "turn 4 of"), (0, "turn 0 of"), (None, "")])
def test_a_report_names_its_turn(monkeypatch, number, told):
    monkeypatch.setattr(turns, "turn", lambda: number)
    assert turns.left_out().startswith(told) and bool(turns.left_out()) == bool(told)
