"""The exercises of "TMA"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Box
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked
from course_utils.layouts import Layout
from course_utils.layouts.int_tuples import flatten

BOX = {"box": (8, 32)}


def boxes(rows: int, columns: int) -> tuple[int, int]:
    """The grid with a block for each box of 8 x 32."""
    return ceil_div(columns, 32), ceil_div(rows, 8)


# --- The fields of a map ---


def any_map(rng: np.random.Generator) -> tuple[Any, ...]:
    rank = int(rng.integers(2, 6))
    size = int(rng.choice((1, 2, 4, 8)))
    shape = tuple(int(n) for n in rng.integers(1, 300, rank))
    pitch = shape[-1] * size
    if rng.random() < 0.8:
        pitch = ceil_div(pitch, 16) * 16 + int(rng.choice((0, 0, 16, 48)))
    row = int(rng.choice((8, 16, 32, 64, 128, 256))) // size or 1
    sides = (int(n) for n in rng.choice((1, 2, 8, 64, 256, 257), rank - 1, p=(*[0.19] * 5, 0.05)))
    return shape, pitch, size, (*sides, row), int(rng.choice((0, 32, 64, 128)))


def listed(
    shape: tuple[Any, ...], pitch: int, element_bytes: int, box: tuple[Any, ...], swizzle: int
) -> tuple[Any, ...]:
    """By what NumPy makes of such a tensor."""
    padded = Layout(shape[-2::-1], tuple(int(n) for n in np.cumprod((1, *shape[-2:0:-1]))))
    strides = tuple(pitch * step for step in flatten(padded.stride))
    row = box[-1] * element_bytes
    wrong = [stride % 16 for stride in strides] + [row % 16, swizzle and row > swizzle]
    wrong += [not 0 < side < 257 for side in box]
    return () if any(wrong) else (shape[::-1], strides, box[::-1])


MAP_FIELDS = PythonExercise(
    cases=(
        ((100, 60), 240, 4, (8, 32), 0),
        ((100, 60), 240, 4, (8, 32), 128),
        ((100, 60), 240, 4, (8, 32), 64),
        ((100, 61), 244, 4, (8, 32), 0),
        ((100, 61), 256, 4, (8, 32), 0),
        ((16, 9, 24), 48, 2, (1, 8, 8), 0),
        ((16, 9, 24), 64, 2, (1, 8, 4), 0),
        ((3, 4, 5, 6, 8), 32, 4, (1, 1, 2, 3, 8), 32),
        ((300, 64), 64, 1, (256, 64), 64),
        ((300, 64), 64, 1, (257, 64), 64),
        ((300, 64), 64, 1, (0, 64), 64),
        ((300, 512), 512, 1, (4, 272), 0),
        ((300, 512), 512, 2, (4, 256), 0),
    ),
    reference=listed,
    contract=DrawnCases(any_map),
)

# --- The position of an element ---


def any_element(rng: np.random.Generator) -> tuple[Any, ...]:
    size = int(rng.choice((1, 2, 4, 8)))
    swizzle = int(rng.choice((0, 32, 64, 128)))
    row = swizzle or int(rng.choice((16, 48, 256)))
    return (
        128 * int(rng.integers(0, 64)),
        int(rng.integers(0, 64)),
        int(rng.integers(0, row // size)),
        row,
        size,
        swizzle,
    )


def by_the_emulator(
    base: int, row: int, column: int, row_bytes: int, size: int, swizzle: int
) -> int:
    """Where the emulator's TMA puts it."""
    width = row_bytes // size
    kind, ones = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}[size], (1, 1)
    box = Box(0, kind, (width, 64), (size, row_bytes), (width, 64), ones, swizzle, False)
    return base + int(box.shared_offsets(base)[row * width + column])


BOX_ADDRESS = PythonExercise(
    cases=(
        (0, 1, 0, 128, 4, 128),
        (0, 9, 5, 128, 4, 128),
        (1024, 3, 17, 128, 2, 128),
        (128, 0, 0, 128, 4, 128),
        (0, 2, 0, 64, 4, 64),
        (0, 7, 3, 64, 8, 64),
        (0, 4, 0, 32, 4, 32),
        (0, 5, 31, 32, 1, 32),
        (256, 3, 5, 48, 4, 0),
        (0, 3, 5, 256, 4, 0),
        (200_064, 9, 5, 128, 4, 128),
    ),
    reference=by_the_emulator,
    contract=DrawnCases(any_element, 24),
)

# --- Bytes to expect ---


def any_copies(rng: np.random.Generator) -> tuple[Any, ...]:
    copies = []
    for _ in range(int(rng.integers(0, 6))):
        box = tuple(int(n) for n in rng.choice((1, 2, 8, 16, 64), int(rng.integers(1, 4))))
        blocks = tuple(int(b) for b in np.flatnonzero(rng.random(4) < 0.6))
        inside = int(rng.integers(0, np.prod(box) + 1))
        copies.append((box, int(rng.choice((1, 2, 4, 8))), inside, blocks))
    return copies, int(rng.integers(0, 4))


