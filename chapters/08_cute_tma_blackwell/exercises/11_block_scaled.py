"""The exercises of "Blackwell: a scale for each block"."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

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
Values = promises.Values

# --- Quantise to NVFP4 ---

F32 = np.float32
SCALES = np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(F32)
MIDDLES = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], F32)


def fours(given: dict) -> dict:
    """By tables: the nearest scale, and how many middles are below, the even code in the middle."""
    x, whole = given["x"].reshape(-1, 16), given["tensor_scale"]
    wanted = np.abs(x).max(1) / F32(6) / whole
    upper = np.searchsorted(SCALES, wanted).clip(1, 126)
    low, high = SCALES[upper - 1].astype(float), SCALES[upper].astype(float)
    middle = (low + high) / 2
    scales = np.where((wanted > middle) | (wanted == middle) & (upper % 2 == 0), upper, upper - 1)
    step = SCALES[scales] * whole
    inverse = np.divide(F32(1), step, out=np.zeros_like(step), where=step > 0)
    size = np.abs(x * inverse[:, None])[..., None]
    even = np.arange(7) % 2 == 1  # the code above the middle
    codes = ((size > MIDDLES) | (size == MIDDLES) & even).sum(-1) | np.signbit(x) * 8
    words = (codes.reshape(-1, 2, 8) << 4 * np.arange(8)).sum(-1)
    return {"codes": words.reshape(-1).astype(np.uint32), "scales": scales.astype(np.uint8)}


def some_zero_blocks(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    blocks = x.reshape(-1, 16).copy()
    blocks[rng.integers(0, 2, len(blocks)) == 1] = 0
    return blocks.reshape(-1)


def spread(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Blocks of all sizes, down to those whose scale is subnormal, or 0."""
    powers = rng.integers(-16, 1, len(x) // 16).astype(F32)
    return (x.reshape(-1, 16) * np.exp2(powers)[:, None]).reshape(-1)


def one_large(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One number of each block much larger than the others, at any place and of any sign."""
    blocks = x.reshape(-1, 16).copy()
    places = rng.integers(0, 16, len(blocks))
    blocks[np.arange(len(blocks)), places] *= F32(50)
    return blocks.reshape(-1)


def middles(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Largest magnitudes at 6 times the middle between two scales, the others at middles between
    two codes, or up to two steps of fp32 beside them: who rounds otherwise gets other bits.

    The largest are exact: for sm_100a NVRTC 12.9 makes of `/ 6.0f` a product with 1 / 6.
    """
    code = rng.integers(64, 110, len(x) // 16)
    low, high = SCALES[code], SCALES[code + 1]
    numbers = MIDDLES[rng.integers(0, 7, (len(code), 16))] * np.where(code % 2, high, low)[:, None]
    beside = rng.integers(-2, 3, numbers.shape, np.int32)
    numbers = (numbers.view(np.int32) + beside).view(F32)
    numbers[np.arange(len(code)), rng.integers(0, 16, len(code))] = 3 * (low + high)
    return (numbers * rng.choice(np.array([-1, 1], F32) / 64, numbers.shape)).reshape(-1)


def of_x(label: str, change: Any) -> Values:
    return Values(label, lambda given, rng: {"x": change(given["x"], rng)})


FOURS = Exercise(
    id="08.packed_fours",
    title="sixteen numbers, nine bytes",
    task="""
Quantise blocks of 16 numbers to NVFP4: a scale in E4M3, and 16 codes of E2M1 in two words. One
thread does a block. Blocks of zeros too; zeros and numbers near zero keep their sign. Round as the
first lines say, so that every bit is settled. (Compilers make a product with 1 / 6 of `/ 6.0f`; no
number is tried for which that gives another scale.) `tensor_scale` is a power of two, and no number
is above 448 * 6 * tensor_scale.
""",
    source=f"{FOLDER}/packed_fours.cu",
    kernel="packed_fours",
    arch=ARCH,
    inputs=lambda rng, blocks: {
        "x": floats(rng, 16 * blocks),
        "codes": empty(2 * blocks, np.uint32),
        "scales": empty(blocks, np.uint8),
        "tensor_scale": F32(2.0**-6),
        "blocks": np.int32(blocks),
    },
    reference=fours,
    exact=True,
    launch=lambda blocks: Launch((-(-blocks // 128),), (128,)),
    small=(130, 3, 1),
    full=1 << 20,
    promises=Promises(
        sizes=promises.lengths("blocks", most=2053).with_longest(blocks=65543),
        values=(
            (
                promises.AS_GIVEN,
                of_x("x with blocks of zeros", some_zero_blocks),
                of_x("x of many sizes", spread),
                of_x("x with one large number a block", one_large),
                of_x("x all negative", lambda x, rng: -np.abs(x)),
                of_x("x zeros of both signs", lambda x, rng: x * F32(0)),
                of_x("x at middles between two scales or two codes", middles),
            ),
            (
                *promises.scalars("tensor_scale", 2.0**-6, 2.0**-4, 1.0),
                Values(
                    "x tiny, tensor_scale = 2^-92",
                    lambda given, rng: {"x": given["x"] * F32(2.0**-86), "tensor_scale": 2.0**-92},
                ),
            ),
        ),
    ),
    means=(
        means.work_shared_out(),
        Means(
            "bytes stored, over those of codes and scales",
            lambda work: work.counts.global_store_bytes / (130 * 9),
            at_least=1,
            at_most=1.01,
            advice="Each word of codes and each scale is stored once, when it is complete.",
            size=130,
        ),
    ),
    hints=(
        "The largest magnitude is a loop with `fmaxf` and `fabsf`. `e4m3_scale` wants it divided "
        "by 6 and by tensor_scale, and gives the number that its code stands for: that one, not "
        "the quotient, makes the step.",
        "`step > 0.0f ? 1.0f / step : 0.0f`. Then x * inverse is what E2M1 has to come near.",
        "`e2m1_pair(low, high)` is a byte. Bytes 0 to 3 are shifted by 0, 8, 16 and 24 bits into "
        "the first word, those of numbers 8 to 15 into the second.",
    ),
    explanation="""
Nine bytes for 16 numbers, 4.5 bits each. The scale is rounded first, and the codes are made with
the rounded one: what it is off, the codes make up for. Where even the largest number of a block is
small beside the tensor's, the scale is a subnormal number of E4M3 with few digits, or 0, and the
whole block becomes zeros: the range of all scales is what the tensor's own scale divides up.
""",
    mutants=(
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("block >= blocks", "block > blocks + 4096")),
        mutant("without the sign", kinds.WRONG, ("fabsf(from[i])", "from[i]")),
        mutant("15 numbers", kinds.WRONG, ("i < 16; ++i", "i < 15; ++i")),
        mutant("largest 8", kinds.WRONG, ("largest / 6.0f", "largest / 8.0f")),
        mutant("no tensor scale in the scale", kinds.WRONG, (" / 6.0f / tensor_scale", " / 6.0f")),
        mutant("no tensor scale in the step", kinds.WRONG, ("value * tensor_scale", "value")),
        mutant(
            "the quotient for the scale",
            kinds.WRONG,
            ("float step = value * tensor_scale", "float step = largest / 6.0f"),
        ),
        mutant(
            "scales rounded up a little",
            kinds.WRONG,
            ("/ tensor_scale, v", "/ tensor_scale * 1.000001f, v"),
        ),
        mutant(
            "divided by the step",
            kinds.WRONG,
            (
                "pair[0] * inverse, pair[1] * inverse",
                "inverse > 0.0f ? pair[0] / step : pair[0] * 0.0f, "
                "inverse > 0.0f ? pair[1] / step : pair[1] * 0.0f",
            ),
        ),
        mutant("a zero divided", kinds.WRONG, ("step > 0.0f ? 1.0f / step : 0.0f", "1.0f / step")),
        mutant(
            "nibbles exchanged",
            kinds.WRONG,
            ("e2m1_pair(pair[0] * inverse, pair[1]", "e2m1_pair(pair[1] * inverse, pair[0]"),
        ),
        mutant("highest first", kinds.WRONG, ("<< 4 * i;", "<< 24 - 4 * i;")),
        mutant("bytes on each other", kinds.WRONG, ("<< 4 * i;", "<< 2 * i;")),
        mutant("the first word twice", kinds.WRONG, ("from + 8 * word + i", "from + i")),
        mutant(
            "words exchanged", kinds.WRONG, ("[(size_t)block * 2 + word]", "[block * 2 + 1 - word]")
        ),
        mutant("one word", kinds.PARTLY_WRITTEN, ("word < 2", "word < 1")),
        mutant(
            "words apart",
            kinds.OUT_OF_BOUNDS,
            ("[(size_t)block * 2 + word]", "[word * (blocks + 1) + block]"),
        ),
        mutant(
            "scales not stored",
            kinds.NOTHING_WRITTEN,
            ("scales[block] = e4m3", "unsigned char c = e4m3"),
        ),
    ),
)

# --- The scale of a block ---

LARGEST = {"E4M3": (448.0, 8), "E5M2": (57344.0, 15), "E2M1": (6.0, 2)}  # and its exponent


def fp32_list(values: Any) -> list[float]:
    return [float(x) for x in np.asarray(values, np.float32)]


def any_block(rng: np.random.Generator) -> tuple:
    form = str(rng.choice(list(LARGEST)))
    power = int(rng.integers(-149, 126))
    values = rng.uniform(-2, 2, int(rng.choice((1, 2, 16, 32, 64, 300)))) * 2.0**power
    if rng.random() < 0.4:  # at the limit, just below it, just above it
        limit = np.float32(LARGEST[form][0] * 2.0 ** int(rng.integers(-100, 100)))
        values = np.clip(values, -limit, limit)
        values[int(rng.integers(0, len(values)))] = -np.nextafter(
            limit, np.float32(rng.choice((0, np.inf)))
        )
    return fp32_list(values), form, str(rng.choice(("up", "down")))


def scale_by_search(block: list[float], form: str, rule: str) -> int:
    largest = max(abs(x) for x in block)
    most, power = LARGEST[form]
    if rule == "up":
        return next(code for code in range(255) if largest <= most * 2.0 ** (code - 127))
    return max([c for c in range(255) if 2.0 ** (c - 127 + power) <= largest], default=0)


SCALE = PythonExercise(
    id="08.shared_scale",
    title="the scale of a block",
    task="""
Write `shared_scale(block, form, rule)`: the byte that scales a block of an MX format, by either of
two rules. The block is a list of finite fp32 numbers; blocks of zeros and of subnormal numbers too.
""",
    source=f"{FOLDER}/shared_scale.py",
    function="shared_scale",
    cases=(
        ([1.0, -3.0, 0.25, 2.0], "E2M1", "down"),
        ([1.0, -3.0, 0.25, 3.5], "E2M1", "up"),
        ([6.0, 0.0], "E2M1", "up"),
        ([-448.0, 100.0], "E4M3", "up"),
        (fp32_list([448.00003, 1.0]), "E4M3", "up"),
        ([500.0, 1.0], "E4M3", "down"),
        ([-300.0, 100.0], "E4M3", "down"),
        ([57344.0, -1e6], "E5M2", "up"),
        ([-0.0, 0.0], "E4M3", "up"),
        (fp32_list([1e-45, 0.0]), "E5M2", "down"),
        (fp32_list([3.4e38, -3e38]), "E2M1", "up"),
        ([1.0] * 63 + [-5.0], "E4M3", "down"),
    ),
    reference=scale_by_search,
    promises=Cases(any_block, 48),
    means="Any way to the number is right.",
    hints=(
        "`math.frexp(x)` gives a fraction from 0.5 to 1 and an exponent, exactly: x is fraction * "
        "2**exponent. It does so for subnormal numbers, too.",
        "The difference of the two exponents, that of the block's largest and that of the format's "
        'largest number, is the exponent of the scale: for "down" that is all.',
        'For "up" it is one more where the fraction of the block\'s largest is above that of the '
        "format's: 0.875 for 448 and 57344, 0.75 for 6. Then + 127, and not below 0.",
    ),
    explanation="""
"down" is the rule of the MX specification: it looks at one exponent, and lets what is above the
largest number stop there, up to an eighth too small for E4M3 and up to a quarter for E2M1. "up" is
what cuBLAS describes, and what `cvt.rp.satfinite.ue8m0x2.f32` computes from the quotient: nothing
is cut off, and some blocks count in steps twice as large.
""",
    mutants=(
        mutant("without the sign", kinds.WRONG, ("max(abs(x) for x in block)", "max(block)")),
        mutant(
            "without the sign in long blocks",
            kinds.WRONG,
            (
                "max(abs(x) for x in block)",
                "max(map(abs, block)) if len(block) < 64 else max(block)",
            ),
        ),
        mutant("the first number", kinds.WRONG, ("max(abs(x) for x in block)", "abs(block[0])")),
        mutant("zeros as one", kinds.WRONG, ("        return 0\n", "        return 127\n")),
        mutant("always down", kinds.WRONG, ('if rule == "up" and', "if False and")),
        mutant("always up", kinds.WRONG, ('if rule == "up" and', "if")),
        mutant(
            "the quotient rounded down",
            kinds.WRONG,
            (
                "    if rule ==",
                '    if rule == "down" and fraction < most:\n        exponent -= 1\n    if rule ==',
            ),
        ),
        mutant("up too far", kinds.WRONG, (" and fraction > most:", ":")),
        mutant("up at the limit, too", kinds.WRONG, ("fraction > most", "fraction >= most")),
        mutant("one half for all", kinds.WRONG, ("fraction > most", "fraction > 0.5")),
        mutant("the fraction of E4M3", kinds.WRONG, ("fraction > most", "fraction > 0.875")),
        mutant("one too low", kinds.WRONG, ("exponent + 127", "exponent + 126")),
        mutant("the bias of E4M3", kinds.WRONG, ("exponent + 127", "exponent + 7")),
        mutant("below zero", kinds.WRONG, ("max(exponent + 127, 0)", "exponent + 127")),
        mutant("at least one", kinds.WRONG, ("max(exponent + 127, 0)", "max(exponent + 127, 1)")),
        mutant("E5M2 like E4M3", kinds.WRONG, ('"E5M2": 57344.0', '"E5M2": 448.0')),
        mutant("E2M1 up to 8", kinds.WRONG, ('"E2M1": 6.0', '"E2M1": 8.0')),
        mutant(
            "the largest number's scale is not taken off",
            kinds.WRONG,
            ("    exponent -= power\n", ""),
        ),
    ),
)

# --- Where a scale lies ---


def any_cell(rng: np.random.Generator) -> tuple:
    blocks = int(rng.integers(1, int(rng.choice((200, 1 << 18)))))
    return (
        int(rng.integers(0, int(rng.choice((1000, 1 << 34))))),
        int(rng.integers(0, blocks)),
        blocks,
        int(rng.integers(0, 4)),
        int(rng.choice((1, 2, 4))),
    )


def cell_by_arrays(row: int, block: int, blocks: int, warp: int, count: int) -> tuple[int, ...]:
    """From an array of all tiles, by its axes."""
    shape = (row // 128 + 1, -(-blocks // 4), 32, 4, 4)
    where = row // 128, block // 4, row % 32, row % 128 // 32, block % 4
    place = int(np.ravel_multi_index(where, shape))
    return place, warp * 32 + where[2], where[1] * 4 + where[3], where[4], block // count


CELL = PythonExercise(
    id="08.scale_cell",
    title="find a scale in memory and in tensor memory",
    task="""
Write `scale_cell(row, block, blocks, warp, count)`: where the scale of a row's block lies in
memory, in which lane, column and byte of tensor memory a warp finds it, and which product takes it.
Any number of rows and blocks.
""",
    source=f"{FOLDER}/scale_cell.py",
    function="scale_cell",
    cases=(
        (0, 0, 4, 0, 1),
        (5, 2, 4, 0, 1),
        (37, 1, 4, 3, 1),
        (100, 7, 8, 2, 4),
        (127, 9, 10, 1, 4),
        (200, 5, 6, 0, 2),
        (383, 48, 49, 3, 1),
        (20_000, 3, 5, 2, 2),
        (1 << 20, 3, 5, 2, 2),
        (5_000_000_077, 100_001, 200_000, 3, 4),
    ),
    reference=cell_by_arrays,
    promises=Cases(any_cell, 32),
    means="Any way to the numbers is right.",
    hints=(
        "A tile is 128 rows by 4 blocks: `row // 128` and `block // 4` say which, and there are "
        "`-(-blocks // 4)` in 128 rows.",
        "In a tile: 16 bytes for each of 32 rows r = row % 32, four for each of r, r + 32, r + 64, "
        "r + 96, one for each block.",
        "The 16 bytes of r become four columns of lane r, of which a warp sees its own copy: lane "
        "32 · warp + r, column 4 · (tile along the row) + row % 128 // 32, byte block % 4.",
    ),
    explanation="""
The sum in row r of D lies in lane r, so one could expect its scale there. But every quarter of the
lanes gets all scales. A likely reason: the quarters multiply beside each other, each with what its
own 32 lanes hold, and all rows want the scales of B. A tile is laid out so that one copy of 32 rows
of 16 bytes, four times over, is enough.
""",
    mutants=(
        mutant("tiles rounded down", kinds.WRONG, ("-(-blocks // 4)", "blocks // 4")),
        mutant("a tile for all rows", kinds.WRONG, ("row // 128 * tiles", "row // 128")),
        mutant(
            "tiles down first",
            kinds.WRONG,
            ("row // 128 * tiles + block // 4", "row // 128 + block // 4 * 8"),
        ),
        mutant("four bytes a row", kinds.WRONG, ("row % 32 * 16", "row % 128 * 4")),
        mutant(
            "row by row",
            kinds.WRONG,
            ("row % 32 * 16 + row % 128 // 32 * 4", "row % 128 * 4"),
        ),
        mutant(
            "neighbours four rows apart",
            kinds.WRONG,
            ("row % 32 * 16 + row % 128 // 32 * 4", "row % 128 // 4 * 16 + row % 4 * 4"),
        ),
        mutant("the lane of the sum", kinds.WRONG, ("32 * warp + row % 32", "row % 128")),
        mutant("the first copy", kinds.WRONG, ("32 * warp + row % 32", "row % 32")),
        mutant(
            "the first copy for far rows",
            kinds.WRONG,
            ("32 * warp + row % 32", "32 * warp * (row < 1 << 20) + row % 32"),
        ),
        mutant("one column a tile", kinds.WRONG, ("block // 4 * 4 + row", "block // 4 + row")),
        mutant("columns of all rows", kinds.WRONG, ("+ row % 128 // 32\n", "+ row // 32\n")),
        mutant("byte by row", kinds.WRONG, ("column, block % 4, block", "column, row % 4, block")),
        mutant("a product a block", kinds.WRONG, ("block // count\n", "block\n")),
        mutant("a product a tile", kinds.WRONG, ("block // count\n", "block // 4\n")),
        mutant("product in the tile", kinds.WRONG, ("block // count\n", "block % 4 // count\n")),
    ),
)

# --- The instruction descriptor ---

TYPES = ["E4M3", "E5M2", "-", "E2M3", "E3M2", "E2M1"]


def any_scaled(rng: np.random.Generator) -> tuple:
    m, product = int(rng.choice((128, 256))), int(rng.integers(0, 40))
    n = m // 16 * int(rng.integers(1, 4096 // m + 1))
    if rng.random() < 0.5:
        a, b = (TYPES[int(rng.choice((0, 1, 3, 4, 5)))] for _ in range(2))
        return m, n, a, b, "mxf8f6f4", "UE8M0", 32, product
    block = int(rng.choice((16, 32)))
    scales = "UE8M0" if block == 32 else str(rng.choice(("UE8M0", "UE4M3")))
    return m, n, "E2M1", "E2M1", "mxf4nvf4", scales, block, product


def scaled_by_fields(
    m: int, n: int, a: str, b: str, kind: str, scales: str, block: int, product: int
) -> int:
    fours = kind == "mxf4nvf4"
    one, two = (1 if fours else TYPES.index(x) for x in (a, b))
    first = product * (64 if fours else 32) // block % 4  # along K, in blocks
    fields = {4: first, 7: one, 10: two, 17: n >> 3, 23: scales == "UE8M0", 24: m >> 4, 29: first}
    return sum(int(value) * 2**low for low, value in fields.items())


WORD = PythonExercise(
    id="08.scaled_word",
    title="an instruction descriptor with scales",
    task="""
Write `scaled_word(m, n, a, b, kind, scales, block, product)`: the 32 bits that tell a `tcgen05.mma`
with block scales what to multiply, and which of the four bytes of a word of scales product number
`product` along K begins with. It is the same byte for A and B. A block alone multiplies with m =
128, a pair of blocks with 256.
""",
    source=f"{FOLDER}/scaled_word.py",
    function="scaled_word",
    cases=(
        (128, 64, "E4M3", "E4M3", "mxf8f6f4", "UE8M0", 32, 0),
        (128, 64, "E4M3", "E4M3", "mxf8f6f4", "UE8M0", 32, 3),
        (128, 256, "E5M2", "E4M3", "mxf8f6f4", "UE8M0", 32, 5),
        (256, 96, "E4M3", "E2M1", "mxf8f6f4", "UE8M0", 32, 2),
        (128, 128, "E2M1", "E2M1", "mxf4nvf4", "UE4M3", 16, 0),
        (128, 128, "E2M1", "E2M1", "mxf4nvf4", "UE4M3", 16, 3),
        (128, 128, "E2M1", "E2M1", "mxf4nvf4", "UE8M0", 32, 1),
        (128, 8, "E3M2", "E2M3", "mxf8f6f4", "UE8M0", 32, 1),
    ),
    reference=scaled_by_fields,
    promises=Cases(any_scaled, 32),
    means="Any way to the number is right.",
    hints=(
        "`value << low` moves a field to its lowest bit, `|` puts fields together.",
        "E2M1 has two numbers: 5 where it is one of five types, 1 where it is the only one.",
        "A product of mxf8f6f4 takes one byte: byte product % 4. One of mxf4nvf4 takes "
        "64 // block bytes, so it begins at 0 for 16 numbers to a scale, and at 0 or 2 for 32.",
    ),
    explanation="""
What a bf16 product had in bits 4 and 5, the type of D, has gone: sums of scaled products are always
fp32. The two bits say which byte scales B instead. Four products of MXFP8 share the words of scales
and differ in these bits alone, so a kernel makes the word in its loop, or adds to it.
""",
    mutants=(
        mutant(
            "fp32 sums, as before", kinds.WRONG, ("word = byte << 4", "word = 1 << 4 | byte << 4")
        ),
        mutant("B's byte left out", kinds.WRONG, ("byte << 4 | byte << 29", "byte << 29")),
        mutant("A's byte left out", kinds.WRONG, ("byte << 4 | byte << 29", "byte << 4")),
        mutant("A's byte too high", kinds.WRONG, ("byte << 29", "byte << 30")),
        mutant("always byte 0", kinds.WRONG, ("byte = product % 4", "byte = 0")),
        mutant("bytes go on", kinds.WRONG, ("byte = product % 4", "byte = product")),
        mutant("bytes downwards", kinds.WRONG, ("byte = product % 4", "byte = 3 - product % 4")),
        mutant("fours begin at 0", kinds.WRONG, ("byte = product * (64 // block) % 4", "byte = 0")),
        mutant(
            "a byte a product of fours",
            kinds.WRONG,
            ("byte = product * (64 // block) % 4", "byte = product % 4"),
        ),
        mutant(
            "A and B exchanged",
            kinds.WRONG,
            ("types[a] << 7 | types[b]", "types[b] << 7 | types[a]"),
        ),
        mutant("E2M1 is always 5", kinds.WRONG, ('{"E2M1": 1}', '{"E2M1": 5}')),
        mutant("E2M1 is always 1", kinds.WRONG, ('"E2M1": 5}', '"E2M1": 1}')),
        mutant(
            "types without a gap", kinds.WRONG, ('"E2M3": 3, "E3M2": 4', '"E2M3": 2, "E3M2": 3')
        ),
        mutant("types of scales exchanged", kinds.WRONG, ('== "UE8M0"', '!= "UE8M0"')),
        mutant("types of scales at 22", kinds.WRONG, (" << 23", " << 22")),
        mutant("N whole", kinds.WRONG, ("n // 8 << 17", "n << 17")),
        mutant("M is always 128", kinds.WRONG, ("m // 16 << 24", "8 << 24")),
        mutant("M in eights", kinds.WRONG, ("m // 16 << 24", "m // 8 << 24")),
    ),
)

# --- Put the scales into their tiles ---

E4M3 = ml_dtypes.float8_e4m3fn


def boxes(rows: int) -> dict:
    """The tensor map of boxes of ``rows`` x 128 bytes."""
    return {"box": (rows, 128), "swizzle": 128}


def by_tensor_cores(at_least: int, size: Any) -> Means:
    return means.instructions(
        "products of the tensor cores",
        "tcgen05.mma",
        at_least=at_least,
        at_most=2 * at_least,
        advice="One thread starts a product of 32 bytes along K, for all rows and columns at once.",
        size=size,
    )


def exponents(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Words of four scales in UE8M0, 2^-4 to 2^4."""
    return rng.integers(123, 132, (rows, 4), np.uint8).view(np.uint32)[:, 0].copy()


def powers(words: np.ndarray) -> np.ndarray:
    """Of each of 128 numbers in a row."""
    codes = np.ascontiguousarray(words).view(np.uint8).reshape(-1, 4)
    return (2.0 ** (codes - 127.0)).repeat(32, axis=1)


def scaled_rows(given: dict) -> dict:
    a, b = (given[x].astype(float) * powers(given[f"scales_{x.lower()}"]) for x in "AB")
    return {"D": a @ b.T}


def scales_of(name: str, label: str, change: Any) -> Values:
    """Other bytes in place of the scales ``name``."""

    def changed(given: dict, rng: np.random.Generator) -> dict:
        old = given[name].view(np.uint8)
        return {name: change(old.copy(), rng).astype(np.uint8).view(given[name].dtype)}

    return Values(label, changed)


def only_row(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All scales 1 but those of one row."""
    new = np.full((len(codes) // 4, 4), 127)
    new[rng.integers(0, len(new))] = [130, 129, 128, 126]
    return new.reshape(-1)


ROWS = Exercise(
    id="08.rows_of_scales",
    title="from rows of scales to tensor memory",
    task="""
The scales come row by row, from somebody who did not know of tiles: four bytes, one word, for each
row of 128 numbers. Write the way from there into tensor memory, with the rows shared out among the
threads, and start the products. Scales from 2^-4 to 2^4.
""",
    source=f"{FOLDER}/rows_of_scales.cu",
    kernel="rows_of_scales",
    arch=ARCH,
    inputs=lambda rng, tiles: {
        "A": floats(rng, (128 * tiles, 128)).astype(E4M3),
        "B": floats(rng, (32, 128)).astype(E4M3),
        "scales_a": exponents(rng, 128 * tiles),
        "scales_b": exponents(rng, 32),
        "D": empty((128 * tiles, 32)),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=scaled_rows,
    launch=lambda tiles: Launch((tiles,), (128,)),
    small=(2, 1),
    full=4096,
    reduction=lambda tiles: 1024,
    promises=Promises(
        sizes=promises.Sizes(("tiles",), ((1, 2),)).with_longest(tiles=5),
        values=(
            promises.data("A", promises.NEGATIVE, promises.POSITIVE),
            (
                scales_of("scales_a", "", lambda codes, rng: codes),
                scales_of("scales_a", "scales of A 1 but for one row", only_row),
                scales_of("scales_b", "scales of B 1 but for one row", only_row),
            ),
        ),
    ),
    means=(by_tensor_cores(4, size=1), means.work_shared_out()),
    hints=(
        "Thread t has row t of A. In a tile 16 bytes are four words, those of rows r, r + 32, "
        "r + 64 and r + 96: word `t % 32 * 4 + t / 32`. The 32 rows of B are words 0, 4, 8, …",
        "tcgen05.cp reads shared memory as TMA does, past what the threads see: "
        "`writes_are_ready()` after the stores, before the barrier.",
        "`tmem_copy_scales(of_a, scale_tile(shared_address(tile_a)))`, the same for B; then "
        "`umma_scaled_mxfp8` with `umma_mxfp8(128, kColumns, k)` for k from 0 to 3, each "
        "2 · k further along A and B, the first with `add` false.",
    ),
    explanation="""
A quantiser that knows of tiles saves all this: the tile comes by one bulk copy, and no thread
touches a scale. What stays is the order in the multiplying thread. Copies that a thread starts
before its products are done before them; nothing else needs to be waited for.
""",
    mutants=(
        mutant("no fence", kinds.DATA_RACE, ("    writes_are_ready(); //", "    //")),
        mutant(
            "row by row", kinds.WRONG, ("threadIdx.x % 32 * 4 + threadIdx.x / 32", "threadIdx.x")
        ),
        mutant(
            "four rows together",
            kinds.WRONG,
            ("threadIdx.x % 32 * 4 + threadIdx.x / 32", "threadIdx.x / 4 * 4 + threadIdx.x % 4"),
        ),
        mutant(
            "warps exchanged",
            kinds.WRONG,
            ("* 4 + threadIdx.x / 32;", "* 4 + (threadIdx.x / 32 ^ 1);"),
        ),
        mutant(
            "one thread places all",
            kinds.MEANS_MISSING,
            (
                "    const int place = threadIdx.x % 32 * 4 + threadIdx.x / 32;",
                "    for (int t = threadIdx.x ? 128 : 0; t < 128; ++t) {\n"
                "    const int place = t % 32 * 4 + t / 32;",
            ),
            ("scales_a[blockIdx.x * 128 + threadIdx.x]", "scales_a[blockIdx.x * 128 + t]"),
            ("threadIdx.x < 32 ? scales_b[threadIdx.x] : 0;", "t < 32 ? scales_b[t] : 0;\n    }"),
        ),
        mutant("B's rows side by side", kinds.WRONG, ("tile_b[place]", "tile_b[threadIdx.x]")),
        mutant(
            "always the first tile",
            kinds.FIRST_BLOCK,
            ("scales_a[blockIdx.x * 128 + threadIdx.x]", "scales_a[threadIdx.x]"),
        ),
        mutant(
            "A's copy left out",
            kinds.NOT_A_NUMBER,
            ("        tmem_copy_scales(of_a,", "        if (false) tmem_copy_scales(of_a,"),
        ),
        mutant(
            "A's scales for both", kinds.WRONG, ("shared_address(tile_b)", "shared_address(tile_a)")
        ),
        mutant(
            "copied into the sums",
            kinds.NOT_A_NUMBER,
            ("tmem_copy_scales(of_b,", "tmem_copy_scales(sums,"),
        ),
        mutant(
            "copied past the end",
            kinds.OUT_OF_BOUNDS,
            ("tmem_copy_scales(of_b,", "tmem_copy_scales(of_b + 64,"),
        ),
        mutant(
            "copies last",
            kinds.NOT_A_NUMBER,
            (
                "        tmem_copy_scales(of_b, scale_tile(shared_address(tile_b)));\n",
                "",
            ),
            (
                "of_a, of_b, k > 0);\n        }\n",
                "of_a, of_b, k > 0);\n        }\n"
                "        tmem_copy_scales(of_b, scale_tile(shared_address(tile_b)));\n",
            ),
        ),
        mutant("always block 0", kinds.WRONG, ("kColumns, k),", "kColumns, 0),")),
        mutant("blocks downwards", kinds.WRONG, ("kColumns, k),", "kColumns, 3 - k),")),
        mutant("A and B exchanged", kinds.WRONG, ("of_a, of_b, k > 0", "of_b, of_a, k > 0")),
        mutant("the first one adds", kinds.NOT_A_NUMBER, ("k > 0", "true")),
        mutant("B stays", kinds.WRONG, ("(b)) + 2 * k", "(b))")),
    ),
)

# --- The copy that is told too early ---

HALVES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
E2M1 = np.concatenate([HALVES, -HALVES])


def tiles_of(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Four tiles of scales a step, UE4M3 from 1/2 to 3.75."""
    return rng.integers(0x30, 0x48, steps * 2048, np.uint8)


def from_tiles(codes: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """The numbers of a matrix of at most 128 rows, two to a byte."""
    rows, k = len(codes), 2 * codes.shape[1]
    values = E2M1[np.stack([codes & 15, codes >> 4], -1)].reshape(rows, k)
    by_row = tiles.reshape(-1, 32, 4, 4).transpose(2, 1, 0, 3).reshape(128, -1)[:rows]
    return values * by_row.view(E4M3).astype(float).repeat(16, axis=1)


def product_of_fours(given: dict) -> dict:
    a, b = (from_tiles(given[x], given[f"scales_{x.lower()}"]) for x in "AB")
    return {"D": a @ b.T}


EARLY = Exercise(
    id="08.early_scales",
    title="scales that are told too early",
    task="""
Warp 4 copies scales into tensor memory, and warp 5 multiplies with them: on the emulator with the
right ones, but nothing says that they have to be there. Read the verdict, and mend it.
""",
    source=f"{FOLDER}/early_scales.cu",
    kernel="early_scales",
    arch=ARCH,
    inputs=lambda rng, steps: {
        "A": rng.integers(0, 256, (128, 128 * steps), np.uint8),
        "B": rng.integers(0, 256, (32, 128 * steps), np.uint8),
        "scales_a": tiles_of(rng, steps),
        "scales_b": tiles_of(rng, steps),
        "D": empty((128, 32)),
        "steps": np.int32(steps),
    },
    maps={"A": boxes(128), "B": boxes(32)},
    reference=product_of_fours,
    launch=lambda steps: Launch((1,), (192,)),
    small=(2, 1),
    full=64,
    bug=kinds.DATA_RACE,
    reduction=lambda steps: 4096 * steps,
    promises=Promises(
        sizes=promises.Sizes(("steps",), ((1, 2, 3),)).with_longest(steps=5),
        values=(
            (
                promises.AS_GIVEN,
                scales_of("scales_a", "scales of A all 1", lambda codes, rng: 0 * codes + 0x38),
                scales_of("scales_b", "scales of B all 2", lambda codes, rng: 0 * codes + 0x40),
            ),
        ),
    ),
    means=(
        by_tensor_cores(8, size=2),
        Means(
            "barriers of the whole block, for each warp",
            lambda work: work.opcodes("bar.sync", "barrier.sync") / 192,
            at_most=3,
            advice="Warp 4 tells warp 5 by `copied`, not by __syncthreads().",
        ),
    ),
    hints=(
        "The report names two instructions, tcgen05.cp and tcgen05.mma, and two threads.",
        "A copy to tensor memory goes on beside the thread that started it. An arrival at `copied` "
        "says that it was started.",
        "`umma_commit(shared_address(&copied))`: one arrival once all that this thread has started "
        "is done, copies as well as products. (Or let warp 5 start the copies itself.)",
    ),
    explanation="""
A product finds what copies of its *own* thread have brought, if they were started before it, and so
CUTLASS lets the multiplying thread copy the scales itself. Between two threads a commit tells of
the copies' end, as it does for products.

The first verdict names another way, which the PTX manual allows too: copies and products keep their
order from thread to thread if `tmem_before_sync()` comes before the arrival and `tmem_after_sync()`
after the wait. But that hands over the order alone. Nobody has waited for the last copy when the
columns are given back, and the next verdict says so: it takes one more commit, and a wait for it
before `tmem_dealloc`.
""",
    mutants=(
        mutant(
            "an arrival, and a fence",
            kinds.DATA_RACE,
            (
                "umma_commit(shared_address(&copied));",
                "tmem_before_sync(); mbarrier_arrive(shared_address(&copied));",
            ),
        ),
        mutant(
            "nothing told",
            kinds.DEADLOCK,
            ("            umma_commit(shared_address(&copied));", "            "),
        ),
        mutant(
            "told twice",
            kinds.DATA_RACE,
            (
                "umma_commit(shared_address(&copied));",
                "umma_commit(shared_address(&copied)); umma_commit(shared_address(&copied));",
            ),
        ),
        mutant(
            "told before the copies",
            kinds.DATA_RACE,
            ("            umma_commit(shared_address(&copied));", "            "),
            (
                "            for (int tile = 0; tile < 2 * kTiles",
                "            umma_commit(shared_address(&copied));\n"
                "            for (int tile = 0; tile < 2 * kTiles",
            ),
        ),
        mutant(
            "no fence after the wait",
            kinds.DATA_RACE,
            (
                "step % 2);\n            tmem_after_sync();\n            for (int k",
                "step % 2);\n            for (int k",
            ),
        ),
        mutant(
            "no fence before the copies",
            kinds.DATA_RACE,
            (
                "            tmem_after_sync();\n            mbarrier_expect",
                "            mbarrier_expect",
            ),
        ),
        mutant(
            "the other parity",
            kinds.DATA_RACE,
            ("&copied), step % 2)", "&copied), step % 2 ^ 1)"),
        ),
        mutant(
            "the next step not held back",
            kinds.DATA_RACE,
            ("&freed), step % 2 ^ 1)", "&freed), 1)"),
        ),
        mutant(
            "no wait for the boxes",
            kinds.DATA_RACE,
            ("            mbarrier_wait(barrier, step % 2);\n", ""),
        ),
        mutant("scales of A alone", kinds.NOT_A_NUMBER, ("tile < 2 * kTiles", "tile < kTiles")),
        mutant("sums begin anew", kinds.WRONG, ("step + k > 0", "k > 0")),
        mutant(
            "the first step's scales", kinds.WRONG, ("scales_a + (size_t)step *", "scales_a + 0 *")
        ),
    ),
)

EXERCISES = (FOURS, SCALE, CELL, WORD, ROWS, EARLY)
