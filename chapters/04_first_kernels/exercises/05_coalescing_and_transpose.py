"""The exercises of "Coalescing and transposes"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.variants import ORDINALS, Varied
from course_utils.exercises.authoring.vectors import BLOCK, FULL, one_thread_each, spare_blocks
from course_utils.exercises.authoring.worked import Worked

ROOM, OPTINS = 48 * 1024, (227 * 1024, 163 * 1024, 99 * 1024, 64 * 1024)

PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 6: "a sixth"}


def sectors_of(near: int, far: int) -> dict[str, Ask]:
    """The questions about three strides: 1, one below 8, and one from 8 on."""
    apart = f"Two neighbours are {4 * near} bytes apart: "
    return {
        "neighbours": Ask(
            "stride 1: the 32 threads read 32 neighbouring floats",
            1,
            lambda counts: counts.global_load_sectors,
            {
                1: "One instruction, but 32 floats are 128 bytes, and a sector holds only 32.",
                32: "Threads share sectors: how many floats of 4 bytes fit into 32 bytes?",
                128: "That is the number of bytes. How many bytes does a sector hold?",
            },
        ),
        f"every_{ORDINALS[near]}": Ask(
            f"stride {near}: every {ORDINALS[near]} float",
            near,
            lambda counts: counts.global_load_sectors,
            {
                4: f"Only {PARTS[near]} of each sector is used now, so the warp needs more of "
                "them.",
                16: f"{apart}how many of them are in one sector?",
                32: f"{apart}some of them still share a sector.",
            },
        ),
        f"every_{ORDINALS[far]}": Ask(
            f"stride {far}: every {ORDINALS[far]} float",
            far,
            lambda counts: counts.global_load_sectors,
            {
                16: f"Neighbours are {far} * 4 = {4 * far} bytes apart: do two of them still share "
                "a sector?",
                256: "No thread reads more than one float, and a float is in one sector.",
            },
        ),
    }


PREDICT_SECTORS = NumberExercise(
    source="04_first_kernels/exercises/strided_read.cu",
    kernel="strided_read",
    inputs=lambda rng, stride: {
        "x": floats(rng, 32 * stride),
        "y": empty(32),
        "stride": np.int32(stride),
    },
    launch=lambda stride: Launch((1,), (32,)),
    asks=sectors_of(2, 8),
    varied=Varied(
        {"near": (2, 3, 4, 5, 6), "far": (8, 9, 10, 12, 16)},
        fields=lambda near, far: {"asks": sectors_of(near, far)},
        texts=("How many with stride {near}, and with stride {far}?",),
    ),
)


def moved_per_byte_wanted(counts: Counts) -> float:
    """Bytes of the sectors that are touched, for each byte that a thread asks for."""
    sectors = counts.global_load_sectors + counts.global_store_sectors
    asked = counts.global_load_bytes + counts.global_store_bytes
    return 32 * (sectors + counts.global_atomic_sectors) / max(asked, 1)


def brightened(given: Given) -> dict[str, np.ndarray]:
    """gain x, with NaN where 0 meets infinity."""
    return {"y": given["gain"] * given["x"]}


WHY_IS_THIS_SLOW = KernelExercise(
    source="04_first_kernels/exercises/brighten.cu",
    kernel="brighten",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "gain": np.float32(rng.uniform(1.5, 3.0)),
        "n": np.int32(n),
    },
    reference=brightened,
    launch=lambda n: Launch((ceil_div(n, 1024),), (BLOCK,)),
    small=(3001, 1025, 31, 1),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=lambda n: [Launch((ceil_div(n, 1024) + spare,), (BLOCK,)) for spare in (1, 0, 3)],
        values=(
            domain.scalars("gain", 0, 1, -1, 0.25, 1000, 1e20, np.inf),
            (
                *domain.data("x", *domain.ORDINARY, domain.ZEROS, *domain.STRANGE),
                domain.zero_times_infinity("gain", "x"),
                domain.zeros_and_infinities("x", "gain"),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=8192),
        Requirement(
            "bytes asked for per byte wanted, where the last block is not full",
            lambda stats: moved_per_byte_wanted(stats.counts),
            at_most=1.1,
            advice="The last block has fewer elements: its warps are to touch neighbours, too.",
            size=1900,
        ),
    ),
    bug=kinds.TARGET_MISSED,
    target=Target(
        label="bytes asked for per byte wanted",
        measure=moved_per_byte_wanted,
        at_most=1.0,
        advice="Which elements do the 32 threads of a warp touch at the same "
        "time, in the iteration k = 0?",
        size=2048,
    ),
)


COUNTED = {2: "Two", 4: "Four", 8: "Eight", 16: "Sixteen"}


def wavefronts_of(even: int, longer: int, odd: int) -> dict[str, Ask]:
    """The questions about four strides, of which the last is 0."""
    banks, again = 32 // math.gcd(even, 32), 32 // math.gcd(longer, 32)
    word = longer * again
    return {
        f"stride_{even}": Ask(
            f"stride {even}",
            even,
            lambda counts: counts.shared_load_wavefronts,
            {
                1: f"Thread 0 wants word 0, thread {banks} word {even * banks}: which banks are "
                "those?",
                banks: f"{banks} banks are in use. How many threads want each of them?",
                min(4 * even, 32): "That is the number of sectors of a global load; here banks "
                "count.",
            },
        ),
        f"stride_{longer}": Ask(
            f"stride {longer}",
            longer,
            lambda counts: counts.shared_load_wavefronts,
            {
                longer: f"Thread {again} wants word {word}, and {word} = {word // 32} * 32: it is "
                "in bank 0, as thread 0 is. Which other threads are?",
                1: "Go on until you meet bank 0 again: which thread is it?",
                again: f"{COUNTED[again]} is the number of banks in use. How many threads share "
                "each?",
            },
        ),
        f"stride_{odd}": Ask(
            f"stride {odd}",
            odd,
            lambda counts: counts.shared_load_wavefronts,
            {
                odd: f"Thread 1 is in bank {odd % 32}, thread 2 in bank {2 * odd % 32}: do two "
                "threads ever meet?",
                32: "That would be one bank for all. Thread 0 is in bank 0, thread 1 in bank "
                f"{odd % 32}.",
            },
        ),
        "stride_0": Ask(
            "stride 0: all threads want the same word",
            0,
            lambda counts: counts.shared_load_wavefronts,
            {32: "They want the same bank, but also the same word: it is read once for all."},
        ),
    }


PREDICT_WAVEFRONTS = NumberExercise(
    source="04_first_kernels/exercises/strided_tile.cu",
    kernel="strided_tile",
    inputs=lambda rng, stride: {"x": floats(rng, 1024), "y": empty(32), "stride": np.int32(stride)},
    launch=lambda stride: Launch((1,), (32,)),
    asks=wavefronts_of(2, 12, 31),
    varied=Varied(
        {"even": (2, 4, 6, 8, 10), "longer": (12, 20, 22, 24, 28), "odd": (31, 33, 29, 27, 25)},
        fields=lambda **strides: {"asks": wavefronts_of(**strides)},
    ),
)


def one_kind(memory: str, requests: int, moved: int, asked: int) -> dict[str, int]:
    return {
        "requests": requests,
        "sectors" if memory == "global" else "wavefronts": moved,
        "bytes": asked,
    }


def a_report(*kinds: tuple[int, int, int]) -> dict[str, dict[str, int]]:
    """A profiler's counts of loads and stores on global memory, then on shared memory."""
    names = "global loads", "global stores", "shared loads", "shared stores"
    return {name: one_kind(name.split()[0], *kind) for name, kind in zip(names, kinds, strict=True)}


