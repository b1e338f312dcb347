"""conv_split_halves with numbers that two fp16 halves do not hold, and with just those they do."""

import numpy as np
import pytest

from course_utils import cp
from course_utils.benchmarks.cases import convolution
from course_utils.benchmarks.cases.convolution import convolved

WIDEST, WIDTH = 14, 9  # a row less than whole: the emulator's time goes with it


def inputs(width=WIDTH):
    """Two bands of rows of each image, and two tiles of filters."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((3, 16, 14, width), dtype=np.float32)
    return rng, x, rng.standard_normal((64, 16, 3, 3), dtype=np.float32)


def powers(rng, shape, low, high):
    return np.exp2(rng.integers(low, high, shape)).astype(np.float32)


def convolution_by_halves(x, w):
    size = (*x.shape[:2], len(w), *x.shape[2:], 3)
    y = cp.full((size[0], size[2], *size[3:5]), np.nan, np.float32)
    (call,) = convolution._split_halves(cp.asarray(x), cp.asarray(w), y, size)
    call()
    return cp.asnumpy(y).astype(np.float64)


def error(x, w):
    """The largest error of a result, over the sum of its products' absolute values."""
    found = convolution_by_halves(x, w)
    exact, total = (
        cp.asnumpy(convolved(*map(cp.asarray, each), 1)) for each in ((x, w), (abs(x), abs(w)))
    )
    assert np.isfinite(found).all() and not found[total == 0].any()
    return (abs(found - exact) / np.maximum(total, 1e-300)).max()


def wide_pixels(rng, x, w):
    return x * powers(rng, x.shape, -40, 40), w


def wide_weights(rng, x, w):
    return x, w * powers(rng, w.shape, -40, 40)


def one_pixel_beyond(rng, x, w):
    x[0, 0, 4, 7] = 2.0**80
    return x, w


def one_weight_beyond(rng, x, w):
    w[5, 3, 1, 1] = 2.0**60
    x[:, 3] = 0  # its products are, and leave those of the other weights
    return x, w


def down_to_what_halves_hold(rng, x, w):
    return np.sign(x) * powers(rng, x.shape, -28, 1) * np.float32(1.75 - 2**-22), w


def nearly_the_largest(rng, x, w):
    return np.clip(x, -1, 1) * np.float32(2.0**127), w * np.float32(2.0**-20)


def nearly_the_smallest(rng, x, w):
    x = np.where(abs(x) < 1e-3, np.float32(1), x)
    return x * np.float32(2.0**-115), w * np.float32(2.0**100)


def products_beyond_the_smallest(rng, x, w):
    return x * np.float32(2.0**-100), w * np.float32(2.0**-100)


def nothing_in_an_image(rng, x, w):
    x[1] = 0
    w[7] = 0
    return x, w


@pytest.mark.parametrize(
    "case",
    [
        wide_pixels,
        wide_weights,
        one_pixel_beyond,
        one_weight_beyond,
        down_to_what_halves_hold,
        nearly_the_largest,
        nearly_the_smallest,
        nothing_in_an_image,
    ],
)
def test_any_numbers_keep_the_digits_of_fp32(case):
    width = WIDEST if case is wide_pixels else WIDTH
    assert error(*case(*inputs(width))) < 1e-6


@pytest.mark.parametrize("places", [26, 30, 34, 38])
def test_rows_far_below_the_others_keep_theirs(places):
    rng, x, w = inputs()
    x = np.copysign(rng.uniform(1, 2, x.shape).astype(np.float32), x)
    x[:, :, :4] *= np.float32(2.0**-places)  # in a band with rows that are not
    assert error(x, w) < 1e-6


def test_products_too_small_for_fp32_are_zeros():
    assert not convolution_by_halves(*products_beyond_the_smallest(*inputs())).any()


def test_what_is_not_finite_stays_where_it_is():
    _, x, w = inputs()
    x[0, 3, 5, 6] = np.nan
    x[1, 2, 0, 0] = np.inf
    x[2] = np.inf
    w[9] = abs(w[9])  # so that no inf meets another of the other sign
    found = convolution_by_halves(x, w)
    near = np.zeros((14, WIDTH), bool)
    near[4:7, 5:8] = True
    assert np.isnan(found[0][:, near]).all() and np.isfinite(found[0][:, ~near]).all()
    assert np.isposinf(found[1, 9, :2, :2]).all() and np.isfinite(found[1, 9, 2:]).all()
    assert np.isposinf(found[2, 9]).all()


def test_the_assembler_finds_room_for_all_sums_and_serialises_no_product():
    module = convolution.CHAPTER.kernel("conv_split_halves", "sm_90a").module
    log = module.compiled("sm_90a", "--ptxas-options=-v").log
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in log
    assert "serialized" not in log
