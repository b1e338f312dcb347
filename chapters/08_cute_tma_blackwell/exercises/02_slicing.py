"""The exercises of "Slicing"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.errors import LessonError
from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.layouts import Layout

from .common import by_cute

FOLDER = "08_cute_tma_blackwell/exercises"

# --- The tile of a block ---


def any_tile(rng: np.random.Generator) -> tuple:
    shape = rng.integers(1, 300, 2) if rng.random() < 0.8 else rng.integers(1, 70_000, 2)
    tile = rng.integers(1, int(rng.choice((70, 700))), 2)
    grid = -(-shape // tile)
    corner = rng.random(2) < 0.6  # the last tile of a dimension is where it gets hard
    block = np.where(corner, grid - 1, rng.integers(0, grid))
    stride = rng.permutation([int(rng.choice((0, 1, 1, 2))), shape.max() + rng.integers(0, 9)])
    if rng.random() < 0.2:
        stride[int(rng.integers(0, 2))] = 0
    return tuple(tuple(map(int, part)) for part in (shape, stride, tile, block))


def tile_on_a_board(shape: tuple, stride: tuple, tile: tuple, block: tuple) -> tuple:
    """The rows and the columns of the whole matrix, looked through one by one."""
    rows, columns = (
        np.flatnonzero(np.arange(shape[mode]) // tile[mode] == block[mode]) for mode in (0, 1)
    )
    return int(rows[0] * stride[0] + columns[0] * stride[1]), len(rows), len(columns)


TILE = PythonExercise(
    id="08.block_tile",
    title="the tile of a block",
    task="""
Write `block_tile(shape, stride, tile, block)` for a matrix with the layout `shape:stride`, cut
into tiles of `tile[0]` x `tile[1]` elements: the offset at which the tile `block = (down,
across)` begins, and how many rows and columns of it exist. Neither extent need be a multiple of
the tile's. The tile holds one element at least.
""",
    source=f"{FOLDER}/block_tile.py",
    function="block_tile",
    cases=(
        ((8, 12), (12, 1), (4, 3), (1, 2)),
        ((8, 12), (12, 1), (4, 3), (0, 0)),
        ((8, 12), (1, 8), (4, 3), (1, 2)),
        ((10, 20), (20, 1), (8, 16), (1, 1)),
        ((10, 20), (32, 1), (8, 16), (1, 0)),
        ((1, 1), (1, 1), (32, 64), (0, 0)),
        ((37, 101), (101, 1), (32, 64), (1, 1)),
        ((700, 1100), (1103, 1), (128, 256), (5, 4)),
        ((700, 1100), (1, 0), (128, 256), (5, 4)),
        ((700, 1100), (0, 1), (128, 256), (5, 4)),
        ((65_000, 40), (70_001, 1), (128, 16), (400, 1)),
    ),
    reference=tile_on_a_board,
    promises=Cases(any_tile, 32),
    means="Any way to the numbers is right.",
    hints=(
        "In front of the block's tile lie `block[0]` tiles of `tile[0]` rows each.",
        "The offset is first row · stride[0] + first column · stride[1].",
        "`min(tile[0], shape[0] - first_row)` rows exist.",
    ),
    explanation="""
`local_tile` computes the first number and nothing else: its result has the tile's full shape at
the edges too. The other two numbers are what a predicate has to find out, element by element.
""",
    mutants=(
        mutant("the tile counted in elements", kinds.WRONG, ("extent * number", "number")),
        mutant(
            "rows and columns of tiles exchanged",
            kinds.WRONG,
            ("(tile, block,", "(tile, block[::-1],"),
        ),
        mutant("always row-major", kinds.WRONG, ("(first, stride,", "(first, (shape[1], 1),")),
        mutant(
            "no stride of 0",
            kinds.WRONG,
            ("(first, stride,", "(first, (stride[0], stride[1] or 1),"),
        ),
        mutant(
            "the full tile at the edges",
            kinds.WRONG,
            ("min(tile[mode], shape[mode] - first[mode])", "tile[mode]"),
        ),
        mutant(
            "the rest where the tile is full",
            kinds.WRONG,
            ("min(tile[mode], shape[mode] - first[mode])", "shape[mode] - first[mode]"),
        ),
        mutant(
            "the remainder, 0 where it divides",
            kinds.WRONG,
            (
                "min(tile[mode], shape[mode] - first[mode])",
                "min(tile[mode], shape[mode] % tile[mode] or 1)",
            ),
        ),
    ),
)

# --- The elements of a thread ---


def any_partition(rng: np.random.Generator) -> tuple:
    threads = [int(n) for n in rng.choice((1, 2, 3, 4, 8, 19), 2)]
    tile = [int(n * rng.integers(1, 5)) for n in threads]
    by = [threads[1], 1] if rng.random() < 0.5 else [1, threads[0]]
    if rng.random() < 0.5:  # the stride of a mode of one thread may be anything
        by = [0 if n == 1 else step for n, step in zip(threads, by, strict=True)]
    return tuple(tile), tuple(threads), tuple(by), int(rng.integers(0, threads[0] * threads[1]))


def dealt(tile: tuple, threads: tuple, by: tuple, thread: int) -> list:
    """Looked up in a table of who takes each place."""
    i, j = np.indices(tile)
    taker = i % threads[0] * by[0] + j % threads[1] * by[1]
    return [(int(i), int(j)) for j, i in np.argwhere((taker == thread).T)]


DOWN = "for i in range(row, tile[0], threads[0])"
ACROSS = "for j in range(column, tile[1], threads[1])"
BY_COLUMNS, BY_ROWS = f"{ACROSS} {DOWN}", f"{DOWN} {ACROSS}"

PARTITION = PythonExercise(
    id="08.thread_elements",
    title="the elements of a thread",
    task="""
