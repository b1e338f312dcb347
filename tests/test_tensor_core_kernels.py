"""Products on the tensor cores: right against float64, and clean under the sanitizer."""

import numpy as np
import pytest

from course_utils import cp, load, sanitize

STAGES = 3
TILE = 128, 256, 64  # BM, BN, BK of gemm_bf16_pipeline.cu


def to_bf16(values):
    """float32 numbers as the upper halves of their bits, rounded to even (uint16)."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(halves):
    return (halves.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def launch_of(M, N, K, seed):
    """The kernel, its launch, and what C should be in float64."""
    rng = np.random.default_rng(seed)
    a, b = (to_bf16(rng.standard_normal((rows, K))) for rows in (M, N))
    kernel = load("06_matmul_and_fft/gemm_bf16_pipeline.cu", defines={"STAGES": STAGES}).kernel
    c = cp.full((M, N), 0x7FFF, cp.uint16)  # NaN
    grid = (M // TILE[0]) * (N // TILE[1])
    shared = STAGES * (TILE[0] + TILE[1]) * TILE[2] * 2
    arguments = cp.asarray(a), cp.asarray(b), c, M, N, K
    return kernel, (grid, 256, arguments), shared, from_bf16(a) @ from_bf16(b).T


@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize("shape", ((128, 256, 64), (256, 512, 256)))
def test_a_bf16_product_agrees_with_float64(shape, seed):
    kernel, (grid, block, arguments), shared, expected = launch_of(*shape, seed)
    kernel(grid, block, arguments, shared_mem=shared)
    # bf16 keeps 8 bits: the result is rounded to one part in 512 of itself at most.
    np.testing.assert_allclose(from_bf16(arguments[2].get()), expected, rtol=2**-8, atol=1e-3)


def test_a_bf16_product_has_no_findings():
    kernel, (grid, block, arguments), shared, _ = launch_of(128, 256, 256, 0)
    report = sanitize(kernel, grid, block, arguments, shared_mem=shared)
    assert report.clean, str(report)