def worst_kind(report: dict[str, dict[str, int]]) -> str:
    factors = {
        name: (32 * c.get("sectors", 0) + 128 * c.get("wavefronts", 0)) / c["bytes"]
        for name, c in report.items()
        if c["bytes"]
    }
    wasted = {name: factor for name, factor in factors.items() if factor > 1.25}
    return max(wasted, key=lambda name: wasted[name]) if wasted else "none"


def drawn_report(rng: np.random.Generator) -> tuple[dict[str, dict[str, int]]]:
    """Requests of 4 or 16 bytes a lane. No two kinds waste the same, and none is at the limit."""
    kinds = []
    for unit, wastes in ((32, (1, 1.125, 2, 5, 8)), (32, (1, 1.1875, 3, 7, 6))) + (
        (128, (0.25, 1, 4, 16, 1.5)),
        (128, (0.5, 1, 9, 32, 10)),
    ):
        requests, wide = int(rng.integers(1, 40)) * 16, int(rng.choice((128, 512)))
        asked = requests * wide * int(rng.random() < 0.8)
        kinds.append((requests if asked else 0, int(asked * rng.choice(wastes) / unit), asked))
    return (a_report(*kinds),)


NOT_USED = (0, 0, 0)
READ_THE_COUNTERS = PythonExercise(
    cases=(
        (a_report((4, 16, 512), (4, 128, 512), NOT_USED, NOT_USED),),
        (a_report((512, 2048, 65536), (512, 2048, 65536), (512, 16384, 65536), (512, 512, 65536)),),
        (a_report((128, 2048, 65536), (512, 4096, 65536), (512, 512, 65536), (128, 512, 65536)),),
        (a_report((128, 2048, 65536), (128, 2048, 65536), (128, 512, 65536), (128, 512, 65536)),),
        (a_report((100, 500, 12800), (100, 400, 12800), NOT_USED, NOT_USED),),
        (a_report((100, 501, 12800), (100, 400, 12800), NOT_USED, NOT_USED),),
        (a_report((100, 600, 12800), (100, 480, 12800), NOT_USED, NOT_USED),),
        (a_report((9000, 90000, 1152000), (10, 320, 1280), NOT_USED, NOT_USED),),
        (a_report((100, 800, 12800), (100, 400, 12800), (100, 300, 12800), (10, 20, 1280)),),
        (a_report(NOT_USED, NOT_USED, NOT_USED, NOT_USED),),
    ),
    reference=worst_kind,
    start="Work out for each kind of access the bytes moved for each byte asked for.",
    contract=DrawnCases(drawn_report),
)


