"""The exercises of "Two and three dimensions"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import Worked


def spare_tiles(size: tuple[int, int]) -> tuple[Launch, ...]:
    """Grids of 16 x 16 threads with more blocks than the picture needs, to the right and below."""
    height, width = size
    across, down = ceil_div(width, 16), ceil_div(height, 16)
    return (
        Launch((across + 1, down), (16, 16)),
        Launch((across, down + 2), (16, 16)),
        Launch((across, down), (16, 16)),
    )


def grayscale_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    height, width = size
    return {
        "rgb": rng.random((height, width, 3), dtype=np.float32),
        "gray": empty((height, width)),
        **int32s(height=height, width=width),
    }


def luma(given: Given) -> dict[str, np.ndarray]:
    """The weighted sum of the three colours, with NaN where infinities cancel."""
    return {"gray": given["rgb"].astype(np.float64) @ np.array([0.299, 0.587, 0.114])}


GRAYSCALE = KernelExercise(
    inputs=grayscale_inputs,
    reference=luma,
    worked=Worked(  # 29.9, 58.7, 11.4 and 147.3
        size=(2, 2), values={"rgb": (100, 0, 0, 0, 100, 0, 0, 0, 100, 100, 200, 0)}
    ),
    launch=lambda size: Launch((ceil_div(size[1], 16), ceil_div(size[0], 16)), (16, 16)),
    small=((37, 90), (16, 32), (5, 1), (1, 1)),
    full=(4096, 4096),
    contract=Domain(
        sizes=domain.shapes(
            height=(1, 2, 15, 17, 33, 61, 131, 301, 1031), width=(1, 3, 16, 31, 97, 131, 257, 5003)
        ).with_outlier(height=32_771, width=32_771),
        launches=spare_tiles,
        values=(
            domain.data(
                "rgb",
                *domain.ORDINARY,
                domain.ZEROS,
                domain.SOME_NAN,
                domain.SOME_INFINITE,
                domain.VERY_SMALL,
                domain.LARGE,
                ("about a million", lambda x, rng: x * 1e6),
            ),
        ),
    ),
    method=(
        Requirement(
            "stores for each pixel",
            lambda stats: stats.counts.global_store_bytes / stats.result_bytes,
            at_most=1.0,
            advice="Each pixel needs one store, by its own thread. Does a thread past the right "
            "edge store into the next row, or one thread store pixels of others?",
        ),
        method.a_thread_each(size=(64, 64)),
        method.balanced_work(size=(64, 64)),
    ),
    reduction=lambda size: 3,
)


def volume_and_picture(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    layers, rows, columns = size
    return {
        "volume": floats(rng, size),
        "picture": empty((rows, columns)),
        **int32s(layers=layers, rows=rows, columns=columns),
    }


def square_grid(size: tuple[int, int, int], spare: int = 0) -> Launch:
    """As many blocks across as down, enough for the longer side."""
    side = ceil_div(max(size[1:]), 16) + spare
    return Launch((side, side), (16, 16))


VOLUME = (6, 64, 96)  # where the requirements are counted


PROJECTION = KernelExercise(
    inputs=volume_and_picture,
    reference=lambda given: {"picture": given["volume"].max(axis=0)},
    launch=square_grid,
    small=((3, 13, 20), (5, 33, 16), (1, 1, 70), (1, 1, 1)),
    full=(256, 1024, 1536),
    contract=Domain(
        sizes=domain.shapes(
            layers=(1, 2, 7, 33, 131), rows=(1, 8, 17, 31, 65), columns=(1, 8, 17, 31, 65)
        ).with_outlier(layers=4801),
        launches=lambda size: (square_grid(size, 1), square_grid(size)),
        values=(domain.data("volume", *domain.ANY_ORDERED),),
    ),
    method=(
        Requirement(
            "stores for each pixel",
            lambda stats: stats.counts.global_store_bytes / stats.result_bytes,
            at_most=1.0,
            advice="A register can hold the largest so far: store it once, after the loop. And no "
            "thread beside the picture stores.",
        ),
        Requirement(
            "loads from global memory for each element of the volume",
            lambda stats: stats.counts.global_load_bytes / 4 / np.prod(VOLUME),
            at_most=1.0,
            advice="Each element of the volume is needed once, and the largest so far comes from a "
            "register.",
            size=VOLUME,
        ),
        method.coalesced(
            "load",
            at_most=5.0,
            advice="The threads of a warp are neighbours in x, so let x go with the column, whose "
            "neighbours are neighbours in memory.",
            size=VOLUME,
        ),
        method.balanced_work(2.5, size=VOLUME),
    ),
)


def matrices(rng: np.random.Generator, size: tuple[int, int, int, int]) -> Given:
    batch, m, n, k = size
    return {
        "A": floats(rng, (batch, m, k)),
        "B": floats(rng, (batch, k, n)),
        "C": empty((batch, m, n)),
        **int32s(batch=batch, M=m, N=n, K=k),
    }


def products(given: Given) -> dict[str, np.ndarray]:
    """A B in float64, with NaN where 0 meets infinity."""
    return {"C": exact_product(given["A"], given["B"])}


# A sum that grows and shrinks again loses digits in whatever order it is made.
EVEN_HANDED = tuple(
    values for values in domain.ORDINARY if values not in (domain.RISING, domain.FALLING)
)

BATCHED_MATMUL = KernelExercise(
    inputs=matrices,
    reference=products,
    launch=lambda size: Launch((ceil_div(size[2], 8), ceil_div(size[1], 8), size[0]), (8, 8)),
    small=((3, 13, 17, 11), (5, 8, 8, 8), (2, 1, 9, 1), (1, 1, 1, 1)),
    full=(64, 256, 256, 256),
    contract=Domain(
        sizes=domain.shapes(
            batch=(1, 2, 5, 67),
            # 1031 pairs of 8 x 9 and 9 x 8: no index of 16 bits counts them
            M=(1, 8, 9, 13, 17, 31, 33),
            N=(1, 8, 9, 13, 17, 31, 33),
            K=(0, 9, 33, 131, 301),
        ).with_outlier(batch=1031, M=32_771, N=32_771, K=4801),
        values=(
            (
                *domain.data("A", *domain.ORDINARY, domain.ZEROS, domain.SOME_NAN),
                domain.zero_times_infinity_along("A", -1, "B", -2),
                domain.zero_times_infinity_along("B", -2, "A", -1),
                domain.infinite_at_the_ends("A", -1, "B", -2),
                domain.infinite_at_the_ends("B", -2, "A", -1),
            ),
            domain.data("B", *EVEN_HANDED),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(1.5, size=(8, 16, 16, 5)),
        method.no_redundant_work(),
    ),
    reduction=lambda size: max(size[3], 1),
)
