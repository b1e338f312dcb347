"""The exercises of "Tiled copies"."""

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
from course_utils.layouts import Layout, raked_product, right_inverse

from .common import by_cute, bytes_a_copy

FOLDER = "08_cute_tma_blackwell/exercises"

# --- The elements of a thread ---


def any_order(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[int, int]:
    """The strides of ``shape`` without gaps, one number or the other fastest; that of a mode of one
    element may be 0."""
    stride = (1, shape[0]) if rng.random() < 0.5 else (shape[1], 1)
    bare = rng.random() < 0.5
    return tuple(0 if bare and n == 1 else step for n, step in zip(shape, stride, strict=True))


def any_copy(rng: np.random.Generator) -> tuple:
    threads, values = (tuple(int(n) for n in rng.choice((1, 2, 3, 8, 19), 2)) for _ in range(2))
    thread = int(rng.integers(0, threads[0] * threads[1]))
    return threads, any_order(rng, threads), values, any_order(rng, values), thread


def by_the_product(
    threads: tuple, by_thread: tuple, values: tuple, by_value: tuple, thread: int
) -> list:
    """CuTe's way: the raked product says who has which element, and as which value."""
    product = raked_product(Layout(threads, by_thread), Layout(values, by_value))
    rows = product[0].size
    held = right_inverse(product).offsets().reshape(values[0] * values[1], -1)[:, thread]
    return [(int(element % rows), int(element // rows)) for element in held]


HELD = "down * values[0] + held[v][0], across * values[1] + held[v][1]"

ELEMENTS = PythonExercise(
    id="08.copy_elements",
    title="what a thread moves",
    task="""
Write `copy_elements(threads, by_thread, values, by_value, thread)`: the elements (row, column) of
the tile that a thread of `make_tiled_copy(atom, threads:by_thread, values:by_value)` moves, in
the order of its values 0, 1, 2, …. Both layouts have two modes and give each number from 0 on
once: in row i, column j of the arrangement of threads is thread `i * by_thread[0] + j *
by_thread[1]`, and so for values. A thread's values are neighbours, in a patch of `values[0]` x
`values[1]`.
""",
    source=f"{FOLDER}/copy_elements.py",
    function="copy_elements",
    cases=(
        ((4, 8), (8, 1), (1, 4), (4, 1), 13),
        ((4, 8), (1, 4), (1, 4), (4, 1), 13),
        ((2, 2), (2, 1), (2, 2), (1, 2), 1),
        ((2, 2), (2, 1), (2, 2), (2, 1), 1),
        ((3, 2), (1, 3), (2, 1), (1, 2), 5),
        ((1, 1), (1, 1), (2, 3), (3, 1), 0),
        ((4, 1), (1, 4), (1, 1), (1, 1), 2),
        ((32, 8), (8, 1), (3, 16), (16, 1), 201),
        ((4, 1), (1, 0), (1, 8), (0, 1), 2),
    ),
    reference=by_the_product,
    promises=Cases(any_copy),
    means="Any way to the elements is right.",
    hints=(
        "Find the thread's place (down, across) in its arrangement, by trying all of them.",
        "The thread's patch begins at row `down * values[0]`, column `across * values[1]`.",
        "For each value number find its place in the patch, as for the thread, and add.",
    ),
    explanation="""
That is a raked product: within each mode the value is the fast number, the thread the slow one.
`make_tiled_copy` takes this product, which goes from an element to (thread, value), and inverts
it, for a thread asks the other way round.
""",
    mutants=(
        mutant(
            "threads dealt out one by one",
            kinds.WRONG,
            (HELD, "down + held[v][0] * threads[0], across + held[v][1] * threads[1]"),
        ),
        mutant("(column, row)", kinds.WRONG, (HELD, ", ".join(HELD.split(", ")[::-1]))),
        mutant(
            "values always down the columns",
            kinds.WRONG,
            ("places(values, by_value)", "places(values, (1, values[0]))"),
        ),
        mutant(
            "values always along the rows",
            kinds.WRONG,
            ("places(values, by_value)", "places(values, (values[1], 1))"),
        ),
        mutant(
            "threads always along the rows",
            kinds.WRONG,
            ("places(threads, by_thread)", "places(threads, (threads[1], 1))"),
        ),
        mutant("one value", kinds.WRONG, ("range(values[0] * values[1])", "range(1)")),
    ),
)

# --- Layouts for a coalesced copy ---

SECTOR, WARP = 32, 32  # bytes, threads


def any_tile(rng: np.random.Generator) -> tuple:
    """A tile that every number of threads divides, of which some have no line to themselves."""
    element = int(rng.choice((1, 2, 4, 8, 16)))
    threads = int(rng.choice((32, 64, 128, 256, 1024)))
    by_rows = bool(rng.random() < 0.5)
    count = 16 // element
    along = count * int(rng.choice((2, 4, 8, 16, 32, 512)))
    lines = threads * int(rng.choice((1, 2)))
    return ((lines, along) if by_rows else (along, lines)), by_rows, threads, element


def as_layout(shape: Any, stride: Any, what: str) -> Layout:
    try:
        layout = Layout(shape, stride)
    except (TypeError, ValueError) as error:
        raise LessonError(f"{shape} and {stride} are no layout of {what}: {error}.") from None
    if layout.rank != 2:
        raise LessonError(f"{layout} has {layout.rank} modes; a layout of {what} has two here.")
    if sorted(layout.offsets()) != list(range(layout.size)):
        raise LessonError(f"{layout} does not give each of {layout.size} {what} one number.")
    return layout


def traffic_of(
    function: Callable, tile: tuple, by_rows: bool, threads: int, element: int
) -> dict | None:
    """What the copy that the answer's layouts make does to memory."""
    found = function(tile, by_rows, threads, element)
    if found is None:
        return None
    if not isinstance(found, (tuple, list)) or len(found) != 4:
        raise LessonError(
            "four tuples are asked for: thread shape and stride, value shape and stride."
        )
    workers, held = as_layout(*found[:2], "threads"), as_layout(*found[2:], "values")
    sides = [part.size * piece.size for part, piece in zip(workers, held, strict=True)]
    elements = right_inverse(raked_product(workers, held)).offsets()
    rows, columns = elements % sides[0], elements // sides[0]
    places = rows * tile[1] + columns if by_rows else columns * tile[0] + rows
    bytes_of = places.reshape(held.size, workers.size) * element  # (value, thread)
    apart = np.diff(bytes_of, axis=0)
    return {
        "threads": workers.size,
        "divides the tile": all(n % side == 0 for n, side in zip(tile, sides, strict=True)),
        "bytes at once": held.size * element if (apart == element).all() else element,
        "sectors for a warp": max(
            len({at // SECTOR for at in bytes_of[:, first : first + WARP].ravel().tolist()})
            for first in range(0, workers.size, WARP)
        ),
    }


def least_traffic(tile: tuple, by_rows: bool, threads: int, element: int) -> dict:
    return {
        "threads": threads,
        "divides the tile": True,
        "bytes at once": 16,
        "sectors for a warp": 16 * WARP // SECTOR,
    }


COALESCED = PythonExercise(
    id="08.coalesced_layouts",
    title="layouts for a coalesced copy",
    task="""
Write `coalesced_layouts(tile, by_rows, threads, element)`: thread shape, thread stride, value
shape and value stride, four pairs of numbers, for a tiled copy of a tile of `tile[0]` x `tile[1]`
elements of `element` bytes, stored by rows or, with `by_rows` false, by columns. Each access of a
thread moves 16 bytes, all `threads` take part, a warp touches no sector of which it leaves a part
out, and the copy, repeated down and across, covers the tile: its own extents, threads times
values, divide the tile's. All extents are powers of two; the contiguous one has at least 32
bytes, the other at least `threads` elements. What is judged is the traffic, so several answers
are right.
""",
    source=f"{FOLDER}/coalesced_layouts.py",
    function="coalesced_layouts",
    cases=(
        ((64, 64), True, 32, 4),
        ((64, 64), False, 32, 4),
        ((256, 64), True, 256, 4),
        ((64, 128), False, 128, 2),
        ((64, 8192), True, 32, 2),
        ((32, 32), False, 32, 1),
        ((64, 4), True, 64, 8),
        ((64, 32), True, 32, 16),
        ((2, 128), False, 128, 16),
    ),
    call=traffic_of,
    reference=least_traffic,
    promises=Cases(any_tile, 32),
    means="The traffic is counted, sector by sector.",
    hints=(
        "A thread's values are `16 // element` neighbours along the contiguous mode: 1 x count by "
        "rows, count x 1 by columns.",
        "Put as many threads one behind the other along the contiguous mode as fit, `extent // "
        "count`, the others into further lines.",
        "By rows: `(threads // in_line, in_line), (in_line, 1), (1, count), (0, 1)`, with `in_line "
        "= min(tile[1] // count, threads)`.",
    ),
    explanation="""
The value layout makes the width of an access, the thread layout its neighbours. Two threads in
line are already enough for whole sectors of 32 bytes; more of them make longer runs of memory.
""",
    mutants=(
        mutant(
            "always by rows",
            kinds.WRONG,
            ("    if by_rows:\n        return", "    if True:\n        return"),
            ("tile[1] if by_rows else tile[0]", "tile[1]"),
        ),
        mutant("four elements always", kinds.WRONG, ("16 // element", "4")),
        mutant(
            "a line to each thread",
            kinds.WRONG,
            ("min(along // count, threads)", "1"),
        ),
        mutant(
            "a line to each thread where an access is one element",
            kinds.WRONG,
            ("min(along // count, threads)", "min(along // count, threads) if count > 1 else 1"),
        ),
        mutant(
            "threads numbered across the lines",
            kinds.WRONG,
            ("(in_line, 1), (1, count)", "(1, lines), (1, count)"),
            ("(1, in_line), (count, 1)", "(lines, 1), (count, 1)"),
        ),
        mutant(
            "a line longer than the tile", kinds.WRONG, ("min(along // count, threads)", "threads")
        ),
        mutant(
            "values across the lines",
            kinds.WRONG,
            ("(1, count), (0, 1)", "(count, 1), (1, 0)"),
        ),
    ),
)

# --- A tiled copy of columns ---


def column_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": rng.integers(0, 1 << 16, rows * columns, dtype=np.uint16),
        "y": empty(rows * columns, np.uint16),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


BY_FORMULAS = """const int first = blockIdx.x * 64 + threadIdx.x % 8 * 8;
    for (int round = 0; round < 2; ++round) {
        const int column = blockIdx.y * 32 + threadIdx.x / 8 + 16 * round;
        reinterpret_cast<uint4*>(y + column * rows)[first / 8] =
            reinterpret_cast<const uint4*>(x + column * rows)[first / 8];
    }"""
COLUMNS = Exercise(
    id="08.columns_copied",
    title="a tiled copy of columns",
    task="""
Copy a column-major matrix of 16-bit numbers by a tiled copy. A block has a tile of 64 x 32 and
128 threads. Each access moves 16 bytes, and a warp leaves no part out of a sector that it
touches.
""",
    source=f"{FOLDER}/columns_copied.cu",
    kernel="columns_copied",
    inputs=column_inputs,
    reference=lambda given: {"y": given["x"]},
    launch=lambda size: Launch((size[0] // 64, size[1] // 32), (128,)),
    small=((128, 64), (64, 32), (192, 96)),
    full=(8192, 8192),
    promises=Promises(
        sizes=promises.shapes(rows=(64, 128, 192, 320), columns=(32, 64, 160)).with_longest(
            rows=8256, columns=2080
        )
    ),
    exact=True,
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        Means(
            "bytes that a thread stores at once",
            lambda work: work.counts.global_store_bytes / work.opcodes("st.global"),
            at_least=16,
            advice="The atom is `UniversalCopy<uint128_t>`: which values are neighbours in a "
            "column?",
        ),
        Means(
            "sectors for each request",
            lambda work: (
                (work.counts.global_load_sectors + work.counts.global_store_sectors)
                / (work.counts.global_load_requests + work.counts.global_store_requests)
            ),
            at_most=16,
            advice="512 bytes are 16 sectors: put threads one below the other, in one column.",
        ),
        by_cute("cute/atom/copy", "Let a tiled copy move the tile: `make_tiled_copy`, its slices."),
    ),
    hints=(
        "16 bytes are eight numbers, one below the other: the value layout is (8, 1).",
        "64 rows are eight threads of eight values; 128 threads are 8 x 16, the rows fastest.",
        "`make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, unsigned short>{}, Layout<Shape<_8, "
        "_16>>{}, Layout<Shape<_8, _1>>{})`; `get_slice(threadIdx.x)`, `partition_S`, "
        "`partition_D`.",
    ),
    explanation="""
16 of the tile's 32 columns are taken by the 128 threads, so each of them has two pieces: the
tensor of its part has the shape ((8, 1), 1, 2), and `copy` makes both.
""",
    mutants=(
        mutant(
            "8 bytes at once",
            kinds.MEANS_MISSING,
            ("UniversalCopy<uint128_t>", "UniversalCopy<uint64_t>"),
        ),
        mutant(
            "half of each sector",
            kinds.MEANS_MISSING,
            ("Layout<Shape<_8, _16>>{}", "Layout<Shape<_4, _32>, Stride<_32, _1>>{}"),
        ),
        mutant(
            "values along the rows",
            kinds.COMPILE_ERROR,
            ("Layout<Shape<_8, _1>>", "Layout<Shape<_1, _8>>"),
        ),
        mutant(
            "half of the threads",
            kinds.PARTLY_WRITTEN,
            ("get_slice(threadIdx.x)", "get_slice(threadIdx.x % 64)"),
        ),
        mutant(
            "by index formulas",
            kinds.MEANS_MISSING,
            ("copy(tiled, thread.partition_S(from), thread.partition_D(to));", BY_FORMULAS),
        ),
    ),
)

# --- The tile by hand ---


def sums_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "sums": empty((-(-rows // 64), columns)),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def sums_of(given: dict) -> dict:
    x = given["x"].astype(np.float64)
    return {"sums": np.add.reduceat(x, np.arange(0, len(x), 64), axis=0)}


WHOLE = (128, 128)
FOUR_COPIES = """for (int k = 0; k < 4; ++k) {
            unsigned to = shared_address(&tile[row][column + k]);
            cp_async_4(to, exists ? from + k : x, exists);
        }"""
SUMS = Exercise(
    id="08.tile_sums",
    title="a tile with zeros outside",
    task="""
What a tiled copy with a predicate does, by hand. A block fetches its tile of 64 x 64 by
`cp.async`, 16 bytes an access, with zeros where the matrix has ended, and sums its columns: one
number for each column and each 64 rows. Elements may be infinite or NaN.
""",
    source=f"{FOLDER}/tile_sums.cu",
    kernel="tile_sums",
    inputs=sums_inputs,
    reference=sums_of,
    launch=lambda size: Launch((-(-size[1] // 64), -(-size[0] // 64)), (256,)),
    small=((70, 100), (64, 64), (1, 4)),
    full=(8192, 8192),
    reduction=lambda size: min(size[0], 64),
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 5, 63, 64, 65, 130), columns=(4, 60, 64, 68, 132, 200)
        ).with_longest(rows=1159, columns=2052),
        values=(
            (
                *promises.data("x", *promises.ORDINARY, promises.SOME_INFINITE, promises.SOME_NAN),
                promises.infinite_at_the_ends("x", -2),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.instructions(
            "loads from global memory into registers",
            "ld.global",
            at_most=0,
            advice="Every element comes by `cp_async_16`, and is read in shared memory.",
        ),
        Means(
            "bytes that cp.async copies, over those of the matrix",
            lambda work: work.counts.shared_copy_bytes / (4 * WHOLE[0] * WHOLE[1]),
            at_most=1,
            advice="Each element is fetched once, by one thread of one block.",
            size=WHOLE,
        ),
        bytes_a_copy(WHOLE),
        means.work_shared_out(4.0, size=WHOLE),
    ),
    hints=(
        "Thread t fetches columns 4 · (t % 16) and the next three, of the rows t / 16, t / 16 + 16 "
        "and so on.",
        "`exists` is row < rows and column < columns, both counted in the matrix. Where it is "
        "false give `x` itself as the address.",
        "After the loop: `cp_async_commit(); cp_async_wait<0>(); __syncthreads();`. Zeros add "
        "nothing, so the sum needs no guard but for its column.",
    ),
    explanation="""
`cp.async` takes the number of bytes to read beside the number to write; the rest is zeros. CuTe's
atom for it is `SM80_CP_ASYNC_CACHEGLOBAL_ZFILL`, which `copy_if` gives the predicate. Without the
zeros the sum would find in the tile whatever an earlier block has left there.
""",
    mutants=(
        mutant(
            "rows behind the end: the last one times 0",
            kinds.NOT_A_NUMBER,
            (
                "sum += tile[row][mine];",
                "sum += (first_row + row < rows) * tile[min(row, rows - 1 - first_row)][mine];",
            ),
        ),
        mutant(
            "NaN left out",
            kinds.WRONG,
            (
                "sum += tile[row][mine]",
                "sum += tile[row][mine] == tile[row][mine] ? tile[row][mine] : 0",
            ),
        ),
        mutant("no wait", kinds.DATA_RACE, ("    cp_async_wait<0>();\n", "")),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();\n", "")),
        mutant(
            "nothing where nothing exists",
            kinds.UNINITIALISED,
            ("        cp_async_16(", "        if (exists) cp_async_16("),
        ),
        mutant(
            "all exists",
            kinds.OUT_OF_BOUNDS,
            ("first_row + row < rows && first_column + column < columns", "true"),
        ),
        mutant(
            "elements numbered in 16 bits",
            kinds.EDGES,
            (
                "&x[(first_row + row) * columns +",
                "&x[(unsigned short)((first_row + row) * columns) +",
            ),
        ),
        mutant("rows unguarded", kinds.OUT_OF_BOUNDS, ("first_row + row < rows && ", "")),
        mutant(
            "columns of the next row",
            kinds.OUT_OF_BOUNDS,
            ("row < rows && first_column + column < columns", "row < rows"),
        ),
        mutant(
            "loads from global memory",
            kinds.MEANS_MISSING,
            ("sum += tile[row][mine];", "sum += tile[row][mine] + 0 * x[0];"),
        ),
        mutant(
            "4 bytes an access",
            kinds.MEANS_MISSING,
            (
                "cp_async_16(shared_address(&tile[row][column]), exists ? from : x, exists);",
                FOUR_COPIES,
            ),
        ),
    ),
)

EXERCISES = (ELEMENTS, COALESCED, COLUMNS, SUMS)
