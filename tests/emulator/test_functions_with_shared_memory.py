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


APART = """
__noinline__ __device__ float small(float x, int at, volatile int *turn)
{
    float room[4] = {x, x, x, x};
    room[at & 3] = 2 * x;
    turn[0] = 1;
    while (turn[1] == 0) {}
    return room[at & 3] + room[at + 1 & 3];
}

__noinline__ __device__ float large(float x, int at, volatile int *turn)
{
    float room[32];
    for (int i = 0; i < 32; ++i) {
        room[i] = x;
    }
    room[at & 31] = 3 * x;
    while (turn[0] == 0) {}
    turn[1] = 1;
    return room[at & 31] + room[at + 1 & 31];
}

extern "C" __global__ void either(const float *x, float *y, int *turn, int at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = blockIdx.x ? large(x[i], at, turn) : small(x[i], at, turn);
}
"""


def test_threads_in_two_functions_at_once_keep_their_local_arrays():
    x, y = cp.arange(64, dtype=cp.float32), cp.zeros(64, dtype=cp.float32)
    turn = cp.zeros(2, dtype=cp.int32)
    load(source=APART, options=["-G"])(2, 32, (x, y, turn, 3))
    assert (y.get() == x.get() * np.repeat([3, 4], 32)).all()
