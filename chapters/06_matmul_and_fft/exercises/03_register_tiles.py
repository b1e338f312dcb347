"""The exercises of "Register tiles"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div, measurements
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.claims import read_report
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)

from .common import ANY_PRODUCT, matrices, no_more_arithmetic, product, tiles_read_once

ONE_BLOCK = 32, 32, 32
ONCE_FOR_EACH_TILE = (
    method.one_store_per_result(),
    method.balanced_work(2.0, size=ONE_BLOCK),
    tiles_read_once(ONE_BLOCK),
    no_more_arithmetic(ONE_BLOCK),
)


def shared_loads_per_fma(counts: Counts) -> float:
    """Loads of single threads from shared memory, over multiply-adds."""
    return counts.shared_load_requests * 32 / max(counts.flops / 2, 1)


def vectors_inputs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    m, k = size
    return {
        "A": floats(rng, (k, m)),
        "X": floats(rng, (4, k)),
        "Y": empty((4, m)),
        **int32s(M=m, K=k),
    }


BATCH = (20 * 64, 16)  # M and K, where loads and requirements are counted
WARPS = BATCH[0] // 32


def loads_of_a(stats: LaunchStats) -> float:
    """A warp's load of A touches four sectors, one of X a single sector: all lanes read the same
    number. So sectors less requests are three times the loads of A."""
    counts = stats.counts
    return (counts.global_load_sectors - counts.global_load_requests) / (3 * WARPS * BATCH[1])


# A sum that grows and shrinks again loses digits in whatever order it is made.
EVEN_HANDED = tuple(
    values for values in domain.ORDINARY if values not in (domain.RISING, domain.FALLING)
)


def four_products(given: Given) -> dict[str, np.ndarray]:
    """X A in float64, with NaN where 0 meets infinity."""
    return {"Y": exact_product(given["X"], given["A"])}


FOUR_VECTORS = KernelExercise(
    inputs=vectors_inputs,
    reference=four_products,
    launch=lambda size: Launch((ceil_div(size[0], 64),), (64,)),
    small=((150, 37), (64, 16), (5, 1), (33_000, 2), (1, 1)),  # 33,000: past short indices
    budget=200_000,
    axes={"Y": ("vector", "row")},
    full=(65536, 1024),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            M=(1, 31, 33, 64, 65, 127, 301, 521), K=(1, 2, 7, 33, 67, 131, 301)
        ).with_outlier(K=4099),  # past a table of 4096
        values=(
            (
                *domain.data("A", *EVEN_HANDED, domain.ZEROS, domain.SOME_NAN),
                domain.zero_times_infinity_along("A", -2, "X", -1),
                domain.zero_times_infinity_along("X", -1, "A", -2),
            ),
            domain.data("X", *EVEN_HANDED),  # no inf: a compensated sum makes NaN of it
        ),
    ),
    method=(
        Requirement(
            "times that an element of A is loaded",
            loads_of_a,
            at_most=1.5,
            advice="Each element of A that is loaded serves all four vectors: one loop over k.",
            size=BATCH,
        ),
        Requirement(
            "bytes of local memory written for each element of A",
            lambda stats: stats.counts.local_store_bytes / (BATCH[0] * BATCH[1]),
            at_most=1,  # printf in one thread writes some
            advice="Use each element of A as soon as it is there: only the four sums are kept.",
            size=BATCH,
        ),
        method.no_redundant_work(size=BATCH),
        method.a_thread_each(1 / 4, size=BATCH),  # of Y, a thread has four elements
        method.no_surplus_threads(1 / 4),
        method.balanced_work(size=BATCH),
    ),
    target=Target(
        label="bytes loaded by the threads for each multiply-add",
        measure=lambda counts: counts.global_load_bytes / (counts.flops / 2),
        at_most=5.1,  # four elements of X and one of A, for four multiply-adds
        advice="A is loaded once per vector, or sums are kept in "
        "memory. Put the loop over the vectors inside the loop over k, and give each vector "
        "its own sum.",
        size=BATCH,
    ),
    formerly=("03.four_vectors",),
)

SUMS_IN_REGISTERS = method.no_local_memory(
    "An array of a thread is in registers if each of its indices is a constant: unroll every loop "
    "over it.",
    size=(32, 32, 32),
)


COLUMN_MATMUL = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (256,)),
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="shared loads per FMA",
        measure=shared_loads_per_fma,
        at_most=1.3,
        advice="Read the operand of B once for each k, into a variable of the thread, and use it "
        "for all four products.",
        size=(32, 32, 32),
    ),
    within=2.0,
    contract=ANY_PRODUCT,
    method=(*ONCE_FOR_EACH_TILE, SUMS_IN_REGISTERS),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


PREDICT_LOADS = NumberExercise(
    source="06_matmul_and_fft/exercises/thread_tiles.cu",
    kernel="thread_tiles",
    inputs=lambda rng, shape: {
        "x": floats(rng, 8 * 48),
        "y": empty(64 * 32),
        "shape": np.int32(shape),
    },
    launch=lambda shape: Launch((1,), (32,)),
    asks={
        "column": Ask(
            "8 x 1: a column of eight results",
            1,
            shared_loads_per_fma,
            {
                9: "That is the number of loads for one k. How many FMAs share them?",
                2: "That is one result a thread. Here one operand serves eight products.",
                1: "Eight operands of A for eight products, and one more of B.",
            },
        ),
        "square": Ask(
            "4 x 4",
            2,
            shared_loads_per_fma,
            {
                8: "That is the number of loads for one k. How many FMAs share them?",
                0.25: "Four operands of A and four of B: both have to be loaded.",
            },
        ),
        "long": Ask(
            "16 x 4",
            3,
            shared_loads_per_fma,
            {0.25: "As many results as 8 x 8, but more operands: 16 and 4."},
        ),
        "large": Ask(
            "8 x 8",
            4,
            shared_loads_per_fma,
            {0.125: "Eight operands of A and eight of B for 64 products."},
        ),
    },
)


SQUARE_MATMUL = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (64,)),
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="shared loads per FMA",
        measure=shared_loads_per_fma,
        at_most=0.6,
        advice="Read the operands into a[TM] and b[TN] first; the two loops that multiply must "
        "touch registers alone.",
        size=(32, 32, 32),
    ),
    within=2.0,
    contract=ANY_PRODUCT,
    method=(*ONCE_FOR_EACH_TILE, SUMS_IN_REGISTERS),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


def wavefronts_per_fma(counts: Counts) -> float:
    """Wavefronts of shared memory, over multiply-adds of whole warps."""
    wavefronts = counts.shared_load_wavefronts + counts.shared_store_wavefronts
    return wavefronts / max(counts.flops / 64, 1)


FEWER_WAVEFRONTS = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=SQUARE_MATMUL.launch,
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="wavefronts of shared memory per FMA of a warp",
        measure=wavefronts_per_fma,
        at_most=0.6,
        advice="Which of the accesses has more wavefronts than requests? Lay the tile out so that "
        "the words of one request are in different banks, for the stores as well as the loads.",
        size=(32, 32, 32),
    ),
    within=2.0,
    contract=ANY_PRODUCT,
    method=(*ONCE_FOR_EACH_TILE, SUMS_IN_REGISTERS),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


GEMMS = {"A": "sgemm_shared_32", "B": "sgemm_register_tile", "C": "sgemm_conflict_free"}
IN_A_CLOCK = {  # of a multiprocessor: ncu's counter and the most of it
    "FMA units": ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 128),
    "issue slots": ("smsp__inst_executed.sum", 4),
    "shared memory": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1),
    "global memory": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 4),
}


def limit_of(letter: str) -> tuple[str, float]:
    """The unit that needs the most clocks, for each clock of the FMAs."""
    counted = measurements("ncu", "NVIDIA H200")["kernels"][GEMMS[letter]]
    clocks = {name: counted[counter] / rate for name, (counter, rate) in IN_A_CLOCK.items()}
    name = max(clocks, key=clocks.__getitem__)
    return name, clocks[name] / clocks["FMA units"]


READ_THREE_GEMMS = read_report(
    GEMMS,
    limit_of,
    IN_A_CLOCK,
    example='("FMA units", 1.0)',
    other_name="Work out the clocks of all four units. Which of the others needs more?",
    other_number="The name is right. Divide its clocks by the FMAs' clocks.",
    function="limit",
)


Tile = tuple[int, int, int]  # rows, columns, results a microsecond


def fastest_tile(m: int, n: int, sms: int, tiles: list[Tile]) -> tuple[tuple[int, int], float]:
    def key(tile: Tile) -> tuple[float, int]:
        down, across, rate = tile
        rounds = ceil_div(ceil_div(m, down) * ceil_div(n, across), sms)
        return rounds * down * across / rate, -down * across

    best = min(tiles, key=key)
    return best[:2], key(best)[0]


def shapes_and_tiles(rng: np.random.Generator) -> tuple[Any, ...]:
    sides = [int(side) for side in rng.choice([32, 64, 128, 256], 8)]
    rates = [int(rate) for rate in rng.choice([32, 48, 64], 4)]
    tiles = list(zip(sides[::2], sides[1::2], rates, strict=True))
    m, n = (int(extent) for extent in rng.integers(1, 5000, 2))
    return m, n, int(rng.choice([4, 80, 132])), tiles[: int(rng.integers(1, 5))]


CHOOSE_TILE = PythonExercise(
    cases=(
        (256, 256, 4, [(128, 128, 64), (64, 64, 48)]),
        (256, 257, 4, [(128, 128, 64), (64, 64, 48)]),
        (4096, 4096, 132, [(128, 128, 64), (64, 64, 48), (256, 128, 72)]),
        (1024, 1024, 132, [(128, 128, 64), (64, 64, 48), (256, 128, 72)]),
        (128, 128, 1, [(64, 64, 64), (128, 128, 64), (128, 64, 64)]),
        (1, 1, 132, [(128, 128, 64), (32, 32, 16)]),
        (133 * 128, 128, 132, [(128, 128, 64), (128, 64, 60)]),
        (64, 64, 8, [(64, 64, 48)]),
        (128, 64, 1, [(128, 64, 64), (64, 128, 64)]),
        (64, 64, 1, [(64, 128, 64), (128, 64, 64)]),
    ),
    reference=fastest_tile,
    start="How many tiles does each choice have, and in how many rounds do the SMs take them?",
    rtol=1e-9,
    contract=DrawnCases(shapes_and_tiles, 24),
)
