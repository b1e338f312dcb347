"""Whole numbers rounded up."""

from course_utils.emulator.numerics.rounding import ceil_div, round_up


def test_a_division_is_rounded_up():
    assert [ceil_div(n, 256) for n in (0, 1, 255, 256, 257)] == [0, 1, 1, 1, 2]


def test_a_multiple_is_rounded_up_to_itself():
    assert [round_up(n, 16) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]
