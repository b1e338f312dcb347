"""Tables as text."""

import pytest

from course_utils.text_tables import (
    Column,
    Columns,
    Table,
    markdown_table,
    pairs,
    size_in_words,
)


def test_a_table_is_as_wide_as_what_is_in_it():
    table = Table(("kernel", "ms", "of"), [("add", 1.5, "a"), ("multiply", 1234, "bcd")], ["of"])
    assert str(table).splitlines() == [
        "kernel       ms  of",
        "add        1.50  a",
        "multiply  1,234  bcd",
    ]


def test_a_table_without_rows_has_its_headings():
    assert str(Table(("kernel", "ms"), [])) == "kernel  ms"


def test_a_row_is_found_by_what_it_begins_with():
    table = Table(("kernel", "ms"), [("add", 1.5)])
    assert table["add"] == 1.5
    with pytest.raises(KeyError, match="no row 'sub'; there are add"):
        table["sub"]


def test_rows_printed_as_they_come_stand_below_their_headings():
    columns = Columns(Column("kernel", 8, left=True), Column("ms", 8, ",.2f"), Column("registers"))
    assert columns.headings == "kernel          ms  registers"
    assert columns.row("add", 1234.5, 8) == "add       1,234.50          8"


def test_a_row_needs_a_value_for_each_column():
    with pytest.raises(ValueError, match="argument"):
        Columns(Column("kernel"), Column("ms")).row("add")


def test_pairs_have_their_values_in_one_column():
    rows = [("threads", "1,024"), ("blocks", "8")]
    assert pairs(rows).splitlines() == ["threads 1,024", "blocks  8"]
    assert pairs(rows, name_width=8, right=True).splitlines() == [
        "threads  1,024",
        "blocks       8",
    ]


def test_a_size_is_told_by_its_extents():
    assert size_in_words(1000) == "1000" and size_in_words((33, 17)) == "33 x 17"
    assert size_in_words([4096, 512], ",", " × ") == "4,096 × 512"


def test_a_column_of_a_markdown_table_is_at_the_right_if_its_heading_ends_in_a_colon():
    table = markdown_table("kernel|time:", [("add", "1 ms"), ("sub", "2 ms")])
    assert table.splitlines() == [
        "| kernel | time |",
        "|---|--:|",
        "| add | 1 ms |",
        "| sub | 2 ms |",
    ]
