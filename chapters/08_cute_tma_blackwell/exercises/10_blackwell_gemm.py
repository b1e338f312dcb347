"""The exercises of "Blackwell: sums in tensor memory"."""

from __future__ import annotations

import itertools

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
    floats,
    kinds,
    means,
    mutant,
    promises,
)

FOLDER = "08_cute_tma_blackwell/exercises"
ARCH = "sm_100a"


def bf16(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return floats(rng, shape).astype(bfloat16)


def boxes(rows: int) -> dict:
    """The tensor map of boxes of ``rows`` x 64 bf16 numbers."""
    return {"box": (rows, 64), "swizzle": 128}


def product(given: dict) -> np.ndarray:
    """A B^T in float64."""
    return given["A"].astype(np.float64) @ given["B"].astype(np.float64).T


def by_tensor_cores(at_least: int, size: int) -> Means:
    return means.instructions(
        "products of the tensor cores",
        "tcgen05.mma",
        at_least=at_least,
        at_most=2 * at_least,
        advice="umma starts a product of 16 numbers along K, for all rows and columns at once.",
        size=size,
    )


# --- Where a sum lies ---

SHAPES = (128, 1), (64, 1), (256, 2), (128, 2)


def any_sum(rng: np.random.Generator) -> tuple:
    rows, blocks = SHAPES[int(rng.integers(0, 4))]
    step = 8 if (rows, blocks) == (64, 1) else 16
    columns = step * int(rng.integers(1, 256 // step + 1))
    return int(rng.integers(0, rows)), int(rng.integers(0, columns)), rows, columns, blocks


def by_table(row: int, column: int, rows: int, columns: int, blocks: int) -> tuple[int, ...]:
    """From all lanes and columns, each with what lies there."""
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


CELL = PythonExercise(
    id="08.cell_of_sum",
    title="find a sum in tensor memory",
    task="""
Write `cell_of_sum(row, column, rows, columns, blocks)`: in which block, lane and column of tensor
memory a product leaves D[row, column], and which of warps 0 to 3 can fetch it. A tuple of four
numbers.
""",
    source=f"{FOLDER}/cell_of_sum.py",
    function="cell_of_sum",
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
    promises=Cases(any_sum, 48),
    means="Any way to the numbers is right.",
    hints=(
        "How many rows does a block have? `divmod(row, own)` gives the block and the row in it.",
        "64 rows in one block: row 20 is the fourth of the second 16, so it is in lane 32 + 4.",
        "64 rows in each block of a pair: `divmod(column, columns // 2)` gives the half and the "
        "column; the right half is 64 lanes further down. A warp reaches 32 lanes.",
    ),
    explanation="""
A warp reaches its own 32 lanes and no others. So 64 rows are spread over all 128 lanes, in one way
or the other, and each of the four warps has its share to fetch.
""",
    mutants=(
        mutant("all rows in one block", kinds.WRONG, ("divmod(row, own)", "divmod(row, rows)")),
        mutant("64 rows in 64 lanes", kinds.WRONG, ("lane // 16 * 32 + lane % 16", "lane")),
        mutant("in halves of 64", kinds.WRONG, ("lane // 16 * 32", "lane // 32 * 64")),
        mutant("each row twice", kinds.WRONG, ("lane // 16 * 32 + lane % 16", "2 * lane")),
        mutant(
            "a pair's 64 rows like one block's",
            kinds.WRONG,
            ("own == 64 and blocks == 1", "own == 64"),
        ),
        mutant(
            "right half further right",
            kinds.WRONG,
            ("half, column = divmod(column, columns // 2)", "half = column // (columns // 2)"),
        ),
        mutant(
            "halves of 16 columns at least",
            kinds.WRONG,
            ("divmod(column, columns // 2)", "divmod(column, max(columns // 2, 16))"),
        ),
        mutant("right half 32 lanes further", kinds.WRONG, ("64 * half", "32 * half")),
        mutant("no halves", kinds.WRONG, ("lane += 64 * half", "column += columns // 2 * half")),
        mutant(
            "even and odd columns",
            kinds.WRONG,
            ("divmod(column, columns // 2)", "(column % 2, column // 2)"),
        ),
        mutant("warps of 16 lanes", kinds.WRONG, ("lane // 32\n", "lane // 16\n")),
        mutant(
            "the block's rows as warps",
            kinds.WRONG,
            ("column, lane // 32\n", "column, row // 32 % 4\n"),
        ),
    ),
)

# --- The instruction descriptor ---


def any_instruction(rng: np.random.Generator) -> tuple:
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


def every_flag() -> list[tuple]:
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


INSTRUCTION = PythonExercise(
    id="08.instruction_word",
    title="put an instruction descriptor together",
    task="""
Write `instruction_word(m, n, factors, sums, turned_a, turned_b, minus)`: the 32 bits that tell a
`tcgen05.mma` of `kind::f16` what to multiply. A and B are of the same type; sums of bf16 numbers
are always f32. For `minus` negate A, not B.
""",
    source=f"{FOLDER}/instruction_word.py",
    function="instruction_word",
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
    promises=Cases(any_instruction, 24, large=every_flag),
    means="Any way to the number is right.",
    hints=(
        "`value << low` moves a field to its lowest bit, `|` puts fields together.",
        "N goes in without its last three bits, M without its last four.",
        "For 128 x 64, bf16 and f32: 1 << 4 | 1 << 7 | 1 << 10 | 8 << 17 | 8 << 24.",
    ),
    explanation="""
On Hopper the shape and the types are in the instruction's name, and a kernel for another shape is
another instruction. Here they are data: one `tcgen05.mma` for all of them.
""",
    mutants=(
        mutant("type of D one too high", kinds.WRONG, (" << 4\n", " << 5\n")),
        mutant("sums always fp32", kinds.WRONG, ('(1 if sums == "f32" else 0)', "1")),
        mutant("factors always f16", kinds.WRONG, ("kind = 1 if", "kind = 0 if")),
        mutant("B without a type", kinds.WRONG, ("kind << 7 | kind << 10", "kind << 7")),
        mutant("N whole", kinds.WRONG, ("n // 8 << 17", "n << 17")),
        mutant("N in steps of 32", kinds.WRONG, ("n // 8 << 17", "n // 32 << 19")),
        mutant("N in sixteens", kinds.WRONG, ("n // 8 << 17", "n // 16 << 17")),
        mutant("M in eights", kinds.WRONG, ("m // 16 << 24", "m // 8 << 24")),
        mutant(
            "M and N exchanged", kinds.WRONG, ("n // 8 << 17 | m // 16", "m // 8 << 17 | n // 16")
        ),
        mutant(
            "A and B exchanged",
            kinds.WRONG,
            (
                "int(turned_a) << 15 | int(turned_b) << 16",
                "int(turned_b) << 15 | int(turned_a) << 16",
            ),
        ),
        mutant("B negated as well", kinds.WRONG, ("int(minus) << 13", "3 * int(minus) << 13")),
        mutant(
            "B negated where all flags meet",
            kinds.WRONG,
            (
                "int(minus) << 13",
                "int(minus) << 13 | int(minus and turned_a and turned_b and m == 256) << 14",
            ),
        ),
        mutant("never negated", kinds.WRONG, ("    word |= int(minus) << 13\n", "")),
    ),
)

# --- The shared memory descriptor ---


def any_tile(rng: np.random.Generator) -> tuple:
    row_bytes = int(rng.choice((32, 64, 128)))
    step = int(rng.integers(0, row_bytes // 32))
    return 1024 * int(rng.integers(0, 227)), row_bytes, step, bool(rng.integers(0, 2))


def tile_by_fields(address: int, row_bytes: int, step: int, blackwell: bool) -> int:
    first = (address // 16 + 2 * step) % 2**14
    word = first + 2**16 + row_bytes // 2 * 2**32
    if blackwell:
        return word + 2**46 + (128, 64, 32).index(row_bytes) * 2**62 + 2**62
    return word + {128: 1, 64: 2, 32: 3}[row_bytes] * 2**62


TILE = PythonExercise(
    id="08.tile_word",
    title="one tile, two descriptors",
    task="""
Write `tile_word(address, row_bytes, step, blackwell)`: the 64 bits that describe a tile in shared
memory to Blackwell's `tcgen05.mma` or, with `blackwell` false, to Hopper's `wgmma`.
""",
    source=f"{FOLDER}/tile_word.py",
    function="tile_word",
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
    promises=Cases(any_tile, 24),
    means="Any way to the number is right.",
    hints=(
        "Without its last four bits: `>> 4`.",
        "Eight rows have 8 · row_bytes bytes. A step along K begins 32 bytes further in the row: "
        "that is all that changes.",
        "A swizzle of 64 bytes is 2 << 62 on Hopper and 4 << 61 on Blackwell.",
    ),
    explanation="""
The hardware applies the swizzle to the address of each 16 bytes, so a step along K is a plain +32,
as if there were none. Bit 46 says which generation wrote the word: the emulator refuses a tile
without it, so an old kernel does not multiply something else by accident.
""",
    mutants=(
        mutant(
            "whole address", kinds.WRONG, ("(address + 32 * step) >> 4", "(address + 32 * step)")
        ),
        mutant("steps of 16 bytes", kinds.WRONG, ("32 * step", "16 * step")),
        mutant("steps of a row", kinds.WRONG, ("32 * step", "row_bytes * step")),
        mutant("13 bits of it", kinds.WRONG, (" & 0x3FFF", " & 0x1FFF")),
        mutant("all bits of it", kinds.WRONG, (" & 0x3FFF", "")),
        mutant("to the next row", kinds.WRONG, ("8 * row_bytes >> 4", "row_bytes >> 4")),
        mutant("always 1024 bytes", kinds.WRONG, ("8 * row_bytes >> 4", "64")),
        mutant("no leading offset", kinds.WRONG, (" | 1 << 16", "")),
        mutant("no 001", kinds.WRONG, ("word | 1 << 46 |", "word |")),
        mutant("001 on Hopper, too", kinds.WRONG, ("number << 62", "number << 62 | 1 << 46")),
        mutant("Hopper's numbers", kinds.WRONG, ("2 * number << 61", "number << 61")),
        mutant("always 128 bytes", kinds.WRONG, ("[row_bytes]", "[128]")),
    ),
)

# --- Fetch the sums ---

FETCH = Exercise(
    id="08.fetched_sums",
    title="fetch what the tensor cores have left",
    task="""
The products are started. Write the rest: wait, fetch, add the bias, cut off at zero, store, and
give the columns of tensor memory back.
""",
    source=f"{FOLDER}/fetched_sums.cu",
    kernel="fetched_sums",
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (128 * tiles, 64)),
        "B": bf16(rng, (32, 64)),
        "bias": floats(rng, 32),
        "Y": empty((128 * tiles, 32)),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"Y": np.maximum(product(given) + given["bias"], 0)},
    launch=lambda tiles: Launch((tiles,), (128,)),
    small=(2, 1),
    full=4096,
    reduction=lambda tiles: 65,
    promises=Promises(
        sizes=promises.Sizes(("tiles",), ((1, 2, 3),)).with_longest(tiles=7),
        values=(
            promises.data("A", promises.NEGATIVE, promises.POSITIVE),
            promises.data("bias", *promises.ORDINARY, promises.LARGE, promises.SOME_INFINITE),
        ),
    ),
    means=(
        means.one_store_each(),
        means.instructions(
            "fetches from tensor memory",
            "tcgen05.ld",
            at_least=128,
            advice="tmem_load_16 fetches 16 columns of a thread's lane.",
            size=1,
        ),
    ),
    hints=(
        "Two things stand before the first fetch: the wait for `done`, and the fence after it.",
        "The lane is bits 16 to 31 of the address: `sums + (warp * 32 << 16) + column`, for two "
        "times 16 columns. `tmem_wait_load` comes before the first use.",
        "`__uint_as_float(value[i])` is the sum of column + i in row 128 blockIdx.x + threadIdx.x. "
        "Then a barrier, and one whole warp gives the columns back: "
        "`tmem_dealloc<1>(sums, kColumns)`.",
    ),
    explanation="""
A thread has a whole row: what works along rows, as a softmax does, needs no shuffle here. The wait
for the mbarrier says that the products are done, the fence that what follows in this thread comes
after them, and the second wait that the registers are filled.
""",
    mutants=(
        mutant("no wait", kinds.DATA_RACE, ("    mbarrier_wait(shared_address(&done), 0);\n", "")),
        mutant(
            "the other parity",
            kinds.DATA_RACE,
            ("mbarrier_wait(shared_address(&done), 0)", "mbarrier_wait(shared_address(&done), 1)"),
        ),
        mutant("no fence", kinds.DATA_RACE, ("    tmem_after_sync();\n", "")),
        mutant(
            "no wait for the registers", kinds.DATA_RACE, ("        tmem_wait_load(value);\n", "")
        ),
        mutant("everybody's lanes are warp 0's", kinds.TENSOR_MEMORY, (" + (warp * 32 << 16)", "")),
        mutant(
            "a lane for each thread",
            kinds.TENSOR_MEMORY,
            ("(warp * 32 << 16)", "(threadIdx.x << 16)"),
        ),
        mutant("columns for lanes", kinds.OUT_OF_BOUNDS, ("(warp * 32 << 16)", "warp * 32")),
        mutant("16 columns only", kinds.FIRST_BLOCK, ("column < kColumns;", "column < 16;")),
        mutant("the same 16 twice", kinds.WRONG, ("<< 16) + column", "<< 16)")),
        mutant("bias of 16 columns", kinds.WRONG, ("bias[column + i]", "bias[i]")),
        mutant(
            "bias after the cut",
            kinds.WRONG,
            (
                "fmaxf(__uint_as_float(value[i]) + bias[column + i], 0.0f)",
                "fmaxf(__uint_as_float(value[i]), 0.0f) + bias[column + i]",
            ),
        ),
        mutant(
            "a large bias cut off",
            kinds.WRONG,
            (" + bias[column + i], 0.0f)", " + fminf(bias[column + i], 1e4f), 0.0f)"),
        ),
        mutant("bits as a number", kinds.WRONG, ("__uint_as_float(value[i])", "(float)value[i]")),
        mutant(
            "nothing given back",
            kinds.TENSOR_MEMORY,
            ("        tmem_dealloc<1>(sums, kColumns);\n", ""),
        ),
        mutant(
            "given back by one thread",
            kinds.TENSOR_MEMORY,
            (
                "if (warp == 0) {\n        tmem_dealloc<1>(sums",
                "if (threadIdx.x == 0) {\n        tmem_dealloc<1>(sums",
            ),
        ),
        mutant(
            "half given back",
            kinds.TENSOR_MEMORY,
            ("dealloc<1>(sums, kColumns)", "dealloc<1>(sums, 16)"),
        ),
        mutant(
            "no barrier before", kinds.DATA_RACE, ("    __syncthreads(); // all have fetched\n", "")
        ),
    ),
)

# --- Start the products ---

MULTIPLY = Exercise(
    id="08.multiplying_thread",
    title="the thread that multiplies",
    task="""
One thread starts all products of a tile. The loader and the warps that fetch are written; write
what warp 5 does.
""",
    source=f"{FOLDER}/multiplying_thread.cu",
    kernel="multiplying_thread",
    arch=ARCH,
    inputs=lambda rng, steps: {
        "A": bf16(rng, (128, 64 * steps)),
        "B": bf16(rng, (32, 64 * steps)),
        "D": empty((128, 32)),
        "K": np.int32(64 * steps),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"D": product(given)},
    launch=lambda steps: Launch((1,), (192,)),
    small=(3, 1),
    full=256,
    reduction=lambda steps: 64 * steps,
    promises=Promises(
        sizes=promises.Sizes(("steps",), ((1, 2, 3, 4, 5, 8),)).with_longest(steps=19),
        values=(promises.data("A", promises.NEGATIVE, promises.SMALL, promises.EQUAL),),
    ),
    means=(
        by_tensor_cores(12, size=3),
        means.threads_that_start(
            at_most=2, advice="One thread loads, and one starts all products.", size=3
        ),
    ),
    hints=(
        "Step s uses stage s % 2 in lap s / 2, as the loader does; the wait for `full` passes when "
        "the phase of that lap has ended.",
        "Four products a step, each 32 bytes further along K: `umma_tile(…) + 2 * k`. The very "
        "first one writes, all others add.",
        "`umma_commit` for `empty` after the four: the loader is told when they have been *done*, "
        "not when they were started. After the last step `umma_commit` for `done`.",
    ),
    explanation="""
A `mbarrier_arrive` in place of the first commit would say that the products were started: the
loader would overwrite what they still read. A commit covers all that its thread has started so far,
so the last one needs nothing else.
""",
    mutants=(
        mutant(
            "no wait for the boxes",
            kinds.DATA_RACE,
            ("mbarrier_wait(shared_address(&full[stage]), lap % 2);\n            tmem", "tmem"),
        ),
        mutant(
            "always the first lap",
            kinds.DATA_RACE,
            ("&full[stage]), lap % 2);\n            tmem", "&full[stage]), 0);\n            tmem"),
        ),
        mutant(
            "the other parity",
            kinds.DATA_RACE,
            (
                "&full[stage]), lap % 2);\n            tmem",
                "&full[stage]), lap % 2 ^ 1);\n            tmem",
            ),
        ),
        mutant(
            "an arrival for the commit",
            kinds.DATA_RACE,
            (
                "umma_commit(shared_address(&empty[stage]))",
                "mbarrier_arrive(shared_address(&empty[stage]))",
            ),
        ),
        mutant(
            "empty is never told",
            kinds.DEADLOCK,
            ("            umma_commit(shared_address(&empty[stage]));\n", ""),
        ),
        mutant(
            "done is never told",
            kinds.DEADLOCK,
            ("        umma_commit(shared_address(&done));\n", ""),
        ),
        mutant(
            "done after each step",
            kinds.DATA_RACE,
            (
                "        }\n        umma_commit(shared_address(&done));\n",
                "            umma_commit(shared_address(&done));\n        }\n",
            ),
        ),
        mutant("the first one adds, too", kinds.NOT_A_NUMBER, ("step + k > 0", "true")),
        mutant("each step begins anew", kinds.WRONG, ("step + k > 0", "k > 0")),
        mutant("nothing added", kinds.WRONG, ("step + k > 0", "false")),
        mutant("16 bytes further", kinds.WRONG, ("a[stage])) + 2 * k", "a[stage])) + k")),
        mutant("B stays", kinds.WRONG, ("b[stage])) + 2 * k", "b[stage]))")),
        mutant("three products", kinds.WRONG, ("k < 4", "k < 3")),
        mutant(
            "two lanes in turn",
            kinds.MEANS_MISSING,
            ("warp == 5 && elected()", "warp == 5"),
            (
                "            for (int k = 0; k < 4; ++k) {\n                umma",
                "            if (threadIdx.x % 32 != step % 2) {\n                continue;\n"
                "            }\n            for (int k = 0; k < 4; ++k) {\n                umma",
            ),
            (
                "        umma_commit(shared_address(&done));",
                "        if (threadIdx.x % 32 == (steps - 1) % 2) {\n"
                "            umma_commit(shared_address(&done));\n        }",
            ),
        ),
        mutant(
            "half of the columns",
            kinds.NOT_A_NUMBER,
            ("umma_bf16(128, kColumns)", "umma_bf16(128, kColumns / 2)"),
        ),
        mutant(
            "64 rows", kinds.NOT_A_NUMBER, ("umma_bf16(128, kColumns)", "umma_bf16(64, kColumns)")
        ),
    ),
)

# --- A pair of blocks ---

PAIR = Exercise(
    id="08.two_halves",
    title="two blocks, one product",
    task="""
A pair of blocks computes a tile of 256 x 64. Write what one thread of each does: load, and in the
even block start the products for both.
""",
    source=f"{FOLDER}/two_halves.cu",
    kernel="two_halves",
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (256 * tiles, 64)),
        "B": bf16(rng, (64, 64)),
        "D": empty((256 * tiles, 64)),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"D": product(given)},
    launch=lambda tiles: Launch((2 * tiles,), (128,)),
    small=(2, 1),
    full=4096,
    reduction=lambda tiles: 64,
    promises=Promises(
        sizes=promises.Sizes(("tiles",), ((1, 2, 3),)).with_longest(tiles=7),
        values=(promises.data("A", promises.NEGATIVE, promises.SMALL),),
    ),
    means=(
        by_tensor_cores(4, size=1),
        Means(
            "bytes that TMA fetches, over those of A and B",
            lambda work: work.counts.bulk_global_load_bytes / ((256 + 64) * 128),
            at_least=1,
            at_most=1,
            advice="Each row of A and of B is fetched once: a half by each block.",
            size=1,
        ),
    ),
    hints=(
        "`address_in_block(shared_address(&arrived), 0)` is the even block's barrier, and "
        "`tma_load_pair` may tell it. It expects all bytes of both blocks.",
        "Rows of A: 128 from `blockIdx.x * 128` on. Rows of B: 32 from `rank * 32` on.",
        "`if (rank == 0)`: wait for `arrived`, four `umma<2>` with `umma_bf16(256, kColumns)` and "
        "the descriptors of its own `a` and `b`, then `umma_commit_pair(shared_address(&done))`.",
    ),
    explanation="""
Each block holds half of B and multiplies with all of it: it loads 160 rows, where a block alone
would load 192. The descriptors are those of the even block's shared memory, and the odd block's
tiles lie at the same places.
""",
    mutants=(
        mutant(
            "bytes of one block",
            kinds.DEADLOCK,
            ("2 * (sizeof(a) + sizeof(b))", "sizeof(a) + sizeof(b)"),
        ),
        mutant(
            "four times the bytes",
            kinds.DEADLOCK,
            ("2 * (sizeof(a) + sizeof(b))", "4 * (sizeof(a) + sizeof(b))"),
        ),
        mutant(
            "each tells its own",
            kinds.DEADLOCK,
            ("address_in_block(shared_address(&arrived), 0)", "shared_address(&arrived)"),
        ),
        mutant(
            "the other block's barrier told by a plain copy",
            kinds.BARRIER,
            ("tma_load_pair(shared_address(a)", "tma_load(shared_address(a)"),
        ),
        mutant(
            "both expect",
            kinds.BARRIER,
            (
                "        if (rank == 0) {\n            mbarrier_expect",
                "        {\n            mbarrier_expect",
            ),
        ),
        mutant("the same half of B", kinds.FIRST_BLOCK, ("&B, 0, rank * 32,", "&B, 0, 0,")),
        mutant(
            "the halves of B exchanged",
            kinds.WRONG,
            ("&B, 0, rank * 32,", "&B, 0, 32 - rank * 32,"),
        ),
        mutant(
            "the same half of A",
            kinds.WRONG,
            ("&A, 0, blockIdx.x * 128,", "&A, 0, blockIdx.x / 2 * 256,"),
        ),
        mutant(
            "always the first tile",
            kinds.FIRST_BLOCK,
            ("&A, 0, blockIdx.x * 128,", "&A, 0, rank * 128,"),
        ),
        mutant(
            "no wait",
            kinds.DATA_RACE,
            ("            mbarrier_wait(shared_address(&arrived), 0);\n", ""),
        ),
        mutant(
            "128 rows", kinds.NOT_A_NUMBER, ("umma_bf16(256, kColumns)", "umma_bf16(128, kColumns)")
        ),
        mutant("a product of one block", kinds.TENSOR_MEMORY, ("umma<2>(", "umma<1>(")),
        mutant("only one is told", kinds.TENSOR_MEMORY, ("umma_commit_pair(", "umma_commit(")),
        mutant(
            "nobody is told",
            kinds.DEADLOCK,
            ("            umma_commit_pair(shared_address(&done));\n", ""),
        ),
        mutant(
            "both start",
            kinds.DEADLOCK,
            (
                "        if (rank == 0) {\n            mbarrier_wait",
                "        {\n            mbarrier_wait",
            ),
        ),
        mutant("the first one adds", kinds.NOT_A_NUMBER, ("k > 0)", "true)")),
    ),
)

# --- Place the fence ---

REUSE = Exercise(
    id="08.early_reuse",
    title="place the fence",
    task="""
Two accumulators take turns, and the result is right on the emulator. Yet nothing says that the
sums were fetched before the next tile overwrites them. There is a fence. Read the verdict, and put
it where it belongs.
""",
    source=f"{FOLDER}/early_reuse.cu",
    kernel="early_reuse",
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": bf16(rng, (128 * tiles, 64)),
        "B": bf16(rng, (32, 64)),
        "D": empty((128 * tiles, 32)),
        "tiles": np.int32(tiles),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=lambda given: {"D": product(given)},
    launch=lambda tiles: Launch((1,), (160,)),
    small=(5, 1),
    full=64,
    bug=kinds.DATA_RACE,
    reduction=lambda tiles: 64,
    promises=Promises(
        sizes=promises.Sizes(("tiles",), ((1, 2, 3, 4, 6),)).with_longest(tiles=11),
        values=(promises.data("A", promises.NEGATIVE, promises.SMALL),),
    ),
    means=(
        by_tensor_cores(20, size=5),
        means.instructions(
            "fences before, of threads that fetched",
            "tcgen05.fence::before_thread_sync",
            at_least=5 * 128,
            advice="A fence orders what its own thread did: all lanes of the warp have fetched, so "
            "it stands before __syncwarp(), not behind elected().",
            size=5,
        ),
        Means(
            "barriers of the whole block, for each warp",
            lambda work: work.opcodes("bar.sync", "barrier.sync") / 160,
            at_most=3,
            advice="The accumulators take turns by `done` and `freed`, not by __syncthreads().",
        ),
    ),
    hints=(
        "The report names two instructions, tcgen05.ld and tcgen05.mma, and what should stand "
        "between the first and the arrival.",
        "`tmem_before_sync` orders what its thread did on tensor memory *before* it.",
        "After the loop that fetches, before `__syncwarp` and the arrival.",
    ),
    explanation="""
Each meeting of threads over tensor memory has two fences: *before* on the side that tells, *after*
on the side that is told. A commit has its own. Here the storing warps tell, by an arrival at
`freed`.
""",
    mutants=(
        mutant(
            "no fence",
            kinds.DATA_RACE,
            (
                "tmem_before_sync(); // what was fetched, before the arrival that says so\n",
                "\n",
            ),
        ),
        mutant(
            "the fence of one lane",
            kinds.MEANS_MISSING,
            ("tmem_before_sync(); // what was fetched, before the arrival that says so\n", "\n"),
            (
                "                mbarrier_arrive(shared_address(&freed",
                "                tmem_before_sync();\n"
                "                mbarrier_arrive(shared_address(&freed",
            ),
        ),
        mutant(
            "the other fence",
            kinds.DATA_RACE,
            ("            tmem_before_sync(); //", "            tmem_after_sync(); //"),
        ),
        mutant(
            "after the arrival",
            kinds.DATA_RACE,
            ("tmem_before_sync(); // what was fetched, before the arrival that says so\n", "\n"),
            (
                "arrive(shared_address(&freed[part]));\n            }\n",
                "arrive(shared_address(&freed[part]));\n            }\n"
                "            tmem_before_sync();\n",
            ),
        ),
        mutant(
            "none after the wait for done",
            kinds.DATA_RACE,
            (
                "            tmem_after_sync();\n            for (int column",
                "            for (int column",
            ),
        ),
        mutant(
            "none after the wait for freed",
            kinds.DATA_RACE,
            ("lap % 2 ^ 1);\n            tmem_after_sync();\n", "lap % 2 ^ 1);\n"),
        ),
        mutant(
            "no wait for freed",
            kinds.DATA_RACE,
            ("            mbarrier_wait(shared_address(&freed[part]), lap % 2 ^ 1);\n", ""),
        ),
        mutant(
            "freed in the first lap",
            kinds.DEADLOCK,
            ("&freed[part]), lap % 2 ^ 1)", "&freed[part]), lap % 2)"),
        ),
        mutant(
            "every lane arrives",
            kinds.DEADLOCK,
            (
                "            if (elected()) {\n                mbarrier_arrive",
                "            {\n                mbarrier_arrive",
            ),
        ),
        mutant(
            "one accumulator", kinds.DATA_RACE, ("umma<1>(sums + part * kColumns,", "umma<1>(sums,")
        ),
        mutant(
            "no commit",
            kinds.DEADLOCK,
            ("            umma_commit(shared_address(&done[part]));\n", ""),
        ),
        mutant(
            "registers not waited for",
            kinds.DATA_RACE,
            ("                tmem_wait_load(value);\n", ""),
        ),
    ),
)

EXERCISES = (CELL, INSTRUCTION, TILE, FETCH, MULTIPLY, PAIR, REUSE)
