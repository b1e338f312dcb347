"""The exercises of "A Hopper GEMM"."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked
from course_utils.layouts import Layout

FEW = domain.POSITIVE, domain.TIES, domain.MIDDLING, domain.SMALL  # a launch costs 0.1 s

# --- A matrix descriptor ---


def any_operand(rng: np.random.Generator) -> tuple[Any, ...]:
    span = int(rng.choice((16, 32, 64, 128)))
    rows, k = 8 * int(rng.integers(1, 33)), 16 * int(rng.integers(0, 8))
    return 1024 * int(rng.integers(0, 228 - rows // 4)), rows, k, span  # 128 columns fit


def packed(address: int, rows: int, k: int, span: int) -> int:
    """By CuTe's layout of boxes, counted in bytes, and the fields as an array of bits."""
    boxes = Layout((span, rows, 4096 // span), (1, span, span * rows))
    start = address + boxes((2 * k % span, 0, 2 * k // span))
    fields = start, boxes((0, 0, 1)) if span == 16 else 0, boxes((0, 8, 0))
    bits = "".join(f"{field // 16:014b}"[::-1].ljust(16, "0") for field in fields)
    modes = {16: "00", 32: "11", 64: "01", 128: "10"}  # the lower bit first
    return int((bits.ljust(62, "0") + modes[span])[::-1], 2)


# --- Who holds what ---


def any_sum(rng: np.random.Generator) -> tuple[Any, ...]:
    return int(rng.integers(0, 128)), int(rng.integers(0, 256))


HELD = Layout("((4,8,4,2),(2,2,32)):((256,1,16,64),(128,8,1024))")  # (thread, sum) -> place


def looked_up(row: int, column: int) -> tuple[Any, ...]:
    """By CuTe's layout of the accumulators, which is searched."""
    place = np.flatnonzero(HELD.offsets() == column * 128 + row)
    number, thread = divmod(int(place[0]), 256)
    return thread // 128, thread % 128, number


# --- Registers ---


def any_block(rng: np.random.Generator) -> tuple[Any, ...]:
    consumers = int(rng.integers(1, 8))  # a block has at most eight warpgroups
    kept = 8 * int(rng.integers(3, min(13, 64 // (consumers + 1))))
    return consumers, kept, 64 * consumers * int(rng.integers(1, 3)), 8 * int(rng.integers(1, 17))


def granted(consumers: int, kept: int, rows: int, columns: int) -> tuple[Any, ...]:
    """By looking for the most that fits."""
    steps = range(0, 249, 8)
    launched = max(n for n in steps if n * 128 * (consumers + 1) <= 65536)
    pool = launched * (consumers + 1) * 128
    consumer = max(n for n in steps if (n * consumers + kept) * 128 <= pool)
    return launched, consumer, consumer - rows * columns // consumers // 128


# --- The order of the tiles ---


def any_tile(rng: np.random.Generator) -> tuple[Any, ...]:
    tiles_m, tiles_n = (int(n) for n in rng.integers(1, 40, 2))
    return int(rng.integers(0, tiles_m * tiles_n)), tiles_m, tiles_n, int(rng.integers(1, 20))


def by_listing(number: int, tiles_m: int, tiles_n: int, band: int) -> tuple[Any, ...]:
    """The tiles of its band, sorted by column and row."""
    before = number // (band * tiles_n)
    rows = range(before * band, min((before + 1) * band, tiles_m))
    tiles = sorted((column, row) for row in rows for column in range(tiles_n))
    return tiles[number - before * band * tiles_n][::-1]


# --- The consumer's loop ---


def factors(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """A (M, K) and B (N, K) in bf16, and C (M, N) in fp32."""
    m, n, k = size
    return {
        "A": rng.standard_normal((m, k), dtype=np.float32).astype(bfloat16),
        "B": rng.standard_normal((n, k), dtype=np.float32).astype(bfloat16),
        "C": empty((m, n)),
        **int32s(M=m, N=n, K=k),
    }


def tile_maps(rows_of_b: int) -> dict[str, Any]:
    return {"A": {"box": (64, 64), "swizzle": 128}, "B": {"box": (rows_of_b, 64), "swizzle": 128}}


def by_wgmma(products: int, size: tuple[Any, ...]) -> Requirement:
    """Sixteen columns of a tile at once, by 128 threads."""
    return method.instructions(
        "wgmma, once for each thread",
        "wgmma.mma_async",
        at_least=128 * products,
        at_most=1.5 * 128 * products,
        advice="Four wgmma for each 64 columns of K, 16 columns each, and no other products.",
        size=size,
    )


def by_tensor_cores_alone(at_most: int, size: tuple[Any, ...]) -> Requirement:
    """The threads multiply nothing beside: no loop over K in fp32."""
    return method.instructions(
        "products and sums by threads (fma)",
        "fma.",
        at_most=at_most,
        advice="The tensor cores multiply; a thread has only what its sums need at the end.",
        size=size,
    )


# --- Wait for the sums ---


def two_products(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    m, n = size
    first, second = factors(rng, (m, n, 64)), factors(rng, (m, n, 64))
    return {
        "A": first["A"],
        "B": first["B"],
        "D": second["A"],
        "E": second["B"],
        "C": first["C"],
        "scale": np.float32(-0.75),
        "M": first["M"],
        "N": first["N"],
    }


# --- The epilogue ---


def activated(given: Given) -> np.ndarray:
    x = exact_product(given["A"], given["B"].T) + given["bias"]
    return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def with_bias(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    given = factors(rng, size)
    bias = rng.standard_normal(size[1], dtype=np.float32)
    shape = {name: given[name] for name in "MNK"}
    return {"A": given["A"], "B": given["B"], "bias": bias, "C": empty(size[:2], bfloat16), **shape}


def nearly_cancelling(given: Given, rng: np.random.Generator) -> Given:
    """Equal rows, and a bias that leaves little of their sums: either of them rounded before is
    seen."""
    return {
        "A": np.repeat(given["A"][:1], len(given["A"]), 0),
        "bias": -0.998 * exact_product(given["A"], given["B"].T)[0],
    }


# --- Bytes and arrivals ---


def any_tiles(rng: np.random.Generator) -> tuple[Any, ...]:
    groups, blocks = int(rng.integers(1, 4)), int(rng.choice((1, 2, 4, 8)))
    columns = 8 * blocks * int(rng.integers(1, 32 // blocks + 1))
    return 64 * groups * int(rng.integers(1, 3)), columns, groups, blocks


def by_listing_copies(BM: int, BN: int, groups: int, blocks: int) -> tuple[Any, ...]:
    """Each copy of a stage, and each group that tells a block."""
    arrived = [0] * blocks
    loaded, told = 0, 0
    for block in range(blocks):
        arrived[block] += 64 * BM * 2
        loaded += 64 * BM * 2
        part = [row for row in range(BN) if row * blocks // BN == block]
        loaded += 128 * len(part)
        for other in range(blocks):
            arrived[other] += 128 * len(part)
            told += len(range(0, groups * 128, 128)) * (block == 0)
    return arrived[0], told, loaded


MATRIX_DESCRIPTOR = PythonExercise(
    word=64,
    cases=(
        (0, 64, 0, 128),
        (1024, 64, 0, 128),
        (1024, 64, 48, 128),
        (16384, 128, 64, 128),
        (0, 64, 16, 64),
        (2048, 256, 32, 64),
        (0, 8, 16, 32),
        (0, 64, 0, 16),
        (1024, 128, 16, 16),
        (229376 - 1024, 8, 0, 128),
    ),
    reference=packed,
    contract=DrawnCases(any_operand, 24),
)

ACCUMULATOR_HOLDER = PythonExercise(
    cases=((0, 0), (0, 1), (0, 2), (0, 8), (1, 0), (8, 0), (16, 0), (64, 0), (127, 255), (77, 130)),
    reference=looked_up,
    contract=DrawnCases(any_sum, 24),
)

EARLY_SUMS = KernelExercise(
    arch="sm_90a",
    inputs=two_products,
    maps=tile_maps(32) | dict(zip("DE", tile_maps(32).values(), strict=True)),
    reference=lambda given: {
        "C": given["scale"].astype(np.float64) * exact_product(given["A"], given["B"].T)
        + exact_product(given["D"], given["E"].T)
    },
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 64)), (128,)),
    small=((70, 40), (64, 32), (1, 1)),
    worked=Worked(why_not="a tile of an operand is 64 elements deep"),
    full=(4096, 4096),
    reduction=lambda size: 128,
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(M=(1, 33, 64, 65), N=(1, 8, 31, 40)),
        values=(domain.scalars("scale", 0, 1, 3, 0.3), domain.data("A B D E", *FEW)),
    ),
    method=(by_wgmma(8 * 4, (70, 40)), by_tensor_cores_alone(2 * 4 * 64 * 32, (70, 40))),
)


def a_gemm(threads: int) -> KernelExercise:
    """C = A B^T by 64 x 32 tiles, one for each block of so many threads."""
    return KernelExercise(
        arch="sm_90a",
        inputs=factors,
        maps=tile_maps(32),
        reference=lambda given: {"C": exact_product(given["A"], given["B"].T)},
        launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 64)), (threads,)),
        small=((70, 40, 136), (64, 32, 64), (1, 1, 8)),
        full=(2048, 2048, 2048),
        reduction=lambda size: size[2],
        contract=Domain(
            sizes=domain.shapes(M=(1, 64, 65), N=(1, 31, 40), K=(8, 72, 136, 264)).with_outlier(
                M=131, N=136, K=1032
            ),
            values=(domain.data("A B", *FEW),),
        ),
        method=(by_wgmma(4 * 3 * 4, (70, 40, 136)), by_tensor_cores_alone(0, (70, 40, 136))),
    )


OWN_WGMMA = a_gemm(threads=128)

CONSUMER_LOOP = a_gemm(threads=160)  # with a warp that loads


def of_ring(producer: int, consumer: int, clocks: int = 80_000, steps: int = 64) -> dict[str, Any]:
    """A report with these clocks of waiting."""
    return {
        role: {"steps": steps, "clocks": clocks, "waiting": waiting}
        for role, waiting in (("producer", producer), ("consumer", consumer))
    }


def limit_of(report: dict[str, dict[str, int]]) -> str:
    names = {(0, 0): "nothing", (0, 1): "copies", (1, 0): "products", (1, 1): "stages"}
    much = (
        report[role]["waiting"] / report[role]["clocks"] > 0.25 for role in ("producer", "consumer")
    )
    producer_waits, consumer_waits = map(int, much)
    return names[producer_waits, consumer_waits]


def any_ring(rng: np.random.Generator) -> tuple[dict[str, Any]]:
    clocks = 4 * int(rng.integers(50, 30_000))
    producer, consumer = (int(clocks * share) for share in rng.choice((0, 0.02, 0.25, 0.3, 0.8), 2))
    return (of_ring(producer, consumer, clocks, int(rng.integers(1, 200))),)


READ_THE_WAITS = PythonExercise(
    cases=(
        (of_ring(2_100, 61_000),),
        (of_ring(52_000, 900),),
        (of_ring(30_000, 33_000),),
        (of_ring(1_000, 2_000),),
        (of_ring(20_000, 20_000),),
        (of_ring(20_001, 20_000),),
        (of_ring(0, 0),),
    ),
    reference=limit_of,
    contract=DrawnCases(any_ring),
)

REGISTER_PLAN = PythonExercise(
    cases=(
        (2, 24, 128, 256),
        (2, 40, 128, 256),
        (1, 24, 64, 256),
        (1, 40, 128, 128),
        (3, 24, 192, 256),
        (3, 32, 192, 128),
        (2, 24, 256, 128),
        (1, 96, 128, 256),
    ),
    reference=granted,
    contract=DrawnCases(any_block),
)


# --- Find the deadlock ---

STUCK_TILES = KernelExercise(
    arch="sm_90a",
    inputs=factors,
    maps=tile_maps(32),
    reference=lambda given: {"C": exact_product(given["A"], given["B"].T)},
    launch=lambda size: Launch((2,), (160,)),
    small=((70, 72, 104), (64, 32, 64), (1, 1, 8)),
    full=(1024, 1024, 512),
    reduction=lambda size: size[2],
    bug=kinds.DEADLOCK,
    contract=Domain(
        sizes=domain.shapes(M=(1, 65), N=(1, 40), K=(8, 72, 136)).with_outlier(N=72),
        launches=lambda size: [Launch((blocks,), (160,)) for blocks in (1, 3, 7)],
        values=(domain.data("A B", *FEW),),
    ),
    method=(
        by_wgmma(6 * 2 * 4, (70, 72, 104)),
        by_tensor_cores_alone(0, (70, 72, 104)),
        Requirement(
            "threads that touch memory, in two blocks",
            lambda stats: sum(int(np.count_nonzero(threads.touched)) for threads in stats.threads),
            at_least=2 * 128,
            advice="Each block takes its part of the tiles, and in each all four warps store.",
            size=(70, 72, 104),
        ),
        method.shared_memory_limit(
            3 * 12288 + 1024, advice="Three stages are enough.", size=(70, 72, 104)
        ),
    ),
)

TILE_IN_BAND = PythonExercise(
    cases=(
        (0, 8, 4, 4),
        (1, 8, 4, 4),
        (5, 8, 4, 4),
        (16, 8, 4, 4),
        (27, 7, 4, 4),
        (26, 7, 4, 4),
        (9, 3, 5, 8),
        (14, 3, 5, 8),
        (9, 5, 3, 1),
        (2047, 64, 32, 16),
        (1599, 64, 100, 16),
    ),
    reference=by_listing,
    contract=DrawnCases(any_tile, 24, large=lambda: [(80_000_007, 10_000_000, 9, 16)]),
)

BARRIER_COUNTS = PythonExercise(
    cases=(
        (128, 128, 1, 1),
        (128, 256, 2, 1),
        (128, 256, 2, 2),
        (64, 128, 1, 2),
        (192, 128, 3, 4),
        (256, 64, 2, 8),
        (64, 128, 1, 16),
    ),
    reference=by_listing_copies,
    contract=DrawnCases(any_tiles),
)

BIAS_AND_GELU = KernelExercise(
    arch="sm_90a",
    inputs=with_bias,
    maps=tile_maps(32),
    reference=lambda given: {"C": activated(given)},
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 64)), (128,)),
    small=((70, 40, 72), (64, 32, 64), (1, 2, 8)),
    full=(2048, 2048, 2048),
    contract=Domain(
        sizes=domain.shapes(M=(1, 33, 64, 65), N=(2, 8, 30, 40), K=(8, 72)).with_outlier(
            M=131, N=136, K=264
        ),
        values=(
            domain.data("A", *FEW),
            (
                *domain.data("bias", *FEW, domain.LARGE_NEGATIVE, domain.LARGE_POSITIVE),
                domain.InputClass("bias that nearly cancels", nearly_cancelling),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        Requirement(
            "bytes of a store to global memory",
            lambda stats: stats.counts.global_store_bytes / max(stats.opcodes("st.global"), 1),
            at_least=4,
            advice="Two neighbours of a row leave as one __nv_bfloat162.",
            size=(70, 40, 72),
        ),
        by_wgmma(4 * 2 * 4, (70, 40, 72)),
    ),
)


def epilogue_place(
    memory: int, stage: int, epilogue: int, steps: int, product: int, latency: int, store: int
) -> tuple[str, int]:
    def tile(stages: int) -> int:
        return steps * max(product, product + latency - (stages - 1) * product)

    own, shared = tile((memory - epilogue) // stage), tile(memory // stage) + store
    return ("own", own) if own <= shared else ("stages", shared)


def some_gemm(rng: np.random.Generator) -> tuple[Any, ...]:
    stage = int(rng.choice([24, 32, 48]))
    epilogue = int(rng.choice([16, 32, 64]))
    memory = int(rng.integers(stage + epilogue, 228))
    steps = int(rng.integers(1, 129))
    product, latency, store = (
        int(rng.choice(c)) for c in ([50, 100, 200], [100, 350, 600], [0, 900])
    )
    return memory, stage, epilogue, steps, product, latency, store


CHOOSE_EPILOGUE = PythonExercise(
    cases=(
        (200, 48, 32, 64, 100, 350, 900),
        (200, 32, 32, 64, 100, 350, 900),
        (227, 48, 32, 4, 100, 350, 900),
        (227, 48, 32, 256, 100, 350, 900),
        (200, 48, 32, 64, 400, 350, 900),
        (80, 48, 32, 1, 100, 0, 0),
        (96, 48, 48, 10, 100, 100, 0),
        (200, 48, 8, 64, 100, 350, 0),
    ),
    reference=epilogue_place,
    start="How many stages fit either way, and how much of a load do they hide?",
    contract=DrawnCases(some_gemm, 24),
)
