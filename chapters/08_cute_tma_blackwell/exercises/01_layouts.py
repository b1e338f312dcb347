"""The exercises of "Layouts"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from course_utils import layouts
from course_utils.errors import LessonError
from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

from .common import by_cute

FOLDER = "08_cute_tma_blackwell/exercises"

# --- Nested coordinates ---


def shape_of(rng: np.random.Generator, depth: int) -> int | tuple:
    if depth == 0 or rng.random() < 0.35:
        return int(rng.integers(1, 7)) if rng.random() < 0.8 else int(rng.integers(100, 3000))
    return tuple(shape_of(rng, depth - 1) for _ in range(int(rng.integers(1, 4))))


def like(shape: int | tuple, number) -> int | tuple:
    """A tuple nested as ``shape``, each number made by ``number(extent)``."""
    if isinstance(shape, int):
        return number(shape)
    return tuple(like(part, number) for part in shape)


def count(shape: int | tuple) -> int:
    return shape if isinstance(shape, int) else int(np.prod([count(part) for part in shape]))


def coarse(shape: int | tuple, rng: np.random.Generator) -> int | tuple:
    """A coordinate of ``shape`` where a tuple may be counted by one number."""
    if isinstance(shape, int) or rng.random() < 0.35:
        return int(rng.integers(0, count(shape)))
    return tuple(coarse(part, rng) for part in shape)


def any_coordinate(rng: np.random.Generator) -> tuple:
    shape = shape_of(rng, 3)
    most = int(rng.choice((3, 100, 1 << 33)))
    stride = like(shape, lambda _: int(rng.integers(-most, most)) * int(rng.random() < 0.9))
    return coarse(shape, rng), shape, stride


def by_odometer(coordinate: int | tuple, shape: int | tuple, stride: int | tuple) -> int:
    """The offset, with one number first written as the digits of an odometer."""
    extents, steps = [], []

    def flat(part: int | tuple, into: list) -> None:
        if isinstance(part, int):
            into.append(part)
        else:
            for inner in part:
                flat(inner, into)

    if isinstance(coordinate, tuple):
        return sum(map(by_odometer, coordinate, shape, stride))  # type: ignore[arg-type]
    flat(shape, extents)
    flat(stride, steps)
    return int(np.dot(np.unravel_index(coordinate, extents, order="F"), steps))


def without_layouts(function: Callable, *arguments: int | tuple) -> Any:
    """What ``function`` says while the course's own layouts refuse to be made."""

    def refused(*_: Any, **__: Any) -> None:
        raise LessonError("the course's layouts do not answer here: compute the offset yourself.")

    with patch.object(layouts.Layout, "__init__", refused):
        return function(*arguments)