class RowGPU:
    """A stand-in for a GPU with one kernel that reverses rows, and CUDA's rules for shared memory.

    ``optin``: the most bytes that a block may have; ``x``: the rows, one after the other.
    """

    def __init__(self, optin: int, rows: int, columns: int):
        self.optin, self.x = optin, list(range(rows * columns))
        self.kernel = RowKernel(optin)

    def __repr__(self) -> str:
        return f"gpu with optin={self.optin:,}"


class RowKernel:
    """CuPy's kernel, as far as the task needs it. ``launches``: the block's threads and the
    shared bytes of each."""

    def __init__(self, optin: int):
        self._optin, self._most = optin, ROOM
        self.launches: list[Any] = []

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        return self._most

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, nbytes: int) -> None:
        if not 0 <= nbytes <= self._optin:
            raise LessonError(
                f"CUDA_ERROR_INVALID_VALUE: a block has at most {self._optin:,} bytes of shared "
                f"memory on this GPU, not {nbytes:,}"
            )
        self._most = nbytes

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int = 0) -> None:
        if shared_mem > self._most:
            raise LessonError(
                f"CUDA_ERROR_INVALID_VALUE: {shared_mem:,} bytes of dynamic shared memory, and the "
                f"kernel may have {self._most:,}"
            )
        threads, (x, columns) = math.prod(block), arguments
        if threads > 1024:
            raise LessonError(f"CUDA_ERROR_INVALID_VALUE: a block of {threads:,} threads")
        if math.prod(grid) * columns > len(x):
            raise LessonError(
                f"out of bounds: {math.prod(grid):,} blocks, for {len(x) // columns:,} rows"
            )
        if 4 * columns > shared_mem:
            raise LessonError(
                f"out of bounds: a row of {columns:,} floats does not fit into {shared_mem:,} bytes"
            )
        self.launches.append((threads, shared_mem))
        for row in range(grid[0]):
            part = x[row * columns : (row + 1) * columns]
            x[row * columns : (row + 1) * columns] = part[::-1]


def launch_and_look(
    function: Callable[..., Any], gpu: RowGPU, rows: int, columns: int
) -> dict[str, int]:
    """The function's result, and some of the numbers in the rows after it."""
    return _looked_at(function(gpu, rows, columns), gpu.x, rows, columns)


