"""A case worked by hand: a few numbers as labelled rows, and matrices as small grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from .indices import element

MOST_NUMBERS = 16  # of one array, longer ones are left out
FEW = 6  # numbers of an array that a line names one by one
UNWRITTEN = "?"
EXPECTED = "expected"  # its grid begins a new line, and the next one is beside it
GOT = "got"  # begins a new line after several grids of what is expected
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


@dataclass(frozen=True)
class ArrayPart:
    """Some elements of an array: ``array`` holds those at ``indices``, a sequence for each axis.
    It is shown with these indices, however many elements it has."""

    array: np.ndarray
    indices: tuple[Sequence[int], ...]

    @property
    def heads(self) -> list[list[str]]:
        """The indices as text, a list for each axis."""
        return [[f"[{i}]" for i in axis] for axis in self.indices]


class FewNumbers:
    """Shown instead of a large array whose elements, but for a few, are the same number."""

    def __init__(
        self, name: str, array: np.ndarray, common: Any, others: Sequence[tuple[int, ...]]
    ):
        named = (f"{element(name, at)} = {number(array[at])}" for at in others)
        self._text = f"all {number(common)}"
        if others:
            self._text += f", but {', '.join(named)}"

    def __repr__(self) -> str:
        return self._text

    @classmethod
    def of(cls, name: str, array: np.ndarray) -> FewNumbers | None:
        """``array`` by the number that most elements have, and the others. None of more others
        than FEW."""
        numbers, counts = np.unique(array.astype(np.float64), return_counts=True)
        common = numbers[np.argmax(counts)]
        others = np.argwhere(array.astype(np.float64) != common)
        if len(others) > FEW:
            return None
        return cls(name, array, common, [tuple(int(i) for i in at) for at in others])


def labelled_rows(title: str, values: Mapping[str, Any]) -> Rows:
    """``values`` by label, in their order: inputs first, then ``expected`` and ``got``.

    A value is an array of any library, a list or a tuple of numbers, or anything else, which is
    shown by its text. Single numbers share the first line. An array of one axis is a row, and
    neighbouring rows share the line of their indices. One of two axes is a grid with row and
    column indices, one of more axes a grid for each index of its first axes. Grids are side by
    side. Arrays of more than MOST_NUMBERS numbers are left out. The masked elements of a masked
    array are shown as "?". A :class:`ArrayPart` is shown like an array.
    """
    parts = {label: _part(value) for label, value in values.items()}
    arrays = {label: None if part is None else part.array for label, part in parts.items()}
    single = {
        label: array for label, array in arrays.items() if array is not None and not array.ndim
    }
    lines = [", ".join(f"{label} = {number(one[()])}" for label, one in single.items())]
    vectors: dict[str, ArrayPart] = {}
    grids: list[list[str]] = []
    for label, array in arrays.items():
        if label in single:
            continue
        after_several = label == GOT and len(grids) > 1
        if label == EXPECTED or after_several or array is None or array.ndim == 1:
            lines += _beside(grids)
            grids = []
        part = parts[label]
        few = array is not None and (array.size <= MOST_NUMBERS or part is values[label])
        if part is not None and part.array.ndim == 1 and part.array.size and few:
            if not _share_indices(part, vectors):
                lines += _aligned(vectors)
                vectors = {}
            vectors[label] = part
            continue
        lines += _aligned(vectors)
        vectors = {}
        if part is None:
            lines.append(f"{label}  {values[label]!r}")
        elif part.array.size == 0:
            lines.append(f"{label}  (empty)")
        elif few:
            grids += _grids(label, part)
    lines = [*filter(None, lines), *_aligned(vectors), *_beside(grids)]
    return Rows(title, tuple(lines))


def shown_alike(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape have the same text in a case, digit by digit."""
    one, other = _array(a), _array(b)
    if one is None or other is None or one.shape != other.shape:
        return False
    pairs = zip(one.reshape(-1), other.reshape(-1), strict=True)
    return all(number(x).replace("-0j", "+0j") == number(y).replace("-0j", "+0j") for x, y in pairs)


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


def _part(value: Any) -> ArrayPart | None:
    """``value`` as a part of an array, all of it where it is no :class:`ArrayPart`."""
    if isinstance(value, ArrayPart):
        return value
    array = _array(value)
    return None if array is None else ArrayPart(array, tuple(range(n) for n in array.shape))


def _share_indices(part: ArrayPart, vectors: Mapping[str, ArrayPart]) -> bool:
    """Whether one line of indices serves ``part`` and the rows before it."""
    return all(
        a == b
        for other in vectors.values()
        for a, b in zip(part.indices[0], other.indices[0], strict=False)
    )


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


def _aligned(vectors: Mapping[str, ArrayPart]) -> list[str]:
    """Rows below one line of indices, broken where they are too long."""
    if not vectors:
        return []
    cells = {label: [number(value) for value in part.array] for label, part in vectors.items()}
    heads = max((part.heads[0] for part in vectors.values()), key=len)
    return _table("", heads, cells)


def _grids(label: str, part: ArrayPart) -> list[list[str]]:
    """One grid for each index of all axes but the last two."""
    grids = []
    *_, down, across = part.heads
    for outer in np.ndindex(part.array.shape[:-2]):
        at = [str(axis[i]) for axis, i in zip(part.indices, outer, strict=False)]
        name = f"{label}[{', '.join(at)}]" if outer else label
        rows = zip(down, part.array[outer], strict=True)
        grids.append(_table(name, across, {head: [number(v) for v in row] for head, row in rows}))
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