OFFSET = PythonExercise(
    id="08.nested_offset",
    title="the function that a layout is",
    task="""
Write `nested_offset(coordinate, shape, stride)`: the offset that a layout gives a coordinate. Shape
and stride are numbers, or tuples of numbers and tuples, nested alike. The coordinate is nested as
the shape is, except that one number may stand wherever the shape has a tuple: it counts that
tuple's elements, the leftmost number fastest. NumPy is not needed, and the course's own layouts
do not answer here.
""",
    source=f"{FOLDER}/nested_offset.py",
    function="nested_offset",
    cases=(
        (5, 8, 3),
        ((2, 3), (4, 8), (8, 1)),
        (11, (4, 8), (8, 1)),
        ((1, (1, 2)), (4, (2, 4)), (2, (1, 8))),
        ((3, 5), (4, (2, 4)), (2, (1, 8))),
        (13, (4, (2, 4)), (2, (1, 8))),
        ((7,), ((2, (2, 2)),), ((1, (10, 100)),)),
        (23, ((2, 3), (2, 2)), ((50, 7), (1, 0))),
        (13, (4, (2, 4)), (-2, (1, 8))),
        (203, (2, 1, 3, 2, 2, (3, 2, 2)), (1, 7, 30, 4, 200, (11, -5, 1000))),
        (0, 1, 9),
    ),
    call=without_layouts,
    reference=by_odometer,
    promises=Cases(any_coordinate),
    means="Any way to the number is right.",
    hints=(
        "Three cases: the shape is a number; the coordinate is a tuple as the shape is; the "
        "coordinate is one number and the shape a tuple.",
        "In the third case the first mode takes the remainder by its size, and what is left after "
        "the division belongs to the next modes. Its size is the product of all its numbers.",
        "Let the function call itself for each mode: `nested_offset(coordinate % size, shape[0], "
        "stride[0])`.",
    ),
    explanation="""
A layout is this function and nothing else. In CuTe it runs at compile time as far as the numbers
are known there. What is left of it are a few multiplications, and a division wherever one number is
taken apart by an extent that only the running program knows.
""",
    mutants=(
        mutant(
            "the rightmost number fastest",
            kinds.WRONG,
            ("zip(shape, stride, strict=True):", "zip(shape[::-1], stride[::-1], strict=True):"),
        ),
        mutant(
            "only the first number of a mode counts",
            kinds.WRONG,
            ("size = count(mode)", "size = mode if isinstance(mode, int) else mode[0]"),
        ),
        mutant("no remainder", kinds.WRONG, ("coordinate % size", "coordinate")),
        mutant(
            "the course's layout",
            kinds.EXCEPTION,
            (
                "    if isinstance(shape, int):\n        return coordinate * stride\n",
                "    from course_utils import layouts\n\n"
                "    return layouts.Layout(shape, stride)(coordinate)\n",
            ),
        ),
        mutant(
            "tuples of numbers only",
            kinds.EXCEPTION,
            ("nested_offset(part, mode, step)", "part * step"),
        ),
    ),
)

# --- A layout of tiles ---


def tiles_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": floats(rng, rows * columns),
        "y": empty(rows * columns),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def tiles_reference(given: dict) -> dict:
    rows, columns = int(given["rows"]), int(given["columns"])
    tiles = given["x"].reshape(rows // 8, 8, columns // 8, 8)
    return {"y": tiles.transpose(2, 0, 1, 3).ravel()}


TILES = Exercise(
    id="08.tile_by_tile",
    title="a layout of tiles",
    task="""
Store a row-major matrix tile by tile: 8 x 8 elements, one row of the tile after the other, then the
next tile below; below the last one comes the top of the next column of tiles. Rows and columns are
multiples of 8. The layout `from` of x is there; write the one of y, and let it give the place of an
element in y: no index formula.
""",
    source=f"{FOLDER}/tile_by_tile.cu",
    kernel="tile_by_tile",
    inputs=tiles_inputs,
    reference=tiles_reference,
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 8)), (32, 8)),
    small=((24, 40), (8, 8), (16, 64)),
    full=(8192, 8192),
    promises=Promises(
        sizes=promises.shapes(
            rows=(8, 16, 24, 56, 136, 1048), columns=(8, 16, 40, 72, 264, 1032)
        ).with_longest(rows=8200),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    exact=True,
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        by_cute(
            "cute/",
            "Let a layout `to` give the places in y: no index formula.",
            at_least=3 * 48,  # `from` alone is one instruction in each of 48 warps
        ),
    ),
    hints=(
        "How far is it in y from a row to the next within a tile? From a tile to the one below it? "
        "From a tile to the one beside it?",
        "Within a tile: 8 from row to row, 1 from column to column. A tile has 64 elements, and a "
        "column of tiles has rows / 8 of them.",
        "`make_stride(make_stride(_8{}, _64{}), make_stride(_1{}, 8 * rows))`.",
    ),
    explanation="""
The statement that moves an element did not change: `to(i, j)` takes the row and the column of the
matrix, and the nested modes make the tiles. Fast kernels store operands so: a tile that is one
piece of memory can be fetched by one bulk copy.
""",
    mutants=(
        mutant(
            "columns first within the tile",
            kinds.WRONG,
            (
                "make_stride(_8{}, _64{}), make_stride(_1{}",
                "make_stride(_1{}, _64{}), make_stride(_8{}",
            ),
        ),
        mutant(
            "tiles row by row",
            kinds.WRONG,
            (
                "make_stride(_8{}, _64{}), make_stride(_1{}, 8 * rows)",
                "make_stride(_8{}, 8 * columns), make_stride(_1{}, _64{})",
            ),
        ),
        mutant(
            "row-major as x",
            kinds.WRONG,
            (
                "make_stride(make_stride(_8{}, _64{}), make_stride(_1{}, 8 * rows))",
                "make_stride(make_stride(columns, 8 * columns), make_stride(_1{}, _8{}))",
            ),
        ),
        mutant(
            "by an index formula",
            kinds.MEANS_MISSING,
            (
                "y[to(i, j)] = x[from(i, j)]",
                "y[(j / 8 * (rows / 8) + i / 8) * 64 + i % 8 * 8 + j % 8] = x[i * columns + j]",
            ),
        ),
        mutant(
            "a formula by the name of a layout",
            kinds.MEANS_MISSING,
            (
                "make_layout(make_shape(make_shape(_8{}, rows / 8), "
                "make_shape(_8{}, columns / 8)),\n"
                "                          make_stride(make_stride(_8{}, _64{}), "
                "make_stride(_1{}, 8 * rows)))",
                "[&](int a, int b) { return a % 8 * 8 + a / 8 * 64 + b % 8 + b / 8 * 8 * rows; }",
            ),
        ),
        mutant("a short stride", kinds.DATA_RACE, ("8 * rows", "(unsigned short)(8 * rows)")),
    ),
)

