"""The teaching rungs on tensor cores, and on dp4a: right at any shape, clean, conflicts counted."""

import numpy as np
import pytest

from course_utils import cp, load, profile, sanitize
from course_utils.paths import kernel_file

FP16 = ("hgemm_wmma", "hgemm_mma", "hgemm_ldmatrix", "hgemm_swizzle")
RUNGS = (*FP16, "gemm_tf32", "igemm_dp4a")
SHAPES = ((1, 1, 1), (129, 65, 77), (127, 130, 40), (5, 257, 64), (128, 128, 128))
TILE = 128  # of C, both ways: what a block computes
ONE_BLOCK = (128, 128, 128)


def as_tf32(values):
    """float32 numbers with 10 bits of fraction, rounded to the nearest, ties away from zero."""
    return ((values.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)


def factors_of(rung, M, N, K, seed):
    """A (M x K) and B (N x K) as the rung takes them."""
    rng = np.random.default_rng(seed)
    if rung == "igemm_dp4a":
        return tuple(rng.integers(-128, 128, (rows, K), np.int8) for rows in (M, N))
    dtype = np.float32 if rung == "gemm_tf32" else np.float16
    return tuple(rng.standard_normal((rows, K)).astype(dtype) for rows in (M, N))


def launch_of(rung, M, N, K, seed=0):
    """The kernel, its launch with a C that nobody has written yet, and what C should be."""
    a, b = factors_of(rung, M, N, K, seed)
    c = cp.empty((M, N), np.int32 if rung == "igemm_dp4a" else np.float32)
    c.view(np.uint8)[...] = 255  # NaN, or -1
    grid = -(-N // TILE), -(-M // TILE)
    if rung == "gemm_tf32":
        expected = as_tf32(a).astype(np.float64) @ as_tf32(b).astype(np.float64).T
    else:
        expected = a.astype(np.float64) @ b.astype(np.float64).T
    kernel = load(kernel_file(f"{rung}", "06_matmul_and_fft")).kernel
    return kernel, (grid, 256, (cp.asarray(a), cp.asarray(b), c, M, N, K)), expected


def counts_of(rung):
    """What one block of the rung does for 128 x 128 results and K = 128."""
    kernel, launch, _ = launch_of(rung, *ONE_BLOCK)
    return profile(kernel, *launch).counts


@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("rung", RUNGS)
def test_a_product_of_any_shape_agrees_with_float64(rung, shape, seed):
    kernel, launch, expected = launch_of(rung, *shape, seed)
    kernel(*launch)
    # Products of such factors are exact. An fp32 sum that has come to 32 errs by 2**-18 at most for
    # each of the additions that follow, one a factor of 8 or 16 places.
    tolerance = 0.0 if rung == "igemm_dp4a" else 16 * 2**-18
    np.testing.assert_allclose(launch[2][2].get(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("shape", ((129, 65, 77), (128, 128, 128)), ids=str)
@pytest.mark.parametrize("rung", RUNGS)
def test_a_rung_has_no_findings(rung, shape):
    kernel, launch, _ = launch_of(rung, *shape)
    report = sanitize(kernel, *launch)
    assert report.clean, str(report)


def test_sums_of_the_largest_8_bit_products_are_exact():
    K = 4099
    a, c = cp.full((1, K), -128, np.int8), cp.zeros((1, 1), np.int32)
    load("06_matmul_and_fft/tensor_cores/igemm_dp4a.cu")((1, 1), 256, (a, a, c, 1, 1, K))
    assert int(c[0, 0]) == K * 128 * 128


def test_tf32_rounds_its_factors_before_it_multiplies():
    a = cp.full((1, 1), 1 + 2**-11, np.float32)  # half way between two TF32 numbers: up
    c = cp.zeros((1, 1), np.float32)
    load("06_matmul_and_fft/tensor_cores/gemm_tf32.cu")((1, 1), 256, (a, a, c, 1, 1, 1))
    assert float(c[0, 0]) == (1 + 2**-10) ** 2


@pytest.mark.parametrize("rung", ("hgemm_mma", "hgemm_ldmatrix"))
def test_rows_of_128_bytes_make_eight_rows_of_a_fragment_wait_for_each_other(rung):
    counts = counts_of(rung)
    without = counts.shared_load_wavefronts - counts.shared_load_conflicts
    assert counts.shared_load_wavefronts == 8 * without


def test_wmma_meets_the_same_bank_conflicts_as_the_instructions_it_is_made_of():
    wmma, ldmatrix = counts_of("hgemm_wmma"), counts_of("hgemm_ldmatrix")
    assert wmma.shared_load_conflicts == ldmatrix.shared_load_conflicts > 0


@pytest.mark.parametrize("rung", ("hgemm_swizzle", "gemm_tf32", "igemm_dp4a"))
def test_a_rung_with_its_tiles_laid_out_well_has_no_bank_conflicts(rung):
    counts = counts_of(rung)
    assert counts.shared_load_conflicts == counts.shared_store_conflicts == 0


def test_ldmatrix_loads_with_a_quarter_of_the_instructions():
    gathered, by_ldmatrix = counts_of("hgemm_mma"), counts_of("hgemm_ldmatrix")
    assert gathered.shared_load_requests == 4 * by_ldmatrix.shared_load_requests


def test_the_swizzle_loads_the_same_with_an_eighth_of_the_wavefronts():
    plain, swizzled = counts_of("hgemm_ldmatrix"), counts_of("hgemm_swizzle")
    assert plain.shared_load_requests == swizzled.shared_load_requests
    assert plain.shared_load_wavefronts == 8 * swizzled.shared_load_wavefronts


@pytest.mark.parametrize("rung, places", [("hgemm_swizzle", 16), ("gemm_tf32", 8)])
def test_a_warp_multiplies_its_tile_with_as_few_mma_as_there_can_be(rung, places):
    counts = counts_of(rung)
    (threads,) = (n for name, n in counts.opcodes.items() if name.startswith("mma."))
    assert threads // 32 == (128 // 16) * (128 // 8) * (128 // places)
