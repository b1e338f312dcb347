"""The exercises of "Cooperation"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise

from .common import orders

ROOM, OPTINS = 48 * 1024, (227 * 1024, 163 * 1024, 99 * 1024, 64 * 1024)


def in_groups(x: np.ndarray) -> np.ndarray:
    """The largest magnitude of each element's group of 16."""
    return np.repeat(np.maximum.reduceat(np.abs(x), np.arange(0, len(x), 16)), 16)[: len(x)]


def scaled(x: np.ndarray) -> np.ndarray:
    largest = in_groups(x)
    return np.where(largest > 0, x / largest, x).astype(np.float32)


def some_zeros(given: dict, rng: np.random.Generator) -> dict:
    x = given["x"].copy()
    x[: len(x) // 2] = 0
    return {"x": x}


def next_to_zero(given: dict, rng: np.random.Generator) -> dict:
    """No smaller number is sure to be one: a GPU may take those for 0."""
    least = np.finfo(np.float32).tiny
    return {"x": np.copysign(least * (1 + 0.001 * np.abs(given["x"])), given["x"])}


SCALE_TILES = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {"y": scaled(given["x"])},
    launch=lambda n: Launch((ceil_div(n, 128),), (128,)),
    small=(1000, 129, 17, 1),
    full=1 << 24,
    contract=Domain(
        sizes=domain.shapes(n=(1, 15, 16, 17, 31, 33, 127, 129, 1000, 4099, 65_543)),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("x all negative", lambda given, rng: {"x": -1 - abs(given["x"])}),
                domain.InputClass("half of x 0", some_zeros),
                domain.InputClass("x huge", lambda given, rng: {"x": 6e37 * given["x"]}),
                domain.InputClass("x tiny", lambda given, rng: {"x": 1e-30 * given["x"]}),
                domain.InputClass("x next to 0", next_to_zero),
                domain.InputClass("x all equal", lambda given, rng: {"x": 3 + 0 * given["x"]}),
            ),
        ),
    ),
    method=(
        Requirement(
            "shuffles, and what is reduced by one instruction counted as four",
            lambda stats: stats.opcodes("shfl.") + 4 * stats.opcodes("redux."),
            4 * 1000,
            5 * 1024,
            advice="Four shuffles within the tile, in which all of its lanes take part.",
        ),
        method.from_header(
            "cooperative groups",
            "cooperative_groups",
            "shfl.",
            "redux.",
            at_least=4 * 8,  # one for each warp at least
            advice="The tile has shuffles of its own: `tile.shfl_xor` and others.",
            size=1000,
        ),
        method.barriers(at_most=0, advice="A tile's shuffles need no barrier of the block."),
        method.no_shared_memory("A tile's lanes hand each other registers, by shuffles."),
        method.one_store_per_result(),
        method.reads_each_once(4 * 1000, at_most=1.1, size=1000),
        method.balanced_loads(size=1000),
    ),
)


def rounds(n: int) -> int:
    """How often a distance that begins at 1 doubles until it is n."""
    return max(n - 1, 0).bit_length()


def running_maxima(given: dict) -> dict:
    """Both arrays after all rounds: the result, and what stood there a round before."""
    arrays, n = [given["a"].copy(), given["b"].copy()], len(given["a"])
    for turn in range(rounds(n)):
        before, after = arrays[turn % 2], arrays[1 - turn % 2]
        after[:] = before
        after[1 << turn :] = np.maximum(before[1 << turn :], before[: -(1 << turn)])
    one = np.ones(1, np.uint32)
    return {"a": arrays[0], "b": arrays[1], "arrived": one, "done": one}