Write `thread_elements(tile, threads, by, thread)`: the places (row, column) in a tile that
`local_partition` gives a thread. The layout `threads:by` says which thread is in row i, column j
of the arrangement: number `i * by[0] + j * by[1]`; each number from 0 on occurs once. The tile's
extents are multiples of those of `threads`. The list has the order in which one number counts
through the partition.
""",
    source=f"{FOLDER}/thread_elements.py",
    function="thread_elements",
    cases=(
        ((8, 12), (4, 3), (1, 4), 5),
        ((8, 12), (4, 3), (3, 1), 5),
        ((8, 16), (4, 8), (8, 1), 0),
        ((8, 16), (4, 8), (8, 1), 31),
        ((4, 4), (4, 4), (1, 4), 7),
        ((6, 2), (1, 1), (1, 1), 0),
        ((2, 12), (1, 4), (4, 1), 3),
        ((9, 3), (3, 1), (1, 3), 2),
        ((64, 48), (32, 16), (16, 1), 300),
        ((60, 3), (3, 1), (1, 3), 1),
        ((2, 12), (1, 4), (0, 1), 3),
        ((40, 80), (20, 40), (40, 1), 799),
    ),
    reference=dealt,
    promises=Cases(any_partition, 24),
    means="A table of the whole tile is as right as two steps.",
    hints=(
        "First the thread's place in the arrangement: try all (i, j) whose number it is.",
        "The arrangement repeats down and across: rows `i`, `i + threads[0]`, … of columns `j`, "
        "`j + threads[1]`, ….",
        "One number counts the leftmost mode fastest: the loop over rows is the inner one.",
    ),
    explanation="""
`local_partition` deals the tile out, as cards are dealt: neighbours go to different threads. That
is what coalesced accesses want, and it is `zipped_divide` once more: cut by the arrangement, and
the thread is the coordinate within the first mode.
""",
    mutants=(
        mutant(
            "neighbours to one thread",
            kinds.WRONG,
            (
                f"(i, j) {BY_COLUMNS}",
                "(row * (tile[0] // threads[0]) + i, column * (tile[1] // threads[1]) + j)\n"
                "        for j in range(tile[1] // threads[1])"
                " for i in range(tile[0] // threads[0])",
            ),
        ),
        mutant(
            "columns first",
            kinds.WRONG,
            (
                BY_COLUMNS,
                BY_ROWS,
            ),
        ),
        mutant(
            "(column, row)",
            kinds.WRONG,
            ("(i, j) for j in range(column", "(j, i) for j in range(column"),
        ),
        mutant(
            "threads always down the columns",
            kinds.WRONG,
            (
                "    return [",
                "    row, column = thread % threads[0], thread // threads[0]\n    return [",
            ),
        ),
        mutant(
            "threads always along the rows",
            kinds.WRONG,
            (
                "    return [",
                "    row, column = thread // threads[1], thread % threads[1]\n    return [",
            ),
        ),
        mutant("one row of each", kinds.WRONG, ("range(row, tile[0], threads[0])", "(row,)")),
    ),
)

# --- A gate for each row, a shift for each column ---


def gate_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "gate": floats(rng, rows),
        "shift": floats(rng, columns),
        "y": empty((rows, columns)),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def gated(given: dict) -> dict:
    x, gate, shift = (given[name].astype(np.float64) for name in ("x", "gate", "shift"))
    return {"y": gate[:, None] * x + shift}


FULL_TILES = (64, 128)
BY_FORMULAS = """const int i = blockIdx.y * 32 + threadIdx.x / 32 + v % 4 * 8;
        const int j = blockIdx.x * 64 + threadIdx.x % 32 + v / 4 * 32;
        const int at = i * columns + j;
        if (i < rows && j < columns) y[at] = gate[i] * x[at] + shift[j];"""
GATE = Exercise(
    id="08.gate_and_shift",
    title="a gate for each row, a shift for each column",
    task="""
