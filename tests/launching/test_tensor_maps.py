"""What TMA brings by way of a tensor map: rounding, what lies outside, maps of copies."""

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.launching.tensor_maps import TensorMapError, tensor_map

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


def test_a_tensor_map_keeps_the_array_that_it_describes():
    numbers = np.arange(1024, dtype=np.uint32).reshape(32, 32)
    one, to = tensor_map(cp.asarray(numbers), (32, 32)), cp.zeros(1024, cp.uint32)
    load(source=COPY, arch="sm_90a", defines={"SIZE": to.size})(1, 128, (one, to, 0))
    assert np.array_equal(to.get(), numbers.ravel())
