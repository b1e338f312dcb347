"""The products on tensor cores and on dp4a: what they count, and their hardest numbers."""

import numpy as np
import pytest
from launchers import run
from launches_06 import CHAPTER, product_of_any_shape, specialized

from course_utils import cp, profile

kernel = CHAPTER.kernel


def counts_of(rung):
    """What one block of the rung does for 128 x 128 results and K = 128."""
    (call,) = product_of_any_shape(rung, 128, 128, 128).launches
    return profile(call.kernel, call.grid, call.block, call.args).counts


def test_sums_of_the_largest_8_bit_products_are_exact():
    K = 1027
    a, c = cp.full((1, K), -128, np.int8), cp.zeros((1, 1), np.int32)
    kernel("igemm_dp4a")((1, 1), 256, (a, a, c, 1, 1, K))
    assert int(c[0, 0]) == K * 128 * 128


def test_tf32_rounds_its_factors_before_it_multiplies():
    a = cp.full((1, 1), 1 + 2**-11, np.float32)  # half way between two TF32 numbers: up
    c = cp.zeros((1, 1), np.float32)
    kernel("gemm_tf32")((1, 1), 256, (a, a, c, 1, 1, 1))
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


# Whole tiles only, tiles that two blocks share, a tile for more blocks than have a step of it,
# whole tiles for nearly all blocks, and fewer steps to share than blocks that had a whole tile.
SHARED_OUT = (
    (256, 256, 3, 2),
    (256, 512, 2, 3),
    (128, 256, 4, 3),
    (128, 256, 2, 2),
    (512, 512, 1, 9),
    (640, 256, 2, 4),
)


@pytest.mark.parametrize(
    "kind, shape",
    [*(("int8", shape) for shape in SHARED_OUT), *((k, SHARED_OUT[2]) for k in ("bf16", "tf32"))],
)
def test_a_specialised_product_shares_out_its_steps_twice(kind, shape):
    """The tile scheduler is the same for all kinds; sums of int8 are exact."""
    work = specialized(kind, *shape)
    for _ in range(2):  # the second launch finds the counts as the first one did
        run(work, sanitized=False)


def test_sums_in_fp16_stop_growing():
    """Sums of positive terms, 16 at a time: past some size a step is less than half a unit."""
    M, N, K = 16, 8, 1 << 16
    rng = np.random.default_rng(0)
    A, B = (rng.random((rows, K), dtype=np.float32) + np.float32(0.25) for rows in (M, N))
    sums = cp.full((int(np.log2(K // 16)) + 1, M, N), cp.nan, dtype=cp.float32)
    arguments = cp.asarray(A), cp.asarray(B), sums, M, N, K
    kernel("accuracy_mma", FORMAT="FP16_SUMS")((1, 1), 32, arguments)
    sums, exact = sums.get(), A.astype(np.float64) @ B.T.astype(np.float64)
    assert (sums[-1] < 0.95 * exact).all()
    assert np.abs(sums[8] / (A[:, :4096] @ B[:, :4096].T) - 1).max() < 0.02  # not so far back


def test_fp16_cannot_hold_a_large_sum():
    M, N, K = 16, 8, 4096
    A, B = cp.full((M, K), 8, cp.float32), cp.full((N, K), 4, cp.float32)
    for form, last in (("FP16", 32.0 * K), ("FP16_SUMS", np.inf)):
        sums = cp.zeros((9, M, N), cp.float32)
        kernel("accuracy_mma", FORMAT=form)((1, 1), 32, (A, B, sums, M, N, K))
        assert (sums[-1].get() == last).all()
