"""The exercises of "A product for Hopper"."""

from __future__ import annotations

import numpy as np
from ml_dtypes import bfloat16

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.layouts import Layout

FOLDER = "08_cute_tma_blackwell/exercises"
FEW = promises.POSITIVE, promises.TIES, promises.MIDDLING, promises.SMALL  # a launch costs 0.1 s

# --- A matrix descriptor ---


def any_operand(rng: np.random.Generator) -> tuple:
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


def any_sum(rng: np.random.Generator) -> tuple:
    return int(rng.integers(0, 128)), int(rng.integers(0, 256))


HELD = Layout("((4,8,4,2),(2,2,32)):((256,1,16,64),(128,8,1024))")  # (thread, sum) -> place


def looked_up(row: int, column: int) -> tuple:
    """By CuTe's layout of the accumulators, which is searched."""
    place = np.flatnonzero(HELD.offsets() == column * 128 + row)
    number, thread = divmod(int(place[0]), 256)
    return thread // 128, thread % 128, number


# --- Registers ---


def any_block(rng: np.random.Generator) -> tuple:
    consumers = int(rng.integers(1, 8))  # a block has at most eight warpgroups
    kept = 8 * int(rng.integers(3, min(13, 64 // (consumers + 1))))
    return consumers, kept, 64 * consumers * int(rng.integers(1, 3)), 8 * int(rng.integers(1, 17))


def granted(consumers: int, kept: int, rows: int, columns: int) -> tuple:
    """By looking for the most that fits."""
    steps = range(0, 249, 8)
    launched = max(n for n in steps if n * 128 * (consumers + 1) <= 65536)
    pool = launched * (consumers + 1) * 128
    consumer = max(n for n in steps if (n * consumers + kept) * 128 <= pool)
    return launched, consumer, consumer - rows * columns // consumers // 128


# --- The order of the tiles ---


def any_tile(rng: np.random.Generator) -> tuple:
    tiles_m, tiles_n = (int(n) for n in rng.integers(1, 40, 2))
    return int(rng.integers(0, tiles_m * tiles_n)), tiles_m, tiles_n, int(rng.integers(1, 20))


def by_listing(number: int, tiles_m: int, tiles_n: int, band: int) -> tuple:
    """The tiles of its band, sorted by column and row."""
    before = number // (band * tiles_n)
    rows = range(before * band, min((before + 1) * band, tiles_m))
    tiles = sorted((column, row) for row in rows for column in range(tiles_n))
    return tiles[number - before * band * tiles_n][::-1]


# --- The consumer's loop ---


def factors(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """A (M, K) and B (N, K) in bf16, and C (M, N) in fp32."""
    m, n, k = size
    return {
        "A": rng.standard_normal((m, k), dtype=np.float32).astype(bfloat16),
        "B": rng.standard_normal((n, k), dtype=np.float32).astype(bfloat16),
        "C": empty((m, n)),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


def multiplied(given: dict) -> np.ndarray:
    return given["A"].astype(np.float64) @ given["B"].astype(np.float64).T


def tile_maps(rows_of_b: int) -> dict:
    return {"A": {"box": (64, 64), "swizzle": 128}, "B": {"box": (rows_of_b, 64), "swizzle": 128}}


def by_wgmma(products: int, size: tuple) -> Means:
    """Sixteen columns of a tile at once, by 128 threads."""
    return means.instructions(
        "wgmma, once for each thread",
        "wgmma.mma_async",
        at_least=128 * products,
        at_most=1.5 * 128 * products,
        advice="Four wgmma for each 64 columns of K, 16 columns each, and no other products.",
        size=size,
    )


def by_tensor_cores_alone(at_most: int, size: tuple) -> Means:
    """The threads multiply nothing beside: no loop over K in fp32."""
    return means.instructions(
        "products and sums by threads (fma)",
        "fma.",
        at_most=at_most,
        advice="The tensor cores multiply; a thread has only what its sums need at the end.",
        size=size,
    )


# --- Wait for the sums ---


def two_products(rng: np.random.Generator, size: tuple[int, int]) -> dict:
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


def activated(given: dict) -> np.ndarray:
    x = multiplied(given) + given["bias"]
    return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def with_bias(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    given = factors(rng, size)
    bias = rng.standard_normal(size[1], dtype=np.float32)
    shape = {name: given[name] for name in "MNK"}
    return {
        "A": given["A"],
        "B": given["B"],
        "bias": bias,
        "C": empty(size[:2], bfloat16),
        **shape,
    }


def nearly_cancelling(given: dict, rng: np.random.Generator) -> dict:
    """Equal rows, and a bias that leaves little of their sums: either of them rounded before is
    seen."""
    return {
        "A": np.repeat(given["A"][:1], len(given["A"]), 0),
        "bias": -0.998 * multiplied(given)[0],
    }


# --- Bytes and arrivals ---


def any_tiles(rng: np.random.Generator) -> tuple:
    groups, blocks = int(rng.integers(1, 4)), int(rng.choice((1, 2, 4, 8)))
    columns = 8 * blocks * int(rng.integers(1, 32 // blocks + 1))
    return 64 * groups * int(rng.integers(1, 3)), columns, groups, blocks


def by_listing_copies(BM: int, BN: int, groups: int, blocks: int) -> tuple:
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


DESCRIPTOR = PythonExercise(
    id="08.matrix_descriptor",
    title="compute a descriptor",
    task="""
Write `matrix_descriptor(address, rows, k, span)`: the 64 bits by which `wgmma` finds 16 columns of
a tile in shared memory. Offsets are given divided by 16. With a swizzle the leading byte offset is
not used: leave it 0.
""",
    source=f"{FOLDER}/matrix_descriptor.py",
    function="matrix_descriptor",
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
    promises=Cases(any_operand, 24),
    means="Any way to the number is right.",
    hints=(
        "A column has two bytes. Which box is column k in, and how far into a row of that box?",
        "In a box a row follows the row before after `span` bytes, so eight rows take 8 · span. "
        "With span 16 a box is one chunk wide, and the second chunk of a row is in the next box.",
        "The fields begin at bits 0, 16, 32 and 62. Modes: 0 for none, 1 for 128 bytes, 2 for 64, "
        "3 for 32.",
    ),
    explanation="""
Along K a step of 16 columns is 32 bytes further on: in a descriptor, plus 2. The swizzle goes by
the bits of the address, so it is not in the way. And nothing says how many rows there are: the
instruction's shape does.
""",
    mutants=(
        mutant("addresses in bytes", kinds.WRONG, ("start >> 4 |", "start |")),
        mutant("k in bytes", kinds.WRONG, ("divmod(2 * k, span)", "divmod(k, span)")),
        mutant(
            "one box only", kinds.WRONG, ("address + box * rows * span + inside", "address + 2 * k")
        ),
        mutant("boxes of eight rows", kinds.WRONG, ("box * rows * span", "box * 8 * span")),
        mutant("no step along K", kinds.WRONG, ("* span + inside", "* span")),
        mutant("the stride of a row", kinds.WRONG, ("8 * span >> 4", "span >> 4")),
        mutant("the stride of a swizzle of 128", kinds.WRONG, ("8 * span >> 4", "64")),
        mutant(
            "offsets exchanged",
            kinds.WRONG,
            (
                "leading >> 4 << 16 | 8 * span >> 4 << 32",
                "leading >> 4 << 32 | 8 * span >> 4 << 16",
            ),
        ),
        mutant("modes by size", kinds.WRONG, ("128: 1, 64: 2, 32: 3", "32: 1, 64: 2, 128: 3")),
        mutant("the mode one bit lower", kinds.WRONG, ("mode << 62", "mode << 61")),
        mutant("leading in rows", kinds.WRONG, ("rows * 16 if", "rows if")),
        mutant(
            "chunks side by side",
            kinds.WRONG,
            ("rows * 16 if span == 16 else 0", "16 if span == 16 else 0"),
        ),
    ),
)

HOLDER = PythonExercise(
    id="08.accumulator_holder",
    title="find the thread that has a sum",
    task="""
Write `accumulator_holder(row, column)` for a tile of 128 x 256 and two warpgroups: the warpgroup,
the thread of that group (0 to 127), and the number of the register among the thread's sums.
""",
    source=f"{FOLDER}/accumulator_holder.py",
    function="accumulator_holder",
    cases=((0, 0), (0, 1), (0, 2), (0, 8), (1, 0), (8, 0), (16, 0), (64, 0), (127, 255), (77, 130)),
    reference=looked_up,
    promises=Cases(any_sum, 24),
    means="Any way to the numbers is right.",
    hints=(
        "From large to small: the group by row // 64, the warp by the next 16 rows.",
        "Lane 4 g + t has rows g and g + 8 of its warp's 16, and columns 2 t and 2 t + 1 of each "
        "eight.",
        "Numbers 0 and 1 are two neighbours in a row, 2 and 3 the same eight rows below, and 4 "
        "begins the next eight columns.",
    ),
    explanation="""
Each warp has the accumulator of `mma`, 16 rows of it, as wide as the instruction. So whatever you
know of storing the results of `mma` stays right: two neighbours in a register pair, four lanes with
32 bytes of a row of fp32.
""",
    mutants=(
        mutant("one group", kinds.WRONG, ("divmod(row, 64)", "divmod(row, 128)")),
        mutant("groups of 32 rows", kinds.WRONG, ("divmod(row, 64)", "divmod(row, 32)")),
        mutant("a warp has eight rows", kinds.WRONG, ("row // 16 * 32", "row // 8 * 32")),
        mutant(
            "lanes down the rows",
            kinds.WRONG,
            ("row % 8 * 4 + column % 8 // 2", "row % 8 + column % 8 // 2 * 8"),
        ),
        mutant(
            "the lower rows first", kinds.WRONG, ("row % 16 // 8 * 2", "(1 - row % 16 // 8) * 2")
        ),
        mutant(
            "neighbours apart",
            kinds.WRONG,
            ("row % 16 // 8 * 2 + column % 2", "row % 16 // 8 + column % 2 * 2"),
        ),
        mutant("two sums for eight columns", kinds.WRONG, ("column // 8 * 4", "column // 8 * 2")),
        mutant(
            "the thread of the block", kinds.WRONG, ("thread = row", "thread = group * 128 + row")
        ),
        mutant("one column a lane", kinds.WRONG, ("column % 8 // 2", "column % 4")),
    ),
)

SUMS = Exercise(
    id="08.early_sums",
    title="wait for the sums",
    task="""
Two products are added, the first one scaled. All instructions are there, and yet the sums may be
anything: registers of a `wgmma` are read and written while it is under way. Read the verdict, and
put waits and fences where they belong.
""",
    source=f"{FOLDER}/early_sums.cu",
    kernel="early_sums",
    arch="sm_90a",
    inputs=two_products,
    maps=tile_maps(32) | dict(zip("DE", tile_maps(32).values(), strict=True)),
    reference=lambda given: {
        "C": given["scale"].astype(np.float64) * multiplied(given)
        + given["D"].astype(np.float64) @ given["E"].astype(np.float64).T
    },
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 64)), (128,)),
    small=((70, 40), (64, 32), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: 128,
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(M=(1, 33, 64, 65), N=(1, 8, 31, 40)),
        values=(
            promises.scalars("scale", 0, 1, 3, 0.3),
            promises.data("A B D E", *FEW),
        ),
    ),
    means=(by_wgmma(8 * 4, (70, 40)), by_tensor_cores_alone(2 * 4 * 64 * 32, (70, 40))),
    hints=(
        "A wait lets go when all groups but so many are done, and only what is *committed* is in a "
        "group. Is it, where each wait stands?",
        "Between the first product and the scaling nobody waits. And the last commit comes after "
        "the wait.",
        "Commit, `wgmma_wait<0>()`, scale, `wgmma_fence()`, the second product, commit, "
        "`wgmma_wait<0>()`.",
    ),
    explanation="""
The fence orders what threads did to registers *before* a product, the wait what they do *after* it.
Between products of one group that add to the same sums neither is needed: the tensor cores take
them in order.
""",
    mutants=(
        mutant(
            "no wait before the scaling",
            kinds.DATA_RACE,
            ("    wgmma_wait<0>();\n    keep_in_order(sum);\n    for", "    for"),
        ),
        mutant(
            "one group may be pending",
            kinds.DATA_RACE,
            ("wgmma_wait<0>();\n    keep_in_order(sum);\n    for", "wgmma_wait<1>();\n    for"),
        ),
        mutant(
            "no fence after the scaling",
            kinds.DATA_RACE,
            (
                "    wgmma_fence();\n    for (int k = 0; k < 4; ++k) {\n        wgmma_bf16(sum, "
                "wgmma_tile(shared_address(d",
                "    for (int k = 0; k < 4; ++k) {\n        wgmma_bf16"
                "(sum, wgmma_tile(shared_address(d",
            ),
        ),
        mutant(
            "no fence before the first product",
            kinds.DATA_RACE,
            ("    float sum[16];\n    wgmma_fence();\n", "    float sum[16];\n"),
        ),
        mutant(
            "the first product is in no group",
            kinds.DATA_RACE,
            (
                "    wgmma_commit();\n    wgmma_wait<0>();\n    keep_in_order(sum);\n    for",
                "    wgmma_wait<0>();\n    keep_in_order(sum);\n    for",
            ),
        ),
        mutant(
            "the last product is in no group",
            kinds.DATA_RACE,
            (
                "    wgmma_commit();\n    wgmma_wait<0>();\n    keep_in_order(sum);\n\n",
                "    wgmma_wait<0>();\n    keep_in_order(sum);\n\n",
            ),
        ),
        mutant(
            "no wait at the end",
            kinds.DATA_RACE,
            (
                "    wgmma_commit();\n    wgmma_wait<0>();\n    keep_in_order(sum);\n\n",
                "    wgmma_commit();\n\n",
            ),
        ),
        mutant("not scaled", kinds.WRONG, ("sum[i] *= scale", "sum[i] *= 1.0f")),
        mutant(
            "scale in bf16",
            kinds.PRECISION,
            ("*= scale", "*= __int_as_float(__float_as_int(scale) & 0xffff0000)"),
        ),
        mutant("both scaled", kinds.SCALED, ("column] = sum[i];", "column] = sum[i] * scale;")),
        mutant(
            "the second product alone",
            kinds.WRONG,
            (
                "wgmma_tile(shared_address(e)) + 2 * k, 1)",
                "wgmma_tile(shared_address(e)) + 2 * k, k > 0)",
            ),
        ),
    ),
)

LOOP = Exercise(
    id="08.consumer_loop",
    title="write the consumer's loop",
    task="""
The producer is written: a warp that loads tiles of A and B into a ring of two stages. Write what a
consumer does with a stage. Each of its four warps arrives once when the stage may be filled again.
""",
    source=f"{FOLDER}/consumer_loop.cu",
    kernel="consumer_loop",
    arch="sm_90a",
    inputs=factors,
    maps=tile_maps(32),
    reference=lambda given: {"C": multiplied(given)},
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 64)), (160,)),
    small=((70, 40, 136), (64, 32, 64), (1, 1, 8)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    promises=Promises(
        sizes=promises.shapes(M=(1, 64, 65), N=(1, 31, 40), K=(8, 72, 136, 264)).with_longest(
            M=131, N=136, K=1032
        ),
        values=(promises.data("A B", *FEW),),
    ),
    means=(
        by_wgmma(4 * 3 * 4, (70, 40, 136)),
        by_tensor_cores_alone(0, (70, 40, 136)),
    ),
    hints=(
        "In this order: mbarrier_wait for full, wgmma_fence, four products, wgmma_commit, "
        "wgmma_wait<0>, one arrival of each warp.",
        "`wgmma_tile(shared_address(a[stage]))` gives the first 16 columns; add 2 for the next "
        "16. The first product of all does not add.",
        "The parity of the wait is that of the lap, lap % 2; `if (lane == 0) "
        "mbarrier_arrive(shared_address(&empty[stage]));` comes after the wait for the products.",
    ),
    explanation="""
Two waits and one arrival a stage: for its bytes, for its products, and for whoever fills it again.
Some kernels of this notebook wait for the products of the step *before* in place of these, so that
the tensor cores find the next group at once. Their last wait stands behind the loop: compilers and
this checker look for one on every path, and an `if` for the last step leaves a path without it.
""",
    mutants=(
        mutant(
            "no wait for the stage",
            kinds.BARRIER,
            ("        mbarrier_wait(shared_address(&full[stage]), lap % 2);\n", ""),
        ),
        mutant(
            "always the first phase",
            kinds.DATA_RACE,
            ("&full[stage]), lap % 2)", "&full[stage]), 0)"),
        ),
        mutant(
            "the second lap alone",
            kinds.BARRIER,
            ("&full[stage]), lap % 2)", "&full[stage]), lap == 1)"),
        ),
        mutant(
            "four laps at most",
            kinds.BARRIER,
            ("&full[stage]), lap % 2)", "&full[stage]), lap == 1 || lap == 3)"),
        ),
        mutant("no fence", kinds.DATA_RACE, ("        wgmma_fence();\n", "")),
        mutant("no commit", kinds.DATA_RACE, ("        wgmma_commit();\n", "")),
        mutant("no wait for the products", kinds.DATA_RACE, ("        wgmma_wait<0>();\n", "")),
        mutant("one group may be pending", kinds.DATA_RACE, ("wgmma_wait<0>", "wgmma_wait<1>")),
        mutant(
            "handed back before the products are done",
            kinds.DATA_RACE,
            (
                "        wgmma_wait<0>();\n        if (lane == 0) {\n            mbarrier_arrive("
                "shared_address(&empty[stage]));\n        }\n",
                "        if (lane == 0) {\n            mbarrier_arrive("
                "shared_address(&empty[stage]));\n        }\n        wgmma_wait<0>();\n",
            ),
        ),
        mutant(
            "not handed back",
            kinds.DEADLOCK,
            ("            mbarrier_arrive(shared_address(&empty[stage]));\n", ""),
        ),
        mutant(
            "every lane arrives",
            kinds.BARRIER,
            ("if (lane == 0) {\n            mbarrier_arrive", "{\n            mbarrier_arrive"),
        ),
        mutant(
            "one warp arrives",
            kinds.DEADLOCK,
            (
                "if (lane == 0) {\n            mbarrier_arrive",
                "if (threadIdx.x == 0) {\n            mbarrier_arrive",
            ),
        ),
        mutant(
            "the same columns four times",
            kinds.WRONG,
            ("(shared_address(a[stage])) + 2 * k", "(shared_address(a[stage]))"),
        ),
        mutant(
            "sixteen bytes further",
            kinds.WRONG,
            ("(shared_address(b[stage])) + 2 * k", "(shared_address(b[stage])) + k"),
        ),
        mutant("each stage begins anew", kinds.WRONG, ("step > 0 || k > 0", "k > 0")),
        mutant("sums with no start", kinds.UNINITIALISED, ("step > 0 || k > 0", "1")),
        mutant(
            "always the first stage",
            kinds.DEADLOCK,
            (
                "int stage = step % kStages, lap = step / kStages;\n        mbarrier_wait(shared_"
                "address(&full",
                "int stage = 0, lap = step;\n        mbarrier_wait(shared_address(&full",
            ),
        ),
        mutant("three of four", kinds.WRONG, ("k < 4", "k < 3")),
        mutant(
            "each product twice",
            kinds.MEANS_MISSING,
            (
                "        for (int k = 0; k < 4",
                "        float more[16];\n        for (int k = 0; k < 4; ++k) {\n"
                "            wgmma_bf16(more, wgmma_tile(shared_address(a[stage])), "
                "wgmma_tile(shared_address(b[stage])), 0);\n        }\n"
                "        for (int k = 0; k < 4",
            ),
        ),
    ),
)

REGISTERS = PythonExercise(
    id="08.register_plan",
    title="share out the registers",
    task="""
Write `register_plan(consumers, kept, rows, columns)`: three numbers, each for one thread. What it
has at launch, what a consumer has after `setmaxnreg`, and how many of these are left beside the
sums (fewer than none, where they do not fit).
""",
    source=f"{FOLDER}/register_plan.py",
    function="register_plan",
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
    promises=Cases(any_block),
    means="Any way to the numbers is right.",
    hints=(
        "The block has (consumers + 1) · 128 threads. `// 8 * 8` rounds down to a step.",
        "What is shared out later is what was there at launch, not the multiprocessor's 65,536.",
        "A consumer group has rows / consumers rows of the tile; its 128 threads have one register "
        "for each sum.",
    ),
    explanation="""
With two consumers: 168 at launch, and 240 where the producer keeps 24. A tile of 128 x 256 takes
128 of them for its sums and leaves 112. With a third consumer, and as many sums for each thread, it
would be 160, of which 32 are left.
""",
    mutants=(
        mutant(
            "threads without the producer",
            kinds.WRONG,
            ("65536 // (128 * (consumers + 1))", "65536 // (128 * consumers)"),
        ),
        mutant(
            "not rounded",
            kinds.WRONG,
            (" // 8 * 8, 248)\n    consumer =", ", 248)\n    consumer ="),
        ),
        mutant(
            "rounded up",
            kinds.WRONG,
            ("(128 * (consumers + 1)) // 8 * 8", "(128 * (consumers + 1)) // 8 * 8 + 8"),
        ),
        mutant(
            "no limit at launch",
            kinds.WRONG,
            (
                "min(65536 // (128 * (consumers + 1)) // 8 * 8, 248)",
                "65536 // (128 * (consumers + 1)) // 8 * 8",
            ),
        ),
        mutant(
            "all registers there are",
            kinds.WRONG,
            ("(launched * (consumers + 1) - kept)", "(512 - kept)"),
        ),
        mutant(
            "the producer keeps all",
            kinds.WRONG,
            ("(consumers + 1) - kept)", "(consumers + 1) - launched)"),
        ),
        mutant(
            "the producer keeps none", kinds.WRONG, ("(consumers + 1) - kept)", "(consumers + 1))")
        ),
        mutant("one consumer gets all", kinds.WRONG, ("- kept) // consumers", "- kept)")),
        mutant(
            "no limit later",
            kinds.WRONG,
            (
                "min((launched * (consumers + 1) - kept) // consumers // 8 * 8, 248)",
                "(launched * (consumers + 1) - kept) // consumers // 8 * 8",
            ),
        ),
        mutant("a group has the whole tile", kinds.WRONG, ("(128 * consumers)\n", "128\n")),
        mutant(
            "up to three consumers",
            kinds.WRONG,
            (
                "min(65536 // (128 * (consumers + 1)) // 8 * 8, 248)",
                "{1: 248, 2: 168}.get(consumers, 128)",
            ),
        ),
        mutant("steps of 16", kinds.WRONG, ("// consumers // 8 * 8", "// consumers // 16 * 16")),
    ),
)

# --- Find the deadlock ---

STUCK = Exercise(
    id="08.stuck_tiles",
    title="find the deadlock",
    task="""
Blocks stay and take one tile after the other. Where each block has one tile, the product is right;
from the second tile on the kernel stands still. The emulator says who waits for which barrier, and
in which phase: mend the kernel.
""",
    source=f"{FOLDER}/stuck_tiles.cu",
    kernel="stuck_tiles",
    arch="sm_90a",
    inputs=factors,
    maps=tile_maps(32),
    reference=lambda given: {"C": multiplied(given)},
    launch=lambda size: Launch((2,), (160,)),
    small=((70, 72, 104), (64, 32, 64), (1, 1, 8)),
    full=(1024, 1024, 512),
    reduction=lambda size: size[2],
    bug=kinds.DEADLOCK,
    promises=Promises(
        sizes=promises.shapes(M=(1, 65), N=(1, 40), K=(8, 72, 136)).with_longest(N=72),
        launches=lambda size: [Launch((blocks,), (160,)) for blocks in (1, 3, 7)],
        values=(promises.data("A B", *FEW),),
    ),
    means=(
        by_wgmma(6 * 2 * 4, (70, 72, 104)),
        by_tensor_cores_alone(0, (70, 72, 104)),
        Means(
            "threads that touch memory, in two blocks",
            lambda work: sum(np.count_nonzero(launch.work.touched) for launch in work.launches),
            at_least=2 * 128,
            advice="Each block takes its part of the tiles, and in each all four warps store.",
            size=(70, 72, 104),
        ),
        means.room_in_shared_memory(
            3 * 12288 + 1024, advice="Three stages are enough.", size=(70, 72, 104)
        ),
    ),
    hints=(
        "The loading thread waits for `empty[2]`, and nobody else is left. Who has read which "
        "stages?",
        "A ring has no beginning: its stages and phases go on from one tile of C to the next.",
        "Both sides count `turn` up. One of them does something else as well.",
    ),
    explanation="""
The phases of an mbarrier are counted by whoever waits, and nothing resets them. So a persistent
kernel carries stage and phase from tile to tile, on both sides alike.
""",
    mutants=(
        mutant(
            "the loading thread begins anew",
            kinds.BARRIER,
            (
                "            for (int step = 0; lane",
                "            turn = 0;\n            for (int step = 0; lane",
            ),
        ),
        mutant(
            "both begin anew",
            kinds.BARRIER,
            ("        float sum[16];\n", "        float sum[16];\n        turn = 0;\n"),
        ),
        mutant(
            "the consumers begin anew",
            kinds.DEADLOCK,
            (
                "        for (int step = 0; step < steps; ++step, ++turn)",
                "        turn = 0;\n        for (int step = 0; step < steps; ++step, ++turn)",
            ),
        ),
        mutant(
            "a turn is left out",
            kinds.DEADLOCK,
            (
                "            for (int step = 0; lane",
                "            turn += tile != blockIdx.x;\n            for (int step = 0; lane",
            ),
        ),
        mutant(
            "one tile a block",
            kinds.EDGES,
            (
                "tile < tiles; tile += gridDim.x",
                "tile < min(tiles, (int)gridDim.x); tile += gridDim.x",
            ),
        ),
        mutant(
            "the next tile",
            kinds.MEANS_MISSING,
            ("tile < tiles; tile += gridDim.x", "tile < tiles; tile += 1"),
        ),
        mutant(
            "all tiles by one block",
            kinds.MEANS_MISSING,
            (
                "int tile = blockIdx.x; tile < tiles; tile += gridDim.x",
                "int tile = 0; tile < tiles && blockIdx.x == 0; ++tile",
            ),
        ),
        mutant(
            "tiles the other way round",
            kinds.EDGES,
            (
                "tile / across * 64, first_column = tile % across * 32",
                "tile % ((M + 63) / 64) * 64, first_column = tile / ((N + 31) / 32) * 32",
            ),
        ),
        mutant(
            "all in one tile's sums",
            kinds.UNINITIALISED,
            ("step > 0 || k > 0", "tile > 0 || step > 0 || k > 0"),
            ("    int turn = 0;", "    float sum[16];\n    int turn = 0;"),
            ("        float sum[16];\n", ""),
        ),
        mutant(
            "the parity of the step",
            kinds.DATA_RACE,
            ("&full[stage]), lap % 2)", "&full[stage]), step / kStages % 2)"),
        ),
        mutant(
            "no wait for empty",
            kinds.BARRIER,
            ("                mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);\n", ""),
        ),
    ),
)

ORDER = PythonExercise(
    id="08.tile_in_band",
    title="take the tiles in bands",
    task="""
Write `tile_in_band(number, tiles_m, tiles_n, band)`: the row and the column of a tile in the order
of the bands. A block may compute it for any number, so no list of all tiles is made.
""",
    source=f"{FOLDER}/tile_in_band.py",
    function="tile_in_band",
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
    ),
    reference=by_listing,
    promises=Cases(any_tile, 24, large=lambda: [(80_000_007, 10_000_000, 9, 16)]),
    means="Any way to the numbers is right.",
    hints=(
        "A full band has band · tiles_n tiles.",
        "The rows of a band are `band`, or what is left of tiles_m.",
        "Within a band `divmod` by its rows gives the column and the row.",
    ),
    explanation="""
The tiles that run at the same time are neighbours in this order. With bands of 16 rows, 132 blocks
share 16 bands of rows of A and 9 of columns of B; row by row it would be 5 and 32 of a C of 32
columns of tiles. The fewer, the more of them is found in the L2 cache.
""",
    mutants=(
        mutant(
            "row by row",
            kinds.WRONG,
            (
                "column, row = divmod(number - head * tiles_n, rows)",
                "row, column = divmod(number - head * tiles_n, tiles_n)",
            ),
        ),
        mutant("the last band is full", kinds.WRONG, ("min(band, tiles_m - head)", "band")),
        mutant(
            "bands of columns",
            kinds.WRONG,
            ("number // (band * tiles_n) * band", "number // (band * tiles_m) * band"),
        ),
        mutant(
            "the number of the band",
            kinds.WRONG,
            ("(band * tiles_n) * band\n", "(band * tiles_n)\n"),
        ),
        mutant(
            "counted from the start",
            kinds.WRONG,
            ("divmod(number - head * tiles_n, rows)", "divmod(number, rows)"),
        ),
        mutant(
            "the row in the band", kinds.WRONG, ("return head + row, column", "return row, column")
        ),
        mutant(
            "column first", kinds.WRONG, ("return head + row, column", "return column, head + row")
        ),
        mutant(
            "row and column exchanged",
            kinds.WRONG,
            ("column, row = divmod", "row, column = divmod"),
        ),
        mutant(
            "there and back",
            kinds.WRONG,
            ("    return head", "    row = rows - 1 - row if column % 2 else row\n    return head"),
        ),
    ),
)

COUNTS = PythonExercise(
    id="08.barrier_counts",
    title="count bytes and arrivals",
    task="""
Write `barrier_counts(BM, BN, groups, blocks)` for a cluster of `blocks` blocks that share the rows
of B: what `full` expects, what `empty` counts, and what all blocks together load for one step of K.
""",
    source=f"{FOLDER}/barrier_counts.py",
    function="barrier_counts",
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
    promises=Cases(any_tiles),
    means="Any way to the numbers is right.",
    hints=(
        "A barrier is told of all bytes that are written into its block, whoever sent for them.",
        "A block's part of B lands in every block: whose groups must have read a stage before the "
        "block may load into it again?",
        "A row of 64 elements has 128 bytes. Each block's A is loaded once, and B once for all.",
    ),
    explanation="""
The bytes of a stage stay the same with any cluster; what falls is what L2 has to deliver. The price
is in the middle number: a stage is free only when all blocks have read it, so the slowest of them
holds up the others.
""",
    mutants=(
        mutant(
            "its own part of B",
            kinds.WRONG,
            ("return (BM + BN) * row", "return (BM + BN // blocks) * row"),
        ),
        mutant("elements", kinds.WRONG, ("row = 64 * 2", "row = 64")),
        mutant("A alone", kinds.WRONG, ("return (BM + BN) * row", "return BM * row")),
        mutant(
            "A from all", kinds.WRONG, ("return (BM + BN) * row", "return (blocks * BM + BN) * row")
        ),
        mutant(
            "64 rows of B at a time",
            kinds.WRONG,
            ("return (BM + BN) * row", "return (BM + BN // 64 * 64) * row"),
        ),
        mutant("its own consumers", kinds.WRONG, ("groups * blocks,", "groups,")),
        mutant("every warp", kinds.WRONG, ("groups * blocks,", "4 * groups * blocks,")),
        mutant("every thread", kinds.WRONG, ("groups * blocks,", "128 * groups * blocks,")),
        mutant(
            "the other blocks only",
            kinds.WRONG,
            ("groups * blocks,", "groups * (blocks - 1),"),
        ),
        mutant("B by each", kinds.WRONG, ("(blocks * BM + BN) * row", "blocks * (BM + BN) * row")),
        mutant(
            "one block's loads",
            kinds.WRONG,
            ("(blocks * BM + BN) * row", "(BM + BN // blocks) * row"),
        ),
    ),
)

EPILOGUE = Exercise(
    id="08.bias_and_gelu",
    title="finish the sums on their way out",
    task="""
A layer of a network is a product, a bias for each column, and an activation. The product is
written, and the function `gelu`. Write the way out: from the sums in registers to bf16 in C, with
no further pass over memory.
""",
    source=f"{FOLDER}/bias_and_gelu.cu",
    kernel="bias_and_gelu",
    arch="sm_90a",
    inputs=with_bias,
    maps=tile_maps(32),
    reference=lambda given: {"C": activated(given)},
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 64)), (128,)),
    small=((70, 40, 72), (64, 32, 64), (1, 2, 8)),
    full=(2048, 2048, 2048),
    promises=Promises(
        sizes=promises.shapes(M=(1, 33, 64, 65), N=(2, 8, 30, 40), K=(8, 72)).with_longest(
            M=131, N=136, K=264
        ),
        values=(
            promises.data("A", *FEW),
            (
                *promises.data("bias", *FEW, promises.LARGE_NEGATIVE, promises.LARGE_POSITIVE),
                promises.Values("bias that nearly cancels", nearly_cancelling),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        Means(
            "bytes of a store to global memory",
            lambda work: work.counts.global_store_bytes / max(work.opcodes("st.global"), 1),
            at_least=4,
            advice="Two neighbours of a row leave as one __nv_bfloat162.",
            size=(70, 40, 72),
        ),
        by_wgmma(4 * 2 * 4, (70, 40, 72)),
    ),
    hints=(
        "`08.accumulator_holder` the other way round: sum[4 j] and sum[4 j + 1] are neighbours, "
        "sum[4 j + 2] and sum[4 j + 3] lie eight rows below.",
        "row = first_row + 16 · warp + lane / 4, and 8 more for every second pair; column = "
        "first_column + 8 · (i / 4) + 2 · (lane % 4).",
        "The guard first, then `bias[column]` and `bias[column + 1]`: N is even, so both exist or "
        "neither.",
    ),
    explanation="""
A fused epilogue: neither the product nor the sums with the bias are ever stored. What it costs is
arithmetic in the consumers while the tensor cores wait; in the last rung the other group multiplies
meanwhile.
""",
    mutants=(
        mutant("no guard for rows", kinds.OUT_OF_BOUNDS, ("row < M && column < N", "column < N")),
        mutant("no guard for columns", kinds.OUT_OF_BOUNDS, ("row < M && column < N", "row < M")),
        mutant("no bias on the left", kinds.WRONG, ("sum[i] + bias[column]", "sum[i]")),
        mutant("the bias of the neighbour", kinds.WRONG, ("bias[column + 1]", "bias[column]")),
        mutant(
            "the bias of the row",
            kinds.WRONG,
            ("gelu(sum[i] + bias[column])", "gelu(sum[i] + bias[row % N])"),
        ),
        mutant(
            "the bias after gelu",
            kinds.WRONG,
            ("gelu(sum[i] + bias[column])", "gelu(sum[i]) + bias[column]"),
        ),
        mutant(
            "rounded before the bias",
            kinds.WRONG,
            (
                "gelu(sum[i] + bias[column])",
                "gelu(__bfloat162float(__float2bfloat16(sum[i])) + bias[column])",
            ),
        ),
        mutant(
            "the bias rounded",
            kinds.WRONG,
            (
                "gelu(sum[i] + bias[column])",
                "gelu(sum[i] + __bfloat162float(__float2bfloat16(bias[column])))",
            ),
        ),
        mutant("no gelu", kinds.WRONG, ("gelu(sum[i] + bias[column])", "sum[i] + bias[column]")),
        mutant("neighbours exchanged", kinds.WRONG, ("_rn(left, right)", "_rn(right, left)")),
        mutant(
            "rows of mma only",
            kinds.WRONG,
            (
                "lane / 4 + i / 2 % 2 * 8;\n        const int column = first_column + i / 4 * 8",
                "lane / 4 + i / 4 % 2 * 8;\n        const int column = first_column + (i / 8 * 2 + "
                "i / 2 % 2) * 8",
            ),
        ),
        mutant(
            "a warp's rows forgotten",
            kinds.DATA_RACE,
            ("first_row + warp * 16 + lane / 4", "first_row + lane / 4"),
        ),
        mutant("every second pair", kinds.PARTLY_WRITTEN, ("i < 16; i += 2", "i < 16; i += 4")),
        mutant(
            "one by one",
            kinds.MEANS_MISSING,
            (
                "auto pair = reinterpret_cast<__nv_bfloat162 *>(C + (size_t)row * N + column);",
                "auto pair = C + (size_t)row * N + column;",
            ),
            (
                "*pair = __floats2bfloat162_rn(left, right);",
                "pair[0] = __float2bfloat16(left), pair[1] = __float2bfloat16(right);",
            ),
        ),
    ),
)