DOUBLING_MAX = KernelExercise(
    inputs=lambda rng, n: {
        "a": rng.integers(-1000, 1000, n, dtype=np.int32),
        "b": np.full(n, -(2**31), np.int32),
        "arrived": np.zeros(1, np.uint32),
        "done": np.zeros(1, np.uint32),
        "n": np.int32(n),
    },
    reference=running_maxima,
    launch=lambda n: Launch((4,), (64,)),
    small=(250, 150, 33, 2),
    budget=12_000,  # a loop that never ends polls with atomics, which are slow
    full=1 << 16,
    contract=Domain(
        sizes=domain.shapes(n=(2, 33, 101, 130, 200)),
        launches=domain.grids((1, 64), (2, 8), (3, 96), (7, 4)),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("a falling", lambda given, rng: {"a": -np.sort(-given["a"])}),
                domain.InputClass("a rising", lambda given, rng: {"a": np.sort(given["a"])}),
                domain.InputClass("a of 31 bits", lambda given, rng: {"a": 2_000_003 * given["a"]}),
                domain.InputClass("a all negative", lambda given, rng: {"a": -1 - abs(given["a"])}),
            ),
        ),
    ),
    method=(
        method.atomics(
            "global",
            at_least=4 * rounds(250),
            advice="Each block counts itself in, by an atomic, once for each round.",
            size=250,
        ),
        method.barriers(
            4 * 2 * rounds(250),
            advice="Before thread 0 counts the block in, all its threads have to be there.",
            size=250,
        ),
        method.balanced_loads(3, size=250),
        orders(
            4 * 2 * rounds(250),
            advice="Each block needs a release before it counts itself in, and an acquire behind "
            "the wait, in each round. That loads and stores are volatile orders nothing.",
            size=250,
        ),
        Requirement(
            "threads with atomics on global memory, for each block",
            lambda stats: np.count_nonzero(stats.launches[0].threads.atomics) / 4,
            at_most=2,  # one that waits may be another than the one that counts
            advice="One thread of a block counts it in and waits; the others meet it at barriers.",
            size=250,
        ),
    ),
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
    """What CuPy's kernel is, as far as the task needs it. ``launches``: the block's threads and the
    shared bytes of each."""

    def __init__(self, optin: int):
        self._optin, self._most, self.launches = optin, ROOM, []

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        return self._most

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, nbytes: int) -> None:
        if not 0 <= nbytes <= self._optin:
            raise ValueError(
                f"CUDA_ERROR_INVALID_VALUE: a block has at most {self._optin:,} bytes of shared "
                f"memory on this GPU, not {nbytes:,}"
            )
        self._most = nbytes

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int = 0) -> None:
        if shared_mem > self._most:
            raise ValueError(
                f"CUDA_ERROR_INVALID_VALUE: {shared_mem:,} bytes of dynamic shared memory, and the "
                f"kernel may have {self._most:,}"
            )
        threads, (x, columns) = math.prod(block), arguments
        if threads > 1024:
            raise ValueError(f"CUDA_ERROR_INVALID_VALUE: a block of {threads:,} threads")
        if math.prod(grid) * columns > len(x):
            raise ValueError(
                f"out of bounds: {math.prod(grid):,} blocks, for {len(x) // columns:,} rows"
            )
        if 4 * columns > shared_mem:
            raise ValueError(
                f"out of bounds: a row of {columns:,} floats does not fit into {shared_mem:,} bytes"
            )
        self.launches.append((threads, shared_mem))
        for row in range(grid[0]):
            part = x[row * columns : (row + 1) * columns]
            x[row * columns : (row + 1) * columns] = part[::-1]


def launch_and_look(function, gpu: RowGPU, rows: int, columns: int) -> tuple[int, ...]:
    """What the function returns, and some of the numbers that the rows hold then."""
    answer = function(gpu, rows, columns)
    places = {0, columns - 1, columns // 3, (rows - 1) * columns, rows * columns - 1}
    return (answer, *(gpu.x[place] for place in sorted(places)))


def expected_rows(gpu: RowGPU, rows: int, columns: int) -> tuple[int, ...]:
    answer, x = 0, list(range(rows * columns))
    if 4 * columns <= gpu.optin:
        answer = 4 * columns
        x = [row * columns + columns - 1 - at for row in range(rows) for at in range(columns)]
    places = {0, columns - 1, columns // 3, (rows - 1) * columns, rows * columns - 1}
    return (answer, *(x[place] for place in sorted(places)))


def no_more_than_asked(gpu: RowGPU, rows: int, columns: int) -> str:
    if 4 * columns <= gpu.optin and gpu.kernel.launches != [(256, 4 * columns)]:
        return (
            "One launch, of blocks of 256 threads, with the bytes of a row and no more: what a "
            "block has, others have not."
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
