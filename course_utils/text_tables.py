"""Tables as text or Markdown: a whole one at once, or rows that are printed as they come."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import LessonError

GAP = 2  # blanks between two columns


@dataclass(frozen=True)
class Column:
    """A column under a ``heading``, at least ``width`` characters wide, its texts at the right or,
    with ``left``, at the left. ``spec`` is how a value is written: ``",.1f"``."""

    heading: str = ""
    width: int = 0
    spec: str = ""
    left: bool = False

    def text(self, value: Any) -> str:
        """``value`` as text, not yet aligned."""
        return format(value, self.spec) if self.spec else str(value)

    def aligned(self, text: str) -> str:
        """``text`` at its place in the column, which also has room for the heading."""
        width = max(self.width, len(self.heading))
        return text.ljust(width) if self.left else text.rjust(width)


class Columns:
    """The columns of a table whose rows are printed as they come, so that widths are fixed.

    A text that is wider than its column moves the rest of its row to the right.
    """

    def __init__(self, *columns: Column, gap: int = GAP):
        self._columns, self._gap = columns, gap

    @property
    def headings(self) -> str:
        """The first line of the table."""
        return self._joined(column.heading for column in self._columns)

    def row(self, *values: Any) -> str:
        """One line, with a value for each column."""
        return self._joined(
            column.text(value) for column, value in zip(self._columns, values, strict=True)
        )

    def _joined(self, texts: Iterator[str]) -> str:
        cells = (column.aligned(text) for column, text in zip(self._columns, texts, strict=True))
        return (" " * self._gap).join(cells).rstrip()


class Table:
    """Rows under headings. Its text has columns as wide as their contents.

    The first column is aligned at the left, and so are those whose heading is in ``left``. Floats
    are written with two decimals, thousands are separated.
    """

    def __init__(
        self, headings: Sequence[str], rows: Sequence[Sequence[Any]], left: Collection[str] = ()
    ):
        self.headings, self.rows, self._left = headings, rows, left

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        """The second column of the row that begins with ``key``."""
        for row in self.rows:
            if row[0] == key:
                return row[1]
        raise KeyError(f"no row {key!r}; there are {', '.join(str(row[0]) for row in self.rows)}")

    def __str__(self) -> str:
        rows = [[_cell(value) for value in row] for row in self.rows]
        left = {self.headings[0], *self._left}
        columns = Columns(
            *(
                Column(
                    heading, max((len(row[place]) for row in rows), default=0), "", heading in left
                )
                for place, heading in enumerate(self.headings)
            )
        )
        return "\n".join([columns.headings, *(columns.row(*row) for row in rows)])

    __repr__ = __str__


def pairs(rows: Sequence[tuple[str, str]], *, name_width: int = 0, right: bool = False) -> str:
    """(name, value) rows without headings: names in a column of at least ``name_width``
    characters, values after them at the left, or at the ``right`` of their own column."""
    names = max([name_width, *(len(name) for name, _ in rows)])
    values = max((len(value) for _, value in rows), default=0)
    columns = Columns(Column(width=names, left=True), Column(width=values, left=not right), gap=1)
    return "\n".join(columns.row(*row) for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def size_in_words(size: Any, spec: str = "", times: str = " x ") -> str:
    """A size, or its extent along each axis, formatted by ``spec``: "1000", "33 x 17 x 5"."""
    extents = size if isinstance(size, (tuple, list)) else (size,)
    return times.join(format(extent, spec) for extent in extents)


def markdown_table(headings: str, rows: Iterable[Iterable[str]]) -> str:
    """The lines of a Markdown table. ``headings`` is "kernel|time:": a column is aligned at the
    right if its heading ends in a colon, which isn't shown."""
    names = headings.split("|")
    rules = ("--:" if name.endswith(":") else "---" for name in names)
    lines = [
        f"| {' | '.join(name.rstrip(':') for name in names)} |",
        f"|{'|'.join(rules)}|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines)


def between_marks(text: str, marks: tuple[str, str], table: str, file: str) -> str:
    """The ``text`` of ``file`` with ``table`` between its two ``marks``. Raises LessonError if a
    mark is missing."""
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (begin and end):
        raise LessonError(f"{file} needs `{marks[0].strip()}` and `{marks[1]}` around its table.")
    return f"{before}{begin}{table}{end}{after}"