Multiply each row of x by its gate and add to each column its shift:
`y[i][j] = gate[i] * x[i][j] + shift[j]`. Cut all that you need by `local_tile` and
`local_partition`, as `bias_by_tiles` does, and let neighbouring threads take neighbouring columns.
""",
    source=f"{FOLDER}/gate_and_shift.cu",
    kernel="gate_and_shift",
    inputs=gate_inputs,
    reference=gated,
    launch=lambda size: Launch((-(-size[1] // 64), -(-size[0] // 32)), (256,)),
    small=((37, 101), (32, 64), (1, 1)),
    full=(8192, 8192),
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 7, 31, 32, 33, 67, 131), columns=(1, 5, 63, 64, 65, 129, 301)
        ).with_longest(rows=2053, columns=2053),
        values=(
            (
                *promises.data("x", *promises.ORDINARY, *promises.STRANGE, promises.LARGE),
                promises.zero_times_infinity_along("gate", -1, "x", 0),
                promises.zero_times_infinity_along("x", 0, "gate", -1),
            ),
            (
                *promises.data("gate shift", *promises.ORDINARY),
                *promises.data("shift", promises.LARGE, promises.SOME_INFINITE)[1:],
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=FULL_TILES),
        Means(
            "sectors for each request to store y",
            lambda work: work.counts.global_store_sectors / work.counts.global_store_requests,
            at_most=5,  # four are 32 numbers
            advice="Neighbouring threads take neighbouring columns: which mode of the layout of "
            "threads has stride 1?",
            size=FULL_TILES,
        ),
        by_cute("cute/tensor", "Cut by `local_tile` and `local_partition`: no index formula."),
    ),
    hints=(
        "gate has one number a row: as a matrix, all columns of a row are at one place. Which "
        "stride is 0?",
        "Strides: `(columns, 1)` for x and y, `(1, 0)` for gate, `(0, 1)` for shift. The identity "
        "is `make_identity_tensor(shape)`.",
        "`local_partition(local_tile(whole, Shape<_32, _64>{}, place), Layout<Shape<_8, _32>, "
        "Stride<_32, _1>>{}, threadIdx.x)` for each of the five; `elem_less(where(v), shape)` "
        "before each store.",
    ),
    explanation="""
Vectors became matrices by a stride of 0, so that all five are cut alike, and the line that
computes names no index but v. A change of the tile or of the threads is a change in one place.
""",
    mutants=(
        mutant("no predicate", kinds.OUT_OF_BOUNDS, ("if (elem_less(where(v), shape)) ", "")),
        mutant(
            "the coordinates of the tile in place of the matrix's",
            kinds.OUT_OF_BOUNDS,
            ("make_identity_tensor(shape)", "make_identity_tensor(Shape<_32, _64>{})"),
            ("mine(make_identity", "unmoved(make_identity"),
            (
                "    Tensor from",
                "    const auto unmoved = [&](auto const& whole) {\n"
                "        return local_partition(whole, Layout<Shape<_8, _32>, Stride<_32, _1>>{}, "
                "threadIdx.x);\n    };\n    Tensor from",
            ),
        ),
        mutant(
            "gate along the columns",
            kinds.OUT_OF_BOUNDS,
            ("make_stride(_1{}, _0{})", "make_stride(_0{}, _1{})"),
        ),
        mutant(
            "a gate of 0 closes to infinity, too",
            kinds.WRONG,
            ("to(v) = factor(v)", "to(v) = factor(v) == 0.0f ? term(v) : factor(v)"),
        ),
        mutant(
            "0 times an infinite gate left out",
            kinds.WRONG,
            ("to(v) = factor(v)", "to(v) = from(v) == 0.0f ? term(v) : factor(v)"),
        ),
        mutant(
            "threads down the columns",
            kinds.MEANS_MISSING,
            ("Layout<Shape<_8, _32>, Stride<_32, _1>>", "Layout<Shape<_32, _8>>"),
        ),
        mutant(
            "by index formulas",
            kinds.MEANS_MISSING,
            ("int v = 0; v < size(to)", "int v = 0; v < 8"),
            ("if (elem_less(where(v), shape)) to(v) = factor(v) * from(v) + term(v);", BY_FORMULAS),
        ),
    ),
)

# --- Patches that overlap ---


def any_picture(rng: np.random.Generator) -> tuple:
    side, step = int(rng.choice((1, 2, 3, 4, 11))), int(rng.choice((1, 2, 3, 13)))
    height, width = (int(side + rng.integers(0, rng.choice((9, 60)))) for _ in range(2))
    return height, width, side, step


def offsets_of(function: Callable, *arguments: int) -> Any:
    """The offsets that the answer's layout has, (taps, patches) as int64."""
    found = function(*arguments)
    if found is None:
        return None
    try:
        layout = Layout(*found)
    except (TypeError, ValueError) as error:
        raise LessonError(f"{found} is no layout: {error}.") from None
    if layout.rank != 2:
        raise LessonError(f"{layout} has {layout.rank} modes; the taps and the patches are two.")
    return layout.offsets().reshape(layout[1].size, layout[0].size).T.copy()


