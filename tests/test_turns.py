"""Every test that is shared out runs in one turn of three, and under one of three Pythons."""

import sys

import pytest

from tests import turns

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
