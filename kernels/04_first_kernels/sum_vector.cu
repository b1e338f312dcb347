// The sum of n fp32 elements: *total += x[0] + ... + x[n - 1]. It is zero before the launch, and x
// begins at a multiple of 16 bytes.
// Adds to sum_warp_shuffle.cu: few blocks walk over all elements, a grid apart, and each thread has
// four loads of 16 bytes on their way before it adds. The tree at the end is paid once.
// Limit: memory: it only reads.
// grid (any; a few for each SM), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kLoads = 4; // on their way at a time

extern "C" __global__ void sum_vector(const float *x, float *total, size_t n)
{
    const float4 *groups = reinterpret_cast<const float4 *>(x);
    size_t count = n / 4;
    size_t stride = (size_t)gridDim.x * kThreads;
    size_t first = (size_t)blockIdx.x * kThreads + threadIdx.x;

    float sum = 0.0f;
    size_t i = first;
    for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
        float4 group[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k) {
            group[k] = groups[i + k * stride];
        }
#pragma unroll
        for (int k = 0; k < kLoads; ++k) {
            sum += (group[k].x + group[k].y) + (group[k].z + group[k].w);
        }
    }
    for (; i < count; i += stride) { // fewer than four are left
        sum += (groups[i].x + groups[i].y) + (groups[i].z + groups[i].w);
    }
    if (4 * count + first < n) { // the last elements fill no group of four
        sum += x[4 * count + first];
    }

    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
    }
}
