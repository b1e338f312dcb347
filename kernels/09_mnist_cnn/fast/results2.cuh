// conv2's results of an image on their way out of a block.

#pragma once

#include "batch.cuh"
#include "reduce.cuh"

// Copy the results of one of kParts parts of an image, [filter][pixel] in shared memory, to c2, and
// store each filter's mean over the part and its squared distances from that, as one of N kParts.
template <int kThreads, int kParts>
__device__ inline void store_results2(const float *results, float *c2, float *means, float *squares,
                                      int N, int image, int part)
{
    constexpr int kOfPart = kPixels1 / kParts;
    const float2 *from = reinterpret_cast<const float2 *>(results);
    for (int i = threadIdx.x; i < kFilters2 * kOfPart / 2; i += kThreads) {
        int f = i / (kOfPart / 2);
        int pixel = part * kOfPart + i % (kOfPart / 2) * 2;
        *reinterpret_cast<float2 *>(c2 + (image * kFilters2 + f) * kPixels1 + pixel) = from[i];
    }
    constexpr int kWarps = kThreads / kWarpSize; // whole ones
    constexpr int kOwn = (kOfPart + kWarpSize - 1) / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
#pragma unroll 5
    for (int f = warp; f < kFilters2 && warp < kWarps; f += kWarps) {
        float values[kOwn];
        float total = 0.0f;
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            int p = i * kWarpSize + lane;
            values[i] = p < kOfPart ? results[f * kOfPart + p] : 0.0f;
            total += values[i];
        }
        float mean = warp_sum(total) / kOfPart;
        float distances = 0.0f;
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            float distance = i * kWarpSize + lane < kOfPart ? values[i] - mean : 0.0f;
            distances += distance * distance;
        }
        distances = warp_sum(distances);
        if (lane == 0) {
            means[f * N * kParts + image * kParts + part] = mean;
            squares[f * N * kParts + image * kParts + part] = distances;
        }
    }
}
