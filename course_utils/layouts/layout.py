"""A layout: a function from coordinates to offsets, written as a shape and a stride."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import int_tuples
from .int_tuples import IntTuple, flatten, product


@dataclass(frozen=True, init=False)
class Layout:
    """The function from a coordinate (i, j, ...) to ``i * stride[0] + j * stride[1] + ...``.

    ``Layout((4, 8), (8, 1))`` is a row-major 4 × 8 matrix. Without a stride the leftmost number of
    the shape is fastest, as CuTe has it. Shape and stride may be nested alike: the mode ``(2, 4)``
    with stride ``(1, 16)`` is one dimension of 8 that is walked in two ways. A text is read as CuTe
    prints it: ``Layout("(4,8):(8,1)")``.

    Called with a coordinate it gives the offset. A coordinate may be one number, a number per
    mode, or nested as the shape is. A number counts the mode's elements with its leftmost part
    fastest.

    Raises ValueError for a shape or stride that no layout has.
    """

    shape: IntTuple
    stride: IntTuple

    def __init__(self, shape: IntTuple | str, stride: IntTuple | None = None) -> None:
        if isinstance(shape, str):
            if stride is not None:
                raise ValueError("a text holds the stride too: Layout('(4,8):(8,1)')")
            shape, stride = parsed(shape)
        checked = int_tuples.whole(shape, "shape", 1)
        if stride is None:
            steps = int_tuples.compact(checked)
        else:
            steps = int_tuples.whole(stride, "stride", 0)
        if not int_tuples.congruent(checked, steps):
            shown = f"{int_tuples.text(checked)} and {int_tuples.text(steps)}"
            raise ValueError(
                f"shape and stride have their parentheses in the same places, unlike {shown}"
            )
        object.__setattr__(self, "shape", checked)
        object.__setattr__(self, "stride", steps)

    def __str__(self) -> str:
        return f"{int_tuples.text(self.shape)}:{int_tuples.text(self.stride)}"

    def __repr__(self) -> str:
        return f'Layout("{self}")'

    @property
    def rank(self) -> int:
        """The number of modes (dimensions) at the top level."""
        return len(int_tuples.modes(self.shape))

    def __len__(self) -> int:
        return self.rank

    @property
    def depth(self) -> int:
        """How deep the shape is nested: 0 for a number, 1 for ``(4,8)``."""
        return int_tuples.depth(self.shape)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return product(self.shape)

    @cached_property
    def cosize(self) -> int:
        """The largest offset and one: how many elements a memory must have to hold the layout."""
        pairs = zip(flatten(self.shape), flatten(self.stride), strict=True)
        return 1 + sum((extent - 1) * step for extent, step in pairs)

    def __getitem__(self, mode: int) -> Layout:
        """One mode, as a layout."""
        if not -self.rank <= mode < self.rank:
            raise IndexError(f"{self} has modes 0 to {self.rank - 1}, none {mode}")
        return Layout(int_tuples.modes(self.shape)[mode], int_tuples.modes(self.stride)[mode])

    def __iter__(self) -> Iterator[Layout]:
        return (self[mode] for mode in range(self.rank))

    def __call__(self, *coordinate: IntTuple) -> int:
        """The offset of ``coordinate``. Raises ValueError where it does not fit the shape.

        A number beyond its mode, the last one where they are counted together, goes on with the
        same stride, as CuTe's does.
        """
        if not coordinate:
            raise ValueError(f"{self} asks for a coordinate: a number, or one a mode")
        given = coordinate[0] if len(coordinate) == 1 else coordinate
        return offset(int_tuples.whole(given, "coordinate", 0), self.shape, self.stride)

    def offsets(self) -> np.ndarray:
        """The offset of each coordinate, as int64 of shape (size,), leftmost number fastest."""
        found = np.zeros(1, np.int64)
        for extent, step in zip(flatten(self.shape), flatten(self.stride), strict=True):
            found = (np.arange(extent)[:, None] * step + found).ravel()
        return found

    def coordinate(self, index: int) -> IntTuple:
        """The nested coordinate with the number ``index``, in the order of :meth:`offsets`. Raises
        ValueError for a number outside the layout."""
        if not 0 <= index < self.size:
            raise ValueError(f"{self} has coordinates 0 to {self.size - 1}, none {index}")
        return coordinate_of(index, self.shape)


def row_major(shape: IntTuple) -> Layout:
    """``shape`` without gaps, its rightmost number fastest, as NumPy and C have it."""
    checked = int_tuples.whole(shape, "shape", 1)
    return Layout(checked, int_tuples.compact_rows(checked))


def together(*layouts: Layout) -> Layout:
    """One layout with a mode for each of ``layouts``."""
    return Layout(
        tuple(part.shape for part in layouts),
        tuple(part.stride for part in layouts),
    )


def offset(coordinate: IntTuple, shape: IntTuple, stride: IntTuple) -> int:
    """The offset of ``coordinate``, which may be coarser than ``shape`` and ``stride``.
    Raises ValueError where it is nested deeper or has another number of modes."""
    if isinstance(shape, int) or isinstance(stride, int):
        if isinstance(coordinate, tuple):
            raise ValueError(
                f"the coordinate {int_tuples.text(coordinate)} is nested deeper than its shape "
                f"{int_tuples.text(shape)}"
            )
        return coordinate * int(stride)  # type: ignore[arg-type]
    if isinstance(coordinate, tuple):
        if len(coordinate) != len(shape):
            raise ValueError(
                f"the coordinate {int_tuples.text(coordinate)} has {len(coordinate)} numbers, the "
                f"shape {int_tuples.text(shape)} {len(shape)} modes"
            )
        return sum(map(offset, coordinate, shape, stride))
    total = 0
    for mode, step in zip(shape[:-1], stride[:-1], strict=True):
        total += offset(coordinate % product(mode), mode, step)
        coordinate //= product(mode)
    return total + offset(coordinate, shape[-1], stride[-1])


def coordinate_of(index: int, shape: IntTuple) -> IntTuple:
    """The ``index``-th coordinate of ``shape``, nested as it is, leftmost number fastest."""
    if isinstance(shape, int):
        return index
    found = []
    for mode in shape:
        found.append(coordinate_of(index % product(mode), mode))
        index //= product(mode)
    return tuple(found)


def parsed(written: str) -> tuple[IntTuple, IntTuple | None]:
    """Shape and stride of a text such as ``(4,(2,3)):(2,(1,8))``, or ``_4:_1`` as CuTe prints
    numbers that the compiler knows. The stride is None where the text has none. Raises ValueError
    for any other text."""
    parts = written.replace("_", "").split(":")
    try:
        values = [ast.literal_eval(part.strip()) for part in parts]
    except (SyntaxError, ValueError):
        values = []
    if len(values) not in (1, 2):
        raise ValueError(f"{written!r} is no layout: write shape:stride, as in '(4,8):(8,1)'")
    return values[0], values[1] if len(values) == 2 else None
