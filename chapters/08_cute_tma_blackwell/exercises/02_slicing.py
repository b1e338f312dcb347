"""The exercises of "Slicing"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked
from course_utils.layouts import Layout

from .common import by_cute

# --- The elements of a thread ---


def any_partition(rng: np.random.Generator) -> tuple[Any, ...]:
    threads = [int(n) for n in rng.choice((1, 2, 3, 4, 8, 19), 2)]
    tile = [int(n * rng.integers(1, 5)) for n in threads]
    by = [threads[1], 1] if rng.random() < 0.5 else [1, threads[0]]
    if rng.random() < 0.5:  # the stride of a mode of one thread may be anything
        by = [0 if n == 1 else step for n, step in zip(threads, by, strict=True)]
    return tuple(tile), tuple(threads), tuple(by), int(rng.integers(0, threads[0] * threads[1]))


def dealt(
    tile: tuple[Any, ...], threads: tuple[Any, ...], by: tuple[Any, ...], thread: int
) -> list[Any]:
    """Looked up in a table of who takes each place."""
    i, j = np.indices(tile)
    taker = i % threads[0] * by[0] + j % threads[1] * by[1]
    return [(int(i), int(j)) for j, i in np.argwhere((taker == thread).T)]


THREAD_ELEMENTS = PythonExercise(
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
    contract=DrawnCases(any_partition, 24),
)

# --- A gate for each row, a shift for each column ---


def gate_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "gate": floats(rng, rows),
        "shift": floats(rng, columns),
        "y": empty((rows, columns)),
        **int32s(rows=rows, columns=columns),
    }


def gated(given: Given) -> dict[str, np.ndarray]:
    x, gate, shift = (given[name].astype(np.float64) for name in ("x", "gate", "shift"))
    return {"y": gate[:, None] * x + shift}


FULL_TILES = (64, 128)
GATE_AND_SHIFT = KernelExercise(
    inputs=gate_inputs,
    reference=gated,
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0], 32)), (256,)),
    small=((37, 101), (32, 64), (1, 1)),
    full=(8192, 8192),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 7, 31, 32, 33, 67, 131), columns=(1, 5, 63, 64, 65, 129, 301)
        ).with_outlier(rows=2053, columns=2053),
        values=(
            (
                *domain.data("x", *domain.ORDINARY, *domain.STRANGE, domain.LARGE),
                domain.zero_times_infinity_along("gate", -1, "x", 0),
                domain.zero_times_infinity_along("x", 0, "gate", -1),
            ),
            (
                *domain.data("gate shift", *domain.ORDINARY),
                *domain.data("shift", domain.LARGE, domain.SOME_INFINITE)[1:],
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=FULL_TILES),
        method.coalesced(
            "store",
            at_most=5,  # four are 32 numbers
            advice="Neighbouring threads take neighbouring columns: which mode of the layout of "
            "threads has stride 1?",
            size=FULL_TILES,
        ),
        by_cute("cute/tensor", "Cut by `local_tile` and `local_partition`: no index formula."),
    ),
)

# --- The largest of each tile ---

BETWEEN = np.float32(3e30)  # between the rows of a part of a wider matrix


def wider(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    pitch = columns + (3 * rows + columns) % 8
    return {
        "x": framed(floats(rng, (rows, pitch)), columns),
        "largest": empty((ceil_div(rows, 32), ceil_div(columns, 64))),
        **int32s(rows=rows, columns=columns, pitch=pitch),
    }


def framed(x: np.ndarray, columns: int) -> np.ndarray:
    """x with huge numbers after the first columns: a kernel that reads them is found out."""
    x[:, columns:] = BETWEEN
    return x


def minus(given: Given, factor: float = 1.0) -> dict[str, np.ndarray]:
    """The elements of x with a sign, times a factor."""
    columns = int(given["columns"])
    return {"x": framed((-factor * np.abs(given["x"])).astype(np.float32), columns)}


def all_framed(given: Given) -> dict[str, np.ndarray]:
    return {"x": framed(given["x"].copy(), int(given["columns"]))}


def by_windows(given: Given) -> dict[str, np.ndarray]:
    rows, columns = int(given["rows"]), int(given["columns"])
    down, across = ceil_div(rows, 32), ceil_div(columns, 64)
    whole = np.zeros((32 * down, 64 * across), np.float32)
    whole[:rows, :columns] = np.abs(given["x"][:, :columns])
    return {"largest": whole.reshape(down, 32, across, 64).max(axis=(1, 3))}


TILE_LARGEST = KernelExercise(
    inputs=wider,
    reference=by_windows,
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0], 32)), (256,)),
    small=((37, 101), (32, 64), (1, 1)),
    worked=Worked(size=(2, 3), values={"x": (3, 1, -7, 0, 2, -4, 5, 0)}, derived=all_framed),
    full=(8192, 8192),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 7, 31, 32, 33, 67, 131), columns=(1, 5, 63, 64, 65, 129, 301)
        ).with_outlier(rows=2053, columns=2053),
        values=(
            (
                domain.AS_GIVEN,
                InputClass("x all negative", lambda given, rng: minus(given)),
                InputClass("x very small", lambda given, rng: minus(given, 1e-30)),
                InputClass("x all zeros", lambda given, rng: minus(given, 0)),
            ),
        ),
    ),
    exact=True,
    method=(
        method.one_store_per_result(),
        method.balanced_loads(size=FULL_TILES),
        method.coalesced(
            "load",
            at_most=5.5,  # four are 32 numbers, five if they don't begin with a sector
            advice="Neighbouring threads take neighbouring columns: which mode of the layout of "
            "threads has stride 1?",
            size=FULL_TILES,
        ),
        by_cute("cute/tensor", "Cut by `local_tile` and `local_partition`: no index formula."),
    ),
)

# --- Patches that overlap ---


def any_picture(rng: np.random.Generator) -> tuple[Any, ...]:
    side, step = int(rng.choice((1, 2, 3, 4, 11))), int(rng.choice((1, 2, 3, 13)))
    height, width = (int(side + rng.integers(0, rng.choice((9, 60)))) for _ in range(2))
    return height, width, side, step


def offsets_of(function: Callable[..., Any], *arguments: int) -> Any:
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
    contract=DrawnCases(any_picture),
)
