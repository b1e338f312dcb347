// The sum of n fp32 elements: *total = x[0] + ... + x[n - 1]; x begins at a multiple of 16 bytes.
// `partial` has room for a sum of each block; *done is 0 before and after.
// Adds to sum_vector.cu: the second launch. Each block stores its sum, and the last one to finish,
// found by counting, adds the stored sums. The order is fixed: with the same grid the result is the
// same to the last bit.
// Limit: memory bandwidth. Four bytes are read for each addition.
// grid (any; two for each SM), block (1024), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 1024;
constexpr int kLoads = 4; // in flight at a time

// Two blocks fit an SM only if a thread makes do with 32 of its 65,536 registers: the 2 sees to it.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sum_single_pass(const float *x, float *total, float *partial, unsigned *done, size_t n)
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

    __shared__ bool last;
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence(); // release: a block that sees the count below also sees the sum
        // Counts 0 ... gridDim.x - 1 and then is 0 again, for the next launch.
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence(); // acquire, in the thread that read the count: no sum is read before it
    }
    __syncthreads(); // the whole block knows whether it is the last, and what thread 0 acquired
    if (last) {
        sum = 0.0f;
        for (int block = threadIdx.x; block < gridDim.x; block += kThreads) {
            sum += partial[block];
        }
        sum = block_sum<kThreads>(sum);
        if (threadIdx.x == 0) {
            *total = sum;
        }
    }
}