def counted(copies: list[Any], rank: int) -> int:
    arrived = 0
    for box, size, _, blocks in copies:
        arrived += blocks.count(rank) * len(np.empty(box, np.int8).ravel()) * size
    return arrived


EXPECTED_BYTES = PythonExercise(
    cases=(
        ([((8, 32), 4, 256, (0,))], 0),
        ([((8, 32), 4, 256, (0,))], 1),
        ([((8, 32), 4, 100, (0,))], 0),
        ([((8, 32), 4, 256, (0,)), ((8, 32), 4, 256, (0,))], 0),
        ([((64, 64), 2, 4096, (0,)), ((128, 64), 2, 8192, (0, 1))], 1),
        ([((64, 64), 2, 4096, (0,)), ((128, 64), 2, 8192, (0, 1))], 0),
        ([((1, 8, 8, 64), 2, 0, (0, 1, 2, 3))], 2),
        ([], 0),
    ),
    reference=counted,
    contract=DrawnCases(any_copies),
)

# --- The first load ---

UPSIDE_DOWN = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        **int32s(rows=size[0], columns=size[1]),
    },
    maps={"x": BOX},
    reference=lambda given: {"y": given["x"][::-1]},
    launch=lambda size: Launch(boxes(*size), (64,)),
    small=((19, 36), (8, 32), (1, 4)),
    full=(8192, 8192),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 7, 8, 9, 33), columns=(4, 28, 32, 36, 68)).with_outlier(
            rows=131, columns=516
        ),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    method=(
        method.tma_loads(19 * 36 * 4, advice="The box comes by tma_load.", size=(19, 36)),
        method.one_store_per_result(),
        method.balanced_work(size=(16, 64)),
    ),
)

# --- From an empty cell ---

OWN_BOX = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size[::-1]),
        **int32s(rows=size[0], columns=size[1]),
    },
    maps={"x": {"box": (32, 32)}},
    reference=lambda given: {"y": given["x"].T},
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (256,)),
    small=((37, 36), (32, 64), (1, 4)),
    full=(8192, 8192),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 7, 31, 32, 33), columns=(4, 28, 32, 36, 68)).with_outlier(
            rows=2411, columns=516
        ),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    method=(
        method.tma_loads(37 * 36 * 4, advice="The box comes by tma_load.", size=(37, 36)),
        method.one_store_per_result(),
        method.balanced_work(size=(64, 64)),
        method.coalesced(
            "store",
            at_most=8.0,
            advice="Let the lanes of a warp store neighbours of a row of y.",
            size=(64, 64),
        ),
    ),
)

# --- Find the deadlock ---

STUCK_RING = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "largest": empty(size[1]),
        **int32s(rows=size[0], columns=size[1]),
    },
    maps={"x": {**BOX, "fill": "nan"}},
    reference=lambda given: {"largest": given["x"].max(axis=0)},
    launch=lambda size: Launch((ceil_div(size[1], 32),), (64,)),
    small=((37, 36), (16, 32), (1, 4)),
    full=(8192, 4096),
    bug=kinds.DEADLOCK,
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 8, 15, 17, 24, 33), columns=(4, 32, 36)).with_outlier(
            rows=1031, columns=260
        ),
        values=(
            domain.data("x", *domain.ANY_ORDERED, domain.LAST_INFINITE, domain.FAINT, domain.HUGE),
        ),
    ),
    method=(
        method.tma_loads(37 * 36 * 4, advice="The boxes come by tma_load.", size=(37, 36)),
        method.shared_memory_limit(2 * 1024 + 128, advice="Two stages are enough.", size=(37, 36)),
    ),
)

# --- Review a loader ---

FAULTS = {
    6: "fence",
    10: "bytes",
    13: "phase",
    14: "reuse",
}  # tests/exercises/test_reviewed_loader.py proves it


REVIEW_THE_LOADER = review(
    FAULTS,
    example='{4: "bytes"}',
    start="Go through the five steps of a TMA copy, and ask when its tile may be overwritten.",
)

# --- Place the fence ---

WIDE = "about 1e17", lambda x, rng: x * np.float32(1e17)


def squares(given: Given) -> dict[str, np.ndarray]:
    return {"y": given["x"] * given["x"]}


UNSEEN_SQUARES = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        **int32s(rows=size[0], columns=size[1]),
    },
    maps={"y": BOX},
    reference=squares,
    launch=lambda size: Launch(boxes(*size), (64,)),
    small=((19, 36), (8, 32), (1, 4)),
    full=(8192, 8192),
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 7, 8, 9, 33), columns=(4, 28, 32, 36, 68)).with_outlier(
            rows=131, columns=516
        ),
        values=(domain.data("x", *domain.ORDINARY, *domain.STRANGE, domain.LARGE, WIDE),),
    ),
    method=(
        method.tma_stores(
            at_least=19 * 36 * 4,
            at_most=19 * 36 * 4,
            advice="The tile leaves by tma_store, once.",
            size=(19, 36),
        ),
        method.balanced_work(size=(16, 64)),
    ),
)

