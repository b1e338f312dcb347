// The second block of layers: batch norm, ReLU and max pool of conv2's results.

#pragma once

#include "batch.cuh"
#include "reduce.cuh"

// The images that block `block` of `blocks` takes, which take turns.
__device__ inline int images_of_block(int block, int blocks, int N)
{
    return (N - block + blocks - 1) / blocks;
}

// Combine the means and squared distances of `blocks` blocks of conv1_conv2.cu, each of as many
// images as it took, into the statistics of channels first...first + kChannels - 1: with scale and
// shift a result is normalised. A warp takes a channel; a barrier comes after. One block of a
// channel also stores mean, 1 / deviation, scale, shift and variance in scale2, [5][32].
template <int kThreads, int kChannels>
__device__ inline void find_statistics2(float (&scale)[kChannels], float (&shift)[kChannels],
                                        const float *means, const float *squares,
                                        const float *gamma2, const float *beta2, float *scale2,
                                        int first, int blocks, int N)
{
    constexpr int kWarps = kThreads / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    for (int k = threadIdx.x / kWarpSize; k < kChannels; k += kWarps) { // a warp takes a channel
        int f = first + k;
        float sum = 0.0f;
        for (int i = lane; i < blocks; i += kWarpSize) {
            sum += means[f * blocks + i] * images_of_block(i, blocks, N);
        }
        float mean = warp_sum(sum) / N;
        float spread = 0.0f;
        for (int i = lane; i < blocks; i += kWarpSize) {
            float distance = means[f * blocks + i] - mean;
            int pixels = images_of_block(i, blocks, N) * kPixels1;
            spread += squares[f * blocks + i] + pixels * (distance * distance);
        }
        float variance = warp_sum(spread) / ((float)N * kPixels1);
        float rstd = 1.0f / sqrtf(variance + kEps);
        if (lane == 0) {
            scale[k] = gamma2[f] * rstd;
            shift[k] = fmaf(-mean, scale[k], beta2[f]);
            if (blockIdx.x == 0) {
                float values[] = {mean, rstd, scale[k], shift[k], variance};
                for (int i = 0; i < 5; ++i) {
                    scale2[i * kFilters2 + f] = values[i];
                }
            }
        }
    }
}

// A window's largest result, normalised and through ReLU.
__device__ inline float pooled2(float best, float scale, float shift)
{
    float value = fmaf(best, scale, shift);
    return value <= 0.0f ? 0.0f : value;
}
