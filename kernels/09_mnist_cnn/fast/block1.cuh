// The first block of layers for one window of an image, forward and backward: conv1 -> batch norm ->
// ReLU -> max pool, from the image in shared memory.

#pragma once

#include "batch.cuh"

// The 4 x 4 pixels that pooled pixel p depends on; x is the image with zeros around it.
__device__ inline void load_patch(float (&patch)[4][4], const float *x, int p)
{
    const float *corner = x + p / kSide1 * 2 * kImageStride + p % kSide1 * 2;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        patch[i / 4][i % 4] = corner[i / 4 * kImageStride + i % 4];
    }
}

// The pooled pixel of one filter, and in `code` which of the four it came from, or kClosed.
__device__ inline float pooled(const float (&patch)[4][4], const float *taps, float scale,
                               float shift, int &code)
{
    float sum[4] = {};
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            sum[k] += taps[t] * patch[k / 2 + t / 3][k % 2 + t % 3];
        }
    }
    float largest = fmaf(sum[0], scale, shift);
    code = 0;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
        float value = fmaf(sum[k], scale, shift);
        code = value > largest ? k : code;
        largest = value > largest ? value : largest;
    }
    bool closed = largest <= 0.0f;
    code = closed ? kClosed : code;
    return closed ? 0.0f : largest;
}

// Add to a thread's 10 sums what kCount neighbours of pool1's gradient bring (input of update.cu): dy1
// times the pixels under each tap, and dy1. `codes` are theirs, the first is at `row` and `column`.
template <int kCount>
__device__ inline void add_sums1(float (&found)[kTaps + 1], const float *dy1,
                                 const int (&codes)[kCount], const float *x, int row, int column)
{
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        int code = codes[i];
        float gradient = code == kClosed ? 0.0f : dy1[i];
        int place = (row * 2 + (code & 2) / 2) * kImageStride + (column + i) * 2 + code % 2;
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
            found[t] += gradient * x[place + t / 3 * kImageStride + t % 3];
        }
        found[kTaps] += gradient;
    }
}

// The block's sums: `found` of 224 threads, 14 for each filter, into sums1, [16][10][blocks]. `rows` has room for 2240 floats in shared memory.
__device__ inline void store_sums1(const float (&found)[kTaps + 1], float *rows, float *sums1)
{
    constexpr int kSums = kTaps + 1;
    __syncthreads(); // `rows` may have been in use
#pragma unroll
    for (int t = 0; t < kSums; ++t) {
        rows[threadIdx.x * kSums + t] = found[t];
    }
    __syncthreads();
    if (threadIdx.x < kFilters1 * kSums) {
        int filter = threadIdx.x / kSums;
        float total = 0.0f;
#pragma unroll
        for (int r = 0; r < kSide1; ++r) {
            total += rows[(filter * kSide1 + r) * kSums + threadIdx.x % kSums];
        }
        int block = blockIdx.x * gridDim.y + blockIdx.y;
        sums1[threadIdx.x * gridDim.x * gridDim.y + block] = total;
    }
}
