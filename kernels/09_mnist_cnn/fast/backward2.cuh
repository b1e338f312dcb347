// The way back through the second max pool, ReLU and batch norm: dc2, the gradient of conv2's
// results.

#pragma once

#include "batch.cuh"

// What the gradient of a channel's pixels needs: dc2 = scale (dy - beta - h gamma), where
// h = (c2 - mean) rstd, and beta and gamma are those of the batch over N x 196 pixels.
struct Backward2 {
    float mean[kFilters2];
    float rstd[kFilters2];
    float scale[kFilters2];
    float beta[kFilters2];
    float gamma[kFilters2];
};

// The sum over linear3_backward_input's tiles of dbeta (kind 0) or dgamma (kind 1) of channel f.
__device__ inline float sum_of_tiles(const float *sums2, int tiles, int kind, int f)
{
    float sum = 0.0f;
#pragma unroll 8
    for (int tile = 0; tile < tiles; ++tile) {
        sum += sums2[(tile * 2 + kind) * kFilters2 + f];
    }
    return sum;
}

// Fill `found`, by the first 32 threads; a barrier comes after.
__device__ inline void find_backward2(Backward2 &found, const float *scale2, const float *sums2,
                                      int tiles, int N)
{
    int f = threadIdx.x;
    if (f < kFilters2) {
        float pixels = (float)N * kPixels1;
        found.mean[f] = scale2[f];
        found.rstd[f] = scale2[kFilters2 + f];
        found.scale[f] = scale2[2 * kFilters2 + f];
        found.beta[f] = sum_of_tiles(sums2, tiles, 0, f) / pixels;
        found.gamma[f] = sum_of_tiles(sums2, tiles, 1, f) / pixels;
    }
}

// dc2 of the four pixels of window i (of 1568) of an image, first the upper ones.
__device__ inline void gradient2(float (&dc2)[4], const Backward2 &of_batch, const float *c2,
                                 const float *dy2, const unsigned char *code2, int image, int i)
{
    int f = i / kPixels2;
    float gradient = dy2[image * kInputs3 + i];
    int winner = code2[image * kInputs3 + i];
    const float *corner = c2 + (image * kFilters2 + f) * kPixels1;
    corner += i % kPixels2 / kSide2 * 2 * kSide1 + i % kSide2 * 2; // 49 is a multiple of 7
    float2 up = *reinterpret_cast<const float2 *>(corner);
    float2 down = *reinterpret_cast<const float2 *>(corner + kSide1);
    float window[] = {up.x, up.y, down.x, down.y};
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        float h = (window[p] - of_batch.mean[f]) * of_batch.rstd[f];
        float own = (p == winner ? gradient : 0.0f) - of_batch.beta[f];
        dc2[p] = of_batch.scale[f] * (own - h * of_batch.gamma[f]);
    }
}

// Write dc2 of kFilters filters from `filter` and kRows rows of windows from `row`, of an image,
// into planes of kPlaneFloats with rows of kStride floats; `planes` is where filter 0 begins. By
// all threads.
template <int kThreads, int kFilters, int kRows, int kPlaneFloats, int kStride>
__device__ inline void load_gradient2(float *planes, const Backward2 &of_batch, const float *c2,
                                      const float *dy2, const unsigned char *code2, int image,
                                      int filter, int row)
{
    constexpr int kWindows = kRows * kSide2;
#pragma unroll 4
    for (int i = threadIdx.x; i < kFilters * kWindows; i += kThreads) {
        int f = filter + i / kWindows;
        int window = row * kSide2 + i % kWindows;
        float dc2[4];
        gradient2(dc2, of_batch, c2, dy2, code2, image, f * kPixels2 + window);
        float *to = planes + f * kPlaneFloats;
        to += window / kSide2 * 2 * kStride + window % kSide2 * 2;
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            to[p / 2 * kStride + p % 2] = dc2[p];
        }
    }
}