def _looked_at(answer: int, x: list[int], rows: int, columns: int) -> dict[str, int]:
    places = {0, columns - 1, columns // 3, (rows - 1) * columns, rows * columns - 1}
    return {"returned": answer, **{f"x[{place}]": x[place] for place in sorted(places)}}


def expected_rows(gpu: RowGPU, rows: int, columns: int) -> dict[str, int]:
    answer, x = 0, list(range(rows * columns))
    if 4 * columns <= gpu.optin:
        answer = 4 * columns
        x = [row * columns + columns - 1 - at for row in range(rows) for at in range(columns)]
    return _looked_at(answer, x, rows, columns)


def no_more_than_asked(gpu: RowGPU, rows: int, columns: int) -> str:
    if 4 * columns == gpu.optin and not gpu.kernel.launches:
        return f"A row of {gpu.optin:,} bytes still fits: the limit itself is allowed."
    if 4 * columns <= gpu.optin and gpu.kernel.launches != [(256, 4 * columns)]:
        return (
            "Launch once, with blocks of 256 threads and exactly the bytes of a row: shared memory "
            "that one block takes is missing for others."
        )
    if 4 * columns > gpu.optin and gpu.kernel.launches:
        return "Launch nothing where a row does not fit."
    return ""


def drawn_rows(rng: np.random.Generator) -> tuple[RowGPU, int, int]:
    optin, rows = int(rng.choice(OPTINS)), int(rng.integers(1, 4))
    limits = (1, 100, ROOM // 4, ROOM // 4 + 1, optin // 4, optin // 4 + 1, 20_001)
    columns = int(rng.choice(limits))
    return RowGPU(optin, rows, columns), rows, columns


REVERSE_WITH_ROOM = PythonExercise(
    cases=tuple(
        (RowGPU(optin, rows, columns), rows, columns)
        for optin, rows, columns in (
            (OPTINS[0], 2, 4),
            (OPTINS[0], 2, 1000),
            (OPTINS[0], 2, ROOM // 4),
            (OPTINS[0], 1, ROOM // 4 + 1),
            (OPTINS[0], 1, OPTINS[0] // 4),
            (OPTINS[0], 1, OPTINS[0] // 4 + 1),
            (OPTINS[3], 3, 16_384),
            (OPTINS[2], 1, 25_345),
            (OPTINS[1], 300, 5),
            (OPTINS[1], 70_001, 2),
        )
    ),
    reference=expected_rows,
    call=launch_and_look,
    contract=DrawnCases(drawn_rows),
    method=no_more_than_asked,
)


def picture_and_room(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "in": floats(rng, (rows, columns)),
        "out": empty((columns, rows)),
        **int32s(rows=rows, columns=columns),
    }


def spare_tiles(size: tuple[int, int]) -> tuple[Launch, ...]:
    """Grids of 32 x 32 threads with more blocks than the picture needs."""
    rows, columns = size
    across, down = ceil_div(columns, 32), ceil_div(rows, 32)
    return tuple(
        Launch((across + right, down + below), (32, 32))
        for right, below in ((1, 0), (0, 2), (0, 0))
    )


def of_each_32(counts: Counts, elements: int) -> float:
    """Sectors and wavefronts for each 32 elements."""
    sectors = counts.global_load_sectors + counts.global_store_sectors
    wavefronts = counts.shared_load_wavefronts + counts.shared_store_wavefronts
    return (sectors + counts.global_atomic_sectors + wavefronts) / (elements / 32)


ROTATE_PICTURE = KernelExercise(
    inputs=picture_and_room,
    reference=lambda given: {"out": np.rot90(given["in"], -1)},
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (32, 32)),
    small=((37, 70), (33, 31), (33, 33), (1, 40), (1, 32_801), (32_801, 1), (1, 1)),
    full=(4096, 4096),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 31, 33, 65, 131, 301), columns=(1, 3, 32, 97, 131, 257, 301)
        ),
        launches=spare_tiles,
        values=(domain.data("in", *domain.ANY_FLOAT),),
    ),
    method=(
        method.shared_memory(
            at_least=64 * 96 * 4 / 2,
            advice="The task asks for a tile in shared memory: all elements go through it.",
            size=(64, 96),
        ),
        method.one_store_per_result(),
        method.balanced_work(size=(64, 96)),
        Requirement(
            "sectors and wavefronts for each 32 elements of a picture of 56 x 88",
            lambda stats: of_each_32(stats.counts, 56 * 88),
            at_most=14.0,
            advice="The tiles at the edges are not full, and still go through shared memory.",
            size=(56, 88),
        ),
    ),
    target=Target(
        label="sectors and wavefronts for each 32 elements",
        measure=lambda counts: of_each_32(counts, 64 * 96),
        at_most=10.0,
        advice="The picture is right. About 36 to 38: the writes still go down a column of `out`, "
        "with a tile or without. About 41: they do not, but a column of the tile lies in one bank.",
        size=(64, 96),
    ),
)


LENGTHS = KernelExercise(
    inputs=lambda rng, n: {"vectors": floats(rng, (n, 3)), "length": empty(n), "n": np.int32(n)},
    reference=lambda given: {
        "length": np.sqrt((given["vectors"].astype(np.float64) ** 2).sum(axis=1))
    },
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    worked=Worked(  # the lengths are 3, 7, 9, 6 and 11
        size=5, values={"vectors": (1, 2, 2, 2, 3, 6, 1, 4, 8, 4, 4, 2, 2, 6, 9)}
    ),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            domain.data(
                "vectors",
                *domain.ORDINARY,
                domain.ZEROS,
                domain.VERY_SMALL,
                domain.SOME_INFINITE,
                domain.SOME_NAN,
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=4096),
        Requirement(
            "sectors loaded for each 32 of 992 vectors",
            lambda stats: stats.counts.global_load_sectors / (992 / 32),
            at_most=13.0,
            advice="The last block has fewer vectors, and copies them in the same way.",
            size=992,
        ),
    ),
    reduction=lambda n: 3,
    target=Target(
        label="sectors loaded for each 32 vectors",
        measure=lambda counts: (
            (counts.global_load_sectors + counts.global_atomic_sectors) / (1024 / 32)
        ),
        at_most=12.0,
        advice="The lengths are right. The block's 256 vectors are 768 floats in a row: load those "
        "thread by neighbouring thread, and pick x, y and z out of shared memory.",
        size=1024,
    ),
)
