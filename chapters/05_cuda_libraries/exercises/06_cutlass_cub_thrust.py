"""The exercises of "CUTLASS, CUB and Thrust"."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

# --- two collective calls ---


def of_tiles(given: Given) -> dict[str, np.ndarray]:
    return {"variance": given["x"].astype(np.float64).reshape(-1, 256).var(axis=1)}


def off_zero(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + 100


TILE_VARIANCE = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "variance": empty(n // 256)},
    reference=of_tiles,
    launch=lambda n: Launch((n // 256,), (256,)),
    small=(768, 256),
    worked=Worked(  # means 1 and 2, variances 255 and 1020
        size=512, values={"x": {0: 256, 300: 512}}, whole=("x",)
    ),
    full=1 << 24,
    reduction=lambda n: 256,
    contract=Domain(
        sizes=domain.shapes(n=(256, 512, 1280, 4352)),
        values=(domain.data("x", domain.NEGATIVE, domain.EQUAL, ("about 100", off_zero)),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(),
        method.atomics("shared", at_most=0, advice="`Reduce(room).Sum(...)` adds up for you."),
        method.from_header(
            "CUB",
            "cub/warp",
            "shfl",
            at_least=60,  # of five for each of eight warps and each of two calls
            advice="Both sums come from `Reduce(room).Sum(...)`, one call after the other.",
            size=256,
        ),
    ),
)

# --- who holds what ---


def found_by_dealing(place: int, threads: int, items: int, arrangement: str) -> tuple[int, int]:
    """By going over all that is held."""
    for thread, item in product(range(threads), range(items)):
        warp, lane = divmod(thread, 32)
        held = {
            "blocked": items * thread + item,
            "striped": threads * item + thread,
            "warp-striped": 32 * items * warp + 32 * item + lane,
        }[arrangement]
        if held == place:
            return thread, item
    raise AssertionError("one of the threads holds it")


def any_place(rng: np.random.Generator) -> tuple[Any, ...]:
    threads, items = 32 * int(rng.integers(1, 9)), int(rng.integers(1, 9))
    arrangement = str(rng.choice(["blocked", "striped", "warp-striped"]))
    return int(rng.integers(0, threads * items)), threads, items, arrangement


HOLDER = PythonExercise(
    cases=(
        (5, 128, 4, "blocked"),
        (130, 128, 4, "striped"),
        (130, 128, 4, "warp-striped"),
        (511, 128, 4, "blocked"),
        (511, 128, 4, "striped"),
        (95, 128, 4, "warp-striped"),
        (7, 32, 1, "striped"),
    ),
    reference=found_by_dealing,
    contract=DrawnCases(any_place),
)

# --- a sort inside of a kernel ---


def first_eight(given: Given) -> dict[str, np.ndarray]:
    tiles = given["x"].reshape(-1, 256)
    places = np.argsort(-tiles.astype(np.int32), axis=1, kind="stable")[:, :8]
    keys = np.take_along_axis(tiles, places, axis=1)
    return {"keys": keys.ravel(), "places": places.astype(np.int32).ravel()}


def _bits(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, x.shape, dtype=x.dtype)


LARGEST_EIGHT = KernelExercise(
    inputs=lambda rng, n: {
        "x": rng.integers(0, 1 << 16, n, dtype=np.uint16),
        "keys": empty(n // 32, np.uint16),
        "places": empty(n // 32, np.int32),
    },
    reference=first_eight,
    launch=lambda n: Launch((n // 256,), (64,)),
    small=(512, 256),
    worked=Worked(why_not="a block has a tile of 256 elements"),
    full=1 << 22,
    exact=True,
    contract=Domain(
        sizes=domain.shapes(n=(256, 768)).with_outlier(n=4352),
        values=(
            domain.data(
                "x",
                *(domain.TIES, domain.EQUAL, domain.RISING, domain.FALLING),
                ("that differ in the lowest bit alone", lambda x, rng: x ^ x & 1 ^ _bits(x, rng)),
                ("0 and 32,768", lambda x, rng: _bits(x, rng) << 15),
                ("0 to 255 in any order", lambda x, rng: rng.permutation(x.size) % 256),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(),
        method.shared_memory(advice="Let the block sort its tile, in `Sort`'s room."),
        Requirement(
            "requests of warps to read shared memory",
            lambda stats: stats.counts.shared_load_requests,
            at_most=1000,
            advice="Let `Sort(room)` find the order: comparing each key with all others reads "
            "the tile 256 times.",
            size=512,
        ),
    ),
)

# --- the shapes of a product ---


def counted(
    block: tuple[Any, ...],
    warp: tuple[Any, ...],
    instruction: tuple[Any, ...],
    stages: int,
    bytes_each: int,
) -> tuple[Any, ...]:
    """By going over the warps, the sums and the instructions."""
    starts = [range(0, extent, step) for extent, step in zip(block, warp, strict=True)]
    warps = len(list(product(*starts)))
    inside = [range(0, extent, step) for extent, step in zip(warp, instruction, strict=True)]
    m, n, k = block
    elements = sum(rows * k for rows in (m, n))
    return (
        32 * warps,
        warp[0] * warp[1] // 32,
        stages * elements * bytes_each,
        len(list(product(*inside))),
    )


def any_shapes(rng: np.random.Generator) -> tuple[Any, ...]:
    instruction = [(16, 8, 16), (16, 8, 8), (16, 8, 32)][rng.integers(0, 3)]
    times = [int(1 << rng.integers(0, 3)) for _ in range(3)]
    warp = tuple(2 * t * i for t, i in zip(times, instruction, strict=True))
    more = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
    block = tuple(w * t for w, t in zip(warp, more, strict=True))
    return block, warp, instruction, int(rng.integers(2, 6)), int(rng.choice([1, 2, 4]))


GEMM_PLAN = PythonExercise(
    cases=(
        ((128, 128, 32), (64, 64, 32), (16, 8, 16), 3, 2),
        ((64, 64, 32), (32, 32, 32), (16, 8, 16), 4, 2),
        ((128, 256, 64), (64, 64, 64), (16, 8, 16), 3, 2),
        ((128, 64, 64), (64, 32, 32), (16, 8, 16), 2, 2),
        ((64, 128, 32), (32, 64, 32), (16, 8, 8), 5, 4),
    ),
    reference=counted,
    contract=DrawnCases(any_shapes),
)
