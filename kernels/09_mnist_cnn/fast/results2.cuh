// conv2's results of an image on their way out of a block.

#pragma once

#include "batch.cuh"
#include "reduce.cuh"

// Copy the results of filters first...first + kResults - 1, [filter][pixel] in shared memory, to c2,
// and store each filter's mean over the image and its squared distances from that.
template <int kThreads, int kResults>
__device__ inline void store_results2(const float *results, float *c2, float *means,
                                      float *squares, int N, int image, int first)
{
    float4 *to = reinterpret_cast<float4 *>(c2 + (image * kFilters2 + first) * kPixels1);
    const float4 *from = reinterpret_cast<const float4 *>(results);
    for (int i = threadIdx.x; i < kResults * kPixels1 / 4; i += kThreads) {
        to[i] = from[i];
    }
    constexpr int kWarps = kThreads / kWarpSize; // whole ones
    constexpr int kOwn = (kPixels1 + kWarpSize - 1) / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    for (int f = warp; f < kResults && warp < kWarps; f += kWarps) {
        float values[kOwn];
        float total = 0.0f;
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            int p = i * kWarpSize + lane;
            values[i] = p < kPixels1 ? results[f * kPixels1 + p] : 0.0f;
            total += values[i];
        }
        float mean = warp_sum(total) / kPixels1;
        float distances = 0.0f;
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            float distance = i * kWarpSize + lane < kPixels1 ? values[i] - mean : 0.0f;
            distances += distance * distance;
        }
        distances = warp_sum(distances);
        if (lane == 0) {
            means[(first + f) * N + image] = mean;
            squares[(first + f) * N + image] = distances;
        }
    }
}
