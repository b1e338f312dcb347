"""A figure in prose is found, and vouched for by an output, a record or a source, or reported."""

from __future__ import annotations

import pytest

from tests.notebooks.quoting import (
    Quotes,
    about,
    figures,
    less_than,
    more_than,
    printed,
    problems,
    prose,
)


def found(text: str) -> list[str]:
    return [str(figure) for figure in figures(prose(text))]


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("It takes 2.59 ms.", "2.59 ms"),
        ("1.05× of cuBLAS", "1.05 ×"),
        ("**4.05 TB/s**, they say", "4.05 TB/s"),
        ("busy for 200,000 cycles", "200,000 cycles"),
        ("4.5 times fewer", "4.5 times"),
        ("98 % of it", "98 %"),
        ("98% of it", "98 %"),
        ("up to 700 W", "700 W"),
        ("takes\n3 µs", "3 µs"),
        ("about five hundred times as fast", "five hundred times"),
        ("over a hundred times", "hundred times"),
    ],
)
def test_a_figure_is_found(text, figure):
    assert found(text) == [figure]


@pytest.mark.parametrize(
    "text",
    [
        "a matrix of 4096 × 4096, in tiles of 16 × K",
        "`x = 3 ms` and\n```\n4 ms\n```\n",
        "lane 13 % 8",
        "three times",
        "2.5 GB of it",
        "√2 times",
        "[a](b/5%20s.md)",
    ],
)
def test_what_is_no_figure_is_left_alone(text):
    assert found(text) == []


def test_numbers_that_share_a_unit_are_figures_each():
    assert found("from 0.77 to 0.40 ms, then 1, 2 and 3 s") == [
        *("0.77 ms", "0.40 ms"),
        *("1 s", "2 s", "3 s"),
    ]


def is_printed(text: str, output: str) -> bool:
    return printed(figures(text)[0], [output])


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("2.59 ms", "took 2.594 ms"),
        ("0.26 ms", "took 259 us"),
        ("2.7 TB/s", "copy    2741 GB/s"),
        ("78 %", "kernel      ms      %\nnaive     0.25    77.9"),
        ("15 times", "14.8 times fp32"),
        ("five hundred times", "501.3 times"),
        ("1,234 cycles", "1,234 cycles"),
    ],
)
def test_an_output_vouches_for_what_its_numbers_round_to(text, output):
    assert is_printed(text, output)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("2.59 ms", "took 2.58 ms"),
        ("2.59 ms", "2.59 GB/s"),
        ("2.59 ms", "2.59"),
        ("1 ms", "took 730 us"),
        ("4 ms", "elements   ms\n4          0.3"),
        ("78 %", "77.9\n50 %"),
    ],
)
def test_an_output_does_not_vouch_for_another_number_or_unit(text, output):
    assert not is_printed(text, output)


def complaints(text: str, **known) -> str:
    return "\n".join(problems(prose(text), [], Quotes(**known), "quotes/x.py"))


def test_a_figure_of_unknown_origin_is_named_with_what_to_add():
    said = complaints("The copy takes 2.59 ms.")
    assert "2.59 ms in “…The copy takes 2.59 ms.…”" in said
    assert "add '2.59 ms' to quotes/x.py: to QUOTES" in said


def test_a_record_a_source_and_the_lesson_vouch_for_a_figure():
    text = "It takes 2.59 ms of 4.8 TB/s. How long are 3 s?"
    quotes = {"takes 2.59 ms": lambda: 2.5933}
    facts = {"4.8 TB/s": "data sheet"}
    assert complaints(text, quotes=quotes, facts=facts, given=("are 3 s",)) == ""


def test_one_quoted_text_vouches_for_its_own_place_alone():
    said = complaints("It takes 2 ms. She takes 2 ms.", given=("It takes 2 ms",))
    assert "She takes 2 ms" in said and said.count("no output") == 1


def test_a_figure_that_the_record_left_behind_is_named():
    said = complaints("takes 2.59 ms", quotes={"2.59 ms": lambda: 2.61})
    assert said == "'2.59 ms': the records say 2.61, not 2.59"


def test_a_quoted_text_draws_as_many_numbers_as_it_has():
    quotes = {"0.77 to 0.40 ms": lambda: (0.774, 0.398)}
    assert complaints("from 0.77 to 0.40 ms", quotes=quotes) == ""
    quotes = {"0.77 to 0.40 ms": lambda: 0.774}
    assert "has 2 figures" in complaints("from 0.77 to 0.40 ms", quotes=quotes)


@pytest.mark.parametrize("known", [{"quotes": {"2 ms": lambda: 2}}, {"given": ("2 ms",)}])
def test_an_entry_that_nothing_quotes_is_named(known):
    assert "'2 ms' is not quoted any more" in complaints("No figure.", **known)


def test_an_entry_whose_text_has_no_figure_is_named():
    assert "not quoted" in complaints("two milliseconds", given=("two milliseconds",))


@pytest.mark.parametrize(
    ("text", "drawn", "right"),
    [
        ("more than 2000 GB/s", more_than(2122), True),
        ("more than 2000 GB/s", more_than(1990), False),
        ("more than 2000 GB/s", more_than(4000), False),
        ("less than 10 %", less_than(8.7), True),
        ("less than 10 %", less_than(10.2), False),
        ("about 40 times", about(42.3), True),
        ("about 40 times", about(46), False),
    ],
)
def test_a_round_number_says_how_it_is_meant(text, drawn, right):
    assert (complaints(text, quotes={text: lambda: drawn}) == "") == right
