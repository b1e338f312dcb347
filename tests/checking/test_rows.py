"""A case worked by hand, printed as rows and grids."""

from __future__ import annotations

import numpy as np
import pytest

from course_utils.checking.rows import MOST_NUMBERS, labelled_rows, number
from course_utils.checking.verdict import Verdict


def test_vectors_share_the_line_of_their_indices_and_scalars_come_first():
    shown = labelled_rows(
        "by hand:", {"x": np.float32([1, 2]), "a": 3, "expected": [3, 6], "got": [3, 5]}
    )
    assert shown.lines == (
        "a = 3",
        "          [0] [1]",
        "x           1   2",
        "expected    3   6",
        "got         3   5",
    )
    assert str(shown).splitlines()[0] == "by hand:"


def test_a_matrix_has_row_and_column_indices_and_a_batch_one_grid_each():
    shown = labelled_rows("", {"A": np.arange(6).reshape(2, 3), "z": np.arange(8).reshape(2, 2, 2)})
    assert shown.lines == (
        "A    [0] [1] [2]    z[0]  [0] [1]    z[1]  [0] [1]",
        "[0]    0   1   2    [0]     0   1    [0]     4   5",
        "[1]    3   4   5    [1]     2   3    [1]     6   7",
    )


def test_what_came_out_is_beside_what_is_expected():
    square = np.arange(4).reshape(2, 2)
    shown = labelled_rows(
        "", {"A": square, "expected": square, "got": np.ma.masked_equal(square, 3)}
    )
    assert [line.split() for line in shown.lines[3:]] == [
        ["expected", "[0]", "[1]", "got", "[0]", "[1]"],
        ["[0]", "0", "1", "[0]", "0", "1"],
        ["[1]", "2", "3", "[1]", "2", "?"],
    ]


def test_a_long_array_is_left_out_and_text_is_shown_as_it_is():
    shown = labelled_rows("", {"x": np.zeros(MOST_NUMBERS + 1), "s": "abc", "none": None, "e": []})
    assert shown.lines == ("s  'abc'", "none  None", "e  (empty)")


def test_a_long_row_is_broken():
    shown = labelled_rows("", {"x": np.arange(16) / 7})
    assert max(map(len, shown.lines)) <= 84
    assert len(shown.lines) == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.float16(2), "2"),
        (np.uint32(0x3F800000), "0x3f800000"),
        (np.uint8(200), "200"),
        (np.bool_(True), "True"),
        (np.complex64(1 + 2j), "1+2j"),
        (float("nan"), "nan"),
    ],
)
def test_a_number_is_as_short_as_it_can_be(value, text):
    assert number(value) == text


def test_a_verdict_shows_the_case_as_text_and_as_html():
    verdict = Verdict("wrong values", "y is wrong.", case=labelled_rows("By hand:", {"x": [1, 2]}))
    assert str(verdict).splitlines()[1:] == ["  By hand:", "       [0] [1]", "    x    1   2"]
    assert "By hand:" in verdict.body_html()
    assert "  1   2" in verdict.body_html()
