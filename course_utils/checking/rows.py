"""A case worked by hand: a few numbers as labelled rows, and matrices as small grids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

MOST_NUMBERS = 16  # of one array, longer ones are left out
UNWRITTEN = "?"
EXPECTED = "expected"  # its grid begins a new line, and the next one is beside it
GAP = "    "
WIDEST = 84  # characters of a line
PACKED = 1 << 12  # from here on an unsigned number is shown in hexadecimal: it may be packed fields


@dataclass(frozen=True)
class Rows:
    """Lines of numbers to print below a verdict. ``title`` says which case they are of."""

    title: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines)])


def labelled_rows(title: str, values: Mapping[str, Any]) -> Rows:
    """``values`` by label, in their order: inputs first, then ``expected`` and ``got``.

    A value is an array of any library, a list or a tuple of numbers, or anything else, which is
    shown by its text. Single numbers share the first line. An array of one axis is a row, and
    neighbouring rows share the line of their indices. One of two axes is a grid with row and
    column indices, one of more axes a grid for each index of its first axes. Grids are side by
    side. Arrays of more than MOST_NUMBERS numbers are left out. The masked elements of a masked
    array are shown as "?".
    """
    arrays = {label: _array(value) for label, value in values.items()}
    single = {
        label: array for label, array in arrays.items() if array is not None and not array.ndim
    }
    lines = [", ".join(f"{label} = {number(one[()])}" for label, one in single.items())]
    vectors: dict[str, np.ndarray] = {}
    grids: list[list[str]] = []
    for label, array in arrays.items():
        if label in single:
            continue
        if label == EXPECTED or array is None or array.ndim == 1:
            lines += _beside(grids)
            grids = []
        if array is not None and array.ndim == 1 and 0 < array.size <= MOST_NUMBERS:
            vectors[label] = array
            continue
        lines += _aligned(vectors)
        vectors = {}
        if array is None:
            lines.append(f"{label}  {values[label]!r}")
        elif array.size == 0:
            lines.append(f"{label}  (empty)")
        elif array.size <= MOST_NUMBERS:
            grids += _grids(label, array)
    lines = [*filter(None, lines), *_aligned(vectors), *_beside(grids)]
    return Rows(title, tuple(lines))


def number(value: Any) -> str:
    """A number as short as it can be: six digits of a float, hexadecimal for packed bits."""
    if value is np.ma.masked:
        return UNWRITTEN
    kind = np.asarray(value).dtype.kind
    if kind == "c":
        return f"{complex(value):.4g}"
    if kind == "u" and value >= PACKED:
        return f"{int(value):#x}"
    if kind in "iub":
        return str(value)
    return f"{float(value):.6g}"


def _array(value: Any) -> np.ndarray | None:
    """``value`` as an array of numbers, or None where it is something else."""
    if hasattr(value, "get") and hasattr(value, "dtype"):  # CuPy's, or the emulator's
        value = value.get()
    if isinstance(value, (str, bytes)):
        return None
    try:
        array = np.asanyarray(value)
    except ValueError:  # lists of several lengths
        return None
    numeric = array.dtype.kind in "biufc" or array.dtype.name.startswith(("bfloat", "float"))
    return array if numeric else None


def _beside(grids: list[list[str]]) -> list[str]:
    """Grids from left to right, as many as a line has room for."""
    lines: list[str] = []
    while grids:
        now = [grids.pop(0)]
        while grids and sum(len(each[0]) + len(GAP) for each in [*now, grids[0]]) <= WIDEST:
            now.append(grids.pop(0))
        widths = [len(each[0]) for each in now]
        for row in zip_longest(*now, fillvalue=""):
            line = GAP.join(f"{text:{width}}" for text, width in zip(row, widths, strict=True))
            lines.append(line.rstrip())
    return lines


def _aligned(vectors: Mapping[str, np.ndarray]) -> list[str]:
    """Rows below one line of indices, broken where they are too long."""
    if not vectors:
        return []
    cells = {label: [number(value) for value in row] for label, row in vectors.items()}
    most = max(map(len, cells.values()))
    return _table("", [f"[{i}]" for i in range(most)], cells)


def _grids(label: str, array: np.ndarray) -> list[list[str]]:
    """One grid for each index of all axes but the last two."""
    grids = []
    for outer in np.ndindex(array.shape[:-2]):
        name = f"{label}[{', '.join(map(str, outer))}]" if outer else label
        matrix = array[outer]
        cells = {f"[{i}]": [number(value) for value in row] for i, row in enumerate(matrix)}
        grids.append(_table(name, [f"[{i}]" for i in range(matrix.shape[1])], cells))
    return grids


def _table(corner: str, heads: list[str], cells: Mapping[str, list[str]]) -> list[str]:
    left = max(map(len, (corner, *cells)))
    width = max(len(cell) for row in (heads, *cells.values()) for cell in row) + 1
    at_once = max(1, (WIDEST - left) // width)
    lines = []
    for start in range(0, len(heads), at_once):
        part = slice(start, start + at_once)
        rows = {corner: heads[part], **{label: row[part] for label, row in cells.items()}}
        lines += [
            f"{label:{left}} {''.join(f'{cell:>{width}}' for cell in row)}"
            for label, row in rows.items()
            if row
        ]
    return lines
