"""The exercises of "A Blackwell GEMM"."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

ARCH = "sm_100a"


def bf16(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return floats(rng, shape).astype(bfloat16)


def boxes(rows: int) -> dict[str, Any]:
    """The tensor map of boxes of ``rows`` x 64 bf16 numbers."""
    return {"box": (rows, 64), "swizzle": 128}


def by_tensor_cores(at_least: int, size: int) -> Requirement:
    return method.instructions(
        "products of the tensor cores",
        "tcgen05.mma",
        at_least=at_least,
        at_most=2 * at_least,
        advice="umma starts a product of 16 numbers along K, for all rows and columns at once.",
        size=size,
    )


# --- Where a sum lies ---

SHAPES = (128, 1), (64, 1), (256, 2), (128, 2)


def any_sum(rng: np.random.Generator) -> tuple[Any, ...]:
    rows, blocks = SHAPES[int(rng.integers(0, 4))]
    step = 8 if (rows, blocks) == (64, 1) else 16
    columns = step * int(rng.integers(1, 256 // step + 1))
    return int(rng.integers(0, rows)), int(rng.integers(0, columns)), rows, columns, blocks


def by_table(row: int, column: int, rows: int, columns: int, blocks: int) -> tuple[int, ...]:
    """From all lanes and columns, each with its element."""
    lane, place = np.mgrid[:128, :columns]
    if rows // blocks == 128:
        held, there = lane, place
    elif blocks == 1:
        held, there = np.where(lane % 32 < 16, lane // 32 * 16 + lane % 32, -1), place
    else:
        held, there = lane % 64, place + lane // 64 * (columns // 2)
        held = np.where(place < columns // 2, held, -1)
    found = np.argwhere((held == row % (rows // blocks)) & (there == column))[0]
    return row // (rows // blocks), int(found[0]), int(found[1]), int(found[0]) // 32


CELL_OF_SUM = PythonExercise(
    cases=(
        (5, 7, 128, 64, 1),
        (127, 255, 128, 256, 1),
        (17, 3, 64, 32, 1),
        (63, 31, 64, 32, 1),
        (200, 9, 256, 128, 2),
        (10, 9, 128, 64, 2),
        (10, 40, 128, 64, 2),
        (100, 63, 128, 64, 2),
        (10, 20, 128, 32, 2),
        (70, 9, 128, 16, 2),
        (0, 8, 128, 16, 2),
        (40, 7, 64, 8, 1),
    ),
    reference=by_table,
    contract=DrawnCases(any_sum, 48),
)

# --- The instruction descriptor ---


def any_instruction(rng: np.random.Generator) -> tuple[Any, ...]:
    factors = str(rng.choice(("f16", "bf16")))
    sums = "f32" if factors == "bf16" else str(rng.choice(("f16", "f32")))
    m = int(rng.choice((64, 128, 256)))
    step = m // 8  # of N: 8, 16, 32
    return (
        m,
        step * int(rng.integers(1, 256 // step + 1)),
        factors,
        sums,
        *(bool(x) for x in rng.integers(0, 2, 3)),
    )


def every_flag() -> list[tuple[Any, ...]]:
    """All flags together, for each number of rows and each pair of types."""
    types = ("f16", "f16"), ("f16", "f32"), ("bf16", "f32")
    flags = list(itertools.product((False, True), repeat=3))
    return [(m, 96, *pair, *flag) for m in (64, 128, 256) for pair in types for flag in flags]


def instruction_by_fields(
    m: int,
    n: int,
    factors: str,
    sums: str,
    turned_a: bool = False,
    turned_b: bool = False,
    minus: bool = False,
) -> int:
    kind = ("f16", "bf16").index(factors)
    fields = {4: sums == "f32", 7: kind, 10: kind, 13: minus, 15: turned_a, 16: turned_b}
    fields |= {17: n // 8, 24: m // 16}
    return sum(int(value) * 2**low for low, value in fields.items())


INSTRUCTION_WORD = PythonExercise(
    word=32,
    cases=(
        (128, 64, "bf16", "f32", False, False, False),
        (128, 256, "f16", "f32", False, False, False),
        (64, 32, "f16", "f16", False, False, False),
        (256, 128, "bf16", "f32", True, False, False),
        (256, 256, "bf16", "f32", False, True, False),
        (128, 96, "bf16", "f32", False, False, True),
        (256, 64, "bf16", "f32", True, True, True),
    ),
    reference=instruction_by_fields,
    contract=DrawnCases(any_instruction, 24, large=every_flag),
)

# --- The shared memory descriptor ---


def any_tile(rng: np.random.Generator) -> tuple[Any, ...]:
    row_bytes = int(rng.choice((32, 64, 128)))
    step = int(rng.integers(0, row_bytes // 32))
    return 1024 * int(rng.integers(0, 227)), row_bytes, step, bool(rng.integers(0, 2))


def tile_by_fields(address: int, row_bytes: int, step: int, blackwell: bool) -> int:
    first = (address // 16 + 2 * step) % 2**14
    word = first + 2**16 + row_bytes // 2 * 2**32
    if blackwell:
        return word + 2**46 + (128, 64, 32).index(row_bytes) * 2**62 + 2**62
    return word + {128: 1, 64: 2, 32: 3}[row_bytes] * 2**62


TILE_WORD = PythonExercise(
    word=64,
    cases=(
        (0, 128, 0, True),
        (1024, 128, 0, False),
        (65536, 128, 3, True),
        (3072, 64, 1, True),
        (3072, 64, 1, False),
        (2048, 32, 0, True),
        (231424, 32, 0, False),
        (262144, 128, 0, True),  # of the address 14 bits have room
    ),
    reference=tile_by_fields,
    contract=DrawnCases(any_tile, 24),
)

# --- Fetch the sums ---

FETCHED_SUMS = KernelExercise(
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (128 * tiles, 64)),
        "B": bf16(rng, (32, 64)),
        "bias": floats(rng, 32),
        "Y": empty((128 * tiles, 32)),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {
        "Y": np.maximum(exact_product(given["A"], given["B"].T) + given["bias"], 0)
    },
    launch=lambda tiles: Launch((tiles,), (128,)),
    small=(2, 1),
    worked=Worked(whole=("B",), why_not="one instruction multiplies 128 x 64 by 64 x 32 elements"),
    full=4096,
    reduction=lambda tiles: 65,
    contract=Domain(
        sizes=domain.Sizes(("tiles",), ((1, 2, 3),)).with_outlier(tiles=7),
        values=(
            domain.data("A", domain.NEGATIVE, domain.POSITIVE),
            domain.data("bias", *domain.ORDINARY, domain.LARGE, domain.SOME_INFINITE),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.instructions(
            "fetches from tensor memory",
            "tcgen05.ld",
            at_least=128,
            advice="tmem_load_16 fetches 16 columns of a thread's lane.",
            size=1,
        ),
    ),
)

# --- Start the products ---

MULTIPLYING_THREAD = KernelExercise(
    arch=ARCH,
    inputs=lambda rng, steps: {
        "A": bf16(rng, (128, 64 * steps)),
        "B": bf16(rng, (32, 64 * steps)),
        "D": empty((128, 32)),
        "K": np.int32(64 * steps),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"D": exact_product(given["A"], given["B"].T)},
    launch=lambda steps: Launch((1,), (192,)),
    small=(3, 1),
    worked=Worked(
        whole=("A", "B"), why_not="one instruction multiplies 128 x 16 by 16 x 32 elements"
    ),
    full=256,
    reduction=lambda steps: 64 * steps,
    contract=Domain(
        sizes=domain.Sizes(("steps",), ((1, 2, 3, 4, 5, 8),)).with_outlier(steps=19),
        values=(domain.data("A", domain.NEGATIVE, domain.SMALL, domain.EQUAL),),
    ),
    method=(
        by_tensor_cores(12, size=3),
        method.threads_that_start(
            at_most=2, advice="One thread loads, and one starts all products.", size=3
        ),
        Requirement(
            "products in flight at once",
            lambda stats: max(each.most_products for each in stats.threads),
            at_least=6,
            advice="The next step's products may start while a step's own still run: wait for "
            "boxes, and for no product.",
            size=5,
        ),
    ),
)

# --- A pair of blocks ---

TWO_HALVES = KernelExercise(
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (256 * tiles, 64)),
        "B": bf16(rng, (64, 64)),
        "D": empty((256 * tiles, 64)),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"D": exact_product(given["A"], given["B"].T)},
    launch=lambda tiles: Launch((2 * tiles,), (128,)),
    small=(2, 1),
    worked=Worked(whole=("A", "B"), why_not="the two blocks share 256 x 64 elements"),
    full=4096,
    reduction=lambda tiles: 64,
    contract=Domain(
        sizes=domain.Sizes(("tiles",), ((1, 2, 3),)).with_outlier(tiles=7),
        values=(domain.data("A", domain.NEGATIVE, domain.SMALL),),
    ),
    method=(
        by_tensor_cores(4, size=1),
        Requirement(
            "bytes that TMA fetches, over those of A and B",
            lambda stats: stats.counts.bulk_global_load_bytes / ((256 + 64) * 128),
            at_least=1,
            at_most=1,
            advice="Each row of A and of B is fetched once: a half by each block.",
            size=1,
        ),
    ),
)

# --- Columns for two ---

EARLY_COLUMNS = KernelExercise(
    arch=ARCH,
    inputs=lambda rng, pairs: {
        "x": floats(rng, (256 * pairs, 8)),
        "y": empty((256 * pairs, 8)),
    },
    reference=lambda given: {"y": 2 * given["x"]},
    launch=lambda pairs: Launch((2 * pairs,), (256,)),
    small=(2, 1),
    worked=Worked(why_not="a pair has 256 rows"),
    full=4096,
    exact=True,
    bug=kinds.TENSOR_MEMORY,
    contract=Domain(
        sizes=domain.Sizes(("pairs",), ((1, 2, 3),)).with_outlier(pairs=7),
        values=(domain.data("x", *domain.ORDINARY),),
    ),
    method=(
        method.instructions(
            "allocations for a pair, of threads",
            "tcgen05.alloc.cta_group::2",
            at_least=64,
            advice="The blocks of a pair allocate as one: tmem_alloc<2>, by a warp of each.",
            size=1,
        ),
        method.instructions(
            "stores to tensor memory, of threads",
            "tcgen05.st",
            at_least=256 * 8,
            advice="Warps 0 to 3 put their rows into tensor memory.",
            size=1,
        ),
    ),
)

# --- Place the fence ---

EARLY_REUSE = KernelExercise(
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (128 * tiles, 64)),
        "B": bf16(rng, (32, 64)),
        "D": empty((128 * tiles, 32)),
        "tiles": np.int32(tiles),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"D": exact_product(given["A"], given["B"].T)},
    launch=lambda tiles: Launch((1,), (160,)),
    small=(5, 1),
    worked=Worked(
        whole=("A", "B"), why_not="one instruction multiplies 128 x 16 by 16 x 32 elements"
    ),
    full=64,
    bug=kinds.DATA_RACE,
    reduction=lambda tiles: 64,
    contract=Domain(
        sizes=domain.Sizes(("tiles",), ((1, 2, 3, 4, 6),)).with_outlier(tiles=11),
        values=(domain.data("A", domain.NEGATIVE, domain.SMALL),),
    ),
    method=(
        by_tensor_cores(20, size=5),
        method.instructions(
            "fences before, of threads that fetched",
            "tcgen05.fence::before_thread_sync",
            at_least=5 * 128,
            advice="A fence orders what its own thread did: all lanes of the warp have fetched, so "
            "it comes before __syncwarp(), not after elected().",
            size=5,
        ),
        Requirement(
            "barriers of the whole block, for each warp",
            lambda stats: stats.opcodes("bar.sync", "barrier.sync") / 160,
            at_most=3,
            advice="The accumulators take turns by `done` and `freed`, not by __syncthreads().",
        ),
    ),
)

# --- A tile for TMA ---

BOXED_TILE = KernelExercise(
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (128 * tiles, 64)),
        "B": bf16(rng, (32, 64)),
        "D": empty((128 * tiles, 32)),
    },
    maps={"A": boxes(128), "B": boxes(32), "D": {"box": (32, 32), "swizzle": 128}},
    reference=lambda given: {"D": exact_product(given["A"], given["B"].T)},
    launch=lambda tiles: Launch((tiles,), (128,)),
    small=(2, 1),
    worked=Worked(
        whole=("A", "B"), why_not="one instruction multiplies 128 x 16 by 16 x 32 elements"
    ),
    full=4096,
    reduction=lambda tiles: 64,
    contract=Domain(
        sizes=domain.Sizes(("tiles",), ((1, 2, 3),)).with_outlier(tiles=7),
        values=(domain.data("A", domain.NEGATIVE, domain.SMALL),),
    ),
    method=(
        by_tensor_cores(4, size=1),
        method.tma_stores(
            at_least=128 * 32 * 4,
            at_most=128 * 32 * 4,
            advice="Each row leaves once, in the box of its warp, by tma_store.",
            size=1,
        ),
        Requirement(
            "barriers of the whole block, for each warp",
            lambda stats: stats.opcodes("bar.sync", "barrier.sync") / 128,
            at_most=3,
            advice="A warp has its own rows, its own box and its own store: __syncwarp() will do.",
            size=1,
        ),
    ),
)

# --- Blocks that haven't started ---


def bytes_to_look_up(rng: np.random.Generator, n: int) -> Given:
    return {
        "x": rng.integers(0, 256, n, np.uint8),
        "table": floats(rng, 256),
        "y": empty(n),
        "n": np.int32(n),
    }


NEXT_BLOCK = KernelExercise(
    arch=ARCH,
    inputs=bytes_to_look_up,
    reference=lambda given: {"y": given["table"][given["x"]]},
    launch=lambda n: Launch((-(-n // 1024),), (256,)),
    small=(12_188, 2500, 1),
    worked=Worked(why_not="the table has 256 numbers"),
    full=1 << 24,
    exact=True,
    contract=Domain(
        sizes=domain.Sizes(("n",), ((1, 255, 1024, 1025, 5000, 8192),)).with_outlier(n=100_000),
        values=(domain.data("table", *domain.ANY_FLOAT),),
    ),
    method=(
        method.one_store_per_result(),
        method.instructions(
            "requests for a block",
            "clusterlaunchcontrol.try_cancel",
            at_least=12,
            advice="A block that runs asks again and again, until a request is refused.",
            size=12_188,
        ),
        method.instructions(
            "indices of cancelled blocks that are taken",
            "clusterlaunchcontrol.query_cancel.get_first_ctaid",
            at_least=9,
            advice="Each granted request names the block whose numbers come next.",
            size=12_188,
        ),
        Requirement(
            "part of the bytes looked up while a request is on its way",
            lambda stats: sum(each.met for each in stats.threads) / (5 * 12_188),
            at_least=0.5,
            advice="Ask before the lookups, so that the answer comes while the block has work.",
            size=12_188,
        ),
        method.instructions(
            "fences of threads that have read an answer",
            "fence.proxy.async",
            at_least=12,
            advice="The next answer is written by another proxy: writes_are_ready() comes between "
            "a thread's read and the barrier before the next request.",
            size=12_188,
        ),
        method.reads(
            "table",
            at_least=1024,
            at_most=2 * 3 * 1024,
            advice="A block copies the table once, and looks up in its copy in shared memory.",
            size=12_188,
        ),
        method.balanced_loads(8.0, size=12_188),  # one in four blocks starts, and has 4
    ),
)