# --- Reduce ---


def added(given: Given) -> dict[str, np.ndarray]:
    bands = given["x"].reshape(-1, 8, given["x"].shape[1]).astype(np.float64)
    return {"y": given["y"] + bands.sum(axis=0)}


BANDS_ADDED = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, (size[0] * 8, size[1])),
        "y": floats(rng, (8, size[1])),
    },
    maps={"x": BOX, "y": BOX},
    reference=added,
    launch=lambda size: Launch((ceil_div(size[1], 32), size[0]), (32,)),
    small=((3, 36), (2, 32), (1, 4)),
    worked=Worked(why_not="a band has 8 rows"),
    full=(1024, 8192),
    reduction=lambda size: size[0] + 1,
    contract=Domain(
        sizes=domain.shapes(bands=(1, 2, 5, 9), columns=(4, 28, 32, 36, 68)).with_outlier(
            bands=67, columns=516
        ),
        values=(
            domain.data("x", *domain.ORDINARY, *domain.STRANGE, domain.LARGE),
            domain.data("y", *domain.ORDINARY, domain.LARGE, domain.SOME_INFINITE),
        ),
    ),
    method=(
        Requirement(
            "loads and stores of threads, in bytes",
            lambda stats: (
                stats.counts.global_load_bytes
                + stats.counts.global_store_bytes
                + stats.counts.global_atomic_bytes
                + stats.counts.shared_load_bytes
                + stats.counts.shared_store_bytes
            ),
            at_most=0,
            advice="No thread touches an element: tma_load in, tma_add out.",
            size=(3, 36),
        ),
        method.threads_that_start(
            6, 6, advice="One thread of each block starts both copies.", size=(3, 36)
        ),
    ),
)

# --- Distributed shared memory ---

HANDED_ROUND = KernelExercise(
    inputs=lambda rng, clusters: {"x": floats(rng, clusters * 128), "y": empty(clusters * 128)},
    reference=lambda given: {"y": np.roll(given["x"].reshape(-1, 4, 32), 1, axis=1).ravel()},
    launch=lambda clusters: Launch((clusters * 4,), (32,)),
    small=(2, 1),
    worked=Worked(whole=("x",), why_not="a block has 128 elements"),
    full=1 << 14,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(most=3).with_outlier(n=5),
        values=(domain.data("x", domain.NEGATIVE, *domain.STRANGE),),
    ),
    method=(
        method.instructions(
            "numbers stored into another block",
            "st.async",
            at_least=2 * 128,
            advice="Each thread sends one number by store_async.",
            size=2,
        ),
        method.instructions(
            "arrivals at barriers of the cluster",
            "barrier.cluster.arrive",
            at_most=2 * 128,
            advice="One barrier, before the stores. Behind them each block's mbarrier is enough.",
            size=2,
        ),
        method.reads_each_once(2 * 128 * 4, size=2),
        method.balanced_loads(at_most=2, size=2),
    ),
)

# --- Multicast ---


def multiplied(given: Given) -> dict[str, np.ndarray]:
    return {"y": given["x"] * given["table"]}


TABLE_FOR_BOTH = KernelExercise(
    inputs=lambda rng, blocks: {
        "x": floats(rng, (blocks, 16, 32)),
        "table": floats(rng, (16, 32)),
        "y": empty((blocks, 16, 32)),
    },
    maps={"table": BOX},
    reference=multiplied,
    launch=lambda blocks: Launch((blocks,), (128,)),
    small=(6, 2),
    worked=Worked(why_not="the table has 16 x 32 elements"),
    axes={"y": ("tile", "row", "column")},
    full=1 << 16,
    contract=Domain(
        sizes=domain.lengths(most=14, of=2).with_outlier(n=34),
        values=(
            (
                *domain.data("x", *domain.ORDINARY, *domain.STRANGE, domain.LARGE),
                domain.zero_times_infinity_along("table", 0, "x", 1),
                domain.zero_times_infinity_along("x", 1, "table", 0),
            ),
            domain.data("table", *domain.ORDINARY),
        ),
    ),
    method=(
        method.tma_loads(
            at_least=3 * 16 * 32 * 4,
            at_most=3 * 16 * 32 * 4,
            advice="A cluster of two blocks fetches the table once: half by each block, for both.",
            size=6,
        ),
        method.threads_that_start(
            6, 6, advice="Each block loads half of the table, by one of its threads.", size=6
        ),
        method.one_store_per_result(),
        method.balanced_work(),
    ),
)
