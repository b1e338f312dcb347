"""The exercises of "Layouts"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from course_utils import ceil_div, layouts
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

from .common import by_cute

# --- Nested coordinates ---


def shape_of(rng: np.random.Generator, depth: int) -> int | tuple[Any, ...]:
    if depth == 0 or rng.random() < 0.35:
        return int(rng.integers(1, 7)) if rng.random() < 0.8 else int(rng.integers(100, 3000))
    return tuple(shape_of(rng, depth - 1) for _ in range(int(rng.integers(1, 4))))


def like(shape: int | tuple[Any, ...], number: Any) -> int | tuple[Any, ...]:
    """A tuple nested as ``shape``, each number made by ``number(extent)``."""
    if isinstance(shape, int):
        return number(shape)
    return tuple(like(part, number) for part in shape)


def count(shape: int | tuple[Any, ...]) -> int:
    return shape if isinstance(shape, int) else int(np.prod([count(part) for part in shape]))


def coarse(shape: int | tuple[Any, ...], rng: np.random.Generator) -> int | tuple[Any, ...]:
    """A coordinate of ``shape`` where a tuple may be counted by one number."""
    if isinstance(shape, int) or rng.random() < 0.35:
        return int(rng.integers(0, count(shape)))
    return tuple(coarse(part, rng) for part in shape)


def any_coordinate(rng: np.random.Generator) -> tuple[Any, ...]:
    shape = shape_of(rng, 3)
    most = int(rng.choice((3, 100, 1 << 33)))
    stride = like(shape, lambda _: int(rng.integers(-most, most)) * int(rng.random() < 0.9))
    return coarse(shape, rng), shape, stride


def by_odometer(
    coordinate: int | tuple[Any, ...], shape: int | tuple[Any, ...], stride: int | tuple[Any, ...]
) -> int:
    """The offset, with one number first written as the digits of an odometer."""
    extents: list[int] = []
    steps: list[int] = []

    def flat(part: int | tuple[Any, ...], into: list[Any]) -> None:
        if isinstance(part, int):
            into.append(part)
        else:
            for inner in part:
                flat(inner, into)

    if isinstance(coordinate, tuple):
        return sum(map(by_odometer, coordinate, shape, stride))  # type: ignore[arg-type]
    flat(shape, extents)
    flat(stride, steps)
    return int(np.dot(np.unravel_index(coordinate, tuple(extents), order="F"), steps))


def without_layouts(function: Callable[..., Any], *arguments: int | tuple[Any, ...]) -> Any:
    """The result of ``function`` while the course's own layouts refuse to be made."""

    def refused(*_: Any, **__: Any) -> None:
        raise LessonError("the course's layouts do not answer here: compute the offset yourself.")

    with patch.object(layouts.Layout, "__init__", refused):
        return function(*arguments)


NESTED_OFFSET = PythonExercise(
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
        (997, (1, (7, 11), (1, 13)), (5, (1, 100), (3, 7000))),
        (0, 1, 9),
    ),
    call=without_layouts,
    reference=by_odometer,
    contract=DrawnCases(any_coordinate),
)

# --- A layout of tiles ---


def tiles_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": floats(rng, rows * columns),
        "y": empty(rows * columns),
        **int32s(rows=rows, columns=columns),
    }


def tiles_reference(given: Given) -> dict[str, np.ndarray]:
    rows, columns = int(given["rows"]), int(given["columns"])
    tiles = given["x"].reshape(rows // 8, 8, columns // 8, 8)
    return {"y": tiles.transpose(2, 0, 1, 3).ravel()}


TILE_BY_TILE = KernelExercise(
    inputs=tiles_inputs,
    reference=tiles_reference,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 8)), (32, 8)),
    small=((24, 40), (8, 8), (16, 64)),
    worked=Worked(why_not="a tile has 8 x 8 elements"),
    full=(8192, 8192),
    contract=Domain(
        sizes=domain.shapes(
            rows=(8, 16, 24, 56, 136, 1048), columns=(8, 16, 40, 72, 264, 1032)
        ).with_outlier(rows=8200),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    exact=True,
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        by_cute(
            "cute/",
            "Let a layout `to` give the places in y: no index formula.",
            at_least=3 * 48,  # `from` alone is one instruction in each of 48 warps
        ),
    ),
)

# --- From fragments to rows ---

BY_THREAD = layouts.Layout("((4,8),(2,2)):((32,1),(16,8))")  # of an mma's 16 x 8 results


def as_threads_hold_them(rng: np.random.Generator, tiles: int) -> Given:
    return {"held": floats(rng, (tiles, 128)), "C": empty((tiles, 16, 8))}


def in_rows(given: Given) -> dict[str, np.ndarray]:
    """By a table of all pairs: thread t holds as value v the element offsets[t + 32 v]."""
    elements = BY_THREAD.offsets().reshape(4, 32).T.ravel()  # in the order of held
    tiles = np.empty_like(given["held"])
    tiles[:, elements] = given["held"]  # counted down the columns
    return {"C": tiles.reshape(-1, 8, 16).transpose(0, 2, 1).copy()}


FRAGMENT_TO_ROWS = KernelExercise(
    inputs=as_threads_hold_them,
    reference=in_rows,
    launch=lambda tiles: Launch((tiles,), (128,)),
    small=(3, 1),
    worked=Worked(why_not="a tile has 16 x 8 elements"),
    full=1 << 18,
    contract=Domain(
        sizes=domain.Sizes(("tiles",), ((1, 2, 5, 33),)).with_outlier(tiles=600),
        values=(domain.data("held", *domain.ANY_FLOAT),),
    ),
    exact=True,
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        method.coalesced(
            "store",
            at_most=5,  # four are 32 numbers
            advice="Begin from C: a warp stores 32 neighbours, and each thread looks for the "
            "holder of its result.",
        ),
    ),
)
