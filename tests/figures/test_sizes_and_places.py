"""The arithmetic behind the drawings: sizes of words, ranges of grey, columns of a graph."""

import numpy as np
import pytest

from course_utils import figures
from course_utils.figures.images import _grey_range
from course_utils.figures.labels import fraction_label, number_label
from course_utils.figures.memory_accesses import _size
from course_utils.figures.threads import LARGEST_FONT, _font
from course_utils.figures.value_graphs import _columns


def test_grey_goes_from_the_least_to_the_most_of_the_images_without_colours():
    grey, colours = np.array([[0.25, 0.5], [np.nan, 0.75]]), np.full((2, 2, 3), 9.0)
    assert _grey_range([grey, colours]) == (0.25, 0.75)
    assert _grey_range([colours]) == _grey_range([np.full((1, 1), np.nan)]) == (0, 1)
    assert _grey_range([np.array([[7]], np.uint8)]) == (0, 255)


@pytest.mark.parametrize(
    ("text", "width", "size"), [("123", 4, 8), ("1234", 4, 6.5), ("12345", 4, 5.5), ("12345", 8, 8)]
)
def test_long_words_in_a_narrow_box_are_small(text, width, size):
    assert _size(text, width) == size


def test_a_name_fits_its_cell_or_is_not_written():
    side = 0.5
    assert _font(side, ["7"]) == LARGEST_FONT
    size = _font(side, ["7", "(1, 2)"])
    assert size == pytest.approx(side * 72 * 0.9 / (6 * 0.72))
    assert _font(side, ["a name of many letters"]) is None


def test_a_value_stands_right_before_its_first_use():
    edges = [("a", "b", 1), ("b", "c", 1), ("late", "c", 1)]
    assert _columns(dict.fromkeys(("a", "late", "b", "c")), edges) == {
        "a": 0,
        "b": 1,
        "late": 1,
        "c": 2,
    }


@pytest.mark.parametrize(("first", "middle"), [(0, 16), (160, 48)])
def test_the_lanes_of_a_sector_stand_in_its_middle(first, middle):
    axes = figures.warp_sectors(first + np.arange(32), bytes=1).axes[0]
    places = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert places["lanes 0–31"] == middle


def test_the_axes_of_a_product_begin_at_0():
    for columns, ticks in ((4, [0, 4]), (32, [0, 8, 16, 24, 32])):
        a, b = np.ones((2, 3)), np.ones((3, columns))
        of_b = figures.product_tiles(a, b, a @ b).axes[1]
        assert of_b.get_xticks().tolist() == ticks


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.01234, "0.0123"), (4.56, "4.56"), (4.0, "4"), (99.96, "100"), (123.4, "123"), (0, "0")]
    + [(-123.4, "-123"), (12345, "12\N{NO-BREAK SPACE}345"), (999999, "999\N{NO-BREAK SPACE}999")]
    + [
        (12345.6, "12\N{NO-BREAK SPACE}346"),
        (1e6, "1 M"),
        (3.14e6, "3.14 M"),
        (1e9, "1 G"),
        (2.5e10, "25 G"),
        (1e12, "1 T"),
    ],
)
def test_a_number_has_three_digits_that_matter_or_is_whole(value, words):
    assert number_label(value) == words


def test_a_power_of_two_below_one_is_a_fraction():
    assert [fraction_label(x) for x in (4, 1, 0.25, 0)] == ["4", "1", "1/4", "0"]
