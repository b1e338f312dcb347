"""Tables as text: columns of equal width under headings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Table:
    """Rows under headings; its text has columns of equal width, the first and last at the left."""

    def __init__(self, headings: tuple[str, ...], rows: list[tuple], last_is_text: bool = False):
        self.headings, self.rows, self._text = headings, rows, last_is_text

    def __iter__(self) -> Iterator[tuple]:
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
        cells = [self.headings, *(tuple(_cell(value) for value in row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            parts = [row[0].ljust(widths[0])]
            parts += [text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)]
            if self._text:
                parts[-1] = row[-1]
            lines.append("  ".join(parts).rstrip())
        return "\n".join(lines)

    __repr__ = __str__


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
