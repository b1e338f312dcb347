// Batch norm 2: its statistics from the parts that the blocks of conv1_conv2.cu wrote.

#pragma once

#include "batch.cuh"
#include "reduce.cuh"

// Of some channels, in shared memory: with scale and shift a result is normalised.
template <int kChannels>
struct Statistics2 {
    float mean[kChannels];
    float rstd[kChannels];
    float scale[kChannels];
    float shift[kChannels];
};

// The images that block `block` of `blocks` takes, which take turns.
__device__ inline int images_of_block(int block, int blocks, int N)
{
    return (N - block + blocks - 1) / blocks;
}

// Combine the means and squared distances of `blocks` blocks, each of as many images as it took,
// into the statistics of kChannels channels from `first`. A warp takes a channel, with its gamma
// and beta; a barrier comes after. `store`: also mean, 1 / deviation, scale, shift and variance in
// scale2, [5][32].
template <int kChannels>
__device__ inline void find_statistics2(Statistics2<kChannels> &found, const float *means,
                                        const float *squares, float gamma, float beta,
                                        float *scale2, bool store, int first, int blocks, int N)
{
    int lane = threadIdx.x % kWarpSize;
    int k = threadIdx.x / kWarpSize;
    if (k >= kChannels) {
        return;
    }
    int f = first + k;
    constexpr int kAtOnce = 3; // loads that do not wait for each other
    float sum = 0.0f;
    float spread = 0.0f;
    for (int first = lane; first < blocks; first += kAtOnce * kWarpSize) {
        float of_block[kAtOnce];
        float squared[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            int i = first + k * kWarpSize;
            of_block[k] = i < blocks ? means[f * blocks + i] : 0.0f;
            squared[k] = i < blocks ? squares[f * blocks + i] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            sum += of_block[k] * images_of_block(first + k * kWarpSize, blocks, N);
            spread += squared[k];
        }
    }
    float mean = warp_sum(sum) / N;
    for (int i = lane; i < blocks; i += kWarpSize) { // they are in the cache now
        float distance = means[f * blocks + i] - mean;
        spread += images_of_block(i, blocks, N) * kPixels1 * (distance * distance);
    }
    float variance = warp_sum(spread) / ((float)N * kPixels1);
    if (lane == 0) {
        float rstd = 1.0f / sqrtf(variance + kEps);
        float scale = gamma * rstd;
        float shift = fmaf(-mean, scale, beta);
        found.mean[k] = mean;
        found.rstd[k] = rstd;
        found.scale[k] = scale;
        found.shift[k] = shift;
        if (store) {
            float values[] = {mean, rstd, scale, shift, variance};
            for (int i = 0; i < 5; ++i) {
                scale2[i * kFilters2 + f] = values[i];
            }
        }
    }
}

// A result, normalised and through ReLU.
__device__ inline float relu2(float result, float scale, float shift)
{
    float value = fmaf(result, scale, shift);
    return value <= 0.0f ? 0.0f : value;
}
