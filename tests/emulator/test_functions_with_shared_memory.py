"""Functions that are called, not inlined: their shared memory lies where the kernel has it."""

import numpy as np

from course_utils import cp, load

TOTAL = """
__noinline__ __device__ float total(float x)
{
    __shared__ float each[32];
    each[threadIdx.x] = x;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += each[i];
    return sum;
}

extern "C" __global__ void add_up(const float *x, float *y)
{
    __shared__ float turned[32];
    turned[31 - threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = total(turned[threadIdx.x]) + turned[threadIdx.x];
}
"""
PUT = """
extern __shared__ float dynamic[];
__shared__ float fixed[32];

__noinline__ __device__ void put(float x)
{
    dynamic[threadIdx.x] = x;
    fixed[threadIdx.x] = 100 * x;
}

extern "C" __global__ void alone(const float *x, float *y)
{
    put(x[threadIdx.x]);
    __syncthreads();
    y[threadIdx.x] = dynamic[31 - threadIdx.x] + fixed[threadIdx.x];
}

extern "C" __global__ void beside_another(const float *x, float *y)
{
    __shared__ float other[500];
    other[threadIdx.x] = 0.5f;
    put(x[threadIdx.x]);
    __syncthreads();
    y[threadIdx.x] = dynamic[31 - threadIdx.x] + fixed[threadIdx.x] + other[31 - threadIdx.x];
}
"""
X = np.arange(32, dtype=np.float32)


def result(kernel, shared: int = 0) -> np.ndarray:
    y = cp.zeros(32, cp.float32)
    kernel(1, 32, (cp.asarray(X), y), shared_mem=shared)
    return y.get()


def test_a_function_has_a_shared_array_of_its_own():
    assert np.array_equal(result(load(source=TOTAL).kernel), X.sum() + X[::-1])


def test_a_function_reaches_shared_arrays_of_the_file_in_each_kernel():
    module = load(source=PUT)
    want = X[::-1] + 100 * X
    assert np.array_equal(result(module.alone, 128), want)
    assert np.array_equal(result(module.beside_another, 128), want + 0.5)
    assert np.array_equal(result(module.alone, 128), want)
