"""bf16 and fp8 against the nearest of all their numbers, found by search in float64.

The emulator rounds with ml_dtypes; nothing here does.
"""

import numpy as np
import pytest

from course_utils.emulator.numerics import floats, fpenv

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of casts: inf, NaN
ALL_BF16 = np.arange(1 << 16, dtype=np.uint16)


def value(sign, exponent, fraction, bits, bias):
    """(-1)^sign 1.fraction 2^(exponent - bias), or 0.fraction 2^(1 - bias) for exponent 0."""
    hidden = exponent > 0
    scale = np.maximum(exponent, 1) - bias - bits
    return (1 - 2.0 * sign) * np.ldexp(fraction + (hidden << bits), scale)


def numbers_of(width, bits, bias):
    """The number that each bit pattern would be, were none of them infinite or NaN."""
    code = np.arange(1 << width, dtype=np.int64)
    exponents = (1 << (width - 1 - bits)) - 1
    return value(
        code >> (width - 1), code >> bits & exponents, code & ((1 << bits) - 1), bits, bias
    )


def nearest(x, numbers, largest, saturates):
    """The codes of what ``x`` rounds to, ties to even; beyond ``largest`` the format's own rule."""
    positive = numbers[: len(numbers) // 2]
    last = int(np.searchsorted(positive, largest))
    magnitude = np.abs(x.astype(np.float64))
    up = np.searchsorted(positive, magnitude).clip(1, last + (not saturates))
    down = up - 1
    middle = (positive[down] + positive[up]) / 2
    to_up = (magnitude > middle) | ((magnitude == middle) & (up % 2 == 0))
    return np.where(to_up, up, down) | np.where(np.signbit(x), len(positive), 0)


FORMATS = {  # how it rounds, the numbers of its codes, the largest, whether more becomes that
    "bf16": (floats.to_bf16, numbers_of(16, 7, 127), float.fromhex("0x1.fep127"), False),
    "e4m3": (floats.to_e4m3, numbers_of(8, 3, 7), 448.0, True),
    "e5m2": (floats.to_e5m2, numbers_of(8, 2, 15), 57344.0, True),
}


def inputs():
    """Every bf16 number, those just beside and halfway to the next; random bits; a range where
    fp8 has numbers."""
    rng = np.random.default_rng(0)
    uppers = ALL_BF16.astype(np.uint32)[:, None] << 16
    grid = (uppers | np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)).reshape(-1)
    loose = rng.integers(0, 1 << 32, 1 << 16, dtype=np.uint32)
    near = (rng.standard_normal(1 << 16) * 2.0 ** rng.integers(-20, 20, 1 << 16)).astype(np.float32)
    halfway = np.ldexp(rng.integers(-64, 64, 1 << 12), rng.integers(-24, 14, 1 << 12))
    drawn = grid.view(np.float32), loose.view(np.float32), near, halfway.astype(np.float32)
    return np.concatenate(drawn)


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_finds_the_nearest_number_ties_to_even(name):
    rounded, numbers, largest, saturates = FORMATS[name]
    x = inputs()
    x = x[~np.isnan(x)]
    np.testing.assert_array_equal(rounded(x), nearest(x, numbers, largest, saturates))


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_does_not_depend_on_the_processors_flushing(name):
    rounded, x = FORMATS[name][0], inputs()
    expected = rounded(x)
    with fpenv.hardware_ftz():
        found = rounded(x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", FORMATS)
def test_a_nan_becomes_the_canonical_one(name):
    x = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF], np.uint32).view(np.float32)
    assert set(FORMATS[name][0](x).tolist()) == {0x7FFF if name == "bf16" else 0x7F}


def test_reading_bf16_moves_its_bits_to_the_upper_half():
    found = floats.from_bf16(ALL_BF16).view(np.uint32)
    np.testing.assert_array_equal(found, ALL_BF16.astype(np.uint32) << 16)


INFINITY, NAN = 0x7C00, 0x7FFF  # of f16
SPECIAL = {"e4m3": {0x7F: NAN}, "e5m2": {0x7C: INFINITY, 0x7D: NAN, 0x7E: NAN, 0x7F: NAN}}


@pytest.mark.parametrize(
    ("name", "table"), [("e4m3", floats.F16_OF_E4M3), ("e5m2", floats.F16_OF_E5M2)]
)
def test_every_fp8_code_is_read_exactly(name, table):
    expected = FORMATS[name][1].astype(np.float16).view(np.uint16)
    for code, bits in SPECIAL[name].items():
        expected[code] = bits
        expected[code | 0x80] = bits if bits == NAN else bits | 0x8000
    np.testing.assert_array_equal(table, expected)
