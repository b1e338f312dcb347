"""A verdict as it prints and as it shows: every part where there is one, and nothing more."""

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_utils.checking import error_kinds as kinds
from course_utils.checking import judge
from course_utils.checking.heat_maps import COLOURS, heat_map
from course_utils.checking.verdict import (
    FAIL_COLOUR,
    NEUTRAL_COLOUR,
    PASS_COLOUR,
    Verdict,
    format_both,
    format_value,
    panel,
)

BARE = Verdict(kinds.WRONG, "some of it.")
FULL = Verdict(
    kinds.WRONG,
    "some of it.",
    "look again",
    excerpt="->  1 | int i;\n    2 | int j;",
    printed="a < b",
    wrong=2,
    total=7,
)


def test_a_verdict_without_parts_prints_its_headline_alone():
    assert str(BARE) == "WRONG VALUES: some of it."
    assert BARE.body_html() == ""


def test_a_verdict_prints_its_parts_in_order():
    assert str(FULL).splitlines() == [
        "WRONG VALUES: some of it.",
        "  wrong: 2 of 7 elements",
        "",
        "  ->  1 | int i;",
        "      2 | int j;",
        "",
        "  it printed:",
        "    a < b",
        "  next: look again",
    ]


def test_a_verdict_shows_its_parts_in_order_and_escaped():
    html = FULL.body_html()
    parts = [
        "wrong: 2 of 7 elements",
        "-&gt;  1 | int i;",
        "It printed:",
        "a &lt; b",
        "<b>Next:</b> look again",
    ]
    assert [html.index(part) for part in parts] == sorted(html.index(part) for part in parts)


def test_the_first_line_of_a_panel_stands_out_and_the_others_follow_only_where_there_are_some():
    assert "pre-wrap" not in panel("one line", "", "red")
    two = panel("one <line>\nand another", "<p>body</p>", "red")
    assert "currentColor)'>one &lt;line&gt;</div>" in two
    assert "pre-wrap'>and another</div><p>body</p></div>" in two


