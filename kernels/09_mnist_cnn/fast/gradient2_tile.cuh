// The end of linear3_backward_input: a tile of linear3's input gradients, through ReLU, and their
// sums for batch norm.

#pragma once

#include "product_tile.cuh"

// Store dy2 of the tile of kImages x 98 in shared memory, 0 where ReLU was closed, and in
// sums2[blockIdx.x] each channel's sums of dy2 and of dy2 times the normalised best2.
// By all threads of a block in linear3_backward_input's grid.
template <int kImages>
__device__ inline void store_gradient2(const float *tile, const float *best2, const float *scale2,
                                       float *dy2, float *sums2, int N)
{
    __shared__ float of_thread[2][kThreads];
    int first_image = blockIdx.x * kImages;
    int first_column = blockIdx.y * kTileColumns;

    // Two rows at a time; a thread keeps to one column.
    int column = threadIdx.x % kTileColumns;
    int f = (first_column + column) / kPixels2;
    float mean = scale2[f];
    float rstd = scale2[kFilters2 + f];
    float scale = scale2[2 * kFilters2 + f];
    float shift = scale2[3 * kFilters2 + f];
    float of_beta = 0.0f;
    float of_gamma = 0.0f;
#pragma unroll 4
    for (int row = threadIdx.x / kTileColumns; row < kImages; row += 2) {
        int image = first_image + row;
        if (threadIdx.x < 2 * kTileColumns && image < N) {
            int at = image * kInputs3 + first_column + column;
            float best = best2[at];
            bool closed = fmaf(best, scale, shift) <= 0.0f;
            float gradient = closed ? 0.0f : tile[row * kTileColumns + column];
            dy2[at] = gradient;
            of_beta += gradient;
            of_gamma += gradient * ((best - mean) * rstd);
        }
    }
    of_thread[0][threadIdx.x] = of_beta;
    of_thread[1][threadIdx.x] = of_gamma;
    __syncthreads();
    if (threadIdx.x < 4) { // two kinds of sums, two channels
        int kind = threadIdx.x / 2;
        int channel = threadIdx.x % 2;
        float total = 0.0f;
#pragma unroll 7
        for (int i = 0; i < kPixels2; ++i) {
            const float *two = of_thread[kind] + channel * kPixels2 + i;
            total += two[0] + two[kTileColumns];
        }
        sums2[(blockIdx.x * 2 + kind) * kFilters2 + blockIdx.y * 2 + channel] = total;
    }
}