def cut_out(height: int, width: int, side: int, step: int) -> np.ndarray:
    """The pixels' own numbers, cut out patch by patch."""
    numbers = np.arange(height * width).reshape(height, width)
    return np.array(
        [
            numbers[i : i + side, j : j + side].T.ravel()
            for j in range(0, width - side + 1, step)
            for i in range(0, height - side + 1, step)
        ]
    ).T


PATCHES = PythonExercise(
    id="08.patches",
    title="patches that overlap",
    task="""
A convolution looks at a picture through a window of `side` x `side` pixels, which moves by `step`
down and across. Write `patches(height, width, side, step)`: the (shape, stride) of the layout
that shows the row-major picture, without copying it, as (taps, patches). Tap (r, s) is row r,
column s of the window, patch (a, b) is the a-th position down and the b-th across that lies
wholly inside. Both modes are pairs, so that one number counts through them downwards first.
""",
    source=f"{FOLDER}/patches.py",
    function="patches",
    cases=(
        (4, 5, 3, 1),
        (4, 5, 2, 1),
        (6, 6, 2, 2),
        (7, 9, 3, 2),
        (3, 3, 3, 1),
        (1, 1, 1, 1),
        (5, 8, 1, 3),
        (9, 7, 2, 3),
        (40, 31, 7, 5),
    ),
    call=offsets_of,
    reference=cut_out,
    promises=Cases(any_picture),
    means="The layout's offsets are compared, so any that has them is right.",
    hints=(
        "How far is it in the picture from a tap to the one below it, and to the one beside it? "
        "And from patch to patch?",
        "A patch further down begins `step` rows further on. `(height - side) // step + 1` fit.",
        "Shape `((side, side), (down, across))`, stride `((width, 1), (step * width, step))`.",
    ),
    explanation="""
Most pixels are in several patches, at one address: a tensor is a pointer and a layout, and
nothing says that its elements have places of their own. Seen through this layout a convolution is
a matrix product of (patches, taps) and (taps, filters), and its kernel is the one for products:
*implicit GEMM*. `patches(_, p)` is patch p.
""",
    mutants=(
        mutant("the step forgotten", kinds.WRONG, ("(step * width, step))", "(width, 1))")),
        mutant(
            "the last patch missed",
            kinds.WRONG_SHAPE,
            ("(width - side) // step + 1", "max((width - side) // step, 1)"),
        ),
        mutant(
            "every patch counted",
            kinds.WRONG_SHAPE,
            (
                "(height - side) // step + 1, (width - side) // step + 1",
                "height - side + 1, width - side + 1",
            ),
        ),
        mutant("a window without gaps", kinds.WRONG, ("((width, 1), (", "((side, 1), (")),
        mutant("taps across first", kinds.WRONG, ("((width, 1), (", "((1, width), (")),
        mutant(
            "patches that do not overlap",
            kinds.WRONG,
            ("(step * width, step))", "(side * width, side))"),
        ),
        mutant(
            "modes exchanged",
            kinds.WRONG_SHAPE,
            (
                "((side, side), (down, across)), ((width, 1), (step * width, step))",
                "((down, across), (side, side)), ((step * width, step), (width, 1))",
            ),
        ),
    ),
)

EXERCISES = (TILE, PARTITION, GATE, PATCHES)