def mixed(share: int, colour: str, other: str) -> list[float]:
    """``share`` per cent of one colour "#rrggbb" and the rest of another, as color-mix has it."""
    pairs = ((int(colour[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return [(a * share + b * (100 - share)) / 25500 for a, b in pairs]


def luminance(parts: list[float]) -> float:
    """The relative luminance of a colour, as WCAG 2 defines it."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.parametrize("colour", (PASS_COLOUR, FAIL_COLOUR, NEUTRAL_COLOUR))
@pytest.mark.parametrize(
    ("words", "page"), [("#212121", "#ffffff"), ("#e1e1e1", "#111111"), ("#cccccc", "#1f1f1f")]
)
def test_the_words_of_a_panel_have_contrast_in_light_and_dark(colour, words, page):
    """JupyterLab's light and dark theme, and the dark one of VS Code."""
    html = panel("one line", "", colour)
    (share,) = re.findall(rf"color-mix\(in srgb, {colour} (\d+)%, currentColor\)", html)
    (tint,) = re.findall(r"background:color-mix\(in srgb, currentColor (\d+)%, transparent", html)
    headline, body, ground = (
        luminance(mixed(*parts))
        for parts in ((int(share), colour, words), (100, words, words), (int(tint), words, page))
    )
    for shown in (headline, body):
        light, dark = max(shown, ground), min(shown, ground)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_panel_is_announced_and_takes_its_text_colour_from_the_page():
    html = panel("one line", "", FAIL_COLOUR)
    assert html.startswith("<div role='status'") and not re.findall(r"[;']color:#", html)


def test_a_map_of_errors_has_words_for_who_cannot_see_it():
    drawn = heat_map(np.array([True, False, False]), np.zeros(3, bool)).to_html()
    assert "aria-label='map of the elements: 2 of 3 marks are right'" in drawn
    assert drawn.endswith(">#</span>..</pre>")  # a stretch of one colour is one span


def test_a_map_of_errors_is_part_of_what_a_notebook_shows():
    heat = heat_map(np.array([True, False, False]), np.zeros(3, bool))
    html = replace(BARE, heat=heat).body_html()
    assert heat.scale in html and html.endswith(heat.to_html())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.float32(1) / 3, "0.3333333"),
        (np.int64(123456789), "123456789"),
        (np.uint16(300), "300"),
        (np.uint32(0x6E2064D5), "1847616725 (0x6e2064d5)"),
        (np.complex64(1 + 2j), "1+2j"),
        (np.bool_(True), "True"),
    ],
)
def test_a_number_is_shown_with_seven_digits_and_an_integer_whole_and_a_packed_one_in_hex(
    value, shown
):
    assert format_value(value) == shown


def nothing_like(array):
    return np.zeros_like(array)


def test_a_map_of_a_matrix_marks_what_is_right_partly_wrong_wrong_and_unwritten():
    wrong = np.zeros((4, 6), bool)
    wrong[0, 0] = True  # one of four elements of the first mark
    wrong[:2, 2:4] = wrong[2:, 4:] = True
    unwritten = np.zeros((4, 6), bool)
    unwritten[2:, 4:] = True
    found = heat_map(wrong, unwritten, rows=2, columns=3)
    assert found.rows == ("x#.", "..?")
    assert found.step == (2, 2)


def test_a_map_of_a_vector_is_one_row_and_of_a_stack_all_rows_one_below_the_other():
    vector = np.arange(100) >= 98
    assert heat_map(vector, nothing_like(vector)).rows == ("." * 49 + "#",)
    stack = np.zeros((2, 3, 5), bool)
    stack[1, 2, 4] = True
    assert heat_map(stack, nothing_like(stack)).rows == (".....",) * 5 + ("....#",)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((20,), "1 element:"),
        ((100,), "2 elements:"),
        ((4, 6), "1 element:"),
        ((20, 6), "2 x 1 elements:"),
        ((1, 100), "1 x 2 elements:"),
    ],
)
def test_a_map_says_how_many_elements_a_mark_stands_for(shape, words):
    wrong = np.ones(shape, bool)
    assert f"each mark is {words}" in heat_map(wrong, nothing_like(wrong)).caption


def test_a_wide_map_is_drawn_flat_and_a_high_one_not_without_end():
    wide, high = np.ones((2, 60), np.float32), np.ones((600, 2), np.float32)
    heights = [
        judge(x + np.eye(*x.shape, dtype="f4"), x).figure().get_figheight() for x in (wide, high)
    ]
    assert heights == [pytest.approx(1.4), pytest.approx(5.0)]
    square = np.ones((10, 20), np.float32)
    drawn = judge(square + np.eye(10, 20, dtype="f4"), square).figure()
    assert drawn.get_figheight() == pytest.approx(6 * 10 / 20 + 0.8)
    assert drawn.get_figwidth() == 6


def test_a_mark_has_its_own_colour_whichever_marks_there_are():
    got = np.ones(128, np.float32)  # two elements a mark
    got[[10, 20, 21]] = 3
    image = judge(got, np.ones(128, np.float32)).figure().axes[0].images[0]
    found = [to_hex(colour) for colour in image.to_rgba(image.get_array())[0]]
    marks = "." * 5 + "x" + "." * 4 + "#" + "." * 53
    assert found == [to_hex(COLOURS[mark]) for mark in marks]


def test_there_is_no_figure_where_there_is_no_map():
    assert BARE.figure() is None


@pytest.mark.parametrize(
    "expected, got, shown",
    [
        (1.5, 2.0, ("1.5", "2")),
        (1.2345678, 1.23456785, ("1.2345678", "1.23456785")),
        (complex(-1, 0.0), complex(-1.000000001, -0.0), ("-1+0j", "-1.000000001-0j")),
        (complex(1, 0.0), complex(1, -0.0), ("1+0j", "1-0j")),  # nothing else differs
        (3, 4, ("3", "4")),
    ],
)
def test_two_numbers_that_differ_have_the_digits_that_show_it(expected, got, shown):
    assert format_both(expected, got) == shown