# --- Who owns an element ---


def any_owner(rng: np.random.Generator) -> tuple:
    """A thread-value layout of a tile, some of whose elements nobody holds, and an element."""
    if rng.random() < 0.4:
        return any_interlaced(rng)
    extents = [int(n) for n in rng.choice((1, 2, 2, 3, 4, 8), 4)]
    if rng.random() < 0.3:  # many threads, or many values of each
        extents = [int(n) for n in rng.choice((1, 2), 4)]
        extents[int(rng.integers(0, 4))] = int(rng.integers(257, 2000))
    order, reach, strides = rng.permutation(4), 1, [0] * 4
    for place in order:
        strides[place] = reach
        reach *= extents[place] * int(rng.choice((1, 1, 1, 2)))
    element = int(rng.integers(0, reach))
    return tuple(extents[:2]), tuple(extents[2:]), tuple(strides[:2]), tuple(strides[2:]), element


def any_interlaced(rng: np.random.Generator) -> tuple:
    """The same with strides of which none need be a multiple of another."""
    while True:
        extents = [int(n) for n in rng.integers(1, 4, 4)]
        strides = [int(n) for n in rng.integers(1, 12, 4)]
        held = np.tensordot(strides, np.indices(extents), 1).ravel()
        if len(set(held.tolist())) == len(held):
            element = int(rng.choice(held)) if rng.random() < 0.8 else int(rng.integers(0, 40))
            return (
                tuple(extents[:2]),
                tuple(extents[2:]),
                tuple(strides[:2]),
                tuple(strides[2:]),
                element,
            )


def searched(
    threads: tuple, values: tuple, by_thread: tuple, by_value: tuple, element: int
) -> tuple:
    """Looked up in a table of all elements."""
    t, v = np.indices((threads[0] * threads[1], values[0] * values[1]))
    held = sum(
        n % extents[0] * steps[0] + n // extents[0] * steps[1]
        for n, extents, steps in ((t, threads, by_thread), (v, values, by_value))
    )
    found = np.argwhere(held == element)
    return tuple(int(n) for n in found[0]) if len(found) else (-1, -1)


