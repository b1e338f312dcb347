"""The exercises of "Tiled copies"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked
from course_utils.layouts import Layout, raked_product, right_inverse

from .common import by_cute, bytes_a_copy

# --- The elements of a thread ---


def any_order(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[int, int]:
    """The strides of ``shape`` without gaps, one number or the other fastest; that of a mode of one
    element may be 0."""
    down, across = (1, shape[0]) if rng.random() < 0.5 else (shape[1], 1)
    bare = rng.random() < 0.5
    return 0 if bare and shape[0] == 1 else down, 0 if bare and shape[1] == 1 else across


def any_copy(rng: np.random.Generator) -> tuple[Any, ...]:
    sizes = [rng.choice((1, 2, 3, 8, 19), 2).tolist() for _ in range(2)]
    threads, values = ((rows, columns) for rows, columns in sizes)
    thread = int(rng.integers(0, threads[0] * threads[1]))
    return threads, any_order(rng, threads), values, any_order(rng, values), thread


def by_the_product(
    threads: tuple[Any, ...],
    by_thread: tuple[Any, ...],
    values: tuple[Any, ...],
    by_value: tuple[Any, ...],
    thread: int,
) -> list[Any]:
    """CuTe's way: the raked product says who has which element, and as which value."""
    product = raked_product(Layout(threads, by_thread), Layout(values, by_value))
    rows = product[0].size
    held = right_inverse(product).offsets().reshape(values[0] * values[1], -1)[:, thread]
    return [(int(element % rows), int(element // rows)) for element in held]


COPY_ELEMENTS = PythonExercise(
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
    contract=DrawnCases(any_copy),
)

# --- Layouts for a coalesced copy ---

SECTOR, WARP = 32, 32  # bytes, threads


def any_tile(rng: np.random.Generator) -> tuple[Any, ...]:
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
    function: Callable[..., Any], tile: tuple[Any, ...], by_rows: bool, threads: int, element: int
) -> dict[str, Any] | None:
    """The memory after the copy by the answer's layouts."""
    found = function(tile, by_rows, threads, element)
    if found is None:
        return None
    if not isinstance(found, (tuple, list)) or len(found) != 4:
        raise LessonError(
            "four tuples are asked for: thread shape and stride, value shape and stride."
        )
    workers = as_layout(found[0], found[1], "threads")
    held = as_layout(found[2], found[3], "values")
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


def least_traffic(
    tile: tuple[Any, ...], by_rows: bool, threads: int, element: int
) -> dict[str, Any]:
    return {
        "threads": threads,
        "divides the tile": True,
        "bytes at once": 16,
        "sectors for a warp": 16 * WARP // SECTOR,
    }


COALESCED_LAYOUTS = PythonExercise(
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
    contract=DrawnCases(any_tile, 32),
)

# --- A tiled copy of columns ---


def column_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": rng.integers(0, 1 << 16, rows * columns, dtype=np.uint16),
        "y": empty(rows * columns, np.uint16),
        **int32s(rows=rows, columns=columns),
    }


COLUMNS_COPIED = KernelExercise(
    inputs=column_inputs,
    reference=lambda given: {"y": given["x"]},
    launch=lambda size: Launch((size[0] // 64, size[1] // 32), (128,)),
    small=((128, 64), (64, 32), (192, 96)),
    worked=Worked(whole=("x",), why_not="a tile has 64 x 32 elements"),
    full=(8192, 8192),
    contract=Domain(
        sizes=domain.shapes(rows=(64, 128, 192, 320), columns=(32, 64, 160)).with_outlier(
            rows=8256, columns=2080
        )
    ),
    exact=True,
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        Requirement(
            "bytes that a thread stores at once",
            lambda stats: stats.counts.global_store_bytes / stats.opcodes("st.global"),
            at_least=16,
            advice="The atom is `UniversalCopy<uint128_t>`: which values are neighbours in a "
            "column?",
        ),
        Requirement(
            "sectors for each request",
            lambda stats: (
                (stats.counts.global_load_sectors + stats.counts.global_store_sectors)
                / (stats.counts.global_load_requests + stats.counts.global_store_requests)
            ),
            at_most=16,
            advice="512 bytes are 16 sectors: put threads one below the other, in one column.",
        ),
        by_cute("cute/atom/copy", "Let a tiled copy move the tile: `make_tiled_copy`, its slices."),
    ),
)

# --- The tile by hand ---


def sums_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "sums": empty((ceil_div(rows, 64), columns)),
        **int32s(rows=rows, columns=columns),
    }


def sums_of(given: Given) -> dict[str, np.ndarray]:
    x = given["x"].astype(np.float64)
    return {"sums": np.add.reduceat(x, np.arange(0, len(x), 64), axis=0)}


WHOLE = (128, 128)
TILE_SUMS = KernelExercise(
    inputs=sums_inputs,
    reference=sums_of,
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0], 64)), (256,)),
    small=((70, 100), (64, 64), (1, 4)),
    full=(8192, 8192),
    reduction=lambda size: min(size[0], 64),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 5, 63, 64, 65, 130), columns=(4, 60, 64, 68, 132, 200)
        ).with_outlier(rows=1159, columns=2052),
        values=(
            (
                *domain.data("x", *domain.ORDINARY, domain.SOME_INFINITE, domain.SOME_NAN),
                domain.infinite_at_the_ends("x", -2),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.instructions(
            "loads from global memory into registers",
            "ld.global",
            at_most=0,
            advice="Every element comes by `cp_async_16`, and is read in shared memory.",
        ),
        Requirement(
            "bytes that cp.async copies, over those of the matrix",
            lambda stats: stats.counts.shared_copy_bytes / (4 * WHOLE[0] * WHOLE[1]),
            at_most=1,
            advice="Each element is fetched once, by one thread of one block.",
            size=WHOLE,
        ),
        bytes_a_copy(WHOLE),
        method.balanced_work(4.0, size=WHOLE),
    ),
)
