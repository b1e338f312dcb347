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

// Combine the means and squared distances of `blocks` blocks, each of as many images as it took
// (they take turns), into the statistics of kChannels channels from `first`. A warp takes a
// channel, with its gamma and beta. A barrier comes after. Distances are from the first block's
// mean at first, so that one pass will do. `store`: also mean, 1 / deviation, scale, shift and
// variance in scale2, [5][32].
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
    constexpr int kAtOnce = 4; // loads that do not wait for each other
    int fewest = N / blocks; // images, one more in the first blocks
    int further = N - fewest * blocks;
    float pivot = means[f * blocks];
    float sum = 0.0f; // of an image's distance
    float spread = 0.0f;
    for (int first = lane; first < blocks; first += kAtOnce * kWarpSize) {
        float of_block[kAtOnce];
        float squared[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            int i = first + k * kWarpSize;
            of_block[k] = i < blocks ? means[f * blocks + i] : pivot;
            squared[k] = i < blocks ? squares[f * blocks + i] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            float distance = of_block[k] - pivot;
            float images = fewest + (first + k * kWarpSize < further ? 1 : 0);
            sum += images * distance;
            spread += fmaf(images * kPixels1 * distance, distance, squared[k]);
        }
    }
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
        spread += __shfl_xor_sync(kWholeWarp, spread, distance);
    }
    sum *= 1.0f / N;
    float mean = pivot + sum;
    float variance = fmaxf(spread * (1.0f / ((float)N * kPixels1)) - sum * sum, 0.0f);
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
