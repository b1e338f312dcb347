"""The exercises of "Block-scaled GEMMs"."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

ARCH = "sm_100a"
InputClass = domain.InputClass

# --- Quantise to NVFP4 ---

F32 = np.float32
SCALES = np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(F32)
MIDDLES = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], F32)


def fours(given: Given) -> dict[str, np.ndarray]:
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
    words = words.reshape(-1).astype(np.uint32)
    return {"scales": scales.astype(np.uint8), "codes": words}  # codes follow from the scales


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
    two codes, or up to two steps of fp32 beside them: another rounding gives other bits.

    The largest are exact: for sm_100a NVRTC 12.9 makes of `/ 6.0f` a product with 1 / 6.
    """
    code = rng.integers(64, 110, len(x) // 16)
    low, high = SCALES[code], SCALES[code + 1]
    numbers = MIDDLES[rng.integers(0, 7, (len(code), 16))] * np.where(code % 2, high, low)[:, None]
    beside = rng.integers(-2, 3, numbers.shape, np.int32)
    numbers = (numbers.view(np.int32) + beside).view(F32)
    numbers[np.arange(len(code)), rng.integers(0, 16, len(code))] = 3 * (low + high)
    return (numbers * rng.choice(np.array([-1, 1], F32) / 64, numbers.shape)).reshape(-1)


def of_x(label: str, change: Any) -> InputClass:
    return InputClass(label, lambda given, rng: {"x": change(given["x"], rng)})


PACKED_FOURS = KernelExercise(
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
    launch=lambda blocks: Launch((ceil_div(blocks, 128),), (128,)),
    small=(130, 3, 1),
    worked=Worked(  # largest 12, scale 1 (E4M3: 56), step 2: codes 0 to 7, with the sign 8 to 15
        size=1,
        values={
            "x": (2, -1, 0, 4, -12, 8, 3, 6, -2, 1, 12, -8, 4, -3, 6, -6),
            "tensor_scale": 2,
        },
    ),
    full=1 << 20,
    contract=Domain(
        sizes=domain.lengths("blocks", most=2053).with_outlier(blocks=65543),
        values=(
            (
                domain.AS_GIVEN,
                of_x("x with blocks of zeros", some_zero_blocks),
                of_x("x of many sizes", spread),
                of_x("x with one large number a block", one_large),
                of_x("x all negative", lambda x, rng: -np.abs(x)),
                of_x("x zeros of both signs", lambda x, rng: x * F32(0)),
                of_x("x at middles between two scales or two codes", middles),
            ),
            (
                *domain.scalars("tensor_scale", 2.0**-6, 2.0**-4, 1.0),
                InputClass(
                    "x tiny, tensor_scale = 2^-92",
                    lambda given, rng: {"x": given["x"] * F32(2.0**-86), "tensor_scale": 2.0**-92},
                ),
            ),
        ),
    ),
    method=(
        method.balanced_work(),
        Requirement(
            "bytes stored, over those of codes and scales",
            lambda stats: stats.counts.global_store_bytes / (130 * 9),
            at_least=1,
            at_most=1.01,
            advice="Each word of codes and each scale is stored once, when it is complete.",
            size=130,
        ),
    ),
)

# --- The scale of a block ---

LARGEST = {"E4M3": (448.0, 8), "E5M2": (57344.0, 15), "E2M1": (6.0, 2)}  # and its exponent


def fp32_list(values: Any) -> list[float]:
    return [float(x) for x in np.asarray(values, np.float32)]


def any_block(rng: np.random.Generator) -> tuple[Any, ...]:
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


SHARED_SCALE = PythonExercise(
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
    contract=DrawnCases(any_block, 48),
)

# --- Where a scale lies ---


def any_cell(rng: np.random.Generator) -> tuple[Any, ...]:
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
    shape = (row // 128 + 1, ceil_div(blocks, 4), 32, 4, 4)
    where = row // 128, block // 4, row % 32, row % 128 // 32, block % 4
    place = int(np.ravel_multi_index(where, shape))
    return place, warp * 32 + where[2], where[1] * 4 + where[3], where[4], block // count


SCALE_CELL = PythonExercise(
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
    contract=DrawnCases(any_cell, 32),
)

# --- The instruction descriptor ---

TYPES = ["E4M3", "E5M2", "-", "E2M3", "E3M2", "E2M1"]


def any_scaled(rng: np.random.Generator) -> tuple[Any, ...]:
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


SCALED_WORD = PythonExercise(
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
    contract=DrawnCases(any_scaled, 32),
)

# --- Put the scales into their tiles ---

E4M3 = ml_dtypes.float8_e4m3fn


def boxes(rows: int) -> dict[str, Any]:
    """The tensor map of boxes of ``rows`` x 128 bytes."""
    return {"box": (rows, 128), "swizzle": 128}


def by_tensor_cores(at_least: int, size: Any) -> Requirement:
    return method.instructions(
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


def scaled_rows(given: Given) -> dict[str, np.ndarray]:
    a, b = (given[x].astype(float) * powers(given[f"scales_{x.lower()}"]) for x in "AB")
    return {"D": a @ b.T}


def scales_of(name: str, label: str, change: Any) -> InputClass:
    """Other bytes instead of the scales ``name``."""

    def changed(given: Given, rng: np.random.Generator) -> Given:
        old = given[name].view(np.uint8)
        return {name: change(old.copy(), rng).astype(np.uint8).view(given[name].dtype)}

    return InputClass(label, changed)


def only_row(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All scales 1 but those of one row."""
    new = np.full((len(codes) // 4, 4), 127)
    new[rng.integers(0, len(new))] = [130, 129, 128, 126]
    return new.reshape(-1)


ROWS_OF_SCALES = KernelExercise(
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
    worked=Worked(why_not="a tile has 128 x 128 elements"),
    full=4096,
    reduction=lambda tiles: 1024,
    contract=Domain(
        sizes=domain.Sizes(("tiles",), ((1, 2),)).with_outlier(tiles=5),
        values=(
            domain.data("A", domain.NEGATIVE, domain.POSITIVE),
            (
                scales_of("scales_a", "", lambda codes, rng: codes),
                scales_of("scales_a", "scales of A 1 but for one row", only_row),
                scales_of("scales_b", "scales of B 1 but for one row", only_row),
            ),
        ),
    ),
    method=(by_tensor_cores(4, size=1), method.balanced_work()),
)

# --- The copy that is signalled too early ---

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


def product_of_fours(given: Given) -> dict[str, np.ndarray]:
    a, b = (from_tiles(given[x], given[f"scales_{x.lower()}"]) for x in "AB")
    return {"D": a @ b.T}


EARLY_SCALES = KernelExercise(
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
    worked=Worked(why_not="a tile has 128 x 128 elements"),
    full=64,
    bug=kinds.DATA_RACE,
    reduction=lambda steps: 4096 * steps,
    contract=Domain(
        sizes=domain.Sizes(("steps",), ((1, 2, 3),)).with_outlier(steps=5),
        values=(
            (
                domain.AS_GIVEN,
                scales_of("scales_a", "scales of A all 1", lambda codes, rng: 0 * codes + 0x38),
                scales_of("scales_b", "scales of B all 2", lambda codes, rng: 0 * codes + 0x40),
            ),
        ),
    ),
    method=(
        by_tensor_cores(8, size=2),
        Requirement(
            "barriers of the whole block, for each warp",
            lambda stats: stats.opcodes("bar.sync", "barrier.sync") / 192,
            at_most=3,
            advice="Warp 4 signals warp 5 through `copied`, not by __syncthreads().",
        ),
    ),
)

# --- The ring of a pair ---


def any_pair(rng: np.random.Generator) -> tuple[Any, ...]:
    columns = 16 * int(rng.integers(1, 17))
    return str(rng.choice(["mxfp8", "nvfp4"])), columns, 1024 * int(rng.integers(40, 228))


def by_rows(form: str, columns: int, shared: int) -> tuple[int, int, int]:
    """Row by row: numbers, and the tiles that scales of rows fall into."""
    scales = 128 // 32 if form == "mxfp8" else 256 // 16  # in a row
    rows = [("A", row) for row in range(128)] + [("B", row) for row in range(columns)]
    tiles = {(name, row // 128, n // 4) for name, row in rows for n in range(scales)}
    numbers = sum(128 for name, row in rows if name == "A" or row < columns // 2)
    size, stages = numbers + 512 * len(tiles), 0
    while True:
        ends = stages * ceil_div(size, 1024) * 1024 + ceil_div(size, 1024) * 1024
        if ends > shared or columns + 4 * len(tiles) * (stages + 1) > 512:
            return size, 4 * len(tiles), stages
        stages += 1


PAIR_STAGE = PythonExercise(
    cases=(
        ("mxfp8", 256, 232_448),
        ("nvfp4", 256, 232_448),
        ("mxfp8", 64, 232_448),
        ("nvfp4", 128, 101_376),
        ("nvfp4", 256, 512_000),
        ("mxfp8", 192, 167_936),
        ("mxfp8", 256, 205_824),
    ),
    reference=by_rows,
    contract=DrawnCases(any_pair, 32),
)
