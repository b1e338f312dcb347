// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// columns is a multiple of 4, at most 4096; the arrays begin at multiples of 16 bytes.
// Adds to softmax_rows.cu of chapter 03: a thread keeps its part of the row in registers, so that
// each number is read once, four at a time; lanes combine by shuffles, warps through shared memory.
// Limit: memory bandwidth. One read and one write for each element.
// grid (rows), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kEach = 4; // groups of four that a thread keeps
constexpr int kWarps = kThreads / kWarpSize;

// The values of all threads of the block, combined, in each thread. Each Combine has a shared array
// of its own, so two calls with different ones need no barrier in between.
template <typename Combine>
__device__ inline float block_combine(float value, float neutral, Combine combine)
{
    __shared__ float of_warp[kWarps];
    int lane = threadIdx.x % kWarpSize;
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
    }
    if (lane == 0) {
        of_warp[threadIdx.x / kWarpSize] = value;
    }
    __syncthreads(); // every warp's value is there
    value = lane < kWarps ? of_warp[lane] : neutral;
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
    }
    return value;
}

extern "C" __global__ void softmax_row(const float4 *x, float4 *y, int columns)
{
    int groups = columns / 4;
    long long start = (long long)blockIdx.x * groups;
    const float lowest = __int_as_float(0xff800000); // minus infinity
    float4 part[kEach];
    float largest = lowest;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        int group = k * kThreads + threadIdx.x;
        part[k] = make_float4(lowest, lowest, lowest, lowest);
        if (group < groups) {
            part[k] = x[start + group];
        }
        largest = fmaxf(fmaxf(fmaxf(fmaxf(largest, part[k].x), part[k].y), part[k].z), part[k].w);
    }
    largest = block_combine(largest, lowest, [](float a, float b) { return fmaxf(a, b); });

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        part[k].x = expf(part[k].x - largest);
        part[k].y = expf(part[k].y - largest);
        part[k].z = expf(part[k].z - largest);
        part[k].w = expf(part[k].w - largest);
        sum += part[k].x + part[k].y + part[k].z + part[k].w;
    }
    float scale = 1.0f / block_combine(sum, 0.0f, [](float a, float b) { return a + b; });

#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        int group = k * kThreads + threadIdx.x;
        if (group < groups) {
            y[start + group] = make_float4(part[k].x * scale, part[k].y * scale, part[k].z * scale,
                                           part[k].w * scale);
        }
    }
}
