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

# --- Who takes which element ---


def unmarked(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "blocks": empty(size, np.int32),
        "threads": empty(size, np.int32),
        **int32s(first=100, rows=rows, columns=columns, t0=4, t1=8, s0=8, s1=1),
    }


def looked_up(given: Given) -> Given:
    """For each element the place in its tile, and who that place belongs to."""
    i, j = np.indices((int(given["rows"]), int(given["columns"])))
    first, t0, t1, s0, s1 = (int(given[name]) for name in ("first", "t0", "t1", "s0", "s1"))
    across = ceil_div(int(given["columns"]), 16)
    return {
        "blocks": (first + i // 8 * across + j // 16).astype(np.int32),
        "threads": (first + i % 8 % t0 * s0 + j % 16 % t1 * s1).astype(np.int32),
    }


TAKEN_BY = KernelExercise(
    inputs=unmarked,
    reference=looked_up,
    launch=lambda size: Launch((ceil_div(size[1], 16), ceil_div(size[0], 8)), (32,)),
    small=((20, 40), (8, 16), (1, 1)),
    worked=Worked(why_not="an arrangement has 32 threads"),
    full=(4096, 4096),
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 7, 8, 9, 33), columns=(1, 5, 15, 16, 17, 70)).with_outlier(
            rows=521, columns=523
        ),
        values=(
            domain.together(
                {"t0": 4, "t1": 8, "s0": 1, "s1": 4},
                {"t0": 8, "t1": 4, "s0": 4, "s1": 1},
                {"t0": 8, "t1": 4, "s0": 1, "s1": 8},
                {"t0": 2, "t1": 16, "s0": 16, "s1": 1},
                {"t0": 2, "t1": 16, "s0": 1, "s1": 2},
            ),
            domain.scalars("first", 1, -40),
        ),
    ),
    exact=True,
    method=(method.one_store_per_result(), method.balanced_work(size=(64, 64))),
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
