"""Who holds which element of mma's operands, and what each number format costs a sum."""

import numpy as np
import pytest

from course_utils import cp, load, sanitize

LANE = np.arange(32)[:, None]
GROUP, MEMBER = LANE // 4, LANE % 4
FORMATS = ("FP32", "TF32", "BF16", "FP16", "FP16_SUMS")
SHAPES = ((16, 8, 16), (48, 24, 256), (32, 40, 2048))
STORED_BITS = {"FP32": 23, "TF32": 10, "BF16": 7, "FP16": 10, "FP16_SUMS": 10}  # of the fraction


def held():
    """What fragment_holders.cu writes: the numbers of the elements that each lane holds."""
    arrays = [cp.full((32, count), -1, cp.int32) for count in (8, 4, 4)]
    kernel = load("06_matmul_and_fft/tensor_cores/fragment_holders.cu")
    kernel((1,), (32,), tuple(arrays))
    return kernel, arrays


def test_fragments_lie_as_the_ptx_manual_says():
    """PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type"."""
    a, b, c = (array.get() for array in held()[1])
    i, j = np.arange(8), np.arange(4)
    row, k = GROUP + 8 * (i // 2 % 2), 2 * MEMBER + i % 2 + 8 * (i // 4)
    np.testing.assert_array_equal(a, row * 16 + k)
    k, column = 2 * MEMBER + j % 2 + 8 * (j // 2), GROUP
    np.testing.assert_array_equal(b, k * 8 + column)
    row, column = GROUP + 8 * (j // 2), 2 * MEMBER + j % 2
    np.testing.assert_array_equal(c, row * 8 + column)


def test_asking_who_holds_what_has_no_findings():
    kernel, arrays = held()
    report = sanitize(kernel, 1, 32, tuple(arrays))
    assert report.clean, str(report)


def rounded(values, form):
    """float32 values with only as many bits as ``form`` stores: to nearest, ties to even (TF32:
    away from zero). Their exponents are in the range of every format."""
    if form == "FP32":
        return values
    drop = np.uint32(23 - STORED_BITS[form])
    bits = values.view(np.uint32)
    half = np.uint32(1) << (drop - np.uint32(1))
    up = half if form == "TF32" else half - np.uint32(1) + (bits >> drop & np.uint32(1))
    return ((bits + up) >> drop << drop).view(np.float32)


def ran(form, shape, positive=False, seed=0):
    """(sums, A, B) of accuracy_mma.cu: (S, M, N), (M, K) and (N, K)."""
    M, N, K = shape
    rng = np.random.default_rng(seed)
    draw = rng.random if positive else rng.standard_normal
    # 0.25 is added so that no number is too small for fp16.
    A, B = (draw((rows, K), dtype=np.float32) + np.float32(0.25) for rows in (M, N))
    sums = cp.full((int(np.log2(K // 16)) + 1, M, N), cp.nan, dtype=cp.float32)
    kernel = load("06_matmul_and_fft/tensor_cores/accuracy_mma.cu", defines={"FORMAT": form})
    kernel((N // 8, M // 16), (32,), (cp.asarray(A), cp.asarray(B), sums, M, N, K))
    return sums.get(), A, B


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", FORMATS)
def test_sums_are_those_of_the_rounded_factors(form, shape):
    sums, A, B = ran(form, shape)
    A, B = (np.float64(rounded(values, form)) for values in (A, B))
    for step, result in enumerate(sums):
        terms = 16 << step
        exact = A[:, :terms] @ B[:, :terms].T
        # Each addition errs by one part of the largest partial sum at most: those of a tensor core
        # cut what does not fit, and there is one for each step.
        largest = np.abs(np.cumsum(A[:, None, :terms] * B[None, :, :terms], axis=2)).max()
        unit = 2.0**-10 if form == "FP16_SUMS" else 2.0**-22
        np.testing.assert_allclose(result, exact, rtol=0, atol=unit * largest * max(1, terms / 16))


@pytest.mark.parametrize("form", FORMATS)
def test_sums_in_every_format_have_no_findings(form):
    kernel = load("06_matmul_and_fft/tensor_cores/accuracy_mma.cu", defines={"FORMAT": form})
    A, B = cp.ones((32, 64), cp.float32), cp.ones((16, 64), cp.float32)
    sums = cp.empty((3, 32, 16), cp.float32)
    report = sanitize(kernel, (2, 2), 32, (A, B, sums, 32, 16, 64))
    assert report.clean, str(report)


def test_sums_in_fp16_stop_growing():
    """Sums of positive terms, 16 at a time: past some size a step is less than half a unit."""
    sums, A, B = ran("FP16_SUMS", (16, 8, 1 << 16), positive=True)
    exact = A.astype(np.float64) @ B.T.astype(np.float64)
    assert (sums[-1] < 0.95 * exact).all()
    assert np.abs(sums[8] / (A[:, :4096] @ B[:, :4096].T) - 1).max() < 0.02  # not so far back


def test_fp16_cannot_hold_a_large_sum():
    M, N, K = 16, 8, 4096
    A, B = cp.full((M, K), 8, cp.float32), cp.full((N, K), 4, cp.float32)
    for form, last in (("FP16", 32.0 * K), ("FP16_SUMS", np.inf)):
        sums = cp.zeros((9, M, N), cp.float32)
        kernel = load("06_matmul_and_fft/tensor_cores/accuracy_mma.cu", defines={"FORMAT": form})
        kernel((1, 1), (32,), (A, B, sums, M, N, K))
        assert (sums[-1].get() == last).all()
