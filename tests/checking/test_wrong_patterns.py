"""A map of errors is drawn where they lie in a pattern, and not where chance has put them."""

import numpy as np
import pytest

from course_utils.checking import judge
from course_utils.checking.patterns import has_pattern, is_noise

CHANCE = np.random.default_rng(5)
I = np.arange(1024)  # noqa: E741 (an index)
ROWS, COLUMNS = np.indices((48, 64))
PATTERNS = {
    "every second": I % 2 == 1,
    "one lane": I % 32 == 5,
    "one block": I // 256 == 1,
    "tiles, here and there right": (I // 16 % 2 == 1) & (CHANCE.random(1024) < 0.9),
    "half of some columns": (COLUMNS // 20 == 1) & (CHANCE.random((48, 64)) < 0.5),
    "the diagonal": np.eye(48, 64, dtype=bool),
    "one head of six": np.arange(6 * 37).reshape(6, 37) // 37 == 4,
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_found(name):
    assert has_pattern(PATTERNS[name])


@pytest.mark.parametrize("shape", [(1000,), (3, 100), (64, 96), (2, 3, 5, 7)])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_chance_is_no_pattern(shape, share):
    found = sum(has_pattern(CHANCE.random(shape) < share) for _ in range(20))
    assert found <= 2


def test_a_verdict_on_errors_here_and_there_has_no_map():
    expected = CHANCE.normal(size=(64, 96)).astype(np.float32)
    wrong = np.where(CHANCE.random((64, 96)) < 0.5, expected, -3 * expected)
    assert judge(wrong, expected).heat is None
    wrong = np.where(COLUMNS[0, :] % 2 == 0, expected[:, :64], -3 * expected[:, :64])
    assert judge(wrong, expected[:, :64]).heat is not None


MARKS = {
    "one lane": np.tile(np.arange(64) % 32 == 5, (1, 1)),
    "every third": np.tile(np.arange(64) % 3 != 1, (1, 1)),
    "some rows": np.tile((np.arange(16) % 5 < 2)[:, None], (1, 64)),
    "the diagonal": np.eye(16, 64, dtype=bool),
    "a chequered board": np.indices((16, 64)).sum(axis=0) % 2 == 0,
    "the border": np.pad(np.zeros((14, 62), bool), 1, constant_values=True),
    "few marks": CHANCE.random((4, 8)) < 0.5,
}


@pytest.mark.parametrize("name", MARKS)
def test_a_regular_map_is_no_noise(name):
    assert not is_noise(MARKS[name])


def test_a_map_whose_marks_follow_the_numbers_is_noise():
    columns = CHANCE.random((13, 45)) < CHANCE.uniform(0.2, 0.8, 45)  # a bias for each column
    assert is_noise(columns) and is_noise(CHANCE.random((1, 64)) < 0.4)
    expected = CHANCE.normal(size=(50, 90)).astype(np.float32)
    bias = CHANCE.normal(size=90).astype(np.float32)
    right, wrong = np.maximum(expected + bias, 0), np.maximum(expected, 0) + bias
    assert judge(wrong, right).heat is None


def test_a_few_right_elements_of_many_are_coincidences():
    expected = CHANCE.normal(size=(64, 96)).astype(np.float32)
    wrong = -3 * expected
    wrong[[3, 20, 41], [5, 60, 9]] = expected[[3, 20, 41], [5, 60, 9]]
    assert judge(wrong, expected).heat is None