GREEDY = """    modes = [(by_thread[k], threads[k], 0, (1, threads[0])[k]) for k in (0, 1)]
    modes += [(by_value[k], values[k], 1, (1, values[0])[k]) for k in (0, 1)]
    found = [0, 0]
    for stride, extent, of, weight in sorted(modes, reverse=True):
        steps = min(element // stride, extent - 1)
        element -= steps * stride
        found[of] += steps * weight
    return (-1, -1) if element else tuple(found)
"""

OWNER = PythonExercise(
    id="08.owner",
    title="who holds element 37?",
    task="""
A thread-value layout sends (thread, value) to an element of a tile. Both modes have two numbers:
thread t is (t % T0, t / T0) and moves `by_thread[0]` and `by_thread[1]` elements a step, value v is
(v % V0, v / V0) and moves `by_value[0]`, `by_value[1]`. Write `owner(threads, values, by_thread,
by_value, element)`: the pair (thread, value) that holds `element`, or (-1, -1) where nobody does.
No two pairs hold the same element, and strides are at least 1.
""",
    source=f"{FOLDER}/owner.py",
    function="owner",
    cases=(
        ((4, 8), (2, 2), (32, 1), (16, 8), 37),
        ((4, 8), (2, 2), (32, 1), (16, 8), 0),
        ((4, 8), (2, 2), (32, 1), (16, 8), 127),
        ((2, 2), (2, 1), (2, 8), (1, 4), 4),
        ((2, 2), (2, 2), (2, 8), (1, 4), 6),
        ((1, 1), (1, 1), (1, 1), (1, 1), 0),
        ((1, 1), (1, 1), (1, 1), (1, 1), 3),
        ((8, 4), (1, 1), (1, 8), (1, 1), 31),
        ((2, 1), (3, 1), (5, 1), (3, 1), 6),
        ((32, 8), (4, 8), (4, 128), (1, 1024), 8191),
        ((64, 32), (2, 1), (2, 128), (1, 1), 4093),
        ((2, 1), (512, 1), (512, 1), (1, 1), 300),
    ),
    reference=searched,
    promises=Cases(any_owner, 24),
    means="Looking through all pairs is as right as dividing by the strides.",
    hints=(
        "The tile is small: going through all pairs is a fair way.",
        "Four loops, or two with % and //. Compare the offset with `element`.",
        "`for t in range(threads[0] * threads[1])`, and inside it the same for v.",
    ),
    explanation="""
From a wrong element of a result to the thread that computed it: this is the way. Where a
thread-value layout leaves no element out, CuTe's `right_inverse` of it is the same table, as a
layout.
""",
    mutants=(
        mutant(
            "the second number fastest",
            kinds.WRONG,
            (
                "t % threads[0] * by_thread[0] + t // threads[0] * by_thread[1]",
                "t // threads[1] * by_thread[0] + t % threads[1] * by_thread[1]",
            ),
        ),
        mutant("value first", kinds.WRONG, ("return t, v", "return v, t")),
        mutant("nobody is thread 0", kinds.WRONG, ("return -1, -1", "return 0, 0")),
        mutant(
            "128 threads at most",
            kinds.WRONG,
            ("range(threads[0] * threads[1])", "range(min(threads[0] * threads[1], 128))"),
        ),
        mutant(
            "256 values at most",
            kinds.WRONG,
            ("range(values[0] * values[1])", "range(min(values[0] * values[1], 256))"),
        ),
        mutant(
            "by the longest stride first",
            kinds.WRONG,
            ("    for t in", GREEDY + "    for t in"),
        ),
        mutant("one value a thread", kinds.WRONG, ("range(values[0] * values[1])", "range(1)")),
    ),
)

EXERCISES = (OFFSET, TILES, OWNER)
