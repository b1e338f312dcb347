"""What single threads did is counted: who loads, who stores, who computes beside a copy."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, Options

MODULE = EmulatedModule(
    compile_ptx(
        """
extern "C" __global__ void one_for_all(const float* x, float* y, int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) for (int i = 0; i < n; ++i) y[i] = x[i];
}
extern "C" __global__ void each_its_own(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
extern "C" __global__ void count(const float* x, float* y, int n)
{
    __shared__ float s[1];
    if (threadIdx.x == 0) s[0] = 0.0f;
    __syncthreads();
    atomicAdd(&s[0], x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(y, s[0]);
}
template <bool kWaitFirst> __device__ void copy_and_compute(const float* x, float* y)
{
    __shared__ float s[2][32];
    const int t = threadIdx.x;
    float sum = x[t];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
        (unsigned)__cvta_generic_to_shared(&s[0][t])), "l"(x + t));
    asm volatile("cp.async.commit_group;");
    if (kWaitFirst) asm volatile("cp.async.wait_group 0;" ::: "memory");
    for (int k = 0; k < 8; ++k) sum = sum * 1.5f + 1.0f;
    if (!kWaitFirst) asm volatile("cp.async.wait_group 0;" ::: "memory");
    y[t] = sum + s[0][t];
}
// TMA brings sixteen numbers, and the arithmetic comes before the wait, or after it.
template <bool kWaitFirst> __device__ void bring_and_compute(const float* x, float* y)
{
    __shared__ __align__(16) float s[16];
    __shared__ unsigned long long arrived;
    const unsigned barrier = (unsigned)__cvta_generic_to_shared(&arrived);
    const int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;" ::"r"(barrier));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], 64, [%2];" ::"r"((unsigned)__cvta_generic_to_shared(s)),
                     "l"(x), "r"(barrier) : "memory");
    }
    __syncthreads();
    auto wait = [&] {
        unsigned done = 0;
        while (!done) {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
                         "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier) : "memory");
        }
    };
    if (kWaitFirst) wait();
    float sum = t;
    for (int k = 0; k < 8; ++k) sum = sum * 1.5f + 1.0f;
    if (!kWaitFirst) wait();
    y[blockIdx.x * 32 + t] = sum + s[t % 16];
}
extern "C" __global__ void brought_first(const float* x, float* y, int n)
{
    bring_and_compute<true>(x, y);
}
extern "C" __global__ void brought_beside(const float* x, float* y, int n)
{
    bring_and_compute<false>(x, y);
}
extern "C" __global__ void waits_first(const float* x, float* y, int n)
{
    copy_and_compute<true>(x, y);
}
extern "C" __global__ void overlaps(const float* x, float* y, int n)
{
    copy_and_compute<false>(x, y);
}
""",
        filename="thread_stats.cu",
        arch="compute_90",
    )
)


def work(name, grid=3, block=40, n=100):
    x, y = np.ones(200, np.float32), np.zeros(200, np.float32)
    options = Options(threads=True)
    return MODULE.entry(name).launch(grid, block, (x, y, np.int32(n)), options=options).threads


def test_every_thread_of_the_launch_has_its_counts_and_lanes_beyond_a_block_have_none():
    found = work("each_its_own")
    assert len(found.instructions) == 3 * 40 and found.instructions.min() > 0
    assert found.stored.tolist() == [4] * 100 + [0] * 20
    assert found.loaded.tolist() == found.stored.tolist()
    assert found.touched.sum() == 2 * found.stored.sum()


def test_one_thread_that_does_it_all_stands_out():
    found = work("one_for_all")
    assert found.stored[0] == found.stored.sum() == 400
    assert found.instructions.max() > 20 * found.instructions.mean()


def test_atomics_are_counted_by_memory_and_are_no_loads():
    found = work("count", grid=2, block=64)
    assert found.shared_atomics.tolist() == [1] * 128
    assert found.touched[1] == 8 and found.touched[0] > found.touched[1]
    assert np.flatnonzero(found.atomics).tolist() == [0, 64] and not found.stored.any()


@pytest.mark.parametrize("name, share", [("waits_first", 0), ("overlaps", 0.9)])
def test_arithmetic_beside_a_copy_in_flight_is_told_from_arithmetic_after_it(name, share):
    found = work(name, grid=1, block=32)
    assert found.flops >= 32 * 16
    assert (found.overlapped / found.flops > share) == bool(share)


@pytest.mark.parametrize("name, share", [("brought_first", 0), ("brought_beside", 0.8)])
def test_arithmetic_of_a_block_that_tma_feeds_is_told_from_arithmetic_after_the_bytes(name, share):
    found = work(name, grid=2, block=32)
    assert found.flops >= 2 * 32 * 16 and not found.overlapped
    assert (found.fed / found.flops > share) == bool(share)


def test_copies_are_counted_for_the_threads_that_start_them():
    assert work("overlaps", grid=2, block=32).started.tolist() == [1] * 64
    assert not work("each_its_own").started.any()
