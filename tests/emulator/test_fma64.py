"""fma in f64 has one rounding, and is fast wherever a kernel's numbers are ordinary."""

import math
from fractions import Fraction

import numpy as np
import pytest

from course_utils.emulator.numerics import floats

HARD = (
    *(0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan),
    *(5e-324, -5e-324, 2.0**-1022, 2.0**-1060, -(2.0**-537), 2.0**-450, 2.0**-511),
    *(1 + 2.0**-52, 1 - 2.0**-53, -1 - 2.0**-52, 2.0**53 + 2, 3.0, 1 / 3),
    *(2.0**1023, -(2.0**1000), 1.7976931348623157e308, 2.0**512, 2.0**995, 2.0**-900, 2.0**-801),
)


def rounded(a: float, b: float, c: float) -> float:
    """a * b + c by rational arithmetic, rounded once; by the rules of IEEE 754 for the rest."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    value = Fraction(a) * Fraction(b) + Fraction(c)
    if not value:
        return 0.0 if a and b and c else a * b + c  # both zeros: their signs decide
    try:
        return value.numerator / value.denominator or (0.0 if value > 0 else -0.0)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def test_rounded_is_the_processor_s_where_python_has_it():
    fma = getattr(math, "fma", None)
    if fma is None:
        pytest.skip("math.fma came with Python 3.13")
    for a, b, c in ((x, y, z) for x in HARD[7:20] for y in HARD[7:20] for z in HARD[7:20]):
        assert rounded(a, b, c) == fma(a, b, c), (a, b, c)


def all_equal(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        found = floats.fma64(a, b, c)
        want = np.array([rounded(*map(float, abc)) for abc in zip(a, b, c, strict=True)])
    same = (found.view(np.uint64) == want.view(np.uint64)) | (np.isnan(found) & np.isnan(want))
    wrong = np.flatnonzero(~same)
    assert not len(wrong), [(x[wrong[0]].hex()) for x in (a, b, c, found, want)]


def test_hard_numbers_in_every_combination():
    a, b, c = (x.ravel() for x in np.meshgrid(HARD, HARD, HARD))
    all_equal(a, b, c)


@pytest.mark.parametrize("widest", [1, 30, 200, 520, 1020])
def test_random_numbers_of_near_and_of_far_magnitudes(widest):
    rng = np.random.default_rng(widest)
    a, b, c = (
        np.ldexp(rng.uniform(-2, 2, 4000), rng.integers(-widest, widest + 1, 4000))
        for _ in range(3)
    )
    all_equal(a, b, c)
    with np.errstate(all="ignore"):
        near = -a * b * (1 + rng.integers(-3, 4, 4000) * 2.0**-52)  # most of the sum cancels
        ties = np.ldexp(np.round(near, 0), rng.integers(-3, 4, 4000))
    all_equal(a, b, np.where(np.isfinite(near), near, 1.0))
    few_bits = [np.float64(np.float32(np.frexp(x)[0])) * 8 for x in (a, b)]
    all_equal(*few_bits, c)
    all_equal(*(x * 2.0**-widest for x in few_bits), c)
    all_equal(a, b, np.where(np.isfinite(ties), ties, 1.0))


def test_halfway_sums_are_decided_by_the_smallest_bit():
    one = np.float64(1 + 2.0**-52)
    tiny = 2.0 ** np.arange(-1000.0, -60.0, 13)
    for c in (2.0**53 + 2, -(2.0**53), 1.0, 2.0**-400):
        for sign in (1, -1):
            all_equal(tiny, np.full_like(tiny, sign * one), np.full_like(tiny, c))


@pytest.mark.parametrize(
    "a, b, c",
    [
        ("some zeros", "ordinary", "ordinary"),
        ("ordinary", "some zeros", "some zeros"),
        ("ordinary", "some zeros", "some infinite"),
        ("faint", "faint", "ordinary"),
        ("some infinite", "ordinary", "ordinary"),
    ],
)
@pytest.mark.parametrize("of_f32", [True, False])
def test_what_kernels_multiply_needs_no_rational_arithmetic(a, b, c, of_f32, monkeypatch):
    rng = np.random.default_rng(5)

    def numbers(kind: str) -> np.ndarray:
        x = rng.standard_normal(1000)
        if of_f32:
            x = x.astype(np.float32).astype(np.float64)
        if kind.startswith("some"):
            x[::3] = 0.0 if kind == "some zeros" else np.inf
        return x * 1e-200 if kind == "faint" else x

    slow = []
    monkeypatch.setattr(floats, "round_fraction", lambda *value: slow.append(value) or 0.0)
    with np.errstate(all="ignore"):
        floats.fma64(numbers(a), numbers(b), numbers(c))
    assert not slow
