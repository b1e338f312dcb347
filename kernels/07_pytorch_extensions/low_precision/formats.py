"""Narrow formats in NumPy: the reference for the kernels of this folder.

Sources: OCP, "8-bit Floating Point Specification" and "Microscaling Formats (MX) Specification";
cuBLAS, "1D Block Scaling Factors Layout"; PTX ISA, "Sparse matrix storage".
"""

import numpy as np

from course_utils import ceil_div

FORMATS = {  # bits of exponent and of fraction, largest number
    "fp16": (5, 10, 65504.0),
    "bf16": (8, 7, (2 - 2**-7) * 2.0**127),
    "E5M2": (5, 2, 57344.0),
    "E4M3": (4, 3, 448.0),
    "E2M1": (2, 1, 6.0),
}
TILE_ROWS, TILE_BLOCKS = 128, 4


def rounded(x: np.ndarray, form: str) -> np.ndarray:
    """Finite numbers rounded to a format, as float64: to the nearest, of two equally near ones the
    even one, and no further than the largest."""
    exponent_bits, fraction_bits, largest = FORMATS[form]
    x = np.asarray(x, np.float64)
    exponent = np.frexp(x)[1] - 1  # |x| is 1 to 2 times 2^exponent
    least = 2 - 2 ** (exponent_bits - 1)  # of the normal numbers; below it the steps stay the same
    step = np.ldexp(1.0, np.maximum(exponent, least) - fraction_bits)
    return np.clip(np.rint(x / step) * step, -largest, largest)


def codes_of(values: np.ndarray, form: str) -> np.ndarray:
    """The codes, uint8, of numbers that a format of at most 8 bits has, -0 as 0."""
    exponent_bits, fraction_bits, _ = FORMATS[form]
    codes = np.arange(1 << (exponent_bits + fraction_bits))  # in the order of their values
    fraction = codes & (1 << fraction_bits) - 1
    exponent = codes >> fraction_bits
    whole = fraction + np.where(exponent > 0, 1 << fraction_bits, 0)
    bias = 2 ** (exponent_bits - 1) - 1
    table = np.ldexp(whole.astype(float), np.maximum(exponent, 1) - bias - fraction_bits)
    sign = (values < 0).astype(np.uint8) << (exponent_bits + fraction_bits)
    return np.searchsorted(table, np.abs(values)).astype(np.uint8) | sign


def mxfp8(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows x (M, K): numbers of E4M3 (M, K) and exponents (M, K / 32), the least with which no
    number of a block of 32 is above 448. x is about numbers * 2**exponents; blocks of zeros get
    the exponent -127."""
    blocks = np.asarray(x, np.float64).reshape(len(x), -1, 32)
    largest = np.abs(blocks).max(-1)
    with np.errstate(divide="ignore"):
        exponents = np.ceil(np.log2(largest / 448)).clip(-127)
    exponents += largest > 448 * 2.0**exponents  # where the logarithm was rounded
    numbers = rounded(blocks * 2.0 ** -exponents[..., None], "E4M3")
    return numbers.reshape(x.shape), exponents.astype(int)


def nvfp4(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.float32]:
    """Of rows x (M, K) in fp32: numbers of E2M1 (M, K), numbers of E4M3 (M, K / 16) that scale
    blocks of 16, and one fp32 number that scales them all."""
    blocks = np.asarray(x, np.float32).reshape(len(x), -1, 16)
    largest = np.abs(blocks).max(-1)
    whole = np.float32(max(largest.max(), np.float32(1e-30)) / np.float32(448 * 6))
    scales = rounded(largest / np.float32(6) / whole, "E4M3").astype(np.float32)
    steps = scales * whole
    inverse = np.zeros_like(steps)
    np.divide(np.float32(1), steps, out=inverse, where=steps > 0)
    return rounded(blocks * inverse[..., None], "E2M1").reshape(x.shape), scales, whole


def scale_places(rows: int, blocks: int) -> np.ndarray:
    """Where the scale of each block lies, (rows, blocks): tiles of 128 rows by 4 blocks."""
    row, block = np.arange(rows)[:, None], np.arange(blocks)
    tiles = ceil_div(blocks, TILE_BLOCKS)
    tile = row // TILE_ROWS * tiles + block // TILE_BLOCKS
    inside = row % 32 * 16 + row % TILE_ROWS // 32 * 4 + block % TILE_BLOCKS
    return tile * (TILE_ROWS * TILE_BLOCKS) + inside


def room_for_scales(rows: int, blocks: int) -> int:
    """Bytes of all tiles, the places that no block has included."""
    return ceil_div(rows, TILE_ROWS) * ceil_div(blocks, TILE_BLOCKS) * TILE_ROWS * TILE_BLOCKS


def int4_groups(w: np.ndarray, group: int = 128) -> tuple[np.ndarray, np.ndarray]:
    """Of rows w (M, K): integers -8 to 7, int8 (M, K), and fp16 scales (M, K / group). The largest
    magnitude of a group becomes 7."""
    groups = np.asarray(w, np.float32).reshape(len(w), -1, group)
    largest = np.abs(groups).max(-1)
    scales = np.maximum(largest / 7, 2.0**-24).astype(np.float16)
    whole = np.rint(groups / scales[..., None].astype(np.float32)).clip(-8, 7)
    return whole.astype(np.int8).reshape(w.shape), scales


def nibbles(whole: np.ndarray) -> np.ndarray:
    """Integers -8 to 7 (M, K) plus 8, two a byte, the first in the lower half: uint8 (M, K / 2)."""
    pairs = (whole + 8).astype(np.uint8).reshape(len(whole), -1, 2)
    return pairs[..., 0] | pairs[..., 1] << 4


def two_of_four(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each four neighbours of rows x (M, K) the two of largest magnitude, in their order, of
    equal ones the first: (M, K / 2); and their places, two bits each, eight to a word of 16 bits,
    the first lowest: uint16 (M, K / 16)."""
    fours = x.reshape(len(x), -1, 4)
    places = np.sort(np.argsort(-np.abs(fours), axis=-1, kind="stable")[..., :2], axis=-1)
    kept = np.take_along_axis(fours, places, axis=-1).reshape(len(x), -1)
    eights = places.reshape(len(x), -1, 8).astype(np.uint16)
    return kept, np.bitwise_or.reduce(eights << (2 * np.arange(8, dtype=np.uint16)), axis=-1)
