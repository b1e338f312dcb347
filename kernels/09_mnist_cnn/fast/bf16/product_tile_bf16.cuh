// product_tile.cuh on tensor cores: a tile of 16 kTiles x 98 sums in the registers of 7 warps, each
// of which takes 16 columns; of the 112, the last 14 count for nothing.

#pragma once

#include "../product_tile.cuh"
#include "mma_conv.cuh"

constexpr int kColumnsStride = 120; // elements between rows of b: 8 begin in different banks

// sum += the products of 16 kSteps steps, for a of [row][step] with rows kStride apart or, where it
// is transposed, of [step][row]; b is [step][column].
template <int kSteps, int kStride, bool kTransposed, int kTiles>
__device__ inline void add_products_bf16(float (&sum)[kTiles][2][4], const Bf16 *a, const Bf16 *b)
{
    int lane = threadIdx.x % 32;
    int first_column = threadIdx.x / 32 * 16;
#pragma unroll 2
    for (int k = 0; k < kSteps * 16; k += 16) {
        unsigned right[4];
        ldmatrix_4_transposed(right, shared_address(b + (k + lane % 16) * kColumnsStride +
                                                    first_column + lane / 16 * 8));
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
            unsigned left[4];
            if (kTransposed) {
                int step = k + lane % 8 + lane / 16 * 8;
                ldmatrix_4_transposed(
                    left, shared_address(a + step * kStride + i * 16 + lane / 8 % 2 * 8));
            } else {
                int row = i * 16 + lane % 16;
                ldmatrix_4(left, shared_address(a + row * kStride + k + lane / 16 * 8));
            }
            mma_bf16(sum[i][0], left, right[0], right[1]);
            mma_bf16(sum[i][1], left, right[2], right[3]);
        }
    }
}

// Bring the sums into `tile`, [row][column].
template <int kTiles>
__device__ inline void stage_bf16(const float (&sum)[kTiles][2][4], float *tile)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kTiles * 8; ++i) {
        int row = i / 8 * 16 + lane / 4 + i % 4 / 2 * 8;
        int column = threadIdx.x / 32 * 16 + i / 4 % 2 * 8 + lane % 4 * 2 + i % 2;
        if (column < kTileColumns) {
            tile[row * kTileColumns + column] = sum[i / 8][i / 4 % 2][i % 4];
        }
    }
}
