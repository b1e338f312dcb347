// Sums of n fp32 elements, one for each block of the grid; x begins at a multiple of 16 bytes. A
// launch of one block on those sums leaves the sum of all.
// Adds to sum_warp_shuffle.cu: a grid-stride loop: as many blocks as the GPU holds at a time.
// Each thread has four loads of 16 bytes in flight before it adds. The tree is paid once.
// Limit: memory bandwidth. Four bytes are read for each addition.
// grid (any; two for each SM), block (1024), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 1024;
constexpr int kLoads = 4; // in flight at a time

// Two blocks fit an SM only if a thread makes do with 32 of its 65,536 registers: the 2 sees to it.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sum_vector(const float *x, float *sums, size_t n)
{
    const float4 *groups = reinterpret_cast<const float4 *>(x);
    size_t count = n / 4;
    size_t stride = (size_t)gridDim.x * kThreads * kLoads;
    size_t i = (size_t)blockIdx.x * kThreads * kLoads + threadIdx.x;

    float sum = 0.0f;
    for (; i + (kLoads - 1) * kThreads < count; i += stride) {
        float4 group[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k) {
            group[k] = groups[i + k * kThreads];
        }
#pragma unroll
        for (int k = 0; k < kLoads; ++k) {
            sum += (group[k].x + group[k].y) + (group[k].z + group[k].w);
        }
    }
    for (; i < count; i += kThreads) { // fewer than kLoads are left
        sum += (groups[i].x + groups[i].y) + (groups[i].z + groups[i].w);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) { // the last elements fill no group of four
        sum += x[4 * count + threadIdx.x];
    }

    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}
