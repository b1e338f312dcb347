// A 3 x 3 convolution of 14 x 14 pixels from shared memory into registers.

#pragma once

#include "batch.cuh"

// kCount neighbours from shared memory, 16 or 8 bytes at a time.
template <int kCount>
__device__ inline void load_neighbours(float (&values)[kCount], const float *from)
{
    if constexpr (kCount % 4 == 0) {
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
            float4 four = *reinterpret_cast<const float4 *>(from + i);
            values[i] = four.x;
            values[i + 1] = four.y;
            values[i + 2] = four.z;
            values[i + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            values[i] = from[i];
        }
    }
}

// sum[k][i] += the nine products of pixel i of a row and the weights of result k. `pixels` points
// at the pixel up and to the left of the row's first, in a plane with zeros around it; the weights
// of a tap lie kStride after those of the tap before.
template <int kStride, int kResults, int kColumns>
__device__ inline void convolve(float (&sum)[kResults][kColumns], const float *pixels,
                                const float *weights)
{
#pragma unroll
    for (int r = 0; r < 3; ++r) {
        float row[kColumns + 2];
#pragma unroll
        for (int i = 0; i < kColumns + 2; ++i) {
            row[i] = pixels[r * kRowStride + i];
        }
#pragma unroll
        for (int s = 0; s < 3; ++s) {
            float weight[kResults];
            load_neighbours(weight, weights + (r * 3 + s) * kStride);
#pragma unroll
            for (int k = 0; k < kResults; ++k) {
#pragma unroll
                for (int i = 0; i < kColumns; ++i) {
                    sum[k][i] += weight[k] * row[i + s];
                }
            }
        }
    }
}
