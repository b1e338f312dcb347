// The first block of layers for one window of an image, forward and backward: conv1 -> batch norm
// -> ReLU -> max pool, from the image in shared memory.

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

// conv1's filters with batch norm in them: of each the nine weights, scaled, then what is added.
struct Filters1 {
    float4 values[kFilters1][3];
};

// Fill `filters`, by the first 16 threads; a barrier comes after.
__device__ inline void find_filters1(Filters1 &filters, const Statistics1 &of_batch,
                                     const float *gamma1, const float *beta1)
{
    int f = threadIdx.x;
    if (f < kFilters1) {
        float *values = &filters.values[f][0].x;
        float scale = gamma1[f] * of_batch.rstd[f];
        for (int t = 0; t < kTaps; ++t) {
            values[t] = scale * of_batch.taps[f][t];
        }
        values[kTaps] = fmaf(-of_batch.mean[f], scale, beta1[f]);
    }
}

// The pooled pixel of filter f, and in `code` which of the four it came from, or kClosed.
__device__ inline float pooled(const float (&patch)[4][4], const Filters1 &filters, int f,
                               int &code)
{
    float4 first = filters.values[f][0];
    float4 second = filters.values[f][1];
    float2 last = *reinterpret_cast<const float2 *>(&filters.values[f][2]);
    float taps[] = {first.x,  first.y,  first.z,  first.w, second.x,
                    second.y, second.z, second.w, last.x};
    float value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        value[k] = last.y;
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
            value[k] += taps[t] * patch[k / 2 + t / 3][k % 2 + t % 3];
        }
    }
    float largest = value[0];
    code = 0;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
        code = value[k] > largest ? k : code;
        largest = value[k] > largest ? value[k] : largest;
    }
    bool closed = largest <= 0.0f;
    code = closed ? kClosed : code;
    return closed ? 0.0f : largest;
}

// Add to a thread's 10 sums what kCount neighbours of pool1's gradient bring (input of update.cu):
// dy1 times the pixels under each tap, and dy1. `codes` are theirs, the first is at `row` and
// `column`.
template <int kCount>
__device__ inline void add_sums1(float (&found)[kTaps + 1], const float *dy1,
                                 const unsigned char *codes, const float *x, int row, int column)
{
#pragma unroll 2
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

// The block's sums: `found` of 224 threads, 14 for each filter, into sums1, [16][10][blocks].
// `rows` has room for 2240 floats in shared memory.
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
