"""The exercises of "Copies"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
)
from course_utils.exercises.authoring.worked import Worked

from .common import bytes_a_copy

FOLDER = "08_cute_tma_blackwell/exercises"

# --- The widest access ---


def any_move(rng: np.random.Generator) -> tuple[Any, ...]:
    """Two layouts of one shape, mostly of powers of two, often without gaps."""
    shape = tuple(int(n) for n in rng.choice((1, 2, 2, 4, 4, 8, 3, 16), int(rng.integers(1, 5))))
    order = rng.permutation(len(shape))
    source = compact(rng, shape, order)
    if rng.random() < 0.5:
        order = rng.permutation(len(shape))
    return shape, source, compact(rng, shape, order), int(rng.choice((1, 2, 4, 8, 16)))


def compact(rng: np.random.Generator, shape: tuple[Any, ...], order: np.ndarray) -> tuple[Any, ...]:
    """Strides with the modes in this order, fastest first, and perhaps a gap before one. That of a
    mode of one element may be 0."""
    reach, stride = int(rng.choice((1, 1, 1, 1, 2))), [0] * len(shape)
    gaps = (0, 0, 0, 1, 2, 4, 8) if rng.random() < 0.6 else (0,)
    for mode in order:
        if shape[mode] > 1 or rng.random() < 0.5:
            stride[mode] = reach
            reach = reach * shape[mode] + int(rng.choice(gaps))
    return tuple(stride)


def widest(
    shape: tuple[Any, ...], source: tuple[Any, ...], target: tuple[Any, ...], element: int
) -> int:
    """Tried on two arrays of bytes: each piece of the source is found whole in the target."""
    numbers = np.arange(int(np.prod(shape)))
    coordinates = np.unravel_index(numbers, shape)
    start = [np.dot(stride, coordinates) * element for stride in (source, target)]
    memory = [np.full(int(at.max()) + element + 16, -1) for at in start]
    for at, room in zip(start, memory, strict=True):
        for byte in range(element):
            room[at + byte] = numbers * element + byte
    for width in (16, 8, 4, 2, 1):
        whole = [room[: len(room) // width * width].reshape(-1, width) for room in memory]
        pieces = [{tuple(piece) for piece in part if (piece >= 0).any()} for part in whole]
        if width <= element or (pieces[0] == pieces[1] and -1 not in set().union(*pieces[0])):
            return max(width, element)
    raise AssertionError("an element always moves by itself")


ACCESS_BYTES = PythonExercise(
    cases=(
        ((8,), (1,), (1,), 4),
        ((4, 8), (1, 4), (8, 1), 4),
        ((4, 8), (8, 1), (8, 1), 4),
        ((4, 8), (9, 1), (8, 1), 4),
        ((6,), (1,), (1,), 4),
        ((2, 4), (1, 2), (1, 4), 2),
        ((4, 8), (1, 4), (1, 4), 2),
        ((3,), (1,), (1,), 16),
        ((4,), (2,), (1,), 4),
        ((1,), (1,), (1,), 1),
        ((2, 2, 2), (1, 2, 4), (1, 4, 2), 4),
        ((2, 2, 2, 2, 2), (1, 2, 4, 8, 16), (1, 2, 4, 16, 8), 2),
        ((2, 4), (1, 2), (4, 1), 1),
        ((16, 2), (1, 16), (1, 24), 1),
        ((1, 16), (0, 1), (7, 1), 1),
    ),
    reference=widest,
    contract=DrawnCases(any_move, count=48),
)

# --- Requests and sectors, predicted ---

PREDICT_PIECES = NumberExercise(
    source=f"{FOLDER}/move_by_pieces.cu",
    kernel="move_by_pieces",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n)},
    launch=lambda n: Launch((n // 128,), (32,)),
    asks={
        "load_sectors": Ask(
            question="sectors that the loads of the warp touch, all four requests together",
            size=128,
            measure=lambda counts: counts.global_load_sectors,
            traps={
                16: "512 bytes are 16 sectors, and each of the four requests touches all of them: "
                "neighbouring threads are 16 bytes apart.",
                128: "Two threads share a sector: their numbers are 16 bytes apart.",
            },
        ),
        "store_sectors": Ask(
            question="sectors that the stores of the warp touch, all four requests together",
            size=128,
            measure=lambda counts: counts.global_store_sectors,
            traps={
                64: "A store takes 32 neighbours of y: k is the same for all threads.",
                4: "That is one request; there are four.",
            },
        ),
        "wide_load_sectors": Ask(
            question="sectors of the loads, had each thread loaded its four numbers by one float4",
            size=128,
            measure=lambda counts: counts.global_load_sectors / counts.global_load_requests,
            traps={64: "One request now, not four: each of the 16 sectors is touched once."},
        ),
    },
)

# --- A copy from a shifted place ---


def shifted_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    n, shift = size
    return {"x": floats(rng, n + shift), "y": empty(n), **int32s(shift=shift, n=n)}


def bytes_a_store(stats: LaunchStats) -> float:
    return stats.counts.global_store_bytes / stats.opcodes("st.global")


SHIFTED_COPY = KernelExercise(
    inputs=shifted_inputs,
    reference=lambda given: {"y": given["x"][int(given["shift"]) :]},
    launch=lambda size: Launch((ceil_div(size[0], 1024),), (256,)),
    small=((1027, 3), (64, 0), (6, 1), (1, 1)),
    full=(1 << 26, 3),
    contract=Domain(
        sizes=domain.shapes(
            n=domain.extents(5000), shift=(0, 1, 2, 3, 4, 5, 6, 7, 33)
        ).with_outlier(n=65543, shift=131101),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    exact=True,
    method=(
        method.one_store_per_result(),
        method.one_store_per_result(size=(1027, 4)),
        method.balanced_work(size=(4096, 1)),
        *(
            Requirement(
                "bytes that a thread stores at once",
                bytes_a_store,
                at_least=15,
                advice="Store four elements by one float4: y begins at a multiple of 16 bytes, and "
                "so does each group of four in it.",
                size=size,
            )
            for size in ((4096, 131101), (4096, 4), (4, 1))
        ),
    ),
)

# --- Pixels apart ---


def pixel_inputs(rng: np.random.Generator, n: int) -> Given:
    return {"pixels": floats(rng, 3 * n), "planes": empty(3 * n), "n": np.int32(n)}


PLANES_OF_PIXELS = KernelExercise(
    inputs=pixel_inputs,
    reference=lambda given: {"planes": given["pixels"].reshape(-1, 3).T.ravel()},
    launch=lambda n: Launch((n // 256,), (192,)),
    small=(1024, 256, 768),
    worked=Worked(why_not="a tile has 256 pixels"),
    full=1 << 24,
    contract=Domain(
        sizes=domain.lengths(of=256).with_outlier(n=66_048),
        values=(domain.data("pixels", *domain.ANY_FLOAT),),
    ),
    exact=True,
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        Requirement(
            "bytes that cp.async copies, over those of the pixels",
            lambda stats: stats.counts.shared_copy_bytes / stats.result_bytes,
            at_least=1,
            at_most=1,
            advice="All of the pixels come by `cp.async`, each once.",
        ),
        method.threads_that_start(
            at_least=4 * 192, advice="Each thread fetches 16 bytes, as it stores 16.", size=1024
        ),
        method.instructions(
            "loads from global memory into registers",
            "ld.global",
            at_most=0,
            advice="A thread reads from the tile what it stores.",
        ),
        bytes_a_copy(),
        Requirement(
            "bytes that a thread stores at once",
            bytes_a_store,
            at_least=16,
            advice="A thread has four neighbours of one plane: store them by one float4. (The "
            "compiler makes one store of it where the pixel is `t % 64 * 4`, and four for "
            "`(t & 63) * 4`.)",
        ),
    ),
)
