"""Products on the tensor cores: right against float64, and clean under the sanitizer."""

import ml_dtypes
import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.benchmarks.cases.matmul import specialized_arguments
from course_utils.launching.tensor_maps import TensorMapError, tensor_map
from course_utils.paths import kernel_file

STAGES = 3
TILE = 128, 256, 64  # BM, BN, BK of gemm_bf16_pipeline.cu


def to_bf16(values):
    """Numbers as the bits of bf16 (uint16), which arrays have on every device."""
    return values.astype(ml_dtypes.bfloat16).view(np.uint16)


def from_bf16(bits):
    return bits.view(ml_dtypes.bfloat16).astype(np.float64)


def launch_of(M, N, K, seed):
    """The kernel, its launch, and what C should be in float64."""
    rng = np.random.default_rng(seed)
    a, b = (to_bf16(rng.standard_normal((rows, K))) for rows in (M, N))
    kernel = load(
        "06_matmul_and_fft/tensor_cores/05_gemm_bf16_pipeline.cu", defines={"STAGES": STAGES}
    ).kernel
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


FORMATS = {
    "bf16": (np.uint16, np.uint16),
    "tf32": (np.float32, np.float32),
    "int8": (np.int8, np.int32),
}


def specialized(kind, M, N, K, blocks, seed):
    """A specialised kernel, its launch, its result as float64, what that should be, and the arrays
    that its tensor maps describe, which have to live as long."""
    given, result = FORMATS[kind]
    rng = np.random.default_rng(seed)
    factors = [rng.standard_normal((rows, K)) for rows in (M, N)]
    if kind == "int8":
        a, b = (np.clip(np.rint(40 * x), -127, 127).astype(given) for x in factors)
    else:
        a, b = (to_bf16(x) if kind == "bf16" else x.astype(given) for x in factors)
    number = from_bf16 if kind == "bf16" else np.float64
    there = cp.asarray(a), cp.asarray(b)
    c = cp.empty((M, N), result)
    c.view(cp.uint8)[...] = 255
    kernel = load(
        kernel_file(f"gemm_{kind}_specialized", "06_matmul_and_fft"), arch="sm_90a"
    ).kernel
    launch = blocks, 384, specialized_arguments(*there, c, blocks)
    return kernel, launch, lambda: number(c.get()), number(a) @ number(b).T, there


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


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("shape", SHARED_OUT)
@pytest.mark.parametrize("seed", (0, 1))
def test_a_specialised_product_agrees_with_float64_twice(kind, shape, seed):
    M, N, steps, blocks = shape
    K = steps * 128 // np.dtype(FORMATS[kind][0]).itemsize
    kernel, launch, result, expected, kept = specialized(kind, M, N, K, blocks, seed)
    rtol, atol = {"bf16": (2**-8, 1e-3), "tf32": (2**-9, 2**-8 * K**0.5), "int8": (0, 0)}[kind]
    for _ in range(2):  # the second launch finds the counts as the first one did
        kernel(*launch, shared_mem=3 * (TILE[0] + TILE[1]) * 128)
        np.testing.assert_allclose(result(), expected, rtol=rtol, atol=atol)
        launch[2][2].view(cp.uint8)[...] = 255


COPY = """#include "ptx.cuh"
#include "tma.cuh"
extern "C" __global__ void copy(const __grid_constant__ TensorMap from, unsigned *to, int row)
{
    __shared__ __align__(128) unsigned tile[SIZE];
    __shared__ unsigned long long full;
    unsigned barrier = shared_address(&full);
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, SIZE * 4);
        tma_load(shared_address(tile), &from, 0, row, barrier);
    }
    __syncthreads();
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < SIZE; i += blockDim.x) {
        to[i] = tile[i];
    }
}"""


def copied(array, row=0, **options):
    """The bits of 4 KiB that TMA brings, from ``row`` of the array on."""
    box = 32, 128 // array.dtype.itemsize
    there, to = cp.asarray(array), cp.zeros(1024, cp.uint32)
    kernel = load(source=COPY, arch="sm_90a", defines={"SIZE": to.size})
    kernel(1, 128, (tensor_map(there, box, **options), to, row))
    return to.get()


def test_a_copy_can_round_to_tf32():
    lower = np.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x2FFF, 0x3000, 0x3001, 0x7FFFFF])
    exponents = np.array([0, 1, 100, 127, 128, 254, 255])
    special = np.add.outer(exponents << 23, lower).ravel()
    bits = np.random.default_rng(0).integers(0, 1 << 32, 1024)
    bits[: special.size], bits[512 : 512 + special.size] = special, special | 1 << 31
    even = bits + 0xFFF + (bits >> 13 & 1) & ~0x1FFF  # the last bit that stays decides ties
    expected = np.where((bits & 0x7FFFFFFF) > 0x7F800000, 0x7FFFE000, even).astype(np.uint32)
    given = bits.astype(np.uint32).view(np.float32).reshape(32, 32)
    assert np.array_equal(copied(given, tf32=True), expected)
    assert np.array_equal(copied(given), given.view(np.uint32).ravel())


@pytest.mark.parametrize("dtype", (np.float16, np.float32, np.float64))
def test_what_lies_outside_is_a_certain_nan(dtype):
    array = np.ones((32, 128 // np.dtype(dtype).itemsize), dtype)
    outside = copied(array, 16, fill="nan")[512:]
    assert (outside == 0x7FF77FF7).all()
    if dtype is np.float32:  # no rounding touches it
        assert (copied(array, 16, fill="nan", tf32=True)[512:] == 0x7FF77FF7).all()


def test_only_floats_are_rounded_to_tf32():
    with pytest.raises(TensorMapError, match="tf32=True rounds float32 elements, not int32"):
        tensor_map(cp.zeros((32, 32), cp.int32), (32, 32), tf32=True)


def test_a_tensor_map_of_a_copy_describes_the_copy():
    array = cp.arange(64 * 64, dtype=cp.float32).reshape(64, 64)
    one = tensor_map(array, (8, 16), swizzle=64)
    one.settings = {"box": (8, 16), "swizzle": 64}  # as on a GPU
    copy = array.copy()
    other = one.of(copy)
    assert other.array is copy
    assert other.tobytes() == tensor_map(copy, (8, 16), swizzle=64).tobytes()
    assert other.tobytes() != one.tobytes()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_specialised_product_has_no_findings(kind):
    K = 3 * 128 // np.dtype(FORMATS[kind][0]).itemsize
    kernel, launch, *kept = specialized(kind, 256, 256, K, 3, 0)
    report = sanitize(kernel, *launch, shared_mem=3 * (TILE[0] + TILE[1]) * 128)
    assert report.clean, str(report)
